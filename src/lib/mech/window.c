/*
 * window.c - the mean of a number by a window of outputs: dwm, pm, hm.
 *
 * The truth is rounded at random to s in {0 .. R}, R = N - w; the report is
 * one of N outputs, those of the window s .. s+w-1 having weight rho =
 * A / 2^shift and the others 1: the two-level law. (N, w) = (2, 1) is the one
 * bit of [Duchi13], (3, 1) three outputs, and N without end with w / N =
 * 1 / (e^(epsilon/2) + 1) the piecewise mechanism [Wang19].
 *
 * With a mix m, a published coin makes m / 2^16 of the reports one-bit ones
 * instead, numbered N and N + 1: the hybrid mechanism. The coin does not look
 * at the truth, and what it says stands in the report.
 *
 * Privacy. Given the coin and the rounding, every report has weight A or
 * 2^shift over one total; rounding mixes such laws. So no ratio exceeds
 * A / 2^shift <= e^epsilon.                    docs/mechanisms/dwm.md, Thm 1
 */
#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/bits/draw.h"
#include "lib/core/exp.h"
#include "lib/core/fail.h"
#include "lib/family/mean.h"
#include "lib/family/twolevel.h"
#include "lib/scheme/report.h"

#define WINDOW_OUTPUTS_MAX 1024u
#define WINDOW_SEARCH 64u  /* outputs that dwm searches */
#define WINDOW_ONE 65536u  /* of a mix */
#define HM_LAST 609352493u /* nano-epsilon */

static uint32_t window_outputs(const hsy_scheme *s)
{
    return (uint32_t)s->param[HSY_PARAM_OUTPUTS];
}

static uint32_t window_steps(const hsy_scheme *s)
{
    return (uint32_t)(s->param[HSY_PARAM_OUTPUTS] - s->param[HSY_PARAM_WINDOW]);
}

static uint64_t window_mix(const hsy_scheme *s)
{
    return s->param[HSY_PARAM_MIX];
}

/* ---- Errors of a window, and the choice of one --------------------------- */

/* The law in numbers: a report is the window with chance keep, else uniform
 * over all N, so its estimate is 1/2 + (y - (N-1)/2) unit. */
struct window_law {
    double keep, not_keep;
    double unit; /* 1 / (keep R) */
    double R;
    double end, curve; /* mean.h */
};

/* N outputs, w of them a window's, weights a and b. */
static struct window_law window_law(double a, double b, uint32_t N, uint32_t w)
{
    struct window_law l = {.R = (double)(N - w)};
    double total = (double)(N - w) * b + (double)w * a;
    double all = ((double)N * N - 1) / 12, own = ((double)w * w - 1) / 12;

    l.keep = (a - b) * w / total;
    l.not_keep = b * N / total;
    l.unit = 1 / (l.keep * l.R);
    l.curve = 1 / l.keep;
    /* The variance of y about its mean: of either part, and between them. */
    l.end =
        l.unit * l.unit *
        (l.not_keep * all + l.keep * own + l.not_keep * l.keep * l.R * l.R / 4);
    return l;
}

/*
 * The largest x (1-x) - curve h_R(x). On the chord from s/R to (s+1)/R it is a
 * parabola. Moving x by a whole step changes its distance from the chord by
 * nothing and (1 - curve) x (1-x) in one direction only, so the chord at an
 * end or the one at the middle has the largest.
 */
static double window_bump(double R, double curve)
{
    const double chords[2] = {0, (double)((uint32_t)R / 2)};
    double most = 0;

    for (int i = 0; i < 2; i++) {
        double s = chords[i], slope = (R - 2 * s - 1) / R;
        double x = (1 - curve * slope) / 2, value;

        x = x < s / R ? s / R : x > (s + 1) / R ? (s + 1) / R : x;
        value =
            x * (1 - x) - curve * (s * (R - s) / (R * R) + (x - s / R) * slope);
        most = value > most ? value : most;
    }
    return most;
}

