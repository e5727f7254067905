/* catalogue.h - what every mechanism costs for a question, and which one `auto`
 * takes. */
#ifndef HOST_PLAN_CATALOGUE_H
#define HOST_PLAN_CATALOGUE_H

#include "hearsay.h"

#define CATALOGUE_MAX 32u
#define CATALOGUE_WHY 160u /* bytes of a line */

/* What a scheme costs. */
struct catalogue_cost {
    bool fits; /* the rest is set */
    hsy_scheme_info info;
    uint64_t memory; /* a tally and the scratch of estimating, in bytes */
};

struct catalogue_row {
    const hsy_catalogue *entry;
    struct catalogue_cost cost;
    bool chosen;    /* by auto, for its kind */
    char kinds[48]; /* their names, a space between them */
};

/* Zero it; say epsilon, limits and users in asked, and how many values; with
 * domain 0 no costs are asked for. */
struct catalogue {
    hsy_spec asked;
    uint64_t domain;
    struct catalogue_row rows[CATALOGUE_MAX];
    size_t n;
};

/* A row a mechanism. HSY_E_NOMEM. */
hsy_status catalogue_fill(struct catalogue *l);

/* Whether a limit was said. */
bool catalogue_limited(const struct catalogue *l);

/* Why auto takes what it takes for a list of values, in a line; *name is the
 * mechanism, NULL if there is none. */
void catalogue_why(const struct catalogue *l, char line[CATALOGUE_WHY],
                   const char **name);

#endif
