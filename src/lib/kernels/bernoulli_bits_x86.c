/*
 * bernoulli_bits_x86.c - many Bernoulli bits at once, in 256- and 512-bit
 * vectors.
 *
 * A step is the majority of r, w and the digit; with AVX-512 it is one
 * instruction.
 */
#include "lib/kernels/bernoulli_bits.h"
#include "lib/kernels/internal.h"

#if defined(__x86_64__)

#include <immintrin.h>

/* ---- AVX-512: words 8 at a time, the last ones under a mask -------------- */

#define BERNOULLI_MAJORITY 0xe8 /* a b | a c | b c as a truth table */
#define BERNOULLI_BELOW 0xf2    /* a | (~b & c) */
#define BERNOULLI_EQUAL 0x90    /* a & ~(b ^ c) */

HSY_TARGET_AVX512 static inline __m512i
bernoulli_digit_avx512(uint64_t threshold, unsigned place)
{
    return _mm512_set1_epi64(-(long long)(threshold >> place & 1));
}

/* Two vectors at once: that is a report of 1024 bits, and hides the latency. */
HSY_TARGET_AVX512 static inline void
bernoulli_pair_avx512(uint64_t *lanes, const uint64_t *planes, size_t words,
                      unsigned digits, uint64_t threshold)
{
    __m512i r = _mm512_setzero_si512(), s = r;

    for (unsigned j = 0; j < digits; j++, planes += words) {
        __m512i digit = bernoulli_digit_avx512(threshold, 64 - digits + j);

        r = _mm512_ternarylogic_epi64(r, _mm512_loadu_si512(planes), digit,
                                      BERNOULLI_MAJORITY);
        s = _mm512_ternarylogic_epi64(s, _mm512_loadu_si512(planes + 8), digit,
                                      BERNOULLI_MAJORITY);
    }
    _mm512_storeu_si512(lanes, r);
    _mm512_storeu_si512(lanes + 8, s);
}

HSY_TARGET_AVX512 static void
bernoulli_some_avx512(uint64_t *lanes, const uint64_t *planes, size_t words,
                      __mmask8 some, unsigned digits, uint64_t threshold)
{
    __m512i r = _mm512_setzero_si512();

    for (unsigned j = 0; j < digits; j++, planes += words)
        r = _mm512_ternarylogic_epi64(
            r, _mm512_maskz_loadu_epi64(some, planes),
            bernoulli_digit_avx512(threshold, 64 - digits + j),
            BERNOULLI_MAJORITY);
    _mm512_mask_storeu_epi64(lanes, some, r);
}

static uint8_t bernoulli_mask(size_t left)
{
    return (uint8_t)(left >= 8 ? 0xff : (1u << left) - 1);
}

HSY_TARGET_AVX512 void hsy_bernoulli_bits_avx512(uint64_t *lanes,
                                                 const uint64_t *planes,
                                                 size_t words, unsigned digits,
                                                 uint64_t threshold)
{
    size_t i = 0;

    for (; words - i >= 16; i += 16)
        bernoulli_pair_avx512(lanes + i, planes + i, words, digits, threshold);
    for (; i < words; i += words - i < 8 ? words - i : 8)
        bernoulli_some_avx512(lanes + i, planes + i, words,
                              bernoulli_mask(words - i), digits, threshold);
}

HSY_TARGET_AVX512 static void
bernoulli_head_avx512(uint64_t *lanes, uint64_t *open, const uint64_t *planes,
                      size_t words, uint64_t threshold)
{
    for (size_t i = 0; i < words; i += words - i < 8 ? words - i : 8) {
        __mmask8 some = bernoulli_mask(words - i);
        __m512i below = _mm512_setzero_si512();
        __m512i equal = _mm512_set1_epi64(-1);

        for (unsigned j = 0; j < HSY_SPARSE_DIGITS; j++) {
            __m512i w = _mm512_maskz_loadu_epi64(some, planes + j * words + i);
            __m512i digit = bernoulli_digit_avx512(threshold, 63 - j);
            __m512i both = _mm512_and_si512(equal, digit);

            below = _mm512_ternarylogic_epi64(below, w, both, BERNOULLI_BELOW);
            equal = _mm512_ternarylogic_epi64(equal, w, digit, BERNOULLI_EQUAL);
        }
        _mm512_mask_storeu_epi64(lanes + i, some, below);
        _mm512_mask_storeu_epi64(open + i, some, equal);
    }
}

HSY_TARGET_AVX512 void hsy_sparse_avx512(uint64_t *lanes, size_t words,
                                         uint64_t threshold, hsy_stream *st)
{
    hsy_sparse_run(lanes, words, threshold, st, bernoulli_head_avx512);
}

