/* facts.c - what follows from a plan beside its four numbers. */
#include "host/plan/internal.h"

#include <math.h>
#include <stdlib.h>

/* What one person changes in a curator's counts: of a histogram one by 1 up
 * and another by 1 down; of a sum all steps that the range is cut into. */
#define FACTS_STEPS 1048576.0

static double facts_sensitivity(const hsy_scheme_info *info)
{
    if (info->kind == HSY_KIND_NUMBER)
        return FACTS_STEPS;
    return info->kind == HSY_KIND_VALUES || info->kind == HSY_KIND_BINS ? 2 : 1;
}

/* n times the variance, the mean of all shares. */
static double facts_variance(const hsy_scheme_info *info)
{
    return info->d < 2 ? info->v0 : info->v0 + (info->v1 - info->v0) / info->d;
}

/* The least of what mechanisms with a formula make of a mean in this range;
 * one that refuses the range has none. */
static hsy_status facts_limit_mean(double *limit, const hsy_scheme_info *info,
                                   enum plan_why *why, hsy_error *err)
{
    hsy_spec spec = {.size = sizeof spec,
                     .kind = HSY_KIND_NUMBER,
                     .lo = info->lo,
                     .hi = info->hi,
                     .scale = info->scale};
    const hsy_catalogue *row;

    *limit = info->v0;
    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++) {
        hsy_scheme *s;
        hsy_scheme_info own;
        hsy_status st;

        if ((row->kinds >> HSY_KIND_NUMBER & 1) == 0 ||
            row->analysis != HSY_ANALYSIS_POINTS)
            continue;
        spec.mechanism = row->name;
        st = plan_scheme(&s, &spec, info->nano_epsilon, why, err);
        if (st == HSY_E_NOMEM)
            return st;
        if (st != HSY_OK)
            continue;
        hsy_scheme_describe(s, &own);
        free(s);
        *limit = fmin(*limit, own.v0);
    }
    *why = 0;
    return HSY_OK;
}

/* n times the least variance that is known, in units of the share or range. */
static hsy_status facts_limit(double *limit, const hsy_scheme_info *info,
                              enum plan_why *why, hsy_error *err)
{
    if (info->kind == HSY_KIND_NUMBER)
        return facts_limit_mean(limit, info, why, err);
    *limit = info->d != 0 ? hsy_best_known_variance(info->d, info->epsilon) : 0;
    return HSY_OK;
}

/* The noise of several curators, each with people of its own, is a sum of
 * independent ones: nearly normal. Every curator has somebody. */
static hsy_status facts_curators(struct plan *p, const struct plan_question *q,
                                 double beta, hsy_error *err)
{
    const double k = (double)q->curators, n = p->number[PLAN_N];
    struct plan_facts *f = &p->facts;

    if (k > n)
        return plan_fail(&p->why, PLAN_WHY_CURATORS, err, HSY_E_RANGE,
                         "no more curators than people");
    f->curators_sd = sqrt(k) * f->central_sd;
    f->curators_n = fmax(ceil(hsy_normal_quantile(1 - beta / 2) *
                              f->curators_sd * n / p->number[PLAN_ALPHA]),
                         k);
    return HSY_OK;
}

hsy_status plan_facts(struct plan *p, const struct plan_question *q,
                      hsy_error *err)
{
    const hsy_scheme_info *info = &p->at.info;
    const double n = p->number[PLAN_N], unit = p->at.unit;
    const double epsilon = info->epsilon, wide = facts_sensitivity(info);
    const double beta = p->number[PLAN_BETA] / fmax(p->at.accuracy.at_once, 1);
    const double r = exp(-epsilon / wide);
    const double step = info->kind == HSY_KIND_NUMBER ? unit / FACTS_STEPS : 1;
    struct plan_facts *f = &p->facts;
    double limit = 0;
    hsy_status st = facts_limit(&limit, info, &p->why, err);

    if (st != HSY_OK)
        return st;
    f->discovery = p->at.nstages != 0;
    f->shares = !f->discovery && info->kind != HSY_KIND_NUMBER;
    f->local_sd = unit * sqrt(facts_variance(info) / n);
    f->stderr_0 = unit * sqrt(info->v0 / n);
    f->central_sd = step * sqrt(2 * r) / (1 - r) / n;
    f->limit_sd = unit * sqrt(limit / n);
    f->error = f->local_sd * sqrt(2 / acos(-1.0));
    f->largest = f->local_sd * hsy_normal_largest(info->d != 0 ? info->d : 1);
    f->central_n =
        hsy_central_users(epsilon, wide, p->number[PLAN_ALPHA] / step, beta);
    f->central_alpha = step * hsy_central_alpha(epsilon, wide, n, beta);
    st = facts_curators(p, q, beta, err);
    if (st != HSY_OK)
        return st;
    f->posterior = plan_posterior(q->prior, epsilon);
    f->posterior_answers =
        plan_posterior(q->prior, epsilon * (double)q->answers);
    return HSY_OK;
}

const char *plan_searcher(void)
{
    size_t i = 0;

    while (hsy_mechanism_at(i)->analysis != HSY_ANALYSIS_SEARCH)
        i++;
    return hsy_mechanism_at(i)->name;
}

double plan_posterior(double prior, double epsilon)
{
    return prior / (prior + (1 - prior) * exp(-epsilon));
}
