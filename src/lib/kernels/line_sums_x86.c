/*
 * line_sums_x86.c - sums along all lines of small square tables, wide.
 *
 * Each row is written twice in a row, so that a rotation is an unaligned load.
 * Sixteen rows at a time stay in the cache for all slopes; a strip of a line is
 * summed in registers. Orders 2 and 3 are too short for that: line_sums.c.
 */
#include "lib/kernels/internal.h"

#if defined(__x86_64__)

#include <immintrin.h>

/* Some rows of a matrix, doubled. */
struct lines_tile {
    const uint32_t *work;
    size_t pitch;
    uint32_t q, first, rows;
    uint32_t at[KERNEL_LINE_SUMS_ROWS]; /* where row e begins for this slope */
};

/* Rows first .. first + rows - 1 of m, each twice in a row. */
static void lines_double(struct lines_tile *t, uint32_t *work,
                         const uint32_t *m)
{
    for (uint32_t e = 0; e < t->rows; e++) {
        const uint32_t *row = m + (size_t)(t->first + e) * t->q;
        uint32_t *twice = work + e * t->pitch;

        for (uint32_t z = 0; z < t->q; z++)
            twice[z] = twice[t->q + z] = row[z];
        for (uint32_t z = 0; z < 16; z++)
            twice[2 * t->q + z] = 0;
        t->at[e] = 0;
    }
}

/* From slope s to the next: at[e] = -s e mod q goes back by e. */
static inline void lines_turn(struct lines_tile *t)
{
    for (uint32_t e = 0; e < t->rows; e++) {
        uint32_t step = t->first + e;

        t->at[e] += t->at[e] < step ? t->q - step : 0 - step;
    }
}

/* ---- AVX-512 ------------------------------------------------------------- */

/* 64 places of a line; the first rows begin it, the others add to it. */
HSY_TARGET_AVX512 static inline void
lines_strip_avx512(uint32_t *line, const struct lines_tile *t, uint32_t z)
{
    __mmask16 old = t->first == 0 ? 0 : (__mmask16)0xffff;
    __m512i a = _mm512_maskz_loadu_epi32(old, line + z);
    __m512i b = _mm512_maskz_loadu_epi32(old, line + z + 16);
    __m512i c = _mm512_maskz_loadu_epi32(old, line + z + 32);
    __m512i d = _mm512_maskz_loadu_epi32(old, line + z + 48);

    for (uint32_t e = 0; e < t->rows; e++) {
        const uint32_t *row = t->work + e * t->pitch + t->at[e] + z;

        a = _mm512_add_epi32(a, _mm512_loadu_si512(row));
        b = _mm512_add_epi32(b, _mm512_loadu_si512(row + 16));
        c = _mm512_add_epi32(c, _mm512_loadu_si512(row + 32));
        d = _mm512_add_epi32(d, _mm512_loadu_si512(row + 48));
    }
    _mm512_storeu_si512(line + z, a);
    _mm512_storeu_si512(line + z + 16, b);
    _mm512_storeu_si512(line + z + 32, c);
    _mm512_storeu_si512(line + z + 48, d);
}

/* Up to 16 places. */
HSY_TARGET_AVX512 static inline void
lines_rest_avx512(uint32_t *line, const struct lines_tile *t, uint32_t z)
{
    uint32_t left = t->q - z;
    __mmask16 some =
        left < 16 ? (__mmask16)((1u << left) - 1) : (__mmask16)0xffff;
    __m512i a = _mm512_maskz_loadu_epi32(t->first == 0 ? 0 : some, line + z);

    for (uint32_t e = 0; e < t->rows; e++)
        a = _mm512_add_epi32(
            a, _mm512_loadu_si512(t->work + e * t->pitch + t->at[e] + z));
    _mm512_mask_storeu_epi32(line + z, some, a);
}

HSY_TARGET_AVX512 static void lines_tile_avx512(uint32_t *out, size_t stride,
                                                struct lines_tile *t)
{
    for (uint32_t s = 0; s < t->q; s++, out += stride) {
        uint32_t z = 0;

        for (; z + 64 <= t->q; z += 64)
            lines_strip_avx512(out, t, z);
        for (; z < t->q; z += 16)
            lines_rest_avx512(out, t, z);
        lines_turn(t);
    }
}

