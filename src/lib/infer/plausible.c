/*
 * plausible.c - whether counts can come from honest reports of a scheme.
 *
 * Four questions, each with a p-value that is an upper bound of the chance of
 * something as odd, whatever people answered: a wrong epsilon, another
 * population or forged reports make it small. The fourth, of hash seeds, stands
 * in detect.c. Reports of people who answered again count as so many fewer as
 * if each were the same report again, which is the most that they can have in
 * common. docs/estimates.md, 6
 */
#include "lib/infer/infer.h"
#include "lib/special/special.h"

#include <math.h>

#define PLAUSIBLE_ALARM 1e-6
#define PLAUSIBLE_FLOOR 1e-9 /* chance given to errors that stay */
#define PLAUSIBLE_LEAST 10.0 /* expected reports in a bin of weights */

/* The oddest support found so far, in standard deviations. */
struct plausible_odd {
    double excess;
    size_t place;
    double k, n, rate; /* the binomial tail it stands for */
    bool upper, floor;
};

/* How far `excess` reports beyond the mean of Bin(n, rate) are, and the tail
 * that would hold the count k. */
static void plausible_note(struct plausible_odd *odd, size_t place,
                           const hsy_evidence *point, double count, bool upper)
{
    const double n = point->n / (1 + point->kept);
    const double rate =
        upper ? fmax(point->p, point->q) : fmin(point->p, point->q);
    const double own = count / (1 + point->kept);
    const double beyond = upper ? own - n * rate : n * rate - own;
    const double sd = sqrt(fmax(n * rate * (1 - rate), 1e-300));

    if (!(beyond / sd > odd->excess))
        return;
    odd->excess = beyond / sd;
    odd->place = place;
    odd->k = upper ? floor(own) : ceil(own);
    odd->n = n;
    odd->rate = rate;
    odd->upper = upper;
    odd->floor = point->residual_variance > 0;
}

/* A report supports a value or does not: no report gives such a count. */
static bool plausible_impossible(hsy_plausibility *out,
                                 const hsy_evidence *points, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!hsy_evidence_counted(&points[i])) {
            out->support_p = 0;
            out->odd_value = i;
            return true;
        }
    return false;
}

/*
 * However the shares lie, support is a sum of n independent coins of p and q:
 * it falls to k with at most the chance of n coins of the smaller, and rises to
 * k with at most that of the larger. A corrected value stands for the count
 * that would give it, moved inward as far as its floor explains.
 */
static void plausible_support(hsy_plausibility *out, const hsy_evidence *points,
                              size_t count)
{
    const double z = -hsy_normal_quantile(PLAUSIBLE_FLOOR / 2 / (double)count);
    struct plausible_odd odd = {0};
    double p;

    for (size_t i = 0; i < count; i++) {
        const hsy_evidence *point = &points[i];
        const double unit = point->n * (point->p - point->q);
        const double moved = point->support + hsy_evidence_shift(point) * unit;
        const double slack = z * sqrt(point->residual_variance) * fabs(unit);

        plausible_note(&odd, i, point, moved + slack, false);
        plausible_note(&odd, i, point, moved - slack, true);
    }
    if (odd.excess <= 0)
        return;
    p = hsy_special_binomial(odd.k, odd.n, odd.rate, odd.upper);
    p = 2 * (double)count * p + (odd.floor ? PLAUSIBLE_FLOOR : 0);
    out->support_p = fmin(p, 1);
    out->odd_value = odd.place;
}

/*
 * Independent bits: all supports together are n coins of p and n (d-1) of q,
 * whatever the truths. Beyond one from the mean such a sum has lighter tails
 * than as many coins of the average rate [Hoeffding56, Thm 4].
 */
static double plausible_sum_bits(double total, const hsy_evidence *point,
                                 double d)
{
    const double coins = point->n / (1 + point->kept) * d;
    const double rate = (point->p + (d - 1) * point->q) / d;

    total /= 1 + point->kept;
    if (fabs(total - coins * rate) < 1)
        return 1;
    return fmin(
        1, 2 * hsy_special_binomial(total, coins, rate, total > coins * rate));
}

/*
 * Otherwise a report supports from 0 to d values, about independently: the
 * shares' sum strays by t with chance 2 exp(-t^2 / (2 (variance + range t/3)))
 * at most (Bernstein), after what the floors explain, taken to err together.
 * The variance is the sum of v0 / n and, weighted by the shares, of what is
 * more than that where they are not 0: at most the largest of these.
 */
static double plausible_sum_sets(const hsy_evidence *points, size_t count)
{
    const double d = (double)count, gap = fabs(points[0].p - points[0].q);
    double more = (points[0].v1 - points[0].v0) / points[0].n;
    double sum = 0, floors = 0, variance = 0, n = points[0].n, range, t;

    for (size_t i = 0; i < count; i++) {
        const hsy_evidence *p = &points[i];

        sum += p->value;
        floors += sqrt(p->residual_variance);
        variance += p->v0 / p->n;
        more = fmax(more, (p->v1 - p->v0 + p->binomial_variance) / p->n);
        n = fmin(n, p->n);
    }
    variance += more;
    range = d / (gap * n);
    t = fabs(sum - 1) + hsy_normal_quantile(PLAUSIBLE_FLOOR / 2) * floors;
    if (t <= 0)
        return 1;
    return fmin(1, 2 * exp(-t * t / (2 * (variance + range * t / 3))) +
                       (floors > 0 ? PLAUSIBLE_FLOOR : 0));
}

