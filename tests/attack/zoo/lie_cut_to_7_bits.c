/* lie_cut_to_7_bits.c - the chance of a lie is cut to 7 bits, toward less
 * noise. */
#include "zoo.h"

static hsy_status lie_cut_to_7_bits_single(void *ctx, const hsy_scheme *s,
                                           uint8_t *report,
                                           const struct audit_probe *probe,
                                           hsy_coins *coins)
{
    double q = floor(128 / (exp(zoo_epsilon(s)) + 1)) / 128;

    (void)ctx;
    return zoo_flip(s, report, probe->code, q, coins);
}

const struct zoo_mutant zoo_lie_cut_to_7_bits[] = {
    {"lie_cut_to_7_bits", "7 bits of a chance: a little less noise", "rr",
     HSY_KIND_YES_NO, 0, 2500000000, lie_cut_to_7_bits_single, 0, 1000000,
     AUDIT_SAMPLED | AUDIT_LAW},
    {"lie_cut_to_7_bits", "7 bits of a chance below 1/128: no noise at all",
     "rr", HSY_KIND_YES_NO, 0, 6 * (uint64_t)HSY_NANO, lie_cut_to_7_bits_single,
     0, 100000, AUDIT_SAMPLED | AUDIT_LAW},
    {0}};
