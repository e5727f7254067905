/* blanket_choices_avx512.c - a batch of "blanket or own value" choices with
 * AVX-512, 8 at once: its masks beat what blanket_choices_vec.h compiles to. */
#include "lib/bits/ct.h"
#include "lib/kernels/internal.h"

#if defined(__x86_64__)

#include <immintrin.h>

HSY_TARGET_OPEN(HSY_AVX512)

/* The choices from number `first` on, fewer than eight, by the plain kernel. */
static size_t blanket_rest(uint32_t *out, uint32_t *redo, size_t count,
                           const uint32_t *own, const uint64_t *coins,
                           size_t first, size_t n,
                           const struct kernel_choice *choice)
{
    size_t more =
        hsy_blanket_choices_plain(out + first, redo + count, own + first,
                                  coins + 2 * first, n - first, choice);

    for (size_t k = 0; k < more; k++)
        redo[count + k] += (uint32_t)first;
    return count + more;
}

/* U * bound, with the arithmetic of blanket_choices.c. */
static inline __m512i blanket_multiply_avx512(__m512i *low, __m512i u,
                                              __m512i bound)
{
    __m512i right = _mm512_mul_epu32(u, bound);
    __m512i left =
        _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(u, 32), bound),
                         _mm512_srli_epi64(right, 32));

    *low = _mm512_mask_shuffle_epi32(right, 0xaaaa, left, _MM_PERM_CCAA);
    return _mm512_srli_epi64(left, 32);
}

/* Eight choices; the bits of those to be drawn anew. */
static inline __mmask8 blanket_eight_avx512(uint32_t *out, const uint32_t *own,
                                            const uint64_t *coins,
                                            const struct kernel_choice *choice)
{
    const __m512i evens = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odds = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    __m512i a = _mm512_loadu_si512(coins);
    __m512i b = _mm512_loadu_si512(coins + 8);
    __m512i coin = _mm512_permutex2var_epi64(a, evens, b), low;
    __m512i value =
        blanket_multiply_avx512(&low, _mm512_permutex2var_epi64(a, odds, b),
                                _mm512_set1_epi64((long long)choice->bound));
    __mmask8 blanket = _mm512_cmplt_epu64_mask(
        coin, _mm512_set1_epi64((long long)choice->blanket));
    __m256i mine = _mm256_loadu_si256((const void *)own);

    _mm256_storeu_si256(
        (void *)out,
        _mm256_mask_mov_epi32(mine, blanket, _mm512_cvtepi64_epi32(value)));
    return _kor_mask8(_mm512_cmpgt_epu64_mask(
                          coin, _mm512_set1_epi64((long long)choice->last)),
                      _mm512_cmplt_epu64_mask(
                          low, _mm512_set1_epi64((long long)choice->excess)));
}

/* Eight places are stored whatever their number: count never passes i, so
 * there is room, and the next ones overwrite what is too much. */
size_t hsy_blanket_choices_avx512(uint32_t *out, uint32_t *redo,
                                  const uint32_t *own, const uint64_t *coins,
                                  size_t n, const struct kernel_choice *choice)
{
    const struct kernel_choice c = *choice;
    __m256i place = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    size_t count = 0, i = 0;

    for (; n - i >= 8; i += 8) {
        __mmask8 again = (__mmask8)ct_public(
            blanket_eight_avx512(out + i, own + i, coins + 2 * i, &c));

        _mm256_storeu_si256((void *)(redo + count),
                            _mm256_maskz_compress_epi32(again, place));
        count += (size_t)_mm_popcnt_u32(again);
        place = _mm256_add_epi32(place, _mm256_set1_epi32(8));
    }
    return blanket_rest(out, redo, count, own, coins, i, n, choice);
}

HSY_TARGET_CLOSE

#endif
