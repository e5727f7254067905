/* row_popcounts_x86.c - ones per row with AVX2 and with AVX-512. */
#include "lib/kernels/bit_counts.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#include "lib/kernels/internal.h"

#define POPCOUNT_X86_SOME 16u /* rows counted before the first is entered */
#define POPCOUNT_X86_NARROW (30u * 32) /* bytes of a row added up in bytes */

static inline uint64_t popcount_x86_load(const uint8_t *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
    return x;
}

HSY_TARGET_AVX2 static inline uint64_t popcount_x86_ones(uint64_t x)
{
    return (uint64_t)_mm_popcnt_u64(x);
}

/* Rows of fewer than eight bytes, by one load each while eight bytes may be
 * read. */
HSY_TARGET_AVX2 static void popcount_x86_short(uint64_t *hist,
                                               const uint8_t *rows, size_t n,
                                               size_t stride, size_t bytes)
{
    uint64_t mask = ((uint64_t)1 << 8 * bytes) - 1;
    const uint8_t *end = rows + (n - 1) * stride + bytes;

    for (; n > 0 && (size_t)(end - rows) >= 8; n--, rows += stride)
        hist[popcount_x86_ones(popcount_x86_load(rows) & mask)]++;
    for (; n > 0; n--, rows += stride) {
        uint64_t x = 0;

        for (size_t i = 0; i < bytes; i++)
            x = x << 8 | rows[i];
        hist[popcount_x86_ones(x)]++;
    }
}

/* A row of at least eight bytes; the last load overlaps and is shifted clear
 * of what was counted before. */
HSY_TARGET_AVX2 static inline uint64_t popcount_x86_row(const uint8_t *row,
                                                        size_t bytes)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    size_t at = 0;

    for (; at + 32 <= bytes; at += 32) {
        a += popcount_x86_ones(popcount_x86_load(row + at));
        b += popcount_x86_ones(popcount_x86_load(row + at + 8));
        c += popcount_x86_ones(popcount_x86_load(row + at + 16));
        d += popcount_x86_ones(popcount_x86_load(row + at + 24));
    }
    for (; at + 8 <= bytes; at += 8)
        a += popcount_x86_ones(popcount_x86_load(row + at));
    if (at < bytes)
        b += popcount_x86_ones(popcount_x86_load(row + bytes - 8) >>
                               8 * (8 - (bytes - at)));
    return a + b + c + d;
}

/* The ones in each byte, by a table of half bytes. */
HSY_TARGET_AVX2 static inline __m256i popcount_x86_bytes(__m256i x)
{
    const __m256i table =
        _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1,
                         1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i half = _mm256_set1_epi8(15);
    __m256i low = _mm256_and_si256(x, half);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(x, 4), half);

    return _mm256_add_epi8(_mm256_shuffle_epi8(table, low),
                           _mm256_shuffle_epi8(table, high));
}

HSY_TARGET_AVX2 static inline __m256i popcount_x86_at(const uint8_t *p)
{
    return popcount_x86_bytes(_mm256_loadu_si256((const void *)p));
}

/* The last vector of a row of at least 32 bytes, which ends where the row ends:
 * `tail` masks away what of it the vectors before have. */
HSY_TARGET_AVX2 static inline __m256i
popcount_x86_last(const uint8_t *row, size_t bytes, __m256i tail)
{
    return popcount_x86_bytes(_mm256_and_si256(
        tail, _mm256_loadu_si256((const void *)(row + bytes - 32))));
}

/* A full adder in each bit: *sum + a + b = new *sum + 2 * result. */
HSY_TARGET_AVX2 static inline __m256i popcount_x86_csa(__m256i *sum, __m256i a,
                                                       __m256i b)
{
    __m256i half = _mm256_xor_si256(*sum, a);
    __m256i carry =
        _mm256_or_si256(_mm256_and_si256(*sum, a), _mm256_and_si256(half, b));

    *sum = _mm256_xor_si256(half, b);
    return carry;
}

/* Add four vectors to planes of weight 1 and 2; what carries out has weight
 * four. */
HSY_TARGET_AVX2 static inline __m256i popcount_x86_carry(__m256i plane[2],
                                                         const uint8_t *p)
{
    const __m256i *v = (const void *)p;
    __m256i a = popcount_x86_csa(&plane[0], _mm256_loadu_si256(v),
                                 _mm256_loadu_si256(v + 1));
    __m256i b = popcount_x86_csa(&plane[0], _mm256_loadu_si256(v + 2),
                                 _mm256_loadu_si256(v + 3));

    return popcount_x86_csa(&plane[1], a, b);
}

/* The ones of a row in four parts: vectors by fours through adders, then those
 * that are left. A byte has room for 31 carries. */
