/*
 * line_sums.c - sums along all lines of small square tables: the plain loop and
 * the frame of the fast ones.
 *
 * The step of the projective decoder (family/projective_points.c): a row e of
 * the matrix, rotated by s e, is added to line bundle s.
 */
#include "lib/kernels/line_sums.h"

#include "lib/kernels/internal.h"

#include <string.h>

/* Row by row and line by line, as it is defined. */
void hsy_line_sums_plain(uint32_t *out, size_t stride, const uint32_t *m,
                         uint32_t q, size_t count, uint32_t *work)
{
    (void)work;
    for (size_t c = 0; c < count; c++, m += (size_t)q * q, out += q)
        for (uint64_t s = 0; s < q; s++)
            for (uint64_t z = 0; z < q; z++) {
                uint32_t sum = 0;

                for (uint64_t e = 0; e < q; e++)
                    sum += m[e * q + (z + s * (q - e)) % q];
                out[s * stride + z] = sum;
            }
}

static void lines_two(uint32_t *out, size_t stride, const uint32_t *m,
                      size_t count)
{
    for (size_t c = 0; c < count; c++, m += 4, out += 2) {
        out[0] = m[0] + m[2];
        out[1] = m[1] + m[3];
        out[stride] = m[0] + m[3];
        out[stride + 1] = m[1] + m[2];
    }
}

static void lines_three(uint32_t *out, size_t stride, const uint32_t *m,
                        size_t count)
{
    uint32_t *one = out + stride, *two = one + stride;

    for (size_t c = 0; c < count; c++, m += 9, out += 3, one += 3, two += 3) {
        out[0] = m[0] + m[3] + m[6];
        out[1] = m[1] + m[4] + m[7];
        out[2] = m[2] + m[5] + m[8];
        one[0] = m[0] + m[5] + m[7];
        one[1] = m[1] + m[3] + m[8];
        one[2] = m[2] + m[4] + m[6];
        two[0] = m[0] + m[4] + m[8];
        two[1] = m[1] + m[5] + m[6];
        two[2] = m[2] + m[3] + m[7];
    }
}

/* Rows first .. first + rows - 1 of m, each twice in a row. */
static void lines_double(struct lines_tile *t, uint32_t *work,
                         const uint32_t *m)
{
    for (uint32_t e = 0; e < t->rows; e++) {
        const uint32_t *row = m + (size_t)(t->first + e) * t->q;
        uint32_t *twice = work + e * t->pitch;

        for (uint32_t z = 0; z < t->q; z++)
            twice[z] = twice[t->q + z] = row[z];
        t->at[e] = 0;
    }
}

void hsy_line_sums_with(lines_add *add, uint32_t *out, size_t stride,
                        const uint32_t *m, uint32_t q, size_t count,
                        uint32_t *work)
{
    struct lines_tile t = {.work = work, .pitch = 2 * (size_t)q + 16, .q = q};

    if (q == 2)
        lines_two(out, stride, m, count);
    if (q == 3)
        lines_three(out, stride, m, count);
    if (q > 3) /* what is read past the rows stays zero */
        memset(work, 0, KERNEL_LINE_SUMS_WORK(q) * sizeof *work);
    for (size_t c = 0; q > 3 && c < count; c++, m += (size_t)q * q, out += q)
        for (t.first = 0; t.first < q; t.first += KERNEL_LINE_SUMS_ROWS) {
            t.rows = q - t.first < KERNEL_LINE_SUMS_ROWS
                         ? q - t.first
                         : KERNEL_LINE_SUMS_ROWS;
            lines_double(&t, work, m);
            add(out, stride, &t);
        }
}
