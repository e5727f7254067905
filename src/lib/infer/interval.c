/*
 * interval.c - a point's standard error and its interval.
 *
 * A point's value has the variance
 *     ((1-f) v0 + f v1 + c f (1-f)) / n + floor
 * at the share f, c = spread for the target people and at least 1 - even for
 * the target population: the people who answered are then a sample themselves,
 * and (1 - even) f (1-f) / n is what sampling adds [docs/estimates.md], 1 +
 * came times where the same people answered again (attend.c).
 */
#include "lib/core/fail.h"
#include "lib/infer/infer.h"
#include "lib/special/special.h"

#include <math.h>

double hsy_share_clip(double f)
{
    return fmin(fmax(f, 0), 1);
}

double hsy_evidence_curve(const hsy_evidence *point, hsy_target target)
{
    const double sampled = (1 - point->sampling_discount) * (1 + point->came);

    return target == HSY_POPULATION ? fmax(point->binomial_variance, sampled)
                                    : point->binomial_variance;
}

double hsy_evidence_variance(const hsy_evidence *point, hsy_target target,
                             double f)
{
    const double c = hsy_evidence_curve(point, target);
    const double noise = (1 - f) * point->v0 + f * point->v1;

    if (hsy_releases_has(point))
        return hsy_releases_variance(point, f) + c * f * (1 - f) / point->n;
    return (noise + c * f * (1 - f)) / point->n + point->residual_variance;
}

double hsy_evidence_shift(const hsy_evidence *point)
{
    const double plain =
        (point->support / point->n - point->q) / (point->p - point->q);

    /* What rounding alone explains is no correction. */
    if (fabs(point->value - plain) <= 1e-12 * (1 + fabs(plain)))
        return 0;
    return point->value - plain;
}

hsy_status hsy_evidence_check(const hsy_evidence *point, hsy_error *err)
{
    if (point->n == 0)
        return hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_N, "no data");
    if (!(point->n > 0 && isfinite(point->n)))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_N,
                        "must be a positive count");
    if (!isfinite(point->value))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_VALUE, "must be finite");
    if (!(point->kept >= 0 && point->came >= 0 &&
          isfinite(point->kept + point->came)))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ROUNDS,
                        "must be finite and not negative");
    if (!(point->sampling_discount >= 0 && point->sampling_discount <= 1))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_SAMPLING_DISCOUNT,
                        "must lie from 0 to 1");
    if (!(point->v0 >= 0 && point->v1 >= 0 && point->binomial_variance >= 0 &&
          point->residual_variance >= 0 && isfinite(point->v0 + point->v1) &&
          isfinite(point->binomial_variance + point->residual_variance)))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_VARIANCE,
                        "must be finite and not negative");
    return hsy_releases_has(point) ? hsy_releases_check(point, err) : HSY_OK;
}

hsy_status hsy_confidence_check(const hsy_confidence *how, hsy_error *err)
{
    if (!(how->level > 0 && how->level < 1))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_LEVEL,
                        "must lie strictly between 0 and 1");
    if (how->comparisons == 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_COMPARISONS,
                        "must be at least 1");
    if (how->target != HSY_PEOPLE && how->target != HSY_POPULATION)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_TARGET, "no such target");
    if ((unsigned)how->interval > (unsigned)HSY_HOEFFDING)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_INTERVAL,
                        "no such interval");
    return HSY_OK;
}

double hsy_confidence_miss(const hsy_confidence *how)
{
    return (1 - how->level) / (double)how->comparisons;
}

bool hsy_evidence_binary(const hsy_evidence *point)
{
    const double p = point->p, q = point->q;

    return p >= 0 && p <= 1 && q >= 0 && q <= 1 && p != q;
}

bool hsy_evidence_counted(const hsy_evidence *point)
{
    return point->support >= 0 && point->support <= point->n;
}

static hsy_status interval_check_binary(const hsy_evidence *point,
                                        hsy_error *err)
{
    if (point->kept > 0 || point->came > 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_INTERVAL,
                        "needs independent reports, and these are of people "
                        "who answered more than once: take score, Wilson or "
                        "Wald");
    if (!hsy_evidence_binary(point))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_INTERVAL,
                        "needs support probabilities that differ");
    if (!hsy_evidence_counted(point))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_SUPPORT,
                        "must lie between 0 and the number of reports");
    return HSY_OK;
}

