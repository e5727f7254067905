/* difference.c - two independent tallies compared: interval and test. */
#include "fail.h"
#include "infer.h"

#include <math.h>

/* Exact and Hoeffding: both intervals hold together if each may miss half as
 * often, and then the difference lies in their difference. */
static void difference_box(double ends[2], const hsy_point *a,
                           const hsy_point *b, const hsy_confidence *how)
{
    const double miss = hsy_confidence_miss(how) / 2;
    double ea[2], eb[2];

    hsy_interval_of(ea, a, how->interval, how->target, miss);
    hsy_interval_of(eb, b, how->interval, how->target, miss);
    ends[0] = ea[0] - eb[1];
    ends[1] = ea[1] - eb[0];
}

/*
 * Score, Wilson and likelihood: the distances from each value to its own ends
 * are added in squares [Newcombe98, method 10]. A likelihood interval is about
 * the share within [0, 1].
 */
static void difference_squares(double ends[2], const hsy_point *a,
                               const hsy_point *b, const hsy_confidence *how)
{
    const bool clip = how->interval == HSY_LIKELIHOOD;
    const double va = clip ? hsy_share_clip(a->value) : a->value;
    const double vb = clip ? hsy_share_clip(b->value) : b->value;
    const double miss = hsy_confidence_miss(how);
    double ea[2], eb[2];

    hsy_interval_of(ea, a, how->interval, how->target, miss);
    hsy_interval_of(eb, b, how->interval, how->target, miss);
    ends[0] = va - vb - hypot(va - ea[0], eb[1] - vb);
    ends[1] = va - vb + hypot(ea[1] - va, vb - eb[0]);
}

static double difference_variance(const hsy_point *a, const hsy_point *b,
                                  hsy_target target, double fa, double fb)
{
    return hsy_point_variance(a, target, hsy_share_clip(fa)) +
           hsy_point_variance(b, target, hsy_share_clip(fb));
}

static void difference_wald(double ends[2], const hsy_point *a,
                            const hsy_point *b, const hsy_confidence *how)
{
    const double z = -hsy_normal_quantile(hsy_confidence_miss(how) / 2);
    const double half =
        z * sqrt(difference_variance(a, b, how->target, a->value, b->value));

    ends[0] = a->value - b->value - half;
    ends[1] = a->value - b->value + half;
}

/* The share if it is the same in both: each value by the other's variance. */
static double difference_pooled(const hsy_point *a, const hsy_point *b,
                                hsy_target target)
{
    const double wa = hsy_point_variance(b, target, hsy_share_clip(b->value));
    const double wb = hsy_point_variance(a, target, hsy_share_clip(a->value));

    if (wa + wb == 0)
        return (a->value + b->value) / 2;
    return (wa * a->value + wb * b->value) / (wa + wb);
}

/* The two-sided z test with the variance that equal shares would give, times
 * the number of comparisons. */
static double difference_p_value(const hsy_point *a, const hsy_point *b,
                                 const hsy_confidence *how)
{
    const double gap = fabs(a->value - b->value);
    const double f = difference_pooled(a, b, how->target);
    const double sd = sqrt(difference_variance(a, b, how->target, f, f));

    if (gap == 0)
        return 1;
    if (sd == 0)
        return 0;
    return fmin(1, 2 * hsy_normal_cdf(-gap / sd) * (double)how->comparisons);
}

static hsy_status difference_check(const hsy_point *a, const hsy_point *b,
                                   const hsy_confidence *how, hsy_error *err)
{
    hsy_status st = hsy_confidence_check(how, err);

    if (st == HSY_OK)
        st = hsy_point_check(a, err);
    if (st == HSY_OK)
        st = hsy_point_check(b, err);
    if (st == HSY_OK)
        st = hsy_interval_check(a, how->interval, err);
    if (st == HSY_OK)
        st = hsy_interval_check(b, how->interval, err);
    return st;
}

hsy_status hsy_estimate_difference(hsy_estimate *est, double *p_value,
                                   const hsy_point *a, const hsy_point *b,
                                   const hsy_confidence *how, hsy_error *err)
{
    double ends[2];
    hsy_status st = difference_check(a, b, how, err);

    if (st != HSY_OK)
        return st;
    if (how->interval == HSY_EXACT || how->interval == HSY_HOEFFDING)
        difference_box(ends, a, b, how);
    else if (how->interval == HSY_WALD)
        difference_wald(ends, a, b, how);
    else
        difference_squares(ends, a, b, how);
    est->value = a->value - b->value;
    est->sd = sqrt(difference_variance(a, b, how->target, a->value, b->value));
    est->low = ends[0];
    est->high = ends[1];
    *p_value = difference_p_value(a, b, how);
    return HSY_OK;
}
