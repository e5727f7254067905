/* spending.c - hearsay account group and compose. */
#include "cli/account/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPEND_CURVE 33u /* places along the figure */

/* ---- Epsilons from text -------------------------------------------------- */

bool account_epsilon(double *out, const char *text)
{
    const bool ln = strncmp(text, "ln", 2) == 0;
    double x;

    text += ln ? 2 : 0;
    if (*text == '.' || !cli_parse_number(&x, text))
        return false;
    x = ln ? log(x) * (1 + 1e-15) : x;
    if (!(x > 0 && x <= 100))
        return false;
    *out = x;
    return true;
}

/* "0.5" or "0.5,30": a report of epsilon, or so many. */
static bool spend_line(hsy_spent *out, const struct line *line)
{
    char text[64];
    char *comma;

    if (line->len == 0 || line->len >= sizeof text ||
        memchr(line->text, '\0', line->len) != NULL) /* ends no number */
        return false;
    memcpy(text, line->text, line->len);
    text[line->len] = '\0';
    comma = strchr(text, ',');
    out->count = 1;
    if (comma != NULL) {
        *comma = '\0';
        if (!cli_parse_count(&out->count, comma + 1) || out->count == 0 ||
            out->count > HSY_COMPOSE_MAX)
            return false;
    }
    return account_epsilon(&out->epsilon, text);
}

struct spend_list {
    const char *name; /* of the file */
    hsy_spent *spent; /* owned */
    size_t n, room;
    uint64_t reports;
};

static bool spend_append(struct spend_list *l, hsy_spent one)
{
    if (l->n == l->room) {
        size_t room = l->room == 0 ? 1024 : 2 * l->room;
        hsy_spent *more = realloc(l->spent, room * sizeof *more);

        if (more == NULL)
            return false;
        l->spent = more;
        l->room = room;
    }
    l->spent[l->n++] = one;
    return true;
}

static int spend_take(void *ctx, const struct line *line, uint64_t number)
{
    struct spend_list *l = ctx;
    hsy_spent one;

    if (!spend_line(&one, line))
        return cli_fail("%s: line %" PRIu64
                        ": one epsilon a line, above 0 and at most 100, or "
                        "with how many reports as 0.5,30",
                        l->name, number);
    l->reports += one.count;
    if (l->reports > HSY_COMPOSE_MAX)
        return cli_fail("%s: line %" PRIu64 ": more than %u reports together",
                        l->name, number, HSY_COMPOSE_MAX);
    return spend_append(l, one) ? 0 : cli_fail_nomem();
}

static int spend_read(struct spend_list *l, const char *path)
{
    int fd = cli_open_input(path), failed;

    if (fd == -1)
        return CLI_FAILED;
    l->name = cli_input_name(path);
    failed = cli_lines_each(fd, l->name, spend_take, l);
    cli_close_input(fd);
    if (!failed && l->n == 0)
        failed = cli_fail("%s: no epsilon in it: nothing was spent", l->name);
    return failed;
}

/* ---- The account --------------------------------------------------------- */

static int spend_exact(double *exact, const hsy_spent *spent, size_t kinds,
                       double delta)
{
    double *scratch = NULL;
    hsy_error err = {0};
    hsy_status st;

    if (kinds > 1) {
        scratch = malloc(hsy_compose_scratch() * sizeof *scratch);
        if (scratch == NULL)
            return cli_fail_nomem();
    }
    st = hsy_compose_epsilon(exact, spent, kinds, delta, scratch, &err);
    free(scratch);
    return st == HSY_OK ? 0 : account_refused(&err);
}

/* The exact one is of at most HSY_COMPOSE_KINDS epsilons: near ones of more are
 * rounded up for it, and for nothing else. */
static int spend_rows(struct account *a, hsy_spent *spent, size_t kinds,
                      double delta)
{
    hsy_composed c;
    hsy_error err = {0};
    double exact = 0;
    int failed;

    if (hsy_compose_bounds(&c, spent, kinds, delta, &err) != HSY_OK)
        return account_refused(&err);
    kinds = hsy_compose_merge(spent, kinds, HSY_COMPOSE_KINDS);
    failed = spend_exact(&exact, spent, kinds, delta);
    if (failed)
        return failed;
    exact = fmin(exact, fmin(c.basic, fmin(c.divergence, c.advanced)));
    account_at_most(a, "basic", c.basic, "the sum; needs no delta");
    account_at_most(a, "grouposition", c.grouposition,
                    "half the squares, and a deviation");
    account_at_most(a, "grouposition_kl", c.divergence,
                    "the same by exact divergences");
    account_at_most(a, "advanced", c.advanced, "advanced composition");
    account_at_most(a, "exact", exact,
                    kinds == 1
                        ? "by the law of the loss: no less is true"
                        : "by the law of the loss, on a grid, from above");
    return 0;
}

