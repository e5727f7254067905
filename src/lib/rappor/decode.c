/*
 * decode.c - which strings, and how many: RAPPOR's counts decoded.
 *
 * docs/rappor-decode.md has the method and what it was measured to keep.
 */
#include "lib/core/fail.h"
#include "lib/infer/infer.h"
#include "lib/rappor/internal.h"

#include <math.h>
#include <string.h>

#define DECODE_SWEEPS 1000u
#define DECODE_SWEEPS_LEAST 160u
#define DECODE_BURN_LEAST 60u
#define DECODE_ZERO_MOST 0.5 /* P(zero) of a detected string */
#define DECODE_FREEDOM 32.0  /* below, too little is known of dispersion: */
#define DECODE_KNOWN 1e9     /* it is taken to be 1 */
#define DECODE_RANKS 0.57    /* zeta(3) / zeta(2)^(3/2) */

struct decode {
    struct rappor_work work;
    const hsy_rappor_data *data;
    hsy_rappor_options how; /* defaults filled in */
    hsy_rappor_share *shares;
    hsy_rappor_summary summary;
    double phi;
    double freedom; /* degrees of freedom that phi is from */
};

/* ---- Options ------------------------------------------------------------- */

static hsy_status decode_options(struct decode *d,
                                 const hsy_rappor_options *options,
                                 hsy_error *err)
{
    hsy_rappor_options *o = &d->how;

    *o = *options;
    if (o->size != sizeof *o)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_SIZE,
                        "must be sizeof(hsy_rappor_options)");
    if (o->alpha == 0)
        o->alpha = 0.1;
    if (o->level == 0)
        o->level = 0.95;
    if (o->dispersion == 0)
        o->dispersion = 1;
    if (!(o->alpha > 0 && o->alpha < 1))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ALPHA,
                        "must be between 0 and 1");
    if (!(o->level > 0 && o->level < 1))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_LEVEL,
                        "must be between 0 and 1");
    if (!(o->dispersion >= 1 && o->dispersion < INFINITY))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_DISPERSION,
                        "must be at least 1, and finite");
    if (o->method > HSY_RAPPOR_NNLS || o->correction > HSY_RAPPOR_BONFERRONI ||
        o->target > HSY_POPULATION)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_METHOD,
                        "no such method, correction or target");
    if (o->sweeps > 1000000)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_SWEEPS,
                              "too many: at most the limit", 1000000);
    return HSY_OK;
}

/* As if there were fewer reports, each with the variance of one. */
static void decode_disperse(struct rappor_design *g, double dispersion)
{
    g->reports /= dispersion;
    g->total_w /= dispersion;
    g->total_wy /= dispersion;
    for (uint32_t c = 0; c < g->live; c++)
        g->n[c] /= dispersion;
    for (size_t i = 0; i < g->rows; i++)
        g->w[i] /= dispersion;
    for (size_t j = 0; j < g->candidates; j++)
        g->norm[j] /= dispersion;
}

/* ---- Intervals ----------------------------------------------------------- */

/* Detected ones were selected, and their intervals are adjusted for it. */
static void decode_interval(const struct decode *d, hsy_rappor_share *share,
                            double variance)
{
    const double level =
        share->detected ? d->summary.level_selected : d->how.level;
    const double reach = -hsy_normal_quantile((1 - level) / 2);

    /* Below 0 by rounding only, where a channel without noise leaves none. */
    share->est.sd = sqrt(fmax(variance, 0));
    share->est.low = share->unbiased - reach * share->est.sd;
    share->est.high = share->unbiased + reach * share->est.sd;
}

/* Of the candidates that the fit has. */
static void decode_fitted(struct decode *d)
{
    struct rappor_fit *f = &d->work.fit;

    hsy_rappor_fit_own(f, &d->work.design, (hsy_target)d->how.target);
    for (size_t i = 0; i < f->columns; i++) {
        hsy_rappor_share *share = &d->shares[f->column[i]];
        const double x = fmin(fmax(f->coef[i], 0), 1);

        share->unbiased = f->coef[i];
        decode_interval(d, share,
                        d->phi * f->inverse[i * f->stride + i] +
                            x * (1 - x) * f->own[i]);
    }
}

