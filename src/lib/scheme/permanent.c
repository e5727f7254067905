/*
 * permanent.c - a permanent answer, and reports made from it.
 *
 * The permanent answer is a report of one scheme, kept; each report is made
 * from it by a step of noise whose probability follows from the integers of the
 * two schemes, rounded up to 64 binary digits:
 *
 *     grr, olh, blh                    with probability b any of all k outputs:
 *                                      own' = (1 - b) own + b / k
 *     rr, sue, oue, dbitflip, onebit   each bit flipped with probability t:
 *                                      other' = other + t (1 - 2 other)
 *
 * Let own, other be the rates of the permanent scheme and own1, other1 those of
 * the report's. Solved for a report at own1 and other1,
 *
 *     b = 1 - (own1 - 1/k) / (own - 1/k)
 *     t = (other1 - other) / (1 - 2 other)
 *
 * One report. Rounding up adds less than 2^-64 to b or t. Outputs: own' is at
 * most own1 and short of it by less than 2^-64, so the others have at least
 * what they should: no ratio passes own1 / other1. Bits: other' is at least
 * other1 and less than 2^-64 above it, own' = 1 - other' (of oue both are 1/2,
 * which a flip leaves), so no bit's ratio (1 - other') / other' passes that of
 * the report scheme. A single report never spends more than epsilon_report, and
 * the law of an output, or of a bit, is off by less than 2^-64.
 *
 * All reports on one key are made from the one answer, without the truth: they
 * spend no more than the answer did.                     docs/longitudinal.md
 */
#include "lib/scheme/permanent.h"

#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/bits/draw.h"
#include "lib/core/exp.h"
#include "lib/core/fail.h"
#include "lib/scheme/report.h"

#define PERMANENT_WORDS 16u     /* words of bits that are noised at once */
#define PERMANENT_DIGITS 64u    /* binary digits of a flip's probability */
#define PERMANENT_POOL_BITS 16u /* a kept seed marks a device: one of few */

/* ---- The step ------------------------------------------------------------ */

/* ceil(2^64 num / den) by long division; num < den < 2^127. */
static uint64_t permanent_ratio(hsy_u128 num, hsy_u128 den)
{
    uint64_t quotient = 0;

    for (int i = 0; i < 64; i++) {
        num <<= 1;
        quotient <<= 1;
        if (num >= den) {
            num -= den;
            quotient |= 1;
        }
    }
    return quotient + (num != 0);
}

/*
 * own - 1/k = (k - 1) (A - 2^shift) / (k total), so that with u = A - 2^shift
 *     b = (u total1 - u1 total) / (u total1).
 * Weights and totals are below 2^63. b is below 1 by more than 2^-44:
 * epsilon_report is at least 10^-6 and k at most 2^22. It is not negative: a
 * nano-epsilon more adds 10^-9 of A / 2^shift to it, and rounding takes less
 * than 2^-39 off.
 */
static uint64_t permanent_output_step(const hsy_scheme *permanent,
                                      const hsy_scheme *report)
{
    uint64_t u = permanent->two.weight - ((uint64_t)1 << permanent->two.shift);
    uint64_t u1 = report->two.weight - ((uint64_t)1 << report->two.shift);
    hsy_u128 all = (hsy_u128)u * report->total;

    return permanent_ratio(all - (hsy_u128)u1 * permanent->total, all);
}

/*
 * Over totals below 2^48, t = (other1 total - other total1) / (total1 (total -
 * 2 other)); unary totals are 2^64, written 0, and cancel. t is below 1/2,
 * since other1 is, by more than 2^-24.
 *
 * It is not negative. Over totals that is so as above. A unary rate x is
 * rounded up to a grid, the finer ones holding the coarser, the coarsest whose
 * loss is allowed; let y < x be that of a larger epsilon. On the same grid, or
 * on a finer one, y stays at or below x. If its grid is the coarser, x had not
 * that grid because its loss there was too large, and y, for which the same
 * point would be a larger loss still, goes to a lower one: which lies below x.
 */
static uint64_t permanent_flip_step(const hsy_scheme *permanent,
                                    const hsy_scheme *report)
{
    hsy_u128 one = 1, had, wanted;

    if (permanent->total == 0)
        return permanent_ratio(report->bits.other - permanent->bits.other,
                               (one << 64) -
                                   2 * (hsy_u128)permanent->bits.other);
    had = (hsy_u128)permanent->bits.other * report->total;
    wanted = (hsy_u128)report->bits.other * permanent->total;
    return permanent_ratio(
        wanted - had, (hsy_u128)permanent->total * report->total - 2 * had);
}

