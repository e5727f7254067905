/*
 * ss.c - subset selection [YB18]: a set of exactly w of the d values.
 *
 * The truth x is in the set with probability w A / total, total = w A +
 * (d - w) 2^shift; the rest of the set is uniform among the other d - 1 values.
 * So a set has weight rho = A / 2^shift if it holds x and 1 if it does not: the
 * two-level law over all C(d, w) sets.
 *
 * Privacy. For every set y and any two truths,
 *     P[y | x] / P[y | x'] <= A / 2^shift <= e^epsilon,
 * the last step because A is rounded down.     docs/mechanisms/ss.md, Thm 1
 *
 * Report: d bits in ceil(d/8) bytes, w of them 1, bit v at bit v mod 8 of byte
 * v / 8; spare bits are zero.
 */
#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/bits/draw.h"
#include "lib/core/exp.h"
#include "lib/core/fail.h"
#include "lib/family/lies.h"
#include "lib/family/twolevel.h"
#include "lib/family/unary.h"

#define SS_SIDE 8u   /* reports drawn side by side */
#define SS_DIGITS 4u /* most slots decided by one word of coins */
#define SS_DRAW 512u /* words of coins drawn at once */
#define SS_FOUR                                                                \
    (1u << 12) /* up to so many values a word decides four slots               \
                */

static uint64_t ss_size(const hsy_scheme *s)
{
    return s->param[HSY_PARAM_SUBSET];
}

/* ---- Resolving ----------------------------------------------------------- */

/*
 * Whether size w + 1 has less variance than w at share 0. With rho = a / 2^20
 * that variance is proportional to
 *     ((w-1) rho + d - w) (w rho + d - 1 - w) / (w (d - w)).
 * Here w (rho + 1) <= d < 2^20 (only w + 1 may pass it), so the two factors
 * above stay below 2^41 and the products compared below 2^122.
 */
static bool ss_larger(uint64_t w, uint64_t d, uint64_t a)
{
    hsy_u128 above[2], below[2];

    for (uint64_t i = 0; i < 2; i++) {
        uint64_t u = w + i;

        above[i] = (hsy_u128)((u - 1) * a + ((d - u) << 20)) *
                   (u * a + ((d - 1 - u) << 20));
        below[i] = (hsy_u128)u * (d - u);
    }
    return above[1] * below[0] < above[0] * below[1];
}

/* floor(d / (rho + 1)) or the next, at least 1: the one of less variance at
 * share 0. rho is rounded to 2^-20, which moves the best size by less than one
 * part in a million. */
static uint64_t ss_best_size(uint64_t d, uint64_t nano_epsilon)
{
    uint64_t half_nano = 2 * nano_epsilon, a, w;

    if (hsy_exp_bits(half_nano) > 20)
        return 1; /* rho >= 2^20 >= d */
    a = hsy_exp_weight(half_nano, 20);
    w = (d << 20) / (a + (1u << 20));
    if (w == 0)
        return 1;
    return w + 1 < d && ss_larger(w, d, a) ? w + 1 : w;
}

static hsy_status ss_resolve(hsy_scheme *s, const hsy_spec *spec,
                             hsy_error *err)
{
    uint64_t w = spec->param[HSY_PARAM_SUBSET], most;

    if (s->d > HSY_UNARY_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                              "too many values for a bit each", HSY_UNARY_MAX);
    if (w == 0)
        w = ss_best_size(s->d, s->nano_epsilon);
    if (w >= s->d)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_SUBSET,
                              "a set must leave out at least one value",
                              s->d - 1);
    /* w A and total stay below 2^63 for some shift from 0 on. */
    most = (uint64_t)1 << (62 - hsy_exp_bits(2 * s->nano_epsilon));
    if (w > most)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_SUBSET,
                              "too large at this epsilon; 0 takes the best",
                              most);
    s->param[HSY_PARAM_SUBSET] = w;
    hsy_twolevel_resolve(s, s->d, w);
    s->report_bits = s->d;
    s->report_bytes = (s->d + 7) / 8;
    s->cells = s->d;
    return HSY_OK;
}

/* ---- Selection of constant shape ----------------------------------------- */

/*
 * Slots 0 .. d-2 stand for the values other than the truth, in order. Slot i is
 * taken with probability needed / left, where left = d - 1 - i slots remain
 * and `needed` of them are still to be taken: that makes every choice of them
 * equally likely. left is public; needed is secret, and only compared.
 */

