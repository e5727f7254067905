/*
 * ranges.c - shares of sums of bins, and bounds of their CDF.
 *
 * The mechanism's room gives consistent bins and the variance of any sum of
 * them (tree.h, haar.h); here they become estimates with intervals. A square
 * wave's bins come from the likelihood, and bounds of sums from reach.h.
 */
#include "lib/infer/ranges.h"
#include "lib/core/fail.h"
#include "lib/family/tree.h"
#include "lib/infer/infer.h"
#include "lib/infer/reach.h"
#include "lib/mech/haar.h"
#include "lib/mech/mechanisms.h"

#include <math.h>

/* ---- What a scheme's bins are made of ------------------------------------ */

/* How the families answer: where their law stands, what they need. Without a
 * variance, bounds are by reach. */
struct ranges_family {
    size_t law;
    size_t (*scratch)(const hsy_scheme *s);
    hsy_status (*bins)(void *law, double *bins, const hsy_scheme *s,
                       const hsy_tally *t, void *scratch, hsy_error *err);
    double (*variance)(const void *law, size_t from, size_t to);
};

static hsy_status ranges_tree_bins(void *law, double *bins, const hsy_scheme *s,
                                   const hsy_tally *t, void *scratch,
                                   hsy_error *err)
{
    struct tree *tree = law;
    const double *leaves;

    hsy_tree_open(tree, s, t, scratch);
    leaves = tree->f + tree->level[tree->levels - 1].first;
    (void)err;
    for (size_t i = 0; i < tree->d; i++)
        bins[i] = leaves[i];
    return HSY_OK;
}

static double ranges_tree_variance(const void *law, size_t from, size_t to)
{
    return hsy_tree_variance(law, from, to);
}

static size_t ranges_haar_scratch(const hsy_scheme *s)
{
    return hsy_haar_size(s) * sizeof(double);
}

static hsy_status ranges_haar_bins(void *law, double *bins, const hsy_scheme *s,
                                   const hsy_tally *t, void *scratch,
                                   hsy_error *err)
{
    (void)err;
    hsy_haar_open(law, s, t, scratch);
    hsy_haar_bins(law, bins);
    return HSY_OK;
}

static double ranges_haar_variance(const void *law, size_t from, size_t to)
{
    return hsy_haar_variance(law, from, to);
}

/* Counts of outputs, and which bounds are there. */
struct ranges_density {
    struct em em;
    struct reach reach;
    double *sum; /* values: 1 in the bins of a sum */
    double z;    /* of the lines, and their sampling; 0: none yet */
    double sampling;
};

static size_t ranges_density_scratch(const hsy_scheme *s)
{
    return hsy_density_estimate_scratch(s);
}

static hsy_status ranges_density_bins(void *law, double *bins,
                                      const hsy_scheme *s, const hsy_tally *t,
                                      void *scratch, hsy_error *err)
{
    struct ranges_density *density = law;
    const hsy_density_how how = {.method = HSY_DENSITY_EM};
    double *room = hsy_em_room(&density->em, s, scratch);
    hsy_status st = hsy_em_fit(&density->em, NULL, t, &how, err);

    if (st != HSY_OK)
        return st;
    density->sum = room;
    density->z = 0;
    for (size_t i = 0; i < s->d; i++) {
        bins[i] = density->em.theta[i];
        room[i] = 0;
    }
    hsy_reach_room(&density->reach, s->d, density->em.outputs, room + s->d);
    hsy_reach_channel(&density->reach, s, density->em.scratch);
    return HSY_OK;
}

/* The reach of its counts, for a target. */
static struct reach *ranges_density_reach(const hsy_ranges *r,
                                          hsy_target target)
{
    struct ranges_density *density = r->law;
    const double sampling = target == HSY_POPULATION ? 1 + r->came : 0;
    struct em *em = &density->em;

    if (density->reach.n > 0 && density->reach.sampling == sampling)
        return &density->reach;
    hsy_reach_open(&density->reach, em->theta, em->counts, em->n, sampling);
    return &density->reach;
}

static hsy_status ranges_outputs_bins(void *law, double *bins,
                                      const hsy_scheme *s, const hsy_tally *t,
                                      void *scratch, hsy_error *err)
{
    (void)err;
    hsy_ranges_outputs_open(law, bins, s, t, scratch);
    return HSY_OK;
}

static const struct ranges_family ranges_outputs = {
    sizeof(struct ranges_outputs), hsy_ranges_outputs_scratch,
    ranges_outputs_bins, hsy_ranges_outputs_variance};
