/* internal.h - what the files of hearsay account share. */
#ifndef CLI_ACCOUNT_INTERNAL_H
#define CLI_ACCOUNT_INTERNAL_H

#include "cli/base/base.h"

/* What was asked for; 0 or NULL: not given. */
struct account_how {
    struct cli_spec spec;
    bool has_kind;  /* a question: --yes-no, --domain, --range, --strings */
    double epsilon; /* as given, not rounded to nano-epsilon */
    double delta;   /* default 1e-6 */
    double target;  /* epsilon after shuffling */
    double alpha;   /* standard error wanted */
    double lying, held;
    uint64_t nano_permanent; /* epsilon of the permanent answer */
    uint64_t k, n, reports, days, curators, targets;
    const char *grain_text, *file, *plot;
    enum cli_format format;
};

#define ACCOUNT_ROWS 24u
#define ACCOUNT_CURVES 5u
#define ACCOUNT_POINTS 41u

/* A line of the account. */
struct account_row {
    const char *name;  /* csv header, json key */
    const char *about; /* what it is; NULL: in csv and json only */
    struct cli_cell cell;
};

struct account_curve {
    const char *name;
    bool dashed;
    size_t n;
    double x[ACCOUNT_POINTS], y[ACCOUNT_POINTS];
};

/* An account, and how it is drawn. */
struct account {
    char title[160];
    const char *sentence; /* what it says, */
    const char *assumes;  /* and on what it rests */
    struct account_row rows[ACCOUNT_ROWS];
    size_t nrows;
    const char *x_label, *y_label, *about;
    struct account_curve curves[ACCOUNT_CURVES];
    size_t ncurves;
};

void account_put(struct account *a, const char *name, struct cli_cell cell,
                 const char *about);
void account_number(struct account *a, const char *name, double x,
                    const char *about);

/* A whole number of people, as a count while it is one. */
void account_people(struct account *a, const char *name, double n,
                    const char *about);

/* account_number where x is a bound from above, or from below: a table's digits
 * are then rounded to that side. */
void account_at_most(struct account *a, const char *name, double x,
                     const char *about);
void account_at_least(struct account *a, const char *name, double x,
                      const char *about);

/* A point of curve i; the first names it. Not positive: left out. */
void account_point(struct account *a, size_t i, const char *name, double x,
                   double y);

/* The places of `count` points from least to most, integers and each once,
 * evenly on a logarithmic axis: how many there are, at most ACCOUNT_POINTS. */
size_t account_places(double places[ACCOUNT_POINTS], double least, double most,
                      size_t count);

/* Draw it if asked for, then print it: the exit code. */
int account_show(const struct account *a, const struct account_how *how);

/* What the library refused, with the option in the field's place. */
int account_refused(const hsy_error *err);

/* The subcommands: the exit code. */
int account_group(const struct account_how *how);
int account_compose(const struct account_how *how);
int account_longitudinal(const struct account_how *how);
int account_shuffle(const struct account_how *how);
int account_central(const struct account_how *how);
int account_multiparty(const struct account_how *how);
int account_poisoning(const struct account_how *how);

/* An epsilon as a decimal, with an exponent or as lnN, above 0 and at most
 * 100, never rounded down. */
bool account_epsilon(double *out, const char *text);

#endif
