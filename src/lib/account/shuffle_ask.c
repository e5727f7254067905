/*
 * shuffle_ask.c - what is asked of shuffling: delta, epsilon, people, the
 * largest epsilon of a report; and the closed form.
 */
#include "lib/account/internal.h"

#include "lib/core/fail.h"

#include <math.h>

/* ---- Checks -------------------------------------------------------------- */

static hsy_status shuffle_check_people(const hsy_shuffle *s, hsy_error *err)
{
    if (s->n == 0 || s->n > HSY_SHUFFLE_PEOPLE_MAX)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_N,
                               "people: from 1 to 1000000000000",
                               HSY_SHUFFLE_PEOPLE_MAX);
    if (s->by == HSY_SHUFFLE_EXACT && s->n > HSY_SHUFFLE_EXACT_MAX)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_N,
                               "the exact form is for 1 to 1000 people",
                               HSY_SHUFFLE_EXACT_MAX);
    return HSY_OK;
}

static hsy_status shuffle_check(const hsy_shuffle *s, hsy_error *err)
{
    const double least = fmax(2 * s->favoured - 1, 0);

    if ((unsigned)s->by > (unsigned)HSY_SHUFFLE_EXACT)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_BY, "no such bound");
    if (s->by == HSY_SHUFFLE_TWO_LEVEL && !(s->favoured > 0 && s->favoured < 1))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_FAVOURED,
                        "the share of outputs that a truth favours is above 0 "
                        "and below 1");
    if (s->by == HSY_SHUFFLE_TWO_LEVEL &&
        !(s->overlap >= least * (1 - ACCOUNT_SLACK) &&
          s->overlap < s->favoured))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_OVERLAP,
                        "the share of outputs that two truths favour is below "
                        "that of one, and at least twice it less 1");
    return hsy_account_epsilon_check(s->epsilon_report,
                                     HSY_FIELD_EPSILON_REPORT, err);
}

static hsy_status shuffle_check_target(double epsilon, hsy_error *err)
{
    if (epsilon >= 0 && epsilon <= ACCOUNT_EPSILON_MAX)
        return HSY_OK;
    return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_EPSILON, "from 0 to 100");
}

/* ---- Answers ------------------------------------------------------------- */

/* Rounded up, but no chance is above 1. */
static double shuffle_value(const hsy_shuffle *s, double epsilon)
{
    return fmin(s->by == HSY_SHUFFLE_EXACT
                    ? hsy_account_shuffled(s->n, s->epsilon_report, epsilon)
                    : hsy_account_shuffle(s, epsilon),
                1);
}

hsy_status hsy_shuffle_delta(const hsy_shuffle *s, double *delta,
                             double epsilon, hsy_error *err)
{
    hsy_status st = shuffle_check(s, err);

    if (st == HSY_OK)
        st = shuffle_check_people(s, err);
    if (st == HSY_OK)
        st = shuffle_check_target(epsilon, err);
    if (st == HSY_OK)
        *delta = shuffle_value(s, epsilon);
    return st;
}

/* One of the three is sought. */
struct shuffle_want {
    hsy_shuffle s;
    double epsilon, log_delta;
};

static double shuffle_miss(const struct shuffle_want *w)
{
    return log(shuffle_value(&w->s, w->epsilon)) - w->log_delta;
}

static double shuffle_by_epsilon(void *ctx, double x)
{
    struct shuffle_want *w = ctx;

    w->epsilon = x;
    return shuffle_miss(w);
}

static double shuffle_by_epsilon_report(void *ctx, double x)
{
    struct shuffle_want *w = ctx;

    w->s.epsilon_report = x;
    return shuffle_miss(w);
}

static double shuffle_by_people(void *ctx, double x)
{
    struct shuffle_want *w = ctx;

    w->s.n = (uint64_t)x;
    return shuffle_miss(w);
}

