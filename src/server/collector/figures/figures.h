/*
 * figures.h - tallies become numbers for the analyst, each with its error.
 *
 * A figure is what the page and `GET /v1/tasks/ID/estimate` show: JSON of one
 * task at one moment, in the words of `hearsay estimate --format json`, with
 * what lying devices could do and what the privacy is. Made on a thread of its
 * own from a copy of a tally, so that nothing waits for it. Nothing is shown
 * below the task's min_reports.
 */
#ifndef SERVER_COLLECTOR_FIGURES_FIGURES_H
#define SERVER_COLLECTOR_FIGURES_FIGURES_H

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
    uint32_t top;           /* the largest; 0: all, of strings
                               50, or what is found */
    const char *candidates; /* strings: one a line; NULL: none */
    size_t candidates_len;
    uint64_t devices; /* comparisons: so many in all; 0: not known */
};

/* What a figure is of: an entry, its tally or that of some days, and of which
 * rounds the reports are (NULL: nobody is in it twice). */
struct figure_of {
    const struct roster_entry *entry;
    int64_t *words;
    const struct engine_rounds *rounds;
    struct figure_span span;
};

/* Whether there can be a figure, as far as that is known without a tally:
 * HSY_E_RANGE with the field, HSY_E_UNKNOWN. */
hsy_status figure_check(const struct roster_entry *e,
                        const struct figure_how *how, hsy_error *err);

/* JSON text of it, to be freed; HSY_E_EMPTY below min_reports, with limit: of a
 * task that repeats, devices in its largest round. Any thread; may take
 * seconds. */
hsy_status figure_json(char **json, size_t *len, const struct figure_of *of,
                       const struct figure_how *how, hsy_error *err);

/* The difference of two tallies of one question, e.g. releases or days. */
hsy_status figure_difference(char **json, size_t *len,
                             const struct figure_of *a,
                             const struct figure_of *b,
                             const struct figure_how *how, hsy_error *err);

/* The same figure as CSV (value,estimate,stderr,low,high and further columns
 * after them: what rows have, and what the figure says of itself) and as SVG.
 */
hsy_status figure_csv(char **csv, size_t *len, const char *json,
                      size_t json_len, hsy_error *err);
hsy_status figure_svg(char **svg, size_t *len, const char *json,
                      size_t json_len, hsy_error *err);

#endif
