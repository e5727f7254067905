/*
 * selected.c - shares that were selected: the level of their intervals, and
 * what is not among them.
 *
 * Of normal estimates X with mean f and standard deviation s, those that passed
 * T have the mean
 *     f + s l((f - T) / s),   l(x) = phi(x) / Phi(x),
 * which is more than f by less the larger f is. The supports of two values in
 * the reports of a person are independent (unary), or they exclude each other
 * (a choice, a subset), so the variance of a sum is at most the sum of
 * variances, but for what sampling people adds: F (1-F) of the sum F itself.
 * Hashes and geometries are so for two values, not for three: people who hold
 * one of them may support others together. What that adds is at most a fixed
 * share, as measured (selected_design.c, docs/estimates.md). Trees and channels
 * of one's own have no such rule; there standard deviations are added up, which
 * is a bound for any.
 */
#include "lib/core/fail.h"
#include "lib/infer/infer.h"
#include "lib/scheme/scheme.h"

#include <math.h>

#define SELECTED_FAR (-30.0) /* beyond, Phi is 0 in double precision */

/* By how much the standard deviation of a sum is more than that of independent
 * shares: codes of a list stand side by side, those of strings do not. */
#define SELECTED_LISTED 1.5
#define SELECTED_SPELLED 1.15

double hsy_selected_level(double level, uint64_t selected, uint64_t of)
{
    if (selected == 0 || selected >= of)
        return level;
    return 1 - (1 - level) * ((double)selected / (double)of);
}

double hsy_selected_bias(double share, double sd, double passed)
{
    const double x = (share - passed) / sd;

    if (!(passed > -INFINITY))
        return 0;
    if (sd == 0 || x < SELECTED_FAR)
        return fmax(0, passed - share);
    return sd * exp(-x * x / 2) /
           (sqrt(2 * 3.141592653589793) * hsy_normal_cdf(x));
}

/* ---- The rest ------------------------------------------------------------ */

static double selected_design(const hsy_scheme *s)
{
    const enum mech_errors errors = s->mech->estimate->errors;

    if (s->kind == HSY_KIND_STRINGS)
        return SELECTED_SPELLED;
    return errors == MECH_ERRORS_DESIGN || errors == MECH_ERRORS_SKETCH
               ? SELECTED_LISTED
               : 1;
}

/* The sum as if it were one share, along the line on which all of them grow in
 * proportion. */
static void selected_sum(hsy_evidence *sum, const hsy_evidence *points,
                         size_t count, double design)
{
    const double more = design * design;
    const double n = points[0].n;
    double all = 0, slope = 0;

    *sum = points[0]; /* for what all have in common */
    sum->value = sum->v0 = sum->residual_variance = 0;
    for (size_t i = 0; i < count; i++) {
        const hsy_evidence *p = &points[i];
        const double f = hsy_share_clip(p->value);

        sum->value += p->value;
        sum->v0 += p->v0 * n / p->n;
        sum->residual_variance += p->residual_variance;
        slope += f * (p->v1 - p->v0) * n / p->n;
        all += f;
    }
    sum->v1 = more * fmax(0, sum->v0 + (all > 0 ? slope / all : 0));
    sum->v0 *= more;
    sum->residual_variance *= more;
}

/* A bound on the standard deviation of the sum, however they vary together. */
static double selected_bound(const hsy_evidence *points, size_t count,
                             hsy_target target)
{
    double sd = 0;

    for (size_t i = 0; i < count; i++)
        sd += sqrt(hsy_evidence_variance(&points[i], target,
                                         hsy_share_clip(points[i].value)));
    return sd;
}

/* Noise of releases is of each count's own. */
static double selected_noise(const hsy_evidence *points, size_t count,
                             hsy_target target, double sum)
{
    const double f = hsy_share_clip(sum);
    const double c = hsy_evidence_curve(&points[0], target);
    double variance = c * f * (1 - f) / points[0].n;

    for (size_t i = 0; i < count; i++)
        variance +=
            hsy_releases_variance(&points[i], hsy_share_clip(points[i].value));
    return sqrt(variance);
}

