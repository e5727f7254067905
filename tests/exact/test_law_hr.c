/*
 * test_law_hr.c - X2 for Hadamard response: every class of coins through the
 * real code, and the variances of theory 15.3's small case.
 */
#include "lib/mech/hr.h"
#include "rig/enumerate.h"

#include <math.h>

/* The blanket coin has one edge; the uniform output is the top bits of a word.
 */
static void law(uint32_t d, uint64_t blocks, double epsilon, uint64_t seed)
{
    hsy_spec spec = trial_values("hr", d, epsilon);
    struct enumerate_coins coins = {0};
    hsy_scheme *s;
    uint64_t edge;

    spec.param[HSY_PARAM_BLOCKS] = blocks;
    spec.param[HSY_PARAM_POOL_SEED] = seed;
    s = trial_scheme(&spec);
    edge = 2 * s->param[HSY_PARAM_BLOCKS] << s->two.shift;
    enumerate_edges(&coins, &s->coin, &edge, 1);
    enumerate_below(&coins, s->cells);
    enumerate_check(s, "hr", &coins, s->cells);
    enumerate_coins_clear(&coins);
    free(s);
}

/* P[y | x] estimate(y)^2 - truth^2, one report, summed over all outputs. */
static double variance(const hsy_scheme *s, uint64_t truth, uint64_t value)
{
    const double u = (double)(s->two.weight - ((uint64_t)1 << s->two.shift));
    double mean = 0, square = 0;

    for (uint64_t y = 0; y < s->cells; y++) {
        int64_t *memory = trial_memory(hsy_tally_words(s) * sizeof *memory);
        void *scratch = trial_memory(hsy_evidence_scratch(s, 1));
        const uint8_t report[4] = {(uint8_t)y};
        hsy_factor f[2];
        hsy_evidence point;
        hsy_tally t;
        size_t count;
        double p;

        hsy_tally_init(&t, s, memory);
        hsy_tally_add(&t, s, report, NULL);
        hsy_evidence_of(s, &point, &t, &value, 1, scratch, NULL);
        hsy_law(s, f, &count, truth, report);
        p = (double)f[0].num / (double)f[0].den / (double)f[1].den;
        mean += p * point.value;
        square += p * point.value * point.value;
        free(memory);
        free(scratch);
    }
    ok(u > 0 && fabs(mean - (truth == value)) < 1e-9,
       "the estimate of %u is unbiased under truth %u", (unsigned)value,
       (unsigned)truth);
    return square - mean * mean;
}

/* Theory 15.3: HR(B=2, b=4) at epsilon 1. */
static void small_case(void)
{
    hsy_spec spec = trial_values("hr", 6, 1);
    struct kernel_hadamard h;
    hsy_scheme *s;

    spec.param[HSY_PARAM_BLOCKS] = 2;
    s = trial_scheme(&spec);
    h = hr_kernel(s);
    ok(eq_u64(s->cells, 8) && eq_u64(h.index_bits, 2),
       "six values take two blocks of 4");
    for (uint64_t x = 0; x < 6; x++)
        for (uint64_t v = 0; v < 6; v++) {
            bool same = hadamard_item(x, &h) >> 2 == hadamard_item(v, &h) >> 2;
            double want = x == v ? 6.20143534 : same ? 7.20143534 : 3.87352851;

            ok(fabs(variance(s, x, v) - want) < 1e-8,
               "truth %u, value %u: the variance is %.8f", (unsigned)x,
               (unsigned)v, want);
        }
    free(s);
}

int main(void)
{
    static const double epsilons[] = {0.1, 1, 4, 20};

    for (size_t e = 0; e < 4; e++) {
        law(2, 0, epsilons[e], 0);
        law(3, 1, epsilons[e], 1);
        law(6, 2, epsilons[e], 2);
        law(13, 4, epsilons[e], 3);
        law(5, 8, epsilons[e], 4);
    }
    small_case();
    return tap_done();
}
