/* rows_with_popcount.c - whether rows have the ones they should, for any
 * processor. */
#include "lib/bits/bytes.h"
#include "lib/kernels/internal.h"

size_t hsy_rows_with_popcount_plain(const uint8_t *rows, size_t n, size_t bytes,
                                    uint64_t ones)
{
    for (size_t r = 0; r < n; r++, rows += bytes) {
        uint64_t sum = 0;

        for (size_t i = 0; i < 8 * bytes; i++)
            sum += rows[i / 8] >> i % 8 & 1;
        if (sum != ones)
            return r;
    }
    return n;
}

/* The ones in each byte of a word. */
static inline uint64_t with_popcount_bytes(uint64_t x)
{
    const uint64_t m1 = 0x5555555555555555, m2 = 0x3333333333333333;
    const uint64_t m4 = 0x0f0f0f0f0f0f0f0f;

    x -= x >> 1 & m1;
    x = (x & m2) + (x >> 2 & m2);
    return (x + (x >> 4)) & m4;
}

/* The sum of eight bytes, each at most 248, through sums of two. */
static inline uint64_t with_popcount_across(uint64_t x)
{
    const uint64_t m8 = 0x00ff00ff00ff00ff;

    return ((x & m8) + (x >> 8 & m8)) * 0x0001000100010001 >> 48;
}

static uint64_t with_popcount_row(const uint8_t *row, size_t bytes)
{
    uint64_t sum = 0, last = 0;
    size_t at = 0;

    while (at + 8 <= bytes) {
        uint64_t some = 0;

        /* A byte has room for 31 words of eight. */
        for (int i = 0; i < 31 && at + 8 <= bytes; i++, at += 8)
            some += with_popcount_bytes(bytes_get64(row + at));
        sum += with_popcount_across(some);
    }
    for (; at < bytes; at++)
        last = last << 8 | row[at];
    return sum + with_popcount_across(with_popcount_bytes(last));
}

size_t hsy_rows_with_popcount_portable(const uint8_t *rows, size_t n,
                                       size_t bytes, uint64_t ones)
{
    size_t r = 0;

    while (r < n && with_popcount_row(rows + r * bytes, bytes) == ones)
        r++;
    return r;
}
