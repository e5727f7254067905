/* internal.h - what the files that make figures share. */
#ifndef SERVER_COLLECTOR_FIGURES_INTERNAL_H
#define SERVER_COLLECTOR_FIGURES_INTERNAL_H

#include "host/analysis/analysis.h"
#include "host/base/json.h"
#include "server/collector/figures/figures.h"

/* A figure that is being made. Owns what is marked so. */
struct figure {
    const struct roster_entry *entry;
    const struct figure_how *how;
    struct figure_span span;
    hsy_scheme_info info;
    hsy_tally tally;
    const struct engine_rounds *rounds; /* NULL: nobody is in it twice */
    hsy_attendance attended;            /* of them */
    hsy_release_info release;
    hsy_analysis_tally of;             /* of all these */
    hsy_analysis_text *candidates;     /* owned; NULL: none are named */
    hsy_analysis_request request;      /* that how makes */
    struct analysis_evidence evidence; /* owned */
    hsy_analysis_result result;        /* owned */
};

/* HSY_E_EMPTY below min_reports, with limit. */
hsy_status figure_open(struct figure *f, const struct figure_of *of,
                       const struct figure_how *how, hsy_error *err);
void figure_clear(struct figure *f);

/* A whole figure as members of an object that is open; its result stays. */
hsy_status figure_put(struct put *p, struct figure *f, hsy_error *err);

#endif
