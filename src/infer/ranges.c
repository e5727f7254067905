/*
 * ranges.c - shares of sums of bins, CDFs and quantiles.
 *
 * The mechanism's room gives consistent bins and the variance of any sum of
 * them (tree.h, haar.h); here they become estimates with intervals.
 */
#include "fail.h"
#include "haar.h"
#include "infer.h"
#include "tree.h"

#include <math.h>

/* ---- What a scheme's bins are made of ------------------------------------ */

/* How the two families answer: where their law stands, what they need. */
struct ranges_family {
    size_t law;
    size_t (*scratch)(const hsy_scheme *s);
    void (*bins)(void *law, double *bins, const hsy_scheme *s,
                 const hsy_tally *t, void *scratch);
    double (*variance)(const void *law, size_t from, size_t to);
};

static void ranges_tree_bins(void *law, double *bins, const hsy_scheme *s,
                             const hsy_tally *t, void *scratch)
{
    struct tree *tree = law;
    const double *leaves;

    hsy_tree_open(tree, s, t, scratch);
    leaves = tree->f + tree->level[tree->levels - 1].first;
    for (size_t i = 0; i < tree->d; i++)
        bins[i] = leaves[i];
}

static double ranges_tree_variance(const void *law, size_t from, size_t to)
{
    return hsy_tree_variance(law, from, to);
}

static size_t ranges_haar_scratch(const hsy_scheme *s)
{
    return hsy_haar_size(s) * sizeof(double);
}

static void ranges_haar_bins(void *law, double *bins, const hsy_scheme *s,
                             const hsy_tally *t, void *scratch)
{
    hsy_haar_open(law, s, t, scratch);
    hsy_haar_bins(law, bins);
}

static double ranges_haar_variance(const void *law, size_t from, size_t to)
{
    return hsy_haar_variance(law, from, to);
}

static const struct ranges_family ranges_tree = {
    sizeof(struct tree), hsy_tree_scratch, ranges_tree_bins,
    ranges_tree_variance};
static const struct ranges_family ranges_haar = {
    sizeof(struct haar), ranges_haar_scratch, ranges_haar_bins,
    ranges_haar_variance};

static const struct ranges_family *ranges_family_of(const hsy_scheme *s)
{
    return s->mech == &hsy_mech_haar ? &ranges_haar : &ranges_tree;
}

/* ---- Opening ------------------------------------------------------------- */

static size_t ranges_round(size_t size)
{
    return (size + 15) / 16 * 16;
}

/* law, cdf, least, and what the family needs, one after the other. */
static size_t ranges_edges(const hsy_scheme *s)
{
    return ranges_round(((size_t)s->d + 1) * sizeof(double));
}

/* HSY_OK, or why this scheme has no ranges. */
static hsy_status ranges_has(const hsy_scheme *s, hsy_error *err)
{
    if (s->kind != HSY_KIND_BINS)
        return hsy_fail(err, HSY_E_RANGE, "kind",
                        "only a number in bins has ranges and quantiles");
    if (s->mech->release)
        return hsy_fail(err, HSY_E_REFUSED, "mechanism",
                        "of a release there are estimates bin by bin only");
    if (s->mech->points == NULL)
        return hsy_fail(err, HSY_E_REFUSED, "mechanism",
                        "it is not estimated value by value");
    return HSY_OK;
}

size_t hsy_ranges_scratch(const hsy_scheme *s)
{
    const struct ranges_family *family = ranges_family_of(s);

    if (ranges_has(s, NULL) != HSY_OK)
        return 0;
    return ranges_round(family->law) + 2 * ranges_edges(s) + family->scratch(s);
}

