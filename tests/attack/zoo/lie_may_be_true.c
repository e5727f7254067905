/*
 * lie_may_be_true.c - the lie may equal the truth, but the formula assumes that
 * it does not.
 *
 * The truth is kept with probability e^epsilon / (e^epsilon + 1); otherwise a
 * fair coin answers, which is right half of the time. Claimed ln 3, real ln 7.
 */
#include "zoo.h"

static hsy_status lie_may_be_true_single(void *ctx, const hsy_scheme *s,
                                         uint8_t *report,
                                         const struct audit_probe *probe,
                                         hsy_coins *coins)
{
    double lie = 1 / (exp(zoo_epsilon(s)) + 1), u, answer;
    hsy_status st = zoo_uniform(&u, coins);

    (void)ctx;
    if (st == HSY_OK)
        st = zoo_uniform(&answer, coins);
    if (st != HSY_OK)
        return st;
    return zoo_report(s, report, u < lie ? answer < 0.5 : probe->code);
}

const struct zoo_mutant zoo_lie_may_be_true[] = {
    {"lie_may_be_true", "the lie may be the truth", "rr", HSY_KIND_YES_NO, 0,
     1098612288, lie_may_be_true_single, 0, 100000, AUDIT_SAMPLED | AUDIT_LAW},
    {0}};
