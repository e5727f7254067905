/*
 * lh_decode_avx512.c - decoding local hashing with AVX-512, as lh_decode_vec.h
 * does elsewhere: its masks, products of words and lookups of up to 64 counts
 * beat what that compiles to.
 */
#include "lib/kernels/lh_decode.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#include "lib/kernels/internal.h"

HSY_TARGET_OPEN(HSY_AVX512)

#define LH_AVX512 __attribute__((always_inline)) static inline

/* The low halves of sixteen codes. */
LH_AVX512 __m512i lh_avx512_narrow(const uint64_t *codes)
{
    __m256i a = _mm512_cvtepi64_epi32(_mm512_loadu_si512(codes));
    __m256i b = _mm512_cvtepi64_epi32(_mm512_loadu_si512(codes + 8));

    return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

/* Sixteen wide codes: low halves of the first and second eight, then high. */
struct lh_avx512_codes {
    __m512i x0, x1, y0, y1;
};

LH_AVX512 struct lh_avx512_codes lh_avx512_split(const uint64_t *codes)
{
    const __m512i low = _mm512_set1_epi64(0xffffffff);
    __m512i a = _mm512_loadu_si512(codes), b = _mm512_loadu_si512(codes + 8);
    struct lh_avx512_codes split = {
        _mm512_and_si512(a, low), _mm512_and_si512(b, low),
        _mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32)};

    return split;
}

LH_AVX512 __m512i lh_avx512_hash(const struct lh_avx512_codes *codes,
                                 uint64_t a, uint64_t b, uint64_t c)
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

LH_AVX512 __m512i lh_avx512_linear(__m512i x, __m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_mullo_epi32(x, a), b);
}

LH_AVX512 void lh_avx512_sum(uint64_t *support, __m512i sums, unsigned shift)
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

LH_AVX512 __m512i lh_avx512_passed(__m512i sum, __m512i h, __m512i span,
                                   __m512i digit)
{
    return _mm512_mask_add_epi32(sum, _mm512_cmple_epu32_mask(h, span), sum,
                                 digit);
}

static void lh_avx512_direct_narrow(uint64_t *support, const uint64_t *codes,
                                    const struct lh_decode_test *tests,
                                    size_t n, unsigned shift)
{
    __m512i x0 = lh_avx512_narrow(codes), x1 = lh_avx512_narrow(codes + 16);
    __m512i x2 = lh_avx512_narrow(codes + 32),
            x3 = lh_avx512_narrow(codes + 48);
    __m512i s0 = _mm512_setzero_si512(), s1 = s0, s2 = s0, s3 = s0;

    for (size_t i = 0; i < n; i++) {
        const struct lh_decode_test *t = &tests[i];
        __m512i a = _mm512_set1_epi32((int)t->a);
        __m512i b = _mm512_set1_epi32((int)t->b);
        __m512i span = _mm512_set1_epi32((int)t->span);
        __m512i digit = _mm512_set1_epi32((int)t->digit);

        s0 = lh_avx512_passed(s0, lh_avx512_linear(x0, a, b), span, digit);
        s1 = lh_avx512_passed(s1, lh_avx512_linear(x1, a, b), span, digit);
        s2 = lh_avx512_passed(s2, lh_avx512_linear(x2, a, b), span, digit);
        s3 = lh_avx512_passed(s3, lh_avx512_linear(x3, a, b), span, digit);
    }
    lh_avx512_sum(support, s0, shift);
    lh_avx512_sum(support + 16, s1, shift);
    lh_avx512_sum(support + 32, s2, shift);
    lh_avx512_sum(support + 48, s3, shift);
}

static void lh_avx512_direct_wide(uint64_t *support, const uint64_t *codes,
                                  const struct lh_decode_test *tests, size_t n,
                                  unsigned shift)
{
    const struct lh_avx512_codes split = lh_avx512_split(codes);
    __m512i sum = _mm512_setzero_si512();

    for (size_t i = 0; i < n; i++) {
        const struct lh_decode_test *t = &tests[i];

        sum = lh_avx512_passed(sum, lh_avx512_hash(&split, t->a, t->b, t->c),
                               _mm512_set1_epi32((int)t->span),
                               _mm512_set1_epi32((int)t->digit));
    }
    lh_avx512_sum(support, sum, shift);
}

/* (h g) >> 32. */
LH_AVX512 __m512i lh_avx512_reduce(__m512i h, __m512i g)
{
    __m512i even = _mm512_mul_epu32(h, g);
    __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(h, 32), g);

    /* Take the high halves of even down into the even words. */
    return _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
}

