/*
 * difference.c - two tallies compared: interval and test.
 *
 * They are independent, or they are two of one task and share the kept answers
 * of the devices that are in both: of a share f that adds
 *     C = shared ((1-f) kept0 + f kept1 + kept spread f (1-f))
 * to their covariance, and takes 2 C off the variance of the difference. Where
 * the shares differ the smaller C is taken.
 */
#include "lib/core/fail.h"
#include "lib/infer/infer.h"

#include <math.h>

/* Exact and Hoeffding: both intervals hold together if each may miss half as
 * often, and then the difference lies in their difference. */
static void difference_box(double ends[2], const hsy_evidence *a,
                           const hsy_evidence *b, const hsy_confidence *how)
{
    const double miss = hsy_confidence_miss(how) / 2;
    double ea[2], eb[2];

    hsy_interval_of(ea, a, how->interval, how->target, miss);
    hsy_interval_of(eb, b, how->interval, how->target, miss);
    ends[0] = ea[0] - eb[1];
    ends[1] = ea[1] - eb[0];
}

/* The variance of a kept answer at the share f, n times. */
static double difference_kept(const hsy_evidence *point, double f)
{
    const double spread = point->binomial_variance / (1 + point->kept);

    return (1 - f) * point->kept0 + f * point->kept1 + spread * f * (1 - f);
}

static double difference_shared(const hsy_evidence *a, const hsy_evidence *b,
                                double shared, double fa, double fb)
{
    if (shared == 0)
        return 0;
    return shared * fmin(difference_kept(a, hsy_share_clip(fa)),
                         difference_kept(b, hsy_share_clip(fb)));
}

static double difference_less(double x, double y, double off)
{
    return off == 0 ? hypot(x, y) : sqrt(fmax(x * x + y * y - off, 0));
}

/*
 * Score, Wilson and likelihood: the distances from each value to its own ends
 * are added in squares [Newcombe98, method 10]. A likelihood interval is about
 * the share within [0, 1].
 */
static void difference_squares(double ends[2], const hsy_evidence *a,
                               const hsy_evidence *b, double shared,
                               const hsy_confidence *how)
{
    const bool clip = how->interval == HSY_LIKELIHOOD;
    const double va = clip ? hsy_share_clip(a->value) : a->value;
    const double vb = clip ? hsy_share_clip(b->value) : b->value;
    const double miss = hsy_confidence_miss(how);
    const double z = -hsy_normal_quantile(miss / 2);
    const double off =
        2 * z * z * difference_shared(a, b, shared, a->value, b->value);
    double ea[2], eb[2];

    hsy_interval_of(ea, a, how->interval, how->target, miss);
    hsy_interval_of(eb, b, how->interval, how->target, miss);
    ends[0] = va - vb - difference_less(va - ea[0], eb[1] - vb, off);
    ends[1] = va - vb + difference_less(ea[1] - va, vb - eb[0], off);
}

static double difference_variance(const hsy_evidence *a, const hsy_evidence *b,
                                  double shared, hsy_target target, double fa,
                                  double fb)
{
    const double sum = hsy_evidence_variance(a, target, hsy_share_clip(fa)) +
                       hsy_evidence_variance(b, target, hsy_share_clip(fb));

    return fmax(sum - 2 * difference_shared(a, b, shared, fa, fb), 0);
}

static void difference_wald(double ends[2], const hsy_evidence *a,
                            const hsy_evidence *b, double shared,
                            const hsy_confidence *how)
{
    const double z = -hsy_normal_quantile(hsy_confidence_miss(how) / 2);
    const double half = z * sqrt(difference_variance(a, b, shared, how->target,
                                                     a->value, b->value));

    ends[0] = a->value - b->value - half;
    ends[1] = a->value - b->value + half;
}

/* The share if it is the same in both: each value by the other's variance. */
static double difference_pooled(const hsy_evidence *a, const hsy_evidence *b,
                                hsy_target target)
{
    const double wa =
        hsy_evidence_variance(b, target, hsy_share_clip(b->value));
    const double wb =
        hsy_evidence_variance(a, target, hsy_share_clip(a->value));

    if (wa + wb == 0)
        return (a->value + b->value) / 2;
    return (wa * a->value + wb * b->value) / (wa + wb);
}

/* The two-sided z test with the variance that equal shares would give, times
 * the number of comparisons. */
static double difference_p_value(const hsy_evidence *a, const hsy_evidence *b,
                                 double shared, const hsy_confidence *how)
{
    const double gap = fabs(a->value - b->value);
    const double f = difference_pooled(a, b, how->target);
    const double sd =
        sqrt(difference_variance(a, b, shared, how->target, f, f));

    if (gap == 0)
        return 1;
    if (sd == 0)
        return 0;
    return fmin(1, 2 * hsy_normal_cdf(-gap / sd) * (double)how->comparisons);
}

static hsy_status difference_check(const hsy_evidence *a, const hsy_evidence *b,
                                   const hsy_confidence *how, hsy_error *err)
{
    hsy_status st = hsy_confidence_check(how, err);

    if (st == HSY_OK)
        st = hsy_evidence_check(a, err);
    if (st == HSY_OK)
        st = hsy_evidence_check(b, err);
    if (st == HSY_OK)
        st = hsy_interval_check(a, how->interval, err);
    if (st == HSY_OK)
        st = hsy_interval_check(b, how->interval, err);
    return st;
}

static hsy_status difference_sharing(const hsy_evidence *a,
                                     const hsy_evidence *b, double shared,
                                     const hsy_confidence *how, hsy_error *err)
{
    const double most = sqrt((1 + a->kept) / a->n * (1 + b->kept) / b->n);

    if (!(shared >= 0 && shared <= most * (1 + 1e-12)))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_SHARED,
                        "two tallies share no more than either holds");
    if (shared > 0 && how->interval != HSY_WALD && how->interval != HSY_SCORE &&
        how->interval != HSY_WILSON && how->interval != HSY_INTERVAL_AUTO)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_INTERVAL,
                        "needs tallies that share no answers: take score, "
                        "Wilson or Wald");
    return HSY_OK;
}

hsy_status hsy_estimate_paired(hsy_estimate *est, double *p_value,
                               const hsy_evidence *a, const hsy_evidence *b,
                               double shared, const hsy_confidence *how,
                               hsy_error *err)
{
    double ends[2];
    hsy_status st = difference_check(a, b, how, err);

    if (st == HSY_OK)
        st = difference_sharing(a, b, shared, how, err);
    if (st != HSY_OK)
        return st;
    if (how->interval == HSY_EXACT || how->interval == HSY_HOEFFDING)
        difference_box(ends, a, b, how);
    else if (how->interval == HSY_WALD)
        difference_wald(ends, a, b, shared, how);
    else
        difference_squares(ends, a, b, shared, how);
    est->value = a->value - b->value;
    est->sd = sqrt(
        difference_variance(a, b, shared, how->target, a->value, b->value));
    est->low = ends[0];
    est->high = ends[1];
    *p_value = difference_p_value(a, b, shared, how);
    return HSY_OK;
}

hsy_status hsy_estimate_difference(hsy_estimate *est, double *p_value,
                                   const hsy_evidence *a, const hsy_evidence *b,
                                   const hsy_confidence *how, hsy_error *err)
{
    return hsy_estimate_paired(est, p_value, a, b, 0, how, err);
}
