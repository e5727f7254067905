/* puzzle_rows.c - what puzzles brought, as a table, csv or json. */
#include "sim/discovery/discovery.h"

#include <inttypes.h>
#include <math.h>

#define PUZZLE_ASKED 11u

static const char *const puzzle_asked[PUZZLE_ASKED] = {
    "discover",      "mechanism", "epsilon", "users", "domain", "bits",
    "fragment_bits", "hashes",    "width",   "top",   "runs"};

#define PUZZLE_METRICS ((size_t)DISCOVERY_SECONDS) /* time is told apart */
#define PUZZLE_COLUMNS (PUZZLE_ASKED + 2 * PUZZLE_METRICS + 1)

struct puzzle_shown {
    const struct discovery *how;
    const struct discovery_result *rows;
    size_t n;
    uint32_t left; /* words left out */
};

static struct table_cell puzzle_cell_asked(const struct puzzle_shown *s,
                                           const hsy_scheme_info *info,
                                           size_t column)
{
    static const hsy_param params[] = {HSY_PARAM_BITS, HSY_PARAM_FRAGMENT_BITS,
                                       HSY_PARAM_HASHES, HSY_PARAM_WIDTH};

    switch (column) {
    case 0:
        return cell_text(info->mechanism);
    case 1:
        return cell_text(info->oracle != NULL ? info->oracle
                                              : discovery_rule(info->id));
    case 2:
        return cell_shown(info->epsilon, info->epsilon, "%.6g");
    case 3:
        return cell_count(s->how->users);
    case 4:
        return cell_count(s->how->nwords);
    case 9:
        return cell_count(s->how->search.top);
    case 10:
        return cell_count(s->how->runs);
    default:
        return cell_count(info->param[params[column - 5]]);
    }
}

static void puzzle_cell(const void *ctx, size_t row, size_t column,
                        struct table_cell *out)
{
    const struct puzzle_shown *s = ctx;
    const struct discovery_result *r = &s->rows[row];

    if (column < PUZZLE_ASKED) {
        *out = puzzle_cell_asked(s, &r->info, column);
        return;
    }
    column -= PUZZLE_ASKED;
    if (column == 2 * PUZZLE_METRICS) {
        *out = cell_text("users");
        return;
    }
    *out = cell_number(column < PUZZLE_METRICS
                           ? r->mean[column]
                           : r->error[column - PUZZLE_METRICS]);
    if (out->type == CELL_NUMBER)
        snprintf(out->shown, sizeof out->shown, "%.3f", out->number);
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
    struct table_column columns[PUZZLE_COLUMNS];
    const struct table table = {columns, PUZZLE_COLUMNS, n, puzzle_cell, &s};

    for (size_t i = 0; i < PUZZLE_ASKED; i++)
        columns[i] = (struct table_column){puzzle_asked[i], NULL};
    for (size_t m = 0; m < PUZZLE_METRICS; m++) {
        const char *name = discovery_metric_name((enum discovery_metric)m);

        snprintf(names[m], sizeof names[m], "%s_se", name);
        columns[PUZZLE_ASKED + m] = (struct table_column){name, NULL};
        columns[PUZZLE_ASKED + PUZZLE_METRICS + m] =
            (struct table_column){names[m], m == 0 ? "+-" : ""};
    }
    columns[PUZZLE_COLUMNS - 1] = (struct table_column){"sampling", ""};
    if (format == TABLE_ALIGNED)
        puzzle_head(to, &s);
    table_print(to, format, &table, NULL, 0, "rows");
}
