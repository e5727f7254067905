/*
 * coverage_points.h - intervals of shares, means and what is made of them:
 * differences, all values together, releases, attributes.
 */
#ifndef COVERAGE_POINTS_H
#define COVERAGE_POINTS_H

#include "coverage.h"

/* ---- Laws of people ------------------------------------------------------ */

/* Large, middling and rare shares, and values that nobody holds; 16 of them. */
static const struct coverage_law poll_values[] = {
    {16,
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
     {.5, .1, .1, .001, .001, .001, 0, 0, 0, 0, 0, .0594, .0594, .0594, .0594,
      .0594}}};
static const struct coverage_law poll_matrix[] = {
    {4, {0, 1, 2, 3}, {.6, .3, .1, 0}}};
static const struct coverage_law poll_yes_no[] = {
    {2, {1, 0}, {.001, .999}}, {2, {1, 0}, {.1, .9}}, {2, {1, 0}, {.5, .5}}};
/* In the middle, spread, and at the ends of the range. */
static const struct coverage_law poll_numbers[] = {
    {1, {500}, {1}},
    {5, {0, 250, 500, 750, 1000}, {.1, .3, .3, .2, .1}},
    {2, {0, STAT_RANGE}, {.9, .1}}};
/* Moved against poll_values, for differences. */
static const struct coverage_law poll_moved[] = {
    {16,
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
     {.3, .2, .1, .051, .001, .001, .05, 0, 0, 0, 0, .0594, .0594, .0594, .0594,
      .0594}}};

struct poll {
    struct stat_run run;
    const struct coverage_law *laws;
    size_t nlaws, count; /* values of all laws together */
    uint64_t *codes;
    double held[COVERAGE_ATOMS];
    struct coverage_value *values; /* [target][count] */
};

static inline hsy_spec poll_spec(const struct coverage_cell *c)
{
    const struct coverage_kind *k = c->kind;
    hsy_spec spec = trial_values(k->mechanism, 16, c->epsilon);

    spec.kind = k->number;
    if (k->number == HSY_KIND_YES_NO)
        spec.d = 0;
    if (k->number == HSY_KIND_BINS)
        spec.hi = 16;
    if (k->number == HSY_KIND_NUMBER) {
        spec.d = 0;
        spec.hi = STAT_RANGE;
    }
    if (strcmp(k->mechanism, "matrix") == 0)
        spec.d = 4;
    trial_attach(&spec);
    return spec;
}

static inline void poll_laws(struct poll *p)
{
    const bool matrix = strcmp(p->run.info.mechanism, "matrix") == 0;
    const uint32_t kind = p->run.info.kind;

    p->laws = matrix                    ? poll_matrix
              : kind == HSY_KIND_YES_NO ? poll_yes_no
              : kind == HSY_KIND_NUMBER ? poll_numbers
                                        : poll_values;
    p->nlaws = kind == HSY_KIND_YES_NO || kind == HSY_KIND_NUMBER ? 3 : 1;
}

static inline void poll_open(struct poll *p, const struct coverage_cell *c)
{
    const hsy_spec spec = poll_spec(c);

    memset(p, 0, sizeof *p);
    p->run.s = trial_scheme(&spec);
    stat_run_room(&p->run);
    poll_laws(p);
    p->count = p->nlaws * p->run.npoints;
    p->codes = stat_alloc(c->n * sizeof *p->codes);
    p->values = stat_alloc(2 * p->count * sizeof *p->values);
}

static inline void poll_close(struct poll *p)
{
    stat_run_close(&p->run);
    free(p->codes);
    free(p->values);
}

/* ---- One collection ------------------------------------------------------ */

/* What is true of value v if people hold the codes of a law in these shares. */
static inline double poll_truth(const struct poll *p,
                                const struct coverage_law *law,
                                const double *shares, size_t v)
{
    const uint32_t kind = p->run.info.kind;
    double truth = 0;

    for (size_t a = 0; a < law->atoms; a++)
        if (kind == HSY_KIND_NUMBER)
            truth += shares[a] * (double)law->code[a];
        else
            truth += law->code[a] == (kind == HSY_KIND_YES_NO ? 1 : v)
                         ? shares[a]
                         : 0;
    return truth;
}

/* A curator counts and adds noise; others send reports. */
static inline bool poll_release(struct poll *p, uint64_t n,
                                struct stat_coins *coins, hsy_error *err)
{
    hsy_rng rng = hsy_stream_rng(&coins->secret);