HSY_TARGET_AVX2 static inline __m256i
popcount_x86_parts(const uint8_t *row, size_t bytes, __m256i tail)
{
    const __m256i zero = _mm256_setzero_si256();
    const uint8_t *end = row + (bytes - 1) / 32 * 32;
    __m256i rest = popcount_x86_last(row, bytes, tail);
    __m256i plane[2] = {zero, zero}, fours = zero, twos;

    while (end - row >= 128) {
        __m256i sum = zero;

        for (int k = 0; k < 31 && end - row >= 128; k++, row += 128)
            sum = _mm256_add_epi8(
                sum, popcount_x86_bytes(popcount_x86_carry(plane, row)));
        fours = _mm256_add_epi64(fours, _mm256_sad_epu8(sum, zero));
    }
    for (; row < end; row += 32)
        rest = _mm256_add_epi8(rest, popcount_x86_at(row));
    twos = popcount_x86_bytes(plane[1]);
    rest = _mm256_add_epi8(rest, popcount_x86_bytes(plane[0]));
    rest = _mm256_add_epi8(rest, _mm256_add_epi8(twos, twos));
    return _mm256_add_epi64(_mm256_slli_epi64(fours, 2),
                            _mm256_sad_epu8(rest, zero));
}

/* Four vectors of byte sums added up: the first total first. */
HSY_TARGET_AVX2 static inline __m256i popcount_x86_totals(__m256i a, __m256i b,
                                                          __m256i c, __m256i d)
{
    const __m256i zero = _mm256_setzero_si256();

    a = _mm256_sad_epu8(a, zero);
    b = _mm256_sad_epu8(b, zero);
    c = _mm256_sad_epu8(c, zero);
    d = _mm256_sad_epu8(d, zero);
    a = _mm256_add_epi64(_mm256_unpacklo_epi64(a, b),
                         _mm256_unpackhi_epi64(a, b));
    c = _mm256_add_epi64(_mm256_unpacklo_epi64(c, d),
                         _mm256_unpackhi_epi64(c, d));
    return _mm256_add_epi64(_mm256_permute2x128_si256(a, c, 0x20),
                            _mm256_permute2x128_si256(a, c, 0x31));
}

/* The ones of four rows of 32 to POPCOUNT_X86_NARROW + 32 bytes, side by side.
 */
HSY_TARGET_AVX2 static inline __m256i
popcount_x86_four(const uint8_t *row, size_t stride, size_t bytes, __m256i tail)
{
    const uint8_t *end = row + (bytes - 1) / 32 * 32;
    __m256i a = popcount_x86_last(row, bytes, tail);
    __m256i b = popcount_x86_last(row + stride, bytes, tail);
    __m256i c = popcount_x86_last(row + 2 * stride, bytes, tail);
    __m256i d = popcount_x86_last(row + 3 * stride, bytes, tail);

    for (; row < end; row += 32) {
        a = _mm256_add_epi8(a, popcount_x86_at(row));
        b = _mm256_add_epi8(b, popcount_x86_at(row + stride));
        c = _mm256_add_epi8(c, popcount_x86_at(row + 2 * stride));
        d = _mm256_add_epi8(d, popcount_x86_at(row + 3 * stride));
    }
    return popcount_x86_totals(a, b, c, d);
}

/* Some rows are counted before the first is entered: where that goes must be
 * known before the next can be. Returns how many, a multiple of four. */
HSY_TARGET_AVX2 static inline size_t
popcount_x86_some(uint64_t *hist, const uint8_t *rows, size_t n, size_t stride,
                  size_t bytes, __m256i tail)
{
    uint64_t ones[POPCOUNT_X86_SOME];
    size_t some = n < POPCOUNT_X86_SOME ? n - n % 4 : POPCOUNT_X86_SOME;

    for (size_t r = 0; r < some; r += 4)
        _mm256_storeu_si256(
            (void *)(ones + r),
            popcount_x86_four(rows + r * stride, stride, bytes, tail));
    for (size_t r = 0; r < some; r++)
        hist[ones[r]]++;
    return some;
}

/* Rows of at least 32 bytes. */
HSY_TARGET_AVX2 static void popcount_x86_long(uint64_t *hist,
                                              const uint8_t *rows, size_t n,
                                              size_t stride, size_t bytes)
{
    static const uint8_t edge[64] = {
        [32] = 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
        255,        255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
        255,        255, 255, 255, 255, 255, 255, 255, 255, 255};
    __m256i tail =
        _mm256_loadu_si256((const void *)(edge + (bytes - 1) % 32 + 1));

    while (n >= 4 && bytes <= POPCOUNT_X86_NARROW + 32) {
        size_t some = popcount_x86_some(hist, rows, n, stride, bytes, tail);

        n -= some;
        rows += some * stride;
    }
    for (; n > 0; n--, rows += stride) {
        uint64_t ones[4];

        _mm256_storeu_si256((void *)ones,
                            popcount_x86_parts(rows, bytes, tail));
        hist[ones[0] + ones[1] + ones[2] + ones[3]]++;
    }
}

