/* study_rows.c - what a grid of studies measured, as a table, csv or json. */
#include "sim/study/study.h"

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
    ROWS_MODEL,
    ROWS_CURATORS,
    ROWS_LOCAL,
    ROWS_DELTA,
    ROWS_BOUND,
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

/* When a table has a column: rows are of that kind. */
enum {
    ROWS_NEVER = 0,
    ROWS_ALWAYS = 1,
    ROWS_SHARES = 2, /* and not a mean */
    ROWS_SEVERAL_USERS = 4,
    ROWS_SEVERAL_DOMAINS = 8,
    ROWS_MODELS = 16, /* not all are local */
    ROWS_SHUFFLED = 32
};

static const struct {
    const char *name, *title; /* in csv, and if not that, in tables */
    unsigned when;
} rows_table[ROWS_ERRORS] = {
    [ROWS_MECHANISM] = {"mechanism", NULL, ROWS_ALWAYS},
    [ROWS_EPSILON] = {"epsilon", NULL, ROWS_ALWAYS},
    [ROWS_USERS] = {"users", NULL, ROWS_SEVERAL_USERS},
    [ROWS_DOMAIN] = {"domain", NULL, ROWS_SEVERAL_DOMAINS},
    [ROWS_MSE] = {"run_mse", "error", ROWS_ALWAYS},
    [ROWS_PREDICTED] = {"predicted_mse", "theory", ROWS_ALWAYS},
    [ROWS_MAX] = {"max_error", NULL, ROWS_NEVER},
    [ROWS_COVERAGE] = {"coverage", NULL, ROWS_ALWAYS},
    [ROWS_MAE] = {"mae", NULL, ROWS_NEVER},
    [ROWS_KL] = {"kl", NULL, ROWS_NEVER},
    [ROWS_TV] = {"tv", NULL, ROWS_NEVER},
    [ROWS_PRECISION] = {"precision", NULL, ROWS_NEVER},
    [ROWS_RECALL] = {"recall", NULL, ROWS_NEVER},
    [ROWS_F1] = {"f1", NULL, ROWS_NEVER},
    [ROWS_NCR] = {"ncr", NULL, ROWS_NEVER},
    [ROWS_NDCG] = {"ndcg", NULL, ROWS_SHARES},
    [ROWS_LIMIT] = {"limit_sd", "best", ROWS_ALWAYS},
    [ROWS_BITS] = {"bits", NULL, ROWS_ALWAYS},
    [ROWS_SAMPLING] = {"sampling", "reports", ROWS_ALWAYS},
    [ROWS_RUNS] = {"runs", NULL, ROWS_NEVER},
    [ROWS_MODEL] = {"model", NULL, ROWS_MODELS},
    [ROWS_CURATORS] = {"curators", NULL, ROWS_NEVER},
    [ROWS_LOCAL] = {"epsilon_report", "epsilon0", ROWS_SHUFFLED},
    [ROWS_DELTA] = {"delta", NULL, ROWS_SHUFFLED},
    [ROWS_BOUND] = {"bound", NULL, ROWS_NEVER}};

/* The rows with their columns in some order. */
struct rows_view {
    FILE *to;
    const struct study_shown *s;
    unsigned are;               /* of what kind the rows are */
    size_t order[ROWS_COLUMNS]; /* which column stands where */
    struct table_column columns[ROWS_COLUMNS];
};

static unsigned rows_are(const struct study_shown *s)
{
    unsigned are = ROWS_ALWAYS;

    are |= s->rows[0].info.kind != HSY_KIND_NUMBER ? ROWS_SHARES : 0;
    are |= s->grid->nusers > 1 ? ROWS_SEVERAL_USERS : 0;
    are |= s->ndomains > 1 ? ROWS_SEVERAL_DOMAINS : 0;
    for (size_t i = 0; i < s->nrows; i++) {
        are |= s->rows[i].model != STUDY_LOCAL ? ROWS_MODELS : 0;
        are |= s->rows[i].model == STUDY_SHUFFLED ? ROWS_SHUFFLED : 0;
    }
    return are;
}

/* In tables the model stands first. */
static void rows_columns(struct rows_view *v, bool moved)
{
    const struct study_shown *s = v->s;

    v->are = rows_are(s);
    for (size_t i = 0; i < ROWS_COLUMNS; i++) {
        const bool moves = moved && i <= ROWS_MODEL;
        const size_t c = !moves ? i : i == 0 ? ROWS_MODEL : i - 1;

        v->order[i] = c;
        v->columns[i] =
            c < ROWS_ERRORS
                ? (struct table_column){rows_table[c].name,
                                        (rows_table[c].when & v->are) != 0
                                            ? rows_table[c].title
                                            : ""}
                : (struct table_column){rows_errors[c - ROWS_ERRORS].name, ""};
    }
}

/* A number in three digits for tables. */
static struct table_cell rows_number(double x, double shown)
{
    return cell_shown(x, shown, "%.3g");
}

static struct table_cell rows_measured(const struct study_result *row,
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
        return cell_shown(x, x, "%.3f");
    }
}

static struct table_cell rows_sampling(const struct study_result *row)
{
    struct table_cell c = cell_text(row->info.central ? "release"
                                    : row->at_once    ? "aggregate"
                                                      : "users");

    snprintf(c.shown, sizeof c.shown, "%s",
             row->info.central ? "released"
             : row->at_once    ? "at once"
                               : "each");
    return c;
}

