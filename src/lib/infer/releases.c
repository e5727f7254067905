/*
 * releases.c - intervals from releases: the law of a sum of discrete Laplace
 * integers.
 *
 * A discrete Laplace integer is A - B, each the number of successes, of chance
 * r, before a failure. So the sum of k of them is A_k - B_k, successes before
 * the k-th failure. Let g(m, k) = P(A_m >= B_k). That A_k - B_k >= t, t >= 1,
 * takes t successes of A first, with j < k failures among them; what is left of
 * A has k - j failures to go and must reach B_k:
 *
 *     P = sum over j < k of C(t-1+j, j) r^t (1-r)^j g(k-j, k).
 *
 * For g, go up the numbers 0, 1, 2, .. together; at each let B fail as often as
 * it does before its next success, then A. With h(m, k) the chance when it is
 * A's turn,
 *
 *     g = (1-r) g(m, k-1) + r h,   h = (1-r) h(m-1, k) + r g,
 *     g(m, 0) = 1,   h(0, k) = 0,  so   g = (g(m, k-1) + r h(m-1, k)) / (1+r)
 *
 * where h(m-1, k) comes before. No term is negative: nothing cancels, for any
 * r and t. (k = 1: g = 1 / (1+r), P = r^t / (1+r).)
 */
#include "lib/core/fail.h"
#include "lib/infer/infer.h"

#include <math.h>

#define RELEASES_FAR 1e15      /* of standard deviations: no end */
#define RELEASES_UNKNOWN 0.125 /* relative error of the number of people */

/* g(m, k) at row[m-1] for all m up to k. h of column k is needed for m-1 only,
 * g of column k-1 for all m: columns from 1 to k, each over the last. */
static void releases_race(double row[HSY_RELEASES_EXACT], unsigned k, double r,
                          double fail)
{
    for (unsigned m = 0; m < k; m++)
        row[m] = 1;
    for (unsigned column = 1; column <= k; column++) {
        double h = 0;

        for (unsigned m = 0; m < k; m++) {
            row[m] = (row[m] + r * h) / (1 + r);
            h = fail * h + r * row[m];
        }
    }
}

/* The sum above, with the race run. */
static double releases_above(const double row[HSY_RELEASES_EXACT], double t,
                             unsigned k, double rate)
{
    const double fail = -expm1(-rate);
    double term = exp(-rate * t), sum = 0;

    for (unsigned j = 0; j < k; j++) {
        sum += term * row[k - j - 1];
        term *= (t + j) / (j + 1) * fail;
    }
    return sum;
}

double hsy_releases_tail(double t, unsigned k, double rate)
{
    double row[HSY_RELEASES_EXACT];

    releases_race(row, k, exp(-rate), -expm1(-rate));
    return releases_above(row, t, k, rate);
}

/* The least integer t >= 0 with P(sum > t) <= tail. */
static double releases_quantile(unsigned k, double rate, double tail)
{
    double row[HSY_RELEASES_EXACT], low = -1, high = 0;

    releases_race(row, k, exp(-rate), -expm1(-rate));
    while (releases_above(row, high + 1, k, rate) > tail) {
        low = high;
        high = 2 * high + 1;
    }
    while (high - low > 1) {
        const double middle = floor(low + (high - low) / 2);

        if (middle <= low || middle >= high)
            break; /* beyond 2^53 neighbours are further apart */
        if (releases_above(row, middle + 1, k, rate) > tail)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- Points -------------------------------------------------------------- */

bool hsy_releases_has(const hsy_evidence *point)
{
    return point->noise[0].terms > 0;
}

static double releases_factor(const hsy_noise *noise, double f)
{
    return noise->at0 + (noise->at1 - noise->at0) * f;
}

/* Second and fourth cumulant of one discrete Laplace integer: twice those of a
 * geometric one. */
static double releases_second(double rate)
{
    const double fail = -expm1(-rate);

    return 2 * exp(-rate) / (fail * fail);
}

static double releases_fourth(double rate)
{
    const double fail = -expm1(-rate), r = exp(-rate);

    return 2 * r * (1 + 4 * r + r * r) / (fail * fail * fail * fail);
}

double hsy_releases_variance(const hsy_evidence *point, double f)
{
    double sum = 0;

    for (size_t i = 0; i < 2 && point->noise[i].terms > 0; i++) {
        const double c = releases_factor(&point->noise[i], f);

        sum += point->noise[i].terms * releases_second(point->noise[i].rate) *
               c * c;
    }
    return sum;
}

static double releases_fourth_at(const hsy_evidence *point, double f)
{
    double sum = 0;

    for (size_t i = 0; i < 2 && point->noise[i].terms > 0; i++) {
        const double c = releases_factor(&point->noise[i], f);

        sum += point->noise[i].terms * releases_fourth(point->noise[i].rate) *
               c * c * c * c;
    }
    return sum;
}

static double releases_step(const hsy_evidence *point, double f)
{
    return fmax(fabs(releases_factor(&point->noise[0], f)),
                fabs(releases_factor(&point->noise[1], f)));
}

/* What the share does to the noise is what hides the number of people. */
static double releases_people(const hsy_evidence *point)
{
    double sum = 0;

    for (size_t i = 0; i < 2 && point->noise[i].terms > 0; i++) {
        const double c = point->noise[i].at1 - point->noise[i].at0;

        sum += point->noise[i].terms * releases_second(point->noise[i].rate) *
               c * c;
    }
    return sqrt(sum);
}

hsy_status hsy_releases_check(const hsy_evidence *point, hsy_error *err)
{
    for (size_t i = 0; i < 2 && point->noise[i].terms > 0; i++) {
        const hsy_noise *n = &point->noise[i];

        if (!(n->rate > 0 && isfinite(n->rate) && isfinite(n->terms) &&
              isfinite(n->at0) && isfinite(n->at1)))
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_NOISE,
                            "must be finite, and its rate positive");
    }
    if (!(releases_people(point) <= RELEASES_UNKNOWN))
        return hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_PEOPLE,
                        "too few: the noise hides how many there are");
    return HSY_OK;
}