/* n times the variance of the worst truth; bit is the law of one bit. */
static double window_worst(const struct window_law *l,
                           const struct window_law *bit, uint64_t mix)
{
    double part = (double)mix / WINDOW_ONE;

    return (1 - part) * l->end + part * bit->end +
           window_bump(l->R, (1 - part) * l->curve);
}

struct window_choice {
    uint32_t N, w;
    uint64_t mix;
    double worst;
};

/* The best mix: the worst case is convex in it. */
static uint64_t window_best_mix(const struct window_law *l,
                                const struct window_law *bit)
{
    uint64_t low = 0, high = WINDOW_ONE - 1;

    while (low < high) {
        uint64_t middle = (low + high) / 2;

        if (window_worst(l, bit, middle + 1) < window_worst(l, bit, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* More outputs have to gain a millionth, so that no rounding decides. */
static void window_offer(struct window_choice *best,
                         const struct window_choice *c)
{
    if (best->N == 0 || c->worst < best->worst * (1 - 1e-6))
        *best = *c;
}

/* The best w for N outputs and a mix. */
static struct window_choice window_best_w(double a, double b, uint32_t N,
                                          uint64_t mix)
{
    const struct window_law bit = window_law(a, b, 2, 1);
    struct window_choice best = {0};

    for (uint32_t w = 1; w < N; w++) {
        struct window_law l = window_law(a, b, N, w);
        struct window_choice c = {N, w, mix, window_worst(&l, &bit, mix)};

        window_offer(&best, &c);
    }
    return best;
}

/* The least worst case of all N, w and mixes whose outputs number at most 64.
 */
static struct window_choice window_search(double a, double b)
{
    const struct window_law bit = window_law(a, b, 2, 1);
    struct window_choice best = {2, 1, 0, window_worst(&bit, &bit, 0)};

    for (uint32_t N = 3; N <= WINDOW_SEARCH; N++)
        for (uint32_t w = 1; w < N; w++) {
            struct window_law l = window_law(a, b, N, w);
            struct window_choice c = {N, w, 0, window_worst(&l, &bit, 0)};

            window_offer(&best, &c);
            if (N + 2 > WINDOW_SEARCH)
                continue;
            c.mix = window_best_mix(&l, &bit);
            c.worst = window_worst(&l, &bit, c.mix);
            window_offer(&best, &c);
        }
    return best;
}

/* ---- Resolving ----------------------------------------------------------- */

static hsy_status window_given(const hsy_spec *spec, hsy_error *err)
{
    uint64_t N = spec->param[HSY_PARAM_OUTPUTS],
             w = spec->param[HSY_PARAM_WINDOW];
    uint64_t mix = spec->param[HSY_PARAM_MIX];

    if (N == 0 && w != 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_WINDOW,
                        "a window goes with a number of outputs");
    if (N == 0 && mix != 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_MIX,
                        "a mix goes with a number of outputs");
    if (N == 1 || N > WINDOW_OUTPUTS_MAX)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_OUTPUTS,
                               "there are from 2 to 1024 outputs",
                               WINDOW_OUTPUTS_MAX);
    if (N != 0 && w >= N)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_WINDOW,
                              "a window has fewer outputs than there are",
                              N - 1);
    if (mix >= WINDOW_ONE)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_MIX,
                              "a mix is below 65536, all reports",
                              WINDOW_ONE - 1);
    if (N == 2 && mix != 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_MIX,
                        "two outputs are one bit already");
    return HSY_OK;
}

/* The integers of a choice. */
static void window_set(hsy_scheme *s, const struct window_choice *c)
{
    uint32_t cells = c->N + (c->mix != 0 ? 2 : 0);

    s->param[HSY_PARAM_OUTPUTS] = c->N;
    s->param[HSY_PARAM_WINDOW] = c->w;
    s->param[HSY_PARAM_MIX] = c->mix;
    hsy_twolevel_resolve(s, c->N, c->w);
    s->report_bits = report_bits_of(cells);
    s->report_bytes = report_bytes_of(s->report_bits);
    s->cells = cells;
}

/* A window given in full, or what choose makes of the rest: N if it is 0, and
 * w. Weights do not depend on N <= 1024: 2^57 is the largest total. */
static hsy_status
window_resolve(hsy_scheme *s, const hsy_spec *spec, hsy_error *err,
               void (*choose)(struct window_choice *c, const hsy_scheme *s))
{
    struct window_choice c = {.N = (uint32_t)spec->param[HSY_PARAM_OUTPUTS],
                              .w = (uint32_t)spec->param[HSY_PARAM_WINDOW],
                              .mix = spec->param[HSY_PARAM_MIX]};
    hsy_status st = window_given(spec, err);

    if (st != HSY_OK)
        return st;
    hsy_twolevel_resolve(s, 2, 1);
    if (c.w == 0)
        choose(&c, s);
    window_set(s, &c);
    return HSY_OK;
}

/* dwm: whatever has the least worst case. */
static void dwm_choose(struct window_choice *c, const hsy_scheme *s)
{
    double a = (double)twolevel_own(s), b = (double)twolevel_other(s);

    *c = c->N == 0 ? window_search(a, b) : window_best_w(a, b, c->N, c->mix);
}

static hsy_status dwm_resolve(hsy_scheme *s, const hsy_spec *spec,
                              hsy_error *err)
{
    return window_resolve(s, spec, err, dwm_choose);
}

/* e^(epsilon/2) as root / 2^shift. */
static uint64_t pm_root(const hsy_scheme *s, unsigned *shift)
{
    *shift = hsy_exp_shift(s->nano_epsilon); /* half nano of epsilon / 2 */
    return hsy_exp_weight(s->nano_epsilon, *shift);
}

/* pm: w next to N / (e^(epsilon/2) + 1). */
static void pm_choose(struct window_choice *c, const hsy_scheme *s)
{
    unsigned shift;
    uint64_t root = pm_root(s, &shift), one = (uint64_t)1 << shift;

    if (c->N == 0)
        c->N = WINDOW_OUTPUTS_MAX;
    c->w = (uint32_t)((c->N * one + (root + one) / 2) / (root + one));
    if (c->w == 0)
        c->w = 1;
}

static hsy_status pm_resolve(hsy_scheme *s, const hsy_spec *spec,
                             hsy_error *err)
{
    return window_resolve(s, spec, err, pm_choose);
}

/* hm: up to epsilon 0.609352493.. one bit alone; beyond, one bit with chance
 * e^(-epsilon/2), to the nearest 2^-16, and else pm [Wang19, Eq. 10]. */
static void hm_choose(struct window_choice *c, const hsy_scheme *s)
{
    unsigned shift;
    uint64_t root = pm_root(s, &shift);

    if (c->N == 0 && s->nano_epsilon <= HM_LAST) {
        c->N = 2;
        c->w = 1;
        return;
    }
    if (c->N == 0)
        c->mix = (((uint64_t)WINDOW_ONE << shift) + root / 2) / root;
    pm_choose(c, s);
}

static hsy_status hm_resolve(hsy_scheme *s, const hsy_spec *spec,
                             hsy_error *err)
{
    return window_resolve(s, spec, err, hm_choose);
}

/* ---- Randomizing --------------------------------------------------------- */

/* Room for one block; holds truths and coins, so wipe it. */
struct window_room {
    struct twolevel_block block;
    uint64_t u[MEAN_BLOCK], offset[MEAN_BLOCK], coin[MEAN_BLOCK];
    uint8_t branch[4 * MEAN_BLOCK];
};

/* Wipe what n reports have used. */
static void window_wipe(struct window_room *r, size_t n)
{
    hsy_twolevel_wipe(&r->block, n);
    bytes_wipe(r->u, n * sizeof *r->u);
    bytes_wipe(r->offset, n * sizeof *r->offset);
    bytes_wipe(r->coin, n * sizeof *r->coin);
    bytes_wipe(r->branch, 4 * n);
}

/* The one-bit reports N and N + 1 of codes, over the window's in block.out,
 * where the published coin says so. All are made; which ones count shows. */
static hsy_status window_bits(const hsy_scheme *s, struct window_room *r,
                              const uint64_t *codes, size_t n, hsy_coins *coins)
{
    const uint64_t own = twolevel_own(s), other = twolevel_other(s);
    const struct prob_base base = hsy_prob_base(own + other);
    const struct mean_grid ends = hsy_mean_grid(mean_width(s), 1);
    const uint64_t limit = window_mix(s) << 16;
    hsy_status st =
        coins->published.fill(coins->published.ctx, r->branch, 4 * n);

    if (st == HSY_OK)
        st = draw_words(r->coin, n, &coins->secret);
    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        uint64_t end = mean_round(codes[i], r->u[i], &ends);
        uint64_t one = ct_select(0 - end, own, other);
        uint64_t chosen = ct_less(bytes_get32(r->branch + 4 * i), limit), bit;

        if (ct_public(ct_less(base.last, r->coin[i])) != 0)
            st = hsy_prob_word(&r->coin[i], &base, &coins->secret);
        bit = prob_event(r->coin[i], &base, one) & 1;
        r->block.out[i] = (uint32_t)ct_select(chosen, window_outputs(s) + bit,
                                              r->block.out[i]);
    }
    return st;
}

