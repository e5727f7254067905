/*
 * wht.c - the Walsh-Hadamard transform: the textbook loop, the order in which
 * the fast ones walk memory, and the one for any processor.
 */
#include "lib/kernels/wht.h"

#include "lib/kernels/internal.h"

#include <string.h>

#define WHT_INNER ((size_t)1 << 12) /* cells of the inner cache: 32 KiB */
#define WHT_OUTER ((size_t)1 << 16) /* of the outer one: 512 KiB */

void hsy_wht_plain(int64_t *cells, size_t n)
{
    uint64_t *x = (uint64_t *)cells;

    for (size_t h = 1; h < n; h *= 2)
        for (size_t i = 0; i < n; i++)
            if ((i & h) == 0) {
                uint64_t a = x[i], b = x[i + h];

                x[i] = a + b;
                x[i + h] = a - b;
            }
}

hsy_status hsy_hadamard_transform(int64_t *cells, size_t n, hsy_cpu level)
{
    if (n == 0 || (n & (n - 1)) != 0)
        return HSY_E_RANGE;
    if (!hsy_cpu_has(level))
        return HSY_E_UNKNOWN;
    hsy_kernels_at(level)->wht(cells, n);
    return HSY_OK;
}

/* The levels from distance h up to n, three at a time. */
static void wht_climb(const struct wht_level *level, uint64_t *cells, size_t n,
                      size_t h)
{
    while (h < n) {
        size_t some = n / h >= 8 ? 3 : n / h >= 4 ? 2 : 1;

        level->step[some - 1](cells, n, h);
        h <<= some;
    }
}

/* The whole transform of n cells, by parts of at most `part`. */
static void wht_parts(const struct wht_level *level, uint64_t *cells, size_t n,
                      size_t part)
{
    size_t within = part == WHT_OUTER ? WHT_INNER : level->base;

    if (part == level->base) {
        level->start(cells, n);
        return;
    }
    if (n < part)
        part = n;
    for (size_t at = 0; at < n; at += part) {
        wht_parts(level, cells + at, part, within);
        wht_climb(level, cells + at, part, within);
    }
}

void hsy_wht_with(const struct wht_level *level, int64_t *cells, size_t n)
{
    uint64_t *x = (uint64_t *)cells;

    if (n < level->base) {
        hsy_wht_plain(cells, n);
        return;
    }
    wht_parts(level, x, n, WHT_OUTER);
    wht_climb(level, x, n, WHT_OUTER);
}

typedef uint64_t wht_vec __attribute__((vector_size(16)));

/* Two cells a vector: sum and difference of its lanes, then of the vectors. */
static void wht_start(uint64_t *cells, size_t n)
{
    for (size_t at = 0; at < n; at += 16) {
        wht_vec v[8];

        for (size_t k = 0; k < 8; k++) {
            uint64_t a = cells[at + 2 * k], b = cells[at + 2 * k + 1];

            v[k] = (wht_vec){a + b, a - b};
        }
        HSY_WHT_VECTORS(wht_vec, v, 3);
        memcpy(cells + at, v, sizeof v);
    }
}

HSY_WHT_STEP(wht_step2, , wht_vec, 1)
HSY_WHT_STEP(wht_step4, , wht_vec, 2)
HSY_WHT_STEP(wht_step8, , wht_vec, 3)

void hsy_wht_portable(int64_t *cells, size_t n)
{
    static const struct wht_level level = {
        .base = 16,
        .start = wht_start,
        .step = {wht_step2, wht_step4, wht_step8},
    };

    hsy_wht_with(&level, cells, n);
}

#undef WHT_INNER
#undef WHT_OUTER