/* The same against the number of reports, one epsilon. */
static int spend_curves(struct account *a, double epsilon, uint64_t k,
                        double delta)
{
    double places[ACCOUNT_POINTS];
    const size_t n = account_places(places, 1, (double)k, SPEND_CURVE);

    for (size_t i = 0; i < n; i++) {
        const hsy_spent spent = {epsilon, (uint64_t)places[i]};
        hsy_error err = {0};
        hsy_composed c;
        double exact = 0;
        int failed;

        if (hsy_compose_bounds(&c, &spent, 1, delta, &err) != HSY_OK)
            return account_refused(&err);
        failed = spend_exact(&exact, &spent, 1, delta);
        if (failed)
            return failed;
        account_point(a, 0, "basic", places[i], c.basic);
        account_point(a, 1, "grouposition", places[i], c.grouposition);
        account_point(a, 2, "advanced", places[i], c.advanced);
        account_point(a, 3, "exact", places[i], exact);
    }
    return 0;
}

static void spend_put(struct account *a, const struct account_how *how,
                      uint64_t k)
{
    if (how->epsilon > 0)
        account_number(a, "epsilon", how->epsilon, NULL);
    account_put(a, "k", cli_count(k), NULL);
    account_number(a, "delta", how->delta, NULL);
}

static int spend_one(struct account *a, const struct account_how *how,
                     uint64_t k)
{
    hsy_spent spent = {how->epsilon, k};
    int failed;

    spend_put(a, how, k);
    failed = spend_rows(a, &spent, 1, how->delta);
    if (!failed && how->plot != NULL)
        failed = spend_curves(a, how->epsilon, k, how->delta);
    return failed ? failed : account_show(a, how);
}

int account_group(const struct account_how *how)
{
    struct account a = {
        .sentence =
            "How well a group that changes together is hidden: k "
            "people, one report each. Every line is a bound that holds: the "
            "smallest counts.",
        .assumes = "Assumes that each report has coins of its own and is asked "
                   "the same whatever others answered (non-interactive). All "
                   "but basic may fail with chance delta.",
        .x_label = "people in the group",
        .y_label = "epsilon of the group",
        .about = "Epsilon of a group against its size, both on logarithmic "
                 "axes: the sum grows with the size, the exact value in the "
                 "end with its square root and a slower sum."};

    snprintf(a.title, sizeof a.title,
             "A group of %" PRIu64 " at epsilon %.9g, delta %.3g", how->k,
             how->epsilon, how->delta);
    return spend_one(&a, how, how->k);
}

static int spend_file(struct account *a, const struct account_how *how)
{
    struct spend_list l = {0};
    size_t kinds;
    int failed = spend_read(&l, how->file);

    if (!failed) {
        kinds = hsy_compose_merge(l.spent, l.n, l.n);
        snprintf(a->title, sizeof a->title,
                 "%" PRIu64 " reports of %zu different epsilons, delta %.3g",
                 l.reports, kinds, how->delta);
        spend_put(a, how, l.reports);
        account_put(a, "kinds", cli_count(kinds), NULL);
        failed = spend_rows(a, l.spent, kinds, how->delta);
    }
    free(l.spent);
    return failed ? failed : account_show(a, how);
}

int account_compose(const struct account_how *how)
{
    struct account a = {
        .sentence = "What all reports of one person tell together, if each has "
                    "fresh coins. Every line is a bound that holds: the "
                    "smallest counts.",
        .assumes = "Assumes that each report has coins of its own; what is "
                   "asked may hang on the answers before. All but basic may "
                   "fail with chance delta. Reports from a kept answer do not "
                   "add up like this: any number is bounded by the permanent "
                   "epsilon, but few of a small epsilon may cost more. For "
                   "them: 'hearsay account longitudinal'.",
        .x_label = "reports",
        .y_label = "epsilon of all together",
        .about = "Epsilon of many reports against their number, both on "
                 "logarithmic axes, by the sum, by two bounds, and exactly."};

    if (how->file != NULL)
        return spend_file(&a, how);
    snprintf(a.title, sizeof a.title,
             "%" PRIu64 " reports at epsilon %.9g, delta %.3g", how->k,
             how->epsilon, how->delta);
    return spend_one(&a, how, how->k);
}

#undef SPEND_CURVE