/* block.out from n <= MEAN_BLOCK codes. */
static hsy_status window_fill(const hsy_scheme *s, struct window_room *r,
                              const uint64_t *codes, size_t n, hsy_coins *coins)
{
    const struct mean_grid grid = hsy_mean_grid(mean_width(s), window_steps(s));
    hsy_status st = hsy_mean_below(r->u, n, grid.width, &coins->secret);

    if (st == HSY_OK)
        st = hsy_mean_below(r->offset, n, s->param[HSY_PARAM_WINDOW],
                            &coins->secret);
    for (size_t i = 0; i < n && st == HSY_OK; i++)
        r->block.own[i] =
            (uint32_t)(mean_round(codes[i], r->u[i], &grid) + r->offset[i]);
    if (st == HSY_OK)
        st = hsy_twolevel_fill(s, &r->block, n, &coins->secret);
    if (st == HSY_OK && window_mix(s) != 0)
        st = window_bits(s, r, codes, n, coins);
    return st;
}

static hsy_status window_randomize(const hsy_scheme *s, uint8_t *reports,
                                   const uint64_t *codes, size_t n,
                                   hsy_coins *coins)
{
    struct window_room room;
    const size_t bytes = s->report_bytes;
    hsy_status st = HSY_OK;

    for (size_t done = 0; done < n; done += MEAN_BLOCK) {
        size_t m = n - done < MEAN_BLOCK ? n - done : MEAN_BLOCK;

        st = window_fill(s, &room, codes + done, m, coins);
        if (st != HSY_OK)
            break;
        report_put_all(reports + done * bytes, bytes, room.block.out, m);
    }
    window_wipe(&room, n < MEAN_BLOCK ? n : MEAN_BLOCK);
    return st;
}

