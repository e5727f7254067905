/*
 * accuracy.c - how far an estimate may be from the truth, before anything is
 * collected.
 *
 * An estimate from n reports is a mean of n independent terms, each within an
 * interval of some width w. It is off by more than alpha with chance at most
 *
 *   Hoeffding:  2 exp(-2 n (alpha / w)^2), for every n and every mechanism;
 *   normal:     2 P[N(0,1) > alpha sqrt(n / V)], V n times its variance;
 *   exact:      P[|X / n - lambda| > alpha gap], X binomial of n and lambda,
 *               where a share is estimated by (X / n - q) / gap.
 *
 * People are taken as a sample here, so that a term's variance is that of the
 * report and of the person together. Of k estimates that shall all be that
 * close each gets 1/k of the chance (union bound). Theory 1.2, 10.
 */
#include "lib/scheme/scheme.h"

#include "lib/core/fail.h"

#include <math.h>

/* Steps of a bisection: twice the digits of a double, and as much as any
 * integer needs. */
#define ACCURACY_STEPS 128
#define ACCURACY_MOST 9e15 /* people, exact in a double */
#define ACCURACY_TRIES 32768

/* ---- What a scheme does -------------------------------------------------- */

/* The share at which a count says least: where the chance of support is
 * nearest to one half. */
static double accuracy_hardest(const struct mech_support *law)
{
    return fmin(fmax((0.5 - law->q) / law->gap, 0), 1);
}

/* What a report is drawn from besides its own coins: hash functions of a pool,
 * whose collisions all reports share, or the buckets it is asked about. Then an
 * estimate is no mean of n independent terms around the share. */
static bool accuracy_shared(const hsy_scheme *s)
{
    return s->param[HSY_PARAM_POOL_BITS] != 0 ||
           s->param[HSY_PARAM_HASHES] != 0;
}

/* How many people there are to one who is asked about a value. Variances at
 * share 0 say it; those of a mean hold at its hardest instead. */
static double accuracy_asked(const hsy_scheme *s,
                             const struct mech_support *law)
{
    double v[2];

    if (s->mech->estimate->variance == NULL || s->kind == HSY_KIND_NUMBER)
        return 1;
    s->mech->estimate->variance(s, v);
    return fmax(v[0] / mech_support_v0(law), 1);
}

/* A mean is as hard to tell as it can be: nothing is known of it. */
static void accuracy_share(hsy_accuracy *a, const hsy_scheme *s,
                           const struct mech_support *law, double share)
{
    a->share =
        share < 0 || s->kind == HSY_KIND_NUMBER ? accuracy_hardest(law) : share;
    a->lambda = law->q + a->share * law->gap;
    a->gap = law->gap;
    a->variance = accuracy_asked(s, law) * a->lambda * (1 - a->lambda) /
                  (law->gap * law->gap);
    if (accuracy_shared(s))
        return;
    a->width = 1 / fabs(law->gap);
    a->binomial = true;
}

/* Without a law of support: variances and what a report can add. A mean's
 * people vary by at most 1/4 of the range squared. */
static void accuracy_other(hsy_accuracy *a, const hsy_scheme *s, double share)
{
    const bool mean = s->kind == HSY_KIND_NUMBER;
    double v[2], reach[2];

    hsy_mech_variance(s, v);
    a->share = mean ? 0 : share < 0 ? 0.5 : share;
    a->variance = mean ? v[0] + 0.25
                       : (1 - a->share) * v[0] + a->share * v[1] +
                             a->share * (1 - a->share);
    if (s->mech->estimate->reach != NULL) {
        s->mech->estimate->reach(s, reach);
        a->width = reach[1] - reach[0];
    }
}

