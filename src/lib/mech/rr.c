/*
 * rr.c - binary randomized response in all its forms [Warner65].
 *
 * Every form is one channel, P[1 | 1] = own / total and P[1 | 0] = other /
 * total, in integers:
 *
 *     by epsilon   own = A, other = 2^shift, A = floor(e^epsilon 2^shift)
 *     spinner p    own = p, other = 1 - p
 *     coins t, r   own = t + (1 - t) r, other = (1 - t) r
 *     channel      own and other as given, over a common denominator
 *
 * Privacy. For either report the ratio of its two probabilities is at most
 *     max(own, other, or their complements, over the smaller) <= e^epsilon:
 * by epsilon because A is rounded down, else because epsilon is the smallest
 * nano-epsilon that covers the ratio.          docs/mechanisms/rr.md, Thm 1
 *
 * Report: one bit.
 */
#include "lib/core/exp.h"
#include "lib/core/fail.h"
#include "lib/family/channel.h"

/* own, other and total of a design given by probabilities. Denominators are at
 * most 2^31, so products stay below 2^63. */
static void rr_channel(hsy_scheme *s)
{
    const hsy_ratio a = s->chance[0], b = s->chance[1];

    switch (s->design) {
    case HSY_DESIGN_SPINNER:
        s->bits.own = a.num;
        s->bits.other = a.den - a.num;
        s->total = a.den;
        break;
    case HSY_DESIGN_COINS:
        s->bits.other = (a.den - a.num) * b.num;
        s->bits.own = a.num * b.den + s->bits.other;
        s->total = a.den * b.den;
        break;
    default:
        s->bits.own = a.num * b.den;
        s->bits.other = b.num * a.den;
        s->total = a.den * b.den;
        break;
    }
}

/* The probabilities that the design takes, and no others. */
static hsy_status rr_chances(hsy_scheme *s, const hsy_spec *spec,
                             hsy_error *err)
{
    static const size_t takes[] = {[HSY_DESIGN_EPSILON] = 0,
                                   [HSY_DESIGN_SPINNER] = 1,
                                   [HSY_DESIGN_COINS] = 2,
                                   [HSY_DESIGN_CHANNEL] = 2};

    for (size_t i = 0; i < HSY_CHANCES; i++) {
        const hsy_ratio *r = &spec->chance[i];

        if (i < takes[s->design] && !mech_ratio_valid(r))
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                            "a probability is num/den with den from 1 to 2^31");
        if (i >= takes[s->design] && (r->num != 0 || r->den != 0))
            return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                                  "more probabilities than the design takes",
                                  takes[s->design]);
        s->chance[i] = *r;
    }
    return HSY_OK;
}

/* The larger of the two reports' ratios: num / den > 1. */
static hsy_factor rr_worst_ratio(const hsy_scheme *s)
{
    bool direct = s->bits.own > s->bits.other;
    uint64_t high = direct ? s->bits.own : s->bits.other;
    uint64_t low = direct ? s->bits.other : s->bits.own;
    uint64_t not_high = s->total - high, not_low = s->total - low;
    hsy_factor one = {high, low}, zero = {not_low, not_high};

    /* high / low > not_low / not_high, without division. */
    if ((hsy_u128)high * not_high > (hsy_u128)low * not_low)
        return one;
    return zero;
}

static hsy_status rr_by_chance(hsy_scheme *s, hsy_error *err)
{
    hsy_factor ratio;

    rr_channel(s);
    if (s->bits.own == s->bits.other)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                        "both truths give the same answers: no information");
    if (s->bits.own == 0 || s->bits.other == 0 || s->bits.own == s->total ||
        s->bits.other == s->total)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                        "an answer would prove the truth: infinite epsilon");
    ratio = rr_worst_ratio(s);
    return hsy_mech_claim(s, hsy_exp_cover(ratio.num, ratio.den), err);
}

static hsy_status rr_resolve(hsy_scheme *s, const hsy_spec *spec,
                             hsy_error *err)
{
    hsy_status st;

    if (s->d != 2)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                               "rr takes exactly two values; use grr for more",
                               2);
    if (spec->design > HSY_DESIGN_CHANNEL)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_DESIGN, "no such design");
    s->design = spec->design;
    st = rr_chances(s, spec, err);
    if (st != HSY_OK)
        return st;
    if (s->design == HSY_DESIGN_EPSILON)
        hsy_channel_by_epsilon(s);
    else
        st = rr_by_chance(s, err);
    if (st == HSY_OK)
        hsy_channel_resolve(s);
    return st;
}

