/*
 * one_value_too_many.c - the random value comes from a set that is one too
 * large: d + 1 instead of d, so that a report is now and then no value at all.
 */
#include "zoo.h"

static hsy_status one_value_too_many_single(void *ctx, const hsy_scheme *s,
                                            uint8_t *report,
                                            const struct audit_probe *probe,
                                            hsy_coins *coins)
{
    double e = exp(zoo_epsilon(s)), d = zoo_domain(s), u, v;
    hsy_status st = zoo_uniform(&u, coins);

    (void)ctx;
    if (st == HSY_OK)
        st = zoo_uniform(&v, coins);
    if (st != HSY_OK)
        return st;
    return zoo_report(
        s, report, u < d / (e + d - 1) ? (uint64_t)(v * (d + 1)) : probe->code);
}

const struct zoo_mutant zoo_one_value_too_many[] = {
    {"one_value_too_many", "a value is drawn from one too many", "grr",
     HSY_KIND_VALUES, 10, HSY_NANO, one_value_too_many_single, 0, 200000,
     AUDIT_MALFORMED},
    {0}};
