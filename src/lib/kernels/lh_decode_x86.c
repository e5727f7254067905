/*
 * lh_decode_x86.c - decoding local hashing with AVX2 and AVX-512.
 *
 * A group of codes stays in registers while a block of cells or rows of the
 * table passes. Rows of few counts are looked up by permuting a register,
 * others by gathers. Names end in 2 or 5 for the two levels.
 */
#include "lib/kernels/lh_decode.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#include "lib/kernels/internal.h"

#define LH_X86_2 HSY_TARGET_AVX2 __attribute__((always_inline)) static inline
#define LH_X86_5 HSY_TARGET_AVX512 __attribute__((always_inline)) static inline

LH_X86_2 __m256i lh_x86_load2(const void *p)
{
    return _mm256_loadu_si256(p);
}

/* The low halves of eight codes. */
LH_X86_2 __m256i lh_x86_narrow2(const uint64_t *codes)
{
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    __m256i a = _mm256_permutevar8x32_epi32(lh_x86_load2(codes), even);
    __m256i b = _mm256_permutevar8x32_epi32(lh_x86_load2(codes + 4), even);

    return _mm256_blend_epi32(a, b, 0xf0);
}

/* a x + c y + b for four codes with halves x and y. */
LH_X86_2 __m256i lh_x86_wide2(__m256i code, uint64_t a, uint64_t b, uint64_t c)
{
    __m256i x = code, y = _mm256_srli_epi64(code, 32);
    __m256i low =
        _mm256_add_epi64(_mm256_mul_epu32(x, _mm256_set1_epi64x((long long)a)),
                         _mm256_mul_epu32(y, _mm256_set1_epi64x((long long)c)));
    __m256i high = _mm256_add_epi64(
        _mm256_mul_epu32(x, _mm256_set1_epi64x((long long)(a >> 32))),
        _mm256_mul_epu32(y, _mm256_set1_epi64x((long long)(c >> 32))));

    low = _mm256_add_epi64(low, _mm256_set1_epi64x((long long)b));
    return _mm256_add_epi64(low, _mm256_slli_epi64(high, 32));
}

/* Hash values of eight wide codes, in the order 0 1 4 5 2 3 6 7. */
LH_X86_2 __m256i lh_x86_hash2(const __m256i *code, uint64_t a, uint64_t b,
                              uint64_t c)
{
    __m256 s = _mm256_castsi256_ps(lh_x86_wide2(code[0], a, b, c));
    __m256 t = _mm256_castsi256_ps(lh_x86_wide2(code[1], a, b, c));

    /* Odd words of s and t, half by half. */
    return _mm256_castps_si256(_mm256_shuffle_ps(s, t, 0xdd));
}

/* Undo the order of lh_x86_hash2. */
LH_X86_2 __m256i lh_x86_order2(__m256i x)
{
    return _mm256_permute4x64_epi64(x, 0xd8);
}

LH_X86_2 void lh_x86_sum2(uint64_t *support, __m256i sums, unsigned shift)
{
    uint32_t sum[8];

    _mm256_storeu_si256((void *)sum, sums);
    for (int i = 0; i < 8; i++)
        support[i] += (uint64_t)sum[i] << shift;
}

/* Where h > span, nothing, else the digit. There is no unsigned comparison;
 * the caller moves both sides down by 2^31. */
LH_X86_2 __m256i lh_x86_passed2(__m256i h, __m256i span, __m256i digit)
{
    return _mm256_andnot_si256(_mm256_cmpgt_epi32(h, span), digit);
}