hsy_status hsy_interval_check(const hsy_evidence *point, hsy_interval interval,
                              hsy_error *err)
{
    switch (interval) {
    case HSY_EXACT:
    case HSY_LIKELIHOOD:
    case HSY_HOEFFDING:
        return interval_check_binary(point, err);
    case HSY_WALD:
        if (point->n < HSY_WALD_MIN)
            return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_INTERVAL,
                                  "the Wald interval needs more reports",
                                  HSY_WALD_MIN);
        return HSY_OK;
    default:
        return HSY_OK;
    }
}

static void interval_wald(double ends[2], const hsy_evidence *point,
                          hsy_target target, double z)
{
    const double sd = sqrt(
        hsy_evidence_variance(point, target, hsy_share_clip(point->value)));

    ends[0] = point->value - z * sd;
    ends[1] = point->value + z * sd;
}

/*
 * All f with (value - f)^2 <= z^2 variance(f), a quadratic in f:
 *     (1 + w c) f^2 - 2 (value + w (b + c) / 2) f + value^2 - w a <= 0,
 * w = z^2, variance(f) = a + b f + c f (1-f). A quarter of its discriminant is
 *     w (variance(value) + w ((b + c)^2 / 4 + a c)),
 * a form without cancellation. Far outside [0, 1] the polynomial may be
 * negative, so that value itself is not among these f: the interval reaches to
 * it all the same. If there are no such f, no share explains the value, and
 * the Wald interval, with the variance of the nearest share, has to do.
 */
static void interval_score(double ends[2], const hsy_evidence *point,
                           hsy_target target, double z)
{
    const double w = z * z, value = point->value;
    const double a = point->v0 / point->n + point->residual_variance;
    const double b = (point->v1 - point->v0) / point->n;
    const double c = hsy_evidence_curve(point, target) / point->n;
    const double here = hsy_evidence_variance(point, target, value);
    const double quarter = w * (here + w * ((b + c) * (b + c) / 4 + a * c));
    const double centre = (value + w * (b + c) / 2) / (1 + w * c);
    const double half = sqrt(fmax(quarter, 0)) / (1 + w * c);

    if (quarter < 0) {
        interval_wald(ends, point, target, z);
    } else {
        ends[0] = fmin(value, centre - half);
        ends[1] = fmax(value, centre + half);
    }
}

/* From the rate of support to the share and back, correction included. */
static double interval_share(const hsy_evidence *point, double rate)
{
    return (rate - point->q) / (point->p - point->q) +
           hsy_evidence_shift(point);
}

static double interval_rate(const hsy_evidence *point, double f)
{
    return hsy_share_clip(point->q + (f - hsy_evidence_shift(point)) *
                                         (point->p - point->q));
}

void hsy_interval_rates(double ends[2], double n, double support, double miss)
{
    const double y = support, rest = n - y;

    ends[0] = y <= 0 ? 0 : hsy_special_beta_inv(miss / 2, false, y, rest + 1);
    ends[1] = rest <= 0 ? 1 : hsy_special_beta_inv(miss / 2, true, y + 1, rest);
}

/* The log-likelihood at its peak y/n minus that at rate: y ln(y / (n rate)) +
 * (n-y) ln((n-y) / (n (1-rate))), as two terms that are never negative. */
static double interval_deviance(const hsy_evidence *point, double rate)
{
    const double n = point->n, y = point->support, rest = n - y;
    const double gap = rate * n - y;

    if (y == 0)
        return -n * log1p(-rate);
    if (rest == 0)
        return -n * log(rate);
    return y * hsy_special_rest(gap / y, rate * n / y) +
           rest * hsy_special_rest(-gap / rest, (1 - rate) * n / rest);
}

/* The rate between inside and outside where the deviance passes limit. */
static double interval_bisect(const hsy_evidence *point, double inside,
                              double outside, double limit)
{
    if (interval_deviance(point, outside) <= limit)
        return outside;
    for (int i = 0; i < 1100; i++) {
        const double middle = inside + (outside - inside) / 2;

        if (middle == inside || middle == outside)
            break;
        if (interval_deviance(point, middle) <= limit)
            inside = middle;
        else
            outside = middle;
    }
    return inside;
}

/* The most likely rate of a share in [0, 1], whose rates lie from low to
 * high. */
static double interval_peak(const hsy_evidence *point, double *low,
                            double *high)
{
    const double r0 = interval_rate(point, 0), r1 = interval_rate(point, 1);

    *low = fmin(r0, r1);
    *high = fmax(r0, r1);
    return fmin(fmax(point->support / point->n, *low), *high);
}

/* The rates of shares in [0, 1] whose likelihood is at least e^(-z^2/2) of the
 * greatest such. */
