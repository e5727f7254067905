/*
 * test_law_ss.c - X2 for subset selection: the law of a report through the real
 * code, whatever w; and w = 1 is the law of grr.
 *
 * randomize draws a coin, whether the truth is in the set, and then a uniform
 * number below (d-1)(d-2)(d-3)(d-4) for the first four slots, below
 * (d-5)(d-6).. for the next.
 */
#include "rig/enumerate.h"

static void coins_of(const hsy_scheme *s, struct enumerate_coins *coins)
{
    const uint64_t own = s->param[HSY_PARAM_SUBSET] * s->two.weight;

    enumerate_edges(coins, &s->coin, &own, 1);
    for (uint64_t left = s->d - 1; left > 0;) {
        uint64_t bound = 1;

        for (int i = 0; i < 4 && left > 0; i++)
            bound *= left--;
        enumerate_below(coins, bound);
    }
}

static void law_of(uint32_t d, uint64_t w, double epsilon)
{
    hsy_spec spec = trial_values("ss", d, epsilon);
    struct enumerate_coins coins = {0};
    hsy_scheme *s;
    char name[32];

    spec.param[HSY_PARAM_SUBSET] = w;
    s = trial_scheme(&spec);
    coins_of(s, &coins);
    snprintf(name, sizeof name, "ss of %u, w = %u", (unsigned)d, (unsigned)w);
    enumerate_check(s, name, &coins, (size_t)1 << d);
    enumerate_coins_clear(&coins);
    free(s);
}

/* A set of one value is that value. */
static void one_is_grr(uint32_t d, double epsilon)
{
    hsy_spec spec = trial_values("ss", d, epsilon);
    hsy_spec plain = trial_values("grr", d, epsilon);
    hsy_scheme *s, *grr = trial_scheme(&plain);
    bool same = true;

    spec.param[HSY_PARAM_SUBSET] = 1;
    s = trial_scheme(&spec);
    for (uint64_t x = 0; x < d; x++)
        for (uint64_t y = 0; y < d; y++) {
            const uint8_t set[1] = {(uint8_t)(1u << y)};
            const uint8_t value[1] = {(uint8_t)y};
            hsy_factor a[8], b[8];
            size_t m, n;

            hsy_law(s, a, &m, x, set);
            hsy_law(grr, b, &n, x, value);
            same &= m == 1 && n == 1 && a[0].num == b[0].num &&
                    a[0].den == b[0].den;
        }
    ok(same, "d = %u, epsilon %g: w = 1 has the law of grr", (unsigned)d,
       epsilon);
    free(s);
    free(grr);
}

int main(void)
{
    static const double epsilons[] = {0.1, 1, 4, 20};

    for (size_t e = 0; e < 4; e++) {
        for (uint32_t d = 2; d <= 6; d++)
            for (uint64_t w = 1; w < d; w++)
                law_of(d, w, epsilons[e]);
        one_is_grr(2, epsilons[e]);
        one_is_grr(7, epsilons[e]);
    }
    law_of(8, 3, 1); /* every slot of the second word but one */
    return tap_done();
}
