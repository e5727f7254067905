/* cells.c - a result as a table: columns, cells, and the rows after the last
 * that say what is not among them. */
#include "host/analysis/internal.h"

#include <math.h>
#include <string.h>

const char *const analysis_interval_names[] = {
    "auto",  "wald",       "wilson",    "score",
    "exact", "likelihood", "hoeffding", NULL};
const char *const analysis_post_names[] = {
    "none", "norm",  "norm-sub", "norm-mul", "norm-cut", "base-cut",
    "mle",  "power", "power-ns", "em",       NULL};
const char *const analysis_target_names[] = {"people", "population", NULL};
const char *const analysis_density_names[] = {"auto", "em", "ems", NULL};
const char *const analysis_correction_names[] = {"fdr", "bonferroni", NULL};
const char *const analysis_method_names[] = {"sampler", "nnls", NULL};

static const char *const cells_columns[HSY_COLUMNS] = {
    [HSY_COLUMN_ATTRIBUTE] = "attribute",
    [HSY_COLUMN_VALUE] = "value",
    [HSY_COLUMN_OTHER] = "other",
    [HSY_COLUMN_ESTIMATE] = "estimate",
    [HSY_COLUMN_STDERR] = "stderr",
    [HSY_COLUMN_LOW] = "low",
    [HSY_COLUMN_HIGH] = "high",
    [HSY_COLUMN_LOW_LYING] = "low_lying",
    [HSY_COLUMN_HIGH_LYING] = "high_lying",
    [HSY_COLUMN_UNBIASED] = "unbiased",
    [HSY_COLUMN_POST] = "post",
    [HSY_COLUMN_P_ZERO] = "p_zero",
    [HSY_COLUMN_Q_VALUE] = "q_value",
    [HSY_COLUMN_P_VALUE] = "p_value",
    [HSY_COLUMN_LEVEL] = "level_selected",
    [HSY_COLUMN_DETECTED] = "detected",
    [HSY_COLUMN_SIGNIFICANT] = "significant",
    [HSY_COLUMN_COVARIANCE] = "covariance",
};

const char *hsy_analysis_column_name(hsy_analysis_column column)
{
    return cells_columns[column];
}

const char *analysis_interval(const hsy_analysis_result *r)
{
    if (r->why != NULL)
        return "none";
    return r->density != HSY_DENSITY_AUTO || r->info.iterative
               ? "linear"
               : analysis_interval_names[r->how.interval];
}

const char *analysis_rows_name(const hsy_analysis_result *r)
{
    return r->question == HSY_ASK_COVARIANCE ? "covariances" : "estimates";
}

/* ---- Rows after the last ------------------------------------------------- */

/* Of a decoder that shows all candidates the rest is none of them. */
static bool cells_rest(const hsy_analysis_result *r)
{
    return r->has_rest && !(r->columns & 1u << HSY_COLUMN_DETECTED &&
                            r->count >= r->candidates);
}

size_t analysis_table_rows(const hsy_analysis_result *r)
{
    return r->count + cells_rest(r) + (cells_rest(r) && r->unshown != 0);
}

/* What is not among the rows; of a decoder detected ones apart. */
static hsy_analysis_row cells_last(const hsy_analysis_result *r, size_t row)
{
    const bool unshown = row == r->count && r->unshown != 0;
    const char *name = unshown ? "(detected, not shown)"
                       : r->columns & 1u << HSY_COLUMN_DETECTED
                           ? "(not detected)"
                           : "(not shown)";
    const hsy_estimate *est = unshown ? &r->not_shown : &r->rest;

    return (hsy_analysis_row){
        .value = {name, strlen(name)},
        .est = *est,
        .low_lying = NAN,
        .high_lying = NAN,
        .post = NAN,
        .unbiased = NAN,
        .p_zero = NAN,
        .q_value = NAN,
        .p_value = NAN,
        .level = isnan(est->sd) || unshown ? NAN : r->how.level};
}

/* ---- Cells --------------------------------------------------------------- */

static struct analysis_cell cells_text(const hsy_analysis_text *text)
{
    return (struct analysis_cell){.type = ANALYSIS_TEXT, .text = *text};
}

static struct analysis_cell cells_bool(bool truth, bool last)
{
    return last ? (struct analysis_cell){.type = ANALYSIS_NUMBER, .number = NAN}
                : (struct analysis_cell){.type = ANALYSIS_BOOL, .truth = truth};
}

static double cells_number(const hsy_analysis_row *row,
                           hsy_analysis_column column)
{
    switch (column) {
    case HSY_COLUMN_ESTIMATE:
        return row->est.value;
    case HSY_COLUMN_STDERR:
        return row->est.sd;
    case HSY_COLUMN_LOW:
        return row->est.low;
    case HSY_COLUMN_HIGH:
        return row->est.high;
    case HSY_COLUMN_LOW_LYING:
        return row->low_lying;
    case HSY_COLUMN_HIGH_LYING:
        return row->high_lying;
    case HSY_COLUMN_UNBIASED:
        return row->unbiased;
    case HSY_COLUMN_POST:
        return row->post;
    case HSY_COLUMN_P_ZERO:
        return row->p_zero;
    case HSY_COLUMN_Q_VALUE:
        return row->q_value;
    case HSY_COLUMN_P_VALUE:
        return row->p_value;
    case HSY_COLUMN_LEVEL:
        return row->level;
    default:
        return row->covariance;
    }
}

struct analysis_cell analysis_cell(const hsy_analysis_result *r, size_t row,
                                   hsy_analysis_column column)
{
    const bool last = row >= r->count;
    const hsy_analysis_row own = last ? cells_last(r, row) : r->rows[row];

    switch (column) {
    case HSY_COLUMN_ATTRIBUTE:
        return cells_text(&own.attribute);
    case HSY_COLUMN_VALUE:
        return cells_text(&own.value);
    case HSY_COLUMN_OTHER:
        return cells_text(&own.other);
    case HSY_COLUMN_DETECTED:
        return cells_bool(own.detected, last);
    case HSY_COLUMN_SIGNIFICANT:
        return cells_bool(own.significant, last);
    default:
        return (struct analysis_cell){.type = ANALYSIS_NUMBER,
                                      .number = cells_number(&own, column)};
    }
}
