/* line_sums.h - the frame of the fast sums along lines; see line_sums_vec.h. */
#ifndef LIB_KERNELS_LINE_SUMS_H
#define LIB_KERNELS_LINE_SUMS_H

#include "lib/kernels/kernels.h"

/* Some rows of a matrix, each twice in a row. */
struct lines_tile {
    const uint32_t *work;
    size_t pitch;
    uint32_t q, first, rows;
    uint32_t at[KERNEL_LINE_SUMS_ROWS]; /* where row e begins for this slope */
};

/* From slope s to the next: at[e] = -s e mod q goes back by e. */
static inline void lines_turn(struct lines_tile *t)
{
    for (uint32_t e = 0; e < t->rows; e++) {
        uint32_t step = t->first + e;

        t->at[e] += t->at[e] < step ? t->q - step : 0 - step;
    }
}

/* What a level brings: add the rows of a tile to the lines of all slopes. */
typedef void lines_add(uint32_t *out, size_t stride, struct lines_tile *t);

/* The kernel line_sums, by the means of a level. */
void hsy_line_sums_with(lines_add *add, uint32_t *out, size_t stride,
                        const uint32_t *m, uint32_t q, size_t count,
                        uint32_t *work);

#endif
