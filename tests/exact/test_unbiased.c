/*
 * test_unbiased.c - estimates from one report, averaged over its exact law,
 * are the truth; and n times their variance is v0 or v1.
 *
 * For public hashes, of local hashing or of a sketch, the average over the
 * fixed pool is the truth plus the collisions of the pool, which the test
 * counts itself. Where a variance depends on how people are spread, the stated
 * one is taken from counts that are the law's own means.
 */
#include "lib/family/lh.h"
#include "lib/family/sketch.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>

#define OUTPUTS 4096
#define VALUES 6

/* est[y][v] and P[y | code] of one scheme. */
struct table {
    size_t codes, points;
    double est[OUTPUTS][VALUES];
    double p[VALUES][OUTPUTS];
    hsy_evidence point[VALUES];
    bool real[OUTPUTS];
};

static double probability(const hsy_scheme *s, uint64_t code,
                          const uint8_t *report)
{
    hsy_factor *factors = trial_memory(hsy_law_factors(s) * sizeof *factors);
    size_t count;
    double p = 1;

    hsy_law(s, factors, &count, code, report);
    for (size_t i = 0; i < count; i++)
        p *= (double)factors[i].num /
             (factors[i].den == 0 ? 0x1p64 : (double)factors[i].den);
    free(factors);
    return p;
}

static void estimate_one(struct table *t, const hsy_scheme *s, unsigned y,
                         const uint8_t *report)
{
    int64_t *memory = trial_memory(hsy_tally_words(s) * sizeof *memory);
    void *scratch = trial_memory(hsy_evidence_scratch(s, t->points));
    hsy_tally tally;

    hsy_tally_init(&tally, s, memory);
    hsy_tally_add(&tally, s, report, NULL);
    hsy_evidence_of(s, t->point, &tally, NULL, t->points, scratch, NULL);
    for (size_t v = 0; v < t->points; v++)
        t->est[y][v] = t->point[v].value;
    free(memory);
    free(scratch);
}

static void fill(struct table *t, const hsy_scheme *s)
{
    for (unsigned y = 0; y < OUTPUTS; y++) {
        const uint8_t report[8] = {(uint8_t)y, (uint8_t)(y >> 8)};

        t->real[y] =
            (s->report_bytes > 1 || y < 256) && hsy_check(s, report) == HSY_OK;
        if (!t->real[y])
            continue;
        for (uint64_t code = 0; code < t->codes; code++)
            t->p[code][y] = probability(s, code, report);
        estimate_one(t, s, y, report);
    }
}

/* The points of 2^48 people who all have this truth, every report coming as
 * often as it should. */
static void state(struct table *t, const hsy_scheme *s, uint64_t code)
{
    size_t words = hsy_tally_words(s);
    int64_t *memory = trial_memory(words * sizeof *memory);
    int64_t *one = trial_memory(words * sizeof *one);
    void *scratch = trial_memory(hsy_evidence_scratch(s, t->points));
    hsy_tally tally, single;

    hsy_tally_init(&tally, s, memory);
    for (unsigned y = 0; y < OUTPUTS; y++) {
        const uint8_t report[8] = {(uint8_t)y};

        if (!t->real[y])
            continue;
        hsy_tally_init(&single, s, one);
        hsy_tally_add(&single, s, report, NULL);
        for (size_t i = 0; i < words; i++)
            memory[i] += one[i] * (int64_t)llround(t->p[code][y] * 0x1p48);
    }
    hsy_evidence_of(s, t->point, &tally, NULL, t->points, scratch, NULL);
    free(memory);
    free(one);
    free(scratch);
}

static double mean(const struct table *t, size_t code, size_t v, int power)
{
    double sum = 0;

    for (unsigned y = 0; y < OUTPUTS; y++)
        if (t->real[y])
            sum += t->p[code][y] * pow(t->est[y][v], power);
    return sum;
}

/* Public hashes: how many, and to how many values; none: 0. */
static uint64_t hashes(const hsy_scheme *s, uint64_t *range)
{
    *range = s->param[HSY_PARAM_G];
    if (*range != 0)
        return lh_pool(s);
    *range = s->param[HSY_PARAM_WIDTH];
    return s->param[HSY_PARAM_HASHES];
}

