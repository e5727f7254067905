/*
 * dbitflip.c - Microsoft's dBitFlip [DKY17]: noisy bits for a few buckets.
 *
 * Draw a public set j of the pool, `bits` of the d buckets; report j and for
 * each bucket of the set a bit that is 1 with probability own / total if the
 * bucket is the truth's, else with probability other / total:
 *
 *     own = A, other = 2^shift, total = A + 2^shift,
 *     A = floor(2^shift e^(epsilon/2)), for one bit floor(2^shift e^epsilon).
 *
 * Privacy. j does not depend on the truth. Given j, two truths differ in two
 * bits at most, in one if there is but one, and each has a ratio of at most
 * A / 2^shift <= e^(epsilon/2), or e^epsilon.
 *                                           docs/mechanisms/dbitflip.md, Thm 1
 *
 * Report: j in the low pool_bits bits, the bits above them, bucket by bucket in
 * the order of the set.
 */
#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/bits/draw.h"
#include "lib/bits/u128.h"
#include "lib/core/exp.h"
#include "lib/core/fail.h"
#include "lib/kernels/pool.h"
#include "lib/scheme/permanent.h"
#include "lib/scheme/report.h"
#include "lib/scheme/scheme.h"

#define DBITFLIP_BITS 16u /* what is asked of a person by default */
#define DBITFLIP_MOST 63u /* bits, of a pool of two sets */
#define DBITFLIP_EACH 64u /* times a bucket must be in the pool, on average */
#define DBITFLIP_DRAW 512u

static uint32_t dbitflip_bits(const hsy_scheme *s)
{
    return (uint32_t)s->param[HSY_PARAM_SAMPLED_BITS];
}

static uint32_t dbitflip_pool_bits(const hsy_scheme *s)
{
    return (uint32_t)s->param[HSY_PARAM_POOL_BITS];
}

static uint64_t dbitflip_pool(const hsy_scheme *s)
{
    return (uint64_t)1 << dbitflip_pool_bits(s);
}

/* ---- Resolving ----------------------------------------------------------- */

/*
 * Whether each bucket is in some set: in none of K with probability
 * (1 - bits/d)^K <= e^-64 over the choice of the pool, for any of 2^20 buckets
 * below 2^-72.
 */
static bool dbitflip_covers(uint64_t d, uint64_t bits, uint64_t pool_bits)
{
    return bits == d || bits << pool_bits >= DBITFLIP_EACH * d;
}

static hsy_status dbitflip_resolve_pool(hsy_scheme *s, uint64_t bits,
                                        uint64_t pool_bits, hsy_error *err)
{
    if (pool_bits > HSY_POOL_BITS_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_POOL_BITS,
                              "at most 2^24 public sets", HSY_POOL_BITS_MAX);
    if (pool_bits == 0)
        for (pool_bits = HSY_POOL_BITS_DEFAULT;
             pool_bits < HSY_POOL_BITS_MAX &&
             !dbitflip_covers(s->d, bits, pool_bits);)
            pool_bits++;
    if (!dbitflip_covers(s->d, bits, pool_bits))
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_POOL_BITS,
                              "the pool must ask for each value 64 times over: "
                              "take more sets, or more bits",
                              pool_bits);
    if (bits + pool_bits > 64)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_SAMPLED_BITS,
                              "a report has 64 bits, the set's number among "
                              "them; sue asks for all values",
                              64 - pool_bits);
    s->param[HSY_PARAM_SAMPLED_BITS] = bits;
    s->param[HSY_PARAM_POOL_BITS] = pool_bits;
    return HSY_OK;
}

/* total < 2^46 (hsy_exp_shift): nothing wraps. */
static void dbitflip_resolve_coin(hsy_scheme *s)
{
    uint64_t half_nano = (dbitflip_bits(s) == 1 ? 2 : 1) * s->nano_epsilon;

    s->law = LAW_BITS;
    s->bits.shift = hsy_exp_shift(half_nano);
    s->bits.own = s->bits.weight = hsy_exp_weight(half_nano, s->bits.shift);
    s->bits.other = (uint64_t)1 << s->bits.shift;
    s->total = s->bits.own + s->bits.other;
    s->coin = hsy_prob_base(s->total);
}