HSY_TARGET_AVX2 static void
lh_x86_direct_narrow2(uint64_t *support, const uint64_t *codes,
                      const struct lh_decode_test *tests, size_t n,
                      unsigned shift)
{
    __m256i x0 = lh_x86_narrow2(codes), x1 = lh_x86_narrow2(codes + 8);
    __m256i x2 = lh_x86_narrow2(codes + 16), x3 = lh_x86_narrow2(codes + 24);
    __m256i s0 = _mm256_setzero_si256(), s1 = s0, s2 = s0, s3 = s0;
    const __m256i half = _mm256_set1_epi32(INT32_MIN);

    for (size_t i = 0; i < n; i++) {
        const struct lh_decode_test *t = &tests[i];
        __m256i a = _mm256_set1_epi32((int)t->a), h;
        __m256i b = _mm256_xor_si256(_mm256_set1_epi32((int)t->b), half);
        __m256i span = _mm256_xor_si256(_mm256_set1_epi32((int)t->span), half);
        __m256i digit = _mm256_set1_epi32((int)t->digit);

        h = _mm256_add_epi32(_mm256_mullo_epi32(x0, a), b);
        s0 = _mm256_add_epi32(s0, lh_x86_passed2(h, span, digit));
        h = _mm256_add_epi32(_mm256_mullo_epi32(x1, a), b);
        s1 = _mm256_add_epi32(s1, lh_x86_passed2(h, span, digit));
        h = _mm256_add_epi32(_mm256_mullo_epi32(x2, a), b);
        s2 = _mm256_add_epi32(s2, lh_x86_passed2(h, span, digit));
        h = _mm256_add_epi32(_mm256_mullo_epi32(x3, a), b);
        s3 = _mm256_add_epi32(s3, lh_x86_passed2(h, span, digit));
    }
    lh_x86_sum2(support, s0, shift);
    lh_x86_sum2(support + 8, s1, shift);
    lh_x86_sum2(support + 16, s2, shift);
    lh_x86_sum2(support + 24, s3, shift);
}

HSY_TARGET_AVX2 static void
lh_x86_direct_wide2(uint64_t *support, const uint64_t *codes,
                    const struct lh_decode_test *tests, size_t n,
                    unsigned shift)
{
    const __m256i code[2] = {lh_x86_load2(codes), lh_x86_load2(codes + 4)};
    const __m256i half = _mm256_set1_epi32(INT32_MIN);
    __m256i sum = _mm256_setzero_si256();

    for (size_t i = 0; i < n; i++) {
        const struct lh_decode_test *t = &tests[i];
        __m256i h = lh_x86_hash2(code, t->a, t->b, t->c);
        __m256i span = _mm256_xor_si256(_mm256_set1_epi32((int)t->span), half);
        __m256i digit = _mm256_set1_epi32((int)t->digit);

        h = _mm256_xor_si256(h, half);
        sum = _mm256_add_epi32(sum, lh_x86_passed2(h, span, digit));
    }
    lh_x86_sum2(support, lh_x86_order2(sum), shift);
}

/* (h g) >> 32. */
LH_X86_2 __m256i lh_x86_reduce2(__m256i h, __m256i g)
{
    __m256i even = _mm256_mul_epu32(h, g);
    __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(h, 32), g);

    return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}

/* Entry (h g) >> 32 of a row of sixteen digits. */
LH_X86_2 __m256i lh_x86_look2(__m256i h, __m256i g, __m256i low, __m256i high)
{
    __m256i y = lh_x86_reduce2(h, g);
    __m256 below = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, y));
    __m256 above = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, y));
    __m256 pick = _mm256_castsi256_ps(_mm256_slli_epi32(y, 28));

    return _mm256_castps_si256(_mm256_blendv_ps(below, above, pick));
}

HSY_TARGET_AVX2 static void
lh_x86_table_narrow2(uint64_t *support, const uint64_t *codes,
                     const struct lh_decode_block *block, unsigned shift)
{
    __m256i x0 = lh_x86_narrow2(codes), x1 = lh_x86_narrow2(codes + 8);
    __m256i x2 = lh_x86_narrow2(codes + 16), x3 = lh_x86_narrow2(codes + 24);
    __m256i s0 = _mm256_setzero_si256(), s1 = s0, s2 = s0, s3 = s0;
    const __m256i g = _mm256_set1_epi32((int)block->g);

    for (size_t i = 0; i < block->rows; i++) {
        const uint32_t *row = block->digits + i * 16;
        __m256i low = lh_x86_load2(row), high = lh_x86_load2(row + 8), h;
        __m256i a = _mm256_set1_epi32((int)block->hashes[i].a);
        __m256i b = _mm256_set1_epi32((int)block->hashes[i].b);

        h = _mm256_add_epi32(_mm256_mullo_epi32(x0, a), b);
        s0 = _mm256_add_epi32(s0, lh_x86_look2(h, g, low, high));
        h = _mm256_add_epi32(_mm256_mullo_epi32(x1, a), b);
        s1 = _mm256_add_epi32(s1, lh_x86_look2(h, g, low, high));
        h = _mm256_add_epi32(_mm256_mullo_epi32(x2, a), b);
        s2 = _mm256_add_epi32(s2, lh_x86_look2(h, g, low, high));
        h = _mm256_add_epi32(_mm256_mullo_epi32(x3, a), b);
        s3 = _mm256_add_epi32(s3, lh_x86_look2(h, g, low, high));
    }
    lh_x86_sum2(support, s0, shift);
    lh_x86_sum2(support + 8, s1, shift);
    lh_x86_sum2(support + 16, s2, shift);
    lh_x86_sum2(support + 24, s3, shift);
}

