/* gamma.c - the chi-square distribution: the incomplete gamma function
 * with a = k/2 at x/2, and its inverse. */
#include "hearsay.h"
#include "lib/special/special.h"

#include <math.h>

#define SPECIAL_GAMMA_TWO_PI 6.283185307179586476925
#define SPECIAL_GAMMA_TINY 0.25

/* Terms of the expansion of ln Gamma(1 + a) in special_gamma_log1: 1 minus
 * Euler's constant, then zeta(k) - 1 for k = 2, 3, ... */
static const double special_gamma_euler = 0.422784335098467139393;
static const double special_gamma_zeta[18] = {
    0.64493406684822643647,     0.2020569031595942854,
    0.082323233711138191516,    0.036927755143369926331,
    0.017343061984449139715,    0.0083492773819228268398,
    0.0040773561979443393787,   0.0020083928260822144179,
    0.00099457512781808533715,  0.0004941886041194645587,
    0.00024608655330804829864,  0.00012271334757848914675,
    0.000061248135058704829259, 0.000030588236307020493552,
    0.000015282259408651871733, 7.6371976378997622736e-6,
    3.8172932649998398565e-6,   1.9082127165539389257e-6,
};

/* ln( x^a e^-x / Gamma(a) ). */
static double special_gamma_log_density(double a, double x)
{
    return 0.5 * log(a / SPECIAL_GAMMA_TWO_PI) -
           a * hsy_special_rest((x - a) / a, x / a) - hsy_special_stirling(a);
}

/* Gamma(a) P(a, x) / (x^a e^-x) = 1/a (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...),
 * all terms positive. */
static double special_gamma_series(double a, double x)
{
    double term = 1, sum = 1;

    for (double k = 1; term > 1e-17 * sum; k += 1) {
        term *= x / (a + k);
        sum += term;
    }
    return sum / a;
}

/* Gamma(a) Q(a, x) / (x^a e^-x) for x > a + 1: Legendre's continued fraction,
 * modified Lentz. */
static double special_gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = b, d = 0, f = b;

    for (int i = 1; i < 10000; i++) {
        const double num = -i * (i - a);

        b += 2;
        d = 1 / (b + num * d);
        c = b + num / c;
        f *= c * d;
        if (fabs(c * d - 1) <= 4e-16)
            break;
    }
    return 1 / f;
}

/* ln Gamma(1 + a) = -ln(1 + a) + a (1 - gamma)
 *                   + sum over k >= 2 of (-a)^k (zeta(k) - 1) / k. */
static double special_gamma_log1(double a)
{
    double power = -a, sum = a * special_gamma_euler - log1p(a);

    for (int k = 0; k < 18; k++) {
        power *= -a;
        sum += power * special_gamma_zeta[k] / (k + 2);
    }
    return sum;
}

/* Q(a, x) for small a and x <= a + 1 without taking it from 1: with
 * c = x^a / Gamma(1 + a),
 *     Q = 1 - c - c a sum over k >= 1 of (-x)^k / (k! (a + k)). */
static double special_gamma_small(double a, double x)
{
    const double log_c = a * log(x) - special_gamma_log1(a);
    double term = 1, sum = 0;

    for (int k = 1; k < 40; k++) {
        term *= -x / k;
        sum += term / (a + k);
    }
    return -expm1(log_c) - exp(log_c) * a * sum;
}

static double special_gamma_integral(double a, double x, double side)
{
    const struct special_tail tail = {.slope = fabs(x - a) / x,
                                      .a = a,
                                      .sx = side / x,
                                      .limit = side < 0 ? x : INFINITY};

    return hsy_special_integrate(&tail) / x;
}

static void special_gamma_lower(struct special_point *point, double a, double x)
{
    const double ratio = a >= SPECIAL_LARGE ? special_gamma_integral(a, x, -1)
                                            : special_gamma_series(a, x);

    point->log_lower = fmin(point->log_density + log(ratio), 0);
    point->log_upper = a <= SPECIAL_GAMMA_TINY ? log(special_gamma_small(a, x))
                                               : log(-expm1(point->log_lower));
}

static void special_gamma_upper(struct special_point *point, double a, double x)
{
    const double ratio = a >= SPECIAL_LARGE ? special_gamma_integral(a, x, 1)
                                            : special_gamma_fraction(a, x);

    point->log_upper = fmin(point->log_density + log(ratio), 0);
    point->log_lower = log1p(-exp(point->log_upper));
}

/* The gamma distribution's point at x; needs x > 0 and finite. */
static void special_gamma_point(struct special_point *point, double a, double x)
{
    point->log_density = special_gamma_log_density(a, x);
    point->drift = a - x;
    if (x <= (a >= SPECIAL_LARGE ? a : a + 1))
        special_gamma_lower(point, a, x);
    else
        special_gamma_upper(point, a, x);
}

static double special_gamma_tail(double x, double k, bool upper)
{
    struct special_point point;

    if (!(k > 0 && x >= 0))
        return NAN;
    if (x == 0 || isinf(x))
        return (x == 0) == upper;
    special_gamma_point(&point, k / 2, x / 2);
    return exp(upper ? point.log_upper : point.log_lower);
}

double hsy_chi2_cdf(double x, double k)
{
    return special_gamma_tail(x, k, false);
}

double hsy_chi2_upper(double x, double k)
{
    return special_gamma_tail(x, k, true);
}

static void special_gamma_at(const void *ctx, struct special_point *point,
                             double u)
{
    const double *a = ctx;

    special_gamma_point(point, *a, exp(u));
}

double hsy_chi2_quantile(double p, double k)
{
    const double a = k / 2;
    const struct special_search search = {
        .at = special_gamma_at,
        .ctx = &a,
        .low = -700,
        .high = 700,
        .start = log(a) + hsy_normal_quantile(p) / sqrt(a)};
    double u;

    if (!(k > 0 && p >= 0 && p <= 1))
        return NAN;
    if (p == 0 || p == 1)
        return p == 0 ? 0 : INFINITY;
    u = hsy_special_invert(&search, log(p <= 0.5 ? p : 1 - p), p > 0.5);
    return u <= -700 ? 0 : 2 * exp(u);
}
