/*
 * coverage_bins.h - intervals of ranges, quantiles and densities of bins.
 */
#ifndef COVERAGE_BINS_H
#define COVERAGE_BINS_H

#include "coverage.h"

#define BINS_ASKED 6u
#define BINS_QUANTILES 3u

static const size_t bins_asked[BINS_ASKED][2] = {{0, 32},  {5, 6},   {3, 50},
                                                 {17, 23}, {40, 64}, {1, 63}};
static const double bins_quantiles[BINS_QUANTILES] = {0.25, 0.5, 0.9};

/* Shapes of d bins. */
enum bins_shape {
    BINS_RAMP,  /* heavier below: the square of a uniform number */
    BINS_BETA,  /* Beta(2, 5) */
    BINS_HEAPED /* the same, but half of them say the nearest multiple of 4 */
};

struct bins_run {
    struct stat_run run;
    struct coverage_law law;
    uint64_t *codes;
    double held[COVERAGE_ATOMS];
    void *scratch;
    struct coverage_value *values; /* [target][count] */
    size_t count;
};

/* ---- Laws ---------------------------------------------------------------- */

/* The distribution function of Beta(2, 5): 30 times the integral of
 * u (1 - u)^4. */
static inline double bins_below(enum bins_shape shape, double x)
{
    return shape == BINS_RAMP ? sqrt(x) : hsy_beta_inc(2, 5, x);
}

static inline void bins_law(struct coverage_law *law, enum bins_shape shape,
                            uint32_t d)
{
    memset(law, 0, sizeof *law);
    law->atoms = d;
    for (uint32_t v = 0; v < d; v++) {
        const double own =
            bins_below(shape, (v + 1.0) / d) - bins_below(shape, (double)v / d);
        const uint32_t heap = v < 2 ? 0 : (v + 2) / 4 * 4;
        const bool heaps = shape == BINS_HEAPED && heap < d;

        law->code[v] = v;
        law->share[v] += heaps ? own / 2 : own;
        if (heaps)
            law->share[heap] += own / 2;
    }
}

static inline void bins_open(struct bins_run *b, const struct coverage_cell *c,
                             uint32_t d, enum bins_shape shape, size_t count)
{
    const hsy_spec spec = trial_bins(c->kind->mechanism, d, c->epsilon);

    memset(b, 0, sizeof *b);
    b->run.s = trial_scheme(&spec);
    stat_run_room(&b->run);
    bins_law(&b->law, shape, d);
    b->codes = stat_alloc(c->n * sizeof *b->codes);
    b->scratch =
        stat_alloc(b->run.info.iterative ? 0 : hsy_ranges_scratch(b->run.s));
    b->count = count;
    b->values = stat_alloc(2 * count * sizeof *b->values);
}

static inline void bins_close(struct bins_run *b)
{
    stat_run_close(&b->run);
    free(b->codes);
    free(b->scratch);
    free(b->values);
}

static inline bool bins_collect(struct bins_run *b,
                                const struct coverage_cell *c, uint64_t run)
{
    struct stat_coins coins;

    coverage_draw(b->codes, b->held, &b->law, c->n, coverage_lane(c, run, 0));
    stat_coins_open(&coins, coverage_lane(c, run, 0));
    return stat_collect(&b->run, STAT_SIMULATE, b->codes, c->n, &coins);
}

/* ---- Ranges and quantiles ------------------------------------------------ */

static inline double bins_sum(const double *shares, size_t from, size_t to)
{
    double sum = 0;

    for (size_t v = from; v < to; v++)
        sum += shares[v];
    return sum;
}

/* Where a share q lies below, even within a bin. */
static inline double bins_quantile(const double *shares, size_t d, double q)
{
    size_t v = 0;

    while (v + 1 < d && q > shares[v])
        q -= shares[v++];
    return (double)v + (shares[v] > 0 ? fmin(1, q / shares[v]) : 0.5);
}

