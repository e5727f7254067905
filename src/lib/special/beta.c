/* beta.c - the incomplete beta function, its inverse, the binomial. */
#include "hearsay.h"
#include "lib/special/special.h"

#include <math.h>

#define SPECIAL_BETA_TWO_PI 6.283185307179586476925

/*
 * a y - b x for y = 1 - x, as if x were exact: the product with a + b is
 * carried with its rounding errors. The deviance of 10^9 reports hangs on the
 * last digits of this difference.
 */
static double special_beta_lead(double a, double b, double x)
{
    const double n = a + b, big = fmax(a, b), small = fmin(a, b);
    const double n_rest = small - (n - big);
    const double nx = n * x, nx_rest = fma(n, x, -nx);

    return (a - nx) - nx_rest - n_rest * x;
}

/* ln( x^a y^b / B(a, b) ), lead = a y - b x. */
static double special_beta_log_density(double a, double b, double x, double y,
                                       double lead)
{
    const double n = a + b;
    const double deviance = a * hsy_special_rest(-lead / a, x * (n / a)) +
                            b * hsy_special_rest(lead / b, y * (n / b));
    const double stirling = hsy_special_stirling(n) - hsy_special_stirling(a) -
                            hsy_special_stirling(b);

    return 0.5 * log(a / n * b / SPECIAL_BETA_TWO_PI) + stirling - deviance;
}

/*
 * x^a y^b / (B(a, b) I_x(a, b)) for lead > -1 by the continued fraction of
 * [DM92, bfrac], modified Lentz. Its length grows with the square root of the
 * smaller parameter, which is below SPECIAL_LARGE here.
 */
static double special_beta_fraction(double a, double b, double x, double lead)
{
    double f = a * (lead + 1) / (a + 1), c = f, d = 0;

    for (int i = 1; i < 10000; i++) {
        const double m = i, a2 = a + 2 * m;
        const double num = (a + m - 1) / (a2 - 1) *
                           ((a + b + m - 1) / (a2 - 1)) * m * (b - m) * x * x;
        const double den = m + m * (b - m) * x / (a2 - 1) +
                           (a + m) * (lead + 1 + m * (2 - x)) / (a2 + 1);

        d = 1 / (den + num * d);
        c = den + num / c;
        f *= c * d;
        if (fabs(c * d - 1) <= 4e-16)
            break;
    }
    return f;
}

/* Whether the lower tail is the one to compute: up to the mean, or where the
 * fraction converges faster, x < (a + 1) / (a + b + 2). */
static bool special_beta_left(double a, double b, double x, double lead)
{
    return (fmin(a, b) >= SPECIAL_LARGE ? lead : lead + (1 - 2 * x)) >= 0;
}

/* ln I_x(a, b) where special_beta_left. */
static double special_beta_log_lower(double a, double b, double x, double y,
                                     double lead, double log_density)
{
    if (fmin(a, b) >= SPECIAL_LARGE) {
        const struct special_tail tail = {.slope = lead / x / y,
                                          .a = a,
                                          .sx = -1 / x,
                                          .b = b,
                                          .sy = 1 / y,
                                          .limit = x};

        return log_density + log(hsy_special_integrate(&tail) / x / y);
    }
    return log_density - log(special_beta_fraction(a, b, x, lead));
}

/* ln(1 - e^t) for t <= 0. */
static double special_beta_log_rest(double t)
{
    return t > -0.69 ? log(-expm1(t)) : log1p(-exp(t));
}

void hsy_special_beta(struct special_point *point, double a, double b, double x)
{
    const double y = 1 - x, lead = special_beta_lead(a, b, x);

    point->drift = lead;
    point->log_density = special_beta_log_density(a, b, x, y, lead);
    if (special_beta_left(a, b, x, lead)) {
        point->log_lower = fmin(
            special_beta_log_lower(a, b, x, y, lead, point->log_density), 0);
        point->log_upper = special_beta_log_rest(point->log_lower);
    } else {
        point->log_upper = fmin(
            special_beta_log_lower(b, a, y, x, -lead, point->log_density), 0);
        point->log_lower = special_beta_log_rest(point->log_upper);
    }
}

double hsy_beta_inc(double a, double b, double x)
{
    struct special_point point;

    if (!(a > 0 && b > 0 && x >= 0 && x <= 1))
        return NAN;
    if (x == 0 || x == 1)
        return x;
    hsy_special_beta(&point, a, b, x);
    return exp(point.log_lower);
}

/* The point at u = logit x. Past the middle y is the number that is exact. */
static void special_beta_at(const void *ctx, struct special_point *point,
                            double u)
{
    const double *ab = ctx;

    if (u <= 0) {
        hsy_special_beta(point, ab[0], ab[1], exp(u) / (1 + exp(u)));
    } else {
        struct special_point mirror;

        hsy_special_beta(&mirror, ab[1], ab[0], exp(-u) / (1 + exp(-u)));
        point->log_lower = mirror.log_upper;
        point->log_upper = mirror.log_lower;
        point->log_density = mirror.log_density;
        point->drift = -mirror.drift;
    }
}

double hsy_special_beta_inv(double tail, bool upper, double a, double b)
{
    const double ab[2] = {a, b};
    const double z = hsy_normal_quantile(tail) * (upper ? -1 : 1);
    const struct special_search search = {.at = special_beta_at,
                                          .ctx = ab,
                                          .low = -700,
                                          .high = 700,
                                          .start = log(a / b) +
                                                   z * sqrt(1 / a + 1 / b)};
    const double u = hsy_special_invert(&search, log(tail), upper);

    if (u <= -700)
        return 0;
    return u <= 0 ? exp(u) / (1 + exp(u)) : 1 - exp(-u) / (1 + exp(-u));
}

double hsy_beta_inv(double p, double a, double b)
{
    if (!(a > 0 && b > 0 && p >= 0 && p <= 1))
        return NAN;
    if (p == 0 || p == 1)
        return p;
    return hsy_special_beta_inv(p <= 0.5 ? p : 1 - p, p > 0.5, a, b);
}

/* P(X <= k) is the upper tail of Beta(k + 1, n - k) at p, P(X >= k) the lower
 * tail of Beta(k, n - k + 1). */
double hsy_special_binomial(double k, double n, double p, bool upper)
{
    struct special_point point;

    if (upper ? k <= 0 : k >= n)
        return 1;
    if (upper ? k > n : k < 0)
        return 0;
    if (p <= 0 || p >= 1)
        return (p >= 1) == upper ? 1 : 0;
    if (upper)
        hsy_special_beta(&point, k, n - k + 1, p);
    else
        hsy_special_beta(&point, k + 1, n - k, p);
    return exp(upper ? point.log_lower : point.log_upper);
}

/* x^a y^b / B(a, b) for a = k + 1, b = n - k + 1 is (n + 1) x y P(X = k). */
double hsy_special_binomial_log(double k, double n, double p)
{
    const double a = k + 1, b = n - k + 1;

    if (p <= 0 || p >= 1)
        return k == (p >= 1 ? n : 0) ? 0 : -INFINITY;
    return special_beta_log_density(a, b, p, 1 - p,
                                    special_beta_lead(a, b, p)) -
           log((n + 1) * p) - log1p(-p);
}

double hsy_binomial_cdf(uint64_t k, uint64_t n, double p)
{
    if (!(p >= 0 && p <= 1))
        return NAN;
    return hsy_special_binomial((double)k, (double)n, p, false);
}
