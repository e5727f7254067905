/*
 * coverage_found.h - intervals of what was selected: strings that a search
 * found, RAPPOR's detected candidates, the largest of a list. The measure is
 * the share of the selected whose interval misses, averaged over runs.
 */
#ifndef COVERAGE_FOUND_H
#define COVERAGE_FOUND_H

#include "coverage.h"
#include "coverage_points.h"

#define FOUND_STRINGS 40u
#define FOUND_BOGUS 60u /* candidates of RAPPOR that nobody holds */

/* Zipf's law over strings that are spread over all codes of so many bits. */
static inline void found_law(struct coverage_law *law, uint32_t bits)
{
    const uint64_t last = ((uint64_t)1 << bits) - 1;
    double all = 0;

    memset(law, 0, sizeof *law);
    law->atoms = FOUND_STRINGS;
    for (size_t a = 0; a < law->atoms; a++) {
        /* Odd factors permute the codes. */
        law->code[a] = ((uint64_t)a * 0x9e3779b1 + 0x55) & last;
        law->share[a] = pow((double)a + 1, -1.1);
        all += law->share[a];
    }
    for (size_t a = 0; a < law->atoms; a++)
        law->share[a] /= all;
}

static inline double found_truth(const struct coverage_law *law,
                                 const double *shares, uint64_t code)
{
    for (size_t a = 0; a < law->atoms; a++)
        if (law->code[a] == code)
            return shares[a];
    return 0;
}

/* The normal quantile that `selected` of `of` intervals need [BY05, Thm 1]. */
static inline double found_z(double selected, double of)
{
    const double miss = (1 - COVERAGE_LEVEL) * selected / of;

    return -hsy_normal_quantile(miss / 2);
}

/* A string that was shown; z is what its width is held against. */
static inline void found_pick(struct coverage_selected *s,
                              const struct coverage_law *law,
                              const double *shares, uint64_t code,
                              const hsy_estimate *est, double z)
{
    const double truth = found_truth(law, shares, code);
    hsy_estimate scaled = *est;

    coverage_pick(s, est, truth);
    if (code != law->code[0])
        return;
    /* As wide as it would be at 95 %. */
    scaled.low = est->value - (est->high - est->low) / 2 * COVERAGE_Z / z;
    scaled.high = est->value + (est->high - est->low) / 2 * COVERAGE_Z / z;
    coverage_see(&s->first, &scaled, truth);
}

/* ---- Searches ------------------------------------------------------------ */

struct found_run {
    struct stat_run run;
    struct coverage_law law;
    uint64_t *codes;
    double held[COVERAGE_ATOMS];
    struct coverage_selected picked[2];
    struct coverage_value rest[2]; /* what is not among them */
};

/* What is shown by default, the K largest whatever they are, or what is left
 * beside the default. */
enum found_variant { FOUND_SIGNIFICANT, FOUND_TOP, FOUND_REST };

static inline hsy_spec found_spec(const struct coverage_cell *c)
{
    const char *mechanism = c->kind->mechanism;
    hsy_spec spec = trial_values(mechanism, 0, c->epsilon);

    spec.kind = HSY_KIND_STRINGS;
    spec.param[HSY_PARAM_BITS] = c->kind->number;
    if (strcmp(mechanism, "pem") == 0) {
        /* Two groups; fewer functions than candidates would be a bias. */
        trial_steps(&spec, 4);
        spec.param[HSY_PARAM_POOL_BITS] = 10;
    }
    if (strcmp(mechanism, "stage") == 0)
        trial_steps(&spec, c->kind->number);
    if (strcmp(mechanism, "sfp") == 0) {
        spec.param[HSY_PARAM_PIECE_BITS] = 4; /* 2^12 pairs, not 2^16 */
        spec.param[HSY_PARAM_FRAGMENT_BITS] = 8;
        spec.param[HSY_PARAM_HASHES] = 64;
        spec.param[HSY_PARAM_WIDTH] = 64;
    }
    return spec;
}

static inline void found_open(struct found_run *f,
                              const struct coverage_cell *c,
                              const hsy_spec *spec, uint32_t bits)
{
    memset(f, 0, sizeof *f);
    f->run.s = trial_scheme(spec);
    stat_run_room(&f->run);
    found_law(&f->law, bits);
    f->codes = stat_alloc(c->n * sizeof *f->codes);
}

