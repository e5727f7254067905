/*
 * lies_not_uniform.c - lies that are not uniform: modulo bias, and a rejection
 * bound that is off by one.
 *
 * A byte is reduced to one of d - 1 = 9 lies. 256 = 28 * 9 + 4, so four lies
 * are more likely than the other five; or byte 252 is taken although only
 * those below 28 * 9 = 252 may be.
 */
#include "zoo.h"

static hsy_status lies_not_uniform_lie(uint8_t *lie, bool rejects,
                                       hsy_coins *coins)
{
    uint8_t byte;

    do {
        hsy_status st = coins->secret.fill(coins->secret.ctx, &byte, 1);

        if (st != HSY_OK)
            return st;
    } while (rejects && byte > 252);
    *lie = byte % 9;
    return HSY_OK;
}

static hsy_status lies_not_uniform_single(void *ctx, const hsy_scheme *s,
                                          uint8_t *report,
                                          const struct audit_probe *probe,
                                          hsy_coins *coins)
{
    double e = exp(zoo_epsilon(s)), u;
    uint8_t lie;
    hsy_status st = zoo_uniform(&u, coins);

    if (st == HSY_OK)
        st = lies_not_uniform_lie(&lie, *(const double *)ctx > 0, coins);
    if (st != HSY_OK)
        return st;
    lie = (uint8_t)(lie + (lie >= probe->code));
    return zoo_report(s, report, u < e / (e + 9) ? probe->code : lie);
}

const struct zoo_mutant zoo_lies_not_uniform[] = {
    {"lies_not_uniform", "modulo bias in the lie", "grr", HSY_KIND_VALUES, 10,
     HSY_NANO, lies_not_uniform_single, 0, 1000000, AUDIT_LAW},
    {"lies_not_uniform", "a rejection bound is off by one", "grr",
     HSY_KIND_VALUES, 10, HSY_NANO, lies_not_uniform_single, 1, 1000000,
     AUDIT_LAW},
    {0}};
