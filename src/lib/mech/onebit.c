/*
 * onebit.c - the mean of a number in [lo, hi] from one bit [Duchi13, DKY17].
 *
 * With t steps above lo out of W = hi - lo: b = 1 with probability t / W
 * (stochastic rounding to an end of the range), then b through the channel of
 * randomized response by epsilon. Both steps are exact.
 *
 * Privacy. P[1 | t] lies between P[1 | 0] = other / total and P[1 | W] =
 * own / total, and P[0 | t] between their complements, so no ratio exceeds
 * own / other = A / 2^shift <= e^epsilon.   docs/mechanisms/onebit.md, Thm 1
 *
 * Report: one bit.
 */
#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/bits/draw.h"
#include "lib/family/channel.h"
#include "lib/family/mean.h"

static uint64_t onebit_width(const hsy_scheme *s)
{
    return (uint64_t)s->hi - (uint64_t)s->lo;
}

static hsy_status onebit_resolve(hsy_scheme *s, const hsy_spec *spec,
                                 hsy_error *err)
{
    (void)spec;
    (void)err;
    hsy_channel_by_epsilon(s);
    hsy_channel_resolve(s);
    return HSY_OK;
}

/* bits[i] = 1 with probability exactly codes[i] / width. */
static hsy_status onebit_round(const hsy_scheme *s, struct channel_block *b,
                               const uint64_t *codes, size_t n,
                               hsy_coins *coins)
{
    const uint64_t width = onebit_width(s), excess = hsy_prob_excess(width);
    uint64_t u = 0;
    hsy_status st = draw_words(b->words, n, &coins->secret);

    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        u = (uint64_t)((hsy_u128)b->words[i] * width >> 64);
        /* [Lemire19, Alg. 5]: the low half below the excess is drawn anew. */
        if (ct_public(ct_less(b->words[i] * width, excess)) != 0)
            st = hsy_prob_below(&u, width, excess, &coins->secret);
        b->bits[i] = (uint8_t)(ct_less(u, codes[i]) & 1);
    }
    bytes_wipe(&u, sizeof u);
    return st;
}

static hsy_status onebit_randomize(const hsy_scheme *s, uint8_t *reports,
                                   const uint64_t *codes, size_t n,
                                   hsy_coins *coins)
{
    return hsy_channel_randomize(s, reports, codes, n, coins, onebit_round, 0);
}

/*
 * The value is the share of the range. Given the truths x_i (as shares) its
 * variance is (pq / (p - q)^2 + mean of x_i (1 - x_i)) / n, and the mean of
 * x_i (1 - x_i) is at most f (1 - f), reached where all truths are alike.
 */
static void onebit_points(const hsy_scheme *s, hsy_evidence *points,
                          const hsy_tally *t, const uint64_t *codes,
                          size_t count, void *scratch)
{
    struct mech_support law;

    (void)codes;
    (void)count;
    (void)scratch;
    hsy_channel_support(s, &law);
    hsy_evidence_pure(&points[0], &law, (double)t->strata[0],
                      (double)t->cells[0]);
    points[0].binomial_variance = 1;
}

/* The worst truth lies in the middle of the range. */
static void onebit_variance(const hsy_scheme *s, double v[2])
{
    struct mech_support law;

    hsy_channel_support(s, &law);
    v[0] = v[1] = mech_support_v0(&law) + 0.25;
}

/* P[1 | t] = (t own + (W - t) other) / (W total), P[0 | t] the other way
 * round. The last truth has no W in its law, as the first has none. */
static size_t onebit_law(const hsy_scheme *s, hsy_factor *factors,
                         uint64_t code, const uint8_t *report)
{
    const uint64_t width = onebit_width(s);
    const uint64_t low = report[0] != 0 ? s->bits.other : s->bits.own;
    const uint64_t high = s->total - low;

    return code == width
               ? hsy_mean_law(factors, width, 0, high, high, s->total)
               : hsy_mean_law(factors, width, code, low, high, s->total);
}

/* ---- Kept: an answer for each point of the grain ------------------------- */

/* floor(x / by) in the same steps for every x; by is public, below 2^63. */
static uint64_t onebit_divide(uint64_t x, uint64_t by)
{
    uint64_t quotient = 0, rest = 0;

    for (int bit = 63; bit >= 0; bit--) {
        uint64_t below;

        rest = rest << 1 | (x >> bit & 1);
        below = ct_less(rest, by);
        rest = ct_select(below, rest, rest - by);
        quotient = quotient << 1 | (~below & 1);
    }
    return quotient;
}

/*
 * Alpha-point rounding [DKY17]: with alpha uniform below the grain s, L =
 * s floor(x / s) and R = L + s, x goes to L if x + alpha < R, else to R. Since
 * x + alpha < R + s, that is point number floor((x + alpha) / s); R is drawn
 * for x - L of the s alphas, so the mean over alpha is x. hi is a point itself.
 */
static hsy_status onebit_key(const hsy_permanent *c, uint64_t *key,
                             uint64_t code, hsy_coins *own)
{
    uint64_t alpha = 0;
    hsy_status st = hsy_prob_below(&alpha, c->grain, hsy_prob_excess(c->grain),
                                   &own->secret);

    if (st == HSY_OK) /* both are below 2^63 */
        *key = onebit_divide(code + alpha, c->grain);
    bytes_wipe(&alpha, sizeof alpha);
    return st;
}

static uint64_t onebit_keys(const hsy_permanent *c)
{
    return onebit_width(c->permanent) / c->grain + 1;
}

static hsy_status onebit_permanent(const hsy_permanent *c, uint8_t *answer,
                                   uint64_t key, hsy_coins *coins)
{
    uint64_t code = key * c->grain;
    const hsy_status st =
        onebit_randomize(c->permanent, answer, &code, 1, coins);

    bytes_wipe(&code, sizeof code);
    return st;
}

static const struct mech_permanent onebit_kept = {
    PERMANENT_FLIP, hsy_channel_part, onebit_key,
    onebit_keys,    onebit_permanent, NULL};

const struct mech_client hsy_mech_onebit_client = {
    .resolve = onebit_resolve,
    .randomize = onebit_randomize,
    .permanent = &onebit_kept,
};

const struct mech_counting hsy_mech_onebit_counting = {
    .check = hsy_channel_check,
    .tally = hsy_channel_tally,
};

const struct mech_estimate hsy_mech_onebit_estimate = {
    .cell_law = HSY_CELLS_BIT,
    .points = onebit_points,
    .support = hsy_channel_support,
    .variance = onebit_variance,
};

const struct mech_law hsy_mech_onebit_law = {
    .factors = 2,
    .of_code = onebit_law,
    .worst = hsy_channel_law_worst,
};
