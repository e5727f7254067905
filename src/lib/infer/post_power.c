/*
 * post_power.c - counts under a prior of powers [Wang20, Power].
 *
 * Most values of a long list are rare. Suppose that a count c from 1 to n has
 * the chance c^-s / (1^-s + ... + n^-s), with s such that the mean count is
 * n / d, as it has to be; and that the estimate x of a count is c plus Gaussian
 * noise of the known variance. Then the mean of c given x is
 *
 *     sum c c^-s e^(-(c - x)^2 / 2 var) / sum c^-s e^(-(c - x)^2 / 2 var).
 *
 * Sums over up to 10^9 counts are taken on a grid of runs of counts, each
 * standing for itself times its length: single counts at first, then runs that
 * grow with c, but near x never longer than a part of the noise. Exponents are
 * taken relative to the largest, so nothing overflows or vanishes.
 */
#include "lib/core/fail.h"
#include "lib/infer/infer.h"

#include <math.h>

#define POWER_FINE 256.0  /* a run is 1 / this of its count, to fit s */
#define POWER_COARSE 64.0 /* and for means */
#define POWER_NOISE 8.0   /* and 1 / this of the noise, near x */
#define POWER_REACH 12.0  /* near: so many standard deviations */
#define POWER_STEEPEST 64.0
#define POWER_HALVINGS 60

/* A run of counts: the first one, how many, and their middle. */
struct power_run {
    double first, length, middle;
};

/* The run from `first` on, of at most `most` counts, none above n. */
static struct power_run power_run(double first, double most, double n)
{
    const double whole = fmax(floor(most), 1);
    const double length = fmin(whole, n - first + 1);

    return (struct power_run){first, length, first + (length - 1) / 2};
}

/* The mean count of the prior. */
static double power_prior_mean(double s, double n)
{
    double sum = 0, mean = 0;

    for (double c = 1; c <= n;) {
        const struct power_run run = power_run(c, c / POWER_FINE, n);
        const double weight = run.length * pow(run.middle, -s);

        sum += weight;
        mean += weight * run.middle;
        c += run.length;
    }
    return mean / sum;
}

/* The mean falls in s from (n + 1) / 2 at 0 towards 1, and n / d lies between
 * if n > d >= 2. */
static double power_fit(double n, double mean)
{
    double low = 0, high = POWER_STEEPEST;

    for (int i = 0; i < POWER_HALVINGS; i++) {
        const double s = (low + high) / 2;

        if (power_prior_mean(s, n) > mean)
            low = s;
        else
            high = s;
    }
    return (low + high) / 2;
}

/* The longest run from c on: not into what is near x, and short there. */
static double power_longest(double c, double x, double sd)
{
    const double reach = POWER_REACH * sd, run = c / POWER_COARSE;

    if (c < x - reach)
        return fmin(run, x - reach - c);
    return c <= x + reach ? fmin(run, sd / POWER_NOISE) : run;
}

/* Runs that matter for x end 12 standard deviations above it, or above 0 where
 * it is negative: there the chances have fallen by e^-72. */
static double power_mean(double x, double sd, double s, double n)
{
    const double last = fmin(n, fmax(x, 0) + POWER_REACH * sd + 1);
    double top = -INFINITY, sum = 0, mean = 0;

    for (double c = 1; c <= last;) {
        const struct power_run run = power_run(c, power_longest(c, x, sd), n);
        const double z = (run.middle - x) / sd;
        const double weight = log(run.length) - s * log(run.middle) - z * z / 2;

        if (weight > top) {
            sum *= exp(top - weight);
            mean *= exp(top - weight);
            top = weight;
        }
        sum += exp(weight - top);
        mean += exp(weight - top) * run.middle;
        c += run.length;
    }
    return mean / sum;
}

hsy_status hsy_post_power_check(const hsy_evidence *points, size_t count,
                                hsy_error *err)
{
    if (count < 2)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_POST,
                        "a prior of powers is for a list of values");
    for (size_t i = 1; i < count; i++)
        if (points[i].n != points[0].n)
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_POST,
                            "the values are not of one tally");
    if (!(points[0].n > (double)count))
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_POST,
                              "a prior of powers needs more reports than "
                              "values",
                              count);
    return HSY_OK;
}

void hsy_post_power(double *out, const hsy_evidence *points, size_t count)
{
    const double n = points[0].n, s = power_fit(n, n / (double)count);

    for (size_t i = 0; i < count; i++) {
        const double sd =
            n * sqrt(hsy_evidence_variance(&points[i], HSY_PEOPLE, 0));

        /* Without noise the estimate is the count. */
        if (sd > 0)
            out[i] = power_mean(n * points[i].value, sd, s, n) / n;
    }
}