static inline void found_close(struct found_run *f)
{
    stat_run_close(&f->run);
    free(f->codes);
}

static inline bool found_collect(struct found_run *f,
                                 const struct coverage_cell *c, uint64_t run)
{
    struct stat_coins coins;
    bool good = true;

    coverage_draw(f->codes, f->held, &f->law, c->n, coverage_lane(c, run, 0));
    stat_coins_open(&coins, coverage_lane(c, run, 0));
    hsy_tally_init(&f->run.tally, f->run.s, f->run.memory);
    for (size_t done = 0; done < c->n && good; done += STAT_BLOCK) {
        const size_t m = c->n - done < STAT_BLOCK ? c->n - done : STAT_BLOCK;

        good = stat_randomize(f->run.s, &f->run.info, STAT_SIMULATE,
                              f->run.reports, f->codes + done, m,
                              &coins) == HSY_OK &&
               hsy_tally_batch(&f->run.tally, f->run.s, f->run.reports, m,
                               NULL) == HSY_OK;
    }
    return good;
}

static inline bool found_search(struct found_run *f,
                                const struct coverage_cell *c,
                                hsy_target target, hsy_error *err)
{
    const hsy_analysis_tally view = {
        .scheme = f->run.s, .info = &f->run.info, .tally = &f->run.tally};
    const bool top = c->kind->variant == FOUND_TOP;
    const struct analysis_wanted wanted = {
        .search = {.size = sizeof wanted.search},
        .significant = !top,
        .how = {COVERAGE_LEVEL, target, HSY_INTERVAL_AUTO, 1},
        .all = top};
    const double *shares = target == HSY_PEOPLE ? f->held : f->law.share;
    struct coverage_selected *picked = &f->picked[target];
    struct analysis_search found;
    double left = 1;

    if (analysis_search(&found, &view, &wanted, err) != HSY_OK)
        return false;
    for (size_t i = 0; i < found.count; i++) {
        const uint64_t code = found.rows[i].found.code[0];

        found_pick(picked, &f->law, shares, code, &found.rows[i].est,
                   found_z((double)found.count, (double)found.candidates));
        left -= found_truth(&f->law, shares, code);
    }
    coverage_picked(picked);
    coverage_see(&f->rest[target], &found.rest, left);
    analysis_search_clear(&found);
    return true;
}

/* What was selected, or what was not. */
static inline void found_judge(struct coverage_cell *c,
                               const struct found_run *f)
{
    for (int t = HSY_PEOPLE; t <= HSY_POPULATION; t++)
        if (c->kind->variant == FOUND_REST)
            coverage_judge(c, (hsy_target)t, &f->rest[t], 1);
        else
            coverage_judge_selected(c, (hsy_target)t, &f->picked[t]);
}

/* Another pool of hash functions: how they collide is part of the error that
 * is stated, and not the same luck in every run. */
static inline void found_renew(struct found_run *f, hsy_spec *spec,
                               uint64_t run)
{
    if (spec->param[HSY_PARAM_POOL_BITS] == 0)
        return;
    spec->param[HSY_PARAM_POOL_SEED] = run + 1;
    free(f->run.s);
    f->run.s = trial_scheme(spec);
    hsy_scheme_describe(f->run.s, &f->run.info);
}

/* number: bits of a string. */
static inline void coverage_found(struct coverage_cell *c)
{
    hsy_spec spec = found_spec(c);
    hsy_error err = {0};
    struct found_run f;
    bool good = true;

    found_open(&f, c, &spec, c->kind->number);
    for (uint64_t run = 0; run < c->runs && good; run++) {
        found_renew(&f, &spec, run);
        good = found_collect(&f, c, run) &&
               found_search(&f, c, HSY_PEOPLE, &err) &&
               found_search(&f, c, HSY_POPULATION, &err);
    }
    if (coverage_went(c, good, &err))
        found_judge(c, &f);
    found_close(&f);
}

/* ---- RAPPOR -------------------------------------------------------------- */

