/*
 * bit_counts.h - the frame shared by the fast folds: how rows are cut and
 * counted.
 *
 * Bits are counted in planes: plane k of a column (one vector wide) holds bit k
 * of its counters. Sixteen rows at a time go through a tree of full adders
 * into the planes of weight 1, 2, 4 and 8. What carries out of those, one
 * vector for each sixteen rows, waits until it can be added in pairs: carry
 * number j waits in plane `pending` i if bit i is the lowest zero of j, and
 * the others are merged on the way, so a row costs one full adder a vector.
 */
#ifndef LIB_KERNELS_BIT_COUNTS_H
#define LIB_KERNELS_BIT_COUNTS_H

#include "lib/kernels/kernels.h"

#define HSY_FOLD_ROWS 16u     /* rows that pass through the tree at once */
#define HSY_FOLD_UPPER 10u    /* planes of weight 16, 32, ... 8192 */
#define HSY_FOLD_BATCHES 1023 /* how many batches those planes can count */
#define HSY_FOLD_BLOCK 2048u  /* bytes of a row counted at once */

/* The planes of one column, in order of use: sums of weight 1, 2, 4, 8, then
 * those of weight 16 and up, each with its pending carry. */
#define HSY_FOLD_PLANES (4u + 2 * HSY_FOLD_UPPER)
#define HSY_FOLD_SUM(i) (4u + 2 * (i))
#define HSY_FOLD_PENDING(i) (5u + 2 * (i))

/* Sixteen rows of one block. Column c starts c vectors from the start of each
 * row, but the last one ends where the row ends. */
struct tally_bits_batch {
    const uint8_t *row[HSY_FOLD_ROWS];
    const uint8_t *ahead; /* memory that will be read soon */
    size_t step, ask; /* its bytes for each column, and how many to ask for */
    size_t bytes;     /* in a row, at least one vector */
    unsigned merges;  /* pending carries to merge: trailing ones of j */
    uint64_t *ones;   /* for add_weighed: the ones of each row */
};

/* What a level brings. */
struct tally_bits_level {
    size_t vector; /* bytes, at most 64 */
    bool slow;     /* memory keeps up with counting alone */

    void (*add)(uint8_t *planes, const struct tally_bits_batch *batch);

    /* The same, and count the ones of rows in passing; or NULL. */
    void (*add_weighed)(uint8_t *planes, const struct tally_bits_batch *batch);

    /* counts[i] = counter of bit i of a column, from its lowest `used` sums
     * (planes 0..3, then HSY_FOLD_SUM); 8 * vector counts. */
    void (*read)(uint16_t *counts, const uint8_t *column, unsigned used);

    /* cells[i] += counts[i] for n of them. */
    void (*increase)(int64_t *cells, const uint16_t *counts, size_t n);

    /* hist[w]++ for the ones w of each of n rows of `bytes` bytes. */
    void (*row_popcounts)(uint64_t *hist, const uint8_t *rows, size_t n,
                          size_t stride, size_t bytes);
};

/* The kernel bit_counts, by the means of a level. */
void hsy_bit_counts_with(const struct tally_bits_level *level, int64_t *cells,
                         uint64_t *hist, const uint8_t *rows, size_t n,
                         size_t stride, uint32_t d);

/* The kernel bit_counts_some, likewise. */
void hsy_bit_counts_some_with(const struct tally_bits_level *level,
                              int64_t *cells, const uint8_t *rows,
                              const uint32_t *order, size_t n, size_t stride,
                              uint32_t d);

/* 64 bytes of zeros, then of ones: a vector from the middle less k bytes masks
 * away its first k. */
extern const uint8_t hsy_edge[128];

#endif
