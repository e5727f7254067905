/*
 * test_law_pgr.c - X2 for projective geometry response and its hybrid: the law
 * of a report through the real code, and its moments against theory 15.3.
 */
#include "lib/family/projective.h"
#include "rig/enumerate.h"

#include <math.h>

static hsy_spec law_spec(const char *name, uint32_t d, double epsilon,
                         uint64_t q, uint64_t t, uint64_t blocks)
{
    hsy_spec spec = trial_values(name, d, epsilon);

    spec.param[HSY_PARAM_Q] = q;
    spec.param[HSY_PARAM_T] = t;
    spec.param[HSY_PARAM_BLOCKS] = blocks;
    return spec;
}

/* A rank, a coin, a uniform point. */
static void law_of(const hsy_spec *spec)
{
    hsy_scheme *s = trial_scheme(spec);
    const uint64_t blanket = s->two.choice.bound << s->two.shift;
    struct enumerate_coins coins = {0};

    enumerate_below(&coins, s->projective.space.set);
    enumerate_edges(&coins, &s->coin, &blanket, 1);
    enumerate_below(&coins, s->two.choice.bound);
    enumerate_check(s, spec->mechanism, &coins, s->cells);
    enumerate_coins_clear(&coins);
    free(s);
}

/* What one report adds to the estimate of value v, for each output. */
static void law_estimator(const hsy_scheme *s, uint64_t v, double *estimator)
{
    int64_t *memory = trial_memory(8 * hsy_tally_words(s));
    void *scratch = trial_memory(hsy_evidence_scratch(s, 1));
    hsy_tally t;
    hsy_evidence point;

    for (size_t y = 0; y < s->cells; y++) {
        memset(memory, 0, 8 * hsy_tally_words(s));
        hsy_tally_init(&t, s, memory);
        t.cells[y] = 1;
        t.strata[0] = 1;
        estimator[y] = NAN;
        if (hsy_evidence_of(s, &point, &t, &v, 1, scratch, NULL) == HSY_OK)
            estimator[y] = point.value;
    }
    free(memory);
    free(scratch);
}

/* Mean and variance of that under truth x. */
static void law_moments(const hsy_scheme *s, uint64_t x,
                        const double *estimator, double moments[2])
{
    double mean = 0, square = 0;

    for (size_t y = 0; y < s->cells; y++) {
        uint8_t report[8] = {(uint8_t)y, (uint8_t)(y >> 8)};
        hsy_factor factor;
        size_t count;
        double p;

        hsy_law(s, &factor, &count, x, report);
        p = (double)factor.num / (double)factor.den;
        mean += p * estimator[y];
        square += p * estimator[y] * estimator[y];
    }
    moments[0] = mean;
    moments[1] = square - mean * mean;
}

/* Of value v the estimator has mean 1 for its own people, 0 for all others,
 * and the three variances stated. */
static void moments_of(const hsy_spec *spec, double own, double same,
                       double other)
{
    hsy_scheme *s = trial_scheme(spec);
    const uint64_t v = 2;
    double *estimator = trial_memory(s->cells * sizeof *estimator);
    uint32_t item, block = projective_place(&s->projective.space, v, &item);
    bool mean = true, variance = true;

    law_estimator(s, v, estimator);
    for (uint64_t x = 0; x < s->d; x++) {
        bool inside = projective_place(&s->projective.space, x, &item) == block;
        double want = x == v ? own : inside ? same : other, got[2];

        law_moments(s, x, estimator, got);
        mean &= fabs(got[0] - (x == v)) < 1e-9;
        variance &= fabs(got[1] - want) < 1e-7;
    }
    ok(mean, "%s(%u,%u): unbiased for every truth", spec->mechanism,
       s->projective.space.geometry.q, s->projective.space.geometry.t);
    ok(variance, "%s(%u,%u): variances as tabled", spec->mechanism,
       s->projective.space.geometry.q, s->projective.space.geometry.t);
    free(estimator);
    free(s);
}

int main(void)
{
    static const double epsilons[] = {0.1, 1, 4, 20};
    hsy_spec a = law_spec("pgr", 13, 1, 3, 3, 0);
    hsy_spec b = law_spec("pgr", 7, 1, 2, 3, 0);
    hsy_spec c = law_spec("pgr", 31, 1, 5, 3, 0);
    hsy_spec d = law_spec("hpg", 52, 1, 3, 3, 4);

    for (size_t i = 0; i < 4; i++) {
        hsy_spec small[] = {law_spec("pgr", 7, epsilons[i], 2, 3, 0),
                            law_spec("pgr", 13, epsilons[i], 3, 3, 0),
                            law_spec("pgr", 5, epsilons[i], 5, 2, 0),
                            law_spec("pgr", 15, epsilons[i], 2, 4, 0),
                            law_spec("pgr", 31, epsilons[i], 5, 3, 0),
                            law_spec("hpg", 14, epsilons[i], 2, 3, 3),
                            law_spec("hpg", 20, epsilons[i], 3, 3, 2),
                            law_spec("hpg", 6, epsilons[i], 0, 0, 0)};

        for (size_t k = 0; k < sizeof small / sizeof small[0]; k++)
            law_of(&small[k]);
    }
    moments_of(&a, 3.68269438, 3.04606653, 0);
    moments_of(&b, 2.76202078, 2.97103243, 0);
    moments_of(&c, 5.52404157, 3.51253008, 0);
    moments_of(&d, 13.48483558, 9.06535914, 6.21012675);
    return tap_done();
}
