/*
 * oue_wrong_q.c - OUE with its q typed wrongly.
 *
 * Half of epsilon in the exponent wastes privacy: no bound can see it, the law
 * test does. Twice epsilon breaks the promise.
 */
#include "zoo.h"

static hsy_status oue_wrong_q_single(void *ctx, const hsy_scheme *s,
                                     uint8_t *report,
                                     const struct audit_probe *probe,
                                     hsy_coins *coins)
{
    double times = *(const double *)ctx;
    double q = 1 / (exp(zoo_epsilon(s) * times) + 1);

    return zoo_unary(s, report, probe->code, 0.5, q, coins);
}

const struct zoo_mutant zoo_oue_wrong_q[] = {
    {"oue_wrong_q", "q = 1 / (e^(epsilon/2) + 1)", "oue", HSY_KIND_VALUES, 10,
     HSY_NANO, oue_wrong_q_single, 0.5, 100000, AUDIT_LAW},
    {"oue_wrong_q", "q = 1 / (e^(2 epsilon) + 1)", "oue", HSY_KIND_VALUES, 10,
     HSY_NANO, oue_wrong_q_single, 2, 200000, AUDIT_SAMPLED | AUDIT_LAW},
    {0}};
