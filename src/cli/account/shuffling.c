/* shuffling.c - hearsay account shuffle. */
#include "cli/account/internal.h"

#include <inttypes.h>
#include <math.h>
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
    char mechanism[24];
};

static void shuffle_case(struct shuffle_cases *c, const char *name,
                         const char *about, hsy_shuffle s)
{
    c->rows[c->n++] = (struct shuffle_case){name, about, s};
}

/* Without a question: any mechanism. With one: its own bound beside. */
static int shuffle_cases(struct shuffle_cases *c, const struct account_how *how)
{
    hsy_shuffle s = {HSY_SHUFFLE_ANY, how->n, how->epsilon, 0, 0}, own;
    hsy_scheme *scheme;
    hsy_error err = {0};
    hsy_scheme_info info;
    hsy_status st;
    int failed;

    c->epsilon = how->epsilon;
    if (!how->has_kind) {
        snprintf(c->mechanism, sizeof c->mechanism, "any mechanism");
        shuffle_case(c, "clones", "for any mechanism", s);
        return 0;
    }
    failed = cli_scheme_new(&scheme, &how->spec.spec);
    if (failed)
        return failed;
    hsy_scheme_describe(scheme, &info);
    st = hsy_shuffle_scheme(&own, scheme, how->n, &err);
    free(scheme);
    if (st != HSY_OK)
        return account_refused(&err);
    snprintf(c->mechanism, sizeof c->mechanism, "%s", info.mechanism);
    c->epsilon = info.epsilon;
    s.epsilon_report = own.epsilon_report;
    shuffle_case(c, "clones", "for any mechanism", s);
    if (own.by == HSY_SHUFFLE_ANY)
        return 0;
    shuffle_case(c, "blanket", "by this mechanism's law", own);
    if (own.by == HSY_SHUFFLE_BINARY && how->n <= HSY_SHUFFLE_EXACT_MAX &&
        how->n > 0) {
        own.by = HSY_SHUFFLE_EXACT;
        shuffle_case(c, "exact", "the worst of all data, by enumeration", own);
    }
    return 0;
}

/* ---- From n -------------------------------------------------------------- */

static int shuffle_rows(struct account *a, const struct shuffle_cases *c,
                        double delta)
{
    hsy_error err = {0};
    double x = 0, least = INFINITY;

    for (size_t i = 0; i < c->n; i++) {
        if (hsy_shuffle_epsilon(&x, &c->rows[i].s, delta, &err) != HSY_OK)
            return account_refused(&err);
        x = least = fmin(x, least); /* what holds for more holds here too */
        account_at_most(a, c->rows[i].name, x, c->rows[i].about);
    }
    if (hsy_shuffle_closed(&x, &c->rows[0].s, delta, &err) != HSY_OK)
        return account_refused(&err);
    account_at_most(a, "closed_form", x, "for any mechanism, by a formula");
    return 0;
}

static int shuffle_curves(struct account *a, const struct shuffle_cases *c,
                          uint64_t n, double delta)
{
    double places[ACCOUNT_POINTS];
    const double most = (double)n, least = most > 1e6 ? most / 1e4 : 100;
    const size_t count =
        account_places(places, most > least ? least : 1, most, SHUFFLE_CURVE);
    hsy_error err = {0};

    for (size_t k = 0; k < count; k++) {
        hsy_shuffle s = c->rows[0].s;
        double x = 0;

        for (size_t i = 0; i < c->n && i < 2; i++) {
            s = c->rows[i].s;
            s.n = (uint64_t)places[k];
            if (hsy_shuffle_epsilon(&x, &s, delta, &err) != HSY_OK)
                return account_refused(&err);
            account_point(a, i, c->rows[i].name, places[k], x);
        }
        if (hsy_shuffle_closed(&x, &s, delta, &err) != HSY_OK)
            return account_refused(&err);
        account_point(a, 2, "closed_form", places[k], x);
        account_point(a, 3, "one report alone", places[k], s.epsilon_report);
    }
    a->curves[3].dashed = true;
    return 0;
}

/* ---- From a target ------------------------------------------------------- */

/* The bound of the mechanism at another epsilon, where it may choose other
 * integers and so favour another share of its outputs. */
static int shuffle_at(hsy_shuffle *out, const struct shuffle_cases *c,
                      const struct account_how *how, uint64_t nano)
{
    hsy_spec spec = how->spec.spec;
    hsy_error err = {0};
    hsy_scheme *scheme;
    hsy_status st;
    int failed;

    spec.mechanism = c->mechanism;
    spec.nano_epsilon = nano;
    failed = cli_scheme_new(&scheme, &spec);
    if (failed)
        return failed;
    st = hsy_shuffle_scheme(out, scheme, how->n, &err);
    free(scheme);
    return st == HSY_OK ? 0 : account_refused(&err);
}

