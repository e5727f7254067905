/* shuffling.c - one person among all, seen by who sees shuffled reports. */
#include "host/plan/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SHUFFLE_CURVE 9u
#define SHUFFLE_TRIES 8

/* The bounds that apply, each as the library takes it. */
struct shuffle_case {
    const char *name, *about;
    hsy_shuffle s;
};

struct shuffle_cases {
    struct shuffle_case rows[3];
    size_t n;
    double epsilon; /* as asked for */
    const char *mechanism;
};

static void shuffle_case(struct shuffle_cases *c, const char *name,
                         const char *about, hsy_shuffle s)
{
    c->rows[c->n++] = (struct shuffle_case){name, about, s};
}

/* The bound of a question's mechanism, at an epsilon. */
static hsy_status shuffle_own(hsy_shuffle *own, hsy_scheme_info *info,
                              struct account *a, const struct account_ask *ask,
                              const hsy_spec *spec, hsy_error *err)
{
    hsy_scheme *scheme;
    hsy_status st =
        plan_scheme(&scheme, spec, spec->nano_epsilon, &a->why, err);

    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(scheme, info);
    st = hsy_shuffle_scheme(own, scheme, ask->n, err);
    free(scheme);
    return st == HSY_OK ? st : account_refuse(a, st);
}

/* Without a question: any mechanism. With one: its own bound beside. */
static hsy_status shuffle_cases(struct shuffle_cases *c, struct account *a,
                                const struct account_ask *ask, hsy_error *err)
{
    hsy_shuffle s = {HSY_SHUFFLE_ANY, ask->n, ask->epsilon, 0, 0}, own;
    hsy_scheme_info info;
    hsy_status st;

    c->epsilon = ask->epsilon;
    c->mechanism = "any mechanism";
    if (ask->spec == NULL) {
        shuffle_case(c, "clones", "for any mechanism", s);
        return HSY_OK;
    }
    st = shuffle_own(&own, &info, a, ask, ask->spec, err);
    if (st != HSY_OK)
        return st;
    c->mechanism = a->mechanism = info.mechanism;
    c->epsilon = info.epsilon;
    s.epsilon_report = own.epsilon_report;
    shuffle_case(c, "clones", "for any mechanism", s);
    if (own.by == HSY_SHUFFLE_ANY)
        return HSY_OK;
    shuffle_case(c, "blanket", "for this mechanism", own);
    if (own.by == HSY_SHUFFLE_BINARY && ask->n <= HSY_SHUFFLE_EXACT_MAX &&
        ask->n > 0) {
        own.by = HSY_SHUFFLE_EXACT;
        shuffle_case(c, "exact", "the worst of all data, by enumeration", own);
    }
    return HSY_OK;
}

/* ---- From n -------------------------------------------------------------- */

static hsy_status shuffle_rows(struct account *a, const struct shuffle_cases *c,
                               double delta, hsy_error *err)
{
    double x = 0, least = INFINITY;
    hsy_status st;

    for (size_t i = 0; i < c->n; i++) {
        st = hsy_shuffle_epsilon(&c->rows[i].s, &x, delta, err);
        if (st != HSY_OK)
            return account_refuse(a, st);
        x = least = fmin(x, least); /* what holds for more holds here too */
        account_at_most(a, c->rows[i].name, x, c->rows[i].about);
    }
    st = hsy_shuffle_closed(&c->rows[0].s, &x, delta, err);
    if (st != HSY_OK)
        return account_refuse(a, st);
    account_at_most(a, "closed_form", x, "for any mechanism, by a formula");
    return HSY_OK;
}

/* All curves at so many people. */
static hsy_status shuffle_points(struct account *a,
                                 const struct shuffle_cases *c, double people,
                                 double delta, hsy_error *err)
{
    hsy_shuffle s = c->rows[0].s;
    hsy_status st;
    double x = 0;

    for (size_t i = 0; i < c->n && i < 2; i++) {
        s = c->rows[i].s;
        s.n = (uint64_t)people;
        st = hsy_shuffle_epsilon(&s, &x, delta, err);
        if (st != HSY_OK)
            return account_refuse(a, st);
        account_point(a, i, c->rows[i].name, people, x);
    }
    st = hsy_shuffle_closed(&s, &x, delta, err);
    if (st != HSY_OK)
        return account_refuse(a, st);
    account_point(a, 2, "closed_form", people, x);
    account_point(a, 3, "one report alone", people, s.epsilon_report);
    return HSY_OK;
}

static hsy_status shuffle_curves(struct account *a,
                                 const struct shuffle_cases *c, uint64_t n,
                                 double delta, hsy_error *err)
{
    double places[ACCOUNT_POINTS];
    const double most = (double)n, least = most > 1e6 ? most / 1e4 : 100;
    const size_t count =
        account_places(places, most > least ? least : 1, most, SHUFFLE_CURVE);
    hsy_status st = HSY_OK;

    for (size_t k = 0; k < count && st == HSY_OK; k++)
        st = shuffle_points(a, c, places[k], delta, err);
    a->curves[3].dashed = true;
    return st;
}

/* ---- From a target ------------------------------------------------------- */

