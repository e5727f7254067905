/* z08.c - the chance of a lie is cut to 7 bits, toward less noise. */
#include "zoo.h"

static hsy_status z08_single(void *ctx, const hsy_scheme *s, uint8_t *report,
                             const struct audit_probe *probe, hsy_coins *coins)
{
    double q = floor(128 / (exp(zoo_epsilon(s)) + 1)) / 128;

    (void)ctx;
    return zoo_flip(s, report, probe->code, q, coins);
}

const struct zoo_mutant zoo_z08[] = {
    {"Z08", "7 bits of a chance: a little less noise", "rr", HSY_KIND_YES_NO, 0,
     2500000000, z08_single, 0, 1000000, AUDIT_SAMPLED | AUDIT_LAW},
    {"Z08", "7 bits of a chance below 1/128: no noise at all", "rr",
     HSY_KIND_YES_NO, 0, 6 * (uint64_t)HSY_NANO, z08_single, 0, 100000,
     AUDIT_SAMPLED | AUDIT_LAW},
    {0}};
