/*
 * lh_decode_vec.h - decoding local hashing in vectors; see lh_decode.h.
 *
 * A group of codes stays in registers while a block of cells or rows of the
 * table passes. Rows of at most sixteen counts are looked up in registers where
 * the processor can, others in memory.
 */
#include "lib/kernels/simd.h"

/* Codes in a group: four vectors of 32-bit lanes, or one. */
#define LH_NARROW (4 * SIMD_HALVES)
#define LH_WIDE SIMD_HALVES

/* A number from memory in every lane. Hidden: what is done to it is done there,
 * and not before it is moved. */
SIMD_INLINE simd32 K(lh_all)(uint64_t x)
{
    return (simd32)simd_hide((simd64)((simd32){0} + (uint32_t)x));
}

/* The low halves of a vector of codes. */
SIMD_INLINE simd32 K(lh_low)(const uint64_t *codes)
{
    return simd_collect64(
        simd_even32(simd_load(codes), simd_load(codes + SIMD_WORDS)));
}

SIMD_INLINE void K(lh_start)(simd32 *x, simd32 *sum, const uint64_t *codes)
{
    SIMD_UNROLL
    for (size_t k = 0; k < 4; k++) {
        x[k] = K(lh_low)(codes + k * SIMD_HALVES);
        sum[k] = K(lh_all)(0);
    }
}

/* A vector's worth of wide codes, and their high halves. */
struct K(lh_codes) {
    simd64 x[2], y[2];
};

SIMD_INLINE struct K(lh_codes) K(lh_split)(const uint64_t *codes)
{
    struct K(lh_codes) to;

    SIMD_UNROLL
    for (size_t k = 0; k < 2; k++) {
        to.x[k] = simd_hide(simd_load(codes + k * SIMD_WORDS));
        to.y[k] = simd_hide(to.x[k] >> 32);
    }
    return to;
}

/* Hash values of wide codes, which collect64 brings in order: the high half of
 * a x + c y + b for codes with halves x and y. */
SIMD_INLINE simd32 K(lh_hash)(const struct K(lh_codes) * codes, uint64_t a,
                              uint64_t b, uint64_t c)
{
    const simd64 va = simd_hide((simd64){0} + a);
    const simd64 vc = simd_hide((simd64){0} + c);
    simd64 h[2];

    SIMD_UNROLL
    for (size_t k = 0; k < 2; k++) {
        simd64 x = codes->x[k], y = codes->y[k];

        h[k] = simd_mul32(x, va >> 32) + simd_mul32(y, vc >> 32);
        h[k] = (h[k] << 32) + simd_mul32(x, va) + simd_mul32(y, vc) + b;
    }
    return simd_odd32(h[0], h[1]);
}

SIMD_INLINE void K(lh_add)(uint64_t *support, simd32 sums, unsigned shift)
{
    uint32_t sum[SIMD_HALVES];

    simd_store(sum, (simd64)sums);
    for (size_t i = 0; i < SIMD_HALVES; i++)
        support[i] += (uint64_t)sum[i] << shift;
}

/* The digit where h <= span, else nothing; both moved down by 2^31, since there
 * may be no unsigned comparison. */
SIMD_INLINE simd32 K(lh_passed)(simd32 h, simd32 span, simd32 digit)
{
    return ~(simd32)((simd_signed32)h > (simd_signed32)span) & digit;
}

static void K(lh_direct_narrow)(uint64_t *support, const uint64_t *codes,
                                const struct lh_decode_test *tests, size_t n,
                                unsigned shift)
{
    simd32 x[4], sum[4];

    K(lh_start)(x, sum, codes);
    for (size_t i = 0; i < n; i++) {
        simd32 a = K(lh_all)(tests[i].a);
        simd32 b = K(lh_all)(tests[i].b) ^ 1u << 31;
        simd32 span = K(lh_all)(tests[i].span) ^ 1u << 31;
        simd32 digit = K(lh_all)(tests[i].digit);

        SIMD_UNROLL
        for (size_t k = 0; k < 4; k++)
            sum[k] += K(lh_passed)(x[k] * a + b, span, digit);
    }
    SIMD_UNROLL
    for (size_t k = 0; k < 4; k++)
        K(lh_add)(support + k * SIMD_HALVES, sum[k], shift);
}

static void K(lh_direct_wide)(uint64_t *support, const uint64_t *codes,
                              const struct lh_decode_test *tests, size_t n,
                              unsigned shift)
{
    const struct K(lh_codes) split = K(lh_split)(codes);
    simd32 sum = {0};

    for (size_t i = 0; i < n; i++) {
        const struct lh_decode_test *t = &tests[i];
        simd32 h = K(lh_hash)(&split, t->a, t->b, t->c) ^ 1u << 31;

        sum +=
            K(lh_passed)(h, K(lh_all)(t->span) ^ 1u << 31, K(lh_all)(t->digit));
    }
    K(lh_add)(support, simd_collect64(sum), shift);
}

