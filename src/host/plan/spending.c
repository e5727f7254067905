/* spending.c - a group that changes together, and all reports of one person. */
#include "host/plan/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SPEND_CURVE 33u /* places along the figure */

static hsy_status spend_exact(double *exact, struct account *a,
                              const hsy_spent *spent, size_t kinds,
                              double delta, hsy_error *err)
{
    double *scratch = NULL;
    hsy_status st;

    if (kinds > 1) {
        scratch = malloc(hsy_compose_scratch() * sizeof *scratch);
        if (scratch == NULL)
            return plan_fail(&a->why, PLAN_WHY_MEMORY, err, HSY_E_NOMEM,
                             "out of memory");
    }
    st = hsy_compose_epsilon(exact, spent, kinds, delta, scratch, err);
    free(scratch);
    return st == HSY_OK ? st : account_refuse(a, st);
}

/* The exact one is of at most HSY_COMPOSE_KINDS epsilons: near ones of more are
 * rounded up for it, and for nothing else. */
static hsy_status spend_rows(struct account *a, hsy_spent *spent, size_t kinds,
                             double delta, hsy_error *err)
{
    hsy_composed c;
    double exact = 0;
    hsy_status st = hsy_compose_bounds(&c, spent, kinds, delta, err);

    if (st != HSY_OK)
        return account_refuse(a, st);
    kinds = hsy_compose_merge(spent, kinds, HSY_COMPOSE_KINDS);
    st = spend_exact(&exact, a, spent, kinds, delta, err);
    if (st != HSY_OK)
        return st;
    exact = fmin(exact, fmin(c.basic, fmin(c.divergence, c.advanced)));
    account_at_most(a, "basic", c.basic, "the sum; needs no delta");
    account_at_most(a, "grouposition", c.grouposition,
                    "half the squares, and a deviation");
    account_at_most(a, "grouposition_kl", c.divergence,
                    "grouposition with exact divergences");
    account_at_most(a, "advanced", c.advanced, "advanced composition");
    account_at_most(a, "exact", exact,
                    kinds == 1
                        ? "optimal composition: exact"
                        : "optimal composition on a grid: an upper bound");
    return HSY_OK;
}

/* The same against the number of reports, one epsilon. */
static hsy_status spend_curves(struct account *a, const struct account_ask *ask,
                               hsy_error *err)
{
    double places[ACCOUNT_POINTS];
    const size_t n = account_places(places, 1, (double)ask->k, SPEND_CURVE);

    for (size_t i = 0; i < n; i++) {
        const hsy_spent spent = {ask->epsilon, (uint64_t)places[i]};
        hsy_composed c;
        double exact = 0;
        hsy_status st = hsy_compose_bounds(&c, &spent, 1, ask->delta, err);

        if (st != HSY_OK)
            return account_refuse(a, st);
        st = spend_exact(&exact, a, &spent, 1, ask->delta, err);
        if (st != HSY_OK)
            return st;
        account_point(a, 0, "basic", places[i], c.basic);
        account_point(a, 1, "grouposition", places[i], c.grouposition);
        account_point(a, 2, "advanced", places[i], c.advanced);
        account_point(a, 3, "exact", places[i], exact);
    }
    return HSY_OK;
}

static hsy_status spend_one(struct account *a, const struct account_ask *ask,
                            hsy_error *err)
{
    hsy_spent spent = {ask->epsilon, ask->k};
    hsy_status st;

    account_number(a, "epsilon", ask->epsilon, NULL);
    account_count(a, "k", ask->k, NULL);
    account_number(a, "delta", ask->delta, NULL);
    st = spend_rows(a, &spent, 1, ask->delta, err);
    if (st == HSY_OK && ask->curves)
        st = spend_curves(a, ask, err);
    return st;
}

hsy_status account_group(struct account *out, const struct account_ask *ask,
                         hsy_error *err)
{
    *out = (struct account){
        .sentence =
            "Privacy loss of a group that changes together: k people, one "
            "report each. Each line is a valid upper bound; use the smallest.",
        .assumes = "Assumes that each report has independent coins, and that "
                   "the question does not depend on the answers of others "
                   "(non-interactive). All but basic may fail with "
                   "probability delta.",
        .x_label = "people in the group",
        .y_label = "epsilon of the group",
        .about = "Epsilon of a group against its size, both on logarithmic "
                 "axes: the sum grows with the size, the exact value in the "
                 "end with its square root and a slower sum."};

    snprintf(out->title, sizeof out->title,
             "A group of %" PRIu64 " at epsilon %.9g, delta %.3g", ask->k,
             ask->epsilon, ask->delta);
    return spend_one(out, ask, err);
}

static hsy_status spend_list(struct account *a, const struct account_ask *ask,
                             hsy_error *err)
{
    const size_t kinds =
        hsy_compose_merge(ask->spent, ask->nspent, ask->nspent);
    uint64_t reports = 0;

    for (size_t i = 0; i < kinds; i++)
        reports += ask->spent[i].count;
    snprintf(a->title, sizeof a->title,
             "%" PRIu64 " reports of %zu different epsilons, delta %.3g",
             reports, kinds, ask->delta);
    account_count(a, "k", reports, NULL);
    account_number(a, "delta", ask->delta, NULL);
    account_count(a, "kinds", kinds, NULL);
    return spend_rows(a, ask->spent, kinds, ask->delta, err);
}

hsy_status account_compose(struct account *out, const struct account_ask *ask,
                           hsy_error *err)
{
    *out = (struct account){
        .sentence = "Privacy loss of all reports of one person, if each has "
                    "fresh coins. Each line is a valid upper bound; use the "
                    "smallest.",
        .assumes = "Assumes that each report has independent coins; the "
                   "question may depend on earlier answers. All but basic may "
                   "fail with probability delta. Reports from a permanent "
                   "answer do not add up like this: any number is bounded by "
                   "the permanent epsilon, but few of a small epsilon may cost "
                   "more. For them: 'hearsay account longitudinal'.",
        .x_label = "reports",
        .y_label = "epsilon of all together",
        .about = "Epsilon of many reports against their number, both on "
                 "logarithmic axes, by the sum, by two bounds, and exactly."};

    if (ask->spent != NULL)
        return spend_list(out, ask, err);
    snprintf(out->title, sizeof out->title,
             "%" PRIu64 " reports at epsilon %.9g, delta %.3g", ask->k,
             ask->epsilon, ask->delta);
    return spend_one(out, ask, err);
}
