/*
 * test_kernels_counts.c - every level counts bits, also by cohort, and decodes
 * local hashing exactly as the plain loops do.
 *
 * Buffers are allocated to size, so that a sanitized run sees a read past the
 * end of the rows.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/kernels/internal.h"
#include "rig/sanitized.h"
#include "tap.h"

struct level {
    const char *name;
    const struct hsy_kernels *kernels; /* NULL: the machine lacks it */
};

static uint64_t seed = 0x9e3779b97f4a7c15;

/* xorshift64*: inputs to compare two programs on, nothing more. */
static uint64_t draw(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * 0x2545f4914f6cdd1d;
}

static void *make(size_t count, size_t size)
{
    void *p = calloc(count > 0 ? count : 1, size);

    if (p == NULL) {
        puts("Bail out! no memory");
        exit(1);
    }
    return p;
}

/* Rows of d random bits with gaps of random bytes between them; the last row
 * ends the buffer. */
static uint8_t *make_rows(size_t n, size_t stride, uint32_t d)
{
    size_t bytes = (d + 7) / 8, len = n > 0 ? (n - 1) * stride + bytes : 0;
    uint8_t *rows = make(len, 1);

    for (size_t i = 0; i < len; i++)
        rows[i] = (uint8_t)(draw() >> 56);
    for (size_t r = 0; d % 8 != 0 && r < n; r++)
        rows[r * stride + bytes - 1] &= (uint8_t)((1u << d % 8) - 1);
    return rows;
}

/* Both counts start from the same figures, to see that kernels add. */
static bool folds_alike(const struct hsy_kernels *a,
                        const struct hsy_kernels *b, size_t n, size_t gap,
                        uint32_t d, bool weighed)
{
    size_t stride = (d + 7) / 8 + gap;
    uint8_t *rows = make_rows(n, stride, d);
    int64_t *x = make(2 * (size_t)d, sizeof *x), *y = x + d;
    uint64_t *u = make(2 * ((size_t)d + 1), sizeof *u), *w = u + d + 1;
    bool same;

    for (uint32_t i = 0; i < d; i++)
        x[i] = y[i] = (int64_t)draw() / 2;
    a->bit_counts(x, weighed ? u : NULL, rows, n, stride, d);
    b->bit_counts(y, weighed ? w : NULL, rows, n, stride, d);
    same = memcmp(x, y, d * sizeof *x) == 0 &&
           memcmp(u, w, (d + 1) * sizeof *u) == 0;
    free(rows);
    free(x);
    free(u);
    return same;
}

static void test_every_width(const struct level *plain,
                             const struct level *level)
{
    static const size_t rows[] = {1, 17, 70, 300};
    bool same = true;

    for (uint32_t d = 1; d <= 600; d += TEST_UNDEFINED ? 7 : 1)
        for (size_t i = 0; i < 4; i++)
            same = same && folds_alike(plain->kernels, level->kernels, rows[i],
                                       0, d, (d + i) % 2 == 0);
    ok(same, "%s folds rows of 1 to 600 bits like plain", level->name);
}

static void test_every_length(const struct level *plain,
                              const struct level *level)
{
    static const size_t rows[] = {0,   1,   2,    15,   16,   17,   255,
                                  256, 257, 4079, 4080, 4081, 4096, 8200};
    static const uint32_t widths[] = {1, 8, 64, 100, 128, 257, 512, 1000, 1024};
    bool same = true;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
            same = same && folds_alike(plain->kernels, level->kernels, rows[i],
                                       0, widths[k], k % 2 == 0);
    ok(same, "%s folds 0 to 8200 rows like plain", level->name);
}

/* Past what the planes hold at once, of rows by themselves and glued. */
static void test_many_rows(const struct level *plain, const struct level *level)
{
    static const size_t rows[] = {16367, 16368, 16369, 33000};
    bool same = true;

    for (size_t i = 0; i < 4; i++)
        same = same && folds_alike(plain->kernels, level->kernels, rows[i], 1,
                                   520, true);
    same = same &&
           folds_alike(plain->kernels, level->kernels, 70000, 0, 7, true) &&
           (TEST_UNDEFINED ||
            folds_alike(plain->kernels, level->kernels, 140000, 0, 1000, true));
    ok(same, "%s folds up to 140000 rows like plain", level->name);
}

