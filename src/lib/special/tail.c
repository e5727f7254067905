/* tail.c - what the beta and gamma tails have in common. */
#include "lib/special/special.h"

#include <math.h>
#include <stddef.h>

/*
 * Nodes and weights of the 28-point Gauss-Legendre rule on [-1, 1], the
 * positive half. On a half-normal or exponential integrand cut at e^-38 its
 * error is below 1e-23; what is cut is 3e-17.
 */
static const double special_tail_rule[14][2] = {
    {0.99644249757395444995, 0.0091242825930945177388},
    {0.98130316537087275369, 0.021132112592771259752},
    {0.95425928062893819725, 0.032901427782304379978},
    {0.91563302639213207387, 0.04427293475900422784},
    {0.86589252257439504894, 0.055107345675716745431},
    {0.80564137091717917145, 0.065272923966999595793},
    {0.73561087801363177203, 0.074646214234568779024},
    {0.65665109403886496122, 0.08311341722890121839},
    {0.56972047181140171931, 0.090571744393032840942},
    {0.47587422495511826103, 0.09693065799792991585},
    {0.37625151608907871022, 0.10211296757806076981},
    {0.27206162763517807768, 0.10605576592284641791},
    {0.16456928213338077128, 0.10871119225829413525},
    {0.055079289884034270427, 0.11004701301647519628},
};

#define SPECIAL_TAIL_CUT 38.0

/* 1 / (2 k + 3). */
static const double special_tail_odd[24] = {
    1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13,
    1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25,
    1.0 / 27, 1.0 / 29, 1.0 / 31, 1.0 / 33, 1.0 / 35, 1.0 / 37,
    1.0 / 39, 1.0 / 41, 1.0 / 43, 1.0 / 45, 1.0 / 47, 1.0 / 49};

/*
 * With r = t / (2 + t), ln(1 + t) = 2 atanh(r) and t - 2 r = t r, so
 *     g(t) = r (t - 2 r^2 (1/3 + r^2/5 + r^4/7 + ...)).
 * For -0.6 <= t <= 1 r^2 is at most 9/49, and 24 terms leave less than 1e-18.
 */
static double special_tail_series(double t)
{
    const double r = t / (2 + t), r2 = r * r;
    double power = 1, sum = 0;

    for (size_t k = 0; k < 24 && power > 1e-19; k++) {
        sum += power * special_tail_odd[k];
        power *= r2;
    }
    return r * (t - 2 * r2 * sum);
}

double hsy_special_rest(double t, double ratio)
{
    if (t < -0.6)
        return t - log(ratio);
    if (t > 1)
        return t - log1p(t);
    return special_tail_series(t);
}

/* The asymptotic series, from 16 on to 1e-17; below, the recurrence
 *     stirling(a) - stirling(a + 1) = (a + 1/2) ln(1 + 1/a) - 1. */
double hsy_special_stirling(double a)
{
    double sum = 0;

    for (; a < 16; a += 1)
        sum += (a + 0.5) * log1p(1 / a) - 1;

    const double i = 1 / a, i2 = i * i;
    double s = 1.0 / 156;

    s = s * i2 - 691.0 / 360360;
    s = s * i2 + 1.0 / 1188;
    s = s * i2 - 1.0 / 1680;
    s = s * i2 + 1.0 / 1260;
    s = s * i2 - 1.0 / 360;
    s = s * i2 + 1.0 / 12;
    return sum + s * i;
}

static double special_tail_exponent(const struct special_tail *tail, double v)
{
    const double tx = tail->sx * v, ty = tail->sy * v;
    double e = tail->slope * v + tail->a * hsy_special_rest(tx, 1 + tx);

    if (tail->b > 0)
        e += tail->b * hsy_special_rest(ty, 1 + ty);
    return e;
}

/* Where the exponent has reached the cut: first as if it were a quadratic with
 * its curvature at 0, then outward, since g(t) < t^2/2 for t > 0. */
static double special_tail_reach(const struct special_tail *tail)
{
    const double curve =
        tail->a * tail->sx * tail->sx + tail->b * tail->sy * tail->sy;
    const double cut = SPECIAL_TAIL_CUT;
    double v =
        2 * cut /
        (tail->slope + sqrt(tail->slope * tail->slope + 2 * curve * cut));

    while (v < tail->limit && special_tail_exponent(tail, v) < cut)
        v *= 1.125;
    return fmin(v, tail->limit);
}

double hsy_special_integrate(const struct special_tail *tail)
{
    const double half = special_tail_reach(tail) / 2;
    double sum = 0;

    for (size_t i = 0; i < 14; i++) {
        for (int side = -1; side <= 1; side += 2) {
            const double v = half * (1 + side * special_tail_rule[i][0]);
            const double jacobian = (1 + tail->sx * v) * (1 + tail->sy * v);

            sum += special_tail_rule[i][1] *
                   exp(-special_tail_exponent(tail, v)) / jacobian;
        }
    }
    return half * sum;
}

/* How far Halley's method goes from a point where the log tail is `here`, gap
 * too large. */
static double special_tail_step(const struct special_point *point, double here,
                                double gap, bool upper)
{
    const double sign = upper ? -1 : 1;
    const double rate = sign * exp(point->log_density - here); /* h' */
    const double newton = gap / rate;
    const double halley = 1 - newton * (point->drift - rate) / 2;

    /* Far out drift - rate is nothing but rounding. */
    return halley > 0.5 && halley < 2 ? newton / halley : newton;
}

/*
 * Halley's method on h(u) = log tail, safeguarded by a bracket. h is concave
 * and h' = +-density/tail, h'' = h' (drift - h'), so even Newton's method alone
 * converges from every start. From a gap of 1e-6 one cubic step reaches the
 * last digit.
 */
double hsy_special_invert(const struct special_search *search, double log_tail,
                          bool upper)
{
    double low = search->low, high = search->high;
    double u = fmin(fmax(search->start, low), high);

    for (int i = 0; i < 200; i++) {
        struct special_point point;
        double here, gap, next;

        search->at(search->ctx, &point, u);
        here = upper ? point.log_upper : point.log_lower;
        gap = here - log_tail;
        next = u - special_tail_step(&point, here, gap, upper);
        if (fabs(gap) <= 1e-6)
            return next;
        if ((gap > 0) != upper)
            high = u;
        else
            low = u;
        /* Beyond 1e8 the density over the tail is nothing but rounding. */
        if (!(next > low && next < high && here > -1e8))
            next = low + (high - low) / 2;
        if (next <= low || next >= high)
            return next;
        u = next;
    }
    return u;
}
