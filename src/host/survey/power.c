/* power.c - how many people a survey needs. */
#include "host/survey/survey.h"

#include "host/base/host_fail.h"

#include <math.h>

/* The share whose rate of yes is nearest to 1/2: it takes the most people. */
static double power_worst(const hsy_survey *s)
{
    return fmin(fmax((0.5 - s->q) / hsy_survey_gap(s), 0), 1);
}

static hsy_status power_of(double *n, const struct survey_aim *aim,
                           const hsy_survey *s, hsy_error *err)
{
    if (isnan(aim->margin))
        return hsy_survey_need_groups(
            s, n, (double[]){aim->shares[0], aim->shares[1]}, aim->level,
            aim->power, err);
    return hsy_survey_need(s, n,
                           isnan(aim->share) ? power_worst(s) : aim->share,
                           aim->margin, aim->level, err);
}

static hsy_status power_one(struct survey_needs *w,
                            const struct survey_design *d,
                            const struct survey_aim *aim, hsy_error *err)
{
    const hsy_survey direct = {.p = 1, .not_q = 1};
    const double epsilon[2] = {d->epsilon, 0};
    hsy_survey best;
    hsy_status st = power_of(&w->n, aim, &d->channel, err);

    w->share = isnan(aim->share) ? power_worst(&d->channel) : aim->share;
    w->best = NAN;
    if (st == HSY_OK)
        st = power_of(&w->direct, aim, &direct, err);
    /* Beyond epsilon 32 asking directly is as good. */
    if (st == HSY_OK &&
        hsy_survey_init(&best, HSY_SURVEY_EPSILON, epsilon, NULL) == HSY_OK)
        st = power_of(&w->best, aim, &best, err);
    return st;
}

static hsy_status power_pair(struct survey_needs *w,
                             const struct survey_design *d,
                             const struct survey_aim *aim, hsy_error *err)
{
    hsy_status st;

    if (isnan(aim->margin) || isnan(aim->share) || isnan(aim->innocuous))
        return host_fail(err, HSY_E_EMPTY, HSY_FIELD_NONE,
                         "what is expected of either question is missing");
    st = hsy_survey_pair_need(w->samples, d->chance,
                              (double[]){aim->share, aim->innocuous},
                              aim->margin, aim->level, err);
    w->share = aim->share;
    w->n = w->samples[0] + w->samples[1];
    w->best = w->direct = NAN;
    return st;
}

hsy_status survey_needs_find(struct survey_needs *out,
                             const struct survey_design *design,
                             const struct survey_aim *aim, hsy_error *err)
{
    struct survey_needs w = {.groups = isnan(aim->margin)};
    const hsy_status st = design->kind->pair ? power_pair(&w, design, aim, err)
                                             : power_one(&w, design, aim, err);

    if (st == HSY_OK)
        *out = w;
    return st;
}
