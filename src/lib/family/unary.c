/*
 * unary.c - unary encoding, symmetric (sue) and optimized (oue) [WBLJ17].
 *
 * d independent bits; the bit of the truth is 1 with probability own / 2^64,
 * each other one with probability other / 2^64:
 *
 *     oue   own = 1/2,       other = 1 / (e^epsilon + 1)
 *     sue   own = 1 - other, other = 1 / (e^(epsilon/2) + 1)
 *
 * other is rounded up to its `digits` leading binary digits.
 *
 * Privacy. The report with bit x set and bit x' clear has the largest ratio,
 *     own (1 - other) / ((1 - own) other) <= e^epsilon,
 * the last step because other is rounded up.    docs/mechanisms/oue.md, Thm 1
 *
 * Report: d bits in ceil(d/8) bytes, bit v of the report at bit v mod 8 of
 * byte v / 8; spare bits are zero.
 */
#include "lib/family/unary.h"

#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/bits/draw.h"
#include "lib/core/exp.h"
#include "lib/core/fail.h"
#include "lib/family/lies.h"
#include "lib/scheme/permanent.h"

#define UNARY_WORDS 16 /* words of a chunk: 1024 lanes */
#define UNARY_DIGITS_MIN 32
#define UNARY_DIGITS_MAX 64
#define UNARY_PLANES (UNARY_WORDS * UNARY_DIGITS_MAX)

/* Words drawn at once: four reports of 1024 bits by 32 digits, with the coin of
 * each, or one by up to 64 and more. */
#define UNARY_DRAW (4 * (UNARY_WORDS * UNARY_DIGITS_MIN + 1))

/* Up to here 64 digits of 1 / (e^epsilon + 1) keep the slack under 2^-28: it
 * is below 2^-64 (e^epsilon + 2 + e^-epsilon). */
#define UNARY_OUE_MAX 24890000000u

/*
 * Round other up to the fewest leading digits that keep (1 - other) / other
 * above e^(x - slack); the slack comes in half nano-epsilon like x.
 */
static void unary_cut(hsy_scheme *s, uint64_t half_nano, uint64_t slack)
{
    uint64_t exact = hsy_exp_flip(half_nano);

    s->law = LAW_BITS;
    for (s->bits.digits = UNARY_DIGITS_MIN; s->bits.digits < UNARY_DIGITS_MAX;
         s->bits.digits++) {
        uint64_t rest = UINT64_MAX >> s->bits.digits;

        s->bits.other = (exact + rest) & ~rest; /* at most 2^63 + 2^32 */
        if (!hsy_exp_covers(half_nano - slack, 0 - s->bits.other,
                            s->bits.other))
            return;
    }
    s->bits.other = exact;
}

/* Each of the two bits may lose half of 2^-28: three half nano-epsilon. */
void hsy_unary_symmetric(hsy_scheme *s)
{
    unary_cut(s, s->nano_epsilon, 3);
    s->bits.own = 0 - s->bits.other;
}

static hsy_status unary_resolve(hsy_scheme *s, hsy_error *err)
{
    if (s->d > HSY_UNARY_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                              "too many values for a bit each", HSY_UNARY_MAX);
    s->report_bits = s->d;
    s->report_bytes = (s->d + 7) / 8;
    s->cells = s->d;
    s->weights = (size_t)s->d + 1;
    return HSY_OK;
}

/* The slack allowed is 2^-28 = 3.72 nano-epsilon: seven halves. */
static hsy_status unary_resolve_oue(hsy_scheme *s, const hsy_spec *spec,
                                    hsy_error *err)
{
    (void)spec;
    if (s->nano_epsilon > UNARY_OUE_MAX)
        return hsy_fail_kind(err, HSY_E_RANGE, HSY_FIELD_EPSILON,
                             "oue: at most epsilon 24.89", HSY_LIMIT_NANO,
                             UNARY_OUE_MAX);
    unary_cut(s, 2 * s->nano_epsilon, 7);
    s->bits.own = (uint64_t)1 << 63;
    return unary_resolve(s, err);
}

static hsy_status unary_resolve_sue(hsy_scheme *s, const hsy_spec *spec,
                                    hsy_error *err)
{
    (void)spec;
    hsy_unary_symmetric(s);
    return unary_resolve(s, err);
}

/* Where a chunk of lanes stands in its report. */
struct unary_chunk {
    size_t first; /* its first word */
    size_t words;
    bool last;
};

static struct unary_chunk unary_chunk_at(const hsy_scheme *s, size_t first)
{
    size_t words = ((size_t)unary_bits(s) + 63) / 64;
    struct unary_chunk c = {first, words - first, true};

    if (c.words > UNARY_WORDS) {
        c.words = UNARY_WORDS;
        c.last = false;
    }
    return c;
}

