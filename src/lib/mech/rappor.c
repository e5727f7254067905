/*
 * rappor.c - RAPPOR: Bloom filters by cohort, noised twice [EPK14].
 *
 * Draw a public cohort c of m. The truth sets h distinct bits of k, chosen by
 * the cohort's public hash functions. The permanent step turns every bit with
 * probability f/2; the instantaneous step then reports 1 with probability q for
 * a 1 and p for a 0. Bit by bit a report shows 1 with probability own = q* for
 * the truth's bits and other = p* for the rest.
 *
 * Privacy. The cohort does not depend on the truth. Given it, two truths
 * differ in at most h bits either way, so for every report
 *     P[y | x] / P[y | x'] <= (q* (1 - p*) / (p* (1 - q*)))^h <= e^epsilon;
 * and all reports made from one permanent answer, however many, are at most
 *     ((1 - f/2) / (f/2))^(2h)                docs/mechanisms/rappor.md, Thm 1
 *
 * Report: the little-endian number bits + c 2^k; spare bits are zero.
 */
#include "lib/mech/rappor.h"

#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/bits/draw.h"
#include "lib/core/fail.h"
#include "lib/kernels/cohort.h"
#include "lib/mech/mechanisms.h"
#include "lib/scheme/permanent.h"
#include "lib/scheme/report.h"

#define RAPPOR_WORDS 64u /* of lanes in a block: one report of 4096 bits */
#define RAPPOR_CHUNK 16u /* words of lanes that are drawn for at once */

/* ---- Parameters ---------------------------------------------------------- */

/* A parameter with its default and its bounds. */
static hsy_status rappor_param(hsy_scheme *s, const hsy_spec *spec,
                               hsy_param param, uint64_t usual, uint64_t least,
                               uint64_t most, hsy_error *err)
{
    uint64_t x = spec->param[param] != 0 ? spec->param[param] : usual;

    if (x < least || x > most)
        return hsy_fail_limit(
            err, HSY_E_RANGE, hsy_field_find(hsy_param_name(param)),
            x < least ? "rappor: too few" : "rappor: too many",
            x < least ? least : most);
    s->param[param] = x;
    return HSY_OK;
}

static hsy_status rappor_params(hsy_scheme *s, const hsy_spec *spec,
                                hsy_error *err)
{
    hsy_status st = rappor_param(s, spec, HSY_PARAM_FILTER_BITS, 32, 2,
                                 RAPPOR_BITS_MOST, err);

    if (st == HSY_OK)
        st = rappor_param(s, spec, HSY_PARAM_HASHES, rappor_bits(s) < 4 ? 1 : 2,
                          1, RAPPOR_HASHES_MOST, err);
    if (st == HSY_OK)
        st = rappor_param(s, spec, HSY_PARAM_COHORTS, 64, 1,
                          RAPPOR_COHORTS_MOST, err);
    if (st != HSY_OK)
        return st;
    if (2 * rappor_hashes(s) > rappor_bits(s))
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_HASHES,
                              "rappor: at most half as many as bits",
                              rappor_bits(s) / 2);
    if ((uint64_t)rappor_cohorts(s) * rappor_bits(s) > RAPPOR_CELLS_MOST)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_COHORTS,
                              "rappor: cohorts times bits is at most 2^24",
                              RAPPOR_CELLS_MOST / rappor_bits(s));
    s->param[HSY_PARAM_POOL_SEED] = spec->param[HSY_PARAM_POOL_SEED];
    return HSY_OK;
}

static hsy_status rappor_resolve(hsy_scheme *s, const hsy_spec *spec,
                                 hsy_error *err)
{
    hsy_status st = rappor_params(s, spec, err);

    if (st == HSY_OK)
        st = hsy_rappor_chances(s, spec, err);
    if (st != HSY_OK)
        return st;
    s->report_bits = rappor_bits(s) + report_bits_of(rappor_cohorts(s));
    s->report_bytes = s->report_bits <= 64 ? report_bytes_of(s->report_bits)
                                           : (s->report_bits + 7) / 8;
    s->strata = rappor_cohorts(s);
    s->cells = s->strata * rappor_bits(s);
    return HSY_OK;
}