hsy_status hsy_accuracy_of(const hsy_scheme *s, hsy_accuracy *out, double share,
                           double at_once, hsy_error *err)
{
    hsy_accuracy made = {.at_once = at_once};
    struct mech_support law = {.gap = 0}; /* no pure law */

    if (mech_central(s->mech) || s->mech->estimate->iterative ||
        s->kind == HSY_KIND_TUPLE)
        return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_MECHANISM,
                        "its accuracy is not known beforehand");
    if (!(share <= 1) || !(at_once >= 1))
        return hsy_fail(err, HSY_E_RANGE,
                        !(share <= 1) ? HSY_FIELD_SHARE : HSY_FIELD_AT_ONCE,
                        "a share is at most 1, and at least one estimate is "
                        "asked for");
    if (s->mech->estimate->support != NULL)
        s->mech->estimate->support(s, &law);
    if (law.gap != 0)
        accuracy_share(&made, s, &law, share);
    else
        accuracy_other(&made, s, share);
    *out = made;
    return HSY_OK;
}

bool hsy_accuracy_has(const hsy_accuracy *a, hsy_bound bound)
{
    return bound == HSY_BOUND_HOEFFDING ? a->width > 0
           : bound == HSY_BOUND_EXACT   ? a->binomial
                                        : true;
}

/* ---- The chance of a larger error ---------------------------------------- */

/* P[|X - n lambda| > t]. */
static double accuracy_tail(const hsy_accuracy *a, double n, double t)
{
    const double centre = n * a->lambda;
    const double below = ceil(centre - t) - 1, above = floor(centre + t) + 1;
    double chance = 0;

    if (below >= 0)
        chance += hsy_binomial_cdf((uint64_t)below, (uint64_t)n, a->lambda);
    if (above <= n) /* P[X >= above] is that of n - X <= n - above */
        chance +=
            hsy_binomial_cdf((uint64_t)(n - above), (uint64_t)n, 1 - a->lambda);
    return chance;
}

double hsy_accuracy_beta(const hsy_accuracy *a, hsy_bound bound, double n,
                         double alpha)
{
    const double k = a->at_once;
    /* An outcome on the edge counts as outside: rounding may have moved it. */
    const double t = n * alpha * fabs(a->gap) * (1 - 1e-12);
    double beta;

    if (bound == HSY_BOUND_HOEFFDING)
        beta = 2 * k * exp(-2 * n * (alpha / a->width) * (alpha / a->width));
    else if (bound == HSY_BOUND_NORMAL)
        beta = 2 * k * hsy_normal_cdf(-alpha * sqrt(n / a->variance));
    else
        beta = k * accuracy_tail(a, n, t);
    return fmin(beta, 1);
}

/* ---- The error ----------------------------------------------------------- */

/* The smallest t beyond which X is from its mean with chance at most beta. The
 * chance falls in steps, at distances that X can have. */
static double accuracy_exact(const hsy_accuracy *a, double n, double beta)
{
    const double centre = n * a->lambda;
    double low = -1, high = n;

    for (int i = 0; i < ACCURACY_STEPS && low < high; i++) {
        const double middle = low + (high - low) / 2;

        if (accuracy_tail(a, n, middle) <= beta)
            high = middle;
        else
            low = middle;
    }
    return fmax(floor(centre + high) - centre, centre - ceil(centre - high));
}

double hsy_accuracy_alpha(const hsy_accuracy *a, hsy_bound bound, double n,
                          double beta)
{
    const double each = beta / a->at_once;

    if (bound == HSY_BOUND_HOEFFDING)
        return a->width * sqrt(log(2 / each) / (2 * n));
    if (bound == HSY_BOUND_NORMAL)
        return -hsy_normal_quantile(each / 2) * sqrt(a->variance / n);
    return accuracy_exact(a, n, each) / (n * fabs(a->gap));
}

/* ---- The people ---------------------------------------------------------- */

/* P[X >= n (lambda + far)] as if counts were not whole: never below the chance
 * of X beyond that, and falling with n. */
static double accuracy_beyond_edge(double n, double lambda, double far)
{
    const double edge = n * (lambda + far);

    return lambda + far > 1 ? 0 : hsy_beta_inc(edge, n - edge + 1, lambda);
}

