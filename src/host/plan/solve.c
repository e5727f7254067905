/*
 * solve.c - of people, error, its chance and epsilon, the missing one.
 *
 * People, error and chance follow from each other in the library. Epsilon is
 * found by halving: more of it never makes the best error larger.
 */
#include "host/plan/internal.h"

#include "host/base/owned.h"

#include "host/analysis/analysis.h"

#include <math.h>
#include <stdlib.h>

/* ---- The question at an epsilon ------------------------------------------ */

hsy_status plan_scheme(hsy_scheme **out, const hsy_spec *spec,
                       uint64_t nano_epsilon, enum plan_why *why,
                       hsy_error *err)
{
    hsy_spec own = *spec;
    hsy_status st;

    own.nano_epsilon = nano_epsilon;
    st = scheme_open(out, &own, err);
    if (st != HSY_OK)
        *why = st == HSY_E_NOMEM ? PLAN_WHY_MEMORY : PLAN_WHY_SPEC;
    return st;
}

/* Shares of a list are small unless something else is said; of two values the
 * hardest share is meant. */
static double case_share(const struct plan_question *q,
                         const hsy_scheme_info *info)
{
    if (!isnan(q->share))
        return q->share;
    return info->kind == HSY_KIND_YES_NO ? -1 : 0;
}

static hsy_status case_fill(struct plan_case *c, const struct plan_question *q,
                            const hsy_scheme *s, enum plan_why *why,
                            hsy_error *err)
{
    hsy_status st;

    *c = (struct plan_case){0};
    hsy_scheme_describe(s, &c->info);
    if (c->info.central)
        return plan_fail(why, PLAN_WHY_CURATOR, err, HSY_E_UNKNOWN,
                         "a curator's release, not a report");
    c->unit = analysis_unit(&c->info);
    if (c->info.kind == HSY_KIND_STRINGS)
        st = hsy_search_plan(s, c->stages, &c->nstages, &q->search, err);
    else
        st = hsy_accuracy_of(s, &c->accuracy, case_share(q, &c->info),
                             q->all ? c->info.d : 1, err);
    if (st != HSY_OK)
        *why = PLAN_WHY_LAW;
    return st;
}

static hsy_status case_at(struct plan_case *c, const struct plan_question *q,
                          uint64_t nano_epsilon, enum plan_why *why,
                          hsy_error *err)
{
    hsy_scheme *s;
    hsy_status st = plan_scheme(&s, &q->spec, nano_epsilon, why, err);

    if (st != HSY_OK)
        return st;
    st = case_fill(c, q, s, why, err);
    free(s);
    return st;
}

/* ---- Three numbers from each other --------------------------------------- */

/* A discovery knows the normal bound alone: shares that pass every stage but
 * for a chance of beta. Groups are of one size. */
static bool case_has(const struct plan_case *c, hsy_bound bound)
{
    return c->nstages != 0 ? bound == HSY_BOUND_NORMAL
                           : hsy_accuracy_has(&c->accuracy, bound);
}

static double case_alpha(const struct plan_case *c, hsy_bound bound, double n,
                         double beta)
{
    double most = 0;

    if (c->nstages == 0)
        return c->unit * hsy_accuracy_alpha(&c->accuracy, bound, n, beta);
    for (size_t i = 0; i < c->nstages; i++)
        most = fmax(
            most, hsy_stage_share(&c->stages[i], n / (double)c->nstages, beta));
    return most;
}

static double case_users(const struct plan_case *c, hsy_bound bound,
                         double alpha, double beta)
{
    double most = 0;

    if (c->nstages == 0)
        return hsy_accuracy_users(&c->accuracy, bound, alpha / c->unit, beta);
    for (size_t i = 0; i < c->nstages; i++)
        most = fmax(most, hsy_stage_users(&c->stages[i], alpha, beta));
    return most * (double)c->nstages;
}

/* The chance that a stage misses a string: by bisection over its quantile. */
static double case_miss(const hsy_stage *stage, double reports, double share)
{
    double low = -37, high = 8; /* where it is neither 0 nor 1 */

    for (int i = 0; i < 60; i++) {
        const double z = (low + high) / 2;

        if (hsy_stage_share(stage, reports, hsy_normal_cdf(z)) > share)
            low = z;
        else
            high = z;
    }
    return hsy_normal_cdf(high);
}

static double case_beta(const struct plan_case *c, hsy_bound bound, double n,
                        double alpha)
{
    double most = 0;

    if (c->nstages == 0)
        return hsy_accuracy_beta(&c->accuracy, bound, n, alpha / c->unit);
    for (size_t i = 0; i < c->nstages; i++)
        most =
            fmax(most, case_miss(&c->stages[i], n / (double)c->nstages, alpha));
    return most;
}

