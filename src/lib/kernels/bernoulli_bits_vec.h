/* bernoulli_bits_vec.h - many Bernoulli bits at once in vectors; see
 * bernoulli_bits.c. A step is the majority of r, w and the digit. */
#include "lib/kernels/simd.h"

/* `ways` vectors of lanes: four are a report of 1024 bits, and hide the
 * latency. */
SIMD_INLINE void K(bernoulli_some)(uint64_t *lanes, const uint64_t *planes,
                                   size_t words, unsigned digits,
                                   uint64_t threshold, size_t ways)
{
    simd64 r[4] = {{0}, {0}, {0}, {0}};

    for (unsigned j = 64 - digits; j < 64; j++, planes += words) {
        simd64 digit = (simd64){0} - (threshold >> j & 1);

        SIMD_UNROLL
        for (size_t k = 0; k < ways; k++)
            r[k] = simd_most3(r[k], simd_load(planes + k * SIMD_WORDS), digit);
    }
    SIMD_UNROLL
    for (size_t k = 0; k < ways; k++)
        simd_store(lanes + k * SIMD_WORDS, r[k]);
}

/* The last words, fewer than a vector. */
SIMD_INLINE void K(bernoulli_rest)(uint64_t *lanes, const uint64_t *planes,
                                   size_t words, size_t left, unsigned digits,
                                   uint64_t threshold)
{
    simd64 r = {0};

    for (unsigned j = 64 - digits; j < 64; j++, planes += words)
        r = simd_most3(r, simd_load_some(planes, 2 * left),
                       (simd64){0} - (threshold >> j & 1));
    simd_store_some(lanes, r, 2 * left);
}

void K(hsy_bernoulli_bits)(uint64_t *lanes, const uint64_t *planes,
                           size_t words, unsigned digits, uint64_t threshold)
{
    size_t i = 0;

    for (; words - i >= 4 * SIMD_WORDS; i += 4 * SIMD_WORDS)
        K(bernoulli_some)(lanes + i, planes + i, words, digits, threshold, 4);
    for (; words - i >= SIMD_WORDS; i += SIMD_WORDS)
        K(bernoulli_some)(lanes + i, planes + i, words, digits, threshold, 1);
    if (i < words)
        K(bernoulli_rest)
    (lanes + i, planes + i, words, words - i, digits, threshold);
}

/* ---- Early exit ---------------------------------------------------------- */

/* The words from number i on, a vector of them or what is left. */
SIMD_INLINE void K(bernoulli_head_at)(uint64_t *lanes, uint64_t *open,
                                      const uint64_t *planes, size_t words,
                                      uint64_t threshold, size_t i)
{
    size_t left = words - i;
    simd64 below = {0}, equal = ~below;

    for (unsigned j = 0; j < HSY_SPARSE_DIGITS; j++) {
        const uint64_t *at = planes + j * words + i;
        simd64 w =
            left >= SIMD_WORDS ? simd_load(at) : simd_load_some(at, 2 * left);
        simd64 digit = (simd64){0} - (threshold >> (63 - j) & 1);

        below |= equal & ~w & digit;
        equal &= ~(w ^ digit);
    }
    if (left >= SIMD_WORDS) {
        simd_store(lanes + i, below);
        simd_store(open + i, equal);
    } else {
        simd_store_some(lanes + i, below, 2 * left);
        simd_store_some(open + i, equal, 2 * left);
    }
}

static void K(bernoulli_head)(uint64_t *lanes, uint64_t *open,
                              const uint64_t *planes, size_t words,
                              uint64_t threshold)
{
    for (size_t i = 0; i < words; i += SIMD_WORDS)
        K(bernoulli_head_at)(lanes, open, planes, words, threshold, i);
}

void K(hsy_sparse)(uint64_t *lanes, size_t words, uint64_t threshold,
                   hsy_stream *st)
{
    hsy_sparse_run(lanes, words, threshold, st, K(bernoulli_head));
}