/*
 * A candidate that the fit has not: as if it were the one further column. Of
 * its own variation the fit takes the share order / rows on average, which is
 * what a map of hashes comes to.
 */
static void decode_left_out(struct decode *d, hsy_rappor_share *share, size_t j)
{
    const struct rappor_design *g = &d->work.design;
    const double rows = (double)g->live * g->k;
    const double left =
        g->norm[j] * fmax(1 - (double)d->work.fit.order / rows, 1 / rows);

    share->unbiased = hsy_rappor_gather(g, j, d->work.chain.residual) / left;
    decode_interval(d, share, d->phi / left);
}

/* The largest estimate that was not detected, in standard errors: what others
 * had to pass. */
static double decode_passed(const struct decode *d)
{
    double most = -INFINITY;

    for (size_t j = 0; j < d->work.design.candidates; j++) {
        const hsy_rappor_share *share = &d->shares[j];

        if (!share->detected && share->est.sd > 0)
            most = fmax(most, share->unbiased / share->est.sd);
    }
    return most;
}

/* The variance of the sum of the detected ones in the fit. Of what their own
 * people add, which partly cancels out, only what is more. */
static double decode_together(const struct decode *d)
{
    const struct rappor_fit *f = &d->work.fit;
    double noise = 0, own = 0;

    for (size_t i = 0; i < f->columns; i++) {
        const double x = fmin(fmax(f->coef[i], 0), 1);

        if (!d->shares[f->column[i]].detected)
            continue;
        own += fmax(0, x * (1 - x) * f->own[i]);
        for (size_t j = 0; j < f->columns; j++)
            if (d->shares[f->column[j]].detected)
                noise += f->inverse[i * f->stride + j];
    }
    return d->phi * noise + own;
}

/* What is not among the detected ones: as hsy_estimate_rest, with how the
 * regression's coefficients vary together. */
static void decode_rest(struct decode *d, double variance)
{
    const double reach = -hsy_normal_quantile((1 - d->how.level) / 2);
    const double passed = decode_passed(d);
    hsy_estimate *rest = &d->summary.rest;
    double excess = 0;

    d->summary.allocated = 0;
    for (size_t j = 0; j < d->work.design.candidates; j++) {
        const hsy_rappor_share *s = &d->shares[j];

        if (!s->detected)
            continue;
        d->summary.allocated += s->unbiased;
        excess += hsy_selected_bias(fmax(s->est.low, 0), s->est.sd,
                                    fmin(passed * s->est.sd, s->unbiased));
    }
    *rest = (hsy_estimate){.value = 1 - d->summary.allocated,
                           .sd = sqrt(fmax(variance, 0))};
    rest->low = rest->value - reach * rest->sd;
    rest->high = rest->value + reach * rest->sd + excess;
}

static void decode_unlisted(struct decode *d)
{
    const struct rappor_fit *f = &d->work.fit;
    const double k = d->data->k;
    /* The chance that a string sets a given bit. */
    const double sets = 1 - pow(1 - 1 / k, d->data->h);

    d->summary.intercept = f->intercept;
    if (!f->intercept)
        return;
    d->summary.unlisted = f->coef[f->columns] / sets;
    d->summary.unlisted_sd =
        sqrt(d->phi * f->inverse[f->columns * (f->stride + 1)]) / sets;
}

/* ---- Dispersion ---------------------------------------------------------- */

/*
 * How much more than their variances the residuals vary: unlisted strings each
 * add a pattern of bits that a flat intercept cannot. Never below 1.
 *
 * A pattern sets as many bits in every cohort, so what it adds to one bit it
 * takes from the cohort's others. A coefficient is k/(k-1) times the excess of
 * its bits over the mean of all, whose variance the regression counts in, but
 * patterns do not move that mean: their part of the variance is k/(k-1) times
 * what residuals say.
 */
static void decode_dispersion(struct decode *d, double squares, double columns)
{
    const double k = d->work.design.k;

    d->phi = 1;
    d->freedom = d->work.design.live * k - columns;
    if (d->freedom >= DECODE_FREEDOM)
        d->phi += fmax(0, squares / d->freedom - 1) * k / (k - 1);
    else
        d->freedom = DECODE_KNOWN;
}