/* ---- Counting and estimating --------------------------------------------- */

/* The laws of the window and of one bit. */
static void window_laws(const hsy_scheme *s, struct window_law *l,
                        struct window_law *bit)
{
    double a = (double)twolevel_own(s), b = (double)twolevel_other(s);

    *l = window_law(a, b, window_outputs(s),
                    (uint32_t)s->param[HSY_PARAM_WINDOW]);
    *bit = window_law(a, b, 2, 1);
}

static void window_variance(const hsy_scheme *s, double v[2])
{
    struct window_law l, bit;

    window_laws(s, &l, &bit);
    v[0] = v[1] = window_worst(&l, &bit, window_mix(s));
}

/* The outermost outputs, of the window or of the bit. */
static void window_reach(const hsy_scheme *s, double reach[2])
{
    struct window_law l, bit;
    double most;

    window_laws(s, &l, &bit);
    most = (double)(window_outputs(s) - 1) / 2 * l.unit;
    if (window_mix(s) != 0 && bit.unit / 2 > most)
        most = bit.unit / 2;
    reach[0] = 0.5 - most;
    reach[1] = 0.5 + most;
}

/* Reports of N outputs from cells on, and the sums of their estimates less 1/2
 * and of the squares of these. */
struct window_sums {
    double n, first, second;
};

