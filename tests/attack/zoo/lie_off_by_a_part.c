/*
 * lie_off_by_a_part.c - the chance of a lie is off by a given part: the
 * auditor's power.
 *
 * One percent must be seen in 10^7 reports. A thousandth and a ten-thousandth
 * take 10^9 and 10^11, for long runs.
 */
#include "zoo.h"

static hsy_status lie_off_by_a_part_single(void *ctx, const hsy_scheme *s,
                                           uint8_t *report,
                                           const struct audit_probe *probe,
                                           hsy_coins *coins)
{
    double q = (1 - *(const double *)ctx) / (exp(zoo_epsilon(s)) + 1);

    return zoo_flip(s, report, probe->code, q, coins);
}

const struct zoo_mutant zoo_lie_off_by_a_part[] = {
    {"lie_off_by_a_part", "a probability is off by 1 %", "rr", HSY_KIND_YES_NO,
     0, HSY_NANO, lie_off_by_a_part_single, 0.01, 10000000,
     AUDIT_SAMPLED | AUDIT_LAW},
    {"lie_off_by_a_part", "a probability is off by 0.1 %", "rr",
     HSY_KIND_YES_NO, 0, HSY_NANO, lie_off_by_a_part_single, 0.001, 1000000000,
     AUDIT_SAMPLED | AUDIT_LAW},
    {"lie_off_by_a_part", "a probability is off by 0.01 %", "rr",
     HSY_KIND_YES_NO, 0, HSY_NANO, lie_off_by_a_part_single, 0.0001,
     100000000000, AUDIT_SAMPLED | AUDIT_LAW},
    {0}};
