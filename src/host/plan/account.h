/*
 * account.h - what was spent: accounts of privacy.
 *
 * An account is a title, rows of a name, a value and what it is, two sentences
 * (what it says, and on what it rests), and if asked for the curves of a
 * figure. Every number is of the question alone; no truth is needed. How an
 * account is printed or drawn is the caller's business. All texts are literals
 * but the title.
 */
#ifndef HOST_PLAN_ACCOUNT_H
#define HOST_PLAN_ACCOUNT_H

#include "host/plan/plan.h"

#define ACCOUNT_ROWS 24u
#define ACCOUNT_CURVES 5u
#define ACCOUNT_POINTS 41u

/* What is asked; 0 or NULL: not given. */
struct account_ask {
    const hsy_spec *spec; /* the question; NULL: none */
    double epsilon;       /* not rounded to nano-epsilon */
    double delta;         /* chance that a bound fails */
    double target;        /* epsilon after shuffling */
    double lying, held;
    uint64_t nano_permanent; /* epsilon of the permanent answer */
    const char *grain;       /* a decimal in the units of the range */
    uint64_t k, n, reports, days, targets;
    hsy_spent *spent; /* of compose, instead of epsilon and k; their order and
                         number are lost */
    size_t nspent;
    bool curves; /* wanted */
};

enum account_type { ACCOUNT_TEXT, ACCOUNT_COUNT, ACCOUNT_NUMBER };

struct account_row {
    const char *name;  /* csv header, json key */
    const char *about; /* what it is; NULL: a number that was given */
    enum account_type type;
    const char *text;
    uint64_t count;
    double number;
    int side; /* 1: a bound from above, -1: from below, so that digits that are
                 cut are rounded to that side */
};

/* Points on logarithmic axes, all above 0. */
struct account_curve {
    const char *name;
    bool dashed;
    size_t n;
    double x[ACCOUNT_POINTS], y[ACCOUNT_POINTS];
};

struct account {
    enum plan_why why; /* of a failure, and then nothing else but mechanism */
    char title[160];
    const char *sentence; /* what it says, */
    const char *assumes;  /* and on what it rests */
    struct account_row rows[ACCOUNT_ROWS];
    size_t nrows;
    const char *x_label, *y_label, *about; /* of the figure */
    struct account_curve curves[ACCOUNT_CURVES];
    size_t ncurves;
    const char *mechanism; /* the one concerned, if there is a question */
};

/* A group of k people that changes together, one report each (spending.c). */
hsy_status account_group(struct account *out, const struct account_ask *ask,
                         hsy_error *err);

/* All reports of one person, with fresh coins each: k of one epsilon, or those
 * of a list. */
hsy_status account_compose(struct account *out, const struct account_ask *ask,
                           hsy_error *err);

/* The same question again and again, from a permanent answer; without a
 * question a budget that begins anew every day (repeated.c). */
hsy_status account_longitudinal(struct account *out,
                                const struct account_ask *ask, hsy_error *err);

/* One person among n, seen by who sees shuffled reports only; by any mechanism
 * if there is no question (shuffling.c). */
hsy_status account_shuffle(struct account *out, const struct account_ask *ask,
                           hsy_error *err);

/* What devices that lie gain (poison_gain.c). */
hsy_status account_poisoning(struct account *out, const struct account_ask *ask,
                             hsy_error *err);

/* Its curves; the caller frees *svg (plan_figures.c). */
hsy_status account_figure(char **svg, size_t *len, const struct account *a,
                          hsy_error *err);

/* ---- What was spent, from a file (spent.c) ------------------------------- */

/* An epsilon as a decimal, with an exponent or as lnN, above 0 and at most
 * 100, never rounded down. */
bool account_epsilon(double *out, const char *text);

/* An epsilon a line, or "0.5,30" for so many of them; the caller frees *spent,
 * after a failure too. HSY_E_EMPTY, HSY_E_NOMEM, HSY_E_FORMAT with the line,
 * HSY_E_OVERFLOW with the line at which there are more than HSY_COMPOSE_MAX
 * together; else as lines_next. */
hsy_status account_spent(hsy_spent **spent, size_t *n, int fd, hsy_error *err);

#endif