static hsy_status dbitflip_resolve(hsy_scheme *s, const hsy_spec *spec,
                                   hsy_error *err)
{
    uint64_t bits = spec->param[HSY_PARAM_SAMPLED_BITS];
    hsy_status st;

    if (s->d > HSY_UNARY_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                              "too many values for dbitflip", HSY_UNARY_MAX);
    if (bits == 0)
        bits = s->d < DBITFLIP_BITS ? s->d : DBITFLIP_BITS;
    if (bits > s->d)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_SAMPLED_BITS,
                              "at most one for each value", s->d);
    s->param[HSY_PARAM_POOL_SEED] = spec->param[HSY_PARAM_POOL_SEED];
    st = dbitflip_resolve_pool(s, bits, spec->param[HSY_PARAM_POOL_BITS], err);
    if (st != HSY_OK)
        return st;
    dbitflip_resolve_coin(s);
    s->report_bits = dbitflip_pool_bits(s) + dbitflip_bits(s);
    s->report_bytes = report_bytes_of(s->report_bits);
    s->cells = 2 * (size_t)s->d;
    return HSY_OK;
}

/* ---- The pool of sets ---------------------------------------------------- */

/*
 * Set number j: Floyd's algorithm [BF87] on the pool's words for j. Bucket i is
 * uniform below d - bits + i + 1, up to 2^-44, or the largest of these where it
 * has come before. All of it is public.
 */
static void dbitflip_set(const hsy_scheme *s, uint32_t *buckets, uint32_t j)
{
    const uint32_t bits = dbitflip_bits(s);
    uint64_t words[DBITFLIP_MOST];

    hsy_pool_words(words, bits, s->param[HSY_PARAM_POOL_SEED], j);
    for (uint32_t i = 0; i < bits; i++) {
        uint32_t top = s->d - bits + i;
        uint32_t at = (uint32_t)((hsy_u128)words[i] * (top + 1) >> 64);
        bool before = false;

        for (uint32_t k = 0; k < i; k++)
            before |= buckets[k] == at;
        buckets[i] = before ? top : at;
    }
}

/* ---- Randomizing --------------------------------------------------------- */

/* Where in set j a bucket stands, from 1 on; 0 if it does not. */
static uint64_t dbitflip_place(const hsy_scheme *s, uint32_t j, uint64_t code)
{
    const uint32_t bits = dbitflip_bits(s);
    uint32_t buckets[DBITFLIP_MOST];
    uint64_t place = 0;

    dbitflip_set(s, buckets, j);
    for (uint32_t i = 0; i < bits; i++)
        place = ct_select(ct_equal(buckets[i], code), i + 1, place);
    return place;
}

/* The bits for a truth at this place of set j, from one word each, which are
 * drawn anew where they are too large. */
static hsy_status dbitflip_flip(const hsy_scheme *s, uint64_t *report,
                                uint32_t j, uint64_t place, uint64_t *words,
                                hsy_rng *rng)
{
    const uint32_t bits = dbitflip_bits(s);
    uint64_t answer = 0;

    for (uint32_t i = 0; i < bits; i++) {
        uint64_t mine = ct_equal(place, i + 1);

        if (ct_public(ct_less(s->coin.last, words[i])) != 0) {
            hsy_status st = hsy_prob_word(&words[i], &s->coin, rng);

            if (st != HSY_OK)
                return st;
        }
        answer |= (prob_event(words[i], &s->coin,
                              ct_select(mine, s->bits.own, s->bits.other)) &
                   1)
                  << i;
    }
    *report = j | answer << dbitflip_pool_bits(s);
    return HSY_OK;
}

/* Room for the coins of as many reports as there are words for. */
struct dbitflip_block {
    uint64_t words[DBITFLIP_DRAW];
    uint8_t seeds[4 * DBITFLIP_DRAW];
};