/* ---- The Bloom filter ---------------------------------------------------- */

/* Put x among the first n ascending positions, whatever they are. */
static void rappor_insert(uint32_t *positions, uint32_t n, uint32_t x)
{
    for (uint32_t j = 0; j < n; j++) {
        uint64_t less = ct_less(x, positions[j]);
        uint32_t low = (uint32_t)ct_select(less, x, positions[j]);

        x = (uint32_t)ct_select(less, positions[j], x);
        positions[j] = low;
    }
    positions[n] = x;
}

/* The positions of a code in a cohort, ascending; constant time in code. Hash i
 * chooses one of the k - i positions that are left: the place among those is
 * moved up past each position that is taken, in ascending order. */
static void rappor_place(const hsy_scheme *s, uint32_t *positions,
                         uint64_t code, uint32_t cohort)
{
    const uint32_t h = rappor_hashes(s);

    for (uint32_t i = 0; i < h; i++) {
        struct pool_hash hash =
            hsy_pool_at(s->param[HSY_PARAM_POOL_SEED], cohort * h + i);
        uint32_t x = pool_reduce(pool_wide(&hash, code), rappor_bits(s) - i);

        for (uint32_t j = 0; j < i; j++)
            x += 1 + (uint32_t)ct_less(x, positions[j]); /* + 0 if less */
        rappor_insert(positions, i, x);
    }
}

hsy_status hsy_rappor_bits(const hsy_scheme *s, uint16_t *positions,
                           uint64_t code, uint32_t cohort)
{
    uint32_t wide[RAPPOR_HASHES_MOST];

    if (s->mech != &hsy_mech_rappor || cohort >= rappor_cohorts(s) ||
        !hsy_codes_inside(s, &code, 1))
        return HSY_E_RANGE;
    rappor_place(s, wide, code, cohort);
    for (uint32_t i = 0; i < rappor_hashes(s); i++)
        positions[i] = (uint16_t)wide[i];
    bytes_wipe(wide, sizeof wide);
    return HSY_OK;
}

/* ---- The two steps ------------------------------------------------------- */

/*
 * Both on lanes of bits: Bloom filters become permanent answers, those become
 * reports. Constant time; the coins depend on words alone. A device that keeps
 * the permanent step opens its coins by (source, scheme, truth) and those of
 * the instantaneous step anew for each report; a one-shot report runs both from
 * one source.
 */
static hsy_status rappor_permanent(const hsy_scheme *s, uint64_t *lanes,
                                   size_t words, hsy_rng *rng)
{
    const struct law_rappor *r = &s->rappor;
    uint64_t planes[64 * RAPPOR_CHUNK], turned[RAPPOR_CHUNK];
    hsy_status st = HSY_OK;

    if (r->flip_digits == 0)
        return HSY_OK; /* f = 0: nothing is turned */
    for (size_t at = 0; at < words && st == HSY_OK; at += RAPPOR_CHUNK) {
        size_t n = words - at < RAPPOR_CHUNK ? words - at : RAPPOR_CHUNK;

        st = draw_words(planes, n * r->flip_digits, rng);
        if (st == HSY_OK)
            s->kernels->bernoulli_bits(turned, planes, n, r->flip_digits,
                                       r->flip);
        for (size_t i = 0; i < n && st == HSY_OK; i++)
            lanes[at + i] ^= turned[i];
        bytes_wipe(planes, n * r->flip_digits * sizeof *planes);
    }
    bytes_wipe(turned, sizeof turned);
    return st;
}

