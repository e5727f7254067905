/*
 * missing_return.c - the success path has no return.
 *
 * What the caller gets is what the last computation left in the register: here
 * the outcome of the coin, so the status says whether the report is true.
 */
#include "zoo.h"

static hsy_status missing_return_single(void *ctx, const hsy_scheme *s,
                                        uint8_t *report,
                                        const struct audit_probe *probe,
                                        hsy_coins *coins)
{
    double q = 1 / (exp(zoo_epsilon(s)) + 1), u;
    hsy_status st = zoo_uniform(&u, coins);
    int left_over;

    (void)ctx;
    if (st != HSY_OK)
        return st;
    left_over = probe->code != 0 && u >= q;
    (void)zoo_report(s, report, probe->code ^ (u < q));
    return (hsy_status)left_over;
}

const struct zoo_mutant zoo_missing_return[] = {
    {"missing_return", "success without a return leaves the coin as the status",
     "rr", HSY_KIND_YES_NO, 0, HSY_NANO, missing_return_single, 0, 100000,
     AUDIT_STATUS | AUDIT_SAMPLED},
    {0}};
