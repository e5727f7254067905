/*
 * metrics.c - how good estimates are where the truth is known (theory 5.3).
 */
#include "hearsay.h"
#include "lib/core/fail.h"

#include <math.h>

void hsy_metrics_errors(hsy_errors *out, const double *estimates,
                        const double *truths, size_t count)
{
    double squares = 0, sum = 0, max = 0;

    for (size_t i = 0; i < count; i++) {
        const double error = fabs(estimates[i] - truths[i]);

        squares += error * error;
        sum += error;
        max = fmax(max, error);
    }
    *out = (hsy_errors){squares / (double)count, sum / (double)count, max};
}

double hsy_metrics_coverage(const hsy_estimate *estimates, const double *truths,
                            size_t count)
{
    size_t held = 0;

    for (size_t i = 0; i < count; i++)
        held += estimates[i].low <= truths[i] && truths[i] <= estimates[i].high;
    return (double)held / (double)count;
}

double hsy_metrics_variation(const double *shares, const double *truths,
                             size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += fabs(shares[i] - truths[i]);
    return sum / 2;
}

double hsy_metrics_divergence(const double *shares, const double *truths,
                              size_t count, double floor)
{
    double all = 0, sum = 0;

    for (size_t i = 0; i < count; i++)
        all += fmax(shares[i], floor);
    for (size_t i = 0; i < count; i++)
        if (truths[i] > 0)
            sum += truths[i] * log(truths[i] * all / fmax(shares[i], floor));
    return fmax(sum, 0); /* rounding alone makes it negative */
}

/* ---- The largest --------------------------------------------------------- */

/* Whether place a ranks before place b. */
static bool metrics_before(const double *x, uint32_t a, uint32_t b)
{
    return x[a] > x[b] || (x[a] == x[b] && a < b);
}

/* Let the root of a heap of n places sink: the last in rank is on top. */
static void metrics_sink(uint32_t *heap, size_t n, const double *x)
{
    size_t at = 0, child;

    while ((child = 2 * at + 1) < n) {
        const uint32_t place = heap[at];

        if (child + 1 < n && metrics_before(x, heap[child], heap[child + 1]))
            child++;
        if (!metrics_before(x, place, heap[child]))
            return;
        heap[at] = heap[child];
        heap[child] = place;
        at = child;
    }
}

static void metrics_rise(uint32_t *heap, size_t at, const double *x)
{
    while (at > 0 && metrics_before(x, heap[(at - 1) / 2], heap[at])) {
        const uint32_t place = heap[at];

        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = place;
        at = (at - 1) / 2;
    }
}

/* A heap of the k best so far; then its tops from the last rank up. */
void hsy_metrics_largest(uint32_t *places, size_t k, const double *x,
                         size_t count)
{
    for (size_t i = 0; i < k; i++) {
        places[i] = (uint32_t)i;
        metrics_rise(places, i, x);
    }
    for (size_t i = k; k > 0 && i < count; i++)
        if (metrics_before(x, (uint32_t)i, places[0])) {
            places[0] = (uint32_t)i;
            metrics_sink(places, k, x);
        }
    for (size_t left = k; left > 1; left--) {
        const uint32_t last = places[0];

        places[0] = places[left - 1];
        places[left - 1] = last;
        metrics_sink(places, left - 1, x);
    }
}

/* ---- A returned list ----------------------------------------------------- */

/* The gain of rank r at a position, both from 1. */
static double metrics_gain(size_t k, size_t rank, size_t position)
{
    return (double)(k - rank + 1) / log2((double)position + 1);
}

hsy_status hsy_metrics_top(hsy_topk_score *out, const uint32_t *ranks,
                           size_t returned, size_t k, hsy_error *err)
{
    const double all = (double)k * ((double)k + 1) / 2;
    double weight = 0, gain = 0, ideal = 0;
    size_t hits = 0;

    if (k == 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_K, "must be at least 1");
    for (size_t i = 0; i < returned; i++) {
        if (ranks[i] > k)
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_RANKS,
                               "a rank is from 0 to k", HSY_UNIT_RANK, i + 1);
        if (ranks[i] == 0)
            continue;
        hits++;
        weight += (double)(k - ranks[i] + 1);
        gain += metrics_gain(k, ranks[i], i + 1);
    }
    if (hits > k)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_RANKS,
                        "a rank comes twice");
    for (size_t r = 1; r <= k; r++)
        ideal += metrics_gain(k, r, r);
    *out = (hsy_topk_score){.hits = hits,
                            .extra = returned - hits,
                            .missed = k - hits,
                            .recall = (double)hits / (double)k,
                            .f1 = 2 * (double)hits / (double)(returned + k),
                            .ncr = weight / all,
                            .ndcg = gain / ideal};
    if (returned > 0)
        out->precision = (double)hits / (double)returned;
    return HSY_OK;
}
