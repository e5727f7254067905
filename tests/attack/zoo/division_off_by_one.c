/*
 * division_off_by_one.c - the sampler is right, the division it calls is not.
 *
 * Lies are byte / 28 for bytes below 9 * 28. The division, bit by bit, does
 * not take off a divisor that fits exactly, so that multiples of 28 fall one
 * short: the first lie is too likely and the last one not likely enough.
 */
#include "zoo.h"

static uint8_t division_off_by_one_divide(unsigned n, unsigned by)
{
    unsigned quotient = 0;

    for (int bit = 7; bit >= 0; bit--)
        if (n > by << bit) { /* >= */
            n -= by << bit;
            quotient |= 1u << bit;
        }
    return (uint8_t)quotient;
}

static hsy_status division_off_by_one_single(void *ctx, const hsy_scheme *s,
                                             uint8_t *report,
                                             const struct audit_probe *probe,
                                             hsy_coins *coins)
{
    double e = exp(zoo_epsilon(s)), u;
    uint8_t byte = 252, lie;
    hsy_status st = zoo_uniform(&u, coins);

    (void)ctx;
    while (st == HSY_OK && byte >= 252)
        st = coins->secret.fill(coins->secret.ctx, &byte, 1);
    if (st != HSY_OK)
        return st;
    lie = division_off_by_one_divide(byte, 28);
    lie = (uint8_t)(lie + (lie >= probe->code));
    return zoo_report(s, report, u < e / (e + 9) ? probe->code : lie);
}

const struct zoo_mutant zoo_division_off_by_one[] = {
    {"division_off_by_one",
     "a division that is wrong where nothing is left over", "grr",
     HSY_KIND_VALUES, 10, HSY_NANO, division_off_by_one_single, 0, 2000000,
     AUDIT_LAW},
    {0}};