/*
 * The skew of the estimate of a candidate that nobody has. In each cohort the h
 * bits of an unlisted string meet those of the candidate by a binomial law, and
 * what residuals vary more than noise is from such strings. Of one string that
 * is all of the skew; of many whose shares fall as 1/rank the sum of cubes over
 * the sum of squares to 3/2 is left of it. With one hash meetings are few and
 * large, which the candidate's own dispersion shows (hsy_rappor_local).
 */
static double decode_skew(const struct decode *d)
{
    const double h = d->data->h, meets = h / d->work.design.k;
    const double part = 1 - 1 / d->phi;

    if (d->data->h == 1 || meets >= 0.5)
        return 0;
    return DECODE_RANKS * part * sqrt(part) * (1 - 2 * meets) /
           sqrt(h * meets * (1 - meets) * d->work.design.live);
}

/* Regress on all candidates if that can be done. */
static bool decode_pose(struct decode *d)
{
    struct rappor_work *w = &d->work;
    const size_t all = w->design.candidates;
    size_t dependent;

    if (all > RAPPOR_DENSE_MAX || all > (size_t)w->design.live * w->design.k)
        return false;
    for (size_t i = 0; i < all; i++)
        w->fit.column[i] = (uint32_t)i;
    w->fit.columns = all;
    if (!hsy_rappor_fit(&w->fit, &w->design, &dependent))
        return false;
    decode_dispersion(
        d, hsy_rappor_residual(w->chain.residual, &w->design, &w->fit),
        (double)w->fit.order);
    hsy_rappor_local(w->chain.phi, &w->design, w->chain.residual, d->phi);
    return true;
}

/* ---- Sampling ------------------------------------------------------------ */

static double decode_unit(const struct decode *d)
{
    const struct rappor_design *g = &d->work.design;
    double norm = 0;

    for (size_t j = 0; j < g->candidates; j++)
        norm += g->norm[j];
    return sqrt(d->phi * (double)g->candidates / norm);
}

static uint32_t decode_sweeps(const struct decode *d)
{
    const size_t all = d->work.design.candidates;
    uint32_t sweeps = DECODE_SWEEPS;

    if (d->how.sweeps != 0)
        return d->how.sweeps;
    if (all > RAPPOR_DENSE_MAX)
        sweeps = (uint32_t)(DECODE_SWEEPS * (size_t)RAPPOR_DENSE_MAX / all);
    return sweeps < DECODE_SWEEPS_LEAST ? DECODE_SWEEPS_LEAST : sweeps;
}

/* P(zero) and posterior means of all candidates. Where the regression cannot
 * be posed a short run says what the dispersion is. */
static hsy_status decode_sample(struct decode *d, bool posed, hsy_error *err)
{
    struct rappor_work *w = &d->work;
    struct rappor_run run = {.sweeps = decode_sweeps(d),
                             .seed = d->how.seed,
                             .gram = posed,
                             .intercept = !posed || w->fit.intercept};
    struct rappor_ran ran;
    hsy_status st;

    memset(w->chain.x, 0, w->design.candidates * sizeof *w->chain.x);
    w->chain.intercept = 0;
    run.burn =
        run.sweeps / 4 > DECODE_BURN_LEAST ? run.sweeps / 4 : DECODE_BURN_LEAST;
    if (!posed) {
        struct rappor_run first = run;

        first.burn = DECODE_BURN_LEAST / 2;
        first.sweeps = DECODE_BURN_LEAST / 3;
        first.dispersion = d->phi = 1;
        first.freedom = DECODE_KNOWN;
        first.unit = decode_unit(d);
        for (size_t j = 0; j < w->design.candidates; j++)
            w->chain.phi[j] = d->phi;
        st = hsy_rappor_sample(&ran, w, &first, err);
        if (st != HSY_OK)
            return st;
        decode_dispersion(d, ran.squares, ran.nonzero + 1);
        hsy_rappor_local(w->chain.phi, &w->design, w->chain.residual, d->phi);
        memset(w->chain.x, 0, w->design.candidates * sizeof *w->chain.x);
    }
    run.dispersion = d->phi;
    run.freedom = d->freedom;
    run.skew = decode_skew(d);
    run.unit = decode_unit(d);
    run.lane = 1;
    return hsy_rappor_sample(&ran, w, &run, err);
}

