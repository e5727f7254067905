/* hadamard_x86.c - a batch of Hadamard response, 8 at once; see hadamard.h. */
#include "lib/kernels/hadamard.h"

#if defined(__x86_64__)

#include "lib/kernels/internal.h"

#include <immintrin.h>

/* The reports from number `first` on, fewer than eight, by the plain kernel. */
static size_t hadamard_rest(uint32_t *out, uint32_t *redo, size_t count,
                            const uint64_t *codes, const uint64_t *coins,
                            size_t first, size_t n,
                            const struct kernel_hadamard *h)
{
    size_t more = hsy_hadamard_plain(out + first, redo + count, codes + first,
                                     coins + 2 * first, n - first, h);

    for (size_t k = 0; k < more; k++)
        redo[count + k] += (uint32_t)first;
    return count + more;
}

/* ---- AVX-512 ------------------------------------------------------------- */

/* hadamard_item in 64-bit lanes: rows are below 2^22. */
HSY_TARGET_AVX512 static inline __m512i
hadamard_item_avx512(__m512i code, const struct kernel_hadamard *h)
{
    const __m512i low = _mm512_set1_epi64(UINT32_MAX);
    const __m512i blocks = _mm512_set1_epi64((1ll << h->block_bits) - 1);
    __m512i row = _mm512_srl_epi64(code, _mm_cvtsi32_si128((int)h->block_bits));
    __m512i hash =
        _mm512_add_epi64(_mm512_mul_epu32(row, _mm512_set1_epi64(h->a)),
                         _mm512_set1_epi64(h->c));
    __m512i turn = _mm512_srl_epi64(_mm512_and_si512(hash, low),
                                    _mm_cvtsi32_si128(32 - (int)h->block_bits));
    __m512i block = _mm512_and_si512(_mm512_xor_si512(code, turn), blocks);

    return _mm512_or_si512(
        _mm512_sll_epi64(block, _mm_cvtsi32_si128((int)h->index_bits)),
        _mm512_add_epi64(row, _mm512_set1_epi64(1)));
}

HSY_TARGET_AVX512 static inline __m512i
hadamard_own_avx512(__m512i item, __m512i uniform, unsigned index_bits)
{
    const __m512i mask = _mm512_set1_epi64((1ll << index_bits) - 1);
    __m512i i = _mm512_and_si512(item, mask);
    __m512i u = _mm512_and_si512(uniform, mask);
    __m512i ones = _mm512_popcnt_epi64(_mm512_and_si512(i, u));
    __mmask8 odd = _mm512_test_epi64_mask(ones, _mm512_set1_epi64(1));
    __m512i lowest =
        _mm512_and_si512(i, _mm512_sub_epi64(_mm512_setzero_si512(), i));

    u = _mm512_mask_xor_epi64(u, odd, u, lowest);
    return _mm512_or_si512(_mm512_andnot_si512(mask, item), u);
}

/* Eight reports; the bits of those to be drawn anew. */
HSY_TARGET_AVX512 static inline __mmask8
hadamard_eight_avx512(uint32_t *out, const uint64_t *codes,
                      const uint64_t *coins, const struct kernel_hadamard *h)
{
    const __m512i evens = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odds = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    const int shift = 64 - (int)h->block_bits - (int)h->index_bits;
    __m512i a = _mm512_loadu_si512(coins);
    __m512i b = _mm512_loadu_si512(coins + 8);
    __m512i coin = _mm512_permutex2var_epi64(a, evens, b);
    __m512i uniform = _mm512_srl_epi64(_mm512_permutex2var_epi64(a, odds, b),
                                       _mm_cvtsi32_si128(shift));
    __m512i item = hadamard_item_avx512(_mm512_loadu_si512(codes), h);
    __m512i own = hadamard_own_avx512(item, uniform, h->index_bits);
    __mmask8 blanket =
        _mm512_cmplt_epu64_mask(coin, _mm512_set1_epi64((long long)h->blanket));

    _mm256_storeu_si256(
        (void *)out,
        _mm512_cvtepi64_epi32(_mm512_mask_mov_epi64(own, blanket, uniform)));
    return _mm512_cmpgt_epu64_mask(coin, _mm512_set1_epi64((long long)h->last));
}

/* Eight places are stored whatever their number, as in blanket_choices_x86.c.
 */
HSY_TARGET_AVX512 size_t hsy_hadamard_avx512(uint32_t *out, uint32_t *redo,
                                             const uint64_t *codes,
                                             const uint64_t *coins, size_t n,
                                             const struct kernel_hadamard *h)
{
    const struct kernel_hadamard c = *h;
    __m256i place = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    size_t count = 0, i = 0;

    for (; n - i >= 8; i += 8) {
        __mmask8 again = (__mmask8)ct_public(
            hadamard_eight_avx512(out + i, codes + i, coins + 2 * i, &c));

        _mm256_storeu_si256((void *)(redo + count),
                            _mm256_maskz_compress_epi32(again, place));
        count += (size_t)_mm_popcnt_u32(again);
        place = _mm256_add_epi32(place, _mm256_set1_epi32(8));
    }
    return hadamard_rest(out, redo, count, codes, coins, i, n, h);
}

