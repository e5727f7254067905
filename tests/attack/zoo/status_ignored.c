/* status_ignored.c - the random source's status is not looked at. */
#include "zoo.h"

static hsy_status status_ignored_single(void *ctx, const hsy_scheme *s,
                                        uint8_t *report,
                                        const struct audit_probe *probe,
                                        hsy_coins *coins)
{
    double q = 1 / (exp(zoo_epsilon(s)) + 1);
    double u = 1; /* a coin that was never tossed keeps the truth */

    (void)ctx;
    (void)zoo_uniform(&u, coins);
    return zoo_report(s, report, probe->code ^ (u < q));
}

const struct zoo_mutant zoo_status_ignored[] = {
    {"status_ignored", "a failed random source goes unnoticed", "rr",
     HSY_KIND_YES_NO, 0, HSY_NANO, status_ignored_single, 0, 100000,
     AUDIT_CLOSED},
    {0}};
