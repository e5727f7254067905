/* discovery_rows.c - what a grid of searches brought, or puzzles, as a table,
 * csv or json. */
#include "sim/discovery/discovery.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* What was asked; then what was measured, and its standard errors. */
enum {
    FOUND_DATA = 0,
    FOUND_HOW,
    FOUND_INTERACTIVE,
    FOUND_MECHANISM,
    FOUND_EPSILON,
    FOUND_USERS,
    FOUND_ROUNDS,
    FOUND_DOMAIN,
    FOUND_BITS,
    FOUND_STEP,
    FOUND_TOP,
    FOUND_RUNS,
    FOUND_SAMPLING,
    FOUND_METRICS,
    FOUND_ERRORS = FOUND_METRICS + DISCOVERY_SHOWN,
    FOUND_COLUMNS = FOUND_ERRORS + DISCOVERY_SHOWN
};

static const char *const found_names[FOUND_METRICS] = {
    "data",  "discover", "interactive", "mechanism", "epsilon",
    "users", "rounds",   "domain",      "bits",      "step",
    "top",   "runs",     "sampling"};

/* All rows, and how they were made. */
struct found {
    FILE *to;
    const struct discovery_grid *grid;
    const struct discovery_result *rows;
    size_t nrows;
};

/* Columns of n metrics, and then of their standard errors. */
static void found_metrics(struct table_column *columns, char (*names)[16],
                          size_t n)
{
    for (size_t m = 0; m < n; m++) {
        const char *name = discovery_metric_name((enum discovery_metric)m);

        snprintf(names[m], sizeof names[m], "%s_se", name);
        columns[m] = (struct table_column){name, NULL};
        columns[n + m] = (struct table_column){names[m], ""};
    }
}

/* The cell of one of these columns. */
static struct table_cell found_measured(const struct discovery_result *r,
                                        size_t column, size_t n)
{
    const double x = column < n ? r->mean[column] : r->error[column - n];

    return cell_shown(x, x, "%.3f");
}

static struct table_cell found_asked(const struct found *s,
                                     const struct discovery_result *row,
                                     size_t column)
{
    const struct table_cell cells[FOUND_METRICS] = {
        cell_text(row->data),
        cell_text(s->grid->method.name),
        cell_bool(s->grid->how.batches.asked),
        cell_text(row->mechanism),
        cell_shown(row->epsilon, row->epsilon, "%.6g"),
        cell_count(row->users),
        cell_count(s->grid->how.batches.rounds),
        cell_count(row->domain),
        cell_count(row->bits),
        cell_count(row->step),
        cell_count(row->top),
        cell_count(row->runs),
        cell_text(row->at_once ? "aggregate" : "users")};

    return cells[column];
}

static void found_cell(const void *ctx, size_t row, size_t column,
                       struct table_cell *out)
{
    const struct found *s = ctx;
    const struct discovery_result *r = &s->rows[row];

    *out = column < FOUND_METRICS
               ? found_asked(s, r, column)
               : found_measured(r, column - FOUND_METRICS, DISCOVERY_SHOWN);
}

/* Whether all rows have as many people; a file may have its own number. */
static bool found_alike(const struct found *s)
{
    for (size_t i = 1; i < s->nrows; i++)
        if (s->rows[i].users != s->rows[0].users)
            return false;
    return true;
}

/* A table has what differs from row to row. */
static void found_columns(struct table_column columns[FOUND_COLUMNS],
                          char names[DISCOVERY_SHOWN][16],
                          const struct found *s)
{
    for (size_t i = 0; i < FOUND_METRICS; i++)
        columns[i] = (struct table_column){found_names[i], ""};
    found_metrics(columns + FOUND_METRICS, names, DISCOVERY_SHOWN);
    columns[FOUND_EPSILON].title = NULL;
    if (s->grid->nmechanisms > 1)
        columns[FOUND_MECHANISM].title = NULL;
    if (s->grid->ndata > 1)
        columns[FOUND_DATA].title = NULL;
    if (!found_alike(s))
        columns[FOUND_USERS].title = NULL;
    if (!s->grid->how.search.significant) /* it is --top */
        columns[FOUND_METRICS + DISCOVERY_FOUND].title = "";
    columns[FOUND_ERRORS + DISCOVERY_F1].title = "f1 +-";
    columns[FOUND_ERRORS + DISCOVERY_NDCG].title = "ndcg +-";
}