/* Both events read the same words: a lane looks at one of them only. */
static hsy_status rappor_instant(const hsy_scheme *s, uint64_t *lanes,
                                 size_t words, hsy_rng *rng)
{
    const struct law_rappor *r = &s->rappor;
    uint64_t planes[64 * RAPPOR_CHUNK];
    uint64_t up[RAPPOR_CHUNK], down[RAPPOR_CHUNK];
    hsy_status st = HSY_OK;

    if (r->step_digits == 0)
        return HSY_OK; /* p = 0 and q = 1: the permanent answer itself */
    for (size_t at = 0; at < words && st == HSY_OK; at += RAPPOR_CHUNK) {
        size_t n = words - at < RAPPOR_CHUNK ? words - at : RAPPOR_CHUNK;

        st = draw_words(planes, n * r->step_digits, rng);
        if (st == HSY_OK) {
            s->kernels->bernoulli_bits(up, planes, n, r->step_digits, r->low);
            s->kernels->bernoulli_bits(down, planes, n, r->step_digits,
                                       r->miss);
        }
        for (size_t i = 0; i < n && st == HSY_OK; i++)
            lanes[at + i] = ct_select(lanes[at + i], ~down[i], up[i]);
        bytes_wipe(planes, n * r->step_digits * sizeof *planes);
    }
    bytes_wipe(up, sizeof up);
    bytes_wipe(down, sizeof down);
    return st;
}

/* ---- Reports ------------------------------------------------------------- */

/* How reports lie in the lanes of a block: each takes a power of two of them,
 * at least 8, or whole words. */
struct rappor_layout {
    uint32_t lanes; /* of a report */
    size_t most;    /* reports of a block */
};

static struct rappor_layout rappor_layout(const hsy_scheme *s)
{
    uint32_t k = rappor_bits(s), lanes = 8;

    while (lanes < 64 && lanes < k)
        lanes *= 2;
    if (k > 64)
        lanes = (k + 63) / 64 * 64;
    return (struct rappor_layout){lanes, 64 * RAPPOR_WORDS / lanes};
}

/* n cohorts from public words, each uniform below m [Lemire 2019]. */
static hsy_status rappor_cohort_draw(const hsy_scheme *s, uint32_t *cohorts,
                                     size_t n, hsy_rng *rng)
{
    const uint64_t m = rappor_cohorts(s), excess = hsy_prob_excess(m);
    uint64_t words[64];
    hsy_status st = HSY_OK;

    for (size_t done = 0; done < n; done += 64) {
        size_t some = n - done < 64 ? n - done : 64;

        st = draw_words(words, some, rng);
        for (size_t i = 0; i < some && st == HSY_OK; i++) {
            hsy_u128 product = (hsy_u128)words[i] * m;
            uint64_t cohort = (uint64_t)(product >> 64);

            if ((uint64_t)product < excess)
                st = hsy_prob_below(&cohort, m, excess, rng);
            cohorts[done + i] = (uint32_t)cohort;
        }
        if (st != HSY_OK)
            break;
    }
    return st;
}

/* Set the bits of a code at report i of a block. Every word of the report is
 * rewritten, so no address tells which bits are set. */
static void rappor_set(const hsy_scheme *s, uint64_t *lanes, uint32_t width,
                       size_t i, const uint32_t *positions)
{
    uint64_t *own = lanes + i * width / 64;
    uint32_t offset = (uint32_t)(i * width % 64), words = (width + 63) / 64;

    for (uint32_t j = 0; j < rappor_hashes(s); j++) {
        uint64_t at = positions[j] + offset;

        for (uint32_t w = 0; w < words; w++)
            own[w] |= ct_equal(at >> 6, w) & (uint64_t)1 << (at & 63);
    }
}

/* The lanes of report i with its cohort above them. */
static void rappor_store(const hsy_scheme *s, uint8_t *report,
                         const uint64_t *lanes, uint32_t width, size_t i,
                         uint32_t cohort)
{
    const uint64_t *own = lanes + i * width / 64;
    const uint32_t k = rappor_bits(s);
    uint64_t mask = UINT64_MAX >> (63 - (k - 1) % 64); /* of the last word */
    size_t words = (k + 63) / 64, at;

    if (s->report_bits <= 64) {
        uint64_t bits = (own[0] >> i * width % 64) & mask;

        report_put(report, s->report_bytes, bits | (uint64_t)cohort << k);
        return;
    }
    for (at = 0; at < s->report_bytes; at++) {
        uint64_t x = at / 8 >= words       ? 0
                     : at / 8 == words - 1 ? own[at / 8] & mask
                                           : own[at / 8];

        report[at] = (uint8_t)(x >> 8 * (at % 8));
    }
    for (at = k / 8; at < s->report_bytes; at++)
        report[at] |= (uint8_t)((uint64_t)cohort << k % 8 >> 8 * (at - k / 8));
}

