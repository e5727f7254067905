/* draw.h - blocks of 64-bit words from a random source, the same everywhere. */
#ifndef LIB_BITS_DRAW_H
#define LIB_BITS_DRAW_H

#include "hearsay.h"
#include "lib/bits/bytes.h"

/* n words in one draw; the source's bytes are little-endian words. */
static inline hsy_status draw_words(uint64_t *words, size_t n, hsy_rng *rng)
{
    hsy_status st = rng->fill(rng->ctx, words, n * sizeof *words);

    if (st == HSY_OK && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        for (size_t i = 0; i < n; i++)
            words[i] = bytes_get64((const uint8_t *)&words[i]);
    return st;
}

/* A number of `bits` <= 32 bits that is published: of a hash, of a set. */
static inline hsy_status draw_public(uint32_t *x, uint32_t bits, hsy_rng *rng)
{
    uint8_t seed[4] = {0};
    hsy_status st = rng->fill(rng->ctx, seed, sizeof seed);

    *x = (uint32_t)(bytes_get32(seed) & (((uint64_t)1 << bits) - 1));
    return st;
}

#endif
