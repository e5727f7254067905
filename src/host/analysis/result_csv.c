/* result_csv.c - a result as CSV: its rows, and in each of them what the result
 * says of itself. */
#include "host/analysis/internal.h"

#include "host/base/written.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CSV_NOTES 1536u /* bytes of all notes together */

static void csv_text(FILE *to, const char *text)
{
    written_csv(to, text, strlen(text));
}

static void csv_number(FILE *to, double x)
{
    char text[WRITTEN_NUMBER];

    if (!isfinite(x))
        return;
    written_number(text, x);
    fputs(text, to);
}

/* ---- What a result says of itself ---------------------------------------- */

/* Sentences one after another. */
static void csv_notes(FILE *to, const hsy_analysis_result *r,
                      const struct analysis_more *more)
{
    char text[CSV_NOTES] = "";
    size_t at = 0;

    for (size_t i = 0; i < r->nnotes && at < sizeof text; i++)
        if (analysis_is_note(&r->notes[i]))
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s",
                                   at != 0 ? "; " : "",
                                   hsy_analysis_code_text(r->notes[i].code));
    if (more->note != NULL && at < sizeof text)
        snprintf(text + at, sizeof text - at, "%s%s", at != 0 ? "; " : "",
                 more->note);
    csv_text(to, text);
}

static bool csv_has_notes(const hsy_analysis_result *r,
                          const struct analysis_more *more)
{
    for (size_t i = 0; i < r->nnotes; i++)
        if (analysis_is_note(&r->notes[i]))
            return true;
    return more->note != NULL;
}

static void csv_said_names(FILE *to, const hsy_analysis_result *r,
                           const struct analysis_more *more)
{
    fputs(",level,target", to);
    if (r->lying != 0)
        fputs(",assume_lying", to);
    if (!r->from_files)
        fputs(",rounds,devices", to);
    fputs(",reports", to);
    if (r->shuffled)
        fputs(",epsilon_report,epsilon_central,delta,bound,n", to);
    if (csv_has_notes(r, more))
        fputs(",notes", to);
    for (size_t i = 0; i < more->nsaid; i++)
        fprintf(to, ",%s", more->said[i].name);
}

static void csv_count(FILE *to, bool there, uint64_t n)
{
    putc(',', to);
    if (there)
        fprintf(to, "%" PRIu64, n);
}

static void csv_worth(FILE *to, const hsy_worth *w)
{
    const double numbers[] = {w->epsilon_report, w->epsilon, w->delta};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        putc(',', to);
        csv_number(to, numbers[i]);
    }
    fprintf(to, ",%s", hsy_shuffle_bound_name(w->by));
    csv_count(to, true, w->n);
}

static void csv_said(FILE *to, const hsy_analysis_result *r,
                     const struct analysis_more *more)
{
    putc(',', to);
    csv_number(to, r->how.level);
    fprintf(to, ",%s", analysis_target_names[r->how.target]);
    if (r->lying != 0) {
        putc(',', to);
        csv_number(to, r->lying);
    }
    if (!r->from_files) {
        csv_count(to, r->attends, r->attended.rounds);
        csv_count(to, r->attends, r->attended.devices);
    }
    csv_count(to, !r->info.central, r->reports);
    if (r->shuffled)
        csv_worth(to, &r->worth);
    if (csv_has_notes(r, more)) {
        putc(',', to);
        csv_notes(to, r, more);
    }
    for (size_t i = 0; i < more->nsaid; i++) {
        putc(',', to);
        csv_text(to, more->said[i].text);
    }
}

/* ---- Rows ---------------------------------------------------------------- */

static void csv_cell(FILE *to, const struct analysis_cell *c)
{
    if (c->type == ANALYSIS_TEXT)
        written_csv(to, c->text.text, c->text.len);
    else if (c->type == ANALYSIS_BOOL)
        fputs(c->truth ? "true" : "false", to);
    else
        csv_number(to, c->number);
}

/* The header for a row past the last. */
static void csv_row(FILE *to, const hsy_analysis_result *r,
                    const struct analysis_more *more, size_t row)
{
    const bool head = row == analysis_table_rows(r);
    bool first = true;

    for (unsigned i = 0; i < HSY_COLUMNS; i++) {
        const hsy_analysis_column column = (hsy_analysis_column)i;
        struct analysis_cell c;

        if (!(r->columns & 1u << i))
            continue;
        if (!first)
            putc(',', to);
        first = false;
        if (head) {
            fputs(hsy_analysis_column_name(column), to);
            continue;
        }
        c = analysis_cell(r, row, column);
        csv_cell(to, &c);
    }
    if (r->question != HSY_ASK_COVARIANCE)
        (head ? csv_said_names : csv_said)(to, r, more);
    putc('\n', to);
}

hsy_status analysis_csv(char **csv, size_t *len, const hsy_analysis_result *r,
                        const struct analysis_more *more, hsy_error *err)
{
    const size_t rows = analysis_table_rows(r);
    struct written w;

    if (written_open(&w))
        csv_row(w.to, r, more, rows);
    for (size_t i = 0; i < rows && w.to != NULL; i++)
        csv_row(w.to, r, more, i);
    return written_close(&w, csv, len, err);
}

hsy_status hsy_analysis_csv(const hsy_analysis_result *r, char **csv,
                            size_t *len, hsy_error *err)
{
    return analysis_csv(csv, len, r, &(struct analysis_more){0}, err);
}