static uint64_t permanent_resolve(const hsy_scheme *permanent,
                                  const hsy_scheme *report)
{
    switch (report->mech->client->permanent->step) {
    case PERMANENT_OUTPUT:
        return permanent_output_step(permanent, report);
    case PERMANENT_FLIP:
        return permanent_flip_step(permanent, report);
    case PERMANENT_INSTANT:
        break;
    }
    return 0; /* it stands in the scheme */
}

/* ---- Which schemes go together ------------------------------------------- */

/* What the schemes differ in besides epsilon and what follows from it; RAPPOR's
 * may not differ at all. */
static const char *permanent_difference(const hsy_scheme *permanent,
                                        const hsy_scheme *report)
{
    hsy_scheme same = *permanent;

    if (report->mech->client->permanent->step == PERMANENT_INSTANT)
        return hsy_scheme_difference(permanent, report);
    same.nano_epsilon = report->nano_epsilon;
    if (report->nano_permanent == permanent->nano_epsilon)
        same.nano_permanent = report->nano_permanent;
    same.total = report->total;
    if (report->law == LAW_BITS)
        same.bits = report->bits;
    else
        same.two = report->two;
    return hsy_scheme_difference(&same, report);
}

static hsy_status permanent_pair(const hsy_scheme *permanent,
                                 const hsy_scheme *report, hsy_error *err)
{
    const char *differ = permanent_difference(permanent, report);

    if (differ != NULL)
        return hsy_fail(err, HSY_E_MISMATCH, hsy_field_find(differ),
                        "the schemes of the permanent answer and of the report "
                        "differ here");
    if (permanent->nano_epsilon < report->nano_epsilon)
        return hsy_fail_kind(err, HSY_E_RANGE, HSY_FIELD_EPSILON,
                             "the report's epsilon is above the permanent "
                             "answer's",
                             HSY_LIMIT_NANO, report->nano_epsilon);
    return HSY_OK;
}

/* Designs by probabilities have their noise once; RAPPOR's has it twice. */
static hsy_status permanent_noise_known(const hsy_scheme *s, hsy_error *err)
{
    if (s->mech->client->permanent->step != PERMANENT_INSTANT) {
        if (s->design != HSY_DESIGN_EPSILON)
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_DESIGN,
                            "a permanent answer is given by two epsilons");
    } else if (s->rappor.flip == 0) {
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                        "rappor with f = 0 has no permanent answer");
    }
    if (s->param[HSY_PARAM_POOL_BITS] > PERMANENT_POOL_BITS)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_POOL_BITS,
                              "a device that keeps its answer shows the same "
                              "seed each time: at most 2^16 seeds",
                              PERMANENT_POOL_BITS);
    return HSY_OK;
}

static hsy_status permanent_grain(uint64_t *grain, const hsy_scheme *s,
                                  hsy_error *err)
{
    const uint64_t width = (uint64_t)s->hi - (uint64_t)s->lo;

    if (s->kind != HSY_KIND_NUMBER) {
        if (*grain != 0)
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_GRAIN,
                            "only numbers are rounded to a grain");
        return HSY_OK;
    }
    if (*grain == 0)
        *grain = width;
    if (width % *grain != 0)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_GRAIN,
                              "the grain must divide the range", width);
    return HSY_OK;
}

hsy_status hsy_permanent_init(hsy_permanent *c, const hsy_scheme *permanent,
                              const hsy_scheme *report, uint64_t grain,
                              hsy_error *err)
{
    hsy_permanent made = {permanent, report, grain, 0};
    hsy_status st;

    if (report->mech->client->permanent == NULL)
        return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_MECHANISM,
                        "no permanent answers: rr, grr, sue, oue, olh, blh, "
                        "onebit, dbitflip and rappor have them");
    st = permanent_pair(permanent, report, err);
    if (st == HSY_OK)
        st = permanent_noise_known(report, err);
    if (st == HSY_OK)
        st = permanent_grain(&made.grain, report, err);
    if (st != HSY_OK)
        return st;
    made.step = permanent_resolve(permanent, report);
    *c = made;
    return HSY_OK;
}

/* ---- Keys and permanent answers ------------------------------------------ */

