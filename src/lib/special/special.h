/*
 * special.h - tails of the beta and gamma distributions, on the log scale.
 *
 * Everything is kept as the logarithm of a tail and of a density, computed from
 * Stirling's error and a deviance [Loader00] and never from differences of
 * log-gammas: those lose eight digits at 10^9 reports.
 */
#ifndef LIB_SPECIAL_SPECIAL_H
#define LIB_SPECIAL_SPECIAL_H

#include <stdbool.h>

/* One point of a distribution on a scale u where it has a log-concave density
 * (u = logit x for beta, ln x for gamma). Then both log tails are concave. */
struct special_point {
    double log_lower, log_upper; /* logarithms of the two tails, sum 1 */
    double log_density;          /* with respect to u */
    double drift;                /* derivative of log_density */
};

/*
 * The integral over v from 0 to `limit` of
 *     exp(-(slope v + a g(sx v) + b g(sy v))) / ((1 + sx v)(1 + sy v)),
 * g(t) = t - ln(1 + t): a tail, divided by the density where it begins, with
 * no term of the exponent negative. Needs a >= SPECIAL_LARGE, and b too unless
 * it is 0.
 */
struct special_tail {
    double slope, a, sx, b, sy, limit;
};

#define SPECIAL_LARGE 40.0

double hsy_special_integrate(const struct special_tail *tail);

/* g(t) = t - ln(1 + t) without cancellation; ratio is 1 + t to full relative
 * precision, used where t is near -1. */
double hsy_special_rest(double t, double ratio);

/* ln Gamma(a) - ((a - 1/2) ln a - a + ln(2 pi) / 2), for a > 0. */
double hsy_special_stirling(double a);

/* The point where the chosen tail has the logarithm log_tail: u, between low
 * and high, sought from start on. */
struct special_search {
    void (*at)(const void *ctx, struct special_point *point, double u);
    const void *ctx;
    double low, high, start;
};

double hsy_special_invert(const struct special_search *search, double log_tail,
                          bool upper);

/* The beta distribution's point at x; needs 0 < x < 1. */
void hsy_special_beta(struct special_point *point, double a, double b,
                      double x);

/* The x with `tail` below it, or above it if upper. */
double hsy_special_beta_inv(double tail, bool upper, double a, double b);

/* P(X <= k) or, if upper, P(X >= k) for X ~ Bin(n, p); k and n are integers in
 * doubles and n may pass 2^53, where only its leading digits count. */
double hsy_special_binomial(double k, double n, double p, bool upper);

/* P(X <= x) of chi-squared with k degrees of freedom. */
double hsy_chi2_cdf(double x, double k);

/* ln P(X = k). */
double hsy_special_binomial_log(double k, double n, double p);

#endif