/* A count, or nothing where it is 0. */
static struct table_cell rows_count(uint64_t n)
{
    return n != 0 ? cell_count(n) : cell_text(NULL);
}

/* Columns of metrics stand in their order, from ROWS_MSE on. */
static struct table_cell rows_cell(const struct study_result *row,
                                   size_t column)
{
    switch (column) {
    case ROWS_MECHANISM:
        return cell_text(row->info.mechanism);
    case ROWS_EPSILON:
        return rows_number(row->epsilon, row->epsilon);
    case ROWS_USERS:
        return cell_count(row->users);
    case ROWS_DOMAIN:
        return rows_count(row->info.d);
    case ROWS_BITS:
        return rows_count(row->info.central ? 0 : row->info.report_bits);
    case ROWS_SAMPLING:
        return rows_sampling(row);
    case ROWS_RUNS:
        return cell_count(row->runs);
    case ROWS_MODEL:
        return cell_text(row->name);
    case ROWS_CURATORS:
        return rows_count(row->curators);
    case ROWS_LOCAL:
        return row->info.central
                   ? cell_text(NULL)
                   : rows_number(row->info.epsilon, row->info.epsilon);
    case ROWS_DELTA:
        return rows_number(row->delta, row->delta);
    case ROWS_BOUND:
        return cell_text(row->bound);
    default:
        return column < ROWS_ERRORS
                   ? rows_measured(row, (enum study_metric)(column - ROWS_MSE))
                   : cell_number(
                         row->error[rows_errors[column - ROWS_ERRORS].metric]);
    }
}

static void rows_out(const void *ctx, size_t row, size_t column,
                     struct table_cell *out)
{
    const struct rows_view *v = ctx;

    *out = rows_cell(&v->s->rows[row], v->order[column]);
}

/* By what it is known how far shuffling goes: names of bounds in use. */
static void rows_bounds(const struct rows_view *v)
{
    static const char *const bounds[][2] = {
        {"clones", "any mechanism's [FMT21]"},
        {"binary", "that of randomized response [FMT21]"},
        {"blanket", "made for this mechanism [BBGN19]"}};
    const char *comma = "bound: ";

    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        for (size_t r = 0; r < v->s->nrows; r++) {
            const char *bound = v->s->rows[r].bound;

            if (bound == NULL || strcmp(bound, bounds[i][0]) != 0)
                continue;
            fprintf(v->to, "%s%s, %s", comma, bounds[i][0], bounds[i][1]);
            comma = "; ";
            break;
        }
    fputs(".\n", v->to);
}

/* What is assumed of whom. */
static void rows_trust(const struct rows_view *v)
{
    bool curators = false;

    for (size_t i = 0; i < v->s->nrows; i++)
        curators |= v->s->rows[i].curators > 0;
    if ((v->are & ROWS_SHUFFLED) != 0) {
        table_paragraph(
            v->to,
            "shuffled: people report with epsilon0, and a shuffler takes away "
            "who sent what, when and in which order; all reports together are "
            "then (epsilon, delta) private. The shuffler must be honest, and "
            "so must all these people: one who lies, or reveals the report, "
            "does not help to hide the others.");
        rows_bounds(v);
    }
    if (curators)
        table_paragraph(
            v->to,
            "central, multiparty: curators trusted with the truths of their "
            "people release counts in place of reports (released), with "
            "discrete Laplace noise, which hides what a person's truth is "
            "(neighbours: replace); how many people there are is no secret.");
}

static void rows_note(const struct rows_view *v)
{
    const struct study_shown *s = v->s;
    const struct study_result *row = &s->rows[0];

    fprintf(v->to, "\n%s", s->data);
    if (s->grid->nusers == 1)
        fprintf(v->to, ", %" PRIu64 " people", row->users);
    if (s->ndomains <= 1 && row->info.d != 0)
        fprintf(v->to, ", %" PRIu32 " %s", row->info.d,
                row->info.kind == HSY_KIND_BINS ? "bins" : "values");
    fprintf(v->to, ", %" PRIu64 " run%s\n", row->runs,
            row->runs == 1 ? "" : "s");
    table_paragraph(
        v->to,
        row->info.kind == HSY_KIND_NUMBER
            ? "error: root mean squared error of the mean, in the range's "
              "units; theory: what it should be; best: by the best mechanism "
              "known; coverage: how often a 95 % interval holds the truth; "
              "reports: all drawn at once, "
              "or each by itself."
            : "error: root mean squared error of a share; theory: what it "
              "should be; best: by the best mechanism known; coverage: how "
              "often a 95 % interval holds the truth; ndcg: how well the most "
              "frequent values are ranked (1: perfectly); reports: all drawn "
              "at once, or each by itself.");
    rows_trust(v);
}

void study_print(FILE *to, enum table_format format,
                 const struct study_shown *s)
{
    struct rows_view view = {.to = to, .s = s};
    const struct table table = {view.columns, ROWS_COLUMNS, s->nrows, rows_out,
                                &view};
    const struct study_grid *g = s->grid;
    const struct table_field fields[] = {
        {"data", cell_text(s->data)},
        {"seed", cell_count(g->how.seed)},
        {"runs", cell_count(g->how.runs)},
        {"top", cell_count(g->top != 0 ? g->top : STUDY_HEAVY)},
        {"level", cell_number(STUDY_LEVEL)}};

    rows_columns(&view, format == TABLE_ALIGNED);
    table_print(to, format, &table, fields, sizeof fields / sizeof fields[0],
                "rows");
    if (format == TABLE_ALIGNED)
        rows_note(&view);
}