/* n reports, n times bits <= DBITFLIP_DRAW. */
static hsy_status dbitflip_make(const hsy_scheme *s, uint8_t *reports,
                                const uint64_t *codes, size_t n,
                                struct dbitflip_block *block, hsy_coins *coins)
{
    const uint32_t mask = (uint32_t)(dbitflip_pool(s) - 1);
    const size_t bits = dbitflip_bits(s), bytes = s->report_bytes;
    hsy_status st =
        coins->published.fill(coins->published.ctx, block->seeds, 4 * n);

    if (st == HSY_OK)
        st = draw_words(block->words, n * bits, &coins->secret);
    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        uint32_t j = bytes_get32(block->seeds + 4 * i) & mask;
        uint64_t report = 0;

        st = dbitflip_flip(s, &report, j, dbitflip_place(s, j, codes[i]),
                           block->words + i * bits, &coins->secret);
        report_put(reports + i * bytes, bytes, report);
    }
    return st;
}

static hsy_status dbitflip_randomize(const hsy_scheme *s, uint8_t *reports,
                                     const uint64_t *codes, size_t n,
                                     hsy_coins *coins)
{
    const size_t most = DBITFLIP_DRAW / dbitflip_bits(s);
    struct dbitflip_block block;
    hsy_status st = HSY_OK;

    for (size_t done = 0; done < n && st == HSY_OK; done += most)
        st = dbitflip_make(s, reports + done * s->report_bytes, codes + done,
                           n - done < most ? n - done : most, &block, coins);
    bytes_wipe(block.words, sizeof block.words);
    return st;
}

/* ---- Counting ------------------------------------------------------------ */

/* Cell v counts the ones of bucket v, cell d + v how often it was asked. */
static void dbitflip_tally(const hsy_scheme *s, hsy_tally *t,
                           const uint8_t *reports, size_t n)
{
    const size_t bytes = s->report_bytes;
    const uint32_t bits = dbitflip_bits(s);
    uint32_t buckets[DBITFLIP_MOST];

    for (size_t i = 0; i < n; i++) {
        uint64_t report = report_get(reports + i * bytes, bytes);
        uint64_t answer = report >> dbitflip_pool_bits(s);

        dbitflip_set(s, buckets, (uint32_t)(report & (dbitflip_pool(s) - 1)));
        for (uint32_t k = 0; k < bits; k++) {
            t->cells[buckets[k]] += (int64_t)(answer >> k & 1);
            t->cells[s->d + buckets[k]]++;
        }
    }
    t->strata[0] += n;
}

/* ---- Estimating ---------------------------------------------------------- */

/* The law of one bit. */
static void dbitflip_support(const hsy_scheme *s, struct mech_support *out)
{
    hsy_support_of(out, s->bits.own, s->bits.other, s->total);
}

/* A bucket is asked of one in d / bits; those asked are a sample, which adds
 * nothing at share 0 and at share 1. */
static void dbitflip_support_variance(const hsy_scheme *s, double v[2])
{
    const double each = (double)s->d / (double)dbitflip_bits(s);
    struct mech_support law;

    dbitflip_support(s, &law);
    v[0] = each * mech_support_v0(&law);
    v[1] = each * mech_support_v1(&law);
}

/*
 * Of all n reports `asked` were about the bucket: their share is estimated as
 * from that many reports, and they are a sample without replacement of the n,
 * whose variance f (1-f) (n - asked) / (asked (n - 1)) comes on top. A bucket
 * that nobody was asked about has no estimate: its n is 0.
 */
static void dbitflip_points(const hsy_scheme *s, hsy_evidence *points,
                            const hsy_tally *t, const uint64_t *codes,
                            size_t count, void *scratch)
{
    const double n = (double)t->strata[0];
    struct mech_support law;

    (void)scratch;
    dbitflip_support(s, &law);
    for (size_t i = 0; i < count; i++) {
        uint64_t code = codes != NULL ? codes[i] : i;
        double asked = (double)t->cells[s->d + code];
        double ones = (double)t->cells[code];

        hsy_evidence_pure(&points[i], &law, asked > 0 ? asked : 1, ones);
        points[i].binomial_variance = n > 1 ? (n - asked) / (n - 1) : 0;
        if (asked <= 0) {
            points[i].n = asked;
            points[i].value = 0;
        }
    }
}

static double dbitflip_steps(const hsy_scheme *s, double n)
{
    return (double)s->cells + n * (double)dbitflip_bits(s);
}