/*
 * The largest epsilon of a report by a mechanism. Its outputs' shares are first
 * taken as they are, then as they are at the epsilon found, where it may choose
 * other integers and so favour another share of them, until they stay. Only
 * what holds with the shares it has itself counts; *most is what does for any
 * mechanism, and stays if nothing better is found.
 */
static hsy_status shuffle_largest(double *most, struct account *a,
                                  const struct account_ask *ask, hsy_shuffle s,
                                  hsy_error *err)
{
    hsy_spec spec = *ask->spec;
    bool same = false;

    spec.mechanism = a->mechanism;
    for (int i = 0; i < SHUFFLE_TRIES && !same; i++) {
        hsy_shuffle there;
        hsy_scheme_info info;
        double x = 0, delta = 0;
        hsy_status st =
            hsy_shuffle_epsilon_report(&s, &x, ask->target, ask->delta, err);

        if (st != HSY_OK)
            return account_refuse(a, st);
        x = fmin(floor(x * HSY_NANO), (double)HSY_EPSILON_MAX);
        if (x < (double)HSY_EPSILON_MIN)
            return HSY_OK;
        spec.nano_epsilon = (uint64_t)x;
        st = shuffle_own(&there, &info, a, ask, &spec, err);
        if (st != HSY_OK)
            return st;
        st = hsy_shuffle_delta(&there, &delta, ask->target, err);
        if (st != HSY_OK)
            return account_refuse(a, st);
        if (delta <= ask->delta)
            *most = fmax(*most, x / HSY_NANO);
        same = there.favoured == s.favoured && there.overlap == s.overlap;
        s = there;
    }
    return HSY_OK;
}

/* How many people, or with n the largest epsilon of a report. */
static hsy_status shuffle_target(struct account *a,
                                 const struct shuffle_cases *c,
                                 const struct account_ask *ask, hsy_error *err)
{
    static const char *const people[] = {"clones_n", "blanket_n", "exact_n"};
    static const char *const most[] = {"clones_epsilon_report",
                                       "blanket_epsilon_report",
                                       "exact_epsilon_report"};
    double x = 0;

    for (size_t i = 0; i < c->n; i++) {
        const hsy_shuffle *s = &c->rows[i].s;
        uint64_t n = 0;
        hsy_status st;

        if (s->by == HSY_SHUFFLE_EXACT)
            continue;
        st = hsy_shuffle_people(s, &n, ask->target, ask->delta, err);
        if (st != HSY_OK)
            return account_refuse(a, st);
        account_count(a, people[i], n,
                      i == 0 ? "people needed, any mechanism"
                             : "people needed, this mechanism");
        if (ask->n == 0)
            continue;
        if (i > 0) {
            st = shuffle_largest(&x, a, ask, *s, err);
        } else {
            st =
                hsy_shuffle_epsilon_report(s, &x, ask->target, ask->delta, err);
            a->why = st == HSY_OK ? a->why : PLAN_WHY_ASKED;
        }
        if (st != HSY_OK)
            return st;
        account_at_least(a, most[i], x, "largest epsilon of a report for them");
    }
    return HSY_OK;
}

static void shuffle_title(struct account *a, const struct shuffle_cases *c,
                          const struct account_ask *ask)
{
    if (ask->n > 0)
        snprintf(a->title, sizeof a->title,
                 "%" PRIu64
                 " reports at epsilon %.9g, shuffled; delta %.3g, %s",
                 ask->n, c->epsilon, ask->delta, c->mechanism);
    else
        snprintf(a->title, sizeof a->title,
                 "Reports at epsilon %.9g, shuffled to epsilon %.9g; delta "
                 "%.3g, %s",
                 c->epsilon, ask->target, ask->delta, c->mechanism);
}

hsy_status account_shuffle(struct account *out, const struct account_ask *ask,
                           hsy_error *err)
{
    struct shuffle_cases c = {.n = 0};
    hsy_status st;

    *out = (struct account){
        .sentence =
            "Privacy loss of one person among all, against anyone who sees "
            "only the shuffled reports.",
        .assumes =
            "Assumes an honest shuffler that removes names, order, times "
            "and sizes, and n honest people who send one independent "
            "report each; leave liars out of n. Against the shuffler "
            "itself a report has its own epsilon.",
        .x_label = "people",
        .y_label = "epsilon after shuffling",
        .about = "Epsilon after shuffling against the number of people, both "
                 "on logarithmic axes; it falls about with the square root."};
    st = shuffle_cases(&c, out, ask, err);
    if (st != HSY_OK)
        return st;
    shuffle_title(out, &c, ask);
    account_number(out, "epsilon", c.epsilon, NULL);
    account_number(out, "epsilon_exact", c.rows[0].s.epsilon_report, NULL);
    account_number(out, "delta", ask->delta, NULL);
    account_text(out, "mechanism", c.mechanism, NULL);
    if (ask->n > 0) {
        account_count(out, "n", ask->n, NULL);
        st = shuffle_rows(out, &c, ask->delta, err);
    }
    if (st == HSY_OK && ask->target > 0) {
        account_number(out, "target", ask->target, NULL);
        st = shuffle_target(out, &c, ask, err);
    }
    if (st == HSY_OK && ask->curves)
        st = shuffle_curves(out, &c, ask->n, ask->delta, err);
    return st;
}
