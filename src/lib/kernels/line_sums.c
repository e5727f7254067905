/*
 * line_sums.c - sums along all lines of small square tables, any machine.
 *
 * The step of the projective decoder (mech/projective_points.c): a row e of
 * the matrix, rotated by s e, is added to line bundle s.
 */
#include "lib/kernels/internal.h"

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

/* One matrix by rotation in two runs: no remainder in the inner loops. */
static inline void lines_matrix(uint32_t *out, size_t stride, const uint32_t *m,
                                uint32_t q)
{
    for (uint32_t s = 0; s < q; s++) {
        uint32_t *line = out + s * stride;
        uint32_t turn = s; /* s e mod q */

        for (uint32_t z = 0; z < q; z++)
            line[z] = m[z];
        for (uint32_t e = 1; e < q; e++) {
            const uint32_t *row = m + (size_t)e * q;

            for (uint32_t z = 0; z < q - turn; z++)
                line[turn + z] += row[z];
            for (uint32_t z = 0; z < turn; z++)
                line[z] += row[q - turn + z];
            turn = turn + s >= q ? turn + s - q : turn + s;
        }
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

void hsy_line_sums_portable(uint32_t *out, size_t stride, const uint32_t *m,
                            uint32_t q, size_t count, uint32_t *work)
{
    (void)work;
    if (q == 2)
        lines_two(out, stride, m, count);
    else if (q == 3)
        lines_three(out, stride, m, count);
    else
        for (size_t c = 0; c < count; c++)
            lines_matrix(out + c * q, stride, m + c * q * q, q);
}