/* ---- Below the table ----------------------------------------------------- */

#define FOUND_SIZES (HSY_STAGES_MAX * 24)

/* "125" if all batches have as many people, else all of them. */
static const char *found_sizes(char text[FOUND_SIZES],
                               const struct discovery_result *row)
{
    const size_t room = FOUND_SIZES;
    size_t at = (size_t)snprintf(text, room, "%" PRIu64, row->people[0]);
    bool alike = true;

    for (size_t i = 1; i < row->groups; i++)
        alike = alike && row->people[i] == row->people[0];
    for (size_t i = 1; !alike && i < row->groups && at < room; i++)
        at += (size_t)snprintf(text + at, room - at, ", %" PRIu64,
                               row->people[i]);
    return text;
}

#define FOUND_TEXT 2048u /* 64 sizes of up to 20 digits, and words */

__attribute__((format(printf, 2, 3))) static void
found_add(char text[FOUND_TEXT], const char *format, ...)
{
    const size_t at = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + at, FOUND_TEXT - at, format, args);
    va_end(args);
}

/* What it would cost to ask the same people again. */
static void found_privacy(const struct found *s,
                          const struct discovery_result *row)
{
    const uint64_t rounds = s->grid->how.batches.rounds;
    char text[FOUND_TEXT] = "Privacy: everybody is asked once and spends "
                            "epsilon.";

    if (s->grid->how.batches.asked)
        found_add(text,
                  " Were the same people asked in every batch, each would "
                  "spend %zu epsilon",
                  row->groups);
    if (rounds > 1)
        found_add(text,
                  "; in every round, %" PRIu64
                  " epsilon; in every batch of every round, %" PRIu64
                  " epsilon",
                  rounds, rounds * row->groups);
    if (s->grid->how.batches.asked)
        found_add(text, ".");
    table_paragraph(s->to, text);
}

/* What all rows have in common. */
static void found_note(const struct found *s)
{
    const struct discovery_result *row = &s->rows[0];
    const bool data = s->grid->ndata == 1,
               mechanism = s->grid->nmechanisms == 1;
    char text[FOUND_TEXT] = "", sizes[FOUND_SIZES];

    found_add(text, "%s%s%s%s", data ? row->data : "",
              data && mechanism ? ", " : "", mechanism ? row->mechanism : "",
              data || mechanism ? ": " : "");
    if (!s->grid->how.batches.asked && found_alike(s))
        found_add(text, "%" PRIu64 " people in ", row->users);
    found_add(text, "%zu %s%s", row->groups,
              s->grid->how.batches.asked ? "batch" : "group",
              row->groups == 1             ? ""
              : s->grid->how.batches.asked ? "es"
                                           : "s");
    if (s->grid->how.batches.asked && found_alike(s))
        found_add(text, " of %s people", found_sizes(sizes, row));
    if (s->grid->how.batches.rounds > 1)
        found_add(text,
                  " a round, %" PRIu64
                  " rounds of fresh people, their scores averaged",
                  s->grid->how.batches.rounds);
    found_add(text,
              "; %" PRIu64 " bits in steps of %" PRIu64 ", top %" PRIu64
              ", %" PRIu64 " run%s.",
              row->bits, row->step, row->top, row->runs,
              row->runs == 1 ? "" : "s");
    putc('\n', s->to);
    table_paragraph(s->to, text);
    table_paragraph(s->to,
                    "precision, recall, f1: of the strings found, against the "
                    "most frequent; ncr, ndcg: also by their ranks; 1 is "
                    "perfect; +-: standard error.");
    found_privacy(s, row);
}