/* Reports side by side: the coins of one are no reason to wait for the next. */
struct ss_side {
    uint64_t code[SS_SIDE];
    uint64_t own[SS_SIDE];    /* all ones: the truth is in the set */
    uint64_t needed[SS_SIDE]; /* slots still to be taken */
    uint64_t slots[SS_SIDE];  /* 64 slots, taken or not */
    uint64_t carry[SS_SIDE];  /* the last slot of the 64 before */
    uint64_t words[SS_DRAW];
    size_t next, have; /* of words */
    size_t due;        /* words that are still to be drawn */
    size_t n;          /* reports */
};

/* Consecutive slots that one word of each report decides. All public. */
struct ss_group {
    uint64_t left; /* at the first of them */
    uint64_t excess;
    unsigned at, count; /* the first one's place in its word of slots */
};

/*
 * Uniform digits below left, left - 1, .. from one word: each is the upper half
 * of a product, whose lower half goes on. With bound the product of them all,
 *     word bound = (the digits read as one number) 2^64 + rest,
 * so the word is taken if rest >= 2^64 mod bound, as in prob.c; whether it is
 * depends on no digit [BL24].
 */
static inline uint64_t ss_digits(uint64_t digit[SS_DIGITS], uint64_t word,
                                 uint64_t left, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        hsy_u128 product = (hsy_u128)word * (left - i);

        digit[i] = (uint64_t)(product >> 64);
        word = (uint64_t)product;
    }
    return word;
}

/* Decide the group's slots of report r. count is group->count: a constant
 * unrolls the loops. */
static inline hsy_status ss_take(struct ss_side *side, size_t r,
                                 const struct ss_group *group, unsigned count,
                                 hsy_rng *rng)
{
    uint64_t *word = &side->words[side->next + r];
    uint64_t digit[SS_DIGITS];
    uint64_t needed = side->needed[r], taken = 0;

    while (ct_public(ct_less(ss_digits(digit, *word, group->left, count),
                             group->excess)) != 0) {
        hsy_status st = draw_words(word, 1, rng);

        if (st != HSY_OK)
            return st;
    }
    for (unsigned i = 0; i < count; i++) {
        uint64_t take = (digit[i] - needed) >> 63; /* both are below 2^63 */

        needed -= take;
        taken |= take << i;
    }
    side->needed[r] = needed;
    side->slots[r] |= taken << group->at;
    return HSY_OK;
}

/* The next words, as many whole groups as there is room for. */
static hsy_status ss_refill(struct ss_side *side, hsy_rng *rng)
{
    size_t most = SS_DRAW / side->n * side->n;

    side->have = side->due < most ? side->due : most;
    side->due -= side->have;
    side->next = 0;
    return draw_words(side->words, side->have, rng);
}

static hsy_status ss_take_group(struct ss_side *side,
                                const struct ss_group *group, hsy_rng *rng)
{
    hsy_status st = HSY_OK;

    if (side->next == side->have)
        st = ss_refill(side, rng);
    for (size_t r = 0; r < side->n && st == HSY_OK; r++)
        st = group->count == SS_DIGITS
                 ? ss_take(side, r, group, SS_DIGITS, rng)
                 : ss_take(side, r, group, group->count, rng);
    side->next += side->n;
    return st;
}

/* Slots a word decides: the product of so many bounds stays below 2^48, so that
 * a word is redrawn once in 2^16 at most. */
static unsigned ss_per_word(const hsy_scheme *s)
{
    return s->d <= SS_FOUR ? SS_DIGITS : 2;
}

/* Slots `first` .. first + 63 of all reports, as far as there are any. */
static hsy_status ss_take_slots(const hsy_scheme *s, struct ss_side *side,
                                size_t first, hsy_rng *rng)
{
    const unsigned per = ss_per_word(s);
    const size_t rest = s->d - 1 - first, count = rest < 64 ? rest : 64;
    hsy_status st = HSY_OK;

    for (unsigned at = 0; at < count && st == HSY_OK; at += per) {
        struct ss_group group = {.left = rest - at, .at = at};
        uint64_t bound = 1;

        group.count = count - at < per ? (unsigned)(count - at) : per;
        for (unsigned i = 0; i < group.count; i++)
            bound *= group.left - i;
        group.excess = hsy_prob_excess(bound);
        st = ss_take_group(side, &group, rng);
    }
    return st;
}

/* Word k of the report: slots before the truth stay, the others move up by
 * one, and between them comes whether the truth is in the set. */
