/*
 * wht.c - the Walsh-Hadamard transform: the textbook loop, and the order in
 * which the fast ones walk memory.
 */
#include "lib/kernels/wht.h"

#include "lib/kernels/internal.h"

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

#undef WHT_INNER
#undef WHT_OUTER