/* x < count, which is at most 2^63, or 0 for 2^64: that much may show. */
static hsy_status permanent_inside(uint64_t x, uint64_t count)
{
    if (count != 0 && (x | (count - 1 - x)) >> 63 != 0)
        return hsy_fail(NULL, HSY_E_RANGE, HSY_FIELD_KEY, "outside the domain");
    return HSY_OK;
}

/* The hooks fail only where their coins do. */
static hsy_status permanent_drawn(hsy_status st)
{
    return st == HSY_OK ? HSY_OK : HSY_E_ENTROPY;
}

hsy_status hsy_permanent_key(const hsy_permanent *c, uint64_t *key,
                             uint64_t code, hsy_coins *own)
{
    const struct mech_permanent *mech = c->permanent->mech->client->permanent;
    uint64_t made = code;
    hsy_status st = hsy_mech_coins(own, NULL);

    if (st == HSY_OK)
        st = permanent_inside(code, hsy_code_count(c->permanent));
    if (st == HSY_OK && mech->key != NULL)
        st = permanent_drawn(mech->key(c, &made, code, own));
    if (st == HSY_OK)
        *key = made;
    bytes_wipe(&made, sizeof made);
    return st;
}

uint64_t hsy_permanent_keys(const hsy_permanent *c)
{
    const struct mech_permanent *mech = c->permanent->mech->client->permanent;

    return mech->keys != NULL ? mech->keys(c) : hsy_code_count(c->permanent);
}

hsy_status hsy_permanent_answer(const hsy_permanent *c, uint8_t *answer,
                                uint64_t key, hsy_coins *coins)
{
    const hsy_scheme *s = c->permanent;
    hsy_status st = hsy_mech_coins(coins, NULL);

    if (st == HSY_OK)
        st = permanent_inside(key, hsy_permanent_keys(c));
    if (st == HSY_OK)
        st = permanent_drawn(
            s->mech->client->permanent->permanent != NULL
                ? s->mech->client->permanent->permanent(c, answer, key, coins)
                : s->mech->client->randomize(s, answer, &key, 1, coins));
    bytes_wipe(&key, sizeof key); /* its address was taken */
    if (st != HSY_OK)
        bytes_wipe(answer, s->report_bytes);
    return st;
}

/* ---- Reports ------------------------------------------------------------- */

/* Both words are drawn every time; the output is chosen by a mask. */
static hsy_status permanent_output(const hsy_permanent *c, uint8_t *report,
                                   const uint8_t *answer, hsy_rng *rng)
{
    const hsy_scheme *s = c->report;
    const struct permanent_part part = s->mech->client->permanent->part(s);
    const uint64_t low = ((uint64_t)1 << part.first) - 1;
    uint64_t value = report_get(answer, s->report_bytes);
    uint64_t coin = 0, any = 0;
    hsy_status st = draw_words(&coin, 1, rng);

    if (st == HSY_OK)
        st = hsy_prob_below(&any, part.count, hsy_prob_excess(part.count), rng);
    value = ct_select(ct_less(coin, c->step), (value & low) | any << part.first,
                      value);
    report_put(report, s->report_bytes, value);
    bytes_wipe(&value, sizeof value);
    bytes_wipe(&coin, sizeof coin);
    bytes_wipe(&any, sizeof any);
    return st;
}

static hsy_status permanent_flip(const hsy_permanent *c, uint64_t *lanes,
                                 size_t words, hsy_rng *rng)
{
    uint64_t planes[PERMANENT_DIGITS * PERMANENT_WORDS], flips[PERMANENT_WORDS];
    hsy_status st = draw_words(planes, words * PERMANENT_DIGITS, rng);

    if (st == HSY_OK) {
        c->report->kernels->bernoulli_bits(flips, planes, words,
                                           PERMANENT_DIGITS, c->step);
        for (size_t i = 0; i < words; i++)
            lanes[i] ^= flips[i];
    }
    bytes_wipe(planes, words * PERMANENT_DIGITS * sizeof *planes);
    bytes_wipe(flips, sizeof flips);
    return st;
}

/* The bits of word number i that lie in the part. */
static uint64_t permanent_mask(const struct permanent_part *part, size_t i)
{
    uint64_t from = part->first, to = from + part->count, at = 64 * (uint64_t)i;
    uint64_t mask = UINT64_MAX;

    if (to <= at || from >= at + 64)
        return 0;
    if (from > at)
        mask &= UINT64_MAX << (from - at);
    if (to < at + 64)
        mask &= UINT64_MAX >> (at + 64 - to);
    return mask;
}

