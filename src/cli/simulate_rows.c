/* simulate_rows.c - what hearsay simulate --data prints and dumps. */
#include "simulate_study.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The columns: what was asked, what was measured, and the standard errors. */
enum {
    ROWS_MECHANISM = 0,
    ROWS_EPSILON,
    ROWS_USERS,
    ROWS_DOMAIN,
    ROWS_MSE,
    ROWS_PREDICTED,
    ROWS_MAX,
    ROWS_COVERAGE,
    ROWS_MAE,
    ROWS_KL,
    ROWS_TV,
    ROWS_PRECISION,
    ROWS_RECALL,
    ROWS_F1,
    ROWS_NCR,
    ROWS_NDCG,
    ROWS_LIMIT,
    ROWS_BITS,
    ROWS_SAMPLING,
    ROWS_RUNS,
    ROWS_ERRORS /* one for each that is measured */
};

/* What has a standard error, in the order of its columns. */
static const struct {
    const char *name;
    enum study_metric metric;
} rows_errors[] = {{"run_mse_se", STUDY_MSE},
                   {"max_error_se", STUDY_MAX},
                   {"coverage_se", STUDY_COVERAGE},
                   {"mae_se", STUDY_MAE},
                   {"kl_se", STUDY_KL},
                   {"tv_se", STUDY_TV},
                   {"precision_se", STUDY_PRECISION},
                   {"recall_se", STUDY_RECALL},
                   {"f1_se", STUDY_F1},
                   {"ncr_se", STUDY_NCR},
                   {"ndcg_se", STUDY_NDCG}};

#define ROWS_COLUMNS (ROWS_ERRORS + sizeof rows_errors / sizeof rows_errors[0])

static const char *const rows_names[ROWS_ERRORS] = {
    "mechanism", "epsilon",  "users", "domain", "run_mse",  "predicted_mse",
    "max_error", "coverage", "mae",   "kl",     "tv",       "precision",
    "recall",    "f1",       "ncr",   "ndcg",   "limit_sd", "bits",
    "sampling",  "runs"};

/* Which of them a table shows, and under what title. */
static void rows_columns(struct cli_column columns[ROWS_COLUMNS],
                         const struct simulate_study *s)
{
    const bool mean = s->rows[0].info.kind == HSY_KIND_NUMBER;

    for (size_t i = 0; i < ROWS_COLUMNS; i++)
        columns[i] = (struct cli_column){
            i < ROWS_ERRORS ? rows_names[i] : rows_errors[i - ROWS_ERRORS].name,
            ""};
    columns[ROWS_MECHANISM].title = columns[ROWS_EPSILON].title = NULL;
    columns[ROWS_BITS].title = columns[ROWS_COVERAGE].title = NULL;
    columns[ROWS_MSE].title = "error";
    columns[ROWS_PREDICTED].title = "theory";
    columns[ROWS_LIMIT].title = "best";
    columns[ROWS_SAMPLING].title = "reports";
    if (s->nusers > 1)
        columns[ROWS_USERS].title = NULL;
    if (s->ndomains > 1)
        columns[ROWS_DOMAIN].title = NULL;
    if (!mean)
        columns[ROWS_NDCG].title = NULL;
}

/* A number in three digits for tables. */
static struct cli_cell rows_number(double x, double shown)
{
    struct cli_cell c = cli_number(x);

    if (c.type == CLI_NUMBER)
        snprintf(c.shown, sizeof c.shown, "%.3g", shown);
    return c;
}

static struct cli_cell rows_fixed(double x)
{
    struct cli_cell c = cli_number(x);

    if (c.type == CLI_NUMBER)
        snprintf(c.shown, sizeof c.shown, "%.3f", x);
    return c;
}

static struct cli_cell rows_measured(const struct study_result *row,
                                     enum study_metric metric)
{
    const double x = row->mean[metric];

    switch (metric) {
    case STUDY_MSE:
    case STUDY_PREDICTED:
        return rows_number(x, sqrt(x));
    case STUDY_LIMIT:
        return rows_number(sqrt(x), sqrt(x));
    default:
        return rows_fixed(x);
    }
}

static struct cli_cell rows_sampling(bool at_once)
{
    struct cli_cell c = cli_text(at_once ? "aggregate" : "users");

    snprintf(c.shown, sizeof c.shown, "%s", at_once ? "at once" : "each");
    return c;
}