struct rappor_block {
    uint64_t lanes[RAPPOR_WORDS];
    uint32_t cohorts[64 * RAPPOR_WORDS / 8];
    uint32_t positions[RAPPOR_HASHES_MOST];
};

/* Lanes that n reports take, in words. */
static size_t rappor_words(const struct rappor_layout *l, size_t n)
{
    return (n * l->lanes + 63) / 64;
}

/* Cohorts and permanent answers for n codes in a block. */
static hsy_status rappor_keep(const hsy_scheme *s, struct rappor_block *b,
                              const struct rappor_layout *l,
                              const uint64_t *codes, size_t n, hsy_coins *coins)
{
    const size_t words = rappor_words(l, n);
    hsy_status st = rappor_cohort_draw(s, b->cohorts, n, &coins->published);

    if (st != HSY_OK)
        return st;
    memset(b->lanes, 0, words * sizeof b->lanes[0]);
    for (size_t i = 0; i < n; i++) {
        rappor_place(s, b->positions, codes[i], b->cohorts[i]);
        rappor_set(s, b->lanes, l->lanes, i, b->positions);
    }
    return rappor_permanent(s, b->lanes, words, &coins->secret);
}

static hsy_status rappor_make(const hsy_scheme *s, struct rappor_block *b,
                              const struct rappor_layout *l, uint8_t *reports,
                              const uint64_t *codes, size_t n, hsy_coins *coins)
{
    hsy_status st = rappor_keep(s, b, l, codes, n, coins);

    if (st == HSY_OK)
        st = rappor_instant(s, b->lanes, rappor_words(l, n), &coins->secret);
    for (size_t i = 0; i < n && st == HSY_OK; i++)
        rappor_store(s, reports + i * s->report_bytes, b->lanes, l->lanes, i,
                     b->cohorts[i]);
    return st;
}

static hsy_status rappor_randomize(const hsy_scheme *s, uint8_t *reports,
                                   const uint64_t *codes, size_t n,
                                   hsy_coins *coins)
{
    const struct rappor_layout l = rappor_layout(s);
    struct rappor_block block;
    hsy_status st = HSY_OK;

    for (size_t done = 0; done < n && st == HSY_OK; done += l.most)
        st = rappor_make(s, &block, &l, reports + done * s->report_bytes,
                         codes + done, n - done < l.most ? n - done : l.most,
                         coins);
    bytes_wipe(&block, sizeof block);
    return st;
}

/* Whether one of n reports has no such cohort: then a difference is negative.
 */
static bool rappor_foreign(const hsy_scheme *s, const uint8_t *reports,
                           size_t n)
{
    uint64_t last = rappor_cohorts(s) - 1, signs = 0;

    for (size_t i = 0; i < n; i++, reports += s->report_bytes)
        signs |= last - cohort_of(reports, s->report_bytes, rappor_bits(s));
    return signs >> 63 != 0;
}

static size_t rappor_check(const hsy_scheme *s, const uint8_t *reports,
                           size_t n)
{
    const size_t bytes = s->report_bytes;
    size_t i = 0;

    while (n - i >= 16 && !rappor_foreign(s, reports + i * bytes, 16))
        i += 16;
    while (i < n && !rappor_foreign(s, reports + i * bytes, 1))
        i++;
    return i;
}

static void rappor_tally(const hsy_scheme *s, hsy_tally *t,
                         const uint8_t *reports, size_t n)
{
    s->kernels->cohorts(t->cells, t->strata, reports, n, s->report_bytes,
                        rappor_bits(s), rappor_cohorts(s));
}

/* ---- What is said of it -------------------------------------------------- */