/* The estimate that an interval belongs to is the unbiased one. */
static inline bool found_decode(struct found_run *f, uint64_t run,
                                hsy_target target, hsy_error *err)
{
    const hsy_analysis_tally view = {
        .scheme = f->run.s, .info = &f->run.info, .tally = &f->run.tally};
    const hsy_rappor_options how = {.size = sizeof how,
                                    .level = COVERAGE_LEVEL,
                                    .target = target,
                                    .seed = run};
    const double *shares = target == HSY_PEOPLE ? f->held : f->law.share;
    struct coverage_selected *picked = &f->picked[target];
    hsy_rappor_share *made = NULL;
    hsy_rappor_summary summary;
    struct analysis_rappor r;
    double left = 1;
    bool good =
        analysis_rappor_open(&r, &view, NULL, f->run.info.d, err) == HSY_OK &&
        analysis_rappor_decode(&made, &summary, &r.data, &how, err) == HSY_OK;

    for (size_t i = 0; i < f->run.info.d && good; i++)
        if (made[i].detected) {
            hsy_estimate est = made[i].est;

            est.value = made[i].unbiased;
            found_pick(picked, &f->law, shares, i, &est,
                       found_z((double)summary.detected, f->run.info.d));
            left -= found_truth(&f->law, shares, i);
        }
    coverage_picked(picked);
    coverage_see(&f->rest[target], &summary.rest, left);
    free(made);
    analysis_rappor_clear(&r);
    return good;
}

static inline void coverage_rappor(struct coverage_cell *c)
{
    const hsy_spec spec =
        trial_values("rappor", FOUND_STRINGS + FOUND_BOGUS, c->epsilon);
    hsy_error err = {0};
    struct found_run f;
    bool good = true;

    found_open(&f, c, &spec, 16);
    for (size_t a = 0; a < f.law.atoms; a++)
        f.law.code[a] = a;
    for (uint64_t run = 0; run < c->runs && good; run++)
        good = found_collect(&f, c, run) &&
               found_decode(&f, run, HSY_PEOPLE, &err) &&
               found_decode(&f, run, HSY_POPULATION, &err);
    if (coverage_went(c, good, &err))
        found_judge(c, &f);
    found_close(&f);
}

/* ---- The largest of a list ----------------------------------------------- */

#define FOUND_LARGEST 5u

static inline bool found_largest(struct poll *p, struct coverage_selected *out,
                                 const hsy_evidence *points, hsy_target target,
                                 hsy_error *err)
{
    const double *shares = target == HSY_PEOPLE ? p->held : p->laws->share;
    hsy_analysis_row rows[16];
    size_t count = p->run.npoints;
    const hsy_confidence how = {
        analysis_level(&p->run.info, COVERAGE_LEVEL, FOUND_LARGEST, count),
        target, HSY_INTERVAL_AUTO, 1};

    for (size_t v = 0; v < count; v++) {
        const struct analysis_known own = {.point = &points[v]};

        if (analysis_row(&rows[v], NULL, &p->run.info, &own, NULL, &how, err) !=
            HSY_OK)
            return false;
        rows[v].place = (uint32_t)v;
    }
    analysis_top(rows, &count, FOUND_LARGEST, false);
    for (size_t i = 0; i < count; i++)
        found_pick(out, p->laws, shares, rows[i].place, &rows[i].est,
                   found_z((double)count, (double)p->run.npoints));
    coverage_picked(out);
    return true;
}

static inline void coverage_top(struct coverage_cell *c)
{
    struct coverage_selected picked[2] = {0};
    hsy_error err = {0};
    struct poll p;
    bool good = true;

    poll_open(&p, c);
    for (uint64_t run = 0; run < c->runs && good; run++) {
        hsy_evidence *points = NULL;

        good = poll_collect(&p, &points, p.laws, c->n, coverage_lane(c, run, 0),
                            &err) &&
               found_largest(&p, &picked[0], points, HSY_PEOPLE, &err) &&
               found_largest(&p, &picked[1], points, HSY_POPULATION, &err);
        free(points);
    }
    if (coverage_went(c, good, &err)) {
        coverage_judge_selected(c, HSY_PEOPLE, &picked[0]);
        coverage_judge_selected(c, HSY_POPULATION, &picked[1]);
    }
    poll_close(&p);
}

#endif