hsy_status hsy_shuffle_epsilon(const hsy_shuffle *s, double *epsilon,
                               double delta, hsy_error *err)
{
    hsy_status st = shuffle_check(s, err);
    struct shuffle_want w = {.s = *s, .log_delta = log(delta)};
    struct account_search search = {.f = shuffle_by_epsilon,
                                    .ctx = &w,
                                    .bad = 0,
                                    .good = s->epsilon_report,
                                    .width = 1e-12};

    if (st == HSY_OK)
        st = shuffle_check_people(s, err);
    if (st == HSY_OK)
        st = hsy_account_delta_check(delta, err);
    if (st != HSY_OK)
        return st;
    search.guess = hsy_account_shuffle_guess(s, delta);
    *epsilon =
        s->by == HSY_SHUFFLE_EXACT
            ? hsy_account_shuffled_epsilon(s->n, s->epsilon_report, delta)
            : hsy_account_search(&search);
    return HSY_OK;
}

/* From few people on, four times as many each time, until there are enough:
 * more only hide better. */
static hsy_status shuffle_bracket(struct account_search *search, double most,
                                  hsy_error *err)
{
    while (shuffle_by_people(search->ctx, search->good) > 0) {
        if (search->good >= most)
            return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_N,
                                  "no number of people within the limit is "
                                  "enough",
                                  (uint64_t)most);
        search->bad = search->good;
        search->good = fmin(4 * search->good, most);
    }
    return HSY_OK;
}

hsy_status hsy_shuffle_people(const hsy_shuffle *s, uint64_t *n, double epsilon,
                              double delta, hsy_error *err)
{
    struct shuffle_want w = {
        .s = *s, .epsilon = epsilon, .log_delta = log(delta)};
    struct account_search search = {.f = shuffle_by_people,
                                    .ctx = &w,
                                    .bad = 1,
                                    .good = 1,
                                    .width = 1e-9,
                                    .whole = true};
    hsy_status st = shuffle_check(s, err);

    if (st == HSY_OK)
        st = shuffle_check_target(epsilon, err);
    if (st == HSY_OK)
        st = hsy_account_delta_check(delta, err);
    if (st == HSY_OK)
        st = shuffle_bracket(&search,
                             s->by == HSY_SHUFFLE_EXACT
                                 ? (double)HSY_SHUFFLE_EXACT_MAX
                                 : (double)HSY_SHUFFLE_PEOPLE_MAX,
                             err);
    if (st != HSY_OK)
        return st;
    *n = (uint64_t)(search.good == 1 ? 1 : hsy_account_search(&search));
    return HSY_OK;
}

hsy_status hsy_shuffle_epsilon_report(const hsy_shuffle *s,
                                      double *epsilon_report, double epsilon,
                                      double delta, hsy_error *err)
{
    struct shuffle_want w = {
        .s = *s, .epsilon = epsilon, .log_delta = log(delta)};
    const struct account_search search = {.f = shuffle_by_epsilon_report,
                                          .ctx = &w,
                                          .bad = ACCOUNT_EPSILON_MAX,
                                          .good = epsilon,
                                          .guess = 2 * epsilon,
                                          .width = 1e-12};
    hsy_status st;

    w.s.epsilon_report = 1;
    st = shuffle_check(&w.s, err);
    if (st == HSY_OK)
        st = shuffle_check_people(s, err);
    if (st == HSY_OK)
        st = hsy_account_epsilon_check(epsilon, HSY_FIELD_EPSILON, err);
    if (st == HSY_OK)
        st = hsy_account_delta_check(delta, err);
    if (st == HSY_OK)
        *epsilon_report = hsy_account_search(&search);
    return st;
}

/* [FMT21, Thm 3.1]; where it says nothing, a report alone does. */
hsy_status hsy_shuffle_closed(const hsy_shuffle *s, double *epsilon,
                              double delta, hsy_error *err)
{
    const double n = (double)s->n, e0 = s->epsilon_report, rho = exp(e0);
    const double many = log(4 / delta);
    hsy_status st = shuffle_check_people(s, err);

    if (st == HSY_OK)
        st = hsy_account_epsilon_check(e0, HSY_FIELD_EPSILON_REPORT, err);
    if (st == HSY_OK)
        st = hsy_account_delta_check(delta, err);
    if (st != HSY_OK)
        return st;
    *epsilon = e0;
    if (n >= 16 * many * rho)
        *epsilon = fmin(
            e0, log1p(tanh(e0 / 2) * (8 * sqrt(rho * many / n) + 8 * rho / n)) *
                    (1 + ACCOUNT_SLACK));
    return HSY_OK;
}
