/* rows_with_popcount_x86.c - whether rows have the ones they should, with
 * popcnt. */
#include "lib/kernels/internal.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

HSY_TARGET_AVX2 static inline uint64_t with_popcount_x86_ones(const uint8_t *p,
                                                              size_t bytes)
{
    uint64_t x = 0;

    memcpy(&x, p, bytes);
    return (uint64_t)_mm_popcnt_u64(x);
}

/* Four sums, so that none waits for another. */
HSY_TARGET_AVX2 static inline uint64_t with_popcount_x86_row(const uint8_t *row,
                                                             size_t bytes)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    size_t at = 0;

    for (; at + 32 <= bytes; at += 32) {
        a += with_popcount_x86_ones(row + at, 8);
        b += with_popcount_x86_ones(row + at + 8, 8);
        c += with_popcount_x86_ones(row + at + 16, 8);
        d += with_popcount_x86_ones(row + at + 24, 8);
    }
    for (; at + 8 <= bytes; at += 8)
        a += with_popcount_x86_ones(row + at, 8);
    for (; at < bytes; at++)
        b += with_popcount_x86_ones(row + at, 1);
    return a + b + c + d;
}

HSY_TARGET_AVX2 size_t hsy_rows_with_popcount_avx2(const uint8_t *rows,
                                                   size_t n, size_t bytes,
                                                   uint64_t ones)
{
    size_t r = 0;

    while (r < n && with_popcount_x86_row(rows + r * bytes, bytes) == ones)
        r++;
    return r;
}

#endif
