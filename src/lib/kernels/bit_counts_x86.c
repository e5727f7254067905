/* bit_counts_x86.c - counting bits of rows with AVX2 and AVX-512; see
 * bit_counts.h. */
#include "lib/kernels/bit_counts.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#include "lib/kernels/internal.h"

static inline unsigned tally_bits_x86_plane(unsigned k)
{
    return k < 4 ? k : HSY_FOLD_SUM(k - 4);
}

HSY_TARGET_AVX2 static inline __m256i tally_bits_x86_load2(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* A full adder in each bit: *sum + a + b = new *sum + 2 * result. */
HSY_TARGET_AVX2 static inline __m256i tally_bits_x86_csa2(__m256i *sum,
                                                          __m256i a, __m256i b)
{
    __m256i half = _mm256_xor_si256(*sum, a);
    __m256i carry =
        _mm256_or_si256(_mm256_and_si256(*sum, a), _mm256_and_si256(half, b));

    *sum = _mm256_xor_si256(half, b);
    return carry;
}

HSY_TARGET_AVX2 static inline __m256i
tally_bits_x86_four2(__m256i sum[4], const uint8_t *const *row, size_t at)
{
    __m256i a = tally_bits_x86_csa2(&sum[0], tally_bits_x86_load2(row[0] + at),
                                    tally_bits_x86_load2(row[1] + at));
    __m256i b = tally_bits_x86_csa2(&sum[0], tally_bits_x86_load2(row[2] + at),
                                    tally_bits_x86_load2(row[3] + at));

    return tally_bits_x86_csa2(&sum[1], a, b);
}

HSY_TARGET_AVX2 static inline __m256i
tally_bits_x86_tree2(__m256i *column, const uint8_t *const *row, size_t at)
{
    __m256i sum[4] = {column[0], column[1], column[2], column[3]};
    __m256i a = tally_bits_x86_four2(sum, row, at);
    __m256i b =
        tally_bits_x86_csa2(&sum[2], a, tally_bits_x86_four2(sum, row + 4, at));
    __m256i c = tally_bits_x86_four2(sum, row + 8, at);
    __m256i d = tally_bits_x86_csa2(&sum[2], c,
                                    tally_bits_x86_four2(sum, row + 12, at));
    __m256i carry = tally_bits_x86_csa2(&sum[3], b, d);

    column[0] = sum[0];
    column[1] = sum[1];
    column[2] = sum[2];
    column[3] = sum[3];
    return carry;
}

HSY_TARGET_AVX2 static void
tally_bits_x86_add2(uint8_t *planes, const struct tally_bits_batch *batch)
{
    size_t last = batch->bytes - sizeof(__m256i);
    const uint8_t *ahead = batch->ahead;
    __m256i *column = (__m256i *)(void *)planes;

    for (size_t c = 0; c < batch->bytes; c += sizeof(__m256i)) {
        __m256i carry;

        for (size_t i = 0; i < batch->ask; i += 64)
            _mm_prefetch((const char *)ahead + i, _MM_HINT_T1);
        ahead += batch->step;
        carry = tally_bits_x86_tree2(column, batch->row, c < last ? c : last);
        for (unsigned i = 0; i < batch->merges; i++)
            carry = tally_bits_x86_csa2(&column[HSY_FOLD_SUM(i)],
                                        column[HSY_FOLD_PENDING(i)], carry);
        column[HSY_FOLD_PENDING(batch->merges)] = carry;
        column += HSY_FOLD_PLANES;
    }
}

HSY_TARGET_AVX2 static void
tally_bits_x86_read2(uint16_t *counts, const uint8_t *column, unsigned used)
{
    const __m256i bits =
        _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048,
                          4096, 8192, 16384, (short)0x8000);

    for (size_t at = 0; at < sizeof(__m256i); at += 2) {
        __m256i sum = _mm256_setzero_si256();

        for (unsigned k = used; k-- > 0;) {
            __m256i word;
            uint16_t x;

            memcpy(&x, column + tally_bits_x86_plane(k) * sizeof(__m256i) + at,
                   2);
            word = _mm256_and_si256(_mm256_set1_epi16((short)x), bits);
            /* A true comparison is -1. */
            sum = _mm256_sub_epi16(_mm256_add_epi16(sum, sum),
                                   _mm256_cmpeq_epi16(word, bits));
        }
        _mm256_storeu_si256((__m256i *)(void *)(counts + 8 * at), sum);
    }
}

