/*
 * repeated.c - hearsay account longitudinal: the same question again and
 * again, answered from a permanent answer; and a budget that begins anew every
 * day.
 */
#include "cli/account/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIME_CURVE 25u

/* ---- Permanent answers --------------------------------------------------- */

struct time_chain {
    hsy_scheme *report, *permanent; /* the same one: RAPPOR. Owned */
    hsy_permanent chain;
    hsy_permanent_info info;
    hsy_scheme_info about;
};

static void time_close(struct time_chain *t)
{
    if (t->permanent != t->report)
        free(t->permanent);
    free(t->report);
}

/* The grain in the units of the range. */
static int time_grain(uint64_t *grain, const struct account_how *how)
{
    int64_t units = 0;

    *grain = 0;
    if (how->grain_text == NULL)
        return 0;
    if (how->spec.spec.kind != HSY_KIND_NUMBER ||
        hsy_decimal_parse(&units, how->grain_text, strlen(how->grain_text),
                          how->spec.spec.scale) != HSY_OK ||
        units <= 0)
        return cli_fail("--grain: a number above 0 that divides the range; it "
                        "goes with --range and --mechanism onebit");
    *grain = (uint64_t)units;
    return 0;
}

/* The permanent scheme is the report's with more epsilon. */
static int time_permanent(struct time_chain *t, const struct account_how *how)
{
    hsy_spec spec = how->spec.spec;

    if (how->nano_permanent == 0) {
        t->permanent = t->report;
        return 0;
    }
    spec.nano_epsilon = how->nano_permanent;
    spec.mechanism = t->about.mechanism;
    spec.param[HSY_PARAM_G] = strcmp(t->about.mechanism, "olh") == 0
                                  ? t->about.param[HSY_PARAM_G]
                                  : spec.param[HSY_PARAM_G];
    return cli_scheme_new(&t->permanent, &spec);
}

static int time_open(struct time_chain *t, const struct account_how *how)
{
    hsy_error err = {0};
    uint64_t grain = 0;
    int failed = cli_scheme_new(&t->report, &how->spec.spec);

    if (failed)
        return failed;
    hsy_scheme_describe(t->report, &t->about);
    if (how->nano_permanent == 0 && t->about.epsilon_permanent == 0)
        return cli_fail("--permanent E is missing: what the permanent answer "
                        "spends (only rappor has it in --set)");
    if (how->nano_permanent != 0 && t->about.epsilon_permanent != 0)
        return cli_fail("--permanent: rappor has its permanent step in --set "
                        "rappor=F,P,Q already; leave it out");
    failed = time_grain(&grain, how);
    if (!failed)
        failed = time_permanent(t, how);
    if (failed)
        return failed;
    if (hsy_permanent_init(&t->chain, t->permanent, t->report, grain, &err) !=
        HSY_OK)
        return account_refused(&err);
    hsy_permanent_describe(&t->chain, &t->info);
    return 0;
}

