/* result_csv.c - a result as CSV: its rows, and in each of them what the result
 * says of itself. */
#include "host/analysis/internal.h"

#include "host/base/written.h"

#include <stdio.h>

#define CSV_NOTES 1536u /* bytes of all notes together */

/* What a result says of itself. */
struct csv_said {
    struct table_fields fields;
    char notes[CSV_NOTES];
};

static void csv_add_count(struct csv_said *s, const char *name, bool there,
                          uint64_t n)
{
    table_add(&s->fields, name, there ? cell_count(n) : cell_text(NULL));
}

/* Sentences one after another. */
static void csv_add_notes(struct csv_said *s, const hsy_analysis_result *r,
                          const char *further)
{
    const size_t room = sizeof s->notes;
    size_t at = 0;

    for (size_t i = 0; i <= r->nnotes && at < room; i++) {
        const char *text = i == r->nnotes ? further
                           : analysis_is_note(&r->notes[i])
                               ? hsy_analysis_code_text(r->notes[i].code)
                               : NULL;

        if (text != NULL)
            at += (size_t)snprintf(s->notes + at, room - at, "%s%s",
                                   at != 0 ? "; " : "", text);
    }
    if (at != 0)
        table_add(&s->fields, "notes", cell_text(s->notes));
}

static void csv_say(struct csv_said *s, const hsy_analysis_result *r,
                    const struct analysis_more *more)
{
    table_add(&s->fields, "level", cell_number(r->how.level));
    table_add(&s->fields, "target",
              cell_text(analysis_target_names[r->how.target]));
    if (r->lying != 0)
        table_add(&s->fields, "assume_lying", cell_number(r->lying));
    if (!r->from_files) {
        csv_add_count(s, "rounds", r->attends, r->attended.rounds);
        csv_add_count(s, "devices", r->attends, r->attended.devices);
    }
    csv_add_count(s, "reports", !r->info.central, r->reports);
    if (r->shuffled) {
        table_add(&s->fields, "epsilon_report",
                  cell_number(r->worth.epsilon_report));
        table_add(&s->fields, "epsilon_central", cell_number(r->worth.epsilon));
        table_add(&s->fields, "delta", cell_number(r->worth.delta));
        table_add(&s->fields, "bound",
                  cell_text(hsy_shuffle_bound_name(r->worth.by)));
        csv_add_count(s, "n", true, r->worth.n);
    }
    csv_add_notes(s, r, more->note);
    for (size_t i = 0; i < more->nsaid; i++)
        table_add(&s->fields, more->said[i].name,
                  cell_text(more->said[i].text));
}

/* ---- Rows ---------------------------------------------------------------- */

struct csv_rows {
    const hsy_analysis_result *result;
    hsy_analysis_column what[HSY_COLUMNS];
    size_t n; /* columns; found strings have their bytes in one more */
};

/* Found strings may be any bytes, and the value shows those that are not UTF-8
 * as \xNN. */
static void csv_hex(const hsy_analysis_result *r, size_t row,
                    struct table_cell *out)
{
    *out = analysis_cell(r, row, HSY_COLUMN_VALUE);
    out->type = written_utf8(out->text, out->len) ? CELL_NONE : CELL_HEX;
}

static void csv_cell(const void *ctx, size_t row, size_t column,
                     struct table_cell *out)
{
    const struct csv_rows *rows = ctx;

    if (column == rows->n)
        csv_hex(rows->result, row, out);
    else
        *out = analysis_cell(rows->result, row, rows->what[column]);
}

hsy_status analysis_csv(char **csv, size_t *len, const hsy_analysis_result *r,
                        const struct analysis_more *more, hsy_error *err)
{
    struct csv_said said = {.fields.n = 0};
    struct csv_rows rows = {.result = r};
    struct table_column columns[HSY_COLUMNS + 1];
    struct table table = {columns, 0, analysis_table_rows(r), csv_cell, &rows};
    struct written w;

    for (unsigned i = 0; i < HSY_COLUMNS; i++)
        if (r->columns & 1u << i) {
            rows.what[table.ncolumns] = (hsy_analysis_column)i;
            columns[table.ncolumns++].name =
                hsy_analysis_column_name((hsy_analysis_column)i);
        }
    rows.n = table.ncolumns;
    if (analysis_searched(r))
        columns[table.ncolumns++].name = "value_hex";
    if (r->question != HSY_ASK_COVARIANCE)
        csv_say(&said, r, more);
    if (written_open(&w))
        table_csv(w.to, &table, said.fields.list, said.fields.n);
    return written_close(&w, csv, len, err);
}

hsy_status hsy_analysis_csv(const hsy_analysis_result *r, char **csv,
                            size_t *len, hsy_error *err)
{
    return analysis_csv(csv, len, r, &(struct analysis_more){0}, err);
}
