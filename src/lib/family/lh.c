/*
 * lh.c - local hashing: optimized (olh) and binary (blh) [WBLJ17], with seeds
 * from a public pool so that a tally suffices [CMM21].
 *
 * Draw a public seed j of the pool, hash the truth to h_j(x) in [0, g) and
 * report (j, y), y by the two-level law with K = g outputs and own output
 * h_j(x): weight rho = A / 2^shift for it, 1 for the others.
 *
 * Privacy. j does not depend on the truth; given j, for every y and any two
 * truths P[y | x] / P[y | x'] <= A / 2^shift <= e^epsilon, the last step
 * because A is rounded down.                    docs/mechanisms/lh.md, Thm 1
 *
 * Report: j in the low pool_bits bits, y in the ceil(log2 g) above them.
 */
#include "lib/family/lh.h"

#include "lib/bits/bytes.h"
#include "lib/bits/draw.h"
#include "lib/core/exp.h"
#include "lib/core/fail.h"
#include "lib/family/lies.h"
#include "lib/family/twolevel.h"
#include "lib/scheme/permanent.h"
#include "lib/scheme/report.h"

#define LH_CELLS_MAX ((uint64_t)1 << 26) /* 512 MiB of counters */

/*
 * The integer g that minimizes the variance at share 0, which is proportional
 * to (E + u)^2 / u with u = g - 1: u u - u <= E^2 <= u u + u [WBLJ17;
 * theory 3.3], so u is floor(E) or the next. E = weight / 2^shift.
 */
uint64_t hsy_lh_best_range(uint64_t nano_epsilon)
{
    uint64_t half_nano = 2 * nano_epsilon;
    unsigned shift = hsy_exp_shift(half_nano);
    uint64_t weight = hsy_exp_weight(half_nano, shift);
    hsy_u128 square = (hsy_u128)weight * weight;
    uint64_t u = weight >> shift;

    /* u <= E and E 2^shift < 2^63: both sides stay below 2^126, but for the
     * added u, which is smaller still. */
    if (square > (hsy_u128)u * (u + 1) << 2 * shift)
        u++;
    return u + 1;
}

/* In integers: m < 2^23 and the shift is at most 44. */
bool hsy_lh_direct(uint64_t m, uint64_t nano_epsilon)
{
    unsigned shift = hsy_exp_shift(2 * nano_epsilon);
    hsy_u128 weight = hsy_exp_weight(2 * nano_epsilon, shift);

    return m < 2 || (hsy_u128)(m - 2) << shift <= 3 * weight;
}

static hsy_status lh_resolve_range(hsy_scheme *s, uint64_t g, hsy_error *err)
{
    uint64_t best = hsy_lh_best_range(s->nano_epsilon);
    uint64_t most = LH_CELLS_MAX >> lh_pool_bits(s);

    if (most > HSY_VALUES_MAX)
        most = HSY_VALUES_MAX; /* keeps the weight above 2^40 */
    if (g == 0) {
        /* The variance falls up to the best, so short of it the most. */
        s->param[HSY_PARAM_G] = best < most ? best : most;
        return HSY_OK;
    }
    if (g < 2)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_G,
                               "the hash needs at least 2 values", 2);
    if (g > most)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_G,
                              "at most 2^22, and pool times g at most 2^26",
                              most);
    s->param[HSY_PARAM_G] = g;
    return HSY_OK;
}

static hsy_status lh_resolve(hsy_scheme *s, const hsy_spec *spec, uint64_t g,
                             hsy_error *err)
{
    uint64_t bits = spec->param[HSY_PARAM_POOL_BITS];
    hsy_status st;

    if (bits > HSY_POOL_BITS_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_POOL_BITS,
                              "at most 2^24 public seeds", HSY_POOL_BITS_MAX);
    s->param[HSY_PARAM_POOL_BITS] = bits == 0 ? HSY_POOL_BITS_DEFAULT : bits;
    s->param[HSY_PARAM_POOL_SEED] = spec->param[HSY_PARAM_POOL_SEED];
    st = lh_resolve_range(s, g, err);
    if (st != HSY_OK)
        return st;
    hsy_twolevel_resolve(s, lh_range(s), 1);
    s->report_bits = lh_pool_bits(s) + report_bits_of(lh_range(s));
    s->report_bytes = report_bytes_of(s->report_bits);
    s->cells = lh_pool(s) * lh_range(s);
    return HSY_OK;
}

static hsy_status lh_resolve_olh(hsy_scheme *s, const hsy_spec *spec,
                                 hsy_error *err)
{
    return lh_resolve(s, spec, spec->param[HSY_PARAM_G], err);
}

static hsy_status lh_resolve_blh(hsy_scheme *s, const hsy_spec *spec,
                                 hsy_error *err)
{
    uint64_t g = spec->param[HSY_PARAM_G];

    if (g != 0 && g != 2)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_G,
                               "blh hashes to 2 values; olh takes others", 2);
    return lh_resolve(s, spec, 2, err);
}