HSY_TARGET_AVX2 static void
lh_x86_table_wide2(uint64_t *support, const uint64_t *codes,
                   const struct lh_decode_block *block, unsigned shift)
{
    const __m256i code[2] = {lh_x86_load2(codes), lh_x86_load2(codes + 4)};
    const __m256i g = _mm256_set1_epi32((int)block->g);
    __m256i sum = _mm256_setzero_si256();

    for (size_t i = 0; i < block->rows; i++) {
        const struct pool_hash *f = &block->hashes[i];
        const uint32_t *row = block->digits + i * 16;
        __m256i low = lh_x86_load2(row), high = lh_x86_load2(row + 8);
        __m256i h = lh_x86_hash2(code, f->a, f->b, f->c);

        sum = _mm256_add_epi32(sum, lh_x86_look2(h, g, low, high));
    }
    lh_x86_sum2(support, lh_x86_order2(sum), shift);
}

/* Whole counts of eight codes from one row. */
LH_X86_2 void lh_x86_gather2(__m256i sum[2], __m256i y, const int64_t *row)
{
    const long long *base = (const long long *)(const void *)row;

    sum[0] = _mm256_add_epi64(
        sum[0], _mm256_i32gather_epi64(base, _mm256_castsi256_si128(y), 8));
    sum[1] = _mm256_add_epi64(
        sum[1],
        _mm256_i32gather_epi64(base, _mm256_extracti128_si256(y, 1), 8));
}

LH_X86_2 void lh_x86_lookup2(uint64_t *support, const uint64_t *codes,
                             const struct lh_decode_block *block, bool narrow)
{
    const __m256i code[2] = {lh_x86_load2(codes), lh_x86_load2(codes + 4)};
    const __m256i x = lh_x86_narrow2(codes);
    const __m256i g = _mm256_set1_epi32((int)block->g);
    __m256i sum[2] = {lh_x86_load2(support), lh_x86_load2(support + 4)};

    for (size_t i = 0; i < block->rows; i++) {
        const struct pool_hash *f = &block->hashes[i];
        __m256i h;

        if (narrow)
            h = _mm256_add_epi32(
                _mm256_mullo_epi32(x, _mm256_set1_epi32((int)f->a)),
                _mm256_set1_epi32((int)f->b));
        else
            h = lh_x86_order2(lh_x86_hash2(code, f->a, f->b, f->c));
        lh_x86_gather2(sum, lh_x86_reduce2(h, g), block->table + i * block->g);
    }
    _mm256_storeu_si256((void *)support, sum[0]);
    _mm256_storeu_si256((void *)(support + 4), sum[1]);
}

HSY_TARGET_AVX2 static void
lh_x86_lookup_narrow2(uint64_t *support, const uint64_t *codes,
                      const struct lh_decode_block *block, unsigned shift)
{
    (void)shift;
    for (size_t v = 0; v < 32; v += 8)
        lh_x86_lookup2(support + v, codes + v, block, true);
}

HSY_TARGET_AVX2 static void
lh_x86_lookup_wide2(uint64_t *support, const uint64_t *codes,
                    const struct lh_decode_block *block, unsigned shift)
{
    (void)shift;
    lh_x86_lookup2(support, codes, block, false);
}

