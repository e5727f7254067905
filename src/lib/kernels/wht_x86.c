/* wht_x86.c - the Walsh-Hadamard transform with AVX2 and AVX-512; see wht.h. */
#include "lib/kernels/wht.h"

#if defined(__x86_64__)

#include "lib/kernels/internal.h"

#include <immintrin.h>
#include <string.h>

typedef uint64_t wht_x86_vec4 __attribute__((vector_size(32)));
typedef uint64_t wht_x86_vec8 __attribute__((vector_size(64)));

/* ---- AVX2 ---------------------------------------------------------------- */

/* Levels inside a vector: x with the lanes of each pair exchanged, plus x with
 * the second of each pair negated. */
HSY_TARGET_AVX2 static inline __m256i wht_x86_inside4(__m256i x)
{
    const __m256i odd = _mm256_setr_epi64x(0, -1, 0, -1);
    const __m256i upper = _mm256_setr_epi64x(0, 0, -1, -1);
    __m256i other = _mm256_permute4x64_epi64(x, 0xb1);

    x = _mm256_sub_epi64(_mm256_xor_si256(x, odd), odd);
    x = _mm256_add_epi64(x, other);
    other = _mm256_permute4x64_epi64(x, 0x4e);
    x = _mm256_sub_epi64(_mm256_xor_si256(x, upper), upper);
    return _mm256_add_epi64(x, other);
}

HSY_TARGET_AVX2 static void wht_x86_start4(uint64_t *cells, size_t n)
{
    for (size_t at = 0; at < n; at += 32) {
        wht_x86_vec4 v[8];

        _Pragma("GCC unroll 8") for (size_t k = 0; k < 8; k++)
        {
            const void *from = cells + at + 4 * k;

            v[k] = (wht_x86_vec4)wht_x86_inside4(_mm256_loadu_si256(from));
        }
        HSY_WHT_VECTORS(wht_x86_vec4, v, 3);
        memcpy(cells + at, v, sizeof v);
    }
}

HSY_WHT_STEP(wht_x86_step2_4, HSY_TARGET_AVX2, wht_x86_vec4, 1)
HSY_WHT_STEP(wht_x86_step4_4, HSY_TARGET_AVX2, wht_x86_vec4, 2)
HSY_WHT_STEP(wht_x86_step8_4, HSY_TARGET_AVX2, wht_x86_vec4, 3)

void hsy_wht_avx2(int64_t *cells, size_t n)
{
    static const struct wht_level level = {
        .base = 32,
        .start = wht_x86_start4,
        .step = {wht_x86_step2_4, wht_x86_step4_4, wht_x86_step8_4},
    };

    hsy_wht_with(&level, cells, n);
}

/* ---- AVX-512 ------------------------------------------------------------- */

/* The same in eight lanes; a masked subtraction from zero negates. */
HSY_TARGET_AVX512 static inline __m512i wht_x86_level8(__m512i x, __m512i other,
                                                       __mmask8 second)
{
    const __m512i zero = _mm512_setzero_si512();

    return _mm512_add_epi64(_mm512_mask_sub_epi64(x, second, zero, x), other);
}

HSY_TARGET_AVX512 static inline __m512i wht_x86_inside8(__m512i x)
{
    x = wht_x86_level8(x, _mm512_permutex_epi64(x, 0xb1), 0xaa);
    x = wht_x86_level8(x, _mm512_permutex_epi64(x, 0x4e), 0xcc);
    return wht_x86_level8(x, _mm512_shuffle_i64x2(x, x, 0x4e), 0xf0);
}

HSY_TARGET_AVX512 static void wht_x86_start8(uint64_t *cells, size_t n)
{
    for (size_t at = 0; at < n; at += 64) {
        wht_x86_vec8 v[8];

        _Pragma("GCC unroll 8") for (size_t k = 0; k < 8; k++) v[k] =
            (wht_x86_vec8)wht_x86_inside8(
                _mm512_loadu_si512(cells + at + 8 * k));
        HSY_WHT_VECTORS(wht_x86_vec8, v, 3);
        memcpy(cells + at, v, sizeof v);
    }
}

HSY_WHT_STEP(wht_x86_step2_8, HSY_TARGET_AVX512, wht_x86_vec8, 1)
HSY_WHT_STEP(wht_x86_step4_8, HSY_TARGET_AVX512, wht_x86_vec8, 2)
HSY_WHT_STEP(wht_x86_step8_8, HSY_TARGET_AVX512, wht_x86_vec8, 3)

void hsy_wht_avx512(int64_t *cells, size_t n)
{
    static const struct wht_level level = {
        .base = 64,
        .start = wht_x86_start8,
        .step = {wht_x86_step2_8, wht_x86_step4_8, wht_x86_step8_8},
    };

    hsy_wht_with(&level, cells, n);
}

#endif
