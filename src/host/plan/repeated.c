/*
 * repeated.c - the same question again and again, answered from a permanent
 * answer; and a budget that begins anew every day.
 */
#include "host/plan/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_CURVE 25u

/* ---- Permanent answers --------------------------------------------------- */

struct time_kept {
    hsy_scheme *report, *permanent; /* the same one: RAPPOR. Owned */
    hsy_permanent memo;
    hsy_permanent_info info;
    hsy_scheme_info about;
};

static void time_close(struct time_kept *t)
{
    if (t->permanent != t->report)
        free(t->permanent);
    free(t->report);
}

/* The grain in the units of the range. */
static hsy_status time_grain(uint64_t *grain, struct account *a,
                             const struct account_ask *ask, hsy_error *err)
{
    int64_t units = 0;

    *grain = 0;
    if (ask->grain == NULL)
        return HSY_OK;
    if (ask->spec->kind != HSY_KIND_NUMBER ||
        hsy_decimal_parse(&units, ask->grain, strlen(ask->grain),
                          ask->spec->scale) != HSY_OK ||
        units <= 0)
        return plan_fail(&a->why, PLAN_WHY_GRAIN, err, HSY_E_RANGE,
                         "a number above 0 that divides the range");
    *grain = (uint64_t)units;
    return HSY_OK;
}

/* The permanent scheme is the report's with more epsilon; a hash has as many
 * values in both. */
static hsy_status time_permanent(struct time_kept *t, struct account *a,
                                 const struct account_ask *ask, hsy_error *err)
{
    hsy_spec spec = *ask->spec;

    if (ask->nano_permanent == 0) {
        t->permanent = t->report;
        return HSY_OK;
    }
    spec.mechanism = t->about.mechanism;
    spec.param[HSY_PARAM_G] = t->about.param[HSY_PARAM_G];
    return plan_scheme(&t->permanent, &spec, ask->nano_permanent, &a->why, err);
}

static hsy_status time_open(struct time_kept *t, struct account *a,
                            const struct account_ask *ask, hsy_error *err)
{
    const hsy_spec *spec = ask->spec;
    uint64_t grain = 0;
    hsy_status st =
        plan_scheme(&t->report, spec, spec->nano_epsilon, &a->why, err);

    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(t->report, &t->about);
    a->mechanism = t->about.mechanism;
    if (ask->nano_permanent == 0 && t->about.epsilon_permanent == 0)
        return plan_fail(&a->why, PLAN_WHY_NO_PERMANENT, err, HSY_E_RANGE,
                         "the permanent answer has no epsilon");
    if (ask->nano_permanent != 0 && t->about.epsilon_permanent != 0)
        return plan_fail(&a->why, PLAN_WHY_TWO_PERMANENT, err, HSY_E_RANGE,
                         "the mechanism has a permanent step of its own");
    st = time_grain(&grain, a, ask, err);
    if (st == HSY_OK)
        st = time_permanent(t, a, ask, err);
    if (st != HSY_OK)
        return st;
    st = hsy_permanent_init(&t->memo, t->permanent, t->report, grain, err);
    if (st != HSY_OK)
        return account_refuse(a, st);
    hsy_permanent_describe(&t->memo, &t->info);
    return HSY_OK;
}

static void time_curves(struct account *a, const struct time_kept *t,
                        uint64_t reports)
{
    double places[ACCOUNT_POINTS];
    const double most = reports > 100 ? (double)reports : 100;
    const size_t n = account_places(places, 1, most, TIME_CURVE);

    for (size_t i = 0; i < n; i++) {
        account_point(a, 0, "fresh coins each time", places[i],
                      places[i] * t->info.epsilon_report);
        account_point(a, 1, "from a permanent answer", places[i],
                      hsy_permanent_epsilon(&t->memo, (uint64_t)places[i]));
        account_point(a, 2, "any number, one value", places[i],
                      t->info.epsilon_permanent);
        account_point(a, 3, "all values", places[i],
                      t->info.epsilon_all_values);
    }
    a->curves[2].dashed = a->curves[3].dashed = true;
}

/* Doubles of sums and logarithms: the last digits go up. */
static double time_up(double epsilon)
{
    return epsilon * (1 + 1e-14);
}