static const struct lh_decode_level lh_x86_avx2 = {
    .narrow = 32,
    .wide = 8,
    .direct_narrow = lh_x86_direct_narrow2,
    .direct_wide = lh_x86_direct_wide2,
    .lookup_narrow = lh_x86_lookup_narrow2,
    .lookup_wide = lh_x86_lookup_wide2,
    .table_narrow = {lh_x86_table_narrow2},
    .table_wide = {lh_x86_table_wide2},
};

void hsy_lh_direct_avx2(uint64_t *support, const uint64_t *codes, size_t count,
                        const struct kernel_cell *cells, size_t n, uint32_t g,
                        bool narrow)
{
    hsy_lh_direct_with(&lh_x86_avx2, support, codes, count, cells, n, g,
                       narrow);
}

void hsy_lh_table_avx2(uint64_t *support, const uint64_t *codes, size_t count,
                       const struct pool_hash *hashes, const int64_t *table,
                       size_t rows, uint32_t g, bool narrow)
{
    const struct lh_decode_block block = {
        .hashes = hashes, .table = table, .g = g};

    hsy_lh_table_with(&lh_x86_avx2, support, codes, count, block, rows, narrow);
}

/* The low halves of sixteen codes. */
LH_X86_5 __m512i lh_x86_narrow5(const uint64_t *codes)
{
    __m256i a = _mm512_cvtepi64_epi32(_mm512_loadu_si512(codes));
    __m256i b = _mm512_cvtepi64_epi32(_mm512_loadu_si512(codes + 8));

    return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

/* Sixteen wide codes: low halves of the first and second eight, then high. */
struct lh_x86_codes {
    __m512i x0, x1, y0, y1;
};

LH_X86_5 struct lh_x86_codes lh_x86_split5(const uint64_t *codes)
{
    const __m512i low = _mm512_set1_epi64(0xffffffff);
    __m512i a = _mm512_loadu_si512(codes), b = _mm512_loadu_si512(codes + 8);
    struct lh_x86_codes split = {
        _mm512_and_si512(a, low), _mm512_and_si512(b, low),
        _mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32)};

    return split;
}

LH_X86_5 __m512i lh_x86_hash5(const struct lh_x86_codes *codes, uint64_t a,
                              uint64_t b, uint64_t c)
{
    const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21,
                                          23, 25, 27, 29, 31);
    __m512i va = _mm512_set1_epi64((long long)a);
    __m512i vb = _mm512_set1_epi64((long long)b);
    __m512i vc = _mm512_set1_epi64((long long)c), s, t;

    s = _mm512_add_epi64(_mm512_mullo_epi64(codes->x0, va), vb);
    t = _mm512_add_epi64(_mm512_mullo_epi64(codes->x1, va), vb);
    s = _mm512_add_epi64(_mm512_mullo_epi64(codes->y0, vc), s);
    t = _mm512_add_epi64(_mm512_mullo_epi64(codes->y1, vc), t);
    return _mm512_permutex2var_epi32(s, odd, t);
}

LH_X86_5 __m512i lh_x86_linear5(__m512i x, __m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_mullo_epi32(x, a), b);
}

LH_X86_5 void lh_x86_sum5(uint64_t *support, __m512i sums, unsigned shift)
{
    __m512i low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(sums));
    __m512i high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(sums, 1));

    low = _mm512_slli_epi64(low, shift);
    high = _mm512_slli_epi64(high, shift);
    _mm512_storeu_si512(support,
                        _mm512_add_epi64(low, _mm512_loadu_si512(support)));
    _mm512_storeu_si512(
        support + 8, _mm512_add_epi64(high, _mm512_loadu_si512(support + 8)));
}

LH_X86_5 __m512i lh_x86_passed5(__m512i sum, __m512i h, __m512i span,
                                __m512i digit)
{
    return _mm512_mask_add_epi32(sum, _mm512_cmple_epu32_mask(h, span), sum,
                                 digit);
}