static void interval_likelihood(double ends[2], const hsy_evidence *point,
                                double z)
{
    double low, high;
    const double peak = interval_peak(point, &low, &high);
    const double limit = interval_deviance(point, peak) + z * z / 2;

    ends[0] = interval_bisect(point, peak, low, limit);
    ends[1] = interval_bisect(point, peak, high, limit);
}

/* [Hoeffding63, Thm 2] on the value itself. */
static void interval_hoeffding(double ends[2], const hsy_evidence *point,
                               double miss)
{
    const double half =
        sqrt(log(2 / miss) / (2 * point->n)) / fabs(point->p - point->q);

    ends[0] = point->value - half;
    ends[1] = point->value + half;
}

static void interval_map(double ends[2], const hsy_evidence *point, double more)
{
    const double a = interval_share(point, ends[0]);
    const double b = interval_share(point, ends[1]);

    ends[0] = hsy_share_clip(fmin(a, b) - more);
    ends[1] = hsy_share_clip(fmax(a, b) + more);
}

/*
 * Exact, likelihood and Hoeffding answer for the randomness of the reports
 * only. Where a floor of error remains that reports do not remove, each gets
 * half of the chance to miss.
 */
static void interval_binary(double ends[2], const hsy_evidence *point,
                            hsy_interval interval, double miss)
{
    const double part = point->residual_variance > 0 ? miss / 2 : miss;
    const double z = -hsy_normal_quantile(part / 2);
    const double more = z * sqrt(point->residual_variance);

    if (interval == HSY_HOEFFDING) {
        interval_hoeffding(ends, point, part);
        ends[0] -= more;
        ends[1] += more;
    } else {
        if (interval == HSY_EXACT)
            hsy_interval_rates(ends, point->n, point->support, part);
        else
            interval_likelihood(ends, point, z);
        interval_map(ends, point, more);
    }
}

static void interval_of(double ends[2], const hsy_evidence *point,
                        hsy_interval interval, hsy_target target, double miss)
{
    const double z = -hsy_normal_quantile(miss / 2);

    if (hsy_releases_has(point) && interval != HSY_WALD) {
        hsy_releases_interval(ends, point,
                              interval == HSY_WILSON ? HSY_POPULATION : target,
                              miss);
        return;
    }
    switch (interval) {
    case HSY_WALD:
        interval_wald(ends, point, target, z);
        break;
    case HSY_WILSON: /* [Wilson27], in terms of shares */
        interval_score(ends, point, HSY_POPULATION, z);
        break;
    case HSY_EXACT:
    case HSY_LIKELIHOOD:
    case HSY_HOEFFDING:
        interval_binary(ends, point, interval, miss);
        break;
    default: /* auto is the score of either target: Wilson for a population */
        if (!hsy_interval_few(ends, point, target, miss))
            interval_score(ends, point, target, z);
        break;
    }
}

void hsy_interval_of(double ends[2], const hsy_evidence *point,
                     hsy_interval interval, hsy_target target, double miss)
{
    hsy_evidence own = *point;

    if (point->residual_variance > 0 && point->lumps > 0)
        own.residual_variance *= hsy_lumps_widen(point->lumps, miss);
    interval_of(ends, &own, interval, target, miss);
}

hsy_status hsy_estimate_point(hsy_estimate *est, const hsy_evidence *point,
                              const hsy_confidence *how, hsy_error *err)
{
    double ends[2];
    hsy_status st = hsy_confidence_check(how, err);

    if (st == HSY_OK)
        st = hsy_evidence_check(point, err);
    if (st == HSY_OK)
        st = hsy_interval_check(point, how->interval, err);
    if (st != HSY_OK)
        return st;
    hsy_interval_of(ends, point, how->interval, how->target,
                    hsy_confidence_miss(how));
    est->value = point->value;
    est->sd = sqrt(hsy_evidence_variance(point, how->target,
                                         hsy_share_clip(point->value)));
    est->low = ends[0];
    est->high = ends[1];
    return HSY_OK;
}

hsy_status hsy_evidence_likelihood(double *out, const hsy_evidence *point,
                                   double f, hsy_error *err)
{
    hsy_status st = hsy_evidence_check(point, err);
    double low, high, peak;

    if (st == HSY_OK)
        st = hsy_interval_check(point, HSY_LIKELIHOOD, err);
    if (st != HSY_OK)
        return st;
    if (!(f >= 0 && f <= 1))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_F,
                        "a share lies from 0 to 1");
    peak = interval_peak(point, &low, &high);
    *out = fmin(interval_deviance(point, peak) -
                    interval_deviance(point, interval_rate(point, f)),
                0);
    return HSY_OK;
}
