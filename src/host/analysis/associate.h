/* associate.h - the joint distribution of the variables of RAPPOR's reports. */
#ifndef HOST_ANALYSIS_ASSOCIATE_H
#define HOST_ANALYSIS_ASSOCIATE_H

#include "host/analysis/analysis.h"
#include "host/base/owned.h"
#include "host/base/table.h"
#include "host/format/rappor_files.h"

/* A column of the reports: of strings, or a boolean. */
struct associate_column {
    struct rappor_params params;
    const struct rappor_map *map; /* NULL: a boolean */
};

struct associate_how {
    bool all; /* candidates that were not detected are categories too */
    double level;
    hsy_rappor_options rappor; /* method, correction and alpha of it */
};

struct associate_variable {
    struct associate_column column;
    hsy_rappor_law law;
    uint64_t *totals, *ones; /* counted from the reports */
    size_t *picked;          /* candidates that are categories */
    uint16_t *bits;          /* theirs */
    double *shares, *sd;
};

struct associate {
    struct owned owned; /* all but reports and maps */
    const struct rappor_reports *reports;
    bool all;
    double level;
    struct associate_variable variable[HSY_ASSOCIATE_VARIABLES];
    hsy_rappor_reports data;
    size_t cells;
    double *share, *covariance;
    hsy_association_result result;
    hsy_estimate *rows; /* the cells of the table, and then the marginals: all
                           cells that have one category of one variable */
    size_t nrows;
};

/* Of 2 to HSY_ASSOCIATE_VARIABLES variables. HSY_E_EMPTY or HSY_E_RANGE with
 * the field "variable" and its number from 1 in err->at, "cells" if the table
 * is too small or too large; else as hsy_rappor_associate. Clear it either
 * way. */
hsy_status associate_run(struct associate *j,
                         const struct rappor_reports *reports,
                         const struct associate_column *columns,
                         const struct associate_how *how, hsy_error *err);
void associate_clear(struct associate *j);

/* The category of variable v that a row is about, and what it is called; ANY:
 * none, NULL. */
#define ASSOCIATE_ANY SIZE_MAX
size_t associate_row(const struct associate *j, size_t row, uint32_t v);
const char *associate_name(const struct associate *j, uint32_t v,
                           size_t category);

/* Who answers all questions pays for each. */
hsy_rappor_law associate_cost(const struct associate *j);

/* Write it (associate_rows.c). */
void associate_print(FILE *to, enum table_format format,
                     const struct associate *j);

#endif