static const struct ranges_family ranges_density = {
    sizeof(struct ranges_density), ranges_density_scratch, ranges_density_bins,
    NULL};
static const struct ranges_family ranges_tree = {
    sizeof(struct tree), hsy_tree_scratch, ranges_tree_bins,
    ranges_tree_variance};
static const struct ranges_family ranges_haar = {
    sizeof(struct haar), ranges_haar_scratch, ranges_haar_bins,
    ranges_haar_variance};

static const struct ranges_family *ranges_family_of(const hsy_scheme *s)
{
    if (s->mech->estimate->iterative)
        return &ranges_density;
    if (hsy_ranges_outputs_has(s))
        return &ranges_outputs;
    return s->mech == &hsy_mech_haar ? &ranges_haar : &ranges_tree;
}

/* ---- Opening ------------------------------------------------------------- */

static size_t ranges_round(size_t size)
{
    return (size + 15) / 16 * 16;
}

/* law, RANGES_LINES arrays of edges, and what the family needs, one after the
 * other. */
#define RANGES_LINES 6u
#define RANGES_FEW 16.0    /* reports of support that are normal enough */
#define RANGES_LOOKED 512u /* edges of a mechanism of one level */

static size_t ranges_edges(const hsy_scheme *s)
{
    return ranges_round(((size_t)s->d + 1) * sizeof(double));
}

/* HSY_OK, or why this scheme has no ranges. */
static hsy_status ranges_has(const hsy_scheme *s, hsy_error *err)
{
    if (s->kind != HSY_KIND_BINS)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_KIND,
                        "only a number in bins has ranges and quantiles");
    if (mech_central(s->mech))
        return hsy_fail(err, HSY_E_REFUSED, HSY_FIELD_MECHANISM,
                        "of a release there are estimates bin by bin only");
    if (s->mech->estimate->iterative)
        return hsy_reach_fits(s->d, hsy_em_outputs(s))
                   ? HSY_OK
                   : hsy_fail(
                         err, HSY_E_REFUSED, HSY_FIELD_BINS,
                         "ranges of shares by EM are for at most 256 bins");
    if (s->mech->estimate->points == NULL)
        return hsy_fail(err, HSY_E_REFUSED, HSY_FIELD_MECHANISM,
                        "it is not estimated value by value");
    if (s->mech == &hsy_mech_dbitflip)
        return hsy_fail(err, HSY_E_REFUSED, HSY_FIELD_MECHANISM,
                        "each report answers for some bins only: sums of them "
                        "have no variance here");
    return HSY_OK;
}

size_t hsy_ranges_scratch(const hsy_scheme *s)
{
    const struct ranges_family *family = ranges_family_of(s);

    if (ranges_has(s, NULL) != HSY_OK)
        return 0;
    return ranges_round(family->law) + RANGES_LINES * ranges_edges(s) +
           family->scratch(s);
}

static hsy_status ranges_check(const hsy_scheme *s, const hsy_tally *t,
                               hsy_error *err)
{
    hsy_status st = ranges_has(s, err);

    if (st != HSY_OK)
        return st;
    if (t->ncells != s->cells || t->nstrata != s->strata)
        return hsy_fail(err, HSY_E_MISMATCH, HSY_FIELD_TALLY,
                        "the tally belongs to another scheme");
    if (hsy_tally_reports(t) == 0)
        return hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_REPORTS,
                        "no data: there are no reports");
    return HSY_OK;
}

/* From bins[0..d) to the shares below d + 1 edges, in place. The last is 1. */
static void ranges_accumulate(double *cdf, size_t d)
{
    double sum = 0;

    for (size_t i = 0; i < d; i++) {
        double bin = cdf[i];

        cdf[i] = sum;
        sum += bin;
    }
    cdf[d] = 1;
}

/* Edges of number i of the arrays after the law. */
static double *ranges_line(const hsy_scheme *s, void *scratch, size_t i)
{
    uint8_t *room = scratch;
    void *at =
        room + ranges_round(ranges_family_of(s)->law) + i * ranges_edges(s);

    return at;
}