/*
 * Put the coin in place of lane code, whichever chunk that is in: every word
 * is rewritten. Overwritten, not or-ed in (theory 3.2, pitfall).
 */
static void unary_overwrite(uint64_t *lanes, const struct unary_chunk *c,
                            uint64_t code, uint64_t coin)
{
    uint64_t bit = (uint64_t)1 << (code & 63);

    for (size_t i = 0; i < c->words; i++) {
        uint64_t here = ct_equal(code >> 6, c->first + i) & bit;

        lanes[i] = ct_select(here, coin, lanes[i]);
    }
}

/* Lanes as report bytes; spare bits of the last word go to zero. */
static void unary_store(const hsy_scheme *s, uint8_t *report, uint64_t *lanes,
                        const struct unary_chunk *c)
{
    const uint32_t bits = unary_bits(s);
    const size_t bytes = ((size_t)bits + 7) / 8;
    size_t at = 8 * c->first, i = 0;

    if (c->last && bits % 64 != 0)
        lanes[c->words - 1] &= ((uint64_t)1 << bits % 64) - 1;
    for (; i < c->words && at + 8 <= bytes; i++, at += 8)
        bytes_put64(report + at, lanes[i]);
    for (; i < c->words && at < bytes; at++) /* at most one word */
        report[at] = (uint8_t)(lanes[i] >> 8 * (at % 8));
}

/* A chunk of a report from planes of coins and the true bit's own word, which
 * is looked at after the call: before, it would be put aside on a stack that
 * nobody wipes. */
static void unary_make(const hsy_scheme *s, uint8_t *report, uint64_t code,
                       const struct unary_chunk *c, const uint64_t *planes,
                       const uint64_t *word)
{
    uint64_t lanes[UNARY_WORDS];

    s->kernels->bernoulli_bits(lanes, planes, c->words, s->bits.digits,
                               s->bits.other);
    unary_overwrite(lanes, c, code, ct_less(*word, s->bits.own));
    unary_store(s, report, lanes, c);
    bytes_wipe(lanes, sizeof lanes);
}

/*
 * One report of several chunks, a draw for each. The word of the true bit comes
 * after the planes of the first, and is kept behind those of all.
 */
static hsy_status unary_wide(const hsy_scheme *s, uint8_t *report,
                             uint64_t code, uint64_t planes[UNARY_PLANES + 1],
                             hsy_rng *rng)
{
    struct unary_chunk c;
    size_t first = 0;

    do {
        size_t need, extra = first == 0;
        hsy_status st;

        c = unary_chunk_at(s, first);
        need = c.words * s->bits.digits;
        st = draw_words(planes, need + extra, rng);
        if (st != HSY_OK)
            return st;
        if (extra)
            planes[UNARY_PLANES] = planes[need];
        unary_make(s, report, code, &c, planes, planes + UNARY_PLANES);
        first += c.words;
    } while (!c.last);
    return HSY_OK;
}

static hsy_status unary_wide_batch(const hsy_scheme *s, uint8_t *reports,
                                   const uint64_t *codes, size_t n,
                                   hsy_rng *rng)
{
    uint64_t planes[UNARY_PLANES + 1];
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < n && st == HSY_OK; i++)
        st =
            unary_wide(s, reports + i * s->report_bytes, codes[i], planes, rng);
    bytes_wipe(planes, sizeof planes);
    return st;
}

/*
 * Reports of one chunk. The coins are in the order of drawing for each report
 * by itself, its planes and then the coin of the true bit, but one draw serves
 * as many as there is room for: a draw has a price of its own.
 */
static hsy_status unary_narrow_batch(const hsy_scheme *s, uint8_t *reports,
                                     const uint64_t *codes, size_t n,
                                     hsy_rng *rng)
{
    const struct unary_chunk c = unary_chunk_at(s, 0);
    const size_t need = c.words * s->bits.digits, each = need + 1;
    const size_t most = UNARY_DRAW / each;
    const size_t used = (n < most ? n : most) * each;
    uint64_t planes[UNARY_DRAW];
    hsy_status st = HSY_OK;

    while (n > 0) {
        size_t some = n < most ? n : most;

        st = draw_words(planes, some * each, rng);
        if (st != HSY_OK)
            break;
        for (size_t i = 0; i < some; i++) {
            const uint64_t *own = planes + i * each;

            unary_make(s, reports + i * s->report_bytes, codes[i], &c, own,
                       own + need);
        }
        reports += some * s->report_bytes;
        codes += some;
        n -= some;
    }
    bytes_wipe(planes, used * sizeof *planes);
    return st;
}

hsy_status hsy_unary_fill(const hsy_scheme *s, uint8_t *reports,
                          const uint64_t *codes, size_t n, hsy_rng *rng)
{
    return unary_bits(s) <= 64 * UNARY_WORDS
               ? unary_narrow_batch(s, reports, codes, n, rng)
               : unary_wide_batch(s, reports, codes, n, rng);
}

