/*
 * people.c - populations: truths of known distributions.
 *
 * A distribution is a list of different truths with weights. A population of n
 * is a multinomial draw, by binomials of what is left: the k-th truth takes
 * Bin(left, weight / (its and all later weights)), which is exact in law.
 *
 * zipf, geometric and poisson count from the question's first value (0, or the
 * lower end of a range, in whole units); the bounds of uniform and the mean of
 * gaussian are values themselves.
 */
#include "sim/study/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names --------------------------------------------------------------- */

struct people_law {
    const char *name;
    unsigned least, most; /* numbers after the name */
    double low[2], high[2];
    const char *wrong;
};

#define PEOPLE_FAR 1e15

static const struct people_law people_laws[STUDY_LAWS] = {
    [STUDY_ZIPF] = {"zipf",
                    1,
                    1,
                    {0, 0},
                    {100, 0},
                    "zipf:S takes an exponent from 0 to 100"},
    [STUDY_GEOMETRIC] = {"geometric",
                         1,
                         1,
                         {1e-12, 0},
                         {1, 0},
                         "geometric:P takes a probability above 0, at most 1"},
    [STUDY_POISSON] = {"poisson",
                       1,
                       1,
                       {1e-12, 0},
                       {1e9, 0},
                       "poisson:L takes a mean above 0, at most 1e9"},
    [STUDY_UNIFORM] = {"uniform",
                       0,
                       2,
                       {-PEOPLE_FAR, -PEOPLE_FAR},
                       {PEOPLE_FAR, PEOPLE_FAR},
                       "uniform takes nothing, or LO:HI with LO <= HI"},
    [STUDY_GAUSSIAN] = {"gaussian",
                        2,
                        2,
                        {-PEOPLE_FAR, 1e-12},
                        {PEOPLE_FAR, PEOPLE_FAR},
                        "gaussian:M:SD takes a mean and a standard deviation "
                        "above 0"}};

/* ":1.5:2" as up to two numbers; how many, or 3 if it is not that. */
static unsigned people_numbers(double out[2], const char *text)
{
    unsigned n = 0;

    while (*text == ':' && n < 2) {
        char *end;

        if (strchr("+-.0123456789", text[1]) == NULL || text[1] == '\0')
            return 3;
        out[n++] = strtod(text + 1, &end);
        text = end;
    }
    return *text == '\0' ? n : 3;
}

hsy_status study_data_parse(struct study_data *data, const char *text,
                            hsy_error *err)
{
    const size_t len = strcspn(text, ":");
    double x[2] = {0, 0};
    unsigned n = people_numbers(x, text + len);

    for (unsigned i = 0; i < STUDY_LAWS; i++) {
        const struct people_law *law = &people_laws[i];
        bool good = n == law->least || n == law->most;

        if (strlen(law->name) != len || memcmp(law->name, text, len) != 0)
            continue;
        for (unsigned j = 0; good && j < n; j++) /* refuses NaN too */
            good = x[j] >= law->low[j] && x[j] <= law->high[j];
        if (!good || (i == STUDY_UNIFORM && x[0] > x[1]))
            return host_fail(err, HSY_E_RANGE, HOST_FIELD_DATA, law->wrong);
        *data = (struct study_data){(enum study_law)i, x[0], x[1], n == 2};
        return HSY_OK;
    }
    return host_fail(err, HSY_E_UNKNOWN, HOST_FIELD_DATA,
                     "no such distribution");
}

/* ---- Weights ------------------------------------------------------------- */

/* P[a < Z < b] of a normal number, on the side where nothing cancels. */
static double people_normal(double a, double b)
{
    return a > 0 ? hsy_normal_cdf(-a) - hsy_normal_cdf(-b)
                 : hsy_normal_cdf(b) - hsy_normal_cdf(a);
}

/* The weight of a value, `at` from the first one; it stands for all numbers
 * within half a step. */
static double people_weight(const struct study_data *data, double value,
                            double at, double step)
{
    const double half = step / 2, slack = 1e-9 * step;

    switch (data->law) {
    case STUDY_ZIPF:
        return pow(at + 1, -data->a);
    case STUDY_GEOMETRIC:
        return data->a < 1 ? exp(at * log1p(-data->a)) : at == 0;
    case STUDY_POISSON:
        return exp(at * log(data->a) - data->a - lgamma(at + 1));
    case STUDY_GAUSSIAN:
        return people_normal((value - half - data->a) / data->b,
                             (value + half - data->a) / data->b);
    default:
        return !data->bounded ||
               (value >= data->a - slack && value <= data->b + slack);
    }
}

