/* test_plan.c - of people, error, chance and epsilon the missing one; a task's
 * rounds; and what a failure is about. */
#include "host/plan/plan.h"

#include "rig/example_tasks.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

static struct plan_question yes_no(void)
{
    return (struct plan_question){.spec = {.size = sizeof(hsy_spec),
                                           .kind = HSY_KIND_YES_NO,
                                           .nano_epsilon = HSY_NANO},
                                  .missing = PLAN_ALPHA,
                                  .given = {[PLAN_N] = 1e6, [PLAN_BETA] = 0.05},
                                  .share = NAN,
                                  .search = {.size = sizeof(hsy_search)},
                                  .prior = 0.5,
                                  .answers = 3};
}

static bool alike(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static void several_curators(void)
{
    struct plan_question q = yes_no();
    struct plan p;

    q.missing = PLAN_ALPHA;
    q.curators = 25;
    ok(eq_status(plan_solve(&p, &q, NULL), HSY_OK) &&
           alike(p.facts.curators_sd, 5 * p.facts.central_sd),
       "the error of 25 curators is five times that of one");
    ok(alike(p.facts.curators_sd * 1e6, 5 * 1.356962486001579),
       "by the discrete Laplace law");
    ok(p.facts.curators_n >= 25 && p.facts.curators_n > p.facts.central_n &&
           p.facts.curators_n < 1e6,
       "they need more people than one, and fewer than none");
    q.given[PLAN_N] = 24;
    ok(eq_status(plan_solve(&p, &q, NULL), HSY_E_RANGE) &&
           eq_u64(p.why, PLAN_WHY_CURATORS),
       "every curator has somebody");
}

static void a_number_is_found(void)
{
    struct plan_question q = yes_no();
    struct plan p;
    double alpha;

    ok(eq_status(plan_solve(&p, &q, NULL), HSY_OK) && eq_u64(p.why, 0),
       "solved");
    ok(alike(p.number[PLAN_ALPHA], 0.00293886841119055) &&
           p.found[HSY_BOUND_HOEFFDING] == p.number[PLAN_ALPHA] &&
           p.number[PLAN_EPSILON] == 1,
       "a million people at epsilon 1: alpha 0.00294");
    ok(p.there[0] && p.there[1] && p.there[2] &&
           eq_u64(plan_bound(&p), HSY_BOUND_HOEFFDING),
       "by three bounds, a theorem first");
    ok(alike(p.facts.posterior, 1 / (1 + exp(-1))) &&
           alike(p.facts.posterior_answers, 1 / (1 + exp(-3))),
       "what one answer and three let believe");
    ok(p.facts.shares && !p.facts.discovery &&
           p.facts.central_sd < p.facts.limit_sd &&
           p.facts.limit_sd <= p.facts.local_sd * (1 + 1e-9),
       "a curator beats the best mechanism, which beats this one");

    alpha = p.number[PLAN_ALPHA];
    q.given[PLAN_ALPHA] = alpha;
    q.missing = PLAN_BETA;
    ok(eq_status(plan_solve(&p, &q, NULL), HSY_OK) &&
           alike(p.number[PLAN_BETA], 0.05),
       "the chance from the others");
    q.missing = PLAN_N;
    ok(eq_status(plan_solve(&p, &q, NULL), HSY_OK) &&
           fabs(p.number[PLAN_N] - 1e6) <= 1,
       "the people from the others");
    q.missing = PLAN_EPSILON;
    q.spec.nano_epsilon = 0;
    ok(eq_status(plan_solve(&p, &q, NULL), HSY_OK) &&
           fabs(p.found[0] - 1) < 1e-6 && p.at.info.epsilon == p.found[0],
       "the epsilon from the others, whatever the spec's is");
}

static void a_mean_has_its_units(void)
{
    struct plan_question q = yes_no();
    struct plan narrow, wide;

    q.spec.kind = HSY_KIND_NUMBER;
    q.spec.hi = 1;
    is_status(plan_solve(&narrow, &q, NULL), HSY_OK, "a mean from 0 to 1");
    q.spec.hi = 100;
    ok(eq_status(plan_solve(&wide, &q, NULL), HSY_OK) &&
           alike(wide.number[PLAN_ALPHA], 100 * narrow.number[PLAN_ALPHA]) &&
           alike(wide.facts.limit_sd, 100 * narrow.facts.limit_sd) &&
           !wide.facts.shares,
       "and from 0 to 100: a hundred times the error");
}

static void a_discovery_has_groups(void)
{
    struct plan_question q = yes_no();
    struct plan p;

    q.spec.kind = HSY_KIND_STRINGS;
    q.spec.mechanism = plan_searcher();
    ok(eq_status(plan_solve(&p, &q, NULL), HSY_OK) && p.at.nstages > 1 &&
           p.facts.discovery && eq_u64(plan_bound(&p), HSY_BOUND_NORMAL) &&
           !p.there[HSY_BOUND_HOEFFDING],
       "strings are found by stages, by the normal bound alone");
}

static void curves_fall_with_people(void)
{
    struct plan_question q = yes_no();
    struct plan_curve c;
    struct plan p;
    bool falls = true;

    ok(eq_status(plan_solve(&p, &q, NULL), HSY_OK) &&
           eq_status(plan_curve(&c, &p, &q, HSY_NANO / 2, NULL), HSY_OK) &&
           c.epsilon == 0.5 && eq_u64(c.why, 0),
       "a curve at another epsilon");
    for (size_t i = 1; i < PLAN_CURVE; i++)
        falls &= c.people[i] > c.people[i - 1] && c.alpha[i] < c.alpha[i - 1];
    ok(falls && c.people[0] == 100 && alike(c.people[PLAN_CURVE - 1], 1e8),
       "falls from a hundred people to a hundred million");
    ok(eq_status(plan_curve(&c, &p, &q, 0, NULL), HSY_E_RANGE) &&
           eq_u64(c.why, PLAN_WHY_SPEC),
       "no curve at an epsilon that nothing has");
}

static void failures_say_what_about(void)
{
    struct plan_question q = yes_no();
    hsy_error err = {0};
    struct plan p;

    q.spec.mechanism = "nosuch";
    ok(eq_status(plan_solve(&p, &q, &err), HSY_E_UNKNOWN) &&
           eq_u64(p.why, PLAN_WHY_SPEC) && eq_status(err.status, HSY_E_UNKNOWN),
       "a mechanism that there is not");
    q = yes_no();
    q.spec.mechanism = "central";
    ok(eq_status(plan_solve(&p, &q, &err), HSY_E_UNKNOWN) &&
           eq_u64(p.why, PLAN_WHY_CURATOR) && p.at.info.central,
       "a curator's, and which");
    q = yes_no();
    q.spec = (hsy_spec){.size = sizeof q.spec,
                        .kind = HSY_KIND_BINS,
                        .mechanism = "sw",
                        .hi = 10,
                        .d = 4,
                        .nano_epsilon = HSY_NANO};
    ok(eq_status(plan_solve(&p, &q, &err), HSY_E_UNKNOWN) &&
           eq_u64(p.why, PLAN_WHY_LAW) && err.msg != NULL,
       "what has no error beforehand");
    q = yes_no();
    q.missing = PLAN_EPSILON;
    q.given[PLAN_ALPHA] = 1e-4;
    q.given[PLAN_N] = 10;
    ok(eq_status(plan_solve(&p, &q, &err), HSY_E_RANGE) &&
           eq_u64(p.why, PLAN_WHY_EPSILON),
       "what no epsilon reaches");
}

/* ---- Tasks --------------------------------------------------------------- */

static hsy_release *released(const struct example_tasks *e, size_t i)
{
    hsy_release *r = malloc(hsy_release_size(&e->task[i]));

    if (r != NULL && hsy_release_init(r, &e->task[i], NULL) != HSY_OK) {
        free(r);
        r = NULL;
    }
    return r;
}

static void rounds_double(const struct example_tasks *e)
{
    const struct plan_task_how how = {4000, 10, NAN};
    hsy_release *r = released(e, 1); /* a value each day, of one in four */
    struct plan_task t;

    ok(r != NULL && eq_status(plan_task(&t, r, &how, NULL), HSY_OK) &&
           eq_u64(t.why, 0),
       "a task of fresh coins");
    ok(eq_u64(t.devices, 1000) && eq_u64(t.days, 1) && eq_u64(t.rounds, 10) &&
           eq_u64(t.nrows, 5) && eq_u64(t.row[3].rounds, 8) &&
           eq_u64(t.row[4].rounds, 10) && !t.over && t.share == 0.5,
       "rounds 1, 2, 4, 8 and all ten, of every fourth device");
    is_u64(t.row[4].reports, 10 * 1000 * 2, "who sends two answers a day each");
    ok(alike(t.row[3].sd[0], t.row[0].sd[0] / sqrt(8)),
       "fresh noise falls with the square root of the rounds");
    free(r);
}

static void kept_answers_do_not_average_out(const struct example_tasks *e)
{
    const struct plan_task_how how = {100000, 10000, 0.25};
    hsy_release *r = released(e, 2);
    struct plan_task t;

    ok(r != NULL && eq_status(plan_task(&t, r, &how, NULL), HSY_OK) && t.over &&
           eq_u64(t.rounds, 52) && eq_u64(t.length, 364) && t.share == 0.25,
       "no more rounds than the task has");
    ok(t.release.permanent != NULL &&
           t.row[2].sd[0] > t.row[0].sd[0] / 2 * 1.0001,
       "four rounds of a kept answer do not halve the error");
    free(r);
}

static void task_refused(const struct example_tasks *e, size_t i,
                         struct plan_task_how how, enum plan_why why)
{
    hsy_release *r = released(e, i);
    hsy_error err = {0};
    struct plan_task t;

    ok(r != NULL && plan_task(&t, r, &how, &err) != HSY_OK &&
           eq_u64(t.why, why) && err.msg != NULL && eq_u64(t.length, 364),
       "task %zu refuses, and says what is wrong", i);
    free(r);
}

int main(void)
{
    struct example_tasks e;

    a_number_is_found();
    several_curators();
    a_mean_has_its_units();
    a_discovery_has_groups();
    curves_fall_with_people();
    failures_say_what_about();
    ok(example_tasks_make(&e), "tasks");
    rounds_double(&e);
    kept_answers_do_not_average_out(&e);
    task_refused(&e, 3, (struct plan_task_how){1000, 30, 0.5}, PLAN_WHY_SHARE);
    task_refused(&e, 2, (struct plan_task_how){1000, 6, NAN}, PLAN_WHY_DAYS);
    task_refused(&e, 1, (struct plan_task_how){3, 6, NAN}, PLAN_WHY_DEVICES);
    task_refused(&e, 4, (struct plan_task_how){1000, 30, NAN}, PLAN_WHY_LAW);
    return tap_done();
}