/* At least the exact chance, for n and for every larger number. */
static double accuracy_envelope(const hsy_accuracy *a, double n, double alpha)
{
    const double far = alpha * fabs(a->gap) * (1 - 1e-12);

    return a->at_once * (accuracy_beyond_edge(n, a->lambda, far) +
                         accuracy_beyond_edge(n, 1 - a->lambda, far));
}

/* The chance falls with n but for small steps up and down. From where on an
 * envelope of it is low enough it stays; from there down one by one. */
static double accuracy_users_exact(const hsy_accuracy *a, double alpha,
                                   double beta)
{
    double low = 0, high = 1;

    while (high < ACCURACY_MOST && accuracy_envelope(a, high, alpha) > beta)
        high *= 2;
    if (high >= ACCURACY_MOST)
        return INFINITY; /* counts that a double does not hold */
    while (high - low > 1) {
        const double middle = floor(low + (high - low) / 2);

        if (accuracy_envelope(a, middle, alpha) <= beta)
            high = middle;
        else
            low = middle;
    }
    for (int i = 0; i < ACCURACY_TRIES && high > 1; i++, high--)
        if (hsy_accuracy_beta(a, HSY_BOUND_EXACT, high - 1, alpha) > beta)
            break;
    return high;
}

double hsy_accuracy_users(const hsy_accuracy *a, hsy_bound bound, double alpha,
                          double beta)
{
    const double each = beta / a->at_once;
    const double z = -hsy_normal_quantile(each / 2) / alpha;

    if (bound == HSY_BOUND_HOEFFDING)
        return ceil(a->width * a->width * log(2 / each) / (2 * alpha * alpha));
    if (bound == HSY_BOUND_NORMAL)
        return ceil(a->variance * z * z);
    return accuracy_users_exact(a, alpha, beta);
}

/* ---- The largest of many errors ------------------------------------------ */

/* 1 - (1 - 2 P[N > x])^d. */
static double accuracy_beyond(double x, double d)
{
    return -expm1(d * log1p(-2 * hsy_normal_cdf(-x)));
}

/* The mean of |N(0,1)|'s largest of d is the integral of the chance that it is
 * above x; Simpson's rule in steps of 1/64, beyond 40 nothing is left. */
double hsy_normal_largest(double d)
{
    const double h = 1.0 / 64;
    double sum = 1; /* at 0 the chance is 1 */

    for (int i = 1; i < 40 * 64; i++)
        sum += (i % 2 == 1 ? 4 : 2) * accuracy_beyond(i * h, d);
    return sum * h / 3;
}

/* ---- A trusted curator --------------------------------------------------- */

/* The least t with P[|noise| >= t] = 2 r^t / (1 + r) <= beta, noise of the
 * discrete Laplace law with r = e^(-epsilon / sensitivity). */
static double accuracy_noise(double epsilon, double sensitivity, double beta)
{
    const double rate = epsilon / sensitivity;

    return ceil(fmax(log(2 / (beta * (1 + exp(-rate)))) / rate, 1));
}

double hsy_central_alpha(double epsilon, double sensitivity, double n,
                         double beta)
{
    return (accuracy_noise(epsilon, sensitivity, beta) - 1) / n;
}

double hsy_central_users(double epsilon, double sensitivity, double alpha,
                         double beta)
{
    return fmax(ceil((accuracy_noise(epsilon, sensitivity, beta) - 1) / alpha),
                1);
}

/* ---- The best that is known ---------------------------------------------- */

double hsy_best_known_variance(double d, double epsilon)
{
    const double E = exp(epsilon), at = floor(d / (E + 1));
    double best = INFINITY;

    for (double w = fmax(at, 1); w <= fmax(at, 1) + 1 && w < d; w++) {
        const double z = w * E + d - w, p = w * E / z;
        const double q = (w * (w - 1) * E + (d - w) * w) / ((d - 1) * z);
        const double v0 = q * (1 - q), v1 = p * (1 - p);

        best = fmin(best, (v0 + (v1 - v0) / d) / ((p - q) * (p - q)));
    }
    return best;
}
