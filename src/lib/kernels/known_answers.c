/*
 * known_answers.c - whether a table of kernels computes what plain does, tried
 * on small inputs of each. The shapes reach every loop of a level and the ends
 * of rows that do not fill a vector; plain takes most of the time, less than a
 * millisecond in all.
 */
#include "lib/kernels/internal.h"

#include <string.h>

#define KNOWN_N 37     /* choices, reports, points: no multiple of a vector */
#define KNOWN_CODES 70 /* more than a group of codes */
#define KNOWN_D 2100   /* bits of a row */
#define KNOWN_BYTES 2500

/* Bytes that follow from nothing but where they stand. */
static void known_fill(void *p, size_t bytes, uint64_t from)
{
    uint8_t *to = p;

    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t x = pool_scatter(from + i);

        memcpy(to + i, &x, bytes - i < 8 ? bytes - i : 8);
    }
}

static bool known_chacha20(const struct hsy_kernels *k,
                           const struct hsy_kernels *plain)
{
    uint8_t a[64 * KNOWN_N], b[64 * KNOWN_N];
    uint32_t s[16], t[16];

    known_fill(s, sizeof s, 1);
    s[12] = UINT32_MAX - 5; /* carries into the other half of the counter */
    memcpy(t, s, sizeof t);
    plain->chacha20(a, KNOWN_N, s);
    k->chacha20(b, KNOWN_N, t);
    return memcmp(a, b, sizeof a) == 0 && memcmp(s, t, sizeof s) == 0 &&
           plain->crc32c(7, a, sizeof a) == k->crc32c(7, b, sizeof b);
}

static bool known_bernoulli(const struct hsy_kernels *k,
                            const struct hsy_kernels *plain)
{
    uint64_t planes[40 * KNOWN_N], a[2 * KNOWN_N], b[2 * KNOWN_N];
    const uint64_t threshold = 0x123456789a000000;
    hsy_stream s = {.state = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574},
                    .cpu = HSY_CPU_PLAIN};
    hsy_stream t = s;

    known_fill(planes, sizeof planes, 2);
    plain->bernoulli_bits(a, planes, KNOWN_N, 40, threshold);
    k->bernoulli_bits(b, planes, KNOWN_N, 40, threshold);
    if (memcmp(a, b, sizeof a / 2) != 0)
        return false;
    plain->sparse(a, 2 * KNOWN_N, threshold, &s);
    k->sparse(b, 2 * KNOWN_N, threshold, &t);
    return memcmp(a, b, sizeof a) == 0;
}

/* Equal but where a word is drawn anew, which both say alike. */
static bool known_outputs(const uint32_t *a, uint32_t *b, const uint32_t *redo,
                          const uint32_t *again, size_t count)
{
    for (size_t i = 0; i < count; i++)
        b[redo[i]] = a[redo[i]];
    return memcmp(redo, again, count * sizeof *redo) == 0 &&
           memcmp(a, b, KNOWN_N * sizeof *a) == 0;
}

static bool known_choices(const struct hsy_kernels *k,
                          const struct hsy_kernels *plain)
{
    const struct kernel_choice choice = {.last = UINT64_MAX - (1ull << 60),
                                         .blanket = 1ull << 62,
                                         .bound = 0xfffffff1,
                                         .excess = 225};
    const struct kernel_hadamard h = {.last = choice.last,
                                      .blanket = choice.blanket,
                                      .a = 0x9e3779b1,
                                      .c = 77,
                                      .block_bits = 5,
                                      .index_bits = 7};
    uint32_t own[KNOWN_N], a[KNOWN_N], b[KNOWN_N], redo[KNOWN_N] = {0};
    uint32_t again[KNOWN_N] = {0};
    uint64_t coins[2 * KNOWN_N], codes[KNOWN_N];
    size_t count;

    known_fill(own, sizeof own, 3);
    known_fill(coins, sizeof coins, 4);
    coins[9] = 0; /* the low half of the product is below the excess */
    for (size_t i = 0; i < KNOWN_N; i++)
        codes[i] = own[i] % 4000;
    count = plain->blanket_choices(a, redo, own, coins, KNOWN_N, &choice);
    if (k->blanket_choices(b, again, own, coins, KNOWN_N, &choice) != count ||
        !known_outputs(a, b, redo, again, count))
        return false;
    count = plain->hadamard(a, redo, codes, coins, KNOWN_N, &h);
    return k->hadamard(b, again, codes, coins, KNOWN_N, &h) == count &&
           known_outputs(a, b, redo, again, count);
}

