/*
 * report.h - reports as one integer, little-endian.
 *
 * A report of at most 64 bits that stands for one number takes the next such
 * size in memory, so that bulk loops load and store whole words; a stream packs
 * it to its bits (pack.c). Reading and writing take up to eight bytes of any
 * number.
 */
#ifndef LIB_SCHEME_REPORT_H
#define LIB_SCHEME_REPORT_H

#include "lib/bits/bytes.h"
#include <stddef.h>

/* Bits of the numbers 0 .. count-1; at least 1. */
static inline uint32_t report_bits_of(uint64_t count)
{
    uint32_t bits = 1;

    while (bits < 64 && (count - 1) >> bits != 0)
        bits++;
    return bits;
}

static inline size_t report_bytes_of(uint32_t bits)
{
    return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

static inline uint64_t report_get(const uint8_t *p, size_t bytes)
{
    uint64_t x = 0;

    switch (bytes) {
    case 1:
        return p[0];
    case 2:
        return (uint64_t)p[0] | (uint64_t)p[1] << 8;
    case 4:
        return bytes_get32(p);
    case 8:
        return bytes_get64(p);
    }
    for (size_t i = 0; i < bytes; i++)
        x |= (uint64_t)p[i] << 8 * i;
    return x;
}

static inline void report_put(uint8_t *p, size_t bytes, uint64_t x)
{
    switch (bytes) {
    case 1:
        p[0] = (uint8_t)x;
        break;
    case 2:
        p[0] = (uint8_t)x;
        p[1] = (uint8_t)(x >> 8);
        break;
    case 4:
        bytes_put32(p, (uint32_t)x);
        break;
    case 8:
        bytes_put64(p, x);
        break;
    default:
        for (size_t i = 0; i < bytes; i++)
            p[i] = (uint8_t)(x >> 8 * i);
        break;
    }
}

/* n reports from n values; the size is looked at once. */
static inline void report_put_all(uint8_t *reports, size_t bytes,
                                  const uint32_t *values, size_t n)
{
    if (bytes == 1)
        for (size_t i = 0; i < n; i++)
            report_put(reports + i, 1, values[i]);
    else if (bytes == 2)
        for (size_t i = 0; i < n; i++)
            report_put(reports + 2 * i, 2, values[i]);
    else
        for (size_t i = 0; i < n; i++)
            report_put(reports + i * bytes, bytes, values[i]);
}

#endif
