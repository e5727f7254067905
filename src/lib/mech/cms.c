/*
 * cms.c - count-mean sketch [Apple17]: a public row j of k and a noisy vector
 * of m bits whose true bit is h_j(truth).
 *
 * The vector is symmetric unary encoding (unary.c): the true bit is 1 with
 * probability own / 2^64, each other one with other / 2^64 = 1 - own / 2^64 >=
 * 1 / (e^(epsilon/2) + 1).
 *
 * Privacy. j does not depend on the truth; given j, two truths differ in two
 * bits at most, and the worst ratio is (own / other)^2 <= e^epsilon, because
 * other is rounded up.                         docs/mechanisms/cms.md, Thm 1
 *
 * Report: m bits, then the log2 k bits of j, in whole bytes.
 */
#include "lib/bits/bytes.h"
#include "lib/family/sketch.h"
#include "lib/family/unary.h"
#include "lib/scheme/report.h"

#define CMS_BLOCK 256 /* reports whose rows are drawn at once */
#define CMS_SORT 4096 /* reports that are sorted without scratch */
#define CMS_SORT_MOST ((size_t)1 << 24)
#define CMS_AHEAD 24    /* reports that are asked for ahead */
#define CMS_CELLS 1024u /* cells of the next row, likewise */
#define CMS_TOUCH 256u  /* bytes of each */

static uint32_t cms_row_bits(const hsy_scheme *s)
{
    return sketch_rows(s) == 1 ? 0 : report_bits_of(sketch_rows(s));
}

static hsy_status cms_resolve(hsy_scheme *s, const hsy_spec *spec,
                              hsy_error *err)
{
    hsy_status st = hsy_sketch_resolve(s, spec, err);

    if (st != HSY_OK)
        return st;
    hsy_unary_symmetric(s);
    s->report_bits = sketch_width(s) + cms_row_bits(s);
    s->report_bytes = (s->report_bits + 7) / 8;
    s->strata = sketch_rows(s);
    return HSY_OK;
}

/* The row stands behind the vector, from a bit of its last byte on. */
static uint32_t cms_row(const hsy_scheme *s, const uint8_t *report)
{
    size_t at = sketch_width(s) / 8;

    return (uint32_t)(report_get(report + at, s->report_bytes - at) >>
                      sketch_width(s) % 8);
}

static void cms_put_row(const hsy_scheme *s, uint8_t *report, uint32_t j)
{
    size_t at = sketch_width(s) / 8, bytes = s->report_bytes - at;
    unsigned used = sketch_width(s) % 8;
    uint64_t bits = used == 0 ? 0 : report[at];

    report_put(report + at, bytes, bits | (uint64_t)j << used);
}

/* Public rows, and the cells of the truths in them. */
struct cms_block {
    uint32_t rows[CMS_BLOCK];
    uint64_t cells[CMS_BLOCK];
};

static hsy_status cms_open(const hsy_scheme *s, struct cms_block *block,
                           const uint64_t *codes, size_t n, hsy_rng *published)
{
    uint8_t seeds[4 * CMS_BLOCK];
    hsy_status st = published->fill(published->ctx, seeds, 4 * n);

    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        block->rows[i] = bytes_get32(seeds + 4 * i) & (sketch_rows(s) - 1);
        block->cells[i] = sketch_cell(s, block->rows[i], codes[i]);
    }
    return st;
}

/* Reports of n truths: rows from `published`, vectors from the secret coins,
 * by early exit if they are a simulation's stream. */
static hsy_status cms_make(const hsy_scheme *s, uint8_t *reports,
                           const uint64_t *codes, size_t n, hsy_rng *published,
                           hsy_rng *secret, hsy_stream *simulated)
{
    struct cms_block block;
    hsy_status st = HSY_OK;

    for (size_t done = 0; done < n && st == HSY_OK; done += CMS_BLOCK) {
        size_t m = n - done < CMS_BLOCK ? n - done : CMS_BLOCK;
        uint8_t *out = reports + done * s->report_bytes;

        st = cms_open(s, &block, codes + done, m, published);
        if (st == HSY_OK)
            st = simulated != NULL
                     ? hsy_unary_sparse(s, out, block.cells, m, simulated)
                     : hsy_unary_fill(s, out, block.cells, m, secret);
        for (size_t i = 0; i < m && st == HSY_OK; i++)
            cms_put_row(s, out + i * s->report_bytes, block.rows[i]);
    }
    bytes_wipe(&block, sizeof block);
    return st;
}