static inline uint64_t ss_insert(const struct ss_side *side, size_t r, size_t k)
{
    uint64_t code = side->code[r], bit = (uint64_t)1 << (code & 63);
    uint64_t here = ct_equal(code >> 6, k), slots = side->slots[r];
    uint64_t stay = ct_less(k, code >> 6) | (here & (bit - 1));
    uint64_t moved = slots << 1 | side->carry[r];

    return ct_select(here & bit, side->own[r], ct_select(stay, slots, moved));
}

static void ss_put(const hsy_scheme *s, uint8_t *report, size_t k, uint64_t x)
{
    size_t at = 8 * k;

    if (at + 8 <= s->report_bytes)
        bytes_put64(report + at, x);
    else
        for (; at < s->report_bytes; at++, x >>= 8)
            report[at] = (uint8_t)x;
}

/* Toss for each report whether its truth is in the set. */
static hsy_status ss_start(const hsy_scheme *s, struct ss_side *side,
                           const uint64_t *codes, size_t n, hsy_rng *rng)
{
    const unsigned per = ss_per_word(s);

    side->n = n;
    side->next = side->have = 0;
    side->due = n * ((s->d - 1 + per - 1) / per);
    for (size_t r = 0; r < n; r++) {
        uint64_t coin;
        hsy_status st = hsy_prob_word(&coin, &s->coin, rng);

        if (st != HSY_OK)
            return st;
        side->code[r] = codes[r];
        side->own[r] = prob_event(coin, &s->coin, ss_size(s) * s->two.weight);
        side->needed[r] = ss_size(s) + side->own[r]; /* one less if it is */
        side->carry[r] = 0;
        bytes_wipe(&coin, sizeof coin);
    }
    return HSY_OK;
}

/* Up to SS_SIDE reports. */
static hsy_status ss_make(const hsy_scheme *s, uint8_t *reports,
                          const uint64_t *codes, size_t n, struct ss_side *side,
                          hsy_rng *rng)
{
    hsy_status st = ss_start(s, side, codes, n, rng);

    for (size_t k = 0; 64 * k < s->d && st == HSY_OK; k++) {
        for (size_t r = 0; r < n; r++)
            side->slots[r] = 0;
        st = ss_take_slots(s, side, 64 * k, rng);
        for (size_t r = 0; r < n; r++) {
            ss_put(s, reports + r * s->report_bytes, k, ss_insert(side, r, k));
            side->carry[r] = side->slots[r] >> 63;
        }
    }
    return st;
}

static hsy_status ss_randomize(const hsy_scheme *s, uint8_t *reports,
                               const uint64_t *codes, size_t n,
                               hsy_coins *coins)
{
    struct ss_side side;
    hsy_status st = HSY_OK;

    for (size_t done = 0; done < n && st == HSY_OK; done += SS_SIDE)
        st = ss_make(s, reports + done * s->report_bytes, codes + done,
                     n - done < SS_SIDE ? n - done : SS_SIDE, &side,
                     &coins->secret);
    bytes_wipe(&side, sizeof side);
    return st;
}

/* ---- Simulation ---------------------------------------------------------- */

/* A stream's words, some at a time. Simulation only. */
struct ss_words {
    uint64_t words[SS_DRAW];
    size_t left; /* unused ones, at the front */
    hsy_rng rng;
};

/* Uniform below bound; the division only where it can matter. */
static uint64_t ss_below(struct ss_words *from, uint64_t bound)
{
    hsy_u128 product;

    do {
        if (from->left == 0) {
            (void)draw_words(from->words, SS_DRAW, &from->rng);
            from->left = SS_DRAW;
        }
        product = (hsy_u128)from->words[--from->left] * bound;
    } while ((uint64_t)product < bound &&
             (uint64_t)product < hsy_prob_excess(bound));
    return (uint64_t)(product >> 64);
}

/* No bit of the report is set, or all of them are. */
static void ss_clear(const hsy_scheme *s, uint8_t *report, bool full)
{
    for (size_t i = 0; i < s->report_bytes; i++)
        report[i] = full ? 0xff : 0;
    if (full && s->d % 8 != 0)
        report[s->report_bytes - 1] = (uint8_t)((1u << s->d % 8) - 1);
}

/*
 * Floyd's algorithm [BF87] for the set, or for what it leaves out where that is
 * less: slot t, uniform up to j, or j itself where t is taken. Slots from the
 * truth's on stand for the next value. Memory and time tell all.
 */
