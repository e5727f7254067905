/* test_account.c - accounts of what was spent and of what trust buys: their
 * rows, their curves, and what a failure is about. */
#include "host/plan/account.h"

#include "tap.h"

#include <math.h>
#include <string.h>

typedef hsy_status account_fn(struct account *out,
                              const struct account_ask *ask, hsy_error *err);

static const hsy_spec values = {.size = sizeof(hsy_spec),
                                .kind = HSY_KIND_VALUES,
                                .d = 20,
                                .mechanism = "grr",
                                .nano_epsilon = HSY_NANO};

static const struct account_row *row(const struct account *a, const char *name)
{
    static const struct account_row none = {.number = NAN};

    for (size_t i = 0; i < a->nrows; i++)
        if (strcmp(a->rows[i].name, name) == 0)
            return &a->rows[i];
    return &none;
}

static double number(const struct account *a, const char *name)
{
    return row(a, name)->number;
}

static void groups_add_up(void)
{
    struct account_ask ask = {.epsilon = 0.1, .delta = 1e-6, .k = 1000};
    struct account a;

    ok(eq_status(account_group(&a, &ask, NULL), HSY_OK) && eq_u64(a.why, 0),
       "a group");
    ok(fabs(number(&a, "basic") - 100) < 1e-9 &&
           eq_int(row(&a, "basic")->side, 1),
       "the sum of a thousand at 0.1 is 100, from above");
    ok(number(&a, "exact") <= number(&a, "advanced") &&
           number(&a, "exact") <= number(&a, "grouposition_kl"),
       "the exact one is the least");
    ok(eq_u64(a.ncurves, 0) && strstr(a.title, "group of 1000") != NULL &&
           row(&a, "k")->about == NULL && eq_u64(row(&a, "k")->count, 1000),
       "no curves unless asked for; what was given is no news");
    ask.curves = true;
    ok(eq_status(account_compose(&a, &ask, NULL), HSY_OK) && a.ncurves == 4 &&
           a.curves[0].x[0] == 1 && a.curves[0].x[a.curves[0].n - 1] == 1000 &&
           a.curves[0].n <= ACCOUNT_POINTS,
       "four curves from 1 to k");
}

static void lists_are_merged(void)
{
    hsy_spent spent[] = {{1, 2}, {0.5, 3}, {1, 4}};
    const struct account_ask ask = {.delta = 1e-6, .spent = spent, .nspent = 3};
    struct account a;

    ok(eq_status(account_compose(&a, &ask, NULL), HSY_OK) &&
           eq_u64(row(&a, "k")->count, 9) && eq_u64(row(&a, "kinds")->count, 2),
       "nine reports of two epsilons");
    ok(fabs(number(&a, "basic") - 7.5) < 1e-12 && isnan(number(&a, "epsilon")),
       "add up to 7.5");
}

static void answers_that_are_kept(void)
{
    struct account_ask ask = {.spec = &values,
                              .epsilon = 1,
                              .nano_permanent = 2 * (uint64_t)HSY_NANO,
                              .reports = 100,
                              .curves = true};
    struct account a;

    ok(eq_status(account_longitudinal(&a, &ask, NULL), HSY_OK) &&
           eq_text(row(&a, "mechanism")->text, "grr"),
       "a hundred reports from a permanent answer");
    ok(number(&a, "exact") <= 2 + 1e-9 && number(&a, "basic") > 99 &&
           eq_u64(a.ncurves, 4) && a.curves[2].dashed,
       "tell no more than it, where fresh ones tell a hundred times one");

    ask = (struct account_ask){.epsilon = 1, .delta = 1e-6, .days = 30};
    ok(eq_status(account_longitudinal(&a, &ask, NULL), HSY_OK) &&
           fabs(number(&a, "basic") - 30) < 1e-9 && number(&a, "exact") < 30,
       "without a question: a budget of thirty days");
}

static void shuffling_hides(void)
{
    struct account_ask ask = {
        .epsilon = 1, .delta = 1e-6, .n = 100000, .target = 0.1};
    struct account a;
    double any;

    ok(eq_status(account_shuffle(&a, &ask, NULL), HSY_OK) &&
           a.mechanism == NULL && number(&a, "clones") < 0.1 &&
           number(&a, "clones") <= number(&a, "closed_form"),
       "among a hundred thousand, by any mechanism");
    any = number(&a, "clones");
    ask.spec = &values;
    ok(eq_status(account_shuffle(&a, &ask, NULL), HSY_OK) &&
           number(&a, "blanket") <= number(&a, "clones") &&
           fabs(number(&a, "clones") / any - 1) < 0.01 &&
           eq_text(a.mechanism, "grr"),
       "by its own law no worse");
    ok(row(&a, "blanket_n")->count <= row(&a, "clones_n")->count &&
           row(&a, "blanket_epsilon_report")->side == -1,
       "and fewer people are needed");
}

static void liars_gain(void)
{
    const struct account_ask ask = {
        .spec = &values, .lying = 0.05, .targets = 2, .curves = true};
    struct account a;

    ok(eq_status(account_poisoning(&a, &ask, NULL), HSY_OK) &&
           number(&a, "maximal") > number(&a, "input") &&
           number(&a, "input") > number(&a, "random") && eq_u64(a.ncurves, 3),
       "the best lies gain most");
}

static void refuses(account_fn *fn, struct account_ask ask, enum plan_why why,
                    const char *what)
{
    hsy_error err = {0};
    struct account a;
    const hsy_status st = fn(&a, &ask, &err);

    ok(st != HSY_OK && eq_u64(a.why, why) && eq_u64(err.status, st) &&
           err.msg != NULL,
       "refused: %s", what);
}

static void failures_say_what_about(void)
{
    const hsy_spec none = {
        .size = sizeof none, .kind = HSY_KIND_YES_NO, .mechanism = "nosuch"};
    const hsy_spec rappor = {.size = sizeof rappor,
                             .kind = HSY_KIND_VALUES,
                             .d = 20,
                             .mechanism = "rappor",
                             .design = HSY_DESIGN_RAPPOR,
                             .chance = {{1, 2}, {1, 2}, {3, 4}}};

    refuses(account_group,
            (struct account_ask){.epsilon = -1, .delta = 0.1, .k = 2},
            PLAN_WHY_ASKED, "an epsilon below 0");
    refuses(account_poisoning, (struct account_ask){.spec = &none},
            PLAN_WHY_SPEC, "no such mechanism");
    refuses(account_longitudinal,
            (struct account_ask){.spec = &values, .reports = 9},
            PLAN_WHY_NO_PERMANENT, "no permanent epsilon");
    refuses(account_longitudinal,
            (struct account_ask){
                .spec = &rappor, .reports = 9, .nano_permanent = HSY_NANO},
            PLAN_WHY_TWO_PERMANENT, "two permanent steps");
    refuses(account_longitudinal,
            (struct account_ask){.spec = &values,
                                 .reports = 9,
                                 .nano_permanent = 2 * (uint64_t)HSY_NANO,
                                 .grain = "1"},
            PLAN_WHY_GRAIN, "the grain of a list");
    refuses(account_longitudinal,
            (struct account_ask){
                .spec = &values, .reports = 9, .nano_permanent = HSY_NANO / 2},
            PLAN_WHY_ASKED, "a permanent answer of less epsilon");
    refuses(account_shuffle, (struct account_ask){.epsilon = 1, .n = 9},
            PLAN_WHY_ASKED, "no delta");
}

int main(void)
{
    groups_add_up();
    lists_are_merged();
    answers_that_are_kept();
    shuffling_hides();
    liars_gain();
    failures_say_what_about();
    return tap_done();
}
