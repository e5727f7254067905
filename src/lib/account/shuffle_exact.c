/*
 * shuffle_exact.c - binary randomized response behind a shuffler, to the last
 * digit.
 *
 * What n people's shuffled answers tell is how many of them are ones. If j of
 * the others hold a one, that count is Bin(j, p) + Bin(n-1-j, 1-p) and the
 * answer of the one who is asked about, p = rho / (1 + rho). Its law is
 * convolved term by term for every j: the worst j is found, not assumed. To
 * hide a one instead of a zero is the same with zeros and ones exchanged.
 */
#include "lib/account/internal.h"

#include <math.h>

#define SHUFFLED_ROOM (HSY_SHUFFLE_EXACT_MAX + 1)

/* out[t] = sum of x[i] y[t - i], for nx and ny terms. */
static void shuffled_convolve(double *out, const double *x, size_t nx,
                              const double *y, size_t ny)
{
    for (size_t t = 0; t < nx + ny - 1; t++)
        out[t] = 0;
    for (size_t i = 0; i < nx; i++)
        for (size_t k = 0; k < ny; k++)
            out[i + k] += x[i] * y[k];
}

/* At least the chance that k of n answers are flipped. */
static double shuffled_flipped(size_t k, size_t n, double q)
{
    return n == 0 ? 1 : hsy_account_chance((double)k, (double)n, q);
}

/* Of the others' law `ones`: a zero to be hidden among n answers that are
 * flipped with chance q. Terms of the law are right within 3e-12. */
static double shuffled_delta(const double *ones, size_t n, double q, double E)
{
    const double p = 1 - q;
    double sum = 0;

    for (size_t t = 0; t <= n; t++) {
        const double same = t < n ? ones[t] : 0, less = t > 0 ? ones[t - 1] : 0;
        const double zero = p * same + q * less;
        const double one = q * same + p * less;

        sum += fmax(zero - E * one + 4 * ACCOUNT_SLACK * (zero + E * one), 0);
    }
    return sum;
}

/* The law of the count of ones among the n - 1 others, j of whom hold one: by
 * the flipped, for 1 - q is 1 in a double where q is small. */
static void shuffled_others(double *ones, size_t n, size_t j, double q)
{
    double yes[SHUFFLED_ROOM], no[SHUFFLED_ROOM];

    for (size_t k = 0; k <= j; k++)
        yes[j - k] = shuffled_flipped(k, j, q);
    for (size_t k = 0; k < n - j; k++)
        no[k] = shuffled_flipped(k, n - 1 - j, q);
    shuffled_convolve(ones, yes, j + 1, no, n - j);
}

struct shuffled_case {
    double ones[SHUFFLED_ROOM];
    size_t n;
    double q, log_delta;
};

static double shuffled_miss(void *ctx, double epsilon)
{
    const struct shuffled_case *c = ctx;

    return log(shuffled_delta(c->ones, c->n, c->q, exp(epsilon))) -
           c->log_delta;
}

static double shuffled_flip(double epsilon0)
{
    return exp(-epsilon0) / (1 + exp(-epsilon0));
}

double hsy_account_shuffled(uint64_t n, double epsilon0, double epsilon)
{
    const double q = shuffled_flip(epsilon0);
    double ones[SHUFFLED_ROOM], worst = 0;

    if (epsilon >= epsilon0)
        return 0;
    for (size_t j = 0; j < n; j++) {
        shuffled_others(ones, n, j, q);
        worst = fmax(worst, shuffled_delta(ones, n, q, exp(epsilon)));
    }
    return worst;
}

/* The largest over all j; one that needs no more than those before is passed
 * with a look. */
double hsy_account_shuffled_epsilon(uint64_t n, double epsilon0, double delta)
{
    const double q = shuffled_flip(epsilon0);
    struct shuffled_case c = {.n = n, .q = q, .log_delta = log(delta)};
    struct account_search search = {
        .f = shuffled_miss, .ctx = &c, .good = epsilon0, .width = 1e-12};

    for (size_t j = 0; j < n; j++) {
        shuffled_others(c.ones, n, j, q);
        /* At epsilon0 itself delta is 0, which rounding does not show. */
        if (shuffled_miss(&c, epsilon0) > 0)
            return epsilon0;
        if (shuffled_miss(&c, search.bad) > 0)
            search.bad = hsy_account_search(&search);
    }
    return search.bad;
}
