/*
 * haar_points.c - from signed sums to coefficients, bins, and variances.
 *
 * A report of level l and row r gives t(j) = +-H[r][j] / (p - q), whose mean is
 * the truth's entry at j. As the rows are orthogonal, sum w(j) t(j) has the
 * mean square (sum of w(j)^2) / (p - q)^2, whatever the truth. Bins from the
 * root down: left = (mass + c) / 2, right = (mass - c) / 2, and a half that
 * lies beyond the last bin has no mass, so that the other has all of it.
 */
#include "lib/family/tree.h"
#include "lib/mech/haar.h"

size_t hsy_haar_size(const hsy_scheme *s)
{
    return s->cells;
}

/* Levels equally often answered, by n reports in all, without data. */
static void haar_points_design(struct haar *haar, const hsy_scheme *s, double n)
{
    double gap = (double)(s->bits.own - s->bits.other) /
                 (double)s->total; /* p - q, q = 1 - p */

    *haar = (struct haar){
        .d = s->d, .levels = s->strata, .n = n, .power = 1 / (gap * gap)};
    for (size_t l = 0; l < haar->levels; l++)
        haar->count[l] = n / (double)haar->levels;
}

void hsy_haar_transform(double *x, size_t size)
{
    for (size_t half = 1; half < size; half *= 2)
        for (size_t block = 0; block < size; block += 2 * half)
            for (size_t i = block; i < block + half; i++) {
                double a = x[i], b = x[i + half];

                x[i] = a + b;
                x[i + half] = a - b;
            }
}

void hsy_haar_open(struct haar *haar, const hsy_scheme *s, const hsy_tally *t,
                   double *room)
{
    double gap = (double)(s->bits.own - s->bits.other) / (double)s->total;

    haar_points_design(haar, s, (double)hsy_tally_reports(t));
    haar->c = room;
    for (size_t l = 0; l < haar->levels; l++) {
        size_t size = (size_t)1 << l;
        double *c = room + size - 1;
        double n = haar->count[l] = (double)t->strata[l];

        for (size_t j = 0; j < size; j++)
            c[j] = n > 0 ? (double)t->cells[size - 1 + j] / (n * gap) : 0;
        hsy_haar_transform(c, size);
    }
}

/* Leaves below a half of a node of level l. */
static size_t haar_points_half(const struct haar *haar, size_t l)
{
    return (size_t)1 << (haar->levels - l - 1);
}

/* The shares of the nodes of one level after the other, within bins: the share
 * of a node stands at its first bin. */
void hsy_haar_bins(const struct haar *haar, double *bins)
{
    bins[0] = 1;
    for (size_t l = 0; l < haar->levels; l++) {
        const double *c = haar->c + ((size_t)1 << l) - 1;
        size_t half = haar_points_half(haar, l);

        for (size_t at = 0, j = 0; at < haar->d; at += 2 * half, j++) {
            double mass = bins[at];

            if (at + half >= haar->d)
                continue;
            bins[at] = (mass + c[j]) / 2;
            bins[at + half] = (mass - c[j]) / 2;
        }
    }
}

/* Sums of w(j)^2 and w(j) c(j) over a level's nodes. */
struct haar_sums {
    double ww, cw, most;
};

struct haar_walk {
    const struct haar *haar;
    size_t from, to;
    struct haar_sums sums[HAAR_LEVELS];
};

/*
 * beta of node j of level l, its coefficient's weight noted: 1 if all its bins
 * are inside, 0 if none is, else the mean of its halves, and the weight is half
 * their difference.
 */