    hsy_tally_init(&p->run.tally, p->run.s, p->run.memory);
    return hsy_central_count(&p->run.tally, p->run.s, p->codes, n, err) ==
               HSY_OK &&
           hsy_central_release(&p->run.tally, p->run.s, &rng, err) == HSY_OK;
}

/* People of a law answer; points as the surfaces get them. */
static inline bool poll_collect(struct poll *p, hsy_evidence **points,
                                const struct coverage_law *law, uint64_t n,
                                uint64_t lane, hsy_error *err)
{
    const hsy_analysis_tally view = {
        .scheme = p->run.s, .info = &p->run.info, .tally = &p->run.tally};
    struct stat_coins coins;

    coverage_draw(p->codes, p->held, law, n, lane);
    stat_coins_open(&coins, lane);
    if (p->run.info.central
            ? !poll_release(p, n, &coins, err)
            : !stat_collect(&p->run, STAT_SIMULATE, p->codes, n, &coins))
        return false;
    return analysis_points(points, &view, NULL, p->run.npoints, err) == HSY_OK;
}

/* Fewer than ten reports, or people of a release, are expected for a value or
 * against it; of a tree, among those of the bins' own level. */
static inline bool poll_few(const hsy_scheme_info *info,
                            const hsy_evidence *point, double f)
{
    const bool tree = point->few.weight[0] > 0 && point->p == point->q;
    const double gap = tree ? 1 / point->few.weight[0] : point->p - point->q;
    const double rate =
        info->central ? f : (tree ? point->few.rate : point->q) + f * gap;
    const double n = tree ? point->few.n : point->n;

    return info->kind != HSY_KIND_NUMBER && (info->central || gap != 0) &&
           n * fmin(rate, 1 - rate) < COVERAGE_FEW;
}

/* ---- Shares and means ---------------------------------------------------- */

static inline bool poll_value(struct poll *p, const struct coverage_law *law,
                              size_t first, size_t v, const hsy_evidence *point,
                              const hsy_confidence *how, hsy_error *err)
{
    const struct analysis_known own = {.point = point};
    const bool people = how->target == HSY_PEOPLE;
    struct coverage_value *value =
        p->values + (people ? 0 : p->count) + first + v;
    hsy_analysis_row row;

    if (analysis_row(&row, NULL, &p->run.info, &own, NULL, how, err) != HSY_OK)
        return false;
    value->few =
        poll_few(&p->run.info, point, poll_truth(p, law, law->share, v));
    coverage_see(value, &row.est,
                 poll_truth(p, law, people ? p->held : law->share, v));
    return true;
}

static inline bool poll_run(struct poll *p, const struct coverage_cell *c,
                            uint64_t run, hsy_error *err)
{
    for (size_t k = 0; k < p->nlaws; k++) {
        hsy_evidence *points = NULL;
        bool good = poll_collect(p, &points, &p->laws[k], c->n,
                                 coverage_lane(c, run, k), err);

        for (int t = HSY_PEOPLE; t <= HSY_POPULATION; t++)
            for (size_t v = 0; v < p->run.npoints && good; v++) {
                const hsy_confidence how = {COVERAGE_LEVEL, (hsy_target)t,
                                            (hsy_interval)c->kind->variant, 1};

                good = poll_value(p, &p->laws[k], k * p->run.npoints, v,
                                  &points[v], &how, err);
            }
        free(points);
        if (!good)
            return false;
    }
    return true;
}

/* number: the kind of question; variant: the interval. */
static inline void coverage_points(struct coverage_cell *c)
{
    hsy_error err = {0};
    struct poll p;
    bool good = true;

    poll_open(&p, c);
    for (uint64_t run = 0; run < c->runs && good; run++)
        good = poll_run(&p, c, run, &err);
    if (coverage_went(c, good, &err))
        coverage_judge_both(c, p.values, p.count);
    poll_close(&p);
}

/* ---- All values together ------------------------------------------------- */

/* The hull of a run: whether all intervals hold, as one interval of 0. */
static inline bool poll_together(struct poll *p, const hsy_evidence *points,
                                 const hsy_confidence *how, hsy_error *err)
{
    const bool people = how->target == HSY_PEOPLE;
    hsy_estimate all = {0, 0, -HUGE_VAL, HUGE_VAL};

    for (size_t v = 0; v < p->run.npoints; v++) {
        const struct analysis_known own = {.point = &points[v]};
        const double truth =
            poll_truth(p, p->laws, people ? p->held : p->laws->share, v);
        hsy_analysis_row row;

        if (analysis_row(&row, NULL, &p->run.info, &own, NULL, how, err) !=
            HSY_OK)
            return false;
        all.low = fmax(all.low, row.est.low - truth);
        all.high = fmin(all.high, row.est.high - truth);
    }
    coverage_see(&p->values[people ? 0 : 1], &all, 0);
    return true;
}