hsy_status hsy_ranges_open(hsy_ranges *r, const hsy_scheme *s,
                           const hsy_tally *t, void *scratch, hsy_error *err)
{
    double *cdf, *least;
    hsy_status st = ranges_check(s, t, err);

    if (st != HSY_OK)
        return st;
    cdf = ranges_line(s, scratch, 0);
    least = ranges_line(s, scratch, 1);
    st = ranges_family_of(s)->bins(scratch, cdf, s, t,
                                   ranges_line(s, scratch, RANGES_LINES), err);
    if (st != HSY_OK)
        return st;
    *r = (hsy_ranges){.scheme = s,
                      .law = scratch,
                      .cdf = cdf,
                      .least = least,
                      .low = ranges_line(s, scratch, 2),
                      .high = ranges_line(s, scratch, 3),
                      .above = ranges_line(s, scratch, 4),
                      .variance = ranges_line(s, scratch, 5),
                      .d = s->d,
                      .n = (double)hsy_tally_reports(t),
                      .noise = 1};
    ranges_accumulate(cdf, r->d);
    r->variance[0] = -1;
    least[r->d] = 1;
    for (size_t i = r->d; i-- > 0;)
        least[i] = fmin(cdf[i], least[i + 1]);
    return HSY_OK;
}

/* ---- People who answer again --------------------------------------------- */

/*
 * How much of the variance of a sum of bins is kept, at most. Independent bits:
 * that of a share of 0 or of 1, whichever is more. Else, of any set of values:
 * a report supports it with chance P = (1-b) Q + b c, Q that of its kept answer
 * and c that of the step of noise, so that P (1-P) >= (1-b) Q (1-Q), which is
 * concave; and the gap of the report's law is 1-b of the kept one's.
 */
static double ranges_kept(const hsy_scheme *s, const struct attend_laws *laws)
{
    const struct mech_support *one = &laws->report, *all = &laws->kept;

    if (s->weights == 0)
        return one->gap / all->gap;
    return fmax(mech_support_v0(all) / mech_support_v0(one),
                mech_support_v1(all) / mech_support_v1(one));
}

hsy_status hsy_ranges_attend(hsy_ranges *r, const hsy_scheme *permanent,
                             const hsy_attendance *attended, hsy_error *err)
{
    struct attend_laws laws;
    hsy_status st;

    r->came = attended->came;
    if (attended->kept == 0)
        return HSY_OK;
    st = hsy_attend_laws(&laws, r->scheme, permanent, err);
    if (st == HSY_OK)
        r->noise = 1 + attended->kept * ranges_kept(r->scheme, &laws);
    return st;
}

/*
 * n times the least variance of a sum of `bins` bins of one level, where few
 * reports support it: that at a share of 0, since the one at the estimate is 0
 * if it happens to have no support.
 */
static double ranges_least(const hsy_ranges *r, size_t bins)
{
    const hsy_scheme *s = r->scheme;
    struct mech_support law;
    double rate;

    if (ranges_family_of(s) != &ranges_tree ||
        s->mech->estimate->support == NULL ||
        ((const struct tree *)r->law)->levels != 1)
        return 0;
    s->mech->estimate->support(s, &law);
    rate = (double)bins * law.q;
    if (rate >= 0.5 || r->n * rate * (1 - rate) >= RANGES_FEW)
        return 0;
    return rate * (1 - rate) / (law.gap * law.gap);
}

/* The point of a sum of bins if everybody answered once, as it is if they
 * answer again. */
static void ranges_attended(const hsy_ranges *r, hsy_evidence *point)
{
    point->v0 *= r->noise;
    point->v1 *= r->noise;
    point->kept = r->noise - 1;
    point->came = r->came;
}

/* A sum of bins with this variance if everybody answered once. */
static hsy_evidence ranges_point(const hsy_ranges *r, double value,
                                 double variance, size_t bins)
{
    hsy_evidence point = hsy_tree_point(value, variance, r->n);

    point.v0 = point.v1 = fmax(point.v0, ranges_least(r, bins));
    ranges_attended(r, &point);
    return point;
}

/* Where a report names one bin, whether it names one of the sum is a coin: the
 * pure law again, of some bins instead of one. All of them are 1 for certain.
 */
static bool ranges_coin(hsy_evidence *point, const hsy_ranges *r, size_t from,
                        size_t to)
{
    const hsy_scheme *s = r->scheme;
    const double bins = (double)(to - from);
    struct mech_support law;

    if (s->mech->estimate->points == hsy_tree_points && to - from == 1) {
        *point = hsy_tree_bin(r->law, s, from); /* as its share is shown */
        ranges_attended(r, point);
        return true;
    }
    if (s->mech->counting->tally != hsy_outputs_tally ||
        s->mech->estimate->support == NULL || s->cells != s->d ||
        to - from == s->d)
        return false;
    s->mech->estimate->support(s, &law);
    law.p += (bins - 1) * law.q;
    law.q *= bins;
    law.not_p = ((double)s->d - bins) * law.q / bins;
    law.not_q = 1 - law.q;
    hsy_evidence_pure(point, &law, r->n,
                      r->n * (law.q + law.gap * (r->cdf[to] - r->cdf[from])));
    ranges_attended(r, point);
    return true;
}