/* The mean of the estimate of v when the truth is code. */
static double expected(const hsy_scheme *s, size_t code, size_t v)
{
    uint64_t g, pool = hashes(s, &g);
    double met = 0;

    if (s->kind == HSY_KIND_NUMBER)
        return (double)code / (double)(s->hi - s->lo);
    if (s->kind == HSY_KIND_YES_NO)
        return (double)code;
    if (pool == 0 || code == v)
        return code == v;
    for (uint32_t j = 0; j < pool; j++) {
        struct pool_hash h = hsy_pool_at(s->param[HSY_PARAM_POOL_SEED], j);

        met += s->param[HSY_PARAM_G] != 0
                   ? lh_hash(s, &h, code) == lh_hash(s, &h, v)
                   : sketch_cell(s, j, code) == sketch_cell(s, j, v);
    }
    return (met / (double)pool - 1 / (double)g) / (1 - 1 / (double)g);
}

static void unbiased(const hsy_spec *spec, const char *name)
{
    hsy_scheme *s = trial_scheme(spec);
    struct table *t = trial_memory(sizeof *t);
    double bias = 0, off = 0;
    uint64_t range;
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    if (s->mech->estimate
            ->iterative) { /* no estimate of one report: test_density.c */
        free(t);
        free(s);
        return;
    }
    t->codes = (size_t)hsy_code_count(s);
    t->points =
        s->kind == HSY_KIND_VALUES || s->kind == HSY_KIND_BINS ? s->d : 1;
    fill(t, s);
    for (size_t code = 0; code < t->codes; code++) {
        state(t, s, code);
        for (size_t v = 0; v < t->points; v++) {
            double m = mean(t, code, v, 1), f = expected(s, code, v);
            double var = mean(t, code, v, 2) - m * m;
            const hsy_evidence *p = &t->point[v];

            bias = fmax(bias, fabs(m - f));
            /* A pool's variance depends on its collisions, and a mean's is
             * taken from the tally. */
            if (s->kind == HSY_KIND_NUMBER && p->p == p->q)
                off = fmax(off, var / info.v0 - 1);
            else if (hashes(s, &range) == 0)
                off =
                    fmax(off, fabs(var / ((1 - f) * p->v0 + f * p->v1 +
                                          p->binomial_variance * f * (1 - f)) -
                                   1));
        }
    }
    ok(bias < 1e-9, "%s, d = %zu: estimates are unbiased (%.1e)", name,
       t->codes, bias);
    ok(off < 1e-9, "%s, d = %zu: variances are v0 and v1, or within (%.1e)",
       name, t->codes, off);
    free(t);
    free(s);
}

/* The variance over random hashes, from the pure law. */
static void hashing_variance(double epsilon)
{
    hsy_spec spec = trial_values("olh", 5, epsilon);
    hsy_scheme *s = trial_scheme(&spec);
    hsy_scheme_info info;
    double e = exp(epsilon), g, p;

    hsy_scheme_describe(s, &info);
    g = (double)info.param[HSY_PARAM_G];
    p = e / (e + g - 1);
    ok(fabs(info.v0 / ((e + g - 1) * (e + g - 1) / ((g - 1) * pow(e - 1, 2))) -
            1) < 1e-9 &&
           fabs(info.v1 / (p * (1 - p) / pow(p - 1 / g, 2)) - 1) < 1e-9,
       "olh: v0 and v1 are those of theory 3.3 at epsilon %g", epsilon);
    free(s);
}

/* Where a report answers one of several questions, one report leaves the others
 * open, and the variance is taken at the estimate: test_tree.c has the weights,
 * test_ranges.c the errors, test_law_tuple.c those of attributes, and
 * test_discovery.c those of strings. */
static bool several(const hsy_catalogue *row)
{
    return row->kinds == 1u << HSY_KIND_BINS ||
           row->kinds == 1u << HSY_KIND_STRINGS ||
           row->kinds == 1u << HSY_KIND_TUPLE;
}

int main(void)
{
    const hsy_catalogue *row;
    const hsy_spec coins = {.size = sizeof coins,
                            .mechanism = "rr",
                            .kind = HSY_KIND_YES_NO,
                            .design = HSY_DESIGN_COINS,
                            .chance = {{1, 2}, {1, 3}}};

    for (size_t m = 0; (row = hsy_mechanism_at(m)) != NULL; m++)
        for (uint32_t d = 2; d <= VALUES; d++)
            if (trial_takes(row, d) && trial_pointed(row) && !several(row)) {
                hsy_spec spec = trial_small(row, d, 1.5);

                unbiased(&spec, row->name);
            }
    unbiased(&coins, "rr by two coins");
    hashing_variance(0.5);
    hashing_variance(3);
    return tap_done();
}
