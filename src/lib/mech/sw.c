/*
 * sw.c - discrete square wave: the distribution of a number [Li20].
 *
 * The range has d bins; a report is one of K = d + 2B places. Bin x makes the
 * window x .. x + 2B its own: each place there has weight rho = A / 2^shift,
 * every other weight 1 (the two-level law with a set of w = 2B + 1). A report
 * lands near its truth, so that what is near is told apart the least.
 *
 * Privacy. For every report y and any two truths,
 *     P[y | x] / P[y | x'] <= A / 2^shift <= e^epsilon,
 * the last step because A is rounded down.     docs/mechanisms/sw.md, Thm 1
 *
 * Report: the place, ceil(log2 K) bits.
 *
 * There is no unbiased estimate bin by bin that is worth having; shares come
 * from the likelihood of all counts together (src/lib/infer/em.c). The channel
 * is a constant and a band, so prefix sums apply it in O(K).
 */
#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/bits/draw.h"
#include "lib/core/exp.h"
#include "lib/core/fail.h"
#include "lib/family/twolevel.h"
#include "lib/scheme/report.h"

/* w: places of a window. */
static uint64_t sw_window(const hsy_scheme *s)
{
    return s->param[HSY_PARAM_WINDOW];
}

static uint64_t sw_places(const hsy_scheme *s)
{
    return s->d + sw_window(s) - 1;
}

enum { SW_TERMS = 200, SW_BINS_MAX = 1 << 20 };

/*
 * 2 floor(b d) + 1 with the half width that tells most about the truth
 * [Li20], b = (x e^x - e^x + 1) / (2 e^x (e^x - 1 - x)) at x = epsilon.
 * With t_k = x^k / k! and both sums from k = 2 on,
 *
 *     x e^x - e^x + 1 = sum (k - 1) t_k,     e^x - 1 - x = sum t_k:
 *
 * all terms positive, so nothing cancels however small x is. x <= 32 makes
 * t_200 smaller than 2^-240. Additions, products and quotients of doubles in
 * this order are the same on every machine.
 */
static uint64_t sw_best_window(const hsy_scheme *s)
{
    const double x = (double)s->nano_epsilon / 1e9;
    double term = x, weighted = 0, plain = 0;

    for (int k = 2; k < SW_TERMS; k++) {
        term = term * x / k;
        weighted += (k - 1) * term;
        plain += term;
    }
    return 2 * (uint64_t)(weighted / (2 * (1 + x + plain) * plain) * s->d) + 1;
}

/* All weights together stay below 2^63: with a window of many places and a
 * large epsilon they cannot. The best window has few places then. */
static bool sw_fits(const hsy_scheme *s)
{
    const hsy_u128 weight = hsy_exp_weight(2 * s->nano_epsilon, 0) + 1;

    return (weight * sw_window(s) + s->d) >> 62 == 0;
}

static hsy_status sw_resolve(hsy_scheme *s, const hsy_spec *spec,
                             hsy_error *err)
{
    const uint64_t w = spec->param[HSY_PARAM_WINDOW];
    const uint64_t most = 2 * (uint64_t)s->d - 1;

    if (s->d > SW_BINS_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_BINS,
                              "sw takes at most 2^20 bins", SW_BINS_MAX);
    if (w != 0 && w % 2 == 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_WINDOW,
                        "a window has a middle: an odd number of places");
    if (w > most)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_WINDOW,
                              "a window is less than twice the bins", most);
    s->param[HSY_PARAM_WINDOW] = w != 0 ? w : sw_best_window(s);
    if (!sw_fits(s))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_WINDOW,
                        "too wide for so large an epsilon; 0 takes the best");
    hsy_twolevel_resolve(s, sw_places(s), sw_window(s));
    s->report_bits = report_bits_of(sw_places(s));
    s->report_bytes = report_bytes_of(s->report_bits);
    s->cells = sw_places(s);
    return HSY_OK;
}

/* own[i] = codes[i] + a uniform step of the window. */
static hsy_status sw_steps(const hsy_scheme *s, struct twolevel_block *block,
                           const uint64_t *codes, size_t n, hsy_coins *coins)
{
    const uint64_t w = sw_window(s), excess = hsy_prob_excess(w);
    uint64_t *words = block->coins, step = 0;
    hsy_status st = draw_words(words, n, &coins->secret);

    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        step = (uint64_t)((hsy_u128)words[i] * w >> 64);
        /* [Lemire19, Alg. 5]: the low half below the excess is drawn anew. */
        if (ct_public(ct_less(words[i] * w, excess)) != 0)
            st = hsy_prob_below(&step, w, excess, &coins->secret);
        block->own[i] = (uint32_t)(codes[i] + step);
    }
    bytes_wipe(&step, sizeof step);
    return st;
}