/* Public seeds into rest, hashed truths into own. */
static hsy_status lh_own(const hsy_scheme *s, struct twolevel_block *block,
                         const uint64_t *codes, size_t n, hsy_coins *coins)
{
    const uint32_t mask = (uint32_t)(lh_pool(s) - 1);
    uint8_t seeds[4 * TWOLEVEL_BLOCK];
    hsy_status st = coins->published.fill(coins->published.ctx, seeds, 4 * n);

    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        struct pool_hash hash;

        block->rest[i] = bytes_get32(seeds + 4 * i) & mask;
        hash = lh_function(s, block->rest[i]);
        block->own[i] = lh_hash(s, &hash, codes[i]);
    }
    return st;
}

static hsy_status lh_randomize(const hsy_scheme *s, uint8_t *reports,
                               const uint64_t *codes, size_t n,
                               hsy_coins *coins)
{
    return hsy_twolevel_randomize(s, reports, codes, n, coins, lh_own,
                                  lh_pool_bits(s));
}

static size_t lh_check(const hsy_scheme *s, const uint8_t *reports, size_t n)
{
    const size_t bytes = s->report_bytes;
    size_t i = 0;

    while (i < n && report_get(reports + i * bytes, bytes) >> lh_pool_bits(s) <
                        lh_range(s))
        i++;
    return i;
}

/* Row j of the table holds the g counts of seed j. */
static void lh_tally(const hsy_scheme *s, hsy_tally *t, const uint8_t *reports,
                     size_t n)
{
    const size_t bytes = s->report_bytes;
    const uint64_t mask = lh_pool(s) - 1;

    for (size_t i = 0; i < n; i++) {
        uint64_t report = report_get(reports + i * bytes, bytes);

        t->cells[(report & mask) * lh_range(s) + (report >> lh_pool_bits(s))]++;
    }
    t->strata[0] += n;
}

static size_t lh_law(const hsy_scheme *s, hsy_factor *factors, uint64_t code,
                     const uint8_t *report)
{
    uint64_t value = report_get(report, s->report_bytes);
    uint32_t j = (uint32_t)(value & (lh_pool(s) - 1));
    struct pool_hash hash = lh_function(s, j);
    bool own = value >> lh_pool_bits(s) == lh_hash(s, &hash, code);

    factors[0].num = 1;
    factors[0].den = lh_pool(s);
    factors[1].num = own ? twolevel_own(s) : twolevel_other(s);
    factors[1].den = s->total;
    return 2;
}

/* Reached by any two truths that some seed of the pool tells apart. */
/* Every value is hashed with every seed. */
static double lh_steps(const hsy_scheme *s, double n)
{
    (void)n;
    return (double)lh_pool(s) * (double)(s->d != 0 ? s->d : 1);
}

/* ---- Kept: one seed for good, an answer for each hash -------------------- */

static struct permanent_part lh_part(const hsy_scheme *s)
{
    return (struct permanent_part){.first = lh_pool_bits(s),
                                   .count = lh_range(s)};
}

static hsy_status lh_key(const hsy_permanent *c, uint64_t *key, uint64_t code,
                         hsy_coins *own)
{
    struct pool_hash hash;
    uint32_t j;
    hsy_status st =
        draw_public(&j, lh_pool_bits(c->permanent), &own->published);

    if (st != HSY_OK)
        return st;
    hash = lh_function(c->permanent, j);
    *key = lh_hash(c->permanent, &hash, code);
    return HSY_OK;
}

static uint64_t lh_keys(const hsy_permanent *c)
{
    return lh_range(c->permanent);
}

static hsy_status lh_permanent(const hsy_permanent *c, uint8_t *answer,
                               uint64_t key, hsy_coins *coins)
{
    const hsy_scheme *s = c->permanent;
    uint32_t j, y = 0;
    hsy_status st = draw_public(&j, lh_pool_bits(s), &coins->published);

    if (st == HSY_OK)
        st = hsy_twolevel_draw(s, &y, (uint32_t)key, &coins->secret);
    if (st == HSY_OK)
        report_put(answer, s->report_bytes, j | (uint64_t)y << lh_pool_bits(s));
    return st;
}

static const struct mech_permanent lh_kept = {
    PERMANENT_OUTPUT, lh_part, lh_key, lh_keys, lh_permanent, NULL};

const struct mech_client hsy_mech_olh_client = {
    .resolve = lh_resolve_olh,
    .randomize = lh_randomize,
    .permanent = &lh_kept,
};

const struct mech_counting hsy_mech_lh_counting = {
    .check = lh_check,
    .tally = lh_tally,
};

const struct mech_estimate hsy_mech_lh_estimate = {
    .errors = MECH_ERRORS_DESIGN,
    .points = hsy_lh_points,
    .points_scratch = hsy_lh_points_scratch,
    .support = hsy_lh_support,
    .lies = &hsy_lies_hash,
    .steps = lh_steps,
};

const struct mech_law hsy_mech_lh_law = {
    .favours = MECH_FAVOURS_HASH,
    .factors = 2,
    .of_code = lh_law,
    .worst = hsy_twolevel_law_worst,
};

const struct mech_client hsy_mech_blh_client = {
    .resolve = lh_resolve_blh,
    .randomize = lh_randomize,
    .permanent = &lh_kept,
};