static hsy_status cms_randomize(const hsy_scheme *s, uint8_t *reports,
                                const uint64_t *codes, size_t n,
                                hsy_coins *coins)
{
    return cms_make(s, reports, codes, n, &coins->published, &coins->secret,
                    NULL);
}

static hsy_status cms_simulate(const hsy_scheme *s, uint8_t *reports,
                               const uint64_t *codes, size_t n,
                               hsy_stream *secret, hsy_stream *published)
{
    hsy_rng rng = hsy_stream_rng(published);

    return cms_make(s, reports, codes, n, &rng, NULL, secret);
}

/* Any vector and any row is a report; only spare bits can be wrong. */
static size_t cms_check(const hsy_scheme *s, const uint8_t *reports, size_t n)
{
    size_t i = 0;

    if (s->report_bits % 8 == 0)
        return n;
    while (i < n && cms_row(s, reports + i * s->report_bytes) < sketch_rows(s))
        i++;
    return i;
}

/* ---- Counting ------------------------------------------------------------ */

/* Room to sort n reports by their rows. */
struct cms_sort {
    uint32_t *order, *spare; /* n numbers of reports each */
    uint16_t *rows;          /* n */
};

/* to = from (NULL: 0 .. n-1) in order of 8 bits of the rows, those alike in the
 * order in which they were. */
static void cms_sort_by(uint32_t *to, const uint32_t *from,
                        const uint16_t *rows, size_t n, unsigned shift)
{
    uint32_t start[257] = {0};

    for (size_t i = 0; i < n; i++)
        start[(rows[i] >> shift & 255) + 1]++;
    for (size_t b = 0; b < 256; b++)
        start[b + 1] += start[b];
    for (size_t i = 0; i < n; i++) {
        uint32_t at = from != NULL ? from[i] : (uint32_t)i;

        to[start[rows[at] >> shift & 255]++] = at;
    }
}

/* Ask for the beginning of the row that is counted next. */
static void cms_ask_cells(const int64_t *cells, uint32_t width)
{
    for (size_t i = 0; i < width && i < CMS_CELLS; i += 8)
        __builtin_prefetch(cells + i, 1, 2);
}

/* Ask for the report that will be counted soon: they stand anywhere. */
static void cms_ask(const hsy_scheme *s, const uint8_t *report)
{
    for (size_t at = 0; at < s->report_bytes && at < CMS_TOUCH; at += 64)
        __builtin_prefetch(report + at);
}

/* Count n reports row by row: what is sorted is folded at once. */
static void cms_count(const hsy_scheme *s, hsy_tally *t, const uint8_t *reports,
                      size_t n, struct cms_sort *sort)
{
    const uint32_t width = sketch_width(s);
    size_t first = 0, end, ahead = 0;

    for (size_t i = 0; i < n; i++)
        sort->rows[i] = (uint16_t)cms_row(s, reports + i * s->report_bytes);
    cms_sort_by(sort->spare, NULL, sort->rows, n, 0);
    cms_sort_by(sort->order, sort->spare, sort->rows, n, 8);
    for (; first < n; first = end) {
        uint32_t row = sort->rows[sort->order[first]];

        for (end = first; end < n && sort->rows[sort->order[end]] == row;)
            end++;
        for (; ahead < n && ahead < end + CMS_AHEAD; ahead++)
            cms_ask(s, reports + sort->order[ahead] * s->report_bytes);
        if (end < n)
            cms_ask_cells(
                t->cells + (size_t)sort->rows[sort->order[end]] * width, width);
        s->kernels->bit_counts_some(t->cells + (size_t)row * width, reports,
                                    sort->order + first, end - first,
                                    s->report_bytes, width);
        t->strata[row] += end - first;
    }
}