/* Columns of metrics stand in their order, from ROWS_MSE on. */
static struct cli_cell rows_cell(const struct study_result *row, size_t column)
{
    switch (column) {
    case ROWS_MECHANISM:
        return cli_text(row->info.mechanism);
    case ROWS_EPSILON:
        return rows_number(row->info.epsilon, row->info.epsilon);
    case ROWS_USERS:
        return cli_count(row->users);
    case ROWS_DOMAIN:
        return row->info.d != 0 ? cli_count(row->info.d) : cli_text(NULL);
    case ROWS_BITS:
        return cli_count(row->info.report_bits);
    case ROWS_SAMPLING:
        return rows_sampling(row->at_once);
    case ROWS_RUNS:
        return cli_count(row->runs);
    default:
        return column < ROWS_ERRORS
                   ? rows_measured(row, (enum study_metric)(column - ROWS_MSE))
                   : cli_number(
                         row->error[rows_errors[column - ROWS_ERRORS].metric]);
    }
}

static void rows_out(const void *ctx, size_t row, size_t column,
                     struct cli_cell *out)
{
    const struct simulate_study *s = ctx;

    *out = rows_cell(&s->rows[row], column);
}

static void rows_note(const struct simulate_study *s)
{
    const struct study_result *row = &s->rows[0];

    printf("\n%s", s->data);
    if (s->nusers == 1)
        printf(", %" PRIu64 " people", row->users);
    if (s->ndomains <= 1 && row->info.d != 0)
        printf(", %" PRIu32 " %s", row->info.d,
               row->info.kind == HSY_KIND_BINS ? "bins" : "values");
    printf(", %" PRIu64 " run%s\n", row->runs, row->runs == 1 ? "" : "s");
    cli_paragraph(
        row->info.kind == HSY_KIND_NUMBER
            ? "error: root mean squared error of the mean, in the range's "
              "units; theory: what it should be; best: by the best mechanism "
              "known; coverage: of 95 % intervals; reports: all drawn at once, "
              "or each by itself."
            : "error: root mean squared error of a share; theory: what it "
              "should be; best: by the best mechanism known; coverage: of 95 % "
              "intervals; ndcg: of the heaviest values; reports: all drawn at "
              "once, or each by itself.");
}

void simulate_rows(const struct simulate_study *s)
{
    struct cli_column columns[ROWS_COLUMNS];
    const struct cli_table table = {columns, ROWS_COLUMNS, s->nrows, rows_out,
                                    s};
    const uint64_t top = s->top != 0 ? s->top : 10;
    const struct cli_field fields[] = {{"data", cli_text(s->data)},
                                       {"seed", cli_count(s->seed)},
                                       {"runs", cli_count(s->runs)},
                                       {"top", cli_count(top)},
                                       {"level", cli_number(STUDY_LEVEL)}};

    rows_columns(columns, s);
    cli_print(s->format, &table, fields, sizeof fields / sizeof fields[0],
              "rows");
    if (s->format == CLI_TABLE)
        rows_note(s);
}

/* ---- The dump ------------------------------------------------------------ */

/* Enough for what stands before and the metrics. */
#define ROWS_LINE 8192u

hsy_status simulate_dump_line(struct output *out, const char *before,
                              const double *numbers, size_t n)
{
    char line[ROWS_LINE];
    size_t at = (size_t)snprintf(line, sizeof line, "%s", before);

    for (size_t i = 0; i < n && at + 32 < sizeof line; i++)
        at += (size_t)(isfinite(numbers[i])
                           ? snprintf(line + at, sizeof line - at, ",%.17g",
                                      numbers[i])
                           : snprintf(line + at, sizeof line - at, ","));
    line[at++] = '\n';
    return output_write(out, line, at);
}

static hsy_status rows_dump_header(struct output *out)
{
    char line[ROWS_LINE] = "mechanism,epsilon,users,domain,run";

    for (unsigned m = 0; m < STUDY_METRICS; m++) {
        const size_t at = strlen(line);

        snprintf(line + at, sizeof line - at, ",%s",
                 study_metric_name((enum study_metric)m));
    }
    return simulate_dump_line(out, line, NULL, 0);
}

hsy_status simulate_dump(const struct simulate_study *s,
                         const struct study_result *row, bool first)
{
    char before[256], domain[16] = "";
    hsy_status st = HSY_OK;

    if (row->info.d != 0)
        snprintf(domain, sizeof domain, "%" PRIu32, row->info.d);
    if (first)
        st = rows_dump_header(s->files.dumped);
    for (uint64_t r = 0; st == HSY_OK && r < row->runs; r++) {
        snprintf(before, sizeof before, "%s,%.17g,%" PRIu64 ",%s,%" PRIu64,
                 row->info.mechanism, row->info.epsilon, row->users, domain,
                 r + 1);
        st = simulate_dump_line(s->files.dumped, before,
                                row->each + r * STUDY_METRICS, STUDY_METRICS);
    }
    return st;
}
