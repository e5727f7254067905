/* cohort_x86.c - counting reports by cohort, 32 or 64 bits at a time. */
#if defined(__x86_64__)

#include "lib/kernels/cohort.h"

#include "lib/kernels/internal.h"

#include <immintrin.h>

/* 32 bits as 32 bytes of 0 or -1: byte i gets a copy of the byte that bit i
 * stands in, keeps that bit, and is compared with it. */
HSY_TARGET_AVX2 static inline __m256i cohort_spread_avx2(uint32_t bits)
{
    const __m256i places =
        _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2,
                         2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    const __m256i masks = _mm256_set1_epi64x((long long)0x8040201008040201);
    __m256i x = _mm256_set1_epi32((int)bits);

    x = _mm256_and_si256(_mm256_shuffle_epi8(x, places), masks);
    return _mm256_cmpeq_epi8(x, masks);
}

HSY_TARGET_AVX2 static inline void
cohort_add_avx2(uint8_t *counters, const uint8_t *report, size_t stride,
                uint32_t first, uint32_t width)
{
    for (uint32_t b = 0; b < width; b += 64) {
        uint64_t bits = cohort_word(report, stride, (first + b) / 8);
        __m256i *at = (__m256i *)(counters + b);
        __m256i low = cohort_spread_avx2((uint32_t)bits);
        __m256i high = cohort_spread_avx2((uint32_t)(bits >> 32));

        _mm256_store_si256(at, _mm256_sub_epi8(_mm256_load_si256(at), low));
        _mm256_store_si256(at + 1,
                           _mm256_sub_epi8(_mm256_load_si256(at + 1), high));
    }
}

HSY_TARGET_AVX2 void hsy_cohorts_avx2(int64_t *cells, uint64_t *strata,
                                      const uint8_t *reports, size_t n,
                                      size_t stride, uint32_t k, uint32_t m)
{
    cohort_count(cells, strata, reports, n, stride, k, m, cohort_add_avx2);
}

HSY_TARGET_AVX512 static inline void
cohort_add_avx512(uint8_t *counters, const uint8_t *report, size_t stride,
                  uint32_t first, uint32_t width)
{
    /* Whole stores: what a masked one leaves cannot be forwarded to the load of
     * the next report of the same cohort. */
    for (uint32_t b = 0; b < width; b += 64) {
        uint64_t bits = cohort_word(report, stride, (first + b) / 8);
        __m512i sum = _mm512_load_si512(counters + b);

        _mm512_store_si512(counters + b,
                           _mm512_sub_epi8(sum, _mm512_movm_epi8(bits)));
    }
}

HSY_TARGET_AVX512 void hsy_cohorts_avx512(int64_t *cells, uint64_t *strata,
                                          const uint8_t *reports, size_t n,
                                          size_t stride, uint32_t k, uint32_t m)
{
    cohort_count(cells, strata, reports, n, stride, k, m, cohort_add_avx512);
}

#endif