static void rappor_support(const hsy_scheme *s, struct mech_support *out)
{
    hsy_support_of(out, s->bits.own, s->bits.other, 0);
}

/* A share is the mean over the truth's h bits, collisions aside. */
static void rappor_variance(const hsy_scheme *s, double v[2])
{
    struct mech_support law;

    rappor_support(s, &law);
    v[0] = mech_support_v0(&law) / rappor_hashes(s);
    v[1] = mech_support_v1(&law) / rappor_hashes(s);
}

/* Without a permanent step nothing bounds many reports together. */
static double rappor_epsilon_permanent(const hsy_scheme *s)
{
    return s->rappor.flip == 0
               ? 0
               : 2.0 * rappor_hashes(s) *
                     hsy_mech_ln(0 - s->rappor.flip, s->rappor.flip);
}

static size_t rappor_law_size(const hsy_scheme *s)
{
    return (size_t)rappor_bits(s) + 1;
}

/* 2^64 is written 0, so 1 - p is the negative of p. */
static size_t rappor_law(const hsy_scheme *s, hsy_factor *factors,
                         uint64_t code, const uint8_t *report)
{
    uint64_t cohort = cohort_of(report, s->report_bytes, rappor_bits(s));
    uint32_t positions[RAPPOR_HASHES_MOST], next = 0;

    rappor_place(s, positions, code, (uint32_t)cohort);
    factors[0] = (hsy_factor){1, rappor_cohorts(s)};
    for (uint32_t b = 0; b < rappor_bits(s); b++) {
        bool own = next < rappor_hashes(s) && positions[next] == b;
        uint64_t one = own ? s->bits.own : s->bits.other;
        bool set = (report[b / 8] >> b % 8 & 1) != 0;

        next += own;
        factors[1 + b] = (hsy_factor){set ? one : 0 - one, 0};
    }
    return 1 + (size_t)rappor_bits(s);
}

/* Reached by two truths that have no bit in common in some cohort. */
static size_t rappor_law_worst(const hsy_scheme *s, hsy_factor factors[4])
{
    factors[0] = (hsy_factor){s->bits.own, s->bits.other};
    factors[1] = (hsy_factor){0 - s->bits.other, 0 - s->bits.own};
    return 2;
}

/* ---- Kept: the first step is kept, the second is each report's ----------- */

static struct permanent_part rappor_part(const hsy_scheme *s)
{
    return (struct permanent_part){
        .first = 0, .count = rappor_bits(s), .differ = 2 * rappor_hashes(s)};
}

static hsy_status rappor_kept_answer(const hsy_permanent *c, uint8_t *answer,
                                     uint64_t key, hsy_coins *coins)
{
    const struct rappor_layout l = rappor_layout(c->permanent);
    struct rappor_block block;
    hsy_status st = rappor_keep(c->permanent, &block, &l, &key, 1, coins);

    if (st == HSY_OK)
        rappor_store(c->permanent, answer, block.lanes, l.lanes, 0,
                     block.cohorts[0]);
    bytes_wipe(&key, sizeof key); /* its address was taken */
    bytes_wipe(&block, sizeof block);
    return st;
}

static const struct mech_permanent rappor_kept = {
    PERMANENT_INSTANT,  rappor_part,   NULL, NULL,
    rappor_kept_answer, rappor_instant};

const struct mech_client hsy_mech_rappor_client = {
    .resolve = rappor_resolve,
    .randomize = rappor_randomize,
    .permanent = &rappor_kept,
};

const struct mech_counting hsy_mech_rappor_counting = {
    .check = rappor_check,
    .tally = rappor_tally,
};

const struct mech_estimate hsy_mech_rappor_estimate = {
    .iterative = true,
    .support = rappor_support,
    .variance = rappor_variance,
};

const struct mech_law hsy_mech_rappor_law = {
    .epsilon_permanent = rappor_epsilon_permanent,
    .factors_of = rappor_law_size,
    .of_code = rappor_law,
    .worst = rappor_law_worst,
    .power = rappor_hashes,
};
