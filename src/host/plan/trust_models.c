/*
 * trust_models.c - the error of one curator, of several, and of none, side by
 * side (MECHANISMS 10).
 */
#include "host/plan/internal.h"

#include "host/analysis/analysis.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MODELS_CURVE 13u

const char *plan_curator(bool add_remove)
{
    return add_remove ? "central-add-remove" : "central";
}

/* What becomes of a spec with this mechanism. */
static hsy_status models_info(hsy_scheme_info *info, struct plan_trust *t,
                              const hsy_spec *spec, const char *mechanism,
                              hsy_error *err)
{
    hsy_spec own = *spec;
    hsy_scheme *s;
    hsy_status st;

    own.mechanism = t->asked = mechanism;
    st = plan_scheme(&s, &own, own.nano_epsilon, &t->why, err);
    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(s, info);
    free(s);
    return HSY_OK;
}

hsy_status plan_trust(struct plan_trust *out, const hsy_spec *spec,
                      const char *curator, const char *local, hsy_error *err)
{
    hsy_status st;

    *out = (struct plan_trust){0};
    st = models_info(&out->central, out, spec, curator, err);
    if (st == HSY_OK)
        st = models_info(&out->local, out, spec, local != NULL ? local : "auto",
                         err);
    if (st != HSY_OK)
        return st;
    out->unit = analysis_unit(&out->central);
    return HSY_OK;
}

double plan_trust_sd(const struct plan_trust *t, double n, double curators)
{
    return t->unit * (curators == 0 ? sqrt(t->local.v0 / n)
                                    : sqrt(curators * t->central.v0) / n);
}

/* Every curator has somebody. */
static double models_least(const struct plan_trust *t, double alpha, double k)
{
    return fmax(ceil(t->unit * sqrt(k * t->central.v0) / alpha), k);
}

/* ---- The accounts -------------------------------------------------------- */

static hsy_status models_open(struct plan_trust *t, struct account *a,
                              const struct account_ask *ask, hsy_error *err)
{
    hsy_status st = plan_trust(t, ask->spec, plan_curator(false),
                               ask->spec->mechanism, err);

    a->why = t->why;
    a->mechanism = t->asked;
    if (st != HSY_OK)
        return st;
    a->mechanism = t->local.mechanism;
    if (t->local.central)
        return plan_fail(&a->why, PLAN_WHY_CURATOR, err, HSY_E_UNKNOWN,
                         "a curator's mechanism, not a local one");
    if (t->local.iterative)
        return plan_fail(&a->why, PLAN_WHY_ITERATIVE, err, HSY_E_UNKNOWN,
                         "estimated by iteration, with no error to compare");
    return HSY_OK;
}

static void models_errors(struct account *a, const struct plan_trust *t,
                          const struct account_ask *ask)
{
    const double n = (double)ask->n, k = (double)ask->curators;

    account_count(a, "n", ask->n, NULL);
    account_number(a, "local_sd", plan_trust_sd(t, n, 0),
                   "standard error, each for himself");
    if (ask->curators > 0)
        account_number(a, "multiparty_sd", plan_trust_sd(t, n, k),
                       "standard error, the curators together");
    account_number(a, "central_sd", plan_trust_sd(t, n, 1),
                   "standard error, one curator");
    account_people(a, "match_n", ceil(t->local.v0 / (t->central.v0 / (n * n))),
                   "people for the same by local reports");
}

static void models_needs(struct account *a, const struct plan_trust *t,
                         const struct account_ask *ask)
{
    const double r = t->unit / ask->alpha;

    account_number(a, "alpha", ask->alpha, NULL);
    account_people(a, "local_n", ceil(t->local.v0 * r * r),
                   "people for that error, each for himself");
    if (ask->curators > 0)
        account_people(a, "multiparty_n",
                       models_least(t, ask->alpha, (double)ask->curators),
                       "people for it, the curators together");
    account_people(a, "central_n", models_least(t, ask->alpha, 1),
                   "people for it, one curator");
}