/* ---- Ranges -------------------------------------------------------------- */

/* Sums of shares by EM have bounds, and no variance of their own. */
static hsy_status ranges_reach(hsy_estimate *est, const hsy_ranges *r,
                               size_t from, size_t to,
                               const hsy_confidence *how, hsy_error *err)
{
    struct ranges_density *density = r->law;
    struct reach *reach;
    hsy_status st = hsy_confidence_check(how, err);
    double z;

    if (st != HSY_OK)
        return st;
    reach = ranges_density_reach(r, how->target);
    z = -hsy_normal_quantile(hsy_confidence_miss(how) / 2);
    for (size_t i = from; i < to; i++)
        density->sum[i] = 1;
    est->value = r->cdf[to] - r->cdf[from];
    hsy_reach_interval(reach, est, density->sum, z);
    for (size_t i = from; i < to; i++)
        density->sum[i] = 0;
    return HSY_OK;
}

hsy_status hsy_range(const hsy_ranges *r, hsy_estimate *est, size_t from,
                     size_t to, const hsy_confidence *how, hsy_error *err)
{
    const struct ranges_family *family = ranges_family_of(r->scheme);
    hsy_evidence point;

    if (from >= to || to > r->d)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_BETWEEN,
                              "a range has at least one bin, and no bin "
                              "outside the domain",
                              r->d);
    if (family->variance == NULL)
        return ranges_reach(est, r, from, to, how, err);
    if (!ranges_coin(&point, r, from, to))
        point = ranges_point(r, r->cdf[to] - r->cdf[from],
                             family->variance(r->law, from, to), to - from);
    return hsy_estimate_point(est, &point, how, err);
}

/* ---- Lines --------------------------------------------------------------- */

/* Edges between two that are looked at: a mechanism of one level takes O(d) for
 * each, and its variance changes little from bin to bin. */
static size_t ranges_stride(const hsy_ranges *r)
{
    const bool flat = ranges_family_of(r->scheme) == &ranges_tree &&
                      ((const struct tree *)r->law)->levels == 1;

    return flat && r->d > RANGES_LOOKED ? r->d / RANGES_LOOKED : 1;
}

/* The variance below each edge, once: between two that are looked at the
 * larger. */
static void ranges_variances(const hsy_ranges *r)
{
    const struct ranges_family *family = ranges_family_of(r->scheme);
    const size_t stride = ranges_stride(r);
    double last = 0;

    if (r->variance[0] >= 0)
        return;
    r->variance[0] = 0;
    for (size_t i = 0; i < r->d; i += stride) {
        const size_t to = i + stride < r->d ? i + stride : r->d;
        const double here = family->variance(r->law, 0, to);

        for (size_t k = i + 1; k < to; k++)
            r->variance[k] = fmax(last, here);
        r->variance[to] = here;
        last = here;
    }
}

/* Bounds of shares by EM do not ask what the share is. */
static void ranges_reach_lines(const hsy_ranges *r, double z, hsy_target target)
{
    struct ranges_density *density = r->law;
    struct reach *reach = ranges_density_reach(r, target);

    if (density->z == z && density->sampling == reach->sampling)
        return;
    density->z = z;
    density->sampling = reach->sampling;
    for (size_t i = 1; i < r->d; i++) {
        density->sum[i - 1] = 1;
        r->low[i] = hsy_reach_bound(reach, density->sum, -1, z);
        r->high[i] = hsy_reach_bound(reach, density->sum, 1, z);
    }
    for (size_t i = 0; i < r->d; i++)
        density->sum[i] = 0;
}

void hsy_ranges_lines(const hsy_ranges *r, double q, double z,
                      hsy_target target)
{
    r->low[0] = r->high[0] = 0;
    r->low[r->d] = r->high[r->d] = 1;
    if (ranges_family_of(r->scheme)->variance == NULL) {
        ranges_reach_lines(r, z, target);
        return;
    }
    ranges_variances(r);
    for (size_t i = 1; i < r->d; i++) {
        const hsy_evidence point =
            ranges_point(r, r->cdf[i], r->variance[i], i);
        const double half = z * sqrt(hsy_evidence_variance(&point, target, q));

        r->low[i] = r->cdf[i] - half;
        r->high[i] = r->cdf[i] + half;
    }
}