/* ---- Detection ----------------------------------------------------------- */

/* A key that sorts as x does; 0 <= x. */
static uint64_t decode_key(double x)
{
    uint64_t key;

    memcpy(&key, &x, sizeof key);
    return key;
}

/* P(a normal estimate of 0 is at least x). */
static double decode_p_value(double x, double variance)
{
    if (variance > 0)
        return hsy_normal_cdf(-x / sqrt(variance));
    return x > 0 ? 0 : 1;
}

/* Bonferroni's bound from the p-value of the regression on all candidates, 0
 * where there is none: a posterior is only as good as its prior. */
static double decode_family(const struct decode *d, size_t j)
{
    const struct rappor_fit *f = &d->work.fit;

    if (!d->summary.posed)
        return 0;
    return (double)f->columns *
           decode_p_value(f->coef[j], d->work.chain.phi[j] *
                                          f->inverse[j * (f->stride + 1)]);
}

/*
 * The posterior's own control. In order of P(zero), the mean of P(zero) over
 * the first r is the expected share of false ones among them, their sum bounds
 * the chance of any: the least alpha at which each is detected. A string that
 * is more likely absent than present is never detected: beside many certain
 * strings a mean leaves room for noise.
 */
static void decode_q_posterior(struct decode *d)
{
    const uint32_t *order = d->work.order;
    double sum = 0;

    for (size_t r = 0; r < d->work.design.candidates; r++) {
        hsy_rappor_share *share = &d->shares[order[r]];

        sum += share->p_zero;
        if (share->p_zero > DECODE_ZERO_MOST)
            share->q = 1;
        else if (d->how.correction == HSY_RAPPOR_FDR)
            share->q = sum / (double)(r + 1);
        else
            share->q = fmin(1, fmax(sum, decode_family(d, order[r])));
    }
}

/* Benjamini and Hochberg, or Bonferroni, on p-values [BH95]. */
static void decode_q_values(struct decode *d)
{
    const size_t all = d->work.design.candidates;
    double least = 1;

    for (size_t r = all; r-- > 0;) {
        hsy_rappor_share *share = &d->shares[d->work.order[r]];
        const double one = share->p_zero * (double)all;

        least = fmin(least, one / (double)(r + 1));
        share->q = d->how.correction == HSY_RAPPOR_FDR ? least : fmin(one, 1);
    }
}

static void decode_detect(struct decode *d)
{
    const size_t all = d->work.design.candidates;

    for (size_t j = 0; j < all; j++)
        d->work.keys[j] = decode_key(d->shares[j].p_zero);
    hsy_rappor_order(&d->work);
    if (d->how.method == HSY_RAPPOR_SAMPLER)
        decode_q_posterior(d);
    else
        decode_q_values(d);
    for (size_t j = 0; j < all; j++) {
        d->shares[j].detected = d->shares[j].q <= d->how.alpha;
        d->summary.detected += d->shares[j].detected;
    }
    d->summary.level_selected =
        hsy_selected_level(d->how.level, d->summary.detected, all);
}

/* ---- The two methods ----------------------------------------------------- */

/* Regress on the detected ones, the surest first if they are too many. */
static hsy_status decode_refit(struct decode *d, hsy_error *err)
{
    struct rappor_work *w = &d->work;
    struct rappor_fit *f = &w->fit;
    size_t dependent;

    f->columns = 0;
    for (size_t r = 0; r < w->design.candidates; r++) {
        const uint32_t j = w->order[r];

        if (d->shares[j].detected && f->columns < RAPPOR_DENSE_MAX)
            f->column[f->columns++] = j;
    }
    if (!hsy_rappor_fit(f, &w->design, &dependent))
        return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_CANDIDATES,
                           "singular: a detected candidate's bits are a "
                           "combination of others'; list fewer, or collect "
                           "with more bits or cohorts",
                           HSY_UNIT_CANDIDATE, dependent + 1);
    decode_dispersion(d, hsy_rappor_residual(w->chain.residual, &w->design, f),
                      (double)f->order);
    return HSY_OK;
}