HSY_TARGET_AVX2 static void
tally_bits_x86_increase2(int64_t *cells, const uint16_t *counts, size_t n)
{
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        __m256i *sum = (void *)(cells + i);
        __m128i count = _mm_loadl_epi64((const void *)(counts + i));

        _mm256_storeu_si256(sum,
                            _mm256_add_epi64(_mm256_loadu_si256(sum),
                                             _mm256_cvtepu16_epi64(count)));
    }
    for (; i < n; i++)
        cells[i] += counts[i];
}

static const struct tally_bits_level tally_bits_x86_level2 = {
    .vector = sizeof(__m256i),
    .add = tally_bits_x86_add2,
    .read = tally_bits_x86_read2,
    .increase = tally_bits_x86_increase2,
    .row_popcounts = hsy_row_popcounts_avx2,
};

void hsy_bit_counts_avx2(int64_t *cells, uint64_t *hist, const uint8_t *rows,
                         size_t n, size_t stride, uint32_t d)
{
    hsy_bit_counts_with(&tally_bits_x86_level2, cells, hist, rows, n, stride,
                        d);
}

void hsy_bit_counts_some_avx2(int64_t *cells, const uint8_t *rows,
                              const uint32_t *order, size_t n, size_t stride,
                              uint32_t d)
{
    hsy_bit_counts_some_with(&tally_bits_x86_level2, cells, rows, order, n,
                             stride, d);
}

/* The same with ternary logic: 0x96 is the sum of three bits, 0xe8 the
 * majority. */
HSY_TARGET_AVX512 static inline __m512i
tally_bits_x86_csa5(__m512i *sum, __m512i a, __m512i b)
{
    __m512i carry = _mm512_ternarylogic_epi64(*sum, a, b, 0xe8);

    *sum = _mm512_ternarylogic_epi64(*sum, a, b, 0x96);
    return carry;
}

HSY_TARGET_AVX512 static inline __m512i
tally_bits_x86_four5(__m512i sum[4], const uint8_t *const *row, size_t at)
{
    __m512i a = tally_bits_x86_csa5(&sum[0], _mm512_loadu_si512(row[0] + at),
                                    _mm512_loadu_si512(row[1] + at));
    __m512i b = tally_bits_x86_csa5(&sum[0], _mm512_loadu_si512(row[2] + at),
                                    _mm512_loadu_si512(row[3] + at));

    return tally_bits_x86_csa5(&sum[1], a, b);
}

HSY_TARGET_AVX512 static inline __m512i
tally_bits_x86_tree5(__m512i *column, const uint8_t *const *row, size_t at)
{
    __m512i sum[4] = {column[0], column[1], column[2], column[3]};
    __m512i a = tally_bits_x86_four5(sum, row, at);
    __m512i b =
        tally_bits_x86_csa5(&sum[2], a, tally_bits_x86_four5(sum, row + 4, at));
    __m512i c = tally_bits_x86_four5(sum, row + 8, at);
    __m512i d = tally_bits_x86_csa5(&sum[2], c,
                                    tally_bits_x86_four5(sum, row + 12, at));
    __m512i carry = tally_bits_x86_csa5(&sum[3], b, d);

    column[0] = sum[0];
    column[1] = sum[1];
    column[2] = sum[2];
    column[3] = sum[3];
    return carry;
}

/* Add the ones of the column that starts at byte c of each row. */
HSY_TARGET_AVX512 static inline void
tally_bits_x86_weigh5(__m512i *ones, const struct tally_bits_batch *batch,
                      size_t c)
{
    size_t left = batch->bytes - c;
    __mmask64 mask =
        left < 64 ? (__mmask64)(((uint64_t)1 << left) - 1) : ~(__mmask64)0;

    for (size_t r = 0; r < HSY_FOLD_ROWS; r++)
        ones[r] = _mm512_add_epi64(
            ones[r], _mm512_popcnt_epi64(
                         _mm512_maskz_loadu_epi8(mask, batch->row[r] + c)));
}

