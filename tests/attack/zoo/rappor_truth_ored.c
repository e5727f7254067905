/* rappor_truth_ored.c - RAPPOR whose true bits are set after the noise: a zero
 * proves that the bit was zero. */
#include "zoo.h"

static hsy_status rappor_truth_ored_single(void *ctx, const hsy_scheme *s,
                                           uint8_t *report,
                                           const struct audit_probe *probe,
                                           hsy_coins *coins)
{
    hsy_scheme_info info;

    (void)ctx;
    hsy_scheme_describe(s, &info);
    return zoo_rappor(s, report, probe->code, 1, info.q, coins);
}

const struct zoo_mutant zoo_rappor_truth_ored[] = {
    {"rappor_truth_ored", "the true bits are or-ed into the noise", "rappor",
     HSY_KIND_VALUES, 10, HSY_NANO, rappor_truth_ored_single, 0, 200000,
     AUDIT_SAMPLED | AUDIT_LAW},
    {0}};