static size_t dbitflip_law(const hsy_scheme *s, hsy_factor *factors,
                           uint64_t code, const uint8_t *report)
{
    const uint32_t bits = dbitflip_bits(s);
    uint64_t value = report_get(report, s->report_bytes);
    uint64_t answer = value >> dbitflip_pool_bits(s);
    uint32_t buckets[DBITFLIP_MOST];

    dbitflip_set(s, buckets, (uint32_t)(value & (dbitflip_pool(s) - 1)));
    factors[0] = (hsy_factor){1, dbitflip_pool(s)};
    for (uint32_t i = 0; i < bits; i++) {
        uint64_t one = buckets[i] == code ? s->bits.own : s->bits.other;

        factors[i + 1].num = (answer >> i & 1) != 0 ? one : s->total - one;
        factors[i + 1].den = s->total;
    }
    return bits + 1;
}

/* Two truths in one set: the bit of the first is 1 and that of the second 0. */
static size_t dbitflip_law_worst(const hsy_scheme *s, hsy_factor factors[4])
{
    factors[0] = (hsy_factor){s->bits.own, s->bits.other};
    factors[1] = factors[0];
    return dbitflip_bits(s) == 1 ? 1 : 2;
}

/* ---- Kept: one set for good, an answer for each place -------------------- */

static struct permanent_part dbitflip_part(const hsy_scheme *s)
{
    return (struct permanent_part){.first = dbitflip_pool_bits(s),
                                   .count = dbitflip_bits(s),
                                   .differ = dbitflip_bits(s) == 1 ? 1 : 2};
}

/* With a bit for each value none is outside the set: places count from 0. */
static uint64_t dbitflip_first(const hsy_scheme *s)
{
    return dbitflip_bits(s) == s->d;
}

static hsy_status dbitflip_key(const hsy_permanent *c, uint64_t *key,
                               uint64_t code, hsy_coins *own)
{
    uint32_t j;
    hsy_status st =
        draw_public(&j, dbitflip_pool_bits(c->permanent), &own->published);

    if (st == HSY_OK)
        *key = dbitflip_place(c->permanent, j, code) -
               dbitflip_first(c->permanent);
    return st;
}

static uint64_t dbitflip_keys(const hsy_permanent *c)
{
    return dbitflip_bits(c->permanent) + 1 - dbitflip_first(c->permanent);
}

static hsy_status dbitflip_permanent(const hsy_permanent *c, uint8_t *answer,
                                     uint64_t key, hsy_coins *coins)
{
    const hsy_scheme *s = c->permanent;
    uint64_t words[DBITFLIP_MOST], report = 0;
    uint32_t j;
    hsy_status st = draw_public(&j, dbitflip_pool_bits(s), &coins->published);

    if (st == HSY_OK)
        st = draw_words(words, dbitflip_bits(s), &coins->secret);
    if (st == HSY_OK)
        st = dbitflip_flip(s, &report, j, key + dbitflip_first(s), words,
                           &coins->secret);
    report_put(answer, s->report_bytes, report);
    bytes_wipe(words, sizeof words);
    bytes_wipe(&report, sizeof report);
    return st;
}

static const struct mech_permanent dbitflip_kept = {
    PERMANENT_FLIP, dbitflip_part,      dbitflip_key,
    dbitflip_keys,  dbitflip_permanent, NULL};

const struct mech_client hsy_mech_dbitflip_client = {
    .resolve = dbitflip_resolve,
    .randomize = dbitflip_randomize,
    .permanent = &dbitflip_kept,
};

const struct mech_counting hsy_mech_dbitflip_counting = {
    .check = hsy_spare_check,
    .tally = dbitflip_tally,
};

const struct mech_estimate hsy_mech_dbitflip_estimate = {
    .points = dbitflip_points,
    .support = dbitflip_support,
    .variance = dbitflip_support_variance,
    .steps = dbitflip_steps,
};

const struct mech_law hsy_mech_dbitflip_law = {
    .factors = DBITFLIP_MOST + 1,
    .of_code = dbitflip_law,
    .worst = dbitflip_law_worst,
};