static inline bool poll_run_together(struct poll *p,
                                     const struct coverage_cell *c,
                                     uint64_t run, hsy_error *err)
{
    hsy_confidence how = {COVERAGE_LEVEL, HSY_PEOPLE, HSY_INTERVAL_AUTO,
                          p->run.npoints};
    hsy_evidence *points = NULL;
    bool good =
        poll_collect(p, &points, p->laws, c->n, coverage_lane(c, run, 0), err);

    good = good && poll_together(p, points, &how, err);
    how.target = HSY_POPULATION;
    good = good && poll_together(p, points, &how, err);
    free(points);
    return good;
}

static inline void coverage_together(struct coverage_cell *c)
{
    hsy_error err = {0};
    struct poll p;
    bool good = true;

    poll_open(&p, c);
    for (uint64_t run = 0; run < c->runs && good; run++)
        good = poll_run_together(&p, c, run, &err);
    if (coverage_went(c, good, &err))
        coverage_judge_both(c, p.values, 1);
    poll_close(&p);
}

/* ---- Differences --------------------------------------------------------- */

/* Two tallies: of the people of the laws, and of others who moved. */
struct poll_pair {
    struct poll a, b;
    hsy_evidence *of_a, *of_b;
};

static inline bool poll_difference(struct poll_pair *d, size_t v,
                                   hsy_target target, hsy_error *err)
{
    const hsy_confidence how = {COVERAGE_LEVEL, target, HSY_INTERVAL_AUTO, 1};
    const struct analysis_known own = {.point = &d->of_a[v]},
                                other = {.point = &d->of_b[v]};
    const bool people = target == HSY_PEOPLE;
    const double *const a = people ? d->a.held : d->a.laws->share;
    const double *const b = people ? d->b.held : d->b.laws->share;
    struct coverage_value *value = d->a.values + (people ? 0 : d->a.count) + v;
    hsy_analysis_row row;

    if (analysis_row(&row, NULL, &d->a.run.info, &own, &other, &how, err) !=
        HSY_OK)
        return false;
    value->few = poll_few(&d->a.run.info, &d->of_a[v],
                          poll_truth(&d->a, d->a.laws, d->a.laws->share, v)) ||
                 poll_few(&d->b.run.info, &d->of_b[v],
                          poll_truth(&d->b, d->b.laws, d->b.laws->share, v));
    coverage_see(value, &row.est,
                 poll_truth(&d->a, d->a.laws, a, v) -
                     poll_truth(&d->b, d->b.laws, b, v));
    return true;
}

static inline bool poll_run_pair(struct poll_pair *d,
                                 const struct coverage_cell *c, uint64_t run,
                                 hsy_error *err)
{
    bool good = poll_collect(&d->a, &d->of_a, d->a.laws, c->n,
                             coverage_lane(c, run, 0), err) &&
                poll_collect(&d->b, &d->of_b, d->b.laws, c->n,
                             coverage_lane(c, run, 1), err);

    for (size_t v = 0; v < d->a.run.npoints && good; v++)
        good = poll_difference(d, v, HSY_PEOPLE, err) &&
               poll_difference(d, v, HSY_POPULATION, err);
    free(d->of_a);
    free(d->of_b);
    d->of_a = d->of_b = NULL;
    return good;
}

static inline void coverage_differences(struct coverage_cell *c)
{
    struct poll_pair d = {0};
    hsy_error err = {0};
    bool good = true;

    poll_open(&d.a, c);
    poll_open(&d.b, c);
    d.a.laws += d.a.nlaws - 1; /* of several the last and the one before */
    if (d.b.nlaws > 1)
        d.b.laws += 1;
    else if (d.b.run.npoints == 16)
        d.b.laws = poll_moved;
    d.a.count = d.a.run.npoints;
    for (uint64_t run = 0; run < c->runs && good; run++)
        good = poll_run_pair(&d, c, run, &err);
    if (coverage_went(c, good, &err))
        coverage_judge_both(c, d.a.values, d.a.count);
    poll_close(&d.a);
    poll_close(&d.b);
}

#endif
