/*
 * line_sums_vec.h - sums along all lines of small square tables in vectors.
 *
 * Each row is written twice in a row, so that a rotation is an unaligned load.
 * Sixteen rows at a time stay in the cache for all slopes; a strip of a line is
 * summed in registers. Orders 2 and 3 are too short for that: line_sums.c.
 */
#include "lib/kernels/simd.h"

/* The sums from place z on, `ways` vectors of them. */
SIMD_INLINE void K(lines_sum)(simd32 *sum, const struct lines_tile *t,
                              uint32_t z, size_t ways)
{
    for (uint32_t e = 0; e < t->rows; e++) {
        const uint32_t *row = t->work + e * t->pitch + t->at[e] + z;

        SIMD_UNROLL
        for (size_t k = 0; k < ways; k++)
            sum[k] += (simd32)simd_load(row + k * SIMD_HALVES);
    }
}

/* Four vectors; the first rows begin a line, the others add to it. */
SIMD_INLINE void K(lines_strip)(uint32_t *line, const struct lines_tile *t,
                                uint32_t z)
{
    simd32 sum[4] = {{0}, {0}, {0}, {0}};

    if (t->first != 0) {
        SIMD_UNROLL
        for (size_t k = 0; k < 4; k++)
            sum[k] = (simd32)simd_load(line + z + k * SIMD_HALVES);
    }
    K(lines_sum)(sum, t, z, 4);
    SIMD_UNROLL
    for (size_t k = 0; k < 4; k++)
        simd_store(line + z + k * SIMD_HALVES, (simd64)sum[k]);
}

/* A vector, or what is left of the line. */
SIMD_INLINE void K(lines_rest)(uint32_t *line, const struct lines_tile *t,
                               uint32_t z)
{
    uint32_t left = t->q - z;
    simd32 sum = {0};

    if (left >= SIMD_HALVES) {
        if (t->first != 0)
            sum = (simd32)simd_load(line + z);
        K(lines_sum)(&sum, t, z, 1);
        simd_store(line + z, (simd64)sum);
    } else {
        if (t->first != 0)
            sum = (simd32)simd_load_some(line + z, left);
        K(lines_sum)(&sum, t, z, 1);
        simd_store_some(line + z, (simd64)sum, left);
    }
}

static void K(lines_tile)(uint32_t *out, size_t stride, struct lines_tile *t)
{
    for (uint32_t s = 0; s < t->q; s++, out += stride) {
        uint32_t z = 0;

        for (; z + 4 * SIMD_HALVES <= t->q; z += 4 * SIMD_HALVES)
            K(lines_strip)(out, t, z);
        for (; z < t->q; z += SIMD_HALVES)
            K(lines_rest)(out, t, z);
        lines_turn(t);
    }
}

void K(hsy_line_sums)(uint32_t *out, size_t stride, const uint32_t *m,
                      uint32_t q, size_t count, uint32_t *work)
{
    hsy_line_sums_with(K(lines_tile), out, stride, m, q, count, work);
}