/* The discrete Laplace law of a released count: r = e^(-epsilon / moves), where
 * a person moves one count of a yes/no question and two of a list. */
static void models_noise(struct account *a, const struct plan_trust *t)
{
    const double moves = t->central.kind == HSY_KIND_YES_NO ? 1 : 2;
    const double half = t->central.epsilon / moves / 2;

    if (t->central.kind == HSY_KIND_NUMBER)
        return;
    account_number(a, "count_variance", 1 / (2 * sinh(half) * sinh(half)),
                   "variance of the noise on a count");
    account_number(a, "count_exact", tanh(half),
                   "chance that a count has no noise");
}

static void models_curves(struct account *a, const struct plan_trust *t,
                          const struct account_ask *ask)
{
    const double k = (double)ask->curators;
    double places[ACCOUNT_POINTS];
    const double most = fmax((double)ask->n, 1e6);
    const double least = fmin(100, most);
    const size_t n = account_places(places, least, most, MODELS_CURVE);

    for (size_t i = 0; i < n; i++) {
        account_point(a, 0, "local", places[i], plan_trust_sd(t, places[i], 0));
        account_point(a, 1, "one curator", places[i],
                      plan_trust_sd(t, places[i], 1));
        if (ask->curators > 0 && places[i] >= k)
            account_point(a, 2, "several curators", places[i],
                          plan_trust_sd(t, places[i], k));
    }
}

static hsy_status models_run(struct account *a, const struct account_ask *ask,
                             hsy_error *err)
{
    struct plan_trust t;
    hsy_status st = models_open(&t, a, ask, err);

    if (st != HSY_OK)
        return st;
    account_number(a, "epsilon", t.central.epsilon, NULL);
    account_text(a, "local", t.local.mechanism, "mechanism of local reports");
    if (ask->curators > 0)
        account_count(a, "curators", ask->curators, NULL);
    if (ask->n > 0)
        models_errors(a, &t, ask);
    if (ask->alpha > 0)
        models_needs(a, &t, ask);
    models_noise(a, &t);
    if (ask->curves)
        models_curves(a, &t, ask);
    a->x_label = "people";
    a->y_label = t.unit == 1 && t.central.kind != HSY_KIND_NUMBER
                     ? "standard error of a small share"
                     : "standard error of the mean";
    a->about = "Standard error against the number of people, both on "
               "logarithmic axes: local reports fall with its square root, "
               "curators with the number itself.";
    return HSY_OK;
}

hsy_status account_central(struct account *out, const struct account_ask *ask,
                           hsy_error *err)
{
    *out = (struct account){
        .sentence =
            "What trusting one curator buys: its noise on a small share "
            "or a mean, beside that of local reports.",
        .assumes = "Assumes a curator who sees every truth and is trusted with "
                   "it, neighbours that differ in one person's truth "
                   "(replace), and honest people. The error of a sample comes "
                   "on top for all."};
    snprintf(out->title, sizeof out->title,
             "One curator against none, epsilon %.9g",
             (double)ask->spec->nano_epsilon / 1e9);
    return models_run(out, ask, err);
}

hsy_status account_multiparty(struct account *out,
                              const struct account_ask *ask, hsy_error *err)
{
    *out = (struct account){
        .sentence = "What trusting several curators buys, each with its own "
                    "people and noise, between one curator and none.",
        .assumes = "Assumes that each person trusts the one curator who holds "
                   "the truth, that curators add noise independently and "
                   "publish only that, and neighbours that differ in one "
                   "person's truth (replace)."};
    if (ask->n > 0 && ask->curators > ask->n)
        return plan_fail(&out->why, PLAN_WHY_CURATORS, err, HSY_E_RANGE,
                         "no more curators than people");
    snprintf(out->title, sizeof out->title,
             "%" PRIu64 " curators against one and none, epsilon %.9g",
             ask->curators, (double)ask->spec->nano_epsilon / 1e9);
    return models_run(out, ask, err);
}

#undef MODELS_CURVE