HSY_TARGET_AVX2 void hsy_row_popcounts_avx2(uint64_t *hist, const uint8_t *rows,
                                            size_t n, size_t stride,
                                            size_t bytes)
{
    if (n > 0 && bytes < 8)
        popcount_x86_short(hist, rows, n, stride, bytes);
    else if (bytes >= 32)
        popcount_x86_long(hist, rows, n, stride, bytes);
    else
        for (size_t r = 0; r < n; r++)
            hist[popcount_x86_row(rows + r * stride, bytes)]++;
}

/* Ones of one row of at least 64 bytes. */
HSY_TARGET_AVX512 static inline uint64_t popcount_x86_one(const uint8_t *row,
                                                          size_t bytes)
{
    __m512i a = _mm512_setzero_si512(), b = a;
    size_t at = 0;

    for (; at + 128 <= bytes; at += 128) {
        __m512i x = _mm512_loadu_si512(row + at);
        __m512i y = _mm512_loadu_si512(row + at + 64);

        a = _mm512_add_epi64(a, _mm512_popcnt_epi64(x));
        b = _mm512_add_epi64(b, _mm512_popcnt_epi64(y));
    }
    for (; at < bytes; at += 64) {
        __mmask64 rest = bytes - at < 64
                             ? (__mmask64)(((uint64_t)1 << (bytes - at)) - 1)
                             : ~(__mmask64)0;

        a = _mm512_add_epi64(
            a, _mm512_popcnt_epi64(_mm512_maskz_loadu_epi8(rest, row + at)));
    }
    return (uint64_t)_mm512_reduce_add_epi64(_mm512_add_epi64(a, b));
}

/* Ones of two rows: even words belong to the first, odd ones to the second. */
HSY_TARGET_AVX512 static inline __m512i
popcount_x86_two(const uint8_t *row, size_t stride, size_t bytes)
{
    __m512i a = _mm512_setzero_si512(), b = a;
    size_t at = 0;

    for (; at + 64 <= bytes; at += 64) {
        __m512i x = _mm512_loadu_si512(row + at);
        __m512i y = _mm512_loadu_si512(row + stride + at);

        a = _mm512_add_epi64(a, _mm512_popcnt_epi64(x));
        b = _mm512_add_epi64(b, _mm512_popcnt_epi64(y));
    }
    if (at < bytes) {
        __mmask64 tail = (__mmask64)(((uint64_t)1 << (bytes - at)) - 1);
        __m512i x = _mm512_maskz_loadu_epi8(tail, row + at);
        __m512i y = _mm512_maskz_loadu_epi8(tail, row + stride + at);

        a = _mm512_add_epi64(a, _mm512_popcnt_epi64(x));
        b = _mm512_add_epi64(b, _mm512_popcnt_epi64(y));
    }
    return _mm512_add_epi64(_mm512_unpacklo_epi64(a, b),
                            _mm512_unpackhi_epi64(a, b));
}

/* Sums of neighbouring 128-bit lanes: a0+a1, a2+a3, b0+b1, b2+b3. */
HSY_TARGET_AVX512 static inline __m512i popcount_x86_lanes(__m512i a, __m512i b)
{
    return _mm512_add_epi64(_mm512_shuffle_i64x2(a, b, 0x88),
                            _mm512_shuffle_i64x2(a, b, 0xdd));
}

/* The ones of eight rows, in order. */
HSY_TARGET_AVX512 static inline __m512i
popcount_x86_eight(const uint8_t *row, size_t stride, size_t bytes)
{
    __m512i a = popcount_x86_two(row, stride, bytes);
    __m512i b = popcount_x86_two(row + 2 * stride, stride, bytes);
    __m512i c = popcount_x86_two(row + 4 * stride, stride, bytes);
    __m512i d = popcount_x86_two(row + 6 * stride, stride, bytes);

    return popcount_x86_lanes(popcount_x86_lanes(a, b),
                              popcount_x86_lanes(c, d));
}

HSY_TARGET_AVX512 void hsy_row_popcounts_avx512(uint64_t *hist,
                                                const uint8_t *rows, size_t n,
                                                size_t stride, size_t bytes)
{
    if (bytes >= 8)
        for (; n >= 8; n -= 8, rows += 8 * stride) {
            uint64_t ones[8];

            _mm512_storeu_si512(ones, popcount_x86_eight(rows, stride, bytes));
            for (size_t r = 0; r < 8; r++)
                hist[ones[r]]++;
        }
    for (; n > 0 && bytes >= 64; n--, rows += stride)
        hist[popcount_x86_one(rows, bytes)]++;
    hsy_row_popcounts_avx2(hist, rows, n, stride, bytes);
}

#undef POPCOUNT_X86_SOME
#undef POPCOUNT_X86_NARROW

#endif