static void time_rows(struct account *a, const struct time_kept *t,
                      const struct account_ask *ask)
{
    const double T = (double)ask->reports;

    account_text(a, "mechanism", t->about.mechanism, NULL);
    account_count(a, "reports", ask->reports, NULL);
    account_at_most(a, "epsilon_report", time_up(t->info.epsilon_report),
                    "one report");
    account_at_most(a, "basic", time_up(T * t->info.epsilon_report),
                    "all reports, if each had fresh coins");
    account_at_most(a, "exact",
                    time_up(hsy_permanent_epsilon(&t->memo, ask->reports)),
                    "all reports, while the value stays");
    account_at_most(a, "epsilon_permanent", time_up(t->info.epsilon_permanent),
                    "any number of them, while it stays");
    if (t->info.keys != 0)
        account_count(a, "keys", t->info.keys,
                      "permanent answers there can be");
    account_at_most(a, "epsilon_all_values",
                    time_up(t->info.epsilon_all_values),
                    "any number, if every key is visited");
}

static hsy_status time_memo(struct account *a, const struct account_ask *ask,
                            hsy_error *err)
{
    struct time_kept t = {.report = NULL};
    hsy_status st;

    *a = (struct account){
        .sentence = "Privacy loss of all reports on the same question, if each "
                    "is made from one permanent answer.",
        .assumes =
            "Assumes one permanent answer for each key: a value, its hash, or "
            "the point a number is rounded to. epsilon_all_values covers a "
            "person whose value takes every key. That a value changed at all "
            "may be visible; no epsilon here bounds that.",
        .x_label = "reports",
        .y_label = "epsilon of all together",
        .about = "Epsilon of all reports on one question against their "
                 "number, both on logarithmic axes: with fresh coins it grows "
                 "without end, from a permanent answer it stops."};
    st = time_open(&t, a, ask, err);
    if (st == HSY_OK) {
        snprintf(a->title, sizeof a->title,
                 "%" PRIu64 " reports by %s from a permanent answer",
                 ask->reports, t.about.mechanism);
        time_rows(a, &t, ask);
        if (ask->curves)
            time_curves(a, &t, ask->reports);
    }
    time_close(&t);
    return st;
}

/* ---- A budget a day ------------------------------------------------------ */

static hsy_status time_day(struct account *a, const struct account_ask *ask,
                           uint64_t days, bool row, hsy_error *err)
{
    const hsy_spent spent = {ask->epsilon, days};
    hsy_composed c;
    double exact = 0;
    hsy_status st = hsy_compose_bounds(&c, &spent, 1, ask->delta, err);

    if (st == HSY_OK)
        st = hsy_compose_epsilon(&exact, &spent, 1, ask->delta, NULL, err);
    if (st != HSY_OK)
        return account_refuse(a, st);
    exact = fmin(exact, c.basic);
    if (row) {
        account_at_most(a, "basic", c.basic, "all days; needs no delta");
        account_at_most(a, "advanced", c.advanced, "advanced composition");
        account_at_most(a, "exact", exact, "optimal composition: exact");
    } else {
        account_point(a, 0, "basic", (double)days, c.basic);
        account_point(a, 1, "exact", (double)days, exact);
    }
    return HSY_OK;
}

static hsy_status time_renewed(struct account *a, const struct account_ask *ask,
                               hsy_error *err)
{
    double places[ACCOUNT_POINTS];
    hsy_status st;
    size_t n;

    *a = (struct account){
        .sentence = "Privacy loss under a budget that is renewed every day: "
                    "epsilon is spent again each day.",
        .assumes = "Assumes that each day's budget is used up, for the same "
                   "person, with fresh coins. advanced and exact may fail with "
                   "probability delta.",
        .x_label = "days",
        .y_label = "epsilon of all days together",
        .about = "Epsilon of a renewed budget against the days, both on "
                 "logarithmic axes."};
    snprintf(a->title, sizeof a->title,
             "%" PRIu64 " days of epsilon %.9g each, delta %.3g", ask->days,
             ask->epsilon, ask->delta);
    account_number(a, "epsilon", ask->epsilon, NULL);
    account_count(a, "days", ask->days, NULL);
    account_number(a, "delta", ask->delta, NULL);
    st = time_day(a, ask, ask->days, true, err);
    n = ask->curves ? account_places(places, 1, (double)ask->days, TIME_CURVE)
                    : 0;
    for (size_t i = 0; i < n && st == HSY_OK; i++)
        st = time_day(a, ask, (uint64_t)places[i], false, err);
    return st;
}

hsy_status account_longitudinal(struct account *out,
                                const struct account_ask *ask, hsy_error *err)
{
    return ask->spec != NULL ? time_memo(out, ask, err)
                             : time_renewed(out, ask, err);
}