HSY_TARGET_AVX512 static void
lh_x86_direct_narrow5(uint64_t *support, const uint64_t *codes,
                      const struct lh_decode_test *tests, size_t n,
                      unsigned shift)
{
    __m512i x0 = lh_x86_narrow5(codes), x1 = lh_x86_narrow5(codes + 16);
    __m512i x2 = lh_x86_narrow5(codes + 32), x3 = lh_x86_narrow5(codes + 48);
    __m512i s0 = _mm512_setzero_si512(), s1 = s0, s2 = s0, s3 = s0;

    for (size_t i = 0; i < n; i++) {
        const struct lh_decode_test *t = &tests[i];
        __m512i a = _mm512_set1_epi32((int)t->a);
        __m512i b = _mm512_set1_epi32((int)t->b);
        __m512i span = _mm512_set1_epi32((int)t->span);
        __m512i digit = _mm512_set1_epi32((int)t->digit);

        s0 = lh_x86_passed5(s0, lh_x86_linear5(x0, a, b), span, digit);
        s1 = lh_x86_passed5(s1, lh_x86_linear5(x1, a, b), span, digit);
        s2 = lh_x86_passed5(s2, lh_x86_linear5(x2, a, b), span, digit);
        s3 = lh_x86_passed5(s3, lh_x86_linear5(x3, a, b), span, digit);
    }
    lh_x86_sum5(support, s0, shift);
    lh_x86_sum5(support + 16, s1, shift);
    lh_x86_sum5(support + 32, s2, shift);
    lh_x86_sum5(support + 48, s3, shift);
}

HSY_TARGET_AVX512 static void
lh_x86_direct_wide5(uint64_t *support, const uint64_t *codes,
                    const struct lh_decode_test *tests, size_t n,
                    unsigned shift)
{
    const struct lh_x86_codes split = lh_x86_split5(codes);
    __m512i sum = _mm512_setzero_si512();

    for (size_t i = 0; i < n; i++) {
        const struct lh_decode_test *t = &tests[i];

        sum = lh_x86_passed5(sum, lh_x86_hash5(&split, t->a, t->b, t->c),
                             _mm512_set1_epi32((int)t->span),
                             _mm512_set1_epi32((int)t->digit));
    }
    lh_x86_sum5(support, sum, shift);
}

/* (h g) >> 32. */
LH_X86_5 __m512i lh_x86_reduce5(__m512i h, __m512i g)
{
    __m512i even = _mm512_mul_epu32(h, g);
    __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(h, 32), g);

    /* Take the high halves of even down into the even words. */
    return _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
}

/* Entry (h g) >> 32 of a row of 16, 32 or 64 digits. */
LH_X86_5 __m512i lh_x86_look5(__m512i h, __m512i g, const uint32_t *row,
                              unsigned slots)
{
    __m512i y = lh_x86_reduce5(h, g), below, above;

    if (slots == 16)
        return _mm512_permutexvar_epi32(y, _mm512_load_si512(row));
    below = _mm512_permutex2var_epi32(_mm512_load_si512(row), y,
                                      _mm512_load_si512(row + 16));
    if (slots == 32)
        return below;
    above = _mm512_permutex2var_epi32(_mm512_load_si512(row + 32), y,
                                      _mm512_load_si512(row + 48));
    return _mm512_mask_mov_epi32(
        below, _mm512_test_epi32_mask(y, _mm512_set1_epi32(32)), above);
}

LH_X86_5 void lh_x86_narrow_rows5(uint64_t *support, const uint64_t *codes,
                                  const struct lh_decode_block *block,
                                  unsigned shift, unsigned slots)
{
    __m512i x0 = lh_x86_narrow5(codes), x1 = lh_x86_narrow5(codes + 16);
    __m512i x2 = lh_x86_narrow5(codes + 32), x3 = lh_x86_narrow5(codes + 48);
    __m512i s0 = _mm512_setzero_si512(), s1 = s0, s2 = s0, s3 = s0, h;
    const __m512i g = _mm512_set1_epi32((int)block->g);

    for (size_t i = 0; i < block->rows; i++) {
        const uint32_t *row = block->digits + i * slots;
        __m512i a = _mm512_set1_epi32((int)block->hashes[i].a);
        __m512i b = _mm512_set1_epi32((int)block->hashes[i].b);

        h = lh_x86_linear5(x0, a, b);
        s0 = _mm512_add_epi32(s0, lh_x86_look5(h, g, row, slots));
        h = lh_x86_linear5(x1, a, b);
        s1 = _mm512_add_epi32(s1, lh_x86_look5(h, g, row, slots));
        h = lh_x86_linear5(x2, a, b);
        s2 = _mm512_add_epi32(s2, lh_x86_look5(h, g, row, slots));
        h = lh_x86_linear5(x3, a, b);
        s3 = _mm512_add_epi32(s3, lh_x86_look5(h, g, row, slots));
    }
    lh_x86_sum5(support, s0, shift);
    lh_x86_sum5(support + 16, s1, shift);
    lh_x86_sum5(support + 32, s2, shift);
    lh_x86_sum5(support + 48, s3, shift);
}

