/*
 * sample.c - the posterior of sparse shares, by Gibbs sampling.
 *
 * Prior: a candidate's share is 0 with weight pi[0]; else it is a point of a
 * grid, in steps of half a unit up to 3 units and of one unit from there. The
 * points fall into bins, one for each of the first six and one for each
 * doubling after that; within a bin weight goes by logarithmic width.
 * The bins' weights are Dirichlet: 10 for zero, 5 spread over the others by
 * their logarithmic widths. The intercept is flat on the positive numbers.
 * Likelihood: normal, weights w, variances times the dispersion; of a share of
 * 0 gamma with the skew that unlisted strings can give it.
 *
 * Each sweep draws every share given the rest, the intercept, and the bins'
 * weights. What is averaged is P(0 | rest) and E(share | rest), not the draws.
 * The stream of coins is fixed by the seed: the same data, the same result.
 */
#include "lib/core/fail.h"
#include "lib/rappor/internal.h"

#include <math.h>
#include <string.h>

#define SAMPLE_SMALL 6u    /* points up to 3 units, half a unit apart */
#define SAMPLE_BINS 40u    /* zero, the small ones, and doublings */
#define SAMPLE_PRIOR 10.0  /* of zero, */
#define SAMPLE_HELD 5.0    /* ... and of all else together */
#define SAMPLE_FAR 21.0    /* points this far down (e^-21) are left out */
#define SAMPLE_NEAR_MAX 64 /* more points than ever matter at once */

struct sample_prior {
    size_t points;
    uint32_t bins;              /* bin 0 is zero */
    double base[SAMPLE_BINS];   /* Dirichlet parameters */
    double count[SAMPLE_BINS];  /* candidates in each bin */
    double weight[SAMPLE_BINS]; /* as drawn */
};

struct sample {
    const struct rappor_design *design;
    const struct rappor_fit *fit; /* NULL: the residual is kept instead */
    struct rappor_chain *chain;
    struct sample_prior prior;
    double phi, unit, skew, freedom;
    hsy_stream stream;
    hsy_rng rng;
    size_t coins; /* left in the buffer */
};

/* ---- Coins --------------------------------------------------------------- */

/* Uniform in (0, 1): never an end. */
static double sample_uniform(struct sample *s)
{
    if (s->coins == 0) {
        s->rng.fill(s->rng.ctx, s->chain->coins,
                    RAPPOR_COINS * sizeof *s->chain->coins);
        s->coins = RAPPOR_COINS;
    }
    return ((double)(s->chain->coins[--s->coins] >> 12) + 0.5) * 0x1p-52;
}

static double sample_normal(struct sample *s)
{
    const double radius = sqrt(-2 * log(sample_uniform(s)));

    return radius * cos(6.283185307179586 * sample_uniform(s));
}

/* Gamma of unit scale [MarsagliaTsang00], boosted below 1. */
static double sample_gamma(struct sample *s, double shape)
{
    const double boost = shape < 1 ? pow(sample_uniform(s), 1 / shape) : 1;
    const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
    const double c = 1 / sqrt(9 * d);

    for (;;) {
        const double z = sample_normal(s), t = 1 + c * z;
        const double v = t * t * t;

        if (t > 0 &&
            log(sample_uniform(s)) < z * z / 2 + d - d * v + d * log(v))
            return d * v * boost;
    }
}

/* Normal(mean, sd) given that it is not negative [Robert95]. */
static double sample_positive(struct sample *s, double mean, double sd)
{
    const double low = -mean / sd;
    double z, rate;

    if (low < 0) {
        do
            z = sample_normal(s);
        while (z < low);
        return mean + sd * z;
    }
    rate = (low + sqrt(low * low + 4)) / 2;
    do
        z = low - log(sample_uniform(s)) / rate;
    while (log(sample_uniform(s)) > -(z - rate) * (z - rate) / 2);
    return fmax(0, mean + sd * z);
}

/* ---- Prior --------------------------------------------------------------- */