/* ---- Intervals ----------------------------------------------------------- */

/*
 * How far a value may lie from its share f: the normal quantile with the first
 * term of Cornish and Fisher for the noise's heavier tails, left out where it
 * would narrow (below z = sqrt 3). Counts and noise come in steps: half of the
 * largest is added.
 */
static double releases_half(const hsy_evidence *point, hsy_target target,
                            double f, double z)
{
    const double inside = hsy_share_clip(f);
    const double sampling = hsy_evidence_variance(point, target, inside) -
                            hsy_releases_variance(point, inside);
    const double variance = hsy_releases_variance(point, f) + fmax(sampling, 0);
    const double heavy = releases_fourth_at(point, f) / (variance * variance);

    return (z + fmax(z * z * z - 3 * z, 0) * heavy / 24) * sqrt(variance) +
           releases_step(point, f) / 2;
}

/* The share furthest from value, up or down, that the value does not refute;
 * infinite if there is no end to them. */
static double releases_end(const hsy_evidence *point, hsy_target target,
                           double z, double sign)
{
    double inside = 0, outside = releases_half(point, target, point->value, z);
    const double most = RELEASES_FAR * outside;

    while (outside <
           releases_half(point, target, point->value + sign * outside, z)) {
        inside = outside;
        outside *= 2;
        if (outside > most)
            return sign * INFINITY;
    }
    for (int i = 0; i < 100; i++) {
        const double middle = inside + (outside - inside) / 2;

        if (middle <
            releases_half(point, target, point->value + sign * middle, z))
            inside = middle;
        else
            outside = middle;
    }
    return point->value + sign * outside;
}

/* The noise is one lattice law whatever the share, and of few terms. */
static bool releases_exact(const hsy_evidence *point, hsy_target target)
{
    return target == HSY_PEOPLE && point->noise[1].terms == 0 &&
           point->noise[0].at0 == point->noise[0].at1 &&
           point->noise[0].terms <= HSY_RELEASES_EXACT;
}

void hsy_releases_interval(double ends[2], const hsy_evidence *point,
                           hsy_target target, double miss)
{
    const hsy_noise *noise = &point->noise[0];
    const double z = -hsy_normal_quantile(miss / 2);
    double half;

    if (!releases_exact(point, target)) {
        ends[0] = releases_end(point, target, z, -1);
        ends[1] = releases_end(point, target, z, 1);
        return;
    }
    half = fabs(noise->at0) *
           releases_quantile((unsigned)noise->terms, noise->rate, miss / 2);
    half += 1e-15 * (1 + fabs(point->value)); /* what rounding may cut off */
    ends[0] = point->value - half;
    ends[1] = point->value + half;
}

/* ---- Can it be true? ----------------------------------------------------- */

/* At least P(sum of so many >= t), t > 0: e^(-theta t) E[e^(theta sum)] for the
 * best theta in (0, rate) [Chernoff52]; any of them bounds it. */
static double releases_bound(double t, double terms, double rate)
{
    double low = 0, high = rate, best = 0;

    for (int i = 0; i < 60; i++) {
        const double step = (high - low) / 3;
        double bound[2];

        for (int side = 0; side < 2; side++) {
            const double theta = low + (side + 1) * step;

            bound[side] =
                terms * (2 * log(-expm1(-rate)) - log(-expm1(theta - rate)) -
                         log(-expm1(-theta - rate))) -
                theta * t;
        }
        best = fmin(best, fmin(bound[0], bound[1]));
        if (bound[0] < bound[1])
            high = low + 2 * step;
        else
            low += step;
    }
    return exp(best);
}

/* The chance of a value so far beyond the end f, 0 or 1, of the shares; 1 where
 * more than one noise moves it there. */
static double releases_beyond(const hsy_evidence *point, double f)
{
    const double past = f == 0 ? -point->value : point->value - 1;
    const double a = fabs(releases_factor(&point->noise[0], f));
    const double b = fabs(releases_factor(&point->noise[1], f));
    const hsy_noise *moves = &point->noise[a > 0 ? 0 : 1];

    if (past <= 0 || (a > 0) == (b > 0))
        return 1;
    return releases_bound(past / (a + b), moves->terms, moves->rate);
}

void hsy_releases_plausible(hsy_plausibility *out, const hsy_evidence *points,
                            size_t count, bool complete)
{
    const hsy_noise *noise = points[0].noise;
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        const double p = 2 * (double)count *
                         fmin(releases_beyond(&points[i], 0),
                              releases_beyond(&points[i], 1));

        sum += points[i].value;
        if (p < out->support_p) {
            out->support_p = p;
            out->odd_value = i;
        }
    }
    /* Shares of a noisy number of people make 1 always. */
    if (complete && count >= 2 && noise[1].terms == 0 && fabs(sum - 1) > 1e-9)
        out->sum_p = fmin(1, 2 * releases_bound(fabs(sum - 1) / noise->at0,
                                                noise->terms * (double)count,
                                                noise->rate));
}
