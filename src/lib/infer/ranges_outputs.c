/*
 * ranges_outputs.c - the variance of a sum of bins where a tally counts
 * outputs.
 *
 * A report of hr or pgr supports a set of values, and which sets there are is
 * fixed: supports of two bins are not independent, and the variance of a sum
 * depends on how its bins lie in these sets. But the estimate is a mean over
 * reports of what each output says by itself, so that its variance is that of
 * these numbers among the reports, over n: no law is needed.
 */
#include "lib/infer/ranges.h"

#include <math.h>
#include <string.h>

#define OUTPUTS_BINS 1024u
#define OUTPUTS_MOST 4096u
#define OUTPUTS_NEAR                                                           \
    1e-7 /* an estimate that is such a mean, but for rounding */

/* grr has an output a value, and a law of its own. */
bool hsy_ranges_outputs_has(const hsy_scheme *s)
{
    return s->mech->counting->tally == hsy_outputs_tally &&
           s->mech->estimate->points != NULL && s->kind == HSY_KIND_BINS &&
           s->strata == 1 && s->weights == 0 && s->cells > s->d &&
           s->d <= OUTPUTS_BINS && s->cells <= OUTPUTS_MOST;
}

static size_t outputs_round(size_t size)
{
    return (size + 15) / 16 * 16;
}

size_t hsy_ranges_outputs_scratch(const hsy_scheme *s)
{
    return 2 * outputs_round(hsy_tree_scratch(s)) +
           outputs_round(s->cells * sizeof(double)) +
           outputs_round(((size_t)s->d + 1) * sizeof(double)) +
           outputs_round(hsy_tally_words(s) * sizeof(int64_t));
}

static void *outputs_take(uint8_t **room, size_t size)
{
    void *at = *room;

    *room += outputs_round(size);
    return at;
}

/* The bins if all reports were output y. */
static const double *outputs_says(struct ranges_outputs *o, size_t y)
{
    const struct tree_level *leaves;

    o->one.cells[y] = 1;
    hsy_tree_open(&o->probe, o->s, &o->one, o->room);
    o->one.cells[y] = 0;
    leaves = &o->probe.level[o->probe.levels - 1];
    return o->probe.f + leaves->first;
}

/* Second moments of the shares below each edge; whether their means are the
 * estimate. */
static bool outputs_moments(struct ranges_outputs *o, const double *bins)
{
    const size_t d = o->s->d;
    double off = 0, sum = 0;

    memset(o->second, 0, (d + 1) * sizeof *o->second);
    memset(o->mean, 0, d * sizeof *o->mean);
    for (size_t y = 0; y < o->s->cells; y++) {
        const double *says;
        double below = 0;

        if (!(o->share[y] > 0))
            continue;
        says = outputs_says(o, y);
        for (size_t i = 0; i < d; i++) {
            o->mean[i] += o->share[y] * says[i];
            below += says[i];
            o->second[i + 1] += o->share[y] * below * below;
        }
    }
    for (size_t i = 0; i < d; i++) {
        off = fmax(off, fabs(o->mean[i] - bins[i]));
        sum += bins[i];
        o->second[i + 1] = fmax(o->second[i + 1] - sum * sum, 0) / o->tree.n;
    }
    o->second[d] = 0;
    return off < OUTPUTS_NEAR;
}

void hsy_ranges_outputs_open(struct ranges_outputs *o, double *bins,
                             const hsy_scheme *s, const hsy_tally *t,
                             void *scratch)
{
    uint8_t *room = scratch;
    void *tree = outputs_take(&room, hsy_tree_scratch(s));
    const double *leaves;

    *o = (struct ranges_outputs){.s = s};
    o->room = outputs_take(&room, hsy_tree_scratch(s));
    o->share = outputs_take(&room, s->cells * sizeof(double));
    o->second = outputs_take(&room, ((size_t)s->d + 1) * sizeof(double));
    hsy_tally_init(&o->one, s, outputs_take(&room, hsy_tally_words(s) * 8));
    o->one.strata[0] = 1;
    o->mean = bins; /* until the estimate is put there */
    hsy_tree_open(&o->tree, s, t, tree);
    for (size_t y = 0; y < s->cells; y++)
        o->share[y] = (double)t->cells[y] / o->tree.n;
    leaves = o->tree.f + o->tree.level[o->tree.levels - 1].first;
    o->linear = outputs_moments(o, leaves);
    memcpy(bins, leaves, s->d * sizeof *bins);
}

double hsy_ranges_outputs_variance(const void *law, size_t from, size_t to)
{
    /* The room for one output at a time is written to. */
    struct ranges_outputs o = *(const struct ranges_outputs *)law;
    const size_t d = o.s->d;
    double first = 0, second = 0;

    if (!o.linear)
        return hsy_tree_variance(&o.tree, from, to);
    if (from == 0 || to == d)
        return o.second[from == 0 ? to : from];
    for (size_t y = 0; y < o.s->cells; y++) {
        const double *says;
        double sum = 0;

        if (!(o.share[y] > 0))
            continue;
        says = outputs_says(&o, y);
        for (size_t i = from; i < to; i++)
            sum += says[i];
        first += o.share[y] * sum;
        second += o.share[y] * sum * sum;
    }
    return fmax(second - first * first, 0) / o.tree.n;
}
