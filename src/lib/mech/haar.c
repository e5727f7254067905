/*
 * haar.c - Haar wavelet by one-bit Hadamard response [CKS19].
 *
 * The d bins are leaves 0 .. d-1 of a binary tree of h levels. On level l, from
 * 0 at the root to h-1 above the leaves, a truth lies in the left or the right
 * half of one node j of 2^l: a vector that is 1 or -1 at j, 0 elsewhere. Draw
 * a level l and a row r of the Hadamard matrix of order 2^l from the published
 * coins and report them with the vector's entry of its Hadamard transform,
 *     b = parity(r & j) xor (right half),
 * through the channel of randomized response.
 *
 * Privacy. l and r do not depend on the truth; given them the report is b
 * through a channel whose two rows differ by a factor of at most own / other =
 * A / 2^shift <= e^epsilon.                   docs/mechanisms/haar.md, Thm 1
 *
 * Report: the bit, above it l in ceil(log2 h) bits (at least 1), above that r
 * in h-1 bits. Tally: cell 2^l - 1 + r sums up reports of (l, r), a 0 as 1 and
 * a 1 as -1; stratum l counts the reports of level l.
 */
#include "lib/mech/haar.h"

#include "lib/bits/draw.h"
#include "lib/family/channel.h"
#include "lib/scheme/report.h"

static uint32_t haar_levels(const hsy_scheme *s)
{
    return report_bits_of(s->d); /* d <= 2^h, d >= 2 */
}

static uint32_t haar_level_bits(const hsy_scheme *s)
{
    return report_bits_of(haar_levels(s));
}

static hsy_status haar_resolve(hsy_scheme *s, const hsy_spec *spec,
                               hsy_error *err)
{
    (void)spec;
    (void)err;
    hsy_channel_by_epsilon(s);
    hsy_channel_resolve(s);
    s->report_bits = 1 + haar_level_bits(s) + haar_levels(s) - 1;
    s->report_bytes = report_bytes_of(s->report_bits);
    s->cells = ((size_t)1 << haar_levels(s)) - 1;
    s->strata = haar_levels(s);
    return HSY_OK;
}

/* What a report asks: the level and the row. */
struct haar_asked {
    uint32_t level, row;
};

static struct haar_asked haar_asked_of(uint64_t level, uint64_t word)
{
    return (struct haar_asked){(uint32_t)level,
                               (uint32_t)(word & (((uint64_t)1 << level) - 1))};
}

/* 0 where the entry is 1, 1 where it is -1. Shifts are by public amounts. */
static uint64_t haar_entry(const hsy_scheme *s, struct haar_asked asked,
                           uint64_t code)
{
    uint32_t below = haar_levels(s) - asked.level - 1;
    uint64_t side = code >> below & 1, x = code >> below >> 1 & asked.row;

    for (unsigned shift = 16; shift > 0; shift >>= 1)
        x ^= x >> shift;
    return (x ^ side) & 1;
}

/* Levels and rows, each from two words, and their entries. */
static hsy_status haar_ask(const hsy_scheme *s, struct channel_block *b,
                           const uint64_t *codes, size_t n, hsy_coins *coins)
{
    const uint64_t levels = haar_levels(s), excess = hsy_prob_excess(levels);
    uint64_t words[2 * CHANNEL_BLOCK];
    hsy_status st = draw_words(words, 2 * n, &coins->published);

    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        uint64_t level = (uint64_t)((hsy_u128)words[2 * i] * levels >> 64);
        struct haar_asked asked;

        if (words[2 * i] * levels < excess)
            st = hsy_prob_below(&level, levels, excess, &coins->published);
        asked = haar_asked_of(level, words[2 * i + 1]);
        b->bits[i] = (uint8_t)haar_entry(s, asked, codes[i]);
        b->rest[i] = (uint64_t)asked.level << 1 |
                     (uint64_t)asked.row << (1 + haar_level_bits(s));
    }
    return st;
}

static hsy_status haar_randomize(const hsy_scheme *s, uint8_t *reports,
                                 const uint64_t *codes, size_t n,
                                 hsy_coins *coins)
{
    return hsy_channel_randomize(s, reports, codes, n, coins, haar_ask, 0);
}

static struct haar_asked haar_read(const hsy_scheme *s, uint64_t report)
{
    uint32_t bits = haar_level_bits(s);

    return (struct haar_asked){
        (uint32_t)(report >> 1 & (((uint64_t)1 << bits) - 1)),
        (uint32_t)(report >> (1 + bits))};
}

static size_t haar_check(const hsy_scheme *s, const uint8_t *reports, size_t n)
{
    const size_t bytes = s->report_bytes;
    size_t i = 0;

    for (; i < n; i++) {
        uint64_t report = report_get(reports + i * bytes, bytes);
        struct haar_asked asked = haar_read(s, report);

        if (report >> s->report_bits != 0 || asked.level >= haar_levels(s) ||
            asked.row >> asked.level != 0)
            break;
    }
    return i;
}

static void haar_tally(const hsy_scheme *s, hsy_tally *t,
                       const uint8_t *reports, size_t n)
{
    const size_t bytes = s->report_bytes;

    for (size_t i = 0; i < n; i++) {
        uint64_t report = report_get(reports + i * bytes, bytes);
        struct haar_asked asked = haar_read(s, report);

        t->cells[((size_t)1 << asked.level) - 1 + asked.row] +=
            1 - 2 * (int64_t)(report & 1);
        t->strata[asked.level]++;
    }
}

static size_t haar_law(const hsy_scheme *s, hsy_factor *factors, uint64_t code,
                       const uint8_t *report)
{
    uint64_t value = report_get(report, s->report_bytes);
    struct haar_asked asked = haar_read(s, value);
    bool own = haar_entry(s, asked, code) == (value & 1);

    factors[0] = (hsy_factor){1, haar_levels(s)};
    factors[1] = (hsy_factor){1, (uint64_t)1 << asked.level};
    factors[2] = (hsy_factor){own ? s->bits.own : s->bits.other, s->total};
    return 3;
}

const struct mech_client hsy_mech_haar_client = {
    .resolve = haar_resolve,
    .randomize = haar_randomize,
};

const struct mech_counting hsy_mech_haar_counting = {
    .check = haar_check,
    .tally = haar_tally,
};

const struct mech_estimate hsy_mech_haar_estimate = {
    .errors = MECH_ERRORS_TOGETHER,
    .points = hsy_haar_points,
    .points_scratch = hsy_haar_points_scratch,
    .variance = hsy_haar_points_variance,
};

const struct mech_law hsy_mech_haar_law = {
    .factors = 3,
    .of_code = haar_law,
    .worst = hsy_channel_law_worst,
};
