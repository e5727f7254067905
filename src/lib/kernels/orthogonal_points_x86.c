/* orthogonal_points_x86.c - orthogonal points, 8 or 16 at once; see
 * orthogonal_points.c. */
#include "lib/kernels/internal.h"

#if defined(__x86_64__)

#include <immintrin.h>

/* ---- AVX-512 ------------------------------------------------------------- */

HSY_TARGET_AVX512 static inline __m512i orthogonal_all_avx512(uint32_t x)
{
    return _mm512_set1_epi32((int)x);
}

HSY_TARGET_AVX512 static inline __m512i
orthogonal_quotient_avx512(__m512i n, const struct kernel_geometry *g)
{
    const __m512i magic = _mm512_set1_epi64(g->magic);
    const __m128i shift = _mm_cvtsi32_si128((int)g->shift);
    __m512i even = _mm512_srl_epi64(_mm512_mul_epu32(n, magic), shift);
    __m512i odd = _mm512_srl_epi64(
        _mm512_mul_epu32(_mm512_srli_epi64(n, 32), magic), shift);

    return _mm512_or_si512(even, _mm512_slli_epi64(odd, 32));
}

HSY_TARGET_AVX512 static inline __m512i
orthogonal_minus_avx512(__m512i a, __m512i b, uint32_t times)
{
    return _mm512_sub_epi32(
        a, _mm512_mullo_epi32(b, orthogonal_all_avx512(times)));
}

HSY_TARGET_AVX512 static inline __m512i
orthogonal_sixteen_avx512(__m512i item, __m512i rank,
                          const struct kernel_geometry *g)
{
    const uint32_t q = g->q, t = g->t;
    __m512i w = _mm512_add_epi32(rank, orthogonal_all_avx512(1)), x;
    __m512i rest = item, place = orthogonal_all_avx512(g->power[t - 1]);
    __m512i digit[KERNEL_COORDINATES], before, quotient, form;
    __m512i sum = _mm512_setzero_si512();
    __mmask16 m;

    for (uint32_t i = 1; i + 1 < t; i++) {
        m = _mm512_cmpge_epu32_mask(rank, orthogonal_all_avx512(g->points[i]));
        w = _mm512_mask_add_epi32(
            w, m, w, orthogonal_all_avx512(g->power[i - 1] * (q - 2)));
    }
    for (uint32_t i = 1; i < t; i++) {
        m = _mm512_cmpge_epu32_mask(item, orthogonal_all_avx512(g->points[i]));
        rest = _mm512_mask_sub_epi32(rest, m, rest,
                                     orthogonal_all_avx512(g->power[i - 1]));
        place = _mm512_mask_mov_epi32(
            place, m, orthogonal_all_avx512(g->power[t - 1 - i]));
    }
    x = before = w;
    for (uint32_t i = 0; i + 1 < t; i++) {
        quotient = orthogonal_quotient_avx512(x, g);
        digit[i] = orthogonal_minus_avx512(x, quotient, q);
        x = quotient;
        m = _mm512_cmplt_epu32_mask(
            item, orthogonal_all_avx512(g->points[t - 1 - i]));
        before = _mm512_mask_mullo_epi32(
            before, m, x, orthogonal_all_avx512(g->power[i + 1]));
    }
    for (uint32_t i = 0; i + 1 < t; i++) {
        quotient = orthogonal_quotient_avx512(rest, g);
        sum = _mm512_add_epi32(
            sum, _mm512_mullo_epi32(orthogonal_minus_avx512(rest, quotient, q),
                                    digit[t - 2 - i]));
        rest = quotient;
    }
    sum = orthogonal_minus_avx512(sum, orthogonal_quotient_avx512(sum, g), q);
    m = _mm512_test_epi32_mask(sum, sum);
    sum = _mm512_maskz_sub_epi32(m, orthogonal_all_avx512(q), sum);
    form = _mm512_add_epi32(
        w, _mm512_mullo_epi32(before, orthogonal_all_avx512(q - 1)));
    form = _mm512_add_epi32(form, _mm512_mullo_epi32(sum, place));
    x = _mm512_sub_epi32(form, orthogonal_all_avx512(1));
    for (uint32_t i = 1; i < t; i++) {
        m = _mm512_cmpge_epu32_mask(form, orthogonal_all_avx512(g->power[i]));
        x = _mm512_mask_sub_epi32(
            x, m, x, orthogonal_all_avx512(g->power[i - 1] * (q - 2)));
    }
    return x;
}

HSY_TARGET_AVX512 void
hsy_orthogonal_points_avx512(uint32_t *out, const uint32_t *items,
                             const uint32_t *ranks, size_t n,
                             const struct kernel_geometry *g)
{
    for (size_t i = 0; i < n; i += 16) {
        uint32_t left = n - i < 16 ? (uint32_t)(n - i) : 16;
        __mmask16 some = (__mmask16)((1u << left) - 1);

        _mm512_mask_storeu_epi32(
            out + i, some,
            orthogonal_sixteen_avx512(_mm512_maskz_loadu_epi32(some, items + i),
                                      _mm512_maskz_loadu_epi32(some, ranks + i),
                                      g));
    }
}

