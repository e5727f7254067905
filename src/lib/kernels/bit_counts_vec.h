/* bit_counts_vec.h - counting bits of rows in vectors; see bit_counts.h. */
#include "lib/kernels/row_popcounts_vec.h"
#include "lib/kernels/simd.h"

SIMD_INLINE simd64 K(tally_bits_four)(simd64 *sum, const uint8_t *const *row,
                                      size_t at)
{
    simd64 a =
        simd_add3(&sum[0], simd_load(row[0] + at), simd_load(row[1] + at));
    simd64 b =
        simd_add3(&sum[0], simd_load(row[2] + at), simd_load(row[3] + at));

    return simd_add3(&sum[1], a, b);
}

SIMD_INLINE simd64 K(tally_bits_tree)(simd_block *column,
                                      const uint8_t *const *row, size_t at)
{
    simd64 sum[4] = {column[0], column[1], column[2], column[3]};
    simd64 a = K(tally_bits_four)(sum, row, at);
    simd64 b = simd_add3(&sum[2], a, K(tally_bits_four)(sum, row + 4, at));
    simd64 c = K(tally_bits_four)(sum, row + 8, at);
    simd64 d = simd_add3(&sum[2], c, K(tally_bits_four)(sum, row + 12, at));
    simd64 carry = simd_add3(&sum[3], b, d);

    column[0] = sum[0];
    column[1] = sum[1];
    column[2] = sum[2];
    column[3] = sum[3];
    return carry;
}

/* The ones of sixteen rows from byte `at` on, without the first `before` bytes,
 * which the column before had. */
SIMD_INLINE void K(tally_bits_weigh)(simd64 *ones,
                                     const struct tally_bits_batch *batch,
                                     size_t at, size_t before)
{
    simd64 keep = simd_load(hsy_edge + sizeof hsy_edge / 2 - before);

    for (size_t r = 0; r < HSY_FOLD_ROWS; r++)
        ones[r] += simd_ones64(simd_load(batch->row[r] + at) & keep);
}

/* Add sixteen rows and, unless ones is NULL, count their ones. */
SIMD_INLINE void K(tally_bits_columns)(uint8_t *planes,
                                       const struct tally_bits_batch *batch,
                                       simd64 *ones)
{
    size_t last = batch->bytes - SIMD_BYTES;
    const uint8_t *ahead = batch->ahead;
    simd_block *column = (simd_block *)(void *)planes;

    for (size_t c = 0; c < batch->bytes; c += SIMD_BYTES) {
        size_t at = c < last ? c : last;
        simd64 carry;

        for (size_t i = 0; i < batch->ask; i += 64)
            __builtin_prefetch(ahead + i, 0, 2);
        ahead += batch->step;
        carry = K(tally_bits_tree)(column, batch->row, at);
        if (ones != NULL)
            K(tally_bits_weigh)(ones, batch, at, c - at);
        for (unsigned i = 0; i < batch->merges; i++) {
            simd64 sum = column[HSY_FOLD_SUM(i)];

            carry = simd_add3(&sum, column[HSY_FOLD_PENDING(i)], carry);
            column[HSY_FOLD_SUM(i)] = sum;
        }
        column[HSY_FOLD_PENDING(batch->merges)] = carry;
        column += HSY_FOLD_PLANES;
    }
}

static void K(tally_bits_add)(uint8_t *planes,
                              const struct tally_bits_batch *batch)
{
    K(tally_bits_columns)(planes, batch, NULL);
}

#if SIMD_BYTES == 64
static void K(tally_bits_add_weighed)(uint8_t *planes,
                                      const struct tally_bits_batch *batch)
{
    simd64 ones[HSY_FOLD_ROWS] = {{0}};

    K(tally_bits_columns)(planes, batch, ones);
    for (size_t r = 0; r < HSY_FOLD_ROWS; r++) {
        batch->ones[r] = 0;
        for (size_t i = 0; i < SIMD_WORDS; i++)
            batch->ones[r] += ones[r][i];
    }
}
#endif

/* As many counters as there are lanes of 16 bits. */
static void K(tally_bits_read)(uint16_t *counts, const uint8_t *column,
                               unsigned used)
{
    for (size_t at = 0; at < SIMD_BYTES; at += SIMD_BYTES / 16) {
        simd16 sum = {0};

        for (unsigned k = used; k-- > 0;) {
            unsigned plane = k < 4 ? k : HSY_FOLD_SUM(k - 4);
            uint32_t bits = 0;

            memcpy(&bits, column + plane * SIMD_BYTES + at, SIMD_BYTES / 16);
            sum += sum - simd_spread16(bits); /* a bit is -1 */
        }
        simd_store(counts + 8 * at, (simd64)sum);
    }
}

static void K(tally_bits_increase)(int64_t *cells, const uint16_t *counts,
                                   size_t n)
{
    size_t i = 0;

    for (; n - i >= SIMD_WORDS; i += SIMD_WORDS)
        simd_store(cells + i, simd_load(cells + i) + simd_widen16(counts + i));
    for (; i < n; i++)
        cells[i] += counts[i];
}

static const struct tally_bits_level K(tally_bits_level) = {
    .vector = SIMD_BYTES,
    .slow = SIMD_BYTES == 16,
    .add = K(tally_bits_add),
#if SIMD_BYTES == 64
    .add_weighed = K(tally_bits_add_weighed),
#endif
    .read = K(tally_bits_read),
    .increase = K(tally_bits_increase),
    .row_popcounts = K(popcount_rows),
};

void K(hsy_bit_counts)(int64_t *cells, uint64_t *hist, const uint8_t *rows,
                       size_t n, size_t stride, uint32_t d)
{
    hsy_bit_counts_with(&K(tally_bits_level), cells, hist, rows, n, stride, d);
}

void K(hsy_bit_counts_some)(int64_t *cells, const uint8_t *rows,
                            const uint32_t *order, size_t n, size_t stride,
                            uint32_t d)
{
    hsy_bit_counts_some_with(&K(tally_bits_level), cells, rows, order, n,
                             stride, d);
}