/* The bin of a point above 3 units: one for each doubling. */
static uint32_t sample_bin(double in_units)
{
    const int doubling = ilogb(in_units / 3);
    const uint32_t bin = 1 + SAMPLE_SMALL + (uint32_t)doubling;

    return bin < SAMPLE_BINS ? bin : SAMPLE_BINS - 1;
}

static hsy_status sample_grid(struct sample *s, double most, hsy_error *err)
{
    struct rappor_chain *c = s->chain;
    struct sample_prior *p = &s->prior;
    double width[SAMPLE_BINS] = {0}, all = 0;

    p->points = SAMPLE_SMALL + (size_t)ceil(fmin(most / s->unit, 1e9));
    if (p->points > RAPPOR_GRID_MAX)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_METHOD,
                        "too many reports for the sampler's grid: shares are "
                        "known to more than four digits; use nnls");
    for (size_t i = 0; i < p->points; i++) {
        const bool small = i < SAMPLE_SMALL;
        const double at =
            small ? 0.5 * (double)(i + 1) : 3 + (double)(i + 1 - SAMPLE_SMALL);
        const double half = small ? 0.25 : 0.5;

        c->value[i] = at * s->unit;
        c->bin[i] = (uint8_t)(small ? 1 + i : sample_bin(at));
        c->share[i] = log((at + half) / (at - half));
        width[c->bin[i]] += c->share[i];
        all += c->share[i];
        p->bins = c->bin[i] + 1u;
    }
    for (size_t i = 0; i < p->points; i++)
        c->share[i] /= width[c->bin[i]];
    p->base[0] = SAMPLE_PRIOR;
    for (uint32_t b = 1; b < p->bins; b++)
        p->base[b] = SAMPLE_HELD * width[b] / all;
    return HSY_OK;
}

static void sample_weights(struct sample *s)
{
    struct sample_prior *p = &s->prior;
    double all = 0;

    for (uint32_t b = 0; b < p->bins; b++)
        all += p->weight[b] = sample_gamma(s, p->base[b] + p->count[b]);
    for (uint32_t b = 0; b < p->bins; b++)
        p->weight[b] /= all;
}

/* ---- State --------------------------------------------------------------- */

static double sample_score(const struct sample *s, size_t j)
{
    return s->fit != NULL ? s->chain->score[j]
                          : hsy_rappor_gather(s->design, j, s->chain->residual);
}

/* Column j's coefficient grew by step. */
static void sample_move(struct sample *s, size_t j, double step)
{
    const struct rappor_design *d = s->design;

    if (s->fit != NULL) {
        const double *row = s->fit->gram + j * s->fit->stride;

        for (size_t i = 0; i <= s->fit->columns; i++)
            s->chain->score[i] -= step * row[i];
    } else {
        const uint16_t *bits = d->bits + j * d->live * d->h;
        double *residual = s->chain->residual;
        const double *w = d->w;

        for (uint32_t c = 0; c < d->live; c++, bits += d->h) {
            for (uint32_t t = 0; t < d->h; t++)
                residual[bits[t]] -= step * w[bits[t]];
            residual += d->k + 1;
            w += d->k + 1;
        }
    }
}

static void sample_intercept(struct sample *s)
{
    const struct rappor_design *d = s->design;
    struct rappor_chain *c = s->chain;
    double score = 0, step;

    if (s->fit != NULL) {
        score = c->score[s->fit->columns];
    } else {
        for (size_t i = 0; i < d->rows; i++)
            score += c->residual[i];
    }
    step = sample_positive(s, c->intercept + score / d->total_w,
                           sqrt(s->phi / d->total_w)) -
           c->intercept;
    c->intercept += step;
    if (s->fit != NULL) {
        sample_move(s, s->fit->columns, step);
    } else {
        for (size_t i = 0; i < d->rows; i++)
            c->residual[i] -= step * d->w[i];
    }
}

