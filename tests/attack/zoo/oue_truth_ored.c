/*
 * oue_truth_ored.c - the true bit is not cleared before its coin.
 *
 * The vector is filled with noise and the truth is then or-ed in, so that
 * P(1 | own) = p + (1 - p) q. Claimed 0.1, real 1.13; OUE.
 */
#include "zoo.h"

static hsy_status oue_truth_ored_single(void *ctx, const hsy_scheme *s,
                                        uint8_t *report,
                                        const struct audit_probe *probe,
                                        hsy_coins *coins)
{
    double q = 1 / (exp(zoo_epsilon(s)) + 1);

    (void)ctx;
    return zoo_unary(s, report, probe->code, 0.5 + 0.5 * q, q, coins);
}

const struct zoo_mutant zoo_oue_truth_ored[] = {
    {"oue_truth_ored", "the true bit is or-ed into the noise", "oue",
     HSY_KIND_VALUES, 10, HSY_NANO / 10, oue_truth_ored_single, 0, 200000,
     AUDIT_SAMPLED | AUDIT_LAW},
    {0}};