/* ---- AVX2 ---------------------------------------------------------------- */

HSY_TARGET_AVX2 static inline __m256i orthogonal_all_avx2(uint32_t x)
{
    return _mm256_set1_epi32((int)x);
}

HSY_TARGET_AVX2 static inline __m256i
orthogonal_quotient_avx2(__m256i n, const struct kernel_geometry *g)
{
    const __m256i magic = _mm256_set1_epi64x(g->magic);
    const __m128i shift = _mm_cvtsi32_si128((int)g->shift);
    __m256i even = _mm256_srl_epi64(_mm256_mul_epu32(n, magic), shift);
    __m256i odd = _mm256_srl_epi64(
        _mm256_mul_epu32(_mm256_srli_epi64(n, 32), magic), shift);

    return _mm256_or_si256(even, _mm256_slli_epi64(odd, 32));
}

HSY_TARGET_AVX2 static inline __m256i
orthogonal_minus_avx2(__m256i a, __m256i b, uint32_t times)
{
    return _mm256_sub_epi32(a,
                            _mm256_mullo_epi32(b, orthogonal_all_avx2(times)));
}

/* x where a >= b, else 0; a and b below 2^31. */
HSY_TARGET_AVX2 static inline __m256i
orthogonal_from_avx2(__m256i a, uint32_t b, __m256i x)
{
    return _mm256_andnot_si256(_mm256_cmpgt_epi32(orthogonal_all_avx2(b), a),
                               x);
}

HSY_TARGET_AVX2 static inline __m256i
orthogonal_eight_avx2(__m256i item, __m256i rank,
                      const struct kernel_geometry *g)
{
    const uint32_t q = g->q, t = g->t;
    __m256i w = _mm256_add_epi32(rank, orthogonal_all_avx2(1)), x;
    __m256i rest = item, place = orthogonal_all_avx2(g->power[t - 1]);
    __m256i digit[KERNEL_COORDINATES], before, quotient, form;
    __m256i sum = _mm256_setzero_si256();

    for (uint32_t i = 1; i + 1 < t; i++)
        w = _mm256_add_epi32(
            w, orthogonal_from_avx2(
                   rank, g->points[i],
                   orthogonal_all_avx2(g->power[i - 1] * (q - 2))));
    for (uint32_t i = 1; i < t; i++) {
        rest = _mm256_sub_epi32(
            rest, orthogonal_from_avx2(item, g->points[i],
                                       orthogonal_all_avx2(g->power[i - 1])));
        place = _mm256_sub_epi32(
            place,
            orthogonal_from_avx2(
                item, g->points[i],
                orthogonal_all_avx2(g->power[t - i] - g->power[t - 1 - i])));
    }
    x = before = w;
    for (uint32_t i = 0; i + 1 < t; i++) {
        __m256i cut =
            _mm256_cmpgt_epi32(orthogonal_all_avx2(g->points[t - 1 - i]), item);

        quotient = orthogonal_quotient_avx2(x, g);
        digit[i] = orthogonal_minus_avx2(x, quotient, q);
        x = quotient;
        before = _mm256_blendv_epi8(
            before, _mm256_mullo_epi32(x, orthogonal_all_avx2(g->power[i + 1])),
            cut);
    }
    for (uint32_t i = 0; i + 1 < t; i++) {
        quotient = orthogonal_quotient_avx2(rest, g);
        sum = _mm256_add_epi32(
            sum, _mm256_mullo_epi32(orthogonal_minus_avx2(rest, quotient, q),
                                    digit[t - 2 - i]));
        rest = quotient;
    }
    sum = orthogonal_minus_avx2(sum, orthogonal_quotient_avx2(sum, g), q);
    sum = orthogonal_from_avx2(sum, 1,
                               _mm256_sub_epi32(orthogonal_all_avx2(q), sum));
    form = _mm256_add_epi32(
        w, _mm256_mullo_epi32(before, orthogonal_all_avx2(q - 1)));
    form = _mm256_add_epi32(form, _mm256_mullo_epi32(sum, place));
    x = _mm256_sub_epi32(form, orthogonal_all_avx2(1));
    for (uint32_t i = 1; i < t; i++)
        x = _mm256_sub_epi32(
            x, orthogonal_from_avx2(
                   form, g->power[i],
                   orthogonal_all_avx2(g->power[i - 1] * (q - 2))));
    return x;
}

HSY_TARGET_AVX2 void hsy_orthogonal_points_avx2(uint32_t *out,
                                                const uint32_t *items,
                                                const uint32_t *ranks, size_t n,
                                                const struct kernel_geometry *g)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_si256(
            (void *)(out + i),
            orthogonal_eight_avx2(_mm256_loadu_si256((const void *)(items + i)),
                                  _mm256_loadu_si256((const void *)(ranks + i)),
                                  g));
    hsy_orthogonal_points_plain(out + i, items + i, ranks + i, n - i, g);
}

#endif
