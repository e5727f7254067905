/*
 * test_law_sw.c - X2 for the square wave: the step of the window, the coin and
 * the uniform place, every class of words through the real code.
 */
#include "rig/enumerate.h"

static void law_of(uint32_t d, uint64_t w, double epsilon)
{
    hsy_spec spec = trial_bins("sw", d, epsilon);
    struct enumerate_coins coins = {0};
    hsy_scheme *s;
    uint64_t blanket;

    spec.param[HSY_PARAM_WINDOW] = w;
    s = trial_scheme(&spec);
    blanket = s->two.choice.bound << s->two.shift;
    enumerate_below(&coins, s->param[HSY_PARAM_WINDOW]);
    enumerate_edges(&coins, &s->coin, &blanket, 1);
    enumerate_below(&coins, s->two.choice.bound);
    enumerate_check(s, "sw", &coins, 64);
    enumerate_coins_clear(&coins);
    free(s);
}

/* The law as defined: weight A in the window, 2^shift outside. */
static void law_as_defined(void)
{
    hsy_spec spec = trial_bins("sw", 5, 1);
    hsy_scheme *s = trial_scheme(&spec);
    bool good = s->param[HSY_PARAM_WINDOW] == 3 && s->cells == 7;

    for (uint64_t code = 0; code < 5; code++)
        for (uint8_t y = 0; y < 7; y++) {
            const uint8_t report[4] = {y};
            hsy_factor f;
            size_t count;

            hsy_law(s, &f, &count, code, report);
            good &= f.den == s->total && count == 1 &&
                    f.num == (y >= code && y <= code + 2
                                  ? s->two.weight
                                  : (uint64_t)1 << s->two.shift);
        }
    ok(good, "5 bins at epsilon 1: 7 places, windows of 3");
    free(s);
}

int main(void)
{
    static const double epsilons[] = {0.1, 1, 4, 20};

    for (size_t e = 0; e < 4; e++) {
        law_of(2, 0, epsilons[e]);
        law_of(3, 3, epsilons[e]);
        law_of(5, 0, epsilons[e]);
        law_of(8, 15, epsilons[e]);
    }
    law_as_defined();
    return tap_done();
}