static double plausible_sum(const hsy_scheme_info *info,
                            const hsy_evidence *points, size_t count)
{
    const double d = (double)count;
    const double each = points[0].p + (d - 1) * points[0].q;
    const double w = fmax(1, (double)info->param[HSY_PARAM_SUBSET]);
    double total = 0, floors = 0;

    for (size_t i = 0; i < count; i++) {
        total += points[i].support;
        floors += points[i].residual_variance;
    }
    if (info->weights > 0)
        return plausible_sum_bits(total, &points[0], d);
    if (floors == 0 && fabs(each - w) <= 1e-9 * w)
        return total == w * points[0].n ? 1 : 0; /* w values a report, always */
    return plausible_sum_sets(points, count);
}

/* Bins of a histogram beside what is expected in them. */
struct plausible_bins {
    double seen, expected; /* of the bin being filled */
    double last_seen, last_expected;
    double statistic, inverse; /* G, and the sum of 1 / expected */
    double bins;
    double least; /* of the upper tails of single places */
};

static void plausible_bins_close(struct plausible_bins *b)
{
    const double seen = b->last_seen, want = b->last_expected;

    if (want == 0)
        return;
    b->statistic +=
        seen == 0
            ? 2 * want
            : 2 * seen * hsy_special_rest((want - seen) / seen, want / seen);
    b->inverse += 1 / want;
    b->bins++;
}

/* A bin that is full enough stays open until the next one is. */
static void plausible_bins_add(struct plausible_bins *b, double seen,
                               double expected)
{
    b->seen += seen;
    b->expected += expected;
    if (b->expected < PLAUSIBLE_LEAST)
        return;
    plausible_bins_close(b);
    b->last_seen = b->seen;
    b->last_expected = b->expected;
    b->seen = b->expected = 0;
}

/* A place that holds more than it should: liars who all fill up to one number
 * of ones are many there and nowhere else. */
static void plausible_bins_single(struct plausible_bins *b, double seen,
                                  double n, double chance)
{
    if (seen - n * chance > 3 * sqrt(n * chance))
        b->least = fmin(b->least, hsy_special_binomial(seen, n, chance, true));
}

/* The likelihood-ratio statistic with Williams' correction: unlike Pearson's
 * it keeps the chi-square tail far out. */
static double plausible_bins_p(struct plausible_bins *b, double n)
{
    double williams;

    b->last_seen += b->seen;
    b->last_expected += b->expected;
    plausible_bins_close(b);
    if (b->bins < 2)
        return 1;
    williams = 1 + (n * b->inverse - 1) / (6 * n * (b->bins - 1));
    return hsy_chi2_upper(b->statistic / williams, b->bins - 1);
}

/* The ones of a report are Bin(d-1, q) + Bernoulli(p), whatever its truth. */
static double plausible_weights(const hsy_tally *t, const hsy_scheme_info *info)
{
    const double times = 1 + t->kept, d1 = (double)info->d - 1;
    const double n = (double)hsy_tally_reports(t) / times;
    struct plausible_bins bins = {.least = 1};
    double before = 0, total = 0;

    for (size_t w = 0; w < t->nweights; w++) {
        const double others =
            (double)w <= d1
                ? exp(hsy_special_binomial_log((double)w, d1, info->q))
                : 0;
        const double chance = (1 - info->p) * others + info->p * before;

        plausible_bins_add(&bins, (double)t->weights[w] / times, n * chance);
        plausible_bins_single(&bins, (double)t->weights[w] / times, n, chance);
        total += (double)t->weights[w];
        before = others;
    }
    if (total != (double)hsy_tally_reports(t))
        return 0;
    return fmin(1, 2 * fmin(plausible_bins_p(&bins, n),
                            (double)t->nweights * bins.least));
}

/* The least over the parts of the scheme that have weights. */
static double plausible_parts(const hsy_tally *t, const hsy_scheme *s)
{
    double least = 1;

    for (size_t i = 0; i < hsy_scheme_parts(s); i++) {
        const hsy_scheme *part = hsy_scheme_part(s, i);
        hsy_tally own;
        hsy_scheme_info info;

        hsy_tally_part(&own, t, s, i);
        hsy_scheme_describe(part, &info);
        if (own.nweights > 0 && hsy_tally_reports(&own) > 0)
            least = fmin(least, plausible_weights(&own, &info));
    }
    return least;
}

static bool plausible_usable(const hsy_evidence *points, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (hsy_evidence_check(&points[i], NULL) != HSY_OK ||
            !hsy_evidence_binary(&points[i]))
            return false;
    return count > 0;
}

void hsy_plausible(const hsy_scheme *s, hsy_plausibility *out,
                   const hsy_tally *t, const hsy_evidence *points, size_t count,
                   bool complete)
{
    const bool usable = plausible_usable(points, count);
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    *out = (hsy_plausibility){.support_p = 1, .sum_p = 1};
    if (info.central && count > 0)
        hsy_releases_plausible(out, points, count, complete);
    else if (!plausible_impossible(out, points, count) && usable)
        plausible_support(out, points, count);
    if (usable && complete && count >= 2)
        out->sum_p = plausible_sum(&info, points, count);
    out->weights_p = plausible_parts(t, s);
    out->seeds_p = hsy_detect_seeds(t, s);
    out->implausible = fmin(out->support_p, out->sum_p) < PLAUSIBLE_ALARM ||
                       fmin(out->weights_p, out->seeds_p) < PLAUSIBLE_ALARM;
}
