/* puzzle_rows.c - what puzzles brought, as a table, csv or json. */
#include "sim/discovery/discovery.h"
#include "sim/discovery/puzzling.h"

#include <inttypes.h>

#define PUZZLE_ASKED 11u

static const char *const puzzle_asked[PUZZLE_ASKED] = {
    "discover",      "mechanism", "epsilon", "users", "domain", "bits",
    "fragment_bits", "hashes",    "width",   "top",   "runs"};

#define PUZZLE_COLUMNS (PUZZLE_ASKED + 2 * PUZZLING_METRICS + 1)

struct puzzle_shown {
    const struct puzzling *how;
    const struct puzzling_result *rows;
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
        return cell_count(s->how->top);
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
    const struct puzzling_result *r = &s->rows[row];

    if (column < PUZZLE_ASKED) {
        *out = puzzle_cell_asked(s, &r->info, column);
        return;
    }
    column -= PUZZLE_ASKED;
    if (column == 2 * PUZZLING_METRICS) {
        *out = cell_text("users");
        return;
    }
    *out = cell_number(column < PUZZLING_METRICS
                           ? r->mean[column]
                           : r->error[column - PUZZLING_METRICS]);
    if (out->type == CELL_NUMBER)
        snprintf(out->shown, sizeof out->shown, "%.3f", out->number);
}

/* Time is no part of what a seed repeats: a person alone is told. */
static void puzzle_head(FILE *to, const struct puzzle_shown *s)
{
    double slowest = 0;

    for (size_t e = 0; e < s->n; e++)
        if (s->rows[e].seconds > slowest)
            slowest = s->rows[e].seconds;
    fprintf(to,
            "%zu words, %" PRIu32 " left out that the alphabet does not "
            "spell; the slowest search\ntook %.2f s\n\n",
            s->how->nwords, s->left, slowest);
}

void puzzling_print(FILE *to, enum table_format format,
                    const struct puzzling *how,
                    const struct puzzling_result *rows, size_t n, uint32_t left)
{
    const struct puzzle_shown s = {how, rows, n, left};
    char names[PUZZLING_METRICS][16];
    struct table_column columns[PUZZLE_COLUMNS];
    const struct table table = {columns, PUZZLE_COLUMNS, n, puzzle_cell, &s};

    for (size_t i = 0; i < PUZZLE_ASKED; i++)
        columns[i] = (struct table_column){puzzle_asked[i], NULL};
    for (size_t m = 0; m < PUZZLING_METRICS; m++) {
        const char *name = puzzling_metric_name((enum puzzling_metric)m);

        snprintf(names[m], sizeof names[m], "%s_se", name);
        columns[PUZZLE_ASKED + m] = (struct table_column){name, NULL};
        columns[PUZZLE_ASKED + PUZZLING_METRICS + m] =
            (struct table_column){names[m], m == 0 ? "+-" : ""};
    }
    columns[PUZZLE_COLUMNS - 1] = (struct table_column){"sampling", ""};
    if (format == TABLE_ALIGNED)
        puzzle_head(to, &s);
    table_print(to, format, &table, NULL, 0, "rows");
}

#undef PUZZLE_ASKED
#undef PUZZLE_COLUMNS