static struct window_sums window_sum(const int64_t *cells, uint32_t N,
                                     double unit)
{
    struct window_sums sums = {0};

    for (uint32_t y = 0; y < N; y++) {
        double c = (double)cells[y];
        double e = ((double)y - (double)(N - 1) / 2) * unit;

        sums.n += c;
        sums.first += c * e;
        sums.second += c * e * e;
    }
    return sums;
}

/* Two outputs are a coin, as onebit has it. */
static void window_coin_point(const hsy_scheme *s, hsy_evidence *point,
                              const hsy_tally *t)
{
    struct mech_support law;

    hsy_support_of(&law, twolevel_own(s), twolevel_other(s), s->total);
    hsy_evidence_pure(point, &law, (double)t->strata[0], (double)t->cells[1]);
    point->binomial_variance = 1;
}

static void window_points(const hsy_scheme *s, hsy_evidence *points,
                          const hsy_tally *t, const uint64_t *codes,
                          size_t count, void *scratch)
{
    struct window_sums w, one = {0};
    struct window_law l, bit;
    struct mean_evidence e;

    (void)codes;
    (void)count;
    (void)scratch;
    if (window_outputs(s) == 2) {
        window_coin_point(s, &points[0], t);
        return;
    }
    window_laws(s, &l, &bit);
    w = window_sum(t->cells, window_outputs(s), l.unit);
    if (window_mix(s) != 0)
        one = window_sum(t->cells + window_outputs(s), 2, bit.unit);
    e.n = w.n + one.n;
    e.value = 0.5 + (w.first + one.first) / e.n;
    e.end = (w.n * l.end + one.n * bit.end) / e.n;
    e.curve = l.curve * w.n / e.n;
    e.R = l.R;
    e.rounded = w.n > 0 ? (l.end + 0.25 - w.second / w.n) / l.curve : 0;
    hsy_mean_point(&points[0], &e);
}

/* ---- The law ------------------------------------------------------------- */

/* The weight of output y for the grid point g, w outputs of it own. */
static uint64_t window_weight(const hsy_scheme *s, uint64_t y, uint64_t g,
                              uint64_t w)
{
    return y >= g && y < g + w ? twolevel_own(s) : twolevel_other(s);
}

static size_t window_law_of(const hsy_scheme *s, hsy_factor *factors,
                            uint64_t code, const uint8_t *report)
{
    const uint64_t width = mean_width(s), mix = window_mix(s);
    uint64_t y = report_get(report, s->report_bytes);
    bool bit = y >= window_outputs(s);
    uint64_t w = bit ? 1 : s->param[HSY_PARAM_WINDOW];
    uint64_t total = bit ? twolevel_own(s) + twolevel_other(s) : s->total;
    struct mean_place at =
        hsy_mean_place(code, width, bit ? 1 : window_steps(s));
    size_t count = 0;

    if (bit)
        y -= window_outputs(s);
    if (mix != 0)
        factors[count++] =
            (hsy_factor){bit ? mix : WINDOW_ONE - mix, WINDOW_ONE};
    return count + hsy_mean_law(factors + count, width, at.rest,
                                window_weight(s, y, at.floor, w),
                                window_weight(s, y, at.floor + 1, w), total);
}

const struct mech_client hsy_mech_dwm_client = {
    .resolve = dwm_resolve,
    .randomize = window_randomize,
};

const struct mech_counting hsy_mech_window_counting = {
    .check = hsy_outputs_check,
    .tally = hsy_outputs_tally,
};

const struct mech_estimate hsy_mech_window_estimate = {
    .points = window_points,
    .variance = window_variance,
    .reach = window_reach,
};

const struct mech_law hsy_mech_window_law = {
    .factors = 3,
    .of_code = window_law_of,
    .worst = hsy_twolevel_law_worst,
};

const struct mech_client hsy_mech_pm_client = {
    .resolve = pm_resolve,
    .randomize = window_randomize,
};

const struct mech_client hsy_mech_hm_client = {
    .resolve = hm_resolve,
    .randomize = window_randomize,
};