static void ss_simulate_one(const hsy_scheme *s, uint8_t *report, uint64_t code,
                            struct ss_words *from)
{
    const uint64_t others = s->d - 1;
    const uint64_t own =
        ss_below(from, s->total) < ss_size(s) * s->two.weight ? 1 : 0;
    const uint64_t w = ss_size(s) - own;
    const bool full = 2 * w > others;
    const uint64_t few = full ? others - w : w;

    ss_clear(s, report, full);
    for (uint64_t j = others - few; j < others; j++) {
        uint64_t t = ss_below(from, j + 1);

        t += t >= code;
        if ((report[t / 8] >> t % 8 & 1) != full)
            t = j + (j >= code);
        report[t / 8] ^= (uint8_t)(1u << t % 8);
    }
    report[code / 8] &= (uint8_t) ~(1u << code % 8);
    report[code / 8] |= (uint8_t)(own << code % 8);
}

/* The stream is open, so it does not fail. */
static hsy_status ss_simulate(const hsy_scheme *s, uint8_t *reports,
                              const uint64_t *codes, size_t n,
                              hsy_stream *secret, hsy_stream *published)
{
    struct ss_words from = {.left = 0, .rng = hsy_stream_rng(secret)};

    (void)published;
    for (size_t i = 0; i < n; i++)
        ss_simulate_one(s, reports + i * s->report_bytes, codes[i], &from);
    return HSY_OK;
}

/* ---- Counting ------------------------------------------------------------ */

/* Exactly w ones, none of them spare. */
static size_t ss_check(const hsy_scheme *s, const uint8_t *reports, size_t n)
{
    const size_t bytes = s->report_bytes;
    const uint8_t spare = (uint8_t)(s->d % 8 == 0 ? 0 : 0xff << s->d % 8);
    size_t good = s->kernels->rows_with_popcount(reports, n, bytes, ss_size(s)),
           i = 0;

    if (spare == 0)
        return good;
    while (i < good && (reports[i * bytes + bytes - 1] & spare) == 0)
        i++;
    return i;
}

static void ss_tally(const hsy_scheme *s, hsy_tally *t, const uint8_t *reports,
                     size_t n)
{
    s->kernels->bit_counts(t->cells, NULL, reports, n, s->report_bytes, s->d);
    t->strata[0] += n;
}

/*
 * p = w A / total. A set holds w - [x in it] of the others, on the average
 * w - p, so q = (w - p) / (d - 1) = w (total - A) / ((d - 1) total), and
 * p - q = w (d - w) (A - 2^shift) / ((d - 1) total).
 */
static void ss_support(const hsy_scheme *s, struct mech_support *out)
{
    const uint64_t w = ss_size(s), d = s->d;
    const uint64_t one = twolevel_other(s), own = w * s->two.weight;
    const double total = (double)s->total;
    const double all = (double)(d - 1) * total;

    out->p = (double)own / total;
    out->not_p = (double)(s->total - own) / total;
    out->q = (double)w * (double)(s->total - s->two.weight) / all;
    out->not_q = ((double)(d - 1 - w) * total + (double)own) / all;
    out->gap =
        (double)w * (double)(d - w) * (double)(s->two.weight - one) / all;
}

/*
 * P[y | x] = d (A or 2^shift) / (total C(d, w)). With m the smaller of w and
 * d - w, C(d, w) = product of (d - m + i) / i for i = 1 .. m; the last of these
 * is d / m. m A <= w A <= total.
 */
static size_t ss_law(const hsy_scheme *s, hsy_factor *factors, uint64_t code,
                     const uint8_t *report)
{
    const uint64_t w = ss_size(s), m = 2 * w <= s->d ? w : s->d - w;
    const bool own = (report[code / 8] >> code % 8 & 1) != 0;

    factors[0].num = m * (own ? twolevel_own(s) : twolevel_other(s));
    factors[0].den = s->total;
    for (uint64_t i = 1; i < m; i++) {
        factors[i].num = i;
        factors[i].den = s->d - m + i;
    }
    return m;
}

const struct mech_client hsy_mech_ss_client = {
    .resolve = ss_resolve,
    .randomize = ss_randomize,
};

const struct mech_counting hsy_mech_ss_counting = {
    .simulate_batch = ss_simulate,
    .check = ss_check,
    .tally = ss_tally,
};

const struct mech_estimate hsy_mech_ss_estimate = {
    .points = hsy_evidence_cells,
    .support = ss_support,
    .lies = &hsy_lies_set,
    .steps = hsy_unary_steps,
};

const struct mech_law hsy_mech_ss_law = {
    .favours = MECH_FAVOURS_SUBSET,
    .of_code = ss_law,
    .worst = hsy_twolevel_law_worst,
};
