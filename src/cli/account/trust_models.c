/*
 * trust_models.c - hearsay account central and multiparty: the error of one
 * curator, of several, and of none, side by side (MECHANISMS 10).
 */
#include "cli/account/internal.h"
#include "host/analysis/analysis.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODELS_CURVE 13u

/* n times the variance of a local share or mean, n squared times that of a
 * release, and the range's length. */
struct models {
    hsy_scheme_info local, central;
    double unit;
};

static int models_open(struct models *m, const struct account_how *how)
{
    const hsy_spec *spec = &how->spec.spec;
    int failed = cli_scheme_info(&m->central, spec, "central");

    if (!failed)
        failed =
            cli_scheme_info(&m->local, spec,
                            spec->mechanism != NULL ? spec->mechanism : "auto");
    if (failed)
        return failed;
    if (m->local.central)
        return cli_fail("--mechanism: a local one, to compare with; %s is a "
                        "curator's",
                        m->local.mechanism);
    if (m->local.iterative)
        return cli_fail("--mechanism: %s is estimated by iteration and has no "
                        "error to compare",
                        m->local.mechanism);
    m->unit = shares_unit(&m->central);
    return 0;
}

static double models_local(const struct models *m, double n)
{
    return m->unit * sqrt(m->local.v0 / n);
}

static double models_curators(const struct models *m, double n, double k)
{
    return m->unit * sqrt(k * m->central.v0) / n;
}

/* Every curator has somebody. */
static double models_least(const struct models *m, double alpha, double k)
{
    return fmax(ceil(m->unit * sqrt(k * m->central.v0) / alpha), k);
}

/* ---- The accounts -------------------------------------------------------- */

static void models_errors(struct account *a, const struct models *m,
                          const struct account_how *how)
{
    const double n = (double)how->n, k = (double)how->curators;
    const double central = models_curators(m, n, 1);

    account_put(a, "n", cli_count(how->n), NULL);
    account_number(a, "local_sd", models_local(m, n),
                   "standard error, each for himself");
    if (how->curators > 0)
        account_number(a, "multiparty_sd", models_curators(m, n, k),
                       "standard error, the curators together");
    account_number(a, "central_sd", central, "standard error, one curator");
    account_people(a, "match_n", ceil(m->local.v0 / (m->central.v0 / (n * n))),
                   "people for the same by local reports");
}

static void models_needs(struct account *a, const struct models *m,
                         const struct account_how *how)
{
    const double r = m->unit / how->alpha;

    account_number(a, "alpha", how->alpha, NULL);
    account_people(a, "local_n", ceil(m->local.v0 * r * r),
                   "people for that error, each for himself");
    if (how->curators > 0)
        account_people(a, "multiparty_n",
                       models_least(m, how->alpha, (double)how->curators),
                       "people for it, the curators together");
    account_people(a, "central_n", models_least(m, how->alpha, 1),
                   "people for it, one curator");
}

/* The discrete Laplace law of a released count: r = e^(-epsilon / moves), where
 * a person moves one count of a yes/no question and two of a list. */
static void models_noise(struct account *a, const struct models *m)
{
    const double moves = m->central.kind == HSY_KIND_YES_NO ? 1 : 2;
    const double half = m->central.epsilon / moves / 2;

    if (m->central.kind == HSY_KIND_NUMBER)
        return;
    account_number(a, "count_variance", 1 / (2 * sinh(half) * sinh(half)),
                   "variance of the noise on a count");
    account_number(a, "count_exact", tanh(half),
                   "chance that a count has no noise");
}

static void models_curves(struct account *a, const struct models *m,
                          const struct account_how *how)
{
    double places[ACCOUNT_POINTS];
    const double most = fmax((double)how->n, 1e6);
    const double least = fmin(100, most);
    const size_t n = account_places(places, least, most, MODELS_CURVE);

    for (size_t i = 0; i < n; i++) {
        account_point(a, 0, "local", places[i], models_local(m, places[i]));
        account_point(a, 1, "one curator", places[i],
                      models_curators(m, places[i], 1));
        if (how->curators > 0 && places[i] >= (double)how->curators)
            account_point(a, 2, "several curators", places[i],
                          models_curators(m, places[i], (double)how->curators));
    }
}

static int models_run(struct account *a, const struct account_how *how)
{
    struct models m;
    int failed = models_open(&m, how);

    if (failed)
        return failed;
    account_number(a, "epsilon", m.central.epsilon, NULL);
    account_put(a, "local", cli_text(m.local.mechanism),
                "mechanism of local reports");
    if (how->curators > 0)
        account_put(a, "curators", cli_count(how->curators), NULL);
    if (how->n > 0)
        models_errors(a, &m, how);
    if (how->alpha > 0)
        models_needs(a, &m, how);
    models_noise(a, &m);
    if (how->plot != NULL)
        models_curves(a, &m, how);
    a->x_label = "people";
    a->y_label = m.unit == 1 && m.central.kind != HSY_KIND_NUMBER
                     ? "standard error of a small share"
                     : "standard error of the mean";
    a->about = "Standard error against the number of people, both on "
               "logarithmic axes: local reports fall with its square root, "
               "curators with the number itself.";
    return account_show(a, how);
}

int account_central(const struct account_how *how)
{
    struct account a = {
        .sentence =
            "What trusting one curator buys: its noise on a small share "
            "or a mean, beside that of local reports.",
        .assumes = "Assumes a curator who sees every truth and is trusted with "
                   "it, neighbours that differ in one person's truth "
                   "(replace), and honest people. The error of a sample comes "
                   "on top for all."};

    snprintf(a.title, sizeof a.title, "One curator against none, epsilon %.9g",
             (double)how->spec.spec.nano_epsilon / 1e9);
    return models_run(&a, how);
}

int account_multiparty(const struct account_how *how)
{
    struct account a = {
        .sentence = "What trusting several curators buys, each with its own "
                    "people and noise, between one curator and none.",
        .assumes = "Assumes that each person trusts the one curator who holds "
                   "the truth, that curators add noise independently and "
                   "publish only that, and neighbours that differ in one "
                   "person's truth (replace)."};

    if (how->n > 0 && how->curators > how->n)
        return cli_fail("--curators: no more than the %" PRIu64
                        " people; with one person each, use local reports",
                        how->n);
    snprintf(a.title, sizeof a.title,
             "%" PRIu64 " curators against one and none, epsilon %.9g",
             how->curators, (double)how->spec.spec.nano_epsilon / 1e9);
    return models_run(&a, how);
}

#undef MODELS_CURVE
