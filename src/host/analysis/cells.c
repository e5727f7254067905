/* cells.c - a result as a table: columns, cells, and the rows after the last
 * that say what is not among them. */
#include "host/analysis/internal.h"

#include <math.h>
#include <stddef.h>
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
        .unbiased = unshown ? NAN : r->summary.rest.value,
        .p_zero = NAN,
        .q_value = NAN,
        .p_value = NAN,
        .level = isnan(est->sd) || unshown ? NAN : r->how.level};
}

/* ---- Cells --------------------------------------------------------------- */

/* Where a row has the number of a column. */
static const size_t cells_numbers[HSY_COLUMNS] = {
    [HSY_COLUMN_ESTIMATE] = offsetof(hsy_analysis_row, est.value),
    [HSY_COLUMN_STDERR] = offsetof(hsy_analysis_row, est.sd),
    [HSY_COLUMN_LOW] = offsetof(hsy_analysis_row, est.low),
    [HSY_COLUMN_HIGH] = offsetof(hsy_analysis_row, est.high),
    [HSY_COLUMN_LOW_LYING] = offsetof(hsy_analysis_row, low_lying),
    [HSY_COLUMN_HIGH_LYING] = offsetof(hsy_analysis_row, high_lying),
    [HSY_COLUMN_UNBIASED] = offsetof(hsy_analysis_row, unbiased),
    [HSY_COLUMN_POST] = offsetof(hsy_analysis_row, post),
    [HSY_COLUMN_P_ZERO] = offsetof(hsy_analysis_row, p_zero),
    [HSY_COLUMN_Q_VALUE] = offsetof(hsy_analysis_row, q_value),
    [HSY_COLUMN_P_VALUE] = offsetof(hsy_analysis_row, p_value),
    [HSY_COLUMN_LEVEL] = offsetof(hsy_analysis_row, level),
    [HSY_COLUMN_COVARIANCE] = offsetof(hsy_analysis_row, covariance),
};

static struct table_cell cells_number(const hsy_analysis_row *row,
                                      hsy_analysis_column column)
{
    struct table_cell c;
    double x;

    memcpy(&x, (const char *)row + cells_numbers[column], sizeof x);
    c = cell_number(x);
    c.number = x; /* NaN too */
    return c;
}

struct table_cell analysis_cell(const hsy_analysis_result *r, size_t row,
                                hsy_analysis_column column)
{
    const bool last = row >= r->count;
    const hsy_analysis_row own = last ? cells_last(r, row) : r->rows[row];

    switch (column) {
    case HSY_COLUMN_ATTRIBUTE:
        return cell_bytes(own.attribute.text, own.attribute.len);
    case HSY_COLUMN_VALUE:
        return cell_bytes(own.value.text, own.value.len);
    case HSY_COLUMN_OTHER:
        return cell_bytes(own.other.text, own.other.len);
    case HSY_COLUMN_DETECTED:
        return last ? cell_text(NULL) : cell_bool(own.detected);
    case HSY_COLUMN_SIGNIFICANT:
        return last ? cell_text(NULL) : cell_bool(own.significant);
    default:
        return cells_number(&own, column);
    }
}
