/*
 * shared_coins.c - coins are indexed byte + bit instead of 8 * byte + bit.
 *
 * Bit 1 of byte 0 and bit 0 of byte 1 share a coin. Each bit alone has the
 * right law; two of them together can be impossible under one truth and common
 * under another.
 */
#include "zoo.h"

#define COINS 16

static hsy_status shared_coins_single(void *ctx, const hsy_scheme *s,
                                      uint8_t *report,
                                      const struct audit_probe *probe,
                                      hsy_coins *coins)
{
    double q = 1 / (exp(zoo_epsilon(s)) + 1), coin[COINS];
    uint32_t d = zoo_domain(s);
    uint64_t word = 0;

    (void)ctx;
    for (int i = 0; i < COINS; i++) {
        hsy_status st = zoo_uniform(&coin[i], coins);

        if (st != HSY_OK)
            return st;
    }
    for (uint32_t v = 0; v < d; v++) {
        double u = coin[v / 8 + v % 8];

        word |= (uint64_t)(u < (v == probe->code ? 0.5 : q)) << v;
    }
    return zoo_report(s, report, word);
}

const struct zoo_mutant zoo_shared_coins[] = {
    {"shared_coins", "two bits share a coin, whole outputs counted", "oue",
     HSY_KIND_VALUES, 12, HSY_NANO, shared_coins_single, 0, 200000,
     AUDIT_SAMPLED | AUDIT_LAW},
    {"shared_coins", "two bits share a coin, only pairs can tell", "oue",
     HSY_KIND_VALUES, 24, HSY_NANO, shared_coins_single, 0, 200000,
     AUDIT_SAMPLED},
    {0}};
