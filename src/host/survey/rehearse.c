/*
 * rehearse.c - the survey before the survey.
 *
 * Answers of made-up people whose share is known, again and again: how far
 * estimates spread, and how often each interval holds. One sample's coverage is
 * also summed over its binomial law, which takes no luck.
 */
#include "host/survey/survey.h"

#include <math.h>

#define REHEARSE_EXACT_MAX 1000000u /* people whose law is summed */

static const struct {
    hsy_interval interval;
    const char *name;
} rehearse_kinds[SURVEY_INTERVALS] = {{HSY_WALD, "wald"},
                                      {HSY_WILSON, "wilson"},
                                      {HSY_LIKELIHOOD, "likelihood"},
                                      {HSY_EXACT, "exact"}};

struct rehearse {
    const struct survey_design *design;
    const struct survey_rehearsal_how *how;
    double rates[2];
    double sum, squares, outside;
    double held[SURVEY_INTERVALS], width[SURVEY_INTERVALS];
    double counted[SURVEY_INTERVALS];
};

/* ---- Runs ---------------------------------------------------------------- */

static hsy_status rehearse_answer(hsy_survey_result *r,
                                  const struct rehearse *a, hsy_stream *st,
                                  hsy_error *err)
{
    const struct survey_design *d = a->design;
    const uint64_t *n = a->how->n;
    const double yes[2] = {
        (double)hsy_binomial_draw(n[0], a->rates[0], st),
        d->kind->pair ? (double)hsy_binomial_draw(n[1], a->rates[1], st) : 0};
    const hsy_survey_pair pair = {{d->chance[0], d->chance[1]},
                                  {yes[0], yes[1]},
                                  {(double)n[0], (double)n[1]}};
    hsy_evidence point;
    hsy_status status;

    if (d->kind->pair)
        return hsy_survey_pair_estimate(&pair, r, a->how->level, err);
    status = hsy_survey_point(&d->channel, &point, yes[0], pair.n[0], err);
    return status == HSY_OK ? hsy_survey_estimate(r, &point, a->how->level, err)
                            : status;
}

static void rehearse_count(struct rehearse *a, const hsy_survey_result *r)
{
    const double *const ends[SURVEY_INTERVALS] = {r->wald, r->wilson,
                                                  r->likelihood, r->exact};
    const double share = a->how->share, off = r->value - share;

    a->sum += off;
    a->squares += off * off;
    a->outside += r->value < 0 || r->value > 1;
    for (size_t k = 0; k < SURVEY_INTERVALS; k++) {
        if (isnan(ends[k][0]))
            continue;
        a->counted[k]++;
        a->held[k] +=
            ends[k][0] <= share + 1e-12 && share <= ends[k][1] + 1e-12;
        a->width[k] += ends[k][1] - ends[k][0];
    }
}

static hsy_status rehearse_runs(struct rehearse *a, hsy_error *err)
{
    const struct survey_rehearsal_how *how = a->how;
    hsy_status status = HSY_OK;

    for (uint64_t i = 0; i < how->runs && status == HSY_OK; i++) {
        hsy_survey_result r;
        hsy_stream st;

        hsy_stream_seed(&st, how->seed, i);
        status = rehearse_answer(&r, a, &st, err);
        if (status == HSY_OK)
            rehearse_count(a, &r);
        hsy_stream_clear(&st);
        if (how->tick != NULL)
            how->tick(how->ctx, i + 1);
    }
    return status;
}

/* ---- What to expect ------------------------------------------------------ */

static double rehearse_predict(struct rehearse *a)
{
    const struct survey_design *d = a->design;
    const bool pair = d->kind->pair;
    const double gap =
        pair ? d->chance[0] - d->chance[1] : hsy_survey_gap(&d->channel);
    double variance = 0;

    for (size_t i = 0; i < (pair ? 2 : 1); i++) {
        const double c = pair ? (1 - d->chance[1 - i]) / gap : 1 / gap;

        a->rates[i] = pair ? d->chance[i] * a->how->share +
                                 (1 - d->chance[i]) * a->how->innocuous
                           : hsy_survey_rate(&d->channel, a->how->share);
        variance +=
            c * c * a->rates[i] * (1 - a->rates[i]) / (double)a->how->n[i];
    }
    return sqrt(variance);
}

static double rehearse_law(const struct rehearse *a, hsy_interval interval)
{
    double law = NAN;

    if (!a->design->kind->pair && a->how->n[0] <= REHEARSE_EXACT_MAX)
        (void)hsy_survey_coverage(
            &a->design->channel, &law, a->how->n[0], a->how->share,
            &(hsy_confidence){.interval = interval, .level = a->how->level},
            NULL);
    return law;
}

static void rehearse_sum_up(struct survey_rehearsal *out,
                            const struct rehearse *a)
{
    const double runs = (double)a->how->runs, mean = a->sum / runs;

    out->mean = a->how->share + a->sum / runs;
    out->sd = a->how->runs > 1
                  ? sqrt(fmax(a->squares - runs * mean * mean, 0) / (runs - 1))
                  : NAN;
    out->outside = a->outside / runs;
    for (size_t k = 0; k < SURVEY_INTERVALS; k++) {
        const double n = a->counted[k];

        out->held[k] = (struct survey_held){
            .name = rehearse_kinds[k].name,
            .coverage = n > 0 ? a->held[k] / n : NAN,
            .width = n > 0 ? a->width[k] / n : NAN,
            .law = rehearse_law(a, rehearse_kinds[k].interval)};
    }
}

hsy_status survey_rehearse(struct survey_rehearsal *out,
                           const struct survey_design *design,
                           const struct survey_rehearsal_how *how,
                           hsy_error *err)
{
    struct rehearse a = {.design = design, .how = how};
    const double predicted = rehearse_predict(&a);
    const hsy_status st = rehearse_runs(&a, err);

    if (st != HSY_OK)
        return st;
    out->predicted = predicted;
    rehearse_sum_up(out, &a);
    return HSY_OK;
}
