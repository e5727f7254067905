/*
 * test_law_laplace.c - the exact law of Laplace noise, through the real code:
 * rounding, the word of the noise between two edges, the bit of the sign.
 */
#include "rig/enumerate.h"

/* The edges as the definition has them, apart from the scheme's own table:
 * u(0), and twice each u(i) more. */
static struct enumerate_coins law_coins(const hsy_scheme *s)
{
    const uint64_t grid = s->param[HSY_PARAM_GRID];
    const size_t far = (s->cells - 1) / 2 + grid;
    uint64_t *edges = trial_memory(far * sizeof *edges);
    uint64_t u = s->noise.middle, sum = s->noise.middle;
    struct enumerate_coins coins = {0};
    struct enumerate_coin *sign;

    for (size_t k = 0; k < far; k++) {
        hsy_u128 product = (hsy_u128)u * s->noise.keep;

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

/* Whether keep >= 2^64 e^(-epsilon / 2G) for certain: the series in 256 binary
 * digits, of less than 200 terms, each of which is cut by less than two units.
 * The exponent is at most 16. */
static bool law_keeps(uint64_t keep, uint64_t nano, uint64_t grid)
{
    mpz_t term, sum, high;
    bool enough;

    mpz_inits(term, sum, high, NULL);
    mpz_setbit(term, 256);
    for (unsigned long k = 1; mpz_sgn(term) != 0; k++) {
        (k % 2 != 0 ? mpz_add : mpz_sub)(sum, sum, term);
        mpz_mul_ui(term, term, nano);
        mpz_tdiv_q_ui(term, term, 2 * HSY_NANO * grid);
        mpz_tdiv_q_ui(term, term, k);
    }
    mpz_add_ui(sum, sum, 400);
    mpz_set_ui(high, keep);
    mpz_mul_2exp(high, high, 192);
    enough = mpz_cmp(high, sum) >= 0;
    mpz_clears(term, sum, high, NULL);
    return enough;
}

/* At one epsilon where three units are needed, and at many others. */
static void law_keep(void)
{
    uint64_t seed = 1, wrong = 0, tried = 0;

    while (tried < 3000) {
        hsy_spec spec = trial_number(1000, 1);
        hsy_scheme *s;

        seed = seed * 6364136223846793005u + 1442695040888963407u;
        spec.mechanism = "laplace";
        spec.nano_epsilon = tried == 0 ? 41293797 : (seed >> 20) % 32000000000;
        if (tried != 0 && tried % 2 == 0)
            spec.nano_epsilon = spec.nano_epsilon % 200000000 + 1000000;
        spec.param[HSY_PARAM_GRID] = tried == 0 ? 169 : seed >> 33 & 255;
        if (!trial_resolves(&spec))
            continue;
        tried++;
        s = trial_scheme(&spec);
        wrong += !law_keeps(s->noise.keep, s->nano_epsilon,
                            s->param[HSY_PARAM_GRID]);
        if (tried == 1)
            is_u64(wrong, 0,
                   "a step keeps e^(-epsilon / 2G) where three units "
                   "are needed");
        free(s);
    }
    is_u64(wrong, 0, "and at %d others", (int)tried - 1);
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
    law_keep();
    return tap_done();
}