/* Up to PERMANENT_WORDS words of an answer, from word `first` on. */
static hsy_status permanent_chunk(const hsy_permanent *c, uint8_t *report,
                                  const uint8_t *answer, size_t bytes,
                                  size_t first, hsy_rng *rng)
{
    const struct mech_permanent *mech = c->report->mech->client->permanent;
    const struct permanent_part part = mech->part(c->report);
    const size_t words = (bytes + 7) / 8;
    uint64_t lanes[PERMANENT_WORDS] = {0};
    hsy_status st;

    for (size_t at = 0; at < bytes; at++)
        lanes[at / 8] |= (uint64_t)answer[at] << 8 * (at % 8);
    st = mech->step == PERMANENT_INSTANT
             ? mech->instant(c->report, lanes, words, rng)
             : permanent_flip(c, lanes, words, rng);
    for (size_t at = 0; at < bytes; at++) {
        uint8_t mask =
            (uint8_t)(permanent_mask(&part, first + at / 8) >> 8 * (at % 8));
        uint8_t noised = (uint8_t)(lanes[at / 8] >> 8 * (at % 8));

        report[at] = (uint8_t)((answer[at] & ~mask) | (noised & mask));
    }
    bytes_wipe(lanes, sizeof lanes);
    return st;
}

static hsy_status permanent_bits(const hsy_permanent *c, uint8_t *report,
                                 const uint8_t *answer, hsy_rng *rng)
{
    const size_t all = c->report->report_bytes, most = 8 * PERMANENT_WORDS;
    hsy_status st = HSY_OK;

    for (size_t at = 0; at < all && st == HSY_OK; at += most)
        st = permanent_chunk(c, report + at, answer + at,
                             all - at < most ? all - at : most, at / 8, rng);
    return st;
}

hsy_status hsy_permanent_report(const hsy_permanent *c, uint8_t *report,
                                const uint8_t *answer, hsy_rng *secret)
{
    hsy_status st = c->report->mech->client->permanent->step == PERMANENT_OUTPUT
                        ? permanent_output(c, report, answer, secret)
                        : permanent_bits(c, report, answer, secret);

    if (st != HSY_OK)
        bytes_wipe(report, c->report->report_bytes);
    return permanent_drawn(st);
}

/* ---- Output perturbation ------------------------------------------------- */

/*
 * A bit that is right with probability E / (E + 1), flipped with probability
 * g = num / den, is right with odds
 *     ((den - num) E + num) / ((den - num) + num E),
 * which grow with E. E is taken as A / 2^shift, at most e^epsilon; A is below
 * 2^47, so both sides are below 2^79, and are cut to 64 bits so that the odds
 * only fall: by less than 2^-31, as they are at most 2^31. hsy_exp_cover gives
 * the least nano-epsilon that covers them; the one below is covered by them.
 */
hsy_status hsy_permanent_gamma(uint64_t *nano_report, uint64_t nano_permanent,
                               hsy_ratio gamma)
{
    unsigned shift;
    hsy_u128 weight, one, up, down;
    uint64_t cover;

    if (nano_permanent < HSY_EPSILON_MIN || nano_permanent > HSY_EPSILON_MAX ||
        gamma.den == 0 || gamma.den > (uint64_t)1 << 31 ||
        gamma.num >= gamma.den || 2 * gamma.num >= gamma.den)
        return HSY_E_RANGE;
    if (gamma.num == 0) {
        *nano_report = nano_permanent;
        return HSY_OK;
    }
    shift = hsy_exp_shift(2 * nano_permanent);
    weight = hsy_exp_weight(2 * nano_permanent, shift);
    one = (hsy_u128)1 << shift;
    up = (gamma.den - gamma.num) * weight + gamma.num * one;
    down = (gamma.den - gamma.num) * one + gamma.num * weight;
    while (up >> 64 != 0) {
        up >>= 1;
        down = (down >> 1) + 1;
    }
    if (up <= down)
        return HSY_E_RANGE; /* no information is left */
    cover = hsy_exp_cover((uint64_t)up, (uint64_t)down);
    if (cover <= HSY_EPSILON_MIN)
        return HSY_E_RANGE;
    *nano_report = cover - 1;
    return HSY_OK;
}