/*
 * The largest epsilon of a report by a mechanism. Its outputs' shares are first
 * taken as they are, then as they are at the epsilon found, until they stay.
 * Only what holds with the shares it has itself counts; *most is what does for
 * any mechanism, and stays if nothing better is found.
 */
static int shuffle_largest(double *most, const struct shuffle_cases *c,
                           hsy_shuffle s, const struct account_how *how)
{
    bool same = false;

    for (int i = 0; i < SHUFFLE_TRIES && !same; i++) {
        hsy_error err = {0};
        hsy_shuffle there;
        double x = 0, delta = 0;
        int failed;

        if (hsy_shuffle_epsilon_report(&x, &s, how->target, how->delta, &err) !=
            HSY_OK)
            return account_refused(&err);
        x = fmin(floor(x * HSY_NANO), (double)HSY_EPSILON_MAX);
        if (x < (double)HSY_EPSILON_MIN)
            return 0;
        failed = shuffle_at(&there, c, how, (uint64_t)x);
        if (failed)
            return failed;
        if (hsy_shuffle_delta(&delta, &there, how->target, &err) != HSY_OK)
            return account_refused(&err);
        if (delta <= how->delta)
            *most = fmax(*most, x / HSY_NANO);
        same = there.favoured == s.favoured && there.overlap == s.overlap;
        s = there;
    }
    return 0;
}

/* How many people, or with n the largest epsilon of a report. */
static int shuffle_target(struct account *a, const struct shuffle_cases *c,
                          const struct account_how *how)
{
    static const char *const people[] = {"clones_n", "blanket_n", "exact_n"};
    static const char *const most[] = {"clones_epsilon_report",
                                       "blanket_epsilon_report",
                                       "exact_epsilon_report"};
    hsy_error err = {0};
    double x = 0;

    for (size_t i = 0; i < c->n; i++) {
        const hsy_shuffle *s = &c->rows[i].s;
        uint64_t n = 0;
        int failed = 0;

        if (s->by == HSY_SHUFFLE_EXACT)
            continue;
        if (hsy_shuffle_people(&n, s, how->target, how->delta, &err) != HSY_OK)
            return account_refused(&err);
        account_put(a, people[i], cli_count(n),
                    i == 0 ? "people needed, any mechanism"
                           : "people needed, this mechanism");
        if (how->n == 0)
            continue;
        if (i > 0)
            failed = shuffle_largest(&x, c, *s, how);
        else if (hsy_shuffle_epsilon_report(&x, s, how->target, how->delta,
                                            &err) != HSY_OK)
            failed = account_refused(&err);
        if (failed)
            return failed;
        account_at_least(a, most[i], x, "largest epsilon of a report for them");
    }
    return 0;
}

static void shuffle_title(struct account *a, const struct shuffle_cases *c,
                          const struct account_how *how)
{
    if (how->n > 0)
        snprintf(a->title, sizeof a->title,
                 "%" PRIu64
                 " reports at epsilon %.9g, shuffled; delta %.3g, %s",
                 how->n, c->epsilon, how->delta, c->mechanism);
    else
        snprintf(a->title, sizeof a->title,
                 "Reports at epsilon %.9g, shuffled to epsilon %.9g; delta "
                 "%.3g, %s",
                 c->epsilon, how->target, how->delta, c->mechanism);
}

int account_shuffle(const struct account_how *how)
{
    struct account a = {
        .sentence =
            "How well one person is hidden among all, from whoever sees "
            "only the shuffled reports.",
        .assumes =
            "Assumes an honest shuffler that removes names, order, times "
            "and sizes, and n honest people who send one independent "
            "report each; liars do not count. Against the shuffler "
            "itself a report has the epsilon it left with.",
        .x_label = "people",
        .y_label = "epsilon after shuffling",
        .about = "Epsilon after shuffling against the number of people, both "
                 "on logarithmic axes; it falls about with the square root."};
    struct shuffle_cases c = {.n = 0};
    int failed = shuffle_cases(&c, how);

    if (failed)
        return failed;
    shuffle_title(&a, &c, how);
    account_number(&a, "epsilon", c.epsilon, NULL);
    account_number(&a, "epsilon_exact", c.rows[0].s.epsilon_report, NULL);
    account_number(&a, "delta", how->delta, NULL);
    account_put(&a, "mechanism", cli_text(c.mechanism), NULL);
    if (how->n > 0) {
        account_put(&a, "n", cli_count(how->n), NULL);
        failed = shuffle_rows(&a, &c, how->delta);
    }
    if (!failed && how->target > 0) {
        account_number(&a, "target", how->target, NULL);
        failed = shuffle_target(&a, &c, how);
    }
    if (!failed && how->plot != NULL)
        failed = shuffle_curves(&a, &c, how->n, how->delta);
    return failed ? failed : account_show(&a, how);
}

#undef SHUFFLE_CURVE
#undef SHUFFLE_TRIES