static hsy_status ranges_check(const hsy_scheme *s, const hsy_tally *t,
                               hsy_error *err)
{
    hsy_status st = ranges_has(s, err);

    if (st != HSY_OK)
        return st;
    if (t->ncells != s->cells || t->nstrata != s->strata)
        return hsy_fail(err, HSY_E_MISMATCH, "tally",
                        "the tally belongs to another scheme");
    if (hsy_tally_reports(t) == 0)
        return hsy_fail(err, HSY_E_EMPTY, "reports",
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

hsy_status hsy_ranges_open(hsy_ranges *r, const hsy_scheme *s,
                           const hsy_tally *t, void *scratch, hsy_error *err)
{
    const struct ranges_family *family = ranges_family_of(s);
    uint8_t *room = scratch;
    void *cdf = room + ranges_round(family->law);
    void *least = room + ranges_round(family->law) + ranges_edges(s);
    double *above = least;
    hsy_status st = ranges_check(s, t, err);

    if (st != HSY_OK)
        return st;
    family->bins(scratch, cdf, s, t, (uint8_t *)least + ranges_edges(s));
    *r = (hsy_ranges){.scheme = s,
                      .law = scratch,
                      .cdf = cdf,
                      .least = least,
                      .d = s->d,
                      .n = (double)hsy_tally_reports(t)};
    ranges_accumulate(cdf, r->d);
    above[r->d] = 1;
    for (size_t i = r->d; i-- > 0;)
        above[i] = fmin(r->cdf[i], above[i + 1]);
    return HSY_OK;
}

/* ---- Ranges -------------------------------------------------------------- */

hsy_status hsy_range(hsy_estimate *est, const hsy_ranges *r, size_t from,
                     size_t to, const hsy_confidence *how, hsy_error *err)
{
    hsy_point point;

    if (from >= to || to > r->d)
        return hsy_fail_limit(err, HSY_E_RANGE, "between",
                              "a range has at least one bin, and no bin "
                              "outside the domain",
                              r->d);
    point = hsy_tree_point(
        r->cdf[to] - r->cdf[from],
        ranges_family_of(r->scheme)->variance(r->law, from, to), r->n);
    return hsy_estimate_point(est, &point, how, err);
}

/* ---- Quantiles ----------------------------------------------------------- */

/* The monotone CDF at edge i, most being the running maximum up to there. */
static double ranges_monotone(const hsy_ranges *r, size_t i, double most)
{
    return hsy_share_clip((most + r->least[i]) / 2);
}

void hsy_ranges_cdf(const hsy_ranges *r, double *out)
{
    double most = 0;

    for (size_t i = 0; i <= r->d; i++) {
        most = fmax(most, r->cdf[i]);
        out[i] = ranges_monotone(r, i, most);
    }
    out[0] = 0;
    out[r->d] = 1;
}

/* Where the monotone CDF reaches q, linear within its bin *bin. */
static double ranges_reach(const hsy_ranges *r, double q, size_t *bin)
{
    double below = 0, most = 0;

    for (size_t i = 1; i <= r->d; i++) {
        double here;

        most = fmax(most, r->cdf[i]);
        here = i == r->d ? 1 : ranges_monotone(r, i, most);
        if (here >= q) {
            *bin = i - 1;
            return (double)(i - 1) + (q - below) / (here - below);
        }
        below = here;
    }
    *bin = r->d - 1;
    return (double)r->d;
}

/* The larger variance of the CDF at the two edges of a bin, at share q. */
static double ranges_band(const hsy_ranges *r, size_t bin, double q,
                          hsy_target target)
{
    const struct ranges_family *family = ranges_family_of(r->scheme);
    double low = family->variance(r->law, 0, bin);
    double high = family->variance(r->law, bin + 1, r->d);
    hsy_point point = hsy_tree_point(q, fmax(low, high), r->n);

    return hsy_point_variance(&point, target, q);
}

/* The edges between which the CDF, give or take band, may reach q. */
static void ranges_ends(const hsy_ranges *r, double q, double band,
                        double ends[2])
{
    size_t low = 0, high = r->d;

    while (low + 1 < r->d && r->cdf[low + 1] < q - band)
        low++;
    while (high > 0 && r->least[high - 1] >= q + band)
        high--;
    ends[0] = (double)low;
    ends[1] = (double)high;
}

static hsy_status ranges_quantile_check(const hsy_ranges *r, double q,
                                        const hsy_confidence *how,
                                        hsy_error *err)
{
    hsy_point point = {.n = r->n};
    hsy_status st = hsy_confidence_check(how, err);

    if (st != HSY_OK)
        return st;
    if (!(q > 0 && q < 1))
        return hsy_fail(err, HSY_E_RANGE, "quantile",
                        "must lie strictly between 0 and 1");
    if (how->interval != HSY_WALD && how->interval != HSY_SCORE &&
        how->interval != HSY_WILSON && how->interval != HSY_INTERVAL_AUTO)
        return hsy_fail(err, HSY_E_RANGE, "interval",
                        "a quantile's is normal: wald or score");
    return hsy_interval_check(&point, how->interval, err);
}

/*
 * The CDF at an edge strays from the truth by more than z sd with chance
 * `miss`, so the true quantile lies, but for that chance, where |CDF - q| <= z
 * sd [Woodruff 1952], sd taken at the estimate. All such edges are between
 * the ends.
 */
hsy_status hsy_quantile(hsy_estimate *est, const hsy_ranges *r, double q,
                        const hsy_confidence *how, hsy_error *err)
{
    hsy_status st = ranges_quantile_check(r, q, how, err);
    double z, ends[2];
    size_t bin;

    if (st != HSY_OK)
        return st;
    z = -hsy_normal_quantile(hsy_confidence_miss(how) / 2);
    est->value = ranges_reach(r, q, &bin);
    ranges_ends(r, q, z * sqrt(ranges_band(r, bin, q, how->target)), ends);
    est->low = ends[0];
    est->high = ends[1];
    est->sd = (ends[1] - ends[0]) / (2 * z);
    return HSY_OK;
}
