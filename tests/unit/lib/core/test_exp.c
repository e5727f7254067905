/* test_exp.c - e^epsilon: the published vectors, order, and the edges. */
#include "lib/core/exp.h"
#include "tap.h"

#define NANO 2000000000u /* half nano-epsilon in epsilon 1 */

/* Theory 15.7: exact ceilings and floors. */
static void published_vectors(void)
{
    static const struct {
        uint64_t half_nano, flip, weight;
    } rows[] = {
        {NANO / 2, 0x60a6815965e37a0f, 7081203937},
        {NANO, 0x44d9585152ea1936, 11674931554},
        {2 * (uint64_t)NANO, 0x1e84152bac31aeaa, 31735754293},
        {4 * (uint64_t)NANO, 0x049abe8790f0b0b4, 234497268814},
    };

    for (size_t i = 0; i < 4; i++) {
        double epsilon = (double)rows[i].half_nano / NANO;

        is_u64(hsy_exp_flip(rows[i].half_nano), rows[i].flip,
               "flip threshold at %g", epsilon);
        is_u64(hsy_exp_weight(rows[i].half_nano, 32), rows[i].weight,
               "weight over 2^32 at %g", epsilon);
    }
}

static void edges(void)
{
    is_u64(hsy_exp_flip(0), (uint64_t)1 << 63, "at epsilon 0 a coin is fair");
    ok(eq_u64(hsy_exp_weight(0, 62), (uint64_t)1 << 62) &&
           eq_u64(hsy_exp_bits(0), 1),
       "e^0 is exactly 1");
    ok(hsy_exp_covers(0, 1, 1) &&
           !hsy_exp_covers(0, UINT64_MAX, UINT64_MAX - 1),
       "e^0 covers 1 and nothing above");
    ok(hsy_exp_flip(1) < (uint64_t)1 << 63, "the least epsilon is not nothing");
    is_u64(hsy_exp_bits(64000000000), 47, "e^32 has 47 bits");
    ok(eq_u64(hsy_exp_bits(88000000000), 64) &&
           eq_u64(hsy_exp_flip(88000000000), 2),
       "at the end of the range, e^44, the threshold is 2");
    ok(hsy_exp_covers(64000000000, 78962960182680, 1) &&
           !hsy_exp_covers(64000000000, 78962960182681, 1),
       "e^32 lies between two integers");
    ok(!hsy_exp_covers(NANO, UINT64_MAX, 1) && hsy_exp_covers(NANO, 0, 1),
       "covers takes numbers of any size");
    ok(hsy_exp_within(NANO, 3) && !hsy_exp_within(NANO, 2),
       "e is within 3 and not within 2");
    ok(hsy_exp_within(NANO, UINT64_MAX) && !hsy_exp_within(NANO, 0),
       "within takes numbers of any size");
}

/* A step of h moves e^x by 2^-31 of itself, far more than any rounding. */
static void strictly_ordered(void)
{
    const uint64_t step = 12345679;
    uint64_t wrong = 0, coarse = 0;

    for (uint64_t h = 0; h + step <= 88000000000; h += step) {
        wrong += hsy_exp_flip(h + 1) > hsy_exp_flip(h);
        wrong += hsy_exp_bits(h + step) < hsy_exp_bits(h);
        if (hsy_exp_bits(h) < 30)
            coarse += hsy_exp_weight(h + 1, 33) <= hsy_exp_weight(h, 33);
    }
    is_u64(wrong, 0, "a larger epsilon never flips more");
    is_u64(coarse, 0, "half a nano-epsilon is seen in the weight");
}

/* The two roads to one number: q = 1/(e^x + 1) and 1/q - 1 = e^x. */
static void flip_is_private(void)
{
    const uint64_t step = 9876543;
    uint64_t above = 0, slack = 0;

    for (uint64_t h = 2000; h <= 64000000000; h += step) {
        uint64_t q = hsy_exp_flip(h);

        above += !hsy_exp_covers(h, 0 - q, q);
        slack += hsy_exp_covers(h, 0 - q + 1, q - 1);
    }
    is_u64(above, 0, "(2^64 - q) / q never passes e^x");
    is_u64(slack, 0, "and one unit less of q would");
}

int main(void)
{
    published_vectors();
    edges();
    strictly_ordered();
    flip_is_private();
    return tap_done();
}