static bool known_wht(const struct hsy_kernels *k,
                      const struct hsy_kernels *plain)
{
    int64_t a[512], b[512];

    for (size_t n = 64; n <= 512; n *= 2) {
        known_fill(a, sizeof a, n);
        memcpy(b, a, sizeof b);
        plain->wht(a, n);
        k->wht(b, n);
        if (memcmp(a, b, sizeof a) != 0)
            return false;
    }
    return true;
}

/* n rows of d bits, whose spare bits are zero: what plain counts, taken off,
 * and counted again leaves nothing. */
static bool known_rows(const struct hsy_kernels *k,
                       const struct hsy_kernels *plain, size_t n, uint32_t d)
{
    uint8_t rows[KNOWN_BYTES];
    uint32_t order[KNOWN_N];
    int64_t cells[KNOWN_D] = {0}, left = 0;
    uint64_t hist[KNOWN_D + 1] = {0};
    size_t stride = (d + 7) / 8;

    known_fill(rows, n * stride, d);
    for (size_t r = 0; r < n && d % 8 != 0; r++)
        rows[r * stride + stride - 1] &= (uint8_t)((1u << d % 8) - 1);
    for (uint32_t i = 0; i < KNOWN_N; i++)
        order[i] = 5 * i % (uint32_t)n;
    plain->bit_counts(cells, hist, rows, n, stride, d);
    plain->bit_counts_some(cells, rows, order, KNOWN_N, stride, d);
    for (uint32_t i = 0; i <= d; i++)
        hist[i] = 0 - hist[i];
    for (uint32_t i = 0; i < d; i++)
        cells[i] = -cells[i];
    k->bit_counts(cells, hist, rows, n, stride, d);
    k->bit_counts_some(cells, rows, order, KNOWN_N, stride, d);
    for (uint32_t i = 0; i < d; i++)
        left |= cells[i] | (int64_t)hist[i];
    return (left | (int64_t)hist[d]) == 0;
}

/* Rows of equal ones but for the last: the first turned byte by byte. */
static bool known_weights(const struct hsy_kernels *k, size_t bytes)
{
    uint8_t rows[KNOWN_BYTES];
    const size_t n = 5;
    uint64_t ones = 0;

    known_fill(rows, bytes, bytes);
    for (size_t i = 0; i < 8 * bytes; i++)
        ones += rows[i / 8] >> i % 8 & 1;
    for (size_t r = 1; r < n; r++)
        for (size_t i = 0; i < bytes; i++)
            rows[r * bytes + i] = rows[(i + r) % bytes];
    rows[n * bytes - 1] ^= 1;
    return k->rows_with_popcount(rows, n, bytes, ones) == n - 1;
}

static bool known_cohorts(const struct hsy_kernels *k,
                          const struct hsy_kernels *plain)
{
    enum { n = 560, stride = 9, bits = 70, cohorts = 3 };
    int64_t a[bits * cohorts] = {0}, b[bits * cohorts] = {0};
    uint64_t s[cohorts] = {0}, t[cohorts] = {0};
    uint8_t reports[n * stride];

    known_fill(reports, sizeof reports, 5);
    for (size_t i = 0; i < n; i++) {
        uint8_t *last = &reports[i * stride + stride - 1];

        *last = (uint8_t)((*last & 63) | (i % 9 < 7 ? 0 : i % 9 - 6) << 6);
    }
    plain->cohorts(a, s, reports, n, stride, bits, cohorts);
    k->cohorts(b, t, reports, n, stride, bits, cohorts);
    return memcmp(a, b, sizeof a) == 0 && memcmp(s, t, sizeof s) == 0;
}