LH_X86_5 void lh_x86_wide_rows5(uint64_t *support, const uint64_t *codes,
                                const struct lh_decode_block *block,
                                unsigned shift, unsigned slots)
{
    const struct lh_x86_codes split = lh_x86_split5(codes);
    const __m512i g = _mm512_set1_epi32((int)block->g);
    __m512i sum = _mm512_setzero_si512();

    for (size_t i = 0; i < block->rows; i++) {
        const struct pool_hash *f = &block->hashes[i];
        __m512i h = lh_x86_hash5(&split, f->a, f->b, f->c);

        sum = _mm512_add_epi32(
            sum, lh_x86_look5(h, g, block->digits + i * slots, slots));
    }
    lh_x86_sum5(support, sum, shift);
}

#define LH_X86_ROWS(kind, slots)                                               \
    HSY_TARGET_AVX512 static void lh_x86_##kind##_rows##slots(                 \
        uint64_t *support, const uint64_t *codes,                              \
        const struct lh_decode_block *block, unsigned shift)                   \
    {                                                                          \
        lh_x86_##kind##_rows5(support, codes, block, shift, slots);            \
    }

LH_X86_ROWS(narrow, 16)
LH_X86_ROWS(narrow, 32)
LH_X86_ROWS(narrow, 64)
LH_X86_ROWS(wide, 16)
LH_X86_ROWS(wide, 32)
LH_X86_ROWS(wide, 64)

#undef LH_X86_ROWS

/* Gathers of 512 bits are no faster, so eight codes at a time serve here. */
HSY_TARGET_AVX512 static void
lh_x86_lookup_narrow5(uint64_t *support, const uint64_t *codes,
                      const struct lh_decode_block *block, unsigned shift)
{
    lh_x86_lookup_narrow2(support, codes, block, shift);
    lh_x86_lookup_narrow2(support + 32, codes + 32, block, shift);
}

HSY_TARGET_AVX512 static void
lh_x86_lookup_wide5(uint64_t *support, const uint64_t *codes,
                    const struct lh_decode_block *block, unsigned shift)
{
    lh_x86_lookup_wide2(support, codes, block, shift);
    lh_x86_lookup_wide2(support + 8, codes + 8, block, shift);
}

static const struct lh_decode_level lh_x86_avx512 = {
    .narrow = 64,
    .wide = 16,
    .direct_narrow = lh_x86_direct_narrow5,
    .direct_wide = lh_x86_direct_wide5,
    .lookup_narrow = lh_x86_lookup_narrow5,
    .lookup_wide = lh_x86_lookup_wide5,
    .table_narrow = {lh_x86_narrow_rows16, lh_x86_narrow_rows32,
                     lh_x86_narrow_rows64},
    .table_wide = {lh_x86_wide_rows16, lh_x86_wide_rows32, lh_x86_wide_rows64},
};

void hsy_lh_direct_avx512(uint64_t *support, const uint64_t *codes,
                          size_t count, const struct kernel_cell *cells,
                          size_t n, uint32_t g, bool narrow)
{
    hsy_lh_direct_with(&lh_x86_avx512, support, codes, count, cells, n, g,
                       narrow);
}

void hsy_lh_table_avx512(uint64_t *support, const uint64_t *codes, size_t count,
                         const struct pool_hash *hashes, const int64_t *table,
                         size_t rows, uint32_t g, bool narrow)
{
    const struct lh_decode_block block = {
        .hashes = hashes, .table = table, .g = g};

    hsy_lh_table_with(&lh_x86_avx512, support, codes, count, block, rows,
                      narrow);
}

#undef LH_X86_2
#undef LH_X86_5

#endif