static hsy_status unary_randomize(const hsy_scheme *s, uint8_t *reports,
                                  const uint64_t *codes, size_t n,
                                  hsy_coins *coins)
{
    return hsy_unary_fill(s, reports, codes, n, &coins->secret);
}

static hsy_status unary_simulate_one(const hsy_scheme *s, uint8_t *report,
                                     uint64_t code, hsy_stream *secret)
{
    uint64_t lanes[UNARY_WORDS];
    uint64_t coin;
    struct unary_chunk c;
    size_t first = 0;
    hsy_rng rng = hsy_stream_rng(secret);
    hsy_status st = draw_words(&coin, 1, &rng);

    if (st != HSY_OK)
        return st;
    do {
        c = unary_chunk_at(s, first);
        s->kernels->sparse(lanes, c.words, s->bits.other, secret);
        unary_overwrite(lanes, &c, code, ct_less(coin, s->bits.own));
        unary_store(s, report, lanes, &c);
        first += c.words;
    } while (!c.last);
    return HSY_OK;
}

hsy_status hsy_unary_sparse(const hsy_scheme *s, uint8_t *reports,
                            const uint64_t *codes, size_t n, hsy_stream *secret)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < n && st == HSY_OK; i++)
        st = unary_simulate_one(s, reports + i * s->report_bytes, codes[i],
                                secret);
    return st;
}

static hsy_status unary_simulate(const hsy_scheme *s, uint8_t *reports,
                                 const uint64_t *codes, size_t n,
                                 hsy_stream *secret, hsy_stream *published)
{
    (void)published;
    return hsy_unary_sparse(s, reports, codes, n, secret);
}

/* Every vector of d bits is a report; only spare bits can be wrong. */
static size_t unary_check(const hsy_scheme *s, const uint8_t *reports, size_t n)
{
    const size_t bytes = s->report_bytes;
    uint8_t spare = (uint8_t)(s->d % 8 == 0 ? 0 : 0xff << s->d % 8);
    size_t i = 0;

    if (spare == 0)
        return n;
    while (i < n && (reports[i * bytes + bytes - 1] & spare) == 0)
        i++;
    return i;
}

static void unary_tally(const hsy_scheme *s, hsy_tally *t,
                        const uint8_t *reports, size_t n)
{
    s->kernels->bit_counts(t->cells, t->weights, reports, n, s->report_bytes,
                           s->d);
    t->strata[0] += n;
}

static void unary_support(const hsy_scheme *s, struct mech_support *out)
{
    hsy_support_of(out, s->bits.own, s->bits.other, 0);
}

/* 2^64 is written 0, so 1 - p is the negative of p. */
size_t hsy_unary_law(const hsy_scheme *s, hsy_factor *factors, uint64_t code,
                     const uint8_t *report)
{
    const uint32_t bits = unary_bits(s);

    for (uint32_t v = 0; v < bits; v++) {
        uint64_t one = v == code ? s->bits.own : s->bits.other;
        bool set = (report[v / 8] >> v % 8 & 1) != 0;

        factors[v].num = set ? one : 0 - one;
        factors[v].den = 0;
    }
    return bits;
}

size_t hsy_unary_law_worst(const hsy_scheme *s, hsy_factor factors[4])
{
    factors[0].num = s->bits.own;
    factors[0].den = 0 - s->bits.own;
    factors[1].num = 0 - s->bits.other;
    factors[1].den = s->bits.other;
    return 2;
}

double hsy_unary_steps(const hsy_scheme *s, double n)
{
    return (double)s->d + n * (double)((s->d + 63) / 64); /* 64 at a time */
}

static struct permanent_part unary_part(const hsy_scheme *s)
{
    return (struct permanent_part){.first = 0, .count = s->d, .differ = 2};
}

static const struct mech_permanent unary_kept = {
    PERMANENT_FLIP, unary_part, NULL, NULL, NULL, NULL};

const struct mech_client hsy_mech_sue_client = {
    .resolve = unary_resolve_sue,
    .randomize = unary_randomize,
    .permanent = &unary_kept,
};

const struct mech_counting hsy_mech_unary_counting = {
    .simulate_batch = unary_simulate,
    .check = unary_check,
    .tally = unary_tally,
};

const struct mech_estimate hsy_mech_unary_estimate = {
    .cell_law = HSY_CELLS_UNARY,
    .points = hsy_evidence_cells,
    .support = unary_support,
    .lies = &hsy_lies_bits,
    .steps = hsy_unary_steps,
};

const struct mech_law hsy_mech_unary_law = {
    .of_code = hsy_unary_law,
    .worst = hsy_unary_law_worst,
};

const struct mech_client hsy_mech_oue_client = {
    .resolve = unary_resolve_oue,
    .randomize = unary_randomize,
    .permanent = &unary_kept,
};