static void test_wide_rows(const struct level *plain, const struct level *level)
{
    static const uint32_t widths[] = {4096,  8184,  16383, 16384,
                                      16385, 32769, 65537};
    bool same = true;

    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        same = same &&
               folds_alike(plain->kernels, level->kernels, 1, 0, widths[i],
                           true) &&
               folds_alike(plain->kernels, level->kernels, 37, 0, widths[i],
                           true) &&
               folds_alike(plain->kernels, level->kernels, 300, 0, widths[i],
                           i % 2 == 0);
    ok(same, "%s folds rows of 4096 to 65537 bits like plain", level->name);
}

static void test_gaps(const struct level *plain, const struct level *level)
{
    static const uint32_t widths[] = {1,   9,   64,   129,  511,
                                      512, 513, 1000, 17000};
    bool same = true;

    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (size_t gap = 1; gap < 70; gap += 17)
            same = same && folds_alike(plain->kernels, level->kernels, 100, gap,
                                       widths[i], true);
    ok(same, "%s folds rows with gaps between them like plain", level->name);
}

static bool counts_ones(const struct hsy_kernels *kernels, size_t n, size_t gap,
                        uint32_t d)
{
    size_t stride = d / 8 + gap;
    uint8_t *rows = make(n, stride);
    int64_t *cells = make(d, sizeof *cells);
    uint64_t *hist = make((size_t)d + 1, sizeof *hist);
    bool right = true;

    memset(rows, 0xff, n * stride);
    kernels->bit_counts(cells, hist, rows, n, stride, d);
    for (uint32_t i = 0; i < d; i++)
        right = right && cells[i] == (int64_t)n && hist[i] == 0;
    right = right && hist[d] == n;
    free(rows);
    free(cells);
    free(hist);
    return right;
}

/* All ones: every counter at its largest. Rows with gaps are not glued, and
 * fill the planes. */
static void test_full_rows(const struct level *level)
{
    static const uint32_t widths[] = {8,    120,  128,   384,   520,  1000,
                                      1024, 2048, 4096,  7680,  7936, 7944,
                                      8192, 8704, 16384, 31872, 40000};
    bool right = counts_ones(level->kernels, 5000, 0, 520) &&
                 counts_ones(level->kernels, 17000, 1, 520);

    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        right = right && counts_ones(level->kernels, 37, 0, widths[i]);
    ok(right, "%s counts rows of nothing but ones", level->name);
}

/* Bit number i of a report. */
static unsigned bit_of(const uint8_t *report, size_t i)
{
    return report[i / 8] >> i % 8 & 1;
}

/* Reports of k bits and their cohort above, counted as they are defined. */
static bool counts_cohorts(const struct hsy_kernels *kernels, uint32_t k,
                           unsigned cohort_bits)
{
    const size_t n = 600, stride = (k + cohort_bits + 7) / 8;
    const uint32_t m = 1u << cohort_bits;
    uint8_t *reports = make_rows(n, stride, k + cohort_bits);
    int64_t *cells = make((size_t)m * k, sizeof *cells), left = 0;
    uint64_t *strata = make(m, sizeof *strata);

    for (size_t i = 0; i < n; i++) {
        const uint8_t *report = reports + i * stride;
        uint32_t c = 0;

        for (unsigned b = cohort_bits; b-- > 0;)
            c = 2 * c + bit_of(report, k + b);
        for (uint32_t b = 0; b < k; b++)
            cells[(size_t)c * k + b] -= bit_of(report, b);
        strata[c]--;
    }
    kernels->cohorts(cells, strata, reports, n, stride, k, m);
    for (size_t i = 0; i < (size_t)m * k; i++)
        left |= cells[i];
    for (uint32_t c = 0; c < m; c++)
        left |= (int64_t)strata[c];
    free(reports);
    free(cells);
    free(strata);
    return left == 0;
}