/* Of each truth among itself and all that follow, summed from the end, where
 * the weights are small. Truths that nobody can hold at the end are left off.
 */
static hsy_status people_hazards(struct study_people *people, hsy_error *err)
{
    double tail = 0;

    for (size_t i = people->n; i-- > 0;) {
        tail += people->weights[i];
        people->hazards[i] = tail > 0 ? people->weights[i] / tail : 0;
    }
    if (!(tail > 0) || !isfinite(tail))
        return host_fail(err, HSY_E_RANGE, HOST_FIELD_DATA,
                         "nothing of this distribution lies inside the "
                         "domain; move it, or the domain");
    while (people->weights[people->n - 1] <= 0)
        people->n--;
    return HSY_OK;
}

static hsy_status people_room(struct study_people *people, size_t n,
                              hsy_error *err)
{
    memset(people, 0, sizeof *people);
    people->n = n;
    people->numbers = calloc(n, sizeof *people->numbers);
    people->weights = calloc(n, sizeof *people->weights);
    people->hazards = calloc(n, sizeof *people->hazards);
    if (people->numbers == NULL || people->weights == NULL ||
        people->hazards == NULL)
        return host_nomem(err);
    return HSY_OK;
}

/* Which numbers there are: all of them, whole units only, or, of a fine grid,
 * STUDY_POINTS_MAX at equal distances (rounded to the grid). */
struct people_grid {
    int64_t first;
    uint64_t steps; /* of the grid, from the first to the last */
    double unit;    /* grid steps in 1 */
    size_t n;
};

static struct people_grid people_grid(const struct study_data *data,
                                      const hsy_spec *q)
{
    struct people_grid g = {.unit = pow(10, q->scale)};
    uint64_t whole = 1;

    if (q->kind == HSY_KIND_VALUES) {
        g.steps = q->d - 1;
        g.n = q->d;
        return g;
    }
    g.first = q->lo;
    g.steps = (uint64_t)q->hi - (uint64_t)q->lo;
    if (data->law <= STUDY_POISSON) {
        for (uint32_t i = 0; i < q->scale; i++)
            whole *= 10;
        g.steps -= g.steps % whole;
    }
    g.n = (size_t)(g.steps / whole < STUDY_POINTS_MAX ? g.steps / whole + 1
                                                      : STUDY_POINTS_MAX);
    if (data->law <= STUDY_POISSON) /* whole units from the first on */
        g.steps = (g.n - 1) * whole;
    return g;
}

/* Grid step of truth i: floor(i steps / (n - 1)), without overflow. */
static uint64_t people_step(const struct people_grid *g, size_t i)
{
    const uint64_t parts = g->n > 1 ? g->n - 1 : 1;

    return g->steps / parts * i + g->steps % parts * i / parts;
}

hsy_status study_people_open(struct study_people *people,
                             const struct study_data *data,
                             const hsy_spec *question, hsy_error *err)
{
    const struct people_grid g = people_grid(data, question);
    const double step = g.n > 1 ? (double)g.steps / (double)(g.n - 1) : 1;
    hsy_status st = people_room(people, g.n, err);

    for (size_t i = 0; st == HSY_OK && i < g.n; i++) {
        const uint64_t at = people_step(&g, i);
        const double value = (double)(int64_t)((uint64_t)g.first + at) / g.unit;

        people->numbers[i] = (int64_t)((uint64_t)g.first + at);
        people->weights[i] =
            people_weight(data, value, (double)i, step / g.unit);
    }
    return st == HSY_OK ? people_hazards(people, err) : st;
}

hsy_status study_people_counted(struct study_people *people,
                                const int64_t *numbers, const uint64_t *counts,
                                size_t n, hsy_error *err)
{
    hsy_status st = people_room(people, n, err);

    if (st == HSY_OK)
        people->counts = calloc(n, sizeof *people->counts);
    if (people->counts == NULL)
        return host_nomem(err);
    memcpy(people->numbers, numbers, n * sizeof *numbers);
    memcpy(people->counts, counts, n * sizeof *counts);
    for (size_t i = 0; i < n; i++)
        people->weights[i] = (double)counts[i];
    return people_hazards(people, err);
}

void study_people_close(struct study_people *people)
{
    free(people->numbers);
    free(people->weights);
    free(people->hazards);
    free(people->counts);
    memset(people, 0, sizeof *people);
}

void study_people_draw(uint64_t *counts, const struct study_people *people,
                       uint64_t users, hsy_stream *st)
{
    for (size_t i = 0; i < people->n; i++) {
        counts[i] = hsy_binomial_draw(users, people->hazards[i], st);
        users -= counts[i];
    }
}