static inline bool bins_range(struct bins_run *b, const hsy_ranges *r, size_t k,
                              const hsy_confidence *how, hsy_error *err)
{
    const bool people = how->target == HSY_PEOPLE;
    const double *shares = people ? b->held : b->law.share;
    hsy_estimate est;

    if (hsy_range(r, &est, bins_asked[k][0], bins_asked[k][1], how, err) !=
        HSY_OK)
        return false;
    coverage_see(&b->values[(people ? 0 : b->count) + k], &est,
                 bins_sum(shares, bins_asked[k][0], bins_asked[k][1]));
    return true;
}

static inline bool bins_place(struct bins_run *b, const hsy_ranges *r, size_t k,
                              const hsy_confidence *how, hsy_error *err)
{
    const bool people = how->target == HSY_PEOPLE;
    const double *shares = people ? b->held : b->law.share;
    hsy_estimate est;

    if (analysis_quantile(&est, &b->run.info, r, bins_quantiles[k], how, err) !=
        HSY_OK)
        return false;
    coverage_see(&b->values[(people ? 0 : b->count) + k], &est,
                 bins_quantile(shares, b->law.atoms, bins_quantiles[k]));
    return true;
}

/* variant: ranges, or quantiles. */
enum bins_what { BINS_OF_RANGES, BINS_OF_QUANTILES };

static inline bool bins_run_once(struct bins_run *b,
                                 const struct coverage_cell *c, uint64_t run,
                                 hsy_error *err)
{
    hsy_ranges r;
    bool good =
        bins_collect(b, c, run) &&
        hsy_ranges_open(&r, b->run.s, &b->run.tally, b->scratch, err) == HSY_OK;

    for (int t = HSY_PEOPLE; t <= HSY_POPULATION; t++)
        for (size_t k = 0; k < b->count && good; k++) {
            const hsy_confidence how = {COVERAGE_LEVEL, (hsy_target)t,
                                        HSY_INTERVAL_AUTO, 1};

            good = c->kind->variant == BINS_OF_RANGES
                       ? bins_range(b, &r, k, &how, err)
                       : bins_place(b, &r, k, &how, err);
        }
    return good;
}

static inline void coverage_bins(struct coverage_cell *c)
{
    const size_t count =
        c->kind->variant == BINS_OF_RANGES ? BINS_ASKED : BINS_QUANTILES;
    hsy_error err = {0};
    struct bins_run b;
    bool good = true;

    bins_open(&b, c, 64, BINS_RAMP, count);
    for (uint64_t run = 0; run < c->runs && good; run++)
        good = bins_run_once(&b, c, run, &err);
    if (coverage_went(c, good, &err))
        coverage_judge_both(c, b.values, count);
    bins_close(&b);
}

/* ---- Densities ----------------------------------------------------------- */

static inline bool bins_density(struct bins_run *b, hsy_target target,
                                hsy_error *err)
{
    const hsy_density_how how = {.level = COVERAGE_LEVEL, .target = target};
    const hsy_analysis_tally view = {
        .scheme = b->run.s, .info = &b->run.info, .tally = &b->run.tally};
    const double *shares = target == HSY_PEOPLE ? b->held : b->law.share;
    struct coverage_value *values =
        b->values + (target == HSY_PEOPLE ? 0 : b->count);
    hsy_analysis_row *rows = NULL;
    hsy_density_fit fit;
    size_t count = 0;
    const bool good =
        analysis_density(&rows, &count, &fit, &view, &how, err) == HSY_OK &&
        fit.no_interval == NULL;

    for (size_t v = 0; v < count && good; v++)
        coverage_see(&values[v], &rows[v].est, shares[v]);
    free(rows);
    return good;
}

/* number: bins; variant: the shape. */
static inline void coverage_density(struct coverage_cell *c)
{
    hsy_error err = {0};
    struct bins_run b;
    bool good = true;

    bins_open(&b, c, c->kind->number, (enum bins_shape)c->kind->variant,
              c->kind->number);
    for (uint64_t run = 0; run < c->runs && good; run++)
        good = bins_collect(&b, c, run) && bins_density(&b, HSY_PEOPLE, &err) &&
               bins_density(&b, HSY_POPULATION, &err);
    if (coverage_went(c, good, &err))
        coverage_judge_both(c, b.values, b.count);
    bins_close(&b);
}

#endif