static void test_cohorts(const struct level *level)
{
    bool right = counts_cohorts(level->kernels, 3000, 8);

    for (uint32_t k = 1; k <= 150; k++)
        right = right && counts_cohorts(level->kernels, k, 1) &&
                counts_cohorts(level->kernels, k, k % 8 + 1);
    ok(right, "%s counts reports of 1 to 3000 bits by cohort", level->name);
}

static void make_codes(uint64_t *codes, size_t count, bool narrow)
{
    for (size_t v = 0; v < count; v++)
        codes[v] = narrow ? draw() % HSY_POOL_NARROW : draw();
}

static struct pool_hash make_hash(void)
{
    struct pool_hash h = {draw(), draw(), draw()};

    return h;
}

/* Counts below 2^bits; with bits 0, some of every size, up to 62 bits. */
static uint64_t make_count(unsigned bits)
{
    return bits > 0 ? draw() >> (64 - bits) : draw() >> (2 + draw() % 62);
}

static bool decodes_alike(const struct hsy_kernels *a,
                          const struct hsy_kernels *b, size_t count, size_t n,
                          uint32_t g, unsigned bits, bool narrow)
{
    uint64_t *codes = make(count, sizeof *codes);
    uint64_t *x = make(count, sizeof *x), *y = make(count, sizeof *y);
    struct kernel_cell *cells = make(n, sizeof *cells);
    bool same;

    make_codes(codes, count, narrow);
    for (size_t i = 0; i < n; i++) {
        cells[i].hash = make_hash();
        cells[i].count = make_count(bits);
        cells[i].y = (uint32_t)(draw() % g);
    }
    a->lh_direct(x, codes, count, cells, n, g, narrow);
    b->lh_direct(y, codes, count, cells, n, g, narrow);
    b->lh_direct(y, codes, count, cells, 0, g, narrow);
    same = memcmp(x, y, count * sizeof *x) == 0;
    free(codes);
    free(x);
    free(y);
    free(cells);
    return same;
}

static bool tables_alike(const struct hsy_kernels *a,
                         const struct hsy_kernels *b, size_t count, size_t rows,
                         uint32_t g, unsigned bits, bool narrow)
{
    uint64_t *codes = make(count, sizeof *codes);
    uint64_t *x = make(count, sizeof *x), *y = make(count, sizeof *y);
    struct pool_hash *hashes = make(rows, sizeof *hashes);
    int64_t *table = make(rows * g, sizeof *table);
    bool same;

    make_codes(codes, count, narrow);
    for (size_t i = 0; i < rows; i++)
        hashes[i] = make_hash();
    for (size_t i = 0; i < rows * g; i++)
        table[i] = (int64_t)make_count(bits);
    a->lh_table(x, codes, count, hashes, table, rows, g, narrow);
    b->lh_table(y, codes, count, hashes, table, rows, g, narrow);
    same = memcmp(x, y, count * sizeof *x) == 0;
    free(codes);
    free(x);
    free(y);
    free(hashes);
    free(table);
    return same;
}

typedef bool alike(const struct hsy_kernels *, const struct hsy_kernels *,
                   size_t, size_t, uint32_t, unsigned, bool);

static bool every_g(const struct level *plain, const struct level *level,
                    alike *test, bool narrow)
{
    bool same = true;

    for (uint32_t g = 2; g <= 300; g += TEST_UNDEFINED ? 7 : 1)
        same = same &&
               test(plain->kernels, level->kernels, 100, 40, g, 10, narrow) &&
               test(plain->kernels, level->kernels, 70, 20, g, 0, narrow);
    same = same && test(plain->kernels, level->kernels, 70, 20, 1, 10, narrow);
    return same &&
           test(plain->kernels, level->kernels, 70, 3, 65537, 10, narrow);
}

