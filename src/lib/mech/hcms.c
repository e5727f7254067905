/*
 * hcms.c - Hadamard count-mean sketch [Apple17]: a public row j of k, a public
 * place l of m, and one noisy bit.
 *
 * The bit is 1 where the Hadamard matrix H has +1 at (l, h_j(truth)): where l &
 * h_j(truth) has an even number of ones. It goes through the binary channel by
 * epsilon (channel.h).
 *
 * Privacy. j and l do not depend on the truth; given both, the bit's worst
 * ratio is own / other = A / 2^shift <= e^epsilon, because A is rounded down.
 *                                              docs/mechanisms/cms.md, Thm 2
 *
 * Report: j m + l in the low log2 (k m) bits, the bit above them.
 */
#include "lib/bits/bytes.h"
#include "lib/core/fail.h"
#include "lib/family/channel.h"
#include "lib/family/sketch.h"
#include "lib/kernels/hadamard.h"
#include "lib/scheme/report.h"

#define HCMS_AHEAD 24 /* cells that are asked for ahead */

static uint32_t hcms_index_bits(const hsy_scheme *s)
{
    return s->report_bits - 1;
}

static hsy_status hcms_resolve(hsy_scheme *s, const hsy_spec *spec,
                               hsy_error *err)
{
    hsy_status st = hsy_sketch_resolve(s, spec, err);
    size_t cells = s->cells;

    if (st != HSY_OK)
        return st;
    if ((sketch_width(s) & (sketch_width(s) - 1)) != 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_WIDTH,
                        "must be a power of two");
    hsy_channel_by_epsilon(s);
    hsy_channel_resolve(s);
    s->cells = cells;
    s->report_bits = report_bits_of(cells) + 1;
    s->report_bytes = report_bytes_of(s->report_bits);
    return HSY_OK;
}

/* The bit of a truth at a public index: 1 for +1. */
static uint64_t hcms_bit(const hsy_scheme *s, uint32_t index, uint64_t code)
{
    uint32_t j = index / sketch_width(s), l = index % sketch_width(s);

    return hadamard_parity(l & sketch_cell(s, j, code)) ^ 1;
}

static hsy_status hcms_ask(const hsy_scheme *s, struct channel_block *b,
                           const uint64_t *codes, size_t n, hsy_coins *coins)
{
    hsy_rng *published = &coins->published;
    uint8_t seeds[4 * CHANNEL_BLOCK];
    hsy_status st = published->fill(published->ctx, seeds, 4 * n);

    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        uint32_t index = bytes_get32(seeds + 4 * i) & (uint32_t)(s->cells - 1);

        b->rest[i] = index;
        b->bits[i] = (uint8_t)hcms_bit(s, index, codes[i]);
    }
    return st;
}

static hsy_status hcms_randomize(const hsy_scheme *s, uint8_t *reports,
                                 const uint64_t *codes, size_t n,
                                 hsy_coins *coins)
{
    return hsy_channel_randomize(s, reports, codes, n, coins, hcms_ask,
                                 hcms_index_bits(s));
}

/* Cells are far apart: each is asked for some reports before it is counted. */
static inline void hcms_count(const hsy_scheme *s, int64_t *cells,
                              const uint8_t *reports, size_t n, size_t bytes)
{
    const unsigned bits = hcms_index_bits(s);
    const uint64_t mask = s->cells - 1;

    for (size_t i = 0; i < n; i++) {
        size_t ahead = n - i > HCMS_AHEAD ? i + HCMS_AHEAD : i;
        uint64_t report = report_get(reports + i * bytes, bytes);

        __builtin_prefetch(
            cells + (report_get(reports + ahead * bytes, bytes) & mask), 1);
        cells[report & mask] += 2 * (int64_t)(report >> bits) - 1;
    }
}

static void hcms_tally(const hsy_scheme *s, hsy_tally *t,
                       const uint8_t *reports, size_t n)
{
    if (s->report_bytes == 4)
        hcms_count(s, t->cells, reports, n, 4); /* bytes known: one load */
    else
        hcms_count(s, t->cells, reports, n, s->report_bytes);
    t->strata[0] += n;
}

/* The bit agrees with the value's own entry of H by p; with another value's by
 * one half, unless the two collide. */
static void hcms_support(const hsy_scheme *s, struct mech_support *out)
{
    double m = sketch_width(s);

    hsy_channel_support(s, out);
    out->q = 0.5 + out->gap / (2 * m);
    out->not_q = 0.5 - out->gap / (2 * m);
    out->gap *= (m - 1) / (2 * m);
}

/*
 * Of the n reports those that agree with the value's entries are (n + Y) / 2,
 * Y the sum of its cells in the transformed rows. A report adds +-1 to each of
 * its row's, gap = 1 - 2 other / total on average to its person's cell and
 * nothing to others. How many share a row is not known, but expected.
 */
static void hcms_points(const hsy_scheme *s, hsy_evidence *points,
                        const hsy_tally *t, const uint64_t *codes, size_t count,
                        void *scratch)
{
    struct sketch_reading reading = {
        .transform = true, .scale = 0.5, .base = (double)t->strata[0] / 2};
    struct mech_support bit;

    hsy_channel_support(s, &bit);
    reading.gap = bit.gap;
    reading.noise = (double)sketch_width(s) / (bit.gap * bit.gap);
    hsy_sketch_points(s, points, t, codes, count, scratch, &reading);
}

static double hcms_steps(const hsy_scheme *s, double n)
{
    (void)n;
    return (double)s->cells * (1 + (double)report_bits_of(sketch_width(s))) +
           (double)sketch_rows(s) * (double)s->d;
}

static size_t hcms_law(const hsy_scheme *s, hsy_factor *factors, uint64_t code,
                       const uint8_t *report)
{
    uint64_t value = report_get(report, s->report_bytes);
    uint32_t index = (uint32_t)(value & (s->cells - 1));
    uint64_t one = hcms_bit(s, index, code) != 0 ? s->bits.own : s->bits.other;
    bool set = value >> hcms_index_bits(s) != 0;

    factors[0] = (hsy_factor){1, s->cells};
    factors[1] = (hsy_factor){set ? one : s->total - one, s->total};
    return 2;
}

const struct mech_client hsy_mech_hcms_client = {
    .resolve = hcms_resolve,
    .randomize = hcms_randomize,
};

const struct mech_counting hsy_mech_hcms_counting = {
    .check = hsy_spare_check,
    .tally = hcms_tally,
};

const struct mech_estimate hsy_mech_hcms_estimate = {
    .errors = MECH_ERRORS_SKETCH,
    .points = hcms_points,
    .points_scratch = hsy_sketch_points_scratch,
    .support = hcms_support,
    .variance = hsy_sketch_variance,
    .steps = hcms_steps,
};

const struct mech_law hsy_mech_hcms_law = {
    .factors = 2,
    .of_code = hcms_law,
    .worst = hsy_channel_law_worst,
};