static double haar_points_beta(struct haar_walk *walk, size_t l, size_t j)
{
    const struct haar *haar = walk->haar;
    size_t half = haar->levels == l ? 0 : haar_points_half(haar, l);
    size_t first = j << (haar->levels - l), end = first + (half ? 2 * half : 1);
    double left, right, w, size;

    end = end < haar->d ? end : haar->d;
    if (first >= walk->from && end <= walk->to)
        return 1;
    if (first >= walk->to || end <= walk->from)
        return 0;
    left = haar_points_beta(walk, l + 1, 2 * j);
    if (first + half >= haar->d)
        return left;
    right = haar_points_beta(walk, l + 1, 2 * j + 1);
    w = (left - right) / 2;
    size = w < 0 ? -w : w;
    walk->sums[l].ww += w * w;
    if (haar->c != NULL)
        walk->sums[l].cw += w * haar->c[((size_t)1 << l) - 1 + j];
    if (size > walk->sums[l].most)
        walk->sums[l].most = size;
    return (left + right) / 2;
}

/*
 * The variance of a level's mean: at most `all` over its reports, whatever the
 * coefficients are. What those that were estimated take off is estimated too:
 * one report is spent on the mean, and two more since an error divided by what
 * was estimated of it has the tails of Student's t, whose variance of k - 1
 * degrees of freedom is (k - 1) / (k - 3).
 */
static double haar_points_level(double all, double mean, double count)
{
    const double most = all / count;
    const double less = all > mean ? all - mean : 0;

    if (count <= 3 || less >= most * (count - 3))
        return most;
    return less / (count - 3);
}

/* A level nobody answered counts as 0: off by at most the largest weight.
 * known: the estimated coefficients are what the mean of a report is. */
static double haar_points_sum(const struct haar_walk *walk, bool known)
{
    const struct haar *haar = walk->haar;
    double variance = 0;

    for (size_t l = 0; l < haar->levels; l++) {
        const struct haar_sums *s = &walk->sums[l];
        const double mean = known ? s->cw * s->cw : 0;

        variance += haar->count[l] > 0 ? haar_points_level(haar->power * s->ww,
                                                           mean, haar->count[l])
                                       : s->most * s->most;
    }
    return variance;
}

double hsy_haar_variance(const struct haar *haar, size_t from, size_t to)
{
    struct haar_walk walk = {.haar = haar, .from = from, .to = to};

    if (from >= to)
        return 0;
    (void)haar_points_beta(&walk, 0, 0);
    return haar_points_sum(&walk, true);
}

/* A bin has one coefficient of each level, so that a report of the level adds
 * +-w / (p - q) / n, and the sum has Hoeffding's tails of that variance. */
static hsy_few haar_points_few(const struct haar *haar, size_t bin)
{
    struct haar_walk walk = {.haar = haar, .from = bin, .to = bin + 1};
    hsy_few few = {.n = haar->n, .rate = 0.5};

    (void)haar_points_beta(&walk, 0, 0);
    few.bound = haar_points_sum(&walk, false);
    for (size_t l = 0; l < haar->levels; l++)
        few.n = haar->count[l] < few.n ? haar->count[l] : few.n;
    return few;
}

size_t hsy_haar_points_scratch(const hsy_scheme *s, size_t count)
{
    (void)count;
    return (hsy_haar_size(s) + s->d) * sizeof(double);
}

void hsy_haar_points(const hsy_scheme *s, hsy_evidence *points,
                     const hsy_tally *t, const uint64_t *codes, size_t count,
                     void *scratch)
{
    double *bins = (double *)scratch + hsy_haar_size(s);
    struct haar haar;

    hsy_haar_open(&haar, s, t, scratch);
    hsy_haar_bins(&haar, bins);
    for (size_t i = 0; i < count; i++) {
        size_t bin = codes != NULL ? (size_t)codes[i] : i;

        points[i] = hsy_tree_point(
            bins[bin], hsy_haar_variance(&haar, bin, bin + 1), haar.n);
        points[i].few = haar_points_few(&haar, bin);
    }
}

/* Of the first bin, nobody in it, levels equally often answered. */
void hsy_haar_points_variance(const hsy_scheme *s, double v[2])
{
    struct haar haar;

    haar_points_design(&haar, s, 1);
    v[0] = v[1] = hsy_haar_variance(&haar, 0, 1);
}