static void cms_tally(const hsy_scheme *s, hsy_tally *t, const uint8_t *reports,
                      size_t n)
{
    uint32_t order[CMS_SORT], spare[CMS_SORT];
    uint16_t rows[CMS_SORT];
    struct cms_sort sort = {order, spare, rows};

    for (size_t done = 0; done < n; done += CMS_SORT)
        cms_count(s, t, reports + done * s->report_bytes,
                  n - done < CMS_SORT ? n - done : CMS_SORT, &sort);
}

static size_t cms_bulk_part(size_t n)
{
    return n < CMS_SORT_MOST ? n : CMS_SORT_MOST;
}

static size_t cms_tally_scratch(const hsy_scheme *s, size_t n)
{
    (void)s;
    return cms_bulk_part(n) * (2 * sizeof(uint32_t) + sizeof(uint16_t));
}

static void cms_tally_bulk(const hsy_scheme *s, hsy_tally *t,
                           const uint8_t *reports, size_t n, void *scratch)
{
    const size_t part = cms_bulk_part(n);
    uint32_t *words = scratch;
    struct cms_sort sort = {words, words + part,
                            (uint16_t *)(words + 2 * part)};

    for (size_t done = 0; done < n; done += part)
        cms_count(s, t, reports + done * s->report_bytes,
                  n - done < part ? n - done : part, &sort);
}

/* ---- Estimates ----------------------------------------------------------- */

/* Another value's bit is the true one in 1/m of the rows. */
static void cms_support(const hsy_scheme *s, struct mech_support *out)
{
    double m = sketch_width(s);

    hsy_support_of(out, s->bits.own, s->bits.other, 0);
    out->q += out->gap / m;
    out->not_q -= out->gap / m;
    out->gap *= (m - 1) / m;
}

/* With x the de-noised counts of a row, the sum of x^2 is that of people's
 * counts and m n_j times the variance of a de-noised bit more. */
static void cms_points(const hsy_scheme *s, hsy_evidence *points,
                       const hsy_tally *t, const uint64_t *codes, size_t count,
                       void *scratch)
{
    struct sketch_reading reading = {.scale = 1, .strata = t->strata};
    struct mech_support bit;

    hsy_support_of(&bit, s->bits.own, s->bits.other, 0);
    reading.q = bit.q;
    reading.gap = bit.gap;
    reading.noise = 1 + (double)sketch_width(s) * mech_support_v0(&bit);
    hsy_sketch_points(s, points, t, codes, count, scratch, &reading);
}

static double cms_steps(const hsy_scheme *s, double n)
{
    (void)n;
    return (double)s->cells + (double)sketch_rows(s) * (double)s->d;
}

static size_t cms_law(const hsy_scheme *s, hsy_factor *factors, uint64_t code,
                      const uint8_t *report)
{
    uint32_t j = cms_row(s, report);
    size_t count = hsy_unary_law(s, factors, sketch_cell(s, j, code), report);

    if (sketch_rows(s) > 1)
        factors[count++] = (hsy_factor){1, sketch_rows(s)};
    return count;
}

const struct mech_client hsy_mech_cms_client = {
    .resolve = cms_resolve,
    .randomize = cms_randomize,
};

const struct mech_counting hsy_mech_cms_counting = {
    .simulate_batch = cms_simulate,
    .check = cms_check,
    .tally = cms_tally,
    .tally_bulk = cms_tally_bulk,
    .tally_scratch = cms_tally_scratch,
};

const struct mech_estimate hsy_mech_cms_estimate = {
    .errors = MECH_ERRORS_SKETCH,
    .points = cms_points,
    .points_scratch = hsy_sketch_points_scratch,
    .support = cms_support,
    .variance = hsy_sketch_variance,
    .steps = cms_steps,
};

const struct mech_law hsy_mech_cms_law = {
    .of_code = cms_law,
    .worst = hsy_unary_law_worst,
};
