/*
 * test_law_rappor.c - X2 for RAPPOR: the law of a report through the real code.
 *
 * With f = 1/2, p and q in quarters each step takes two planes of coins, so a
 * small filter has few tapes: all of them are played, for every cohort and
 * truth, and counted. The counts must be hsy_law exactly, and the largest ratio
 * hsy_law_worst to its power.
 */
#include "rig/enumerate.h"

#define TRUTHS 6u

/* Play every tape: the k lowest lanes of each plane are the coins. */
static bool law_count(const hsy_scheme *s, struct enumerate_law *l)
{
    uint32_t k = (uint32_t)s->param[HSY_PARAM_FILTER_BITS];
    uint64_t m = s->param[HSY_PARAM_COHORTS];
    size_t planes = s->rappor.flip_digits + s->rappor.step_digits;
    uint64_t tapes = (uint64_t)1 << k * planes;
    bool agree = true;

    for (uint64_t code = 0; code < l->codes; code++)
        for (uint64_t c = 0; c < m; c++)
            for (uint64_t tape = 0; tape < tapes; tape++) {
                uint64_t words[ENUMERATE_COINS], y;
                /* A word that gives the cohort and is not drawn anew. */
                uint64_t seed = (uint64_t)(((hsy_u128)c << 64) / m) + 2;

                for (size_t j = 0; j < planes; j++)
                    words[j] = tape >> k * j & (((uint64_t)1 << k) - 1);
                y = enumerate_play(s, code, words, planes, seed, sizeof seed);
                if (y >= l->outputs || y >> k != c)
                    agree = false;
                else
                    mpz_add_ui(l->weight[code * l->outputs + y],
                               l->weight[code * l->outputs + y], 1);
            }
    mpz_set_ui(l->total, m);
    mpz_mul_2exp(l->total, l->total, k * planes);
    return agree;
}

static void law_of(uint32_t k, uint32_t h, uint32_t m, const hsy_ratio *chance)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = "rappor",
                     .kind = HSY_KIND_VALUES,
                     .d = TRUTHS,
                     .design = HSY_DESIGN_RAPPOR,
                     .chance = {chance[0], chance[1], chance[2]},
                     .param[HSY_PARAM_FILTER_BITS] = k,
                     .param[HSY_PARAM_HASHES] = h,
                     .param[HSY_PARAM_COHORTS] = m};
    hsy_scheme *s = trial_scheme(&spec);
    struct enumerate_law l;
    bool agree;

    enumerate_init(&l, s, (size_t)1 << (k + 2));
    agree = law_count(s, &l);
    enumerate_compare(s, "rappor", &l, agree);
    enumerate_clear(&l);
    free(s);
}

int main(void)
{
    static const hsy_ratio usual[3] = {{1, 2}, {1, 2}, {3, 4}};
    static const hsy_ratio once[3] = {{0, 1}, {1, 4}, {3, 4}};
    static const hsy_ratio kept[3] = {{1, 2}, {0, 1}, {1, 1}};
    static const hsy_ratio sure[3] = {{1, 2}, {1, 4}, {1, 1}};

    law_of(4, 2, 2, usual); /* 2^16 tapes a truth and cohort */
    law_of(3, 1, 3, usual);
    law_of(4, 2, 2, once);
    law_of(4, 2, 2, kept);
    law_of(3, 1, 3, sure);
    return tap_done();
}