static bool known_hashing(const struct hsy_kernels *k,
                          const struct hsy_kernels *plain, uint32_t g,
                          bool narrow)
{
    enum { rows = 7, most = 102 };
    uint64_t codes[KNOWN_CODES], a[KNOWN_CODES] = {0}, b[KNOWN_CODES] = {0};
    struct pool_hash hashes[rows];
    struct kernel_cell cells[rows];
    int64_t table[rows * most];

    known_fill(codes, sizeof codes, g);
    known_fill(hashes, sizeof hashes, 6);
    known_fill(table, sizeof table, 7);
    for (size_t i = 0; i < KNOWN_CODES; i++)
        codes[i] >>= narrow ? 47 : 0;
    for (size_t i = 0; i < (size_t)rows * g; i++)
        table[i] = (int64_t)((uint64_t)table[i] >> 36);
    for (uint32_t i = 0; i < rows; i++)
        cells[i] = (struct kernel_cell){hashes[i], (uint64_t)table[i], i % g};
    plain->lh_direct(a, codes, KNOWN_CODES, cells, rows, g, narrow);
    plain->lh_table(a, codes, KNOWN_CODES, hashes, table, rows, g, narrow);
    k->lh_direct(b, codes, KNOWN_CODES, cells, rows, g, narrow);
    k->lh_table(b, codes, KNOWN_CODES, hashes, table, rows, g, narrow);
    return memcmp(a, b, sizeof a) == 0;
}

static bool known_points(const struct hsy_kernels *k,
                         const struct hsy_kernels *plain)
{
    /* n magic >> 30 is n / 5 for n < 2^27: 5 magic - 2^30 < 8. */
    const struct kernel_geometry g = {.q = 5,
                                      .t = 4,
                                      .power = {1, 5, 25, 125},
                                      .points = {0, 1, 6, 31, 156},
                                      .magic = ((1u << 30) + 4) / 5,
                                      .shift = 30};
    uint32_t items[KNOWN_N], ranks[KNOWN_N], a[KNOWN_N], b[KNOWN_N];

    for (uint32_t i = 0; i < KNOWN_N; i++) {
        items[i] = 41 * i % g.points[4];
        ranks[i] = 17 * i % g.points[3];
    }
    plain->orthogonal_points(a, items, ranks, KNOWN_N, &g);
    k->orthogonal_points(b, items, ranks, KNOWN_N, &g);
    return memcmp(a, b, sizeof a) == 0;
}

/* One slope of a matrix: all of them would take plain too long. */
static bool known_lines(const struct hsy_kernels *k, uint32_t q)
{
    enum { most = 69, slope = 2 };
    uint32_t m[most * most], out[most * most];
    uint32_t work[KERNEL_LINE_SUMS_WORK(most)];

    known_fill(m, sizeof m, 8);
    k->line_sums(out, q, m, q, 1, work);
    for (uint32_t z = 0; z < q; z++) {
        uint32_t sum = 0;

        for (uint32_t e = 0; e < q; e++)
            sum += m[e * q + (z + slope * (q - e)) % q];
        if (out[slope * q + z] != sum)
            return false;
    }
    return true;
}

bool hsy_kernels_agree(const struct hsy_kernels *k,
                       const struct hsy_kernels *plain)
{
    bool same =
        known_chacha20(k, plain) && known_bernoulli(k, plain) &&
        known_choices(k, plain) && known_wht(k, plain) &&
        known_rows(k, plain, KNOWN_N, 523) && known_rows(k, plain, 150, 70) &&
        known_rows(k, plain, 5, KNOWN_D) && known_cohorts(k, plain) &&
        known_points(k, plain) && known_lines(k, 5) && known_lines(k, 69) &&
        known_weights(k, 5) && known_weights(k, 21) && known_weights(k, 333);

    for (uint32_t g = 4; same && g <= 102; g = 2 * g + 10)
        same = known_hashing(k, plain, g, true) &&
               known_hashing(k, plain, g, false);
    return same;
}

#undef KNOWN_N
#undef KNOWN_CODES
#undef KNOWN_D
#undef KNOWN_BYTES