/* The state from the chain's x and intercept. */
static void sample_begin(struct sample *s)
{
    const struct rappor_design *d = s->design;
    struct rappor_chain *c = s->chain;

    if (s->fit != NULL) {
        memcpy(c->score, s->fit->moment,
               (s->fit->columns + 1) * sizeof *c->score);
        sample_move(s, s->fit->columns, c->intercept);
    } else {
        for (size_t i = 0; i < d->rows; i++)
            c->residual[i] = d->w[i] * (d->y[i] - c->intercept);
    }
    for (size_t j = 0; j < d->candidates; j++) {
        if (c->x[j] != 0)
            sample_move(s, j, c->x[j]);
    }
}

/* sum of w (y - fit)^2 */
static double sample_squares(const struct sample *s, double own)
{
    const struct rappor_design *d = s->design;
    const struct rappor_chain *c = s->chain;
    double squares = 0;

    if (s->fit != NULL) {
        /* y'Wy - x'(moment + score), as X'W y = moment and X'W(y - fit) =
         * score. */
        squares = own - c->intercept * (s->fit->moment[s->fit->columns] +
                                        c->score[s->fit->columns]);
        for (size_t j = 0; j < d->candidates; j++)
            squares -= c->x[j] * (s->fit->moment[j] + c->score[j]);
        return squares;
    }
    for (size_t i = 0; i < d->rows; i++) {
        if (d->w[i] > 0)
            squares += c->residual[i] * c->residual[i] / d->w[i];
    }
    return squares;
}

/* ---- One share given the rest -------------------------------------------- */

/* Points of the grid from the first that is at least `low` on. */
static size_t sample_first(const struct sample *s, double low)
{
    const double *value = s->chain->value;
    size_t i = 0;

    if (low > value[SAMPLE_SMALL])
        i = SAMPLE_SMALL + (size_t)((low - value[SAMPLE_SMALL]) / s->unit);
    while (i < s->prior.points && value[i] < low)
        i++;
    return i;
}

/* The grid's points near enough to matter, with their weights. */
struct sample_near {
    size_t first, count;
    double weight[SAMPLE_NEAR_MAX];
    double all, sum; /* of the weights, and of weight times value */
};

/*
 * exp(top - precision (value - best)^2 / 2) at points `step` apart, times the
 * prior, up to point `end`: of a parabola's exponential the ratio of neighbours
 * falls by a constant factor, so that three exponentials do for all.
 */
static void sample_stretch(const struct sample *s, struct sample_near *near,
                           const double peak[3], double step, size_t end)
{
    const struct rappor_chain *c = s->chain;
    const double best = peak[0], precision = peak[1], top = peak[2];
    const double from = c->value[near->first + near->count] - best;
    const double fall = exp(-precision * step * step);
    double value = exp(top - precision * from * from / 2);
    double ratio = exp(-precision * step * (from + step / 2));

    for (size_t i = near->first + near->count; i < end; i++) {
        const double weight = s->prior.weight[c->bin[i]] * c->share[i] * value;

        near->weight[near->count++] = weight;
        near->all += weight;
        near->sum += weight * c->value[i];
        value *= ratio;
        ratio *= fall;
    }
}

static void sample_near(const struct sample *s, struct sample_near *near,
                        const double peak[3])
{
    const double reach = sqrt(2 * (SAMPLE_FAR + peak[2]) / peak[1]);
    size_t end;

    near->first = sample_first(s, peak[0] - reach);
    near->count = 0;
    near->all = near->sum = 0;
    end = sample_first(s, peak[0] + reach);
    if (end > near->first + SAMPLE_NEAR_MAX)
        end = near->first + SAMPLE_NEAR_MAX;
    if (near->first < SAMPLE_SMALL && near->first < end)
        sample_stretch(s, near, peak, s->unit / 2,
                       end < SAMPLE_SMALL ? end : SAMPLE_SMALL);
    if (near->first + near->count < end)
        sample_stretch(s, near, peak, s->unit, end);
}

/* Minus the logarithm of the likelihood of 0, z >= 0 standard errors away. It
 * is z^2 / 2 of a normal law, more tail of a gamma law with the skew, and more
 * again as the dispersion is an estimate: Student's law. */