static hsy_status decode_sampler(struct decode *d, hsy_error *err)
{
    const bool posed = d->summary.posed = decode_pose(d);
    hsy_status st = decode_sample(d, posed, err);

    if (st != HSY_OK)
        return st;
    for (size_t j = 0; j < d->work.design.candidates; j++) {
        d->shares[j].p_zero = d->work.chain.zero[j];
        d->shares[j].est.value = d->work.chain.mean[j];
    }
    decode_detect(d);
    if (!posed) {
        st = decode_refit(d, err);
        for (size_t j = 0; st == HSY_OK && j < d->work.design.candidates; j++)
            decode_left_out(d, &d->shares[j], j);
    }
    if (st != HSY_OK)
        return st;
    decode_fitted(d);
    return HSY_OK;
}

static hsy_status decode_nnls(struct decode *d, hsy_error *err)
{
    const struct rappor_fit *f = &d->work.fit;
    double *x = d->work.fit.own; /* free until decode_fitted */

    d->summary.posed = decode_pose(d);
    if (!d->summary.posed)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_METHOD,
                              "nnls needs independent candidates, no more than "
                              "there are bits in all cohorts, and no more than "
                              "the limit; use the sampler",
                              RAPPOR_DENSE_MAX);
    hsy_rappor_nnls(x, f, d->work.chain.score);
    for (size_t j = 0; j < f->columns; j++) {
        d->shares[j].est.value = x[j];
        d->shares[j].p_zero = decode_p_value(
            f->coef[j], d->work.chain.phi[j] * f->inverse[j * (f->stride + 1)]);
    }
    decode_detect(d);
    decode_fitted(d);
    return HSY_OK;
}

/* One bit: all cohorts together, in closed form. */
static hsy_status decode_boolean(struct decode *d)
{
    const hsy_rappor_data *data = d->data;
    const double n = d->work.design.reports, gap = data->q - data->p;
    hsy_rappor_share *share = &d->shares[0];
    double ones = 0, x, r, variance;

    for (uint32_t c = 0; c < data->m; c++)
        ones += (double)data->ones[c];
    share->unbiased = share->est.value =
        (ones / d->how.dispersion - data->p * n) / (gap * n);
    x = fmin(fmax(share->unbiased, 0), 1);
    r = x * data->q + (1 - x) * data->p;
    variance = r * (1 - r) / (gap * gap * n);
    share->p_zero = decode_p_value(share->unbiased,
                                   data->p * (1 - data->p) / (gap * gap * n));
    if (d->how.target == HSY_PEOPLE)
        variance -= x * (1 - x) / n;
    d->summary.level_selected = d->how.level;
    decode_interval(d, share, variance);
    share->q = share->p_zero;
    share->detected = share->q <= d->how.alpha;
    decode_rest(d, share->detected ? variance : 0);
    d->summary.detected = share->detected;
    d->summary.posed = true;
    return HSY_OK;
}

hsy_status hsy_rappor_decode(const hsy_rappor_data *data,
                             hsy_rappor_share *shares,
                             hsy_rappor_summary *summary,
                             const hsy_rappor_options *options, void *scratch,
                             hsy_error *err)
{
    struct decode d = {.data = data, .shares = shares, .phi = 1};
    hsy_status st = hsy_rappor_check(data, true, err);
    uint32_t live;

    if (st == HSY_OK)
        st = decode_options(&d, options, err);
    if (st != HSY_OK)
        return st;
    live = hsy_rappor_live(data);
    if (live == 0)
        return hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_TOTALS,
                        "there are no reports");
    hsy_rappor_layout(&d.work, scratch, data, live);
    st = hsy_rappor_design(&d.work, data, err);
    if (st != HSY_OK)
        return st;
    memset(shares, 0, data->candidates * sizeof *shares);
    d.summary.reports = (uint64_t)d.work.design.reports;
    d.summary.cohorts = live;
    decode_disperse(&d.work.design, d.how.dispersion);
    if (data->k == 1)
        st = decode_boolean(&d);
    else if (d.how.method == HSY_RAPPOR_SAMPLER)
        st = decode_sampler(&d, err);
    else
        st = decode_nnls(&d, err);
    if (st != HSY_OK)
        return st;
    if (data->k > 1) {
        decode_unlisted(&d);
        decode_rest(&d, decode_together(&d));
    }
    d.summary.dispersion = d.phi * d.how.dispersion;
    *summary = d.summary;
    return HSY_OK;
}
