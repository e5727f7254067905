/* bound.c - what a sample proves, and whether it follows its law. */
#include "audit/internal.h"

#include <math.h>

#define AUDIT_BOUND_POOL 100.0 /* reports expected in a group of cells */

/*
 * Each side holds with probability 1 - alpha / 2 [CP34], both with 1 - alpha,
 * and then the ratio is at least their quotient.
 */
double audit_bound(const uint64_t hits[2], const uint64_t trials[2],
                   double alpha)
{
    double low, high = 1;

    if (hits[0] == 0 || trials[0] == 0 || trials[1] == 0)
        return 0;
    low = hsy_beta_inv(alpha / 2, (double)hits[0],
                       (double)(trials[0] - hits[0]) + 1);
    /* By the lower tail, whose probability alpha / 2 keeps its digits. */
    if (hits[1] < trials[1])
        high = 1 - hsy_beta_inv(alpha / 2, (double)(trials[1] - hits[1]),
                                (double)hits[1] + 1);
    return low > high ? log(low / high) : 0;
}

static double audit_bound_wilson(double hits, double n, double z)
{
    double centre = hits + z * z / 2;
    double half = z * sqrt(hits * (n - hits) / n + z * z / 4);

    return (centre + half) / (n + z * z);
}

double audit_bound_guess(const uint64_t hits[2], const uint64_t trials[2],
                         double z)
{
    double low, high;

    if (hits[0] == 0 || trials[0] == 0 || trials[1] == 0)
        return 0;
    low = audit_bound_wilson((double)hits[0], (double)trials[0], -z);
    high = audit_bound_wilson((double)hits[1], (double)trials[1], z);
    return low > high ? log(low / high) : 0;
}

/* One probe's count of a cell in the whole sample, and of all cells. */
static uint64_t audit_bound_count(const struct audit_sample *s, size_t at)
{
    uint64_t n = 0;

    for (int p = 0; p < AUDIT_PARTS; p++)
        n += s->part[p].cells[at];
    return n;
}

static uint64_t audit_bound_total(const struct audit_sample *s, size_t x)
{
    uint64_t n = 0;

    for (size_t cell = 0; cell < s->outputs->size; cell++)
        n += audit_bound_count(s, x * s->outputs->size + cell);
    return n;
}

/* Twice the smaller tail of a binomial count; 1 where it is plainly usual. */
static double audit_bound_tail(uint64_t count, uint64_t n, double p)
{
    double k = (double)count, mean = (double)n * p, tail;

    if (p <= 0)
        return count == 0 ? 1 : 0;
    if (p >= 1)
        return count == n ? 1 : 0;
    if (fabs(k - mean) <= 4 * sqrt(mean * (1 - p)) + 4)
        return 1;
    tail = k < mean ? hsy_binomial_cdf(count, n, p)
                    : hsy_beta_inc(k, (double)(n - count) + 1, p);
    return fmin(1, 2 * tail);
}

/* The oddest cell of one probe, by the exact binomial law. */
static double audit_bound_oddest(const struct audit_sample *s, size_t x,
                                 uint64_t n)
{
    double oddest = 1;

    for (size_t cell = 0; cell < s->outputs->size; cell++) {
        size_t at = x * s->outputs->size + cell;
        double tail = audit_bound_tail(audit_bound_count(s, at), n,
                                       fmax(0, s->outputs->law[at]));

        oddest = fmin(oddest, tail);
    }
    return oddest;
}

/* Pearson's sum for one probe, over groups of cells large enough for it. */
static void audit_bound_chi2(const struct audit_sample *s, size_t x, uint64_t n,
                             double *sum, double *freedom)
{
    double seen = 0, expected = 0, groups = 0, left = (double)n;

    for (size_t cell = 0; cell < s->outputs->size; cell++) {
        size_t at = x * s->outputs->size + cell;

        seen += (double)audit_bound_count(s, at);
        expected += fmax(0, s->outputs->law[at]) * (double)n;
        left -= fmax(0, s->outputs->law[at]) * (double)n;
        if (expected < AUDIT_BOUND_POOL || left < AUDIT_BOUND_POOL)
            continue;
        *sum += (seen - expected) * (seen - expected) / expected;
        groups++;
        seen = expected = 0;
    }
    if (expected > 0) {
        *sum += (seen - expected) * (seen - expected) / expected;
        groups++;
    }
    *freedom += groups > 1 ? groups - 1 : 0;
}

/*
 * Two tests, so twice the smaller of their chances: cell by cell, times the
 * number of cells [Bonferroni], for one wrong cell; and all together, for a
 * wrong law that is nowhere far off.
 */
double audit_law_test(const struct audit_sample *s)
{
    double oddest = 1, sum = 0, freedom = 0, together = 1;
    double cells = (double)(s->outputs->count * s->nprobes);

    if (s->outputs->size == 0)
        return 1;
    for (size_t x = 0; x < s->nprobes; x++) {
        uint64_t n = audit_bound_total(s, x);

        if (n == 0)
            continue;
        oddest = fmin(oddest, audit_bound_oddest(s, x, n));
        audit_bound_chi2(s, x, n, &sum, &freedom);
    }
    if (freedom > 0)
        together = hsy_chi2_upper(sum, freedom);
    return fmin(1, 2 * fmin(together, oddest * cells));
}