static double sample_depth(const struct sample *s, double z)
{
    const double t = s->skew * z / 2;
    const double depth =
        t < 1e-4 ? z * z / 2 : 4 * (t - log1p(t)) / (s->skew * s->skew);

    return s->freedom / 2 * log1p(2 * depth / s->freedom);
}

/*
 * Given the rest, the share's likelihood is normal around `best` with standard
 * deviation sd. Exponents are taken from the largest there is, at best or at 0.
 */
static void sample_share(struct sample *s, size_t j, bool counts)
{
    struct rappor_chain *c = s->chain;
    const double norm = s->design->norm[j], precision = norm / s->chain->phi[j];
    const double best = c->x[j] + sample_score(s, j) / norm;
    const double depth = precision * best * best / 2;
    const double peak[3] = {best, precision, best < 0 ? depth : 0};
    const double zero =
        s->prior.weight[0] *
        (best < 0 ? 1 : exp(-sample_depth(s, best * sqrt(precision))));
    struct sample_near near;
    double coin, now = 0;
    uint32_t bin = 0;

    sample_near(s, &near, peak);
    if (counts) {
        c->zero[j] += zero / (zero + near.all);
        c->mean[j] += near.sum / (zero + near.all);
    }
    coin = sample_uniform(s) * (zero + near.all) - zero;
    for (size_t i = 0; coin >= 0 && i < near.count; i++) {
        coin -= near.weight[i];
        now = c->value[near.first + i];
        bin = c->bin[near.first + i];
    }
    s->prior.count[bin]++;
    if (now != c->x[j]) {
        sample_move(s, j, now - c->x[j]);
        c->x[j] = now;
    }
}

static double sample_most(const struct sample *s)
{
    const struct rappor_design *d = s->design;
    double most = 0;

    /* The residual is w y here, and no rate is above its own candidate's by
     * more than noise and other strings: a share beyond is out of the
     * question. */
    for (size_t i = 0; i < d->rows; i++)
        s->chain->residual[i] = d->w[i] * d->y[i];
    for (size_t j = 0; j < d->candidates; j++)
        most = fmax(most,
                    hsy_rappor_gather(d, j, s->chain->residual) / d->norm[j]);
    return fmin(most, 1) + 4 * s->unit;
}

hsy_status hsy_rappor_sample(struct rappor_ran *ran, struct rappor_work *work,
                             const struct rappor_run *run, hsy_error *err)
{
    struct sample s = {.design = &work->design,
                       .fit = run->gram ? &work->fit : NULL,
                       .chain = &work->chain,
                       .phi = run->dispersion,
                       .unit = run->unit,
                       .skew = run->skew,
                       .freedom = run->freedom};
    const size_t all = work->design.candidates;
    double own = 0;
    hsy_status st = sample_grid(&s, sample_most(&s), err);

    if (st != HSY_OK)
        return st;
    for (size_t i = 0; i < work->design.rows; i++)
        own += work->design.w[i] * work->design.y[i] * work->design.y[i];
    hsy_stream_seed(&s.stream, run->seed, run->lane);
    s.rng = hsy_stream_rng(&s.stream);
    sample_begin(&s);
    s.prior.count[0] = (double)all;
    *ran = (struct rappor_ran){0};
    memset(work->chain.zero, 0, all * sizeof *work->chain.zero);
    memset(work->chain.mean, 0, all * sizeof *work->chain.mean);
    for (uint32_t sweep = 0; sweep < run->burn + run->sweeps; sweep++) {
        const bool counts = sweep >= run->burn;

        sample_weights(&s);
        memset(s.prior.count, 0, sizeof s.prior.count);
        for (size_t j = 0; j < all; j++)
            sample_share(&s, j, counts);
        if (run->intercept)
            sample_intercept(&s);
        if (counts) {
            ran->squares += sample_squares(&s, own) / run->sweeps;
            ran->nonzero += ((double)all - s.prior.count[0]) / run->sweeps;
        }
    }
    for (size_t j = 0; j < all; j++) {
        work->chain.zero[j] /= run->sweeps;
        work->chain.mean[j] /= run->sweeps;
    }
    hsy_stream_clear(&s.stream);
    return HSY_OK;
}
