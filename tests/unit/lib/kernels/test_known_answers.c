/* test_known_answers.c - the trial that a table of kernels passes before it is
 * used: every level passes it, and no kernel can be wrong in it. */
#include "lib/kernels/internal.h"
#include "tap.h"

static const struct hsy_kernels *wrong_plain(void)
{
    return hsy_kernels_at(HSY_CPU_PLAIN);
}

/* Each kernel as plain has it, with one bit of what it gives turned. */
static void wrong_chacha20(uint8_t *out, size_t blocks, uint32_t state[16])
{
    wrong_plain()->chacha20(out, blocks, state);
    out[64 * blocks - 1] ^= 1;
}

static uint32_t wrong_crc32c(uint32_t crc, const uint8_t *data, size_t len)
{
    return wrong_plain()->crc32c(crc, data, len) ^ 1;
}

static void wrong_bernoulli_bits(uint64_t *lanes, const uint64_t *planes,
                                 size_t words, unsigned digits,
                                 uint64_t threshold)
{
    wrong_plain()->bernoulli_bits(lanes, planes, words, digits, threshold);
    lanes[words - 1] ^= 1;
}

static void wrong_sparse(uint64_t *lanes, size_t words, uint64_t threshold,
                         hsy_stream *st)
{
    wrong_plain()->sparse(lanes, words, threshold, st);
    lanes[words - 1] ^= 1;
}

static size_t wrong_blanket_choices(uint32_t *out, uint32_t *redo,
                                    const uint32_t *own, const uint64_t *coins,
                                    size_t n,
                                    const struct kernel_choice *choice)
{
    size_t count =
        wrong_plain()->blanket_choices(out, redo, own, coins, n, choice);

    redo[count - 1] ^= 1;
    return count;
}

static size_t wrong_hadamard(uint32_t *out, uint32_t *redo,
                             const uint64_t *codes, const uint64_t *coins,
                             size_t n, const struct kernel_hadamard *h)
{
    size_t count = wrong_plain()->hadamard(out, redo, codes, coins, n, h);

    out[n - 1] ^= 1;
    return count;
}

static void wrong_wht(int64_t *cells, size_t n)
{
    wrong_plain()->wht(cells, n);
    cells[n - 1] ^= 1;
}

static void wrong_bit_counts(int64_t *cells, uint64_t *hist,
                             const uint8_t *rows, size_t n, size_t stride,
                             uint32_t d)
{
    wrong_plain()->bit_counts(cells, hist, rows, n, stride, d);
    hist[d / 2] ^= 1;
}

static size_t wrong_rows_with_popcount(const uint8_t *rows, size_t n,
                                       size_t bytes, uint64_t ones)
{
    return wrong_plain()->rows_with_popcount(rows, n, bytes, ones) + 1;
}

static void wrong_cohorts(int64_t *cells, uint64_t *strata,
                          const uint8_t *reports, size_t n, size_t stride,
                          uint32_t k, uint32_t m)
{
    wrong_plain()->cohorts(cells, strata, reports, n, stride, k, m);
    cells[k * m - 1] ^= 1;
}

static void wrong_bit_counts_some(int64_t *cells, const uint8_t *rows,
                                  const uint32_t *order, size_t n,
                                  size_t stride, uint32_t d)
{
    wrong_plain()->bit_counts_some(cells, rows, order, n, stride, d);
    cells[d - 1] ^= 1;
}

static void wrong_lh_direct(uint64_t *support, const uint64_t *codes,
                            size_t count, const struct kernel_cell *cells,
                            size_t n, uint32_t g, bool narrow)
{
    wrong_plain()->lh_direct(support, codes, count, cells, n, g, narrow);
    support[count - 1] ^= !narrow;
}

static void wrong_lh_table(uint64_t *support, const uint64_t *codes,
                           size_t count, const struct pool_hash *hashes,
                           const int64_t *table, size_t rows, uint32_t g,
                           bool narrow)
{
    wrong_plain()->lh_table(support, codes, count, hashes, table, rows, g,
                            narrow);
    support[count - 1] ^= g > 64;
}

static void wrong_orthogonal_points(uint32_t *out, const uint32_t *items,
                                    const uint32_t *ranks, size_t n,
                                    const struct kernel_geometry *g)
{
    wrong_plain()->orthogonal_points(out, items, ranks, n, g);
    out[n - 1] ^= 1;
}

static void wrong_line_sums(uint32_t *out, size_t stride, const uint32_t *m,
                            uint32_t q, size_t count, uint32_t *work)
{
    wrong_plain()->line_sums(out, stride, m, q, count, work);
    out[2 * stride + q - 1] ^= q > 64;
}

#define WRONG(kernel)                                                          \
    do {                                                                       \
        struct hsy_kernels table = *wrong_plain();                             \
                                                                               \
        table.kernel = wrong_##kernel;                                         \
        ok(!hsy_kernels_agree(&table, wrong_plain()),                          \
           "control: a wrong " #kernel " is found out");                       \
    } while (0)

int main(void)
{
    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++)
        if (hsy_cpu_has((hsy_cpu)level))
            ok(hsy_kernels_agree(hsy_kernels_at((hsy_cpu)level), wrong_plain()),
               "%s agrees with plain", hsy_cpu_name((hsy_cpu)level));
        else
            tap_skip(hsy_cpu_name((hsy_cpu)level));
    WRONG(chacha20);
    WRONG(crc32c);
    WRONG(bernoulli_bits);
    WRONG(sparse);
    WRONG(blanket_choices);
    WRONG(hadamard);
    WRONG(wht);
    WRONG(bit_counts);
    WRONG(rows_with_popcount);
    WRONG(cohorts);
    WRONG(bit_counts_some);
    WRONG(lh_direct);
    WRONG(lh_table);
    WRONG(orthogonal_points);
    WRONG(line_sums);
    return tap_done();
}
