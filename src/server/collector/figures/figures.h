/*
 * figures.h - tallies become numbers for the analyst, each with its error.
 *
 * A figure is what the page and `GET /v1/tasks/ID/estimate` show: the result of
 * one task at one moment, in the words of `hearsay estimate`, with what lying
 * devices could do and what the privacy is. Made on a thread of its own from a
 * copy of a tally, so that nothing waits for it. Nothing is shown below the
 * task's min_reports.
 */
#ifndef SERVER_COLLECTOR_FIGURES_FIGURES_H
#define SERVER_COLLECTOR_FIGURES_FIGURES_H

#include "host/analysis/analysis.h"
#include "server/engine/engine.h"
#include "server/intake/roster.h"

/* The first and the last day of sending that a tally has reports of; 0: it is
 * of no day. */
struct figure_span {
    uint32_t first, last;
    uint64_t undated; /* reports of no day: of tallies that were merged */
};

struct figure_how {
    double level;           /* 0.95 */
    double lying;           /* share of lying devices, 0.01 */
    hsy_target target;      /* whom shares and means are of */
    uint32_t top;           /* the largest; 0: all, of strings
                               50, or what is found */
    const char *candidates; /* strings: one a line; NULL: none */
    size_t candidates_len;
    uint64_t devices; /* comparisons: so many in all; 0: not known */
};

/* What a figure is of: an entry, its tally or that of some days, and of which
 * rounds the reports are (NULL: nobody is in it twice). The roster is the
 * entry's. */
struct figure_of {
    struct roster *roster;
    const struct roster_entry *entry;
    int64_t *words;
    const struct engine_rounds *rounds;
    struct figure_span span;
};

/* Whether there can be a figure, as far as that is known without a tally:
 * HSY_E_RANGE with the field, HSY_E_UNKNOWN. */
hsy_status figure_check(const struct roster_entry *e,
                        const struct figure_how *how, hsy_error *err);

/* A figure does not change once it is made, and is counted: any thread may read
 * one that it holds. It keeps the roster, not the words. */
struct figure;

/* HSY_E_EMPTY below min_reports, with limit: of a task that repeats, devices in
 * its largest round. Any thread; may take seconds. */
hsy_status figure_make(struct figure **out, const struct figure_of *of,
                       const struct figure_how *how, hsy_error *err);
struct figure *figure_hold(struct figure *f); /* one more reference; f */
void figure_drop(struct figure *f);           /* NULL is allowed */

const hsy_analysis_result *figure_result(const struct figure *f);
struct figure_span figure_span(const struct figure *f);

/* As JSON, as CSV (the command's columns, then first_day, last_day, release
 * and, if there are no intervals, why) and as SVG, to be freed. */
typedef hsy_status figure_write(char **out, size_t *len, const struct figure *f,
                                hsy_error *err);
figure_write figure_json, figure_csv, figure_svg;

/* The difference of two tallies of one question, e.g. releases or days: JSON,
 * to be freed. */
hsy_status figure_difference(char **json, size_t *len,
                             const struct figure_of *a,
                             const struct figure_of *b,
                             const struct figure_how *how, hsy_error *err);

#endif
