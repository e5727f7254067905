/*
 * solve.c - of people, error, its chance and epsilon, the missing one.
 *
 * People, error and chance follow from each other in the library. Epsilon is
 * found by halving: more of it never makes the best error larger.
 */
#include "cli/plan/internal.h"
#include "host/analysis/analysis.h"

#include <math.h>
#include <stdlib.h>

const char *const plan_number_names[] = {"alpha", "n", "beta", "epsilon", NULL};
const char *const plan_bound_names[] = {"hoeffding", "normal", "exact", NULL};

/* ---- The question at an epsilon ------------------------------------------ */

/* Shares of a list are small unless something else is said; of two values the
 * hardest share is meant. */
static double case_share(const struct plan *p, const hsy_info *info)
{
    if (p->options.has_share)
        return p->options.share;
    return info->kind == HSY_KIND_YES_NO ? -1 : 0;
}

static int case_fill(struct plan_case *c, const struct plan *p,
                     const hsy_scheme *s)
{
    hsy_error err = {0};
    double at_once = 1;
    hsy_status st;

    hsy_scheme_info(s, &c->info);
    c->unit = shares_unit(&c->info);
    if (c->info.kind == HSY_KIND_STRINGS) {
        st = hsy_search_plan(s, &p->options.search, c->stages, &c->nstages,
                             &err);
    } else {
        if (p->options.all)
            at_once = c->info.d;
        st = hsy_accuracy_of(&c->accuracy, s, case_share(p, &c->info), at_once,
                             &err);
    }
    return st == HSY_OK ? 0 : cli_fail_error("--mechanism", &err);
}

int plan_case(struct plan_case *c, const struct plan *p, uint64_t nano_epsilon)
{
    hsy_spec spec = p->spec.spec;
    hsy_scheme *s;
    int failed;

    spec.nano_epsilon = nano_epsilon;
    failed = cli_scheme_new(&s, &spec);
    if (failed)
        return failed;
    *c = (struct plan_case){0};
    failed = cli_scheme_reports(s);
    if (!failed)
        failed = case_fill(c, p, s);
    free(s);
    return failed;
}

/* ---- Three numbers from each other --------------------------------------- */

/* A discovery knows the normal bound alone: shares that pass every stage but
 * for a chance of beta. Groups are of one size. */
static bool case_has(const struct plan_case *c, hsy_bound bound)
{
    return c->nstages != 0 ? bound == HSY_BOUND_NORMAL
                           : hsy_accuracy_has(&c->accuracy, bound);
}

double plan_alpha(const struct plan_case *c, hsy_bound bound, double n,
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

static double case_beta(const struct plan_case *c, hsy_bound bound, double n,
                        double alpha)
{
    double most = 0;

    if (c->nstages == 0)
        return hsy_accuracy_beta(&c->accuracy, bound, n, alpha / c->unit);
    for (size_t i = 0; i < c->nstages; i++) {
        const double se = sqrt(c->stages[i].v0 * (double)c->nstages / n);

        most = fmax(most, hsy_normal_cdf(c->stages[i].z - alpha / se));
    }
    return most;
}

/* ---- Epsilon ------------------------------------------------------------- */

/* The least epsilon that is enough, in nano; 0 if none is. */
static int solve_epsilon(uint64_t *nano, const struct plan *p, hsy_bound bound)
{
    const double *given = p->options.given;
    uint64_t low = HSY_EPSILON_MIN - 1, high = HSY_EPSILON_MAX + 1;

    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        struct plan_case c;
        int failed = plan_case(&c, p, middle);

        if (failed)
            return failed;
        if (case_has(&c, bound) &&
            plan_alpha(&c, bound, given[PLAN_N], given[PLAN_BETA]) <=
                given[PLAN_ALPHA])
            high = middle;
        else
            low = middle;
    }
    *nano = high <= HSY_EPSILON_MAX ? high : 0;
    return 0;
}

/* Which bounds there are is the same at every epsilon for a fixed mechanism;
 * where it is chosen they are those of what is chosen in the end. */
static int solve_for_epsilon(struct plan *p)
{
    uint64_t best = 0;

    for (unsigned b = 0; b < HSY_BOUNDS; b++) {
        uint64_t nano = 0;
        int failed = solve_epsilon(&nano, p, (hsy_bound)b);

        if (failed)
            return failed;
        p->there[b] = nano != 0;
        p->found[b] = (double)nano / HSY_NANO;
        best = best == 0 ? nano : best;
    }
    if (best == 0)
        return cli_fail("no epsilon up to 32 is enough: ask more people "
                        "(--n), or allow a larger error (--alpha)");
    return plan_case(&p->at, p, best);
}

/* ---- All of it ----------------------------------------------------------- */

static double solve_one(const struct plan *p, hsy_bound bound)
{
    const double *given = p->options.given;

    switch (p->missing) {
    case PLAN_ALPHA:
        return plan_alpha(&p->at, bound, given[PLAN_N], given[PLAN_BETA]);
    case PLAN_N:
        return case_users(&p->at, bound, given[PLAN_ALPHA], given[PLAN_BETA]);
    default:
        return case_beta(&p->at, bound, given[PLAN_N], given[PLAN_ALPHA]);
    }
}

/* n times the least variance that is known, in units of the share or range. */
static int solve_limit(struct plan *p)
{
    static const char *const means[] = {"onebit", "dwm", "pm", "hm"};
    const hsy_info *info = &p->at.info;
    struct plan own = *p;

    if (info->kind != HSY_KIND_NUMBER) {
        p->limit =
            info->d != 0 ? hsy_limit_variance(info->d, info->epsilon) : 0;
        return 0;
    }
    own.spec.spec = (hsy_spec){.size = sizeof own.spec.spec,
                               .kind = HSY_KIND_NUMBER,
                               .lo = info->lo,
                               .hi = info->hi,
                               .scale = info->scale};
    p->limit = info->v0;
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++) {
        struct plan_case c;
        int failed;

        own.spec.spec.mechanism = means[i];
        failed = plan_case(&c, &own, info->nano_epsilon);
        if (failed)
            return failed;
        p->limit = fmin(p->limit, c.info.v0);
    }
    return 0;
}

int plan_solve(struct plan *p)
{
    int failed = p->missing == PLAN_EPSILON
                     ? solve_for_epsilon(p)
                     : plan_case(&p->at, p, p->options.nano_epsilon);
    bool first = true;

    if (failed)
        return failed;
    for (unsigned k = 0; k < PLAN_NUMBERS; k++)
        p->number[k] = p->options.given[k];
    p->number[PLAN_EPSILON] = p->at.info.epsilon;
    for (unsigned b = 0; b < HSY_BOUNDS; b++) {
        if (p->missing != PLAN_EPSILON) {
            p->there[b] = case_has(&p->at, (hsy_bound)b);
            if (p->there[b])
                p->found[b] = solve_one(p, (hsy_bound)b);
            /* People past what can be counted are no answer. */
            p->there[b] = p->there[b] && isfinite(p->found[b]);
        }
        if (p->there[b] && first && p->missing != PLAN_EPSILON)
            p->number[p->missing] = p->found[b];
        first &= !p->there[b];
    }
    return solve_limit(p);
}

double plan_posterior(double prior, double epsilon)
{
    return prior / (prior + (1 - prior) * exp(-epsilon));
}