static bool every_size(const struct level *plain, const struct level *level,
                       alike *test, bool narrow)
{
    static const size_t sizes[] = {0,   1,   7,   8,   9,   63,  64,  65,  127,
                                   128, 129, 255, 256, 257, 511, 512, 513, 700};
    static const uint32_t values[] = {4, 20, 50, 70};
    static const unsigned bits[] = {1, 23, 24, 46, 47, 55, 0};
    bool same = true;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < 4; k++)
            same = same &&
                   test(plain->kernels, level->kernels, sizes[i], 30, values[k],
                        bits[(i + k) % 7], narrow) &&
                   test(plain->kernels, level->kernels, 70, sizes[i], values[k],
                        bits[(i + k) % 7], narrow);
    return same;
}

static void test_decoding(const struct level *plain, const struct level *level,
                          alike *test, const char *what)
{
    static const char *const family[] = {"wide", "narrow"};

    for (int narrow = 0; narrow < 2; narrow++) {
        ok(every_g(plain, level, test, narrow != 0),
           "%s decodes %s of 1 to 300 and 65537 %s hash values like plain",
           level->name, what, family[narrow]);
        ok(every_size(plain, level, test, narrow != 0),
           "%s decodes %s of every size, %s, small counts and large, like "
           "plain",
           level->name, what, family[narrow]);
    }
}

/* Every cell of a block at the largest digit: lanes come nearest to overflow.
 * With g = 1 all cells support every code. */
static void test_largest_digits(const struct level *level)
{
    enum { CELLS = 1000, CODES = 64 };
    const uint64_t most = ((uint64_t)1 << 23) - 1;
    struct kernel_cell *cells = make(CELLS, sizeof *cells);
    int64_t *table = make(CELLS, sizeof *table);
    struct pool_hash *hashes = make(CELLS, sizeof *hashes);
    uint64_t codes[CODES], x[CODES] = {0}, y[CODES] = {0};
    bool right = true;

    make_codes(codes, CODES, true);
    for (int i = 0; i < CELLS; i++) {
        cells[i].hash = hashes[i] = make_hash();
        cells[i].count = most;
        table[i] = (int64_t)most;
    }
    level->kernels->lh_direct(x, codes, CODES, cells, CELLS, 1, true);
    level->kernels->lh_table(y, codes, CODES, hashes, table, CELLS, 1, true);
    for (int v = 0; v < CODES; v++)
        right = right && x[v] == CELLS * most && y[v] == CELLS * most;
    ok(right, "%s does not overflow on the largest digits", level->name);
    free(cells);
    free(table);
    free(hashes);
}

/* A cell that claims a value outside [0, g) supports nothing. */
static void test_impossible_value(const struct level *level)
{
    struct kernel_cell cells[2] = {{make_hash(), 5, 4}, {make_hash(), 5, 99}};
    uint64_t codes[100], support[100] = {0}, sum = 0;

    for (int narrow = 0; narrow < 2; narrow++) {
        make_codes(codes, 100, narrow != 0);
        level->kernels->lh_direct(support, codes, 100, cells, 2, 4,
                                  narrow != 0);
    }
    for (int v = 0; v < 100; v++)
        sum += support[v];
    is_u64(sum, 0, "%s: a cell with a value out of range supports nothing",
           level->name);
}

int main(void)
{
    static const hsy_cpu cpus[] = {HSY_CPU_PORTABLE, HSY_CPU_AVX2,
                                   HSY_CPU_AVX512};
    struct level plain = {"plain", hsy_kernels_at(HSY_CPU_PLAIN)};

    test_full_rows(&plain);
    test_cohorts(&plain);
    test_largest_digits(&plain);
    test_impossible_value(&plain);
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
        struct level level = {hsy_cpu_name(cpus[i]), NULL};

        if (!hsy_cpu_has(cpus[i])) {
            tap_skip("a level this machine does not have");
            continue;
        }
        level.kernels = hsy_kernels_at(cpus[i]);
        test_every_width(&plain, &level);
        test_every_length(&plain, &level);
        test_many_rows(&plain, &level);
        test_wide_rows(&plain, &level);
        test_gaps(&plain, &level);
        test_full_rows(&level);
        test_cohorts(&level);
        test_decoding(&plain, &level, decodes_alike, "cells");
        test_decoding(&plain, &level, tables_alike, "tables");
        test_largest_digits(&level);
        test_impossible_value(&level);
    }
    return tap_done();
}