/* ---- AVX2 ---------------------------------------------------------------- */

HSY_TARGET_AVX2 static inline __m256i hadamard_shift_avx2(__m256i x, int bits)
{
    return _mm256_srl_epi64(x, _mm_cvtsi32_si128(bits));
}

HSY_TARGET_AVX2 static inline __m256i
hadamard_item_avx2(__m256i code, const struct kernel_hadamard *h)
{
    const __m256i low = _mm256_set1_epi64x(UINT32_MAX);
    const __m256i blocks = _mm256_set1_epi64x((1ll << h->block_bits) - 1);
    __m256i row = hadamard_shift_avx2(code, (int)h->block_bits);
    __m256i hash =
        _mm256_add_epi64(_mm256_mul_epu32(row, _mm256_set1_epi64x(h->a)),
                         _mm256_set1_epi64x(h->c));
    __m256i turn = hadamard_shift_avx2(_mm256_and_si256(hash, low),
                                       32 - (int)h->block_bits);
    __m256i block = _mm256_and_si256(_mm256_xor_si256(code, turn), blocks);

    return _mm256_or_si256(
        _mm256_sll_epi64(block, _mm_cvtsi32_si128((int)h->index_bits)),
        _mm256_add_epi64(row, _mm256_set1_epi64x(1)));
}

/* All ones where the low half of a lane has an odd number of ones. */
HSY_TARGET_AVX2 static inline __m256i hadamard_odd_avx2(__m256i x)
{
    const __m256i zero = _mm256_setzero_si256();

    for (int half = 16; half > 0; half /= 2)
        x = _mm256_xor_si256(x, hadamard_shift_avx2(x, half));
    return _mm256_sub_epi64(zero, _mm256_and_si256(x, _mm256_set1_epi64x(1)));
}

HSY_TARGET_AVX2 static inline __m256i
hadamard_own_avx2(__m256i item, __m256i uniform, unsigned index_bits)
{
    const __m256i mask = _mm256_set1_epi64x((1ll << index_bits) - 1);
    __m256i i = _mm256_and_si256(item, mask);
    __m256i u = _mm256_and_si256(uniform, mask);
    __m256i odd = hadamard_odd_avx2(_mm256_and_si256(i, u));
    __m256i lowest =
        _mm256_and_si256(i, _mm256_sub_epi64(_mm256_setzero_si256(), i));

    u = _mm256_xor_si256(u, _mm256_and_si256(odd, lowest));
    return _mm256_or_si256(_mm256_andnot_si256(mask, item), u);
}

/* All ones where a < b as unsigned numbers. */
HSY_TARGET_AVX2 static inline __m256i hadamard_less_avx2(__m256i a, __m256i b)
{
    const __m256i sign = _mm256_set1_epi64x(INT64_MIN);

    return _mm256_cmpgt_epi64(_mm256_xor_si256(b, sign),
                              _mm256_xor_si256(a, sign));
}

/* Four reports; the bits of those to be drawn anew. */
HSY_TARGET_AVX2 static inline unsigned
hadamard_four_avx2(uint32_t *out, const uint64_t *codes, const uint64_t *coins,
                   const struct kernel_hadamard *h)
{
    const __m256i evens = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    const int shift = 64 - (int)h->block_bits - (int)h->index_bits;
    __m256i a =
        _mm256_permute4x64_epi64(_mm256_loadu_si256((const void *)coins), 0xd8);
    __m256i b = _mm256_permute4x64_epi64(
        _mm256_loadu_si256((const void *)(coins + 4)), 0xd8);
    __m256i coin = _mm256_permute2x128_si256(a, b, 0x20);
    __m256i uniform =
        hadamard_shift_avx2(_mm256_permute2x128_si256(a, b, 0x31), shift);
    __m256i item =
        hadamard_item_avx2(_mm256_loadu_si256((const void *)codes), h);
    __m256i own = hadamard_own_avx2(item, uniform, h->index_bits);
    __m256i blanket =
        hadamard_less_avx2(coin, _mm256_set1_epi64x((long long)h->blanket));
    __m256i again =
        hadamard_less_avx2(_mm256_set1_epi64x((long long)h->last), coin);
    __m256i report = _mm256_blendv_epi8(own, uniform, blanket);

    _mm_storeu_si128(
        (void *)out,
        _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(report, evens)));
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(again));
}

HSY_TARGET_AVX2 size_t hsy_hadamard_avx2(uint32_t *out, uint32_t *redo,
                                         const uint64_t *codes,
                                         const uint64_t *coins, size_t n,
                                         const struct kernel_hadamard *h)
{
    const struct kernel_hadamard c = *h;
    size_t count = 0, i = 0;

    for (; n - i >= 4; i += 4) {
        unsigned again = (unsigned)ct_public(
            hadamard_four_avx2(out + i, codes + i, coins + 2 * i, &c));

        for (; again != 0; again &= again - 1)
            redo[count++] = (uint32_t)i + _tzcnt_u32(again);
    }
    return hadamard_rest(out, redo, count, codes, coins, i, n, h);
}

#endif
