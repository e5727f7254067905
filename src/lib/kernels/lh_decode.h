/*
 * lh_decode.h - what the decoders of local hashing share.
 *
 * A hash value falls on y exactly if it lies in one interval of 32-bit words,
 * so a cell's question to a code is h - low <= span, without the reduction.
 *
 * Counts have 64 bits, lanes 32. A count is cut into digits of HSY_LH_DIGIT
 * bits, and there are as many passes over a block of cells as its largest count
 * has digits, nearly always one. A block is so short that a lane cannot
 * overflow.
 */
#ifndef LIB_KERNELS_LH_DECODE_H
#define LIB_KERNELS_LH_DECODE_H

#include "lib/kernels/kernels.h"

#define HSY_LH_DIGIT 23u
#define HSY_LH_DIGIT_MASK ((1u << HSY_LH_DIGIT) - 1)
#define HSY_LH_GROUP_MOST 64u /* codes in a group, at most */
#define HSY_LH_SLOTS 8192u    /* digits of a block of table rows */

/* Cells or rows in a block: so many digits sum to below 2^31. */
#define HSY_LH_BLOCK 256u

/* A code passes if its hash under (a, b, c), where low is already taken off b,
 * is at most span. */
struct lh_decode_test {
    uint64_t a, b, c, count;
    uint32_t span, digit;
};

/* A block of the table: its rows cut to digits, `slots` to a row. */
struct lh_decode_block {
    const struct pool_hash *hashes;
    const int64_t *table;
    const uint32_t *digits;
    size_t rows;
    uint32_t g, slots;
};

/* Work for one group of codes: its sums, times 2^shift, go to support. */
typedef void lh_decode_direct_group(uint64_t *support, const uint64_t *codes,
                                    const struct lh_decode_test *tests,
                                    size_t n, unsigned shift);
typedef void lh_decode_table_group(uint64_t *support, const uint64_t *codes,
                                   const struct lh_decode_block *block,
                                   unsigned shift);

/* How a level decodes: functions for groups of so many codes. */
struct lh_decode_level {
    size_t narrow, wide; /* codes in a group */
    lh_decode_direct_group *direct_narrow, *direct_wide;
    lh_decode_table_group *lookup_narrow, *lookup_wide; /* any g below 2^31 */

    /* g at most 16, 32 and 64, or NULL. */
    lh_decode_table_group *table_narrow[3], *table_wide[3];
};

void hsy_lh_direct_with(const struct lh_decode_level *level, uint64_t *support,
                        const uint64_t *codes, size_t count,
                        const struct kernel_cell *cells, size_t n, uint32_t g,
                        bool narrow);

/* AVX2's lookups of any g, for `count` codes: a multiple of eight. */
void hsy_lh_lookup_avx2(uint64_t *support, const uint64_t *codes,
                        const struct lh_decode_block *block, size_t count,
                        bool narrow);

/* block: hashes, table and g of the whole table. */
void hsy_lh_table_with(const struct lh_decode_level *level, uint64_t *support,
                       const uint64_t *codes, size_t count,
                       struct lh_decode_block block, size_t rows, bool narrow);

#endif
