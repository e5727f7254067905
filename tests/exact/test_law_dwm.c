/*
 * test_law_dwm.c - the exact law of window means, through the real code.
 *
 * Without a mix: rounding, place in the window, blanket, uniform output.
 */
#include "enumerate.h"

int main(void)
{
    static const struct {
        uint64_t N, w;
        int64_t width;
        double epsilon;
    } rows[] = {{2, 1, 3, 1}, {3, 1, 1, 0.1}, {3, 1, 5, 2},
                {5, 2, 3, 1}, {7, 3, 2, 4},   {4, 1, 4, 20}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_spec spec = trial_number(rows[i].width, rows[i].epsilon);
        struct enumerate_coins coins = {0};
        hsy_scheme *s;
        uint64_t blanket;

        spec.mechanism = "dwm";
        spec.param[HSY_PARAM_OUTPUTS] = rows[i].N;
        spec.param[HSY_PARAM_W] = rows[i].w;
        s = trial_scheme(&spec);
        blanket = s->choice.bound << s->shift;
        enumerate_below(&coins, (uint64_t)rows[i].width);
        enumerate_below(&coins, rows[i].w);
        enumerate_edges(&coins, &s->coin, &blanket, 1);
        enumerate_below(&coins, rows[i].N);
        enumerate_check(s, "dwm", &coins, rows[i].N);
        enumerate_coins_clear(&coins);
        free(s);
    }
    return tap_done();
}
