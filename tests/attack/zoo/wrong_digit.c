/*
 * wrong_digit.c - a coin of a given chance reads the wrong digit of it.
 *
 * If the first of a row of fair coins to fall heads is the k-th, the k-th
 * binary digit of p is 1 with chance p. The digits are taken from the mantissa
 * as if p were at least 1/2: right for such p, and for 0.2497 it makes 0.9990.
 */
#include "zoo.h"

static hsy_status wrong_digit_coin(bool *heads, double p, hsy_coins *coins)
{
    uint8_t bytes[8];
    hsy_status st = coins->secret.fill(coins->secret.ctx, bytes, sizeof bytes);
    int exponent, k = 1;
    double mantissa = frexp(p, &exponent);

    if (st != HSY_OK)
        return st;
    for (uint64_t word = bytes_get64(bytes); (word & 1) == 0 && k < 53;
         word >>= 1)
        k++;
    *heads = fmod(floor(ldexp(mantissa, k)), 2) == 1; /* not k + exponent */
    return HSY_OK;
}

static hsy_status wrong_digit_single(void *ctx, const hsy_scheme *s,
                                     uint8_t *report,
                                     const struct audit_probe *probe,
                                     hsy_coins *coins)
{
    bool lie = false;
    hsy_status st =
        wrong_digit_coin(&lie, 1 / (exp(zoo_epsilon(s)) + 1), coins);

    (void)ctx;
    return st == HSY_OK ? zoo_report(s, report, probe->code ^ lie) : st;
}

const struct zoo_mutant zoo_wrong_digit[] = {
    {"wrong_digit", "the wrong digit of a chance below 1/4: hardly any noise",
     "rr", HSY_KIND_YES_NO, 0, 1100000000, wrong_digit_single, 0, 100000,
     AUDIT_SAMPLED | AUDIT_LAW},
    {"wrong_digit", "the wrong digit of another chance: too much noise", "rr",
     HSY_KIND_YES_NO, 0, HSY_NANO, wrong_digit_single, 0, 100000, AUDIT_LAW},
    {0}};
