/* internal.h - what the files that make figures share. */
#ifndef SERVER_COLLECTOR_FIGURES_INTERNAL_H
#define SERVER_COLLECTOR_FIGURES_INTERNAL_H

#include "host/analysis/analysis.h"
#include "host/base/json.h"
#include "server/collector/figures/figures.h"

#define FIGURE_TOP 50u           /* strings shown if none is said, ... */
#define FIGURE_TOP_MAX 10000u    /* ... and rows of any figure at most */
#define FIGURE_ROWS 1000u        /* a longer list is cut to its largest */
#define FIGURE_VALUES (1u << 20) /* a longer one has no figure */
#define FIGURE_CANDIDATES 20000u /* strings that are looked for, at most */
#define FIGURE_ODD 1e-6          /* what chance does so seldom is not chance */

struct figure_name {
    const char *text;
    size_t len;
};

/* A figure that is being made. Owns what is marked so. */
struct figure {
    const struct roster_entry *entry;
    const struct figure_how *how;
    struct figure_span span;
    hsy_confidence confidence;
    hsy_scheme_info info;
    hsy_tally tally;
    struct shares_tally of;             /* of the two, and the entry's scheme */
    const struct engine_rounds *rounds; /* NULL: nobody is in it twice */
    hsy_attendance attended;            /* of them */
    hsy_release_info release;
    double shared; /* kept noise in common with the other of two */

    /* Values asked for; d names of none is NULL: they are numbers. */
    struct figure_name *names; /* owned */
    size_t nnames;
    uint64_t *codes; /* owned; NULL: the whole domain, or yes and no */

    hsy_evidence *points;     /* owned */
    hsy_poison_bound *bounds; /* owned; NULL: there are none */
    size_t npoints;

    struct shares_row *rows; /* owned */
    size_t count, total;     /* shown, and asked for */
    bool sorted;             /* the largest first */
    hsy_estimate rest;       /* what is not shown, if some is not; NaN: no
                                error is known */
    hsy_poison_bound lying;
};

/* HSY_E_EMPTY below min_reports, with limit. */
hsy_status figure_open(struct figure *f, const struct figure_of *of,
                       const struct figure_how *how, hsy_error *err);
void figure_clear(struct figure *f);

/* Names of the values asked for, and their codes (names.c). */
hsy_status figure_ask(struct figure *f, hsy_error *err);

/* What row `place` is called, as a member "value". */
void figure_put_name(struct put *p, const struct figure *f, uint32_t place);

/* The largest rows alone, where there are many. */
void figure_cut(struct figure *f, bool difference);

/* The confidence of rows that will be cut from `total`: its level is adjusted
 * for their selection. */
hsy_confidence figure_selected(const struct figure *f, size_t total);

/* How many were selected from how many, and the level of their intervals; and
 * what is not among them. */
void figure_put_selection(struct put *p, uint64_t selected, uint64_t of,
                          double level);
void figure_put_rest(struct put *p, const hsy_estimate *rest);

/* What lying devices can have done; null where that has no bound. */
void figure_put_lying(struct put *p, const struct figure *f);

/* The members of one row after its name: of an estimate, and of a row of f,
 * which has an interval for liars too if something is assumed of them. */
void figure_put_estimate(struct put *p, const hsy_estimate *est);
void figure_put_row(struct put *p, const struct figure *f,
                    const struct shares_row *row);

/* Whether the mechanism finds strings nobody listed, and all that is found
 * (figure_found.c). */
bool figure_discovers(const struct figure *f);
hsy_status figure_found(struct put *p, struct figure *f, hsy_error *err);

/* RAPPOR's decoder (figure_rappor.c). */
bool figure_is_rappor(const struct figure *f);
hsy_status figure_rappor(struct put *p, struct figure *f, hsy_error *err);

/* A whole figure as members of an object that is open. */
hsy_status figure_put(struct put *p, struct figure *f, hsy_error *err);

#endif