/* ---- AVX2: words 4 at a time, the last ones under a mask ----------------- */

HSY_TARGET_AVX2 static inline __m256i bernoulli_digit_avx2(uint64_t threshold,
                                                           unsigned place)
{
    return _mm256_set1_epi64x(-(long long)(threshold >> place & 1));
}

HSY_TARGET_AVX2 static inline __m256i bernoulli_step_avx2(__m256i r, __m256i w,
                                                          __m256i digit)
{
    return _mm256_or_si256(_mm256_and_si256(r, w),
                           _mm256_and_si256(digit, _mm256_or_si256(r, w)));
}

/* Eight words. */
HSY_TARGET_AVX2 static void bernoulli_pair_avx2(uint64_t *lanes,
                                                const uint64_t *planes,
                                                size_t words, unsigned digits,
                                                uint64_t threshold)
{
    __m256i r = _mm256_setzero_si256(), s = r;

    for (unsigned j = 0; j < digits; j++, planes += words) {
        __m256i digit = bernoulli_digit_avx2(threshold, 64 - digits + j);
        __m256i w = _mm256_loadu_si256((const void *)planes);
        __m256i x = _mm256_loadu_si256((const void *)(planes + 4));

        r = bernoulli_step_avx2(r, w, digit);
        s = bernoulli_step_avx2(s, x, digit);
    }
    _mm256_storeu_si256((void *)lanes, r);
    _mm256_storeu_si256((void *)(lanes + 4), s);
}

/* The first `left` of four lanes. */
HSY_TARGET_AVX2 static inline __m256i bernoulli_mask_avx2(size_t left)
{
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)left),
                              _mm256_set_epi64x(3, 2, 1, 0));
}

HSY_TARGET_AVX2 static inline __m256i bernoulli_load_avx2(const uint64_t *p,
                                                          __m256i some)
{
    return _mm256_maskload_epi64((const void *)p, some);
}

HSY_TARGET_AVX2 static inline void bernoulli_store_avx2(uint64_t *p,
                                                        __m256i some, __m256i x)
{
    _mm256_maskstore_epi64((void *)p, some, x);
}

HSY_TARGET_AVX2 static void
bernoulli_some_avx2(uint64_t *lanes, const uint64_t *planes, size_t words,
                    __m256i some, unsigned digits, uint64_t threshold)
{
    __m256i r = _mm256_setzero_si256();

    for (unsigned j = 0; j < digits; j++, planes += words)
        r = bernoulli_step_avx2(
            r, bernoulli_load_avx2(planes, some),
            bernoulli_digit_avx2(threshold, 64 - digits + j));
    bernoulli_store_avx2(lanes, some, r);
}

HSY_TARGET_AVX2 void hsy_bernoulli_bits_avx2(uint64_t *lanes,
                                             const uint64_t *planes,
                                             size_t words, unsigned digits,
                                             uint64_t threshold)
{
    size_t i = 0;

    for (; words - i >= 8; i += 8)
        bernoulli_pair_avx2(lanes + i, planes + i, words, digits, threshold);
    for (; i < words; i += words - i < 4 ? words - i : 4)
        bernoulli_some_avx2(lanes + i, planes + i, words,
                            bernoulli_mask_avx2(words - i), digits, threshold);
}

HSY_TARGET_AVX2 static void bernoulli_head_avx2(uint64_t *lanes, uint64_t *open,
                                                const uint64_t *planes,
                                                size_t words,
                                                uint64_t threshold)
{
    for (size_t i = 0; i < words; i += words - i < 4 ? words - i : 4) {
        __m256i some = bernoulli_mask_avx2(words - i);
        __m256i below = _mm256_setzero_si256();
        __m256i equal = _mm256_set1_epi64x(-1);

        for (unsigned j = 0; j < HSY_SPARSE_DIGITS; j++) {
            __m256i w = bernoulli_load_avx2(planes + j * words + i, some);
            __m256i digit = bernoulli_digit_avx2(threshold, 63 - j);
            __m256i now = _mm256_andnot_si256(w, digit);

            below = _mm256_or_si256(below, _mm256_and_si256(equal, now));
            equal = _mm256_andnot_si256(_mm256_xor_si256(w, digit), equal);
        }
        bernoulli_store_avx2(lanes + i, some, below);
        bernoulli_store_avx2(open + i, some, equal);
    }
}

HSY_TARGET_AVX2 void hsy_sparse_avx2(uint64_t *lanes, size_t words,
                                     uint64_t threshold, hsy_stream *st)
{
    hsy_sparse_run(lanes, words, threshold, st, bernoulli_head_avx2);
}

#undef BERNOULLI_MAJORITY
#undef BERNOULLI_BELOW
#undef BERNOULLI_EQUAL

#endif
