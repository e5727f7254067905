/*
 * laplace_in_doubles.c - Laplace noise by the inverse of its distribution, in
 * floating point.
 *
 * The noise is -b ln u, and u takes few values: sums of truth and noise leave
 * holes, different ones for each truth, so that a report rules truths out
 * [Mironov12]. With the 53 bits of a double the holes are in the last digits
 * of a report; here u has 10 bits and they are a step of the grid wide.
 */
#include "zoo.h"

static hsy_status laplace_in_doubles_single(void *ctx, const hsy_scheme *s,
                                            uint8_t *report,
                                            const struct audit_probe *probe,
                                            hsy_coins *coins)
{
    double u, sign;
    hsy_status st = zoo_uniform(&u, coins);

    (void)ctx;
    if (st == HSY_OK)
        st = zoo_uniform(&sign, coins);
    if (st != HSY_OK)
        return st;
    u = (floor(u * 1024) + 0.5) / 1024;
    return zoo_noise(s, report, probe->code,
                     (sign < 0.5 ? 1 : -1) * round(log(u) / zoo_decay(s)));
}

const struct zoo_mutant zoo_laplace_in_doubles[] = {
    {"laplace_in_doubles", "Laplace noise of a logarithm has holes", "laplace",
     HSY_KIND_NUMBER, 64, HSY_NANO, laplace_in_doubles_single, 0, 1000000,
     AUDIT_SAMPLED | AUDIT_LAW},
    {0}};
