/*
 * test_law_laplace.c - the exact law of Laplace noise, through the real code:
 * rounding, the word of the noise between two edges, the bit of the sign.
 */
#include "enumerate.h"

/* The edges as the definition has them, apart from the scheme's own table:
 * u(0), and twice each u(i) more. */
static struct enumerate_coins law_coins(const hsy_scheme *s)
{
    const uint64_t grid = s->param[HSY_PARAM_GRID];
    const size_t far = (s->cells - 1) / 2 + grid;
    uint64_t *edges = trial_memory(far * sizeof *edges);
    uint64_t u = s->own, sum = s->own;
    struct enumerate_coins coins = {0};
    struct enumerate_coin *sign;

    for (size_t k = 0; k < far; k++) {
        hsy_u128 product = (hsy_u128)u * s->weight;

        edges[k] = sum;
        u = (uint64_t)(product >> 64) + ((uint64_t)product != 0);
        sum += 2 * u;
    }
    enumerate_below(&coins, (uint64_t)(s->hi - s->lo));
    enumerate_edges(&coins, &s->coin, edges, far);
    /* Of the sign's word the last bit counts, so a word stands for all that
     * end as it does. */
    sign = &coins.coin[coins.n++];
    enumerate_class(sign, 0, 0);
    enumerate_class(sign, UINT64_MAX, UINT64_MAX);
    free(edges);
    return coins;
}

int main(void)
{
    static const struct {
        uint64_t grid;
        int64_t width;
        double epsilon;
    } rows[] = {{1, 1, 1}, {1, 4, 4},  {1, 3, 32}, {2, 3, 2},
                {4, 8, 8}, {3, 16, 5}, {8, 5, 20}, {1, 2, 0.1}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_spec spec = trial_number(rows[i].width, rows[i].epsilon);
        struct enumerate_coins coins;
        hsy_scheme *s;

        spec.mechanism = "laplace";
        spec.param[HSY_PARAM_GRID] = rows[i].grid;
        s = trial_scheme(&spec);
        coins = law_coins(s);
        enumerate_check(s, "laplace", &coins, s->cells);
        enumerate_coins_clear(&coins);
        free(s);
    }
    return tap_done();
}