void discovery_print(FILE *to, enum table_format format,
                     const struct discovery_grid *g,
                     const struct discovery_result *rows, size_t n)
{
    const struct found s = {to, g, rows, n};
    char names[DISCOVERY_SHOWN][16];
    struct table_column columns[FOUND_COLUMNS];
    const struct table table = {columns, FOUND_COLUMNS, n, found_cell, &s};
    char sizes[FOUND_SIZES];
    const struct table_field fields[] = {
        {"seed", cell_count(g->how.seed)},
        {"groups", cell_count(rows->groups)},
        {"sizes", cell_text(g->how.batches.asked && found_alike(&s)
                                ? found_sizes(sizes, rows)
                                : NULL)},
        {"epsilons_if_asked_again",
         cell_count(rows->groups * g->how.batches.rounds)}};

    found_columns(columns, names, &s);
    table_print(to, format, &table, fields, sizeof fields / sizeof fields[0],
                "rows");
    if (format == TABLE_ALIGNED)
        found_note(&s);
}

/* ---- Puzzles ------------------------------------------------------------- */

#define PUZZLE_ASKED 11u
#define PUZZLE_METRICS ((size_t)DISCOVERY_SECONDS) /* time is told apart */
#define PUZZLE_COLUMNS (PUZZLE_ASKED + 2 * PUZZLE_METRICS + 1)

struct puzzle_shown {
    const struct discovery *how;
    const struct discovery_result *rows;
    size_t n;
    uint32_t left; /* words left out */
};

static void puzzle_cell(const void *ctx, size_t row, size_t column,
                        struct table_cell *out)
{
    const struct puzzle_shown *s = ctx;
    const struct discovery_result *r = &s->rows[row];
    const hsy_scheme_info *info = &r->info;
    const struct table_cell cells[PUZZLE_ASKED] = {
        cell_text(info->mechanism),
        cell_text(info->oracle != NULL ? info->oracle
                                       : discovery_rule(info->id)),
        cell_shown(info->epsilon, info->epsilon, "%.6g"),
        cell_count(s->how->users),
        cell_count(s->how->nwords),
        cell_count(info->param[HSY_PARAM_BITS]),
        cell_count(info->param[HSY_PARAM_FRAGMENT_BITS]),
        cell_count(info->param[HSY_PARAM_HASHES]),
        cell_count(info->param[HSY_PARAM_WIDTH]),
        cell_count(s->how->search.top),
        cell_count(s->how->runs)};

    *out = column < PUZZLE_ASKED ? cells[column]
           : column + 1 < PUZZLE_COLUMNS
               ? found_measured(r, column - PUZZLE_ASKED, PUZZLE_METRICS)
               : cell_text("users");
}

/* Time is no part of what a seed repeats: a person alone is told. */
static void puzzle_head(FILE *to, const struct puzzle_shown *s)
{
    double slowest = 0;

    for (size_t e = 0; e < s->n; e++)
        for (uint64_t r = 0; r < s->rows[e].runs; r++)
            slowest = fmax(
                slowest,
                s->rows[e].each[r * DISCOVERY_METRICS + DISCOVERY_SECONDS]);
    fprintf(to,
            "%zu words, %" PRIu32 " left out that the alphabet does not "
            "spell; the slowest search\ntook %.2f s\n\n",
            s->how->nwords, s->left, slowest);
}

void discovery_print_puzzles(FILE *to, enum table_format format,
                             const struct discovery *how,
                             const struct discovery_result *rows, size_t n,
                             uint32_t left)
{
    const struct puzzle_shown s = {how, rows, n, left};
    char names[PUZZLE_METRICS][16];
    struct table_column columns[PUZZLE_COLUMNS] = {
        {"discover", NULL},      {"mechanism", NULL}, {"epsilon", NULL},
        {"users", NULL},         {"domain", NULL},    {"bits", NULL},
        {"fragment_bits", NULL}, {"hashes", NULL},    {"width", NULL},
        {"top", NULL},           {"runs", NULL}};
    const struct table table = {columns, PUZZLE_COLUMNS, n, puzzle_cell, &s};

    found_metrics(columns + PUZZLE_ASKED, names, PUZZLE_METRICS);
    columns[PUZZLE_ASKED + PUZZLE_METRICS].title = "+-";
    columns[PUZZLE_COLUMNS - 1] = (struct table_column){"sampling", ""};
    if (format == TABLE_ALIGNED)
        puzzle_head(to, &s);
    table_print(to, format, &table, NULL, 0, "rows");
}