static void time_curves(struct account *a, const struct time_chain *t,
                        uint64_t reports)
{
    double places[ACCOUNT_POINTS];
    const double most = reports > 100 ? (double)reports : 100;
    const size_t n = account_places(places, 1, most, TIME_CURVE);

    for (size_t i = 0; i < n; i++) {
        account_point(a, 0, "fresh coins each time", places[i],
                      places[i] * t->info.epsilon_report);
        account_point(a, 1, "from a permanent answer", places[i],
                      hsy_permanent_epsilon(&t->chain, (uint64_t)places[i]));
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

static void time_rows(struct account *a, const struct time_chain *t,
                      const struct account_how *how)
{
    const double T = (double)how->reports;

    account_put(a, "mechanism", cli_text(t->about.mechanism), NULL);
    account_put(a, "reports", cli_count(how->reports), NULL);
    account_at_most(a, "epsilon_report", time_up(t->info.epsilon_report),
                    "one report");
    account_at_most(a, "basic", time_up(T * t->info.epsilon_report),
                    "all reports, if each had fresh coins");
    account_at_most(a, "exact",
                    time_up(hsy_permanent_epsilon(&t->chain, how->reports)),
                    "all reports, while the value stays");
    account_at_most(a, "epsilon_permanent", time_up(t->info.epsilon_permanent),
                    "any number of them, while it stays");
    if (t->info.keys != 0)
        account_put(a, "keys", cli_count(t->info.keys),
                    "permanent answers there can be");
    account_at_most(a, "epsilon_all_values",
                    time_up(t->info.epsilon_all_values),
                    "any number, if every key is visited");
}

static int time_memo(const struct account_how *how)
{
    struct account a = {
        .sentence = "What reports on the same question tell together, if a "
                    "permanent answer is kept and each is made from it.",
        .assumes =
            "Assumes that the permanent answer is kept, and one for each key: "
            "a value, its hash, or the point a number is rounded to. The "
            "last is for values that change when others' would too; that "
            "a value changed at all may show, and no epsilon bounds that.",
        .x_label = "reports",
        .y_label = "epsilon of all together",
        .about = "Epsilon of all reports on one question against their "
                 "number, both on logarithmic axes: with fresh coins it grows "
                 "without end, from a permanent answer it stops."};
    struct time_chain t = {.report = NULL};
    int failed = time_open(&t, how);

    if (!failed) {
        snprintf(a.title, sizeof a.title,
                 "%" PRIu64 " reports by %s from a permanent answer",
                 how->reports, t.about.mechanism);
        time_rows(&a, &t, how);
        if (how->plot != NULL)
            time_curves(&a, &t, how->reports);
        failed = account_show(&a, how);
    }
    time_close(&t);
    return failed;
}

/* ---- A budget a day ------------------------------------------------------ */

static int time_day(struct account *a, const struct account_how *how,
                    uint64_t days, bool row)
{
    const hsy_spent spent = {how->epsilon, days};
    hsy_error err = {0};
    hsy_composed c;
    double exact = 0;

    if (hsy_compose_bounds(&c, &spent, 1, how->delta, &err) != HSY_OK ||
        hsy_compose_epsilon(&exact, &spent, 1, how->delta, NULL, &err) !=
            HSY_OK)
        return account_refused(&err);
    exact = fmin(exact, c.basic);
    if (row) {
        account_at_most(a, "basic", c.basic, "all days; needs no delta");
        account_at_most(a, "advanced", c.advanced, "advanced composition");
        account_at_most(a, "exact", exact,
                        "by the law of the loss: no less is true");
    } else {
        account_point(a, 0, "basic", (double)days, c.basic);
        account_point(a, 1, "exact", (double)days, exact);
    }
    return 0;
}

static int time_renewed(const struct account_how *how)
{
    struct account a = {
        .sentence = "What a budget that begins anew every day allows in the "
                    "end: epsilon is spent afresh each day.",
        .assumes = "Assumes that every day's budget is used up, about the same "
                   "person, with fresh coins. advanced and exact may fail with "
                   "chance delta.",
        .x_label = "days",
        .y_label = "epsilon of all days together",
        .about = "Epsilon of a renewed budget against the days, both on "
                 "logarithmic axes."};
    double places[ACCOUNT_POINTS];
    int failed;

    snprintf(a.title, sizeof a.title,
             "%" PRIu64 " days of epsilon %.9g each, delta %.3g", how->days,
             how->epsilon, how->delta);
    account_number(&a, "epsilon", how->epsilon, NULL);
    account_put(&a, "days", cli_count(how->days), NULL);
    account_number(&a, "delta", how->delta, NULL);
    failed = time_day(&a, how, how->days, true);
    if (how->plot != NULL) {
        const size_t n =
            account_places(places, 1, (double)how->days, TIME_CURVE);

        for (size_t i = 0; i < n && !failed; i++)
            failed = time_day(&a, how, (uint64_t)places[i], false);
    }
    return failed ? failed : account_show(&a, how);
}

int account_longitudinal(const struct account_how *how)
{
    return how->has_kind ? time_memo(how) : time_renewed(how);
}

#undef TIME_CURVE