/* ---- Epsilon ------------------------------------------------------------- */

/* The least epsilon that is enough, in nano; 0 if none is. */
static hsy_status solve_epsilon(uint64_t *nano, struct plan *p,
                                const struct plan_question *q, hsy_bound bound,
                                hsy_error *err)
{
    const double *given = q->given;
    uint64_t low = HSY_EPSILON_MIN - 1, high = HSY_EPSILON_MAX + 1;

    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        hsy_status st = case_at(&p->at, q, middle, &p->why, err);

        if (st != HSY_OK)
            return st;
        if (case_has(&p->at, bound) &&
            case_alpha(&p->at, bound, given[PLAN_N], given[PLAN_BETA]) <=
                given[PLAN_ALPHA])
            high = middle;
        else
            low = middle;
    }
    *nano = high <= HSY_EPSILON_MAX ? high : 0;
    return HSY_OK;
}

/* Which bounds there are is the same at every epsilon for a fixed mechanism;
 * where it is chosen they are those of what is chosen in the end. */
static hsy_status
solve_for_epsilon(struct plan *p, const struct plan_question *q, hsy_error *err)
{
    uint64_t best = 0;

    for (unsigned b = 0; b < HSY_BOUNDS; b++) {
        uint64_t nano = 0;
        hsy_status st = solve_epsilon(&nano, p, q, (hsy_bound)b, err);

        if (st != HSY_OK)
            return st;
        p->there[b] = nano != 0;
        p->found[b] = (double)nano / HSY_NANO;
        best = best == 0 ? nano : best;
    }
    if (best == 0)
        return plan_fail(&p->why, PLAN_WHY_EPSILON, err, HSY_E_RANGE,
                         "no epsilon up to 32 is enough");
    return case_at(&p->at, q, best, &p->why, err);
}

/* ---- All of it ----------------------------------------------------------- */

static double solve_one(const struct plan *p, const struct plan_question *q,
                        hsy_bound bound)
{
    const double *given = q->given;

    switch (q->missing) {
    case PLAN_ALPHA:
        return case_alpha(&p->at, bound, given[PLAN_N], given[PLAN_BETA]);
    case PLAN_N:
        return case_users(&p->at, bound, given[PLAN_ALPHA], given[PLAN_BETA]);
    default:
        return case_beta(&p->at, bound, given[PLAN_N], given[PLAN_ALPHA]);
    }
}

/* The missing number by every bound that there is; people past what can be
 * counted are no answer. */
static void solve_bounds(struct plan *p, const struct plan_question *q)
{
    bool first = true;

    for (unsigned b = 0; b < HSY_BOUNDS; b++) {
        p->there[b] = case_has(&p->at, (hsy_bound)b);
        if (p->there[b])
            p->found[b] = solve_one(p, q, (hsy_bound)b);
        p->there[b] = p->there[b] && isfinite(p->found[b]);
        if (p->there[b] && first)
            p->number[q->missing] = p->found[b];
        first &= !p->there[b];
    }
}

hsy_status plan_solve(struct plan *out, const struct plan_question *q,
                      hsy_error *err)
{
    hsy_status st;

    *out = (struct plan){0};
    st = q->missing == PLAN_EPSILON
             ? solve_for_epsilon(out, q, err)
             : case_at(&out->at, q, q->spec.nano_epsilon, &out->why, err);
    if (st != HSY_OK)
        return st;
    for (unsigned k = 0; k < PLAN_NUMBERS; k++)
        out->number[k] = q->given[k];
    out->number[PLAN_EPSILON] = out->at.info.epsilon;
    if (q->missing != PLAN_EPSILON)
        solve_bounds(out, q);
    return plan_facts(out, q, err);
}

hsy_bound plan_bound(const struct plan *p)
{
    unsigned b = 0;

    while (b + 1 < HSY_BOUNDS && !p->there[b])
        b++;
    return (hsy_bound)b;
}

hsy_status plan_curve(struct plan_curve *out, const struct plan *p,
                      const struct plan_question *q, uint64_t nano_epsilon,
                      hsy_error *err)
{
    struct plan_case c;
    hsy_status st;

    *out = (struct plan_curve){0};
    st = case_at(&c, q, nano_epsilon, &out->why, err);
    if (st != HSY_OK)
        return st;
    out->epsilon = c.info.epsilon;
    for (size_t k = 0; k < PLAN_CURVE; k++) {
        out->people[k] = pow(10, 2 + (double)k / 4);
        out->alpha[k] = case_alpha(&c, plan_bound(p), floor(out->people[k]),
                                   p->number[PLAN_BETA]);
    }
    return HSY_OK;
}
