/* rate.c - when an attacker is asked, how often he was right, and how often
 * he may be. */
#include "sim/attack/internal.h"

#include <math.h>

#define RATE_ANSWERS_MAX 1000000000u

/* So many of 1, 2, 5 times each power of ten below last, and last. */
static size_t rate_times(uint64_t times[SIM_TIMES_MAX], uint64_t last,
                         size_t nleads)
{
    static const uint64_t leads[] = {1, 2, 5};
    size_t n = 0;

    for (uint64_t power = 1; power < last; power *= 10)
        for (size_t i = 0; i < nleads && n + 1 < SIM_TIMES_MAX; i++)
            if (leads[i] * power < last)
                times[n++] = leads[i] * power;
    times[n++] = last;
    return n;
}

size_t sim_times(uint64_t times[SIM_TIMES_MAX], uint64_t last)
{
    return rate_times(times, last, 3);
}

size_t sim_decades(uint64_t times[SIM_TIMES_MAX], uint64_t last)
{
    return rate_times(times, last, 1);
}

void sim_score_add(struct sim_score *s, double right)
{
    s->n++;
    s->sum += right;
    s->squares += right * right;
}

double sim_score_rate(const struct sim_score *s)
{
    return s->n > 0 ? s->sum / s->n : NAN;
}

double sim_score_sd(const struct sim_score *s)
{
    double rate = sim_score_rate(s), v = s->squares / s->n - rate * rate;

    return v > 0 ? sqrt(v / s->n) : 0;
}

double sim_allowed(double epsilon)
{
    return 1 / (1 + exp(-epsilon));
}

double sim_binomial(uint64_t k, uint64_t n, double p)
{
    const double a = (double)k, b = (double)(n - k);

    /* 0 log 0 is 0: a probability of 0 or 1 has its certain outcome. */
    return exp(lgamma(a + b + 1) - lgamma(a + 1) - lgamma(b + 1) +
               (k > 0 ? a * log(p) : 0) + (k < n ? b * log1p(-p) : 0));
}

double sim_majority(uint64_t n, double p)
{
    const double wrong = 1 - p;
    uint64_t fewer = (n - 1) / 2; /* wrong answers that are a minority */
    double right = hsy_binomial_cdf(fewer, n, wrong);

    if (p >= 1)
        return 1;
    return n % 2 == 0 ? right + sim_binomial(n / 2, n, wrong) / 2 : right;
}

/* One more answer to an odd number of them does not help: odd ones will do. */
uint64_t sim_answers_for(double certainty, double p)
{
    uint64_t low = 0, high = 1; /* of (n - 1) / 2: too few, enough */

    if (sim_majority(1, p) >= certainty)
        return 1;
    while (sim_majority(2 * high + 1, p) < certainty) {
        low = high;
        high *= 2;
        if (high > RATE_ANSWERS_MAX / 2)
            return 0;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if (sim_majority(2 * middle + 1, p) < certainty)
            low = middle;
        else
            high = middle;
    }
    return 2 * high + 1;
}

struct sim_evidence sim_evidence(uint64_t yes, uint64_t of, double p)
{
    const double more = 2 * (double)yes - (double)of;
    struct sim_evidence e = {.point = sim_binomial(yes, of, 1 - p), .tail = 1};

    /* P[X >= k] = I_p(k, n - k + 1). */
    if (yes > 0)
        e.tail = hsy_beta_inc((double)yes, (double)(of - yes) + 1, 1 - p);
    e.ratio = exp(more * (log1p(-p) - log(p)));
    return e;
}

/* With b = 1 / names, E[1 / (1 + Bin(n - 1, b))] = (1 - (1 - b)^n) / (n b). */
double sim_name_found(double n, double names)
{
    return -expm1(n * log1p(-1 / names)) / (n / names);
}

void sim_tick(const struct sim_options *o, uint64_t devices)
{
    if (o->tick != NULL)
        o->tick(o->ctx, devices);
}
