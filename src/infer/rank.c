/* rank.c - how well a list of strings meets the true top k (MECHANISMS 5.3). */
#include "hearsay.h"

#include <math.h>

/* Where a code stands in a list, count if it does not. */
static size_t rank_place(const uint64_t *list, size_t count, uint64_t code)
{
    size_t i = 0;

    while (i < count && list[i] != code)
        i++;
    return i;
}

void hsy_rank_metrics(hsy_rank *out, const uint64_t *truth, size_t k,
                      const uint64_t *found, size_t count)
{
    double hits = 0, returned = 0, gain = 0, dcg = 0, ideal = 0;

    for (size_t i = 0; i < count; i++) {
        const size_t place = rank_place(truth, k, found[i]);

        if (rank_place(found, i, found[i]) < i)
            continue;
        returned++;
        if (place == k)
            continue;
        hits++;
        gain += (double)(k - place);
        dcg += (double)(k - place) / log2((double)i + 2);
    }
    for (size_t i = 0; i < k; i++)
        ideal += (double)(k - i) / log2((double)i + 2);
    *out = (hsy_rank){
        .precision = returned > 0 ? hits / returned : 0,
        .recall = hits / (double)k,
        .f1 = 2 * hits / (returned + (double)k),
        .ncr = gain / ((double)k * ((double)k + 1) / 2),
        .ndcg = dcg / ideal,
    };
}
