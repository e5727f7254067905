/* internal.h - what the files that make figures share. */
#ifndef SERVER_COLLECTOR_FIGURES_INTERNAL_H
#define SERVER_COLLECTOR_FIGURES_INTERNAL_H

#include "host/base/json.h"
#include "server/collector/figures/figures.h"

#include <stdatomic.h>

/* Owns what is marked so. What is only there while it is made, or compared, is
 * zero afterwards. */
struct figure {
    atomic_uint holders;
    struct roster *roster; /* held; NULL: the entry stays without it */
    const struct roster_entry *entry;
    struct figure_span span;
    double lying;               /* assumed share */
    hsy_analysis_result result; /* owned */

    const struct figure_how *how;
    hsy_scheme_info info;
    hsy_tally tally;
    const struct engine_rounds *rounds; /* NULL: nobody is in it twice */
    hsy_attendance attended;            /* of them */
    hsy_release_info release;
    hsy_analysis_tally of;             /* of all these */
    hsy_analysis_text *candidates;     /* owned; NULL: none are named */
    hsy_analysis_request request;      /* that how makes */
    struct analysis_evidence evidence; /* owned */
};

/* figure_make, with all that a comparison needs. */
hsy_status figure_open(struct figure **out, const struct figure_of *of,
                       const struct figure_how *how, hsy_error *err);

/* A whole figure as members of an object that is open. */
void figure_put(struct put *p, const struct figure *f);

#endif