static hsy_status sw_randomize(const hsy_scheme *s, uint8_t *reports,
                               const uint64_t *codes, size_t n,
                               hsy_coins *coins)
{
    return hsy_twolevel_randomize(s, reports, codes, n, coins, sw_steps, 0);
}

/* A share has no variance of its own: 0 stands for "does not apply". */
static void sw_variance(const hsy_scheme *s, double v[2])
{
    (void)s;
    v[0] = v[1] = 0;
}

/* ---- The channel --------------------------------------------------------- */

/*
 * sums[i] = x[0] + ... + x[i-1], i = 0 .. n. Four at a time, so that only one
 * addition in four waits for the last. x >= 0 makes sums ascend in spite of
 * rounding: sums of more terms are never smaller, and rounding keeps order.
 */
static void sw_prefix(double *sums, const double *x, size_t n)
{
    double base = 0;
    size_t i = 0;

    sums[0] = 0;
    for (; i + 4 <= n; i += 4) {
        const double two = x[i] + x[i + 1], three = two + x[i + 2];
        const double four = three + x[i + 3];

        sums[i + 1] = base + x[i];
        sums[i + 2] = base + two;
        sums[i + 3] = base + three;
        base += four;
        sums[i + 4] = base;
    }
    for (; i < n; i++)
        sums[i + 1] = sums[i] + x[i];
}

/* The part that every place gets, and what an own one gets besides. */
static void sw_levels(const hsy_scheme *s, double *all, double *more)
{
    const uint64_t own = twolevel_own(s), other = twolevel_other(s);

    *all = (double)other / (double)s->total;
    *more = (double)(own - other) / (double)s->total;
}

/* Place y is in the windows of bins y - 2B .. y, as far as there are such. */
static void sw_forward(const hsy_scheme *s, double *out, const double *theta,
                       double *scratch)
{
    const size_t d = s->d, w = (size_t)sw_window(s), places = s->cells;
    const size_t low = w < d ? w : d, high = w < d ? d : w;
    const double *sums = scratch;
    double all, more, base;

    sw_levels(s, &all, &more);
    sw_prefix(scratch, theta, d);
    base = all * sums[d];
    for (size_t y = 0; y < low; y++)
        out[y] = base + more * sums[y + 1];
    for (size_t y = low; y < high; y++)
        out[y] =
            base + more * (w < d ? sums[y + 1] - sums[y + 1 - w] : sums[d]);
    for (size_t y = high; y < places; y++)
        out[y] = base + more * (sums[d] - sums[y + 1 - w]);
}

static void sw_backward(const hsy_scheme *s, double *out, const double *ratio,
                        double *scratch)
{
    const size_t d = s->d, w = (size_t)sw_window(s);
    const double *sums = scratch;
    double all, more, base;

    sw_levels(s, &all, &more);
    sw_prefix(scratch, ratio, s->cells);
    base = all * sums[s->cells];
    for (size_t x = 0; x < d; x++)
        out[x] = base + more * (sums[x + w] - sums[x]);
}

static size_t sw_channel_scratch(const hsy_scheme *s)
{
    return s->cells + 1;
}

/* ---- The law ------------------------------------------------------------- */

static size_t sw_law(const hsy_scheme *s, hsy_factor *factors, uint64_t code,
                     const uint8_t *report)
{
    /* Below the window the difference wraps to a large one. */
    bool own = report_get(report, s->report_bytes) - code < sw_window(s);

    factors[0].num = own ? twolevel_own(s) : twolevel_other(s);
    factors[0].den = s->total;
    return 1;
}

static const struct mech_channel sw_likelihood = {
    .forward = sw_forward,
    .backward = sw_backward,
    .scratch = sw_channel_scratch,
};

const struct mech_client hsy_mech_sw_client = {
    .resolve = sw_resolve,
    .randomize = sw_randomize,
};

const struct mech_counting hsy_mech_sw_counting = {
    .check = hsy_outputs_check,
    .tally = hsy_outputs_tally,
};

const struct mech_estimate hsy_mech_sw_estimate = {
    .iterative = true,
    .variance = sw_variance,
    .channel = &sw_likelihood,
};

const struct mech_law hsy_mech_sw_law = {
    .factors = 1,
    .of_code = sw_law,
    .worst = hsy_twolevel_law_worst,
};