static hsy_status rr_ask(const hsy_scheme *s, struct channel_block *b,
                         const uint64_t *codes, size_t n, hsy_coins *coins)
{
    (void)s;
    (void)coins;
    for (size_t i = 0; i < n; i++)
        b->bits[i] = (uint8_t)codes[i];
    return HSY_OK;
}

static hsy_status rr_randomize(const hsy_scheme *s, uint8_t *reports,
                               const uint64_t *codes, size_t n,
                               hsy_coins *coins)
{
    return hsy_channel_randomize(s, reports, codes, n, coins, rr_ask, 0);
}

/* Yes/no asks for the share of yes; of two values each is asked for. */
static void rr_points(const hsy_scheme *s, hsy_evidence *points,
                      const hsy_tally *t, const uint64_t *codes, size_t count,
                      void *scratch)
{
    struct mech_support law, mirror;
    double n = (double)t->strata[0], ones = (double)t->cells[0];

    (void)scratch;
    hsy_channel_support(s, &law);
    mirror = (struct mech_support){law.not_q, law.q, law.not_p, law.p, law.gap};
    for (size_t i = 0; i < count; i++) {
        uint64_t code = codes != NULL                ? codes[i]
                        : s->kind == HSY_KIND_YES_NO ? 1
                                                     : i;

        if (code == 1)
            hsy_evidence_pure(&points[i], &law, n, ones);
        else
            hsy_evidence_pure(&points[i], &mirror, n, n - ones);
    }
}

/* The channel's two outputs: no and yes. */
static void rr_forward(const hsy_scheme *s, double *out, const double *theta,
                       double *scratch)
{
    struct mech_support law;

    (void)scratch;
    hsy_channel_support(s, &law);
    out[0] = law.not_q * theta[0] + law.not_p * theta[1];
    out[1] = law.q * theta[0] + law.p * theta[1];
}

static void rr_backward(const hsy_scheme *s, double *out, const double *ratio,
                        double *scratch)
{
    struct mech_support law;

    (void)scratch;
    hsy_channel_support(s, &law);
    out[0] = law.not_q * ratio[0] + law.q * ratio[1];
    out[1] = law.not_p * ratio[0] + law.p * ratio[1];
}

/* The only cell counts yes. */
static void rr_counts(double *counts, const hsy_tally *t)
{
    counts[1] = (double)t->cells[0];
    counts[0] = (double)t->strata[0] - counts[1];
}

static size_t rr_law(const hsy_scheme *s, hsy_factor *factors, uint64_t code,
                     const uint8_t *report)
{
    uint64_t one = code == 1 ? s->bits.own : s->bits.other;

    factors[0].num = report[0] == 1 ? one : s->total - one;
    factors[0].den = s->total;
    return 1;
}

static size_t rr_law_worst(const hsy_scheme *s, hsy_factor factors[4])
{
    factors[0] = rr_worst_ratio(s);
    return 1;
}

static const struct mech_permanent rr_kept = {
    PERMANENT_FLIP, hsy_channel_part, NULL, NULL, NULL, NULL};

static const struct mech_channel rr_likelihood = {
    .forward = rr_forward,
    .backward = rr_backward,
    .outputs = 2,
    .counts = rr_counts,
};

const struct mech_client hsy_mech_rr_client = {
    .resolve = rr_resolve,
    .randomize = rr_randomize,
    .permanent = &rr_kept,
};

const struct mech_counting hsy_mech_rr_counting = {
    .check = hsy_channel_check,
    .tally = hsy_channel_tally,
};

const struct mech_estimate hsy_mech_rr_estimate = {
    .cell_law = HSY_CELLS_BIT,
    .points = rr_points,
    .support = hsy_channel_support,
    .channel = &rr_likelihood,
};

const struct mech_law hsy_mech_rr_law = {
    .favours = MECH_FAVOURS_BIT,
    .factors = 1,
    .of_code = rr_law,
    .worst = rr_law_worst,
};
