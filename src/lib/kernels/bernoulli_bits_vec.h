/* bernoulli_bits_vec.h - many Bernoulli bits at once in vectors; see
 * bernoulli_bits.c. A step is the majority of r, w and the digit. */
#include "lib/kernels/simd.h"

/* Where the vector of words from number i on begins: the last one ends with the
 * words, if they fill one, and has some that the one before has too. */
SIMD_INLINE size_t K(bernoulli_at)(size_t i, size_t words)
{
    return words - i < SIMD_WORDS && words > SIMD_WORDS ? words - SIMD_WORDS
                                                        : i;
}

/* `ways` vectors of lanes: four are a report of 1024 bits, and hide the
 * latency. Of one, perhaps only `some` words. */
SIMD_INLINE void K(bernoulli_some)(uint64_t *lanes, const uint64_t *planes,
                                   size_t words, unsigned digits,
                                   uint64_t threshold, size_t ways, size_t some)
{
    simd64 r[4] = {{0}, {0}, {0}, {0}};

    for (unsigned j = 64 - digits; j < 64; j++, planes += words) {
        simd64 digit = (simd64){0} - (threshold >> j & 1);

        SIMD_UNROLL
        for (size_t k = 0; k < ways; k++)
            r[k] = simd_most3(
                r[k], simd_load_some(planes + k * SIMD_WORDS, 2 * some), digit);
    }
    SIMD_UNROLL
    for (size_t k = 0; k < ways; k++)
        simd_store_some(lanes + k * SIMD_WORDS, r[k], 2 * some);
}

#define BERNOULLI_SOME(at, ways, some)                                         \
    K(bernoulli_some)                                                          \
    (lanes + (at), planes + (at), words, digits, threshold, ways, some)

void K(hsy_bernoulli_bits)(uint64_t *lanes, const uint64_t *planes,
                           size_t words, unsigned digits, uint64_t threshold)
{
    size_t i = 0;

    if (words < 2) {
        hsy_bernoulli_bits_plain(lanes, planes, words, digits, threshold);
        return;
    }
    if (words < SIMD_WORDS) {
        BERNOULLI_SOME(0, 1, words);
        return;
    }
    for (; words - i >= 4 * SIMD_WORDS; i += 4 * SIMD_WORDS)
        BERNOULLI_SOME(i, 4, SIMD_WORDS);
    for (; words - i >= 2 * SIMD_WORDS; i += 2 * SIMD_WORDS)
        BERNOULLI_SOME(i, 2, SIMD_WORDS);
    for (; i < words; i += SIMD_WORDS)
        BERNOULLI_SOME(K(bernoulli_at)(i, words), 1, SIMD_WORDS);
}

#undef BERNOULLI_SOME

/* ---- Early exit ---------------------------------------------------------- */

/* A vector of words from where the pointers are; the first `some` of them if
 * they are fewer. */
SIMD_INLINE void K(bernoulli_head_at)(uint64_t *lanes, uint64_t *open,
                                      const uint64_t *planes, size_t words,
                                      uint64_t threshold, size_t some)
{
    simd64 below = {0}, equal = ~below;

    for (unsigned j = 64; j > 64 - HSY_SPARSE_DIGITS; j--, planes += words) {
        simd64 w = simd_load_some(planes, 2 * some);
        simd64 digit = (simd64){0} - (threshold >> (j - 1) & 1);

        below |= equal & ~w & digit;
        equal &= ~(w ^ digit);
    }
    simd_store_some(lanes, below, 2 * some);
    simd_store_some(open, equal, 2 * some);
}

static void K(bernoulli_head)(uint64_t *lanes, uint64_t *open,
                              const uint64_t *planes, size_t words,
                              uint64_t threshold)
{
    if (words < SIMD_WORDS)
        K(bernoulli_head_at)(lanes, open, planes, words, threshold, words);
    else
        for (size_t i = 0; i < words; i += SIMD_WORDS) {
            size_t at = K(bernoulli_at)(i, words);

            K(bernoulli_head_at)
            (lanes + at, open + at, planes + at, words, threshold, SIMD_WORDS);
        }
}

void K(hsy_sparse)(uint64_t *lanes, size_t words, uint64_t threshold,
                   hsy_stream *st)
{
    hsy_sparse_run(lanes, words, threshold, st, K(bernoulli_head));
}