/* Add sixteen rows and, unless ones is NULL, count their ones. */
HSY_TARGET_AVX512 __attribute__((always_inline)) static inline void
tally_bits_x86_columns5(uint8_t *planes, const struct tally_bits_batch *batch,
                        __m512i *ones)
{
    size_t last = batch->bytes - sizeof(__m512i);
    const uint8_t *ahead = batch->ahead;
    __m512i *column = (__m512i *)(void *)planes;

    for (size_t c = 0; c < batch->bytes; c += sizeof(__m512i)) {
        __m512i carry;

        for (size_t i = 0; i < batch->ask; i += 64)
            _mm_prefetch((const char *)ahead + i, _MM_HINT_T1);
        ahead += batch->step;
        carry = tally_bits_x86_tree5(column, batch->row, c < last ? c : last);
        if (ones != NULL)
            tally_bits_x86_weigh5(ones, batch, c);
        for (unsigned i = 0; i < batch->merges; i++)
            carry = tally_bits_x86_csa5(&column[HSY_FOLD_SUM(i)],
                                        column[HSY_FOLD_PENDING(i)], carry);
        column[HSY_FOLD_PENDING(batch->merges)] = carry;
        column += HSY_FOLD_PLANES;
    }
}

HSY_TARGET_AVX512 static void
tally_bits_x86_add5(uint8_t *planes, const struct tally_bits_batch *batch)
{
    tally_bits_x86_columns5(planes, batch, NULL);
}

HSY_TARGET_AVX512 static void
tally_bits_x86_add_weighed5(uint8_t *planes,
                            const struct tally_bits_batch *batch)
{
    __m512i ones[HSY_FOLD_ROWS];

    for (size_t r = 0; r < HSY_FOLD_ROWS; r++)
        ones[r] = _mm512_setzero_si512();
    tally_bits_x86_columns5(planes, batch, ones);
    for (size_t r = 0; r < HSY_FOLD_ROWS; r++)
        batch->ones[r] = (uint64_t)_mm512_reduce_add_epi64(ones[r]);
}

HSY_TARGET_AVX512 static void
tally_bits_x86_read5(uint16_t *counts, const uint8_t *column, unsigned used)
{
    for (size_t at = 0; at < sizeof(__m512i); at += 4) {
        __m512i sum = _mm512_setzero_si512(), weight = _mm512_set1_epi16(1);

        for (unsigned k = 0; k < used; k++) {
            uint32_t mask;

            memcpy(&mask,
                   column + tally_bits_x86_plane(k) * sizeof(__m512i) + at, 4);
            sum = _mm512_mask_add_epi16(sum, mask, sum, weight);
            weight = _mm512_add_epi16(weight, weight);
        }
        _mm512_storeu_si512(counts + 8 * at, sum);
    }
}

HSY_TARGET_AVX512 static void
tally_bits_x86_increase5(int64_t *cells, const uint16_t *counts, size_t n)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m128i count = _mm_loadu_si128((const void *)(counts + i));
        __m512i sum = _mm512_loadu_si512(cells + i);

        _mm512_storeu_si512(
            cells + i, _mm512_add_epi64(sum, _mm512_cvtepu16_epi64(count)));
    }
    for (; i < n; i++)
        cells[i] += counts[i];
}

static const struct tally_bits_level tally_bits_x86_level5 = {
    .vector = sizeof(__m512i),
    .add = tally_bits_x86_add5,
    .add_weighed = tally_bits_x86_add_weighed5,
    .read = tally_bits_x86_read5,
    .increase = tally_bits_x86_increase5,
    .row_popcounts = hsy_row_popcounts_avx512,
};

void hsy_bit_counts_avx512(int64_t *cells, uint64_t *hist, const uint8_t *rows,
                           size_t n, size_t stride, uint32_t d)
{
    hsy_bit_counts_with(&tally_bits_x86_level5, cells, hist, rows, n, stride,
                        d);
}

void hsy_bit_counts_some_avx512(int64_t *cells, const uint8_t *rows,
                                const uint32_t *order, size_t n, size_t stride,
                                uint32_t d)
{
    hsy_bit_counts_some_with(&tally_bits_x86_level5, cells, rows, order, n,
                             stride, d);
}

#endif
