/*
 * coverage_survey.h - intervals of `hearsay survey`. People asked are a sample:
 * the target is the population alone.
 */
#ifndef COVERAGE_SURVEY_H
#define COVERAGE_SURVEY_H

#include "coverage.h"

#define SURVEY_SHARES 3u
#define SURVEY_STATES 4u

static const double survey_shares[SURVEY_SHARES] = {0.05, 0.3, 0.6};
static const double survey_states[SURVEY_STATES] = {0.5, 0.3, 0.15, 0.05};

/* variant: which of the four. */
enum survey_which {
    SURVEY_WALD,
    SURVEY_WILSON,
    SURVEY_LIKELIHOOD,
    SURVEY_EXACT
};

static inline void survey_see(struct coverage_value *v,
                              const hsy_survey_result *r, uint32_t which,
                              double truth)
{
    const double *const ends[] = {r->wald, r->wilson, r->likelihood, r->exact};
    const hsy_estimate est = {r->value, r->sd, ends[which][0], ends[which][1]};

    coverage_see(v, &est, truth);
}

/* ---- One sample ---------------------------------------------------------- */

static inline bool survey_run(const struct coverage_cell *c,
                              struct coverage_value *values, uint64_t run,
                              hsy_error *err)
{
    const double chance[2] = {c->epsilon, 0};
    hsy_survey design;
    hsy_stream st;

    hsy_stream_seed(&st, stat_seed(), coverage_lane(c, run, 0));
    if (hsy_survey_init(&design, HSY_SURVEY_EPSILON, chance, err) != HSY_OK)
        return false;
    for (size_t k = 0; k < SURVEY_SHARES; k++) {
        const double rate = hsy_survey_rate(&design, survey_shares[k]);
        const uint64_t yes = hsy_binomial_draw(c->n, rate, &st);
        hsy_survey_result r;
        hsy_evidence point;

        values[k].few = (double)c->n * fmin(rate, 1 - rate) < COVERAGE_FEW;
        if (hsy_survey_point(&design, &point, (double)yes, (double)c->n, err) !=
                HSY_OK ||
            hsy_survey_estimate(&r, &point, COVERAGE_LEVEL, err) != HSY_OK)
            return false;
        survey_see(&values[k], &r, c->kind->variant, survey_shares[k]);
    }
    return true;
}

static inline void coverage_survey(struct coverage_cell *c)
{
    struct coverage_value values[SURVEY_SHARES] = {0};
    hsy_error err = {0};
    bool good = true;

    for (uint64_t run = 0; run < c->runs && good; run++)
        good = survey_run(c, values, run, &err);
    if (coverage_went(c, good, &err))
        coverage_judge(c, HSY_POPULATION, values, SURVEY_SHARES);
}

/* ---- Two samples, with an innocuous question of unknown rate ------------- */

static inline bool survey_run_pair(const struct coverage_cell *c,
                                   struct coverage_value *values, uint64_t run,
                                   hsy_error *err)
{
    const double chance[2] = {0.75, 0.25}, other = 0.4;
    hsy_stream st;

    hsy_stream_seed(&st, stat_seed(), coverage_lane(c, run, 0));
    for (size_t k = 0; k < SURVEY_SHARES; k++) {
        hsy_survey_pair s = {.chance = {chance[0], chance[1]},
                             .n = {(double)c->n, (double)c->n}};
        hsy_survey_result r;

        for (size_t i = 0; i < 2; i++)
            s.yes[i] = (double)hsy_binomial_draw(
                c->n, chance[i] * survey_shares[k] + (1 - chance[i]) * other,
                &st);
        if (hsy_survey_pair_estimate(&s, &r, COVERAGE_LEVEL, err) != HSY_OK)
            return false;
        survey_see(&values[k], &r, c->kind->variant, survey_shares[k]);
    }
    return true;
}

static inline void coverage_survey_pair(struct coverage_cell *c)
{
    struct coverage_value values[SURVEY_SHARES] = {0};
    hsy_error err = {0};
    bool good = true;

    for (uint64_t run = 0; run < c->runs && good; run++)
        good = survey_run_pair(c, values, run, &err);
    if (coverage_went(c, good, &err))
        coverage_judge(c, HSY_POPULATION, values, SURVEY_SHARES);
}

/* ---- Several states ------------------------------------------------------ */

/* The truth with a chance of e^epsilon to 1 for each other state. */
static inline void survey_channel(double *h, double epsilon)
{
    const double all = exp(epsilon) + SURVEY_STATES - 1;

    for (size_t y = 0; y < SURVEY_STATES; y++)
        for (size_t x = 0; x < SURVEY_STATES; x++)
            h[y * SURVEY_STATES + x] = (x == y ? exp(epsilon) : 1) / all;
}

/* As host/survey/matrix_shares.c has it: cut to [0, 1]. */
static inline void survey_state(struct coverage_value *v,
                                const hsy_survey_shares *s, size_t i)
{
    const double sd = sqrt(s->covariance[i * SURVEY_STATES + i]);
    const double reach = COVERAGE_Z * sd;
    const hsy_estimate est = {s->share[i], sd,
                              fmin(fmax(s->share[i] - reach, 0), 1),
                              fmin(fmax(s->share[i] + reach, 0), 1)};

    coverage_see(v, &est, survey_states[i]);
}

static inline bool survey_run_states(const struct coverage_cell *c,
                                     struct coverage_value *values,
                                     uint64_t run, hsy_error *err)
{
    double h[SURVEY_STATES * SURVEY_STATES], counts[SURVEY_STATES], rest = 1;
    uint64_t left = c->n;
    hsy_survey_shares s;
    hsy_stream st;

    hsy_stream_seed(&st, stat_seed(), coverage_lane(c, run, 0));
    survey_channel(h, c->epsilon);
    for (size_t y = 0; y < SURVEY_STATES; y++) {
        double rate = 0;
        uint64_t k;

        for (size_t x = 0; x < SURVEY_STATES; x++)
            rate += h[y * SURVEY_STATES + x] * survey_states[x];
        k = y + 1 == SURVEY_STATES ? left
                                   : hsy_binomial_draw(left, rate / rest, &st);
        counts[y] = (double)k;
        left -= k;
        rest -= rate;
        values[y].few = (double)c->n * rate < COVERAGE_FEW;
    }
    if (hsy_survey_states(&s, h, counts, SURVEY_STATES, err) != HSY_OK)
        return false;
    for (size_t i = 0; i < SURVEY_STATES; i++)
        survey_state(&values[i], &s, i);
    return true;
}

static inline void coverage_survey_states(struct coverage_cell *c)
{
    struct coverage_value values[SURVEY_STATES] = {0};
    hsy_error err = {0};
    bool good = true;

    for (uint64_t run = 0; run < c->runs && good; run++)
        good = survey_run_states(c, values, run, &err);
    if (coverage_went(c, good, &err))
        coverage_judge(c, HSY_POPULATION, values, SURVEY_STATES);
}

#endif