static void selected_ends(hsy_estimate *est, const hsy_scheme *s,
                          const hsy_evidence *points, size_t count,
                          const hsy_selection *from, const hsy_confidence *how)
{
    const double z = -hsy_normal_quantile((1 - how->level) / 2);
    double ends[2];
    hsy_evidence sum;

    /* Of one share alone there is nothing to vary together. */
    selected_sum(&sum, points, count,
                 count == 1         ? 1
                 : from->design > 0 ? from->design
                                    : selected_design(s));
    est->value = 1 - sum.value;
    if (s->mech->estimate->errors == MECH_ERRORS_TOGETHER ||
        hsy_releases_has(&points[0])) {
        est->sd = hsy_releases_has(&points[0])
                      ? selected_noise(points, count, how->target, sum.value)
                      : selected_bound(points, count, how->target);
        est->low = est->value - z * est->sd;
        est->high = est->value + z * est->sd;
        return;
    }
    est->sd = sqrt(
        hsy_evidence_variance(&sum, how->target, hsy_share_clip(sum.value)));
    hsy_interval_of(ends, &sum, HSY_SCORE, how->target, 1 - how->level);
    est->low = 1 - ends[1];
    est->high = 1 - ends[0];
}

/* What selection can have added to all of them. */
static double selected_excess(const hsy_evidence *points, size_t count,
                              const hsy_selection *from,
                              const hsy_confidence *how)
{
    const double miss = 1 - hsy_selected_level(how->level, count, from->of);
    double excess = 0;

    for (size_t i = 0; from->passed > -INFINITY && i < count; i++) {
        double ends[2], low;

        hsy_interval_of(ends, &points[i], HSY_SCORE, how->target, miss);
        low = hsy_share_clip(ends[0]);
        excess += hsy_selected_bias(
            low, sqrt(hsy_evidence_variance(&points[i], how->target, low)),
            fmin(from->passed, points[i].value));
    }
    return excess;
}

/* Returns true if the intervals of the points themselves stay within [0, 1]. */
static bool selected_inside(const hsy_evidence *points, size_t count,
                            const hsy_selection *from,
                            const hsy_confidence *how)
{
    const double miss = 1 - hsy_selected_level(how->level, count, from->of);
    double ends[2];

    if (how->interval == HSY_EXACT || how->interval == HSY_LIKELIHOOD)
        return true;
    if (how->interval != HSY_INTERVAL_AUTO && how->interval != HSY_SCORE)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!hsy_releases_has(&points[i]) &&
            hsy_interval_few(ends, &points[i], how->target, miss))
            return true;
    return false;
}

hsy_status hsy_estimate_rest(const hsy_scheme *s, hsy_estimate *est,
                             const hsy_evidence *points, size_t count,
                             const hsy_selection *from,
                             const hsy_confidence *how, hsy_error *err)
{
    hsy_status st = hsy_confidence_check(how, err);

    for (size_t i = 0; st == HSY_OK && i < count; i++)
        st = hsy_evidence_check(&points[i], err);
    if (st == HSY_OK && count > from->of)
        st = hsy_fail(err, HSY_E_RANGE, HSY_FIELD_OF,
                      "more are selected than were looked at");
    if (st != HSY_OK)
        return st;
    *est = (hsy_estimate){.value = 1, .low = 1, .high = 1};
    if (count == 0)
        return HSY_OK;
    selected_ends(est, s, points, count, from, how);
    est->high += selected_excess(points, count, from, how);
    if (selected_inside(points, count, from, how)) {
        est->low = fmin(est->value, fmax(est->low, 0));
        est->high = fmax(est->value, fmin(est->high, 1));
    }
    return HSY_OK;
}