/* (h g) >> 32. */
SIMD_INLINE simd32 K(lh_reduce)(simd32 h, simd64 g)
{
    simd64 even = simd_mul32((simd64)h, g) >> 32;
    simd64 odd = simd_mul32((simd64)h >> 32, g);

    return (simd32)simd_mix32(even, odd);
}

#ifdef SIMD_LOOKUP
static void K(lh_table_narrow)(uint64_t *support, const uint64_t *codes,
                               const struct lh_decode_block *block,
                               unsigned shift)
{
    const simd64 g = (simd64){0} + block->g;
    simd32 x[4], sum[4];

    K(lh_start)(x, sum, codes);
    for (size_t i = 0; i < block->rows; i++) {
        const uint32_t *row = block->digits + i * 16;
        simd32 a = K(lh_all)(block->hashes[i].a);
        simd32 b = K(lh_all)(block->hashes[i].b);

        SIMD_UNROLL
        for (size_t k = 0; k < 4; k++)
            sum[k] += simd_lookup(row, K(lh_reduce)(x[k] * a + b, g));
    }
    SIMD_UNROLL
    for (size_t k = 0; k < 4; k++)
        K(lh_add)(support + k * SIMD_HALVES, sum[k], shift);
}

static void K(lh_table_wide)(uint64_t *support, const uint64_t *codes,
                             const struct lh_decode_block *block,
                             unsigned shift)
{
    const struct K(lh_codes) split = K(lh_split)(codes);
    const simd64 g = (simd64){0} + block->g;
    simd32 sum = {0};

    for (size_t i = 0; i < block->rows; i++) {
        const struct pool_hash *f = &block->hashes[i];
        simd32 h = K(lh_hash)(&split, f->a, f->b, f->c);

        sum += simd_lookup(block->digits + i * 16, K(lh_reduce)(h, g));
    }
    K(lh_add)(support, simd_collect64(sum), shift);
}
#endif

/* Whole counts of a vector of codes: places first, then one load after the
 * other. */
SIMD_INLINE void K(lh_lookup)(uint64_t *support, const uint64_t *codes,
                              const struct lh_decode_block *block, bool narrow)
{
    const struct K(lh_codes) split = K(lh_split)(codes);
    const simd64 g = (simd64){0} + block->g;
    const simd32 x = K(lh_low)(codes);
    simd64 sum[2] = {simd_load(support), simd_load(support + SIMD_WORDS)};

    for (size_t i = 0; i < block->rows; i++) {
        const struct pool_hash *f = &block->hashes[i];
        simd32 h = narrow
                       ? x * K(lh_all)(f->a) + K(lh_all)(f->b)
                       : simd_collect64(K(lh_hash)(&split, f->a, f->b, f->c));

        simd_gather(sum, block->table + i * block->g, K(lh_reduce)(h, g));
    }
    simd_store(support, sum[0]);
    simd_store(support + SIMD_WORDS, sum[1]);
}

static void K(lh_lookup_narrow)(uint64_t *support, const uint64_t *codes,
                                const struct lh_decode_block *block,
                                unsigned shift)
{
    (void)shift;
    for (size_t v = 0; v < LH_NARROW; v += SIMD_HALVES)
        K(lh_lookup)(support + v, codes + v, block, true);
}

static void K(lh_lookup_wide)(uint64_t *support, const uint64_t *codes,
                              const struct lh_decode_block *block,
                              unsigned shift)
{
    (void)shift;
    K(lh_lookup)(support, codes, block, false);
}

#ifdef SIMD_AVX2
void hsy_lh_lookup_avx2(uint64_t *support, const uint64_t *codes,
                        const struct lh_decode_block *block, size_t count,
                        bool narrow)
{
    for (size_t v = 0; v < count; v += SIMD_HALVES)
        if (narrow)
            K(lh_lookup)(support + v, codes + v, block, true);
        else
            K(lh_lookup)(support + v, codes + v, block, false);
}
#endif

static const struct lh_decode_level K(lh_level) = {
    .narrow = LH_NARROW,
    .wide = LH_WIDE,
    .direct_narrow = K(lh_direct_narrow),
    .direct_wide = K(lh_direct_wide),
    .lookup_narrow = K(lh_lookup_narrow),
    .lookup_wide = K(lh_lookup_wide),
#ifdef SIMD_LOOKUP
    .table_narrow = {K(lh_table_narrow)},
    .table_wide = {K(lh_table_wide)},
#endif
};

void K(hsy_lh_direct)(uint64_t *support, const uint64_t *codes, size_t count,
                      const struct kernel_cell *cells, size_t n, uint32_t g,
                      bool narrow)
{
    hsy_lh_direct_with(&K(lh_level), support, codes, count, cells, n, g,
                       narrow);
}

void K(hsy_lh_table)(uint64_t *support, const uint64_t *codes, size_t count,
                     const struct pool_hash *hashes, const int64_t *table,
                     size_t rows, uint32_t g, bool narrow)
{
    const struct lh_decode_block block = {
        .hashes = hashes, .table = table, .g = g};

    hsy_lh_table_with(&K(lh_level), support, codes, count, block, rows, narrow);
}

#undef LH_NARROW
#undef LH_WIDE
