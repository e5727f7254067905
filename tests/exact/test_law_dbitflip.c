/*
 * test_law_dbitflip.c - X2 for dBitFlip: the law of a report through the real
 * code, for one bit, for some and for all, over the whole pool of sets.
 */
#include "rig/enumerate.h"

static void law_of(uint32_t d, uint64_t bits, uint64_t pool_bits,
                   double epsilon)
{
    hsy_spec spec = trial_values("dbitflip", d, epsilon);
    struct enumerate_coins coins = {0};
    hsy_scheme *s;
    char name[40];

    spec.param[HSY_PARAM_SAMPLED_BITS] = bits;
    spec.param[HSY_PARAM_POOL_BITS] = pool_bits;
    spec.param[HSY_PARAM_POOL_SEED] = 77;
    s = trial_scheme(&spec);
    for (uint64_t i = 0; i < bits; i++) {
        const uint64_t edges[2] = {s->bits.other, s->bits.own};

        enumerate_edges(&coins, &s->coin, edges, 2);
    }
    coins.published = (uint64_t)1 << pool_bits;
    coins.published_bytes = 4;
    snprintf(name, sizeof name, "dbitflip, %u of %u", (unsigned)bits,
             (unsigned)d);
    enumerate_check(s, name, &coins, (size_t)1 << (pool_bits + bits));
    enumerate_coins_clear(&coins);
    free(s);
}

int main(void)
{
    static const double epsilons[] = {0.1, 1, 4, 20};

    for (size_t e = 0; e < 4; e++) {
        law_of(2, 1, 7, epsilons[e]);
        law_of(5, 1, 9, epsilons[e]);
        law_of(2, 2, 1, epsilons[e]);
        law_of(5, 2, 8, epsilons[e]);
        law_of(4, 3, 7, epsilons[e]);
        law_of(4, 4, 1, epsilons[e]);
    }
    return tap_done();
}
