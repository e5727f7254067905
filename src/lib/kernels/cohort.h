/*
 * cohort.h - the frame of the fast counts of reports by cohort.
 *
 * A byte for every bit of every cohort: a report adds its bits to the bytes of
 * its cohort, and when a cohort has had 255 reports its bytes are emptied into
 * the 64-bit cells. Where the bytes of all columns would not stay in the first
 * cache, the columns are counted in tiles, one pass over the reports for each.
 */
#ifndef LIB_KERNELS_COHORT_H
#define LIB_KERNELS_COHORT_H

#include "lib/bits/bytes.h"
#include "lib/kernels/kernels.h"

#include <string.h>

#define COHORT_ROOM 32768u /* bytes of counters */
#define COHORT_MOST (COHORT_ROOM / 64)

/* Up to eight bytes of a report of at least eight, from byte `at` on; what is
 * past its end is 0. */
static inline uint64_t cohort_word(const uint8_t *report, size_t stride,
                                   size_t at)
{
    if (stride - at >= 8)
        return bytes_get64(report + at);
    return bytes_get64(report + stride - 8) >> 8 * (8 - (stride - at));
}

/* A report of up to eight bytes, by loads that overlap. */
static inline uint64_t cohort_short(const uint8_t *report, size_t stride)
{
    size_t half = stride / 2, last = stride - 1;

    if (stride >= 4)
        return bytes_get32(report) | (uint64_t)bytes_get32(report + stride - 4)
                                         << 8 * (stride - 4);
    return report[0] | (uint64_t)report[half] << 8 * half |
           (uint64_t)report[last] << 8 * last;
}

/* All that stands above the k bits; it may be any number in a report that has
 * not been checked. A report of up to eight bytes has k < 64; a longer one has
 * at most three bytes from the last bits on. */
static inline uint64_t cohort_of(const uint8_t *report, size_t stride,
                                 uint32_t k)
{
    if (stride <= 8)
        return cohort_short(report, stride) >> k;
    return cohort_word(report, stride, k / 8) >> k % 8;
}

/* Add 64 bits of a report to as many bytes. */
typedef void cohort_add(uint8_t *counters, uint64_t bits);

/* One pass's columns. */
struct cohort_tile {
    uint32_t first, width; /* counted */
    uint32_t used;         /* of those, how many are bits at all */
};

static inline void cohort_empty(int64_t *cells, uint64_t *strata,
                                uint8_t *counters, uint8_t *seen,
                                const struct cohort_tile *t)
{
    for (uint32_t b = 0; b < t->used; b++)
        cells[t->first + b] += counters[b];
    memset(counters, 0, t->width);
    if (t->first == 0)
        *strata += *seen;
    *seen = 0;
}

/* Always inline, so that each level compiles it for its processor and `add`
 * goes into the loop. */
__attribute__((always_inline)) static inline void
cohort_pass(int64_t *cells, uint64_t *strata, const uint8_t *reports, size_t n,
            size_t stride, uint32_t k, uint32_t m, const struct cohort_tile *t,
            cohort_add *add)
{
    _Alignas(64) uint8_t counters[COHORT_ROOM];
    uint8_t seen[COHORT_MOST];

    memset(counters, 0, (size_t)m * t->width);
    memset(seen, 0, m);
    for (size_t i = 0; i < n; i++, reports += stride) {
        size_t c = (size_t)cohort_of(reports, stride, k);
        uint8_t *own = counters + c * t->width;

        if (stride <= 8)
            add(own, cohort_short(reports, stride));
        else
            for (uint32_t b = 0; b < t->width; b += 64)
                add(own + b, cohort_word(reports, stride, (t->first + b) / 8));
        if (++seen[c] == 255)
            cohort_empty(cells + c * k, strata + c, own, &seen[c], t);
    }
    for (size_t c = 0; c < m; c++)
        cohort_empty(cells + c * k, strata + c, counters + c * t->width,
                     &seen[c], t);
}

/* Few reports, or more cohorts than there is room for: bit by bit. */
void hsy_cohorts_plain(int64_t *cells, uint64_t *strata, const uint8_t *reports,
                       size_t n, size_t stride, uint32_t k, uint32_t m);

__attribute__((always_inline)) static inline void
cohort_count(int64_t *cells, uint64_t *strata, const uint8_t *reports, size_t n,
             size_t stride, uint32_t k, uint32_t m, cohort_add *add)
{
    uint32_t most = m <= COHORT_MOST ? COHORT_ROOM / m / 64 * 64 : 0;
    uint32_t columns = (k + 63) / 64 * 64;
    struct cohort_tile t = {0};

    if (most == 0 || n < (size_t)2 * m) {
        hsy_cohorts_plain(cells, strata, reports, n, stride, k, m);
        return;
    }
    for (; t.first < k; t.first += t.width) {
        t.width = columns - t.first < most ? columns - t.first : most;
        t.used = k - t.first < t.width ? k - t.first : t.width;
        cohort_pass(cells, strata, reports, n, stride, k, m, &t, add);
    }
}

#endif