/* Entry (h g) >> 32 of a row of 16, 32 or 64 digits. */
LH_AVX512 __m512i lh_avx512_look(__m512i h, __m512i g, const uint32_t *row,
                                 unsigned slots)
{
    __m512i y = lh_avx512_reduce(h, g), below, above;

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

LH_AVX512 void lh_avx512_narrow_rows(uint64_t *support, const uint64_t *codes,
                                     const struct lh_decode_block *block,
                                     unsigned shift, unsigned slots)
{
    __m512i x0 = lh_avx512_narrow(codes), x1 = lh_avx512_narrow(codes + 16);
    __m512i x2 = lh_avx512_narrow(codes + 32),
            x3 = lh_avx512_narrow(codes + 48);
    __m512i s0 = _mm512_setzero_si512(), s1 = s0, s2 = s0, s3 = s0, h;
    const __m512i g = _mm512_set1_epi32((int)block->g);

    for (size_t i = 0; i < block->rows; i++) {
        const uint32_t *row = block->digits + i * slots;
        __m512i a = _mm512_set1_epi32((int)block->hashes[i].a);
        __m512i b = _mm512_set1_epi32((int)block->hashes[i].b);

        h = lh_avx512_linear(x0, a, b);
        s0 = _mm512_add_epi32(s0, lh_avx512_look(h, g, row, slots));
        h = lh_avx512_linear(x1, a, b);
        s1 = _mm512_add_epi32(s1, lh_avx512_look(h, g, row, slots));
        h = lh_avx512_linear(x2, a, b);
        s2 = _mm512_add_epi32(s2, lh_avx512_look(h, g, row, slots));
        h = lh_avx512_linear(x3, a, b);
        s3 = _mm512_add_epi32(s3, lh_avx512_look(h, g, row, slots));
    }
    lh_avx512_sum(support, s0, shift);
    lh_avx512_sum(support + 16, s1, shift);
    lh_avx512_sum(support + 32, s2, shift);
    lh_avx512_sum(support + 48, s3, shift);
}

LH_AVX512 void lh_avx512_wide_rows(uint64_t *support, const uint64_t *codes,
                                   const struct lh_decode_block *block,
                                   unsigned shift, unsigned slots)
{
    const struct lh_avx512_codes split = lh_avx512_split(codes);
    const __m512i g = _mm512_set1_epi32((int)block->g);
    __m512i sum = _mm512_setzero_si512();

    for (size_t i = 0; i < block->rows; i++) {
        const struct pool_hash *f = &block->hashes[i];
        __m512i h = lh_avx512_hash(&split, f->a, f->b, f->c);

        sum = _mm512_add_epi32(
            sum, lh_avx512_look(h, g, block->digits + i * slots, slots));
    }
    lh_avx512_sum(support, sum, shift);
}

#define LH_AVX512_ROWS(kind, slots)                                            \
    static void lh_avx512_##kind##_rows##slots(                                \
        uint64_t *support, const uint64_t *codes,                              \
        const struct lh_decode_block *block, unsigned shift)                   \
    {                                                                          \
        lh_avx512_##kind##_rows(support, codes, block, shift, slots);          \
    }

LH_AVX512_ROWS(narrow, 16)
LH_AVX512_ROWS(narrow, 32)
LH_AVX512_ROWS(narrow, 64)
LH_AVX512_ROWS(wide, 16)
LH_AVX512_ROWS(wide, 32)
LH_AVX512_ROWS(wide, 64)

#undef LH_AVX512_ROWS

/* Gathers of 512 bits are no faster, so AVX2's groups serve here. */
static void lh_avx512_lookup_narrow(uint64_t *support, const uint64_t *codes,
                                    const struct lh_decode_block *block,
                                    unsigned shift)
{
    (void)shift;
    hsy_lh_lookup_avx2(support, codes, block, 64, true);
}

static void lh_avx512_lookup_wide(uint64_t *support, const uint64_t *codes,
                                  const struct lh_decode_block *block,
                                  unsigned shift)
{
    (void)shift;
    hsy_lh_lookup_avx2(support, codes, block, 16, false);
}

static const struct lh_decode_level lh_avx512_level = {
    .narrow = 64,
    .wide = 16,
    .direct_narrow = lh_avx512_direct_narrow,
    .direct_wide = lh_avx512_direct_wide,
    .lookup_narrow = lh_avx512_lookup_narrow,
    .lookup_wide = lh_avx512_lookup_wide,
    .table_narrow = {lh_avx512_narrow_rows16, lh_avx512_narrow_rows32,
                     lh_avx512_narrow_rows64},
    .table_wide = {lh_avx512_wide_rows16, lh_avx512_wide_rows32,
                   lh_avx512_wide_rows64},
};

void hsy_lh_direct_avx512(uint64_t *support, const uint64_t *codes,
                          size_t count, const struct kernel_cell *cells,
                          size_t n, uint32_t g, bool narrow)
{
    hsy_lh_direct_with(&lh_avx512_level, support, codes, count, cells, n, g,
                       narrow);
}

void hsy_lh_table_avx512(uint64_t *support, const uint64_t *codes, size_t count,
                         const struct pool_hash *hashes, const int64_t *table,
                         size_t rows, uint32_t g, bool narrow)
{
    const struct lh_decode_block block = {
        .hashes = hashes, .table = table, .g = g};

    hsy_lh_table_with(&lh_avx512_level, support, codes, count, block, rows,
                      narrow);
}

#undef LH_AVX512

HSY_TARGET_CLOSE

#endif