/* ---- AVX2 ---------------------------------------------------------------- */

HSY_TARGET_AVX2 static inline __m256i lines_load_avx2(const uint32_t *p)
{
    return _mm256_loadu_si256((const void *)p);
}

/* 32 places. */
HSY_TARGET_AVX2 static inline void
lines_strip_avx2(uint32_t *line, const struct lines_tile *t, uint32_t z)
{
    __m256i old = _mm256_set1_epi32(t->first == 0 ? 0 : -1);
    __m256i a = _mm256_maskload_epi32((const int *)line + z, old);
    __m256i b = _mm256_maskload_epi32((const int *)line + z + 8, old);
    __m256i c = _mm256_maskload_epi32((const int *)line + z + 16, old);
    __m256i d = _mm256_maskload_epi32((const int *)line + z + 24, old);

    for (uint32_t e = 0; e < t->rows; e++) {
        const uint32_t *row = t->work + e * t->pitch + t->at[e] + z;

        a = _mm256_add_epi32(a, lines_load_avx2(row));
        b = _mm256_add_epi32(b, lines_load_avx2(row + 8));
        c = _mm256_add_epi32(c, lines_load_avx2(row + 16));
        d = _mm256_add_epi32(d, lines_load_avx2(row + 24));
    }
    _mm256_storeu_si256((void *)(line + z), a);
    _mm256_storeu_si256((void *)(line + z + 8), b);
    _mm256_storeu_si256((void *)(line + z + 16), c);
    _mm256_storeu_si256((void *)(line + z + 24), d);
}

/* Up to 8 places. */
HSY_TARGET_AVX2 static inline void
lines_rest_avx2(uint32_t *line, const struct lines_tile *t, uint32_t z)
{
    const __m256i lane = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    __m256i some = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(t->q - z)), lane);
    __m256i a = _mm256_setzero_si256();

    if (t->first != 0)
        a = _mm256_maskload_epi32((const int *)line + z, some);
    for (uint32_t e = 0; e < t->rows; e++)
        a = _mm256_add_epi32(
            a, lines_load_avx2(t->work + e * t->pitch + t->at[e] + z));
    _mm256_maskstore_epi32((int *)line + z, some, a);
}

HSY_TARGET_AVX2 static void lines_tile_avx2(uint32_t *out, size_t stride,
                                            struct lines_tile *t)
{
    for (uint32_t s = 0; s < t->q; s++, out += stride) {
        uint32_t z = 0;

        for (; z + 32 <= t->q; z += 32)
            lines_strip_avx2(out, t, z);
        for (; z < t->q; z += 8)
            lines_rest_avx2(out, t, z);
        lines_turn(t);
    }
}

/* ---- All matrices -------------------------------------------------------- */

static void lines_all(uint32_t *out, size_t stride, const uint32_t *m,
                      uint32_t q, size_t count, uint32_t *work,
                      void (*sum)(uint32_t *out, size_t stride,
                                  struct lines_tile *t))
{
    struct lines_tile t = {.work = work, .pitch = 2 * (size_t)q + 16, .q = q};

    for (size_t c = 0; c < count; c++, m += (size_t)q * q, out += q)
        for (t.first = 0; t.first < q; t.first += KERNEL_LINE_SUMS_ROWS) {
            t.rows = q - t.first < KERNEL_LINE_SUMS_ROWS
                         ? q - t.first
                         : KERNEL_LINE_SUMS_ROWS;
            lines_double(&t, work, m);
            sum(out, stride, &t);
        }
}

void hsy_line_sums_avx512(uint32_t *out, size_t stride, const uint32_t *m,
                          uint32_t q, size_t count, uint32_t *work)
{
    if (q <= 3)
        hsy_line_sums_portable(out, stride, m, q, count, work);
    else
        lines_all(out, stride, m, q, count, work, lines_tile_avx512);
}

void hsy_line_sums_avx2(uint32_t *out, size_t stride, const uint32_t *m,
                        uint32_t q, size_t count, uint32_t *work)
{
    if (q <= 3)
        hsy_line_sums_portable(out, stride, m, q, count, work);
    else
        lines_all(out, stride, m, q, count, work, lines_tile_avx2);
}

#endif
