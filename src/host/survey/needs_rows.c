/* needs_rows.c - how many people a survey needs, as text, csv or json. */
#include "host/survey/internal.h"

#include <math.h>

struct power_row {
    const char *name;
    double value;
};

static void power_cell(const void *ctx, size_t row, size_t column,
                       struct table_cell *out)
{
    const struct power_row *rows = ctx;

    (void)row;
    *out = cell_number(rows[column].value);
}

static void power_machine(FILE *to, enum table_format format,
                          const struct survey_needs *w,
                          const struct survey_design *d,
                          const struct survey_aim *aim)
{
    const bool pair = d->kind->pair;
    const struct power_row rows[] = {
        {"level", aim->level},
        {"margin", w->groups ? NAN : aim->margin},
        {"share", w->groups ? NAN : w->share},
        {"share_a", w->groups ? aim->shares[0] : NAN},
        {"share_b", w->groups ? aim->shares[1] : NAN},
        {"chance", w->groups ? aim->power : NAN},
        {"epsilon", pair ? NAN : d->epsilon},
        {"n", w->n},
        {"n_first", pair ? w->samples[0] : NAN},
        {"n_second", pair ? w->samples[1] : NAN},
        {"n_best", w->best},
        {"n_direct", w->direct}};
    struct table_column columns[sizeof rows / sizeof rows[0]];
    const struct table table = {columns, sizeof rows / sizeof rows[0], 1,
                                power_cell, rows};
    const struct table_field field = {"design", cell_text(d->kind->name)};

    for (size_t i = 0; i < table.ncolumns; i++)
        columns[i] = (struct table_column){rows[i].name, NULL};
    table_print(to, format, &table, &field, 1, NULL);
}

static void power_print(FILE *to, const struct survey_needs *w,
                        const struct survey_design *d,
                        const struct survey_aim *aim)
{

    survey_design_print(to, d);
    putc('\n', to);
    if (w->groups)
        table_say(to,
                  "To tell the shares %.4g and %.4g of two groups apart with "
                  "chance %.4g, by a test that calls equal ones different with "
                  "chance %.4g, each group needs",
                  aim->shares[0], aim->shares[1], aim->power, 1 - aim->level);
    else
        table_say(
            to,
            "To know the share to %.4g either way with chance %.4g, if it "
            "is %.4g%s, it takes",
            aim->margin, aim->level, w->share,
            isnan(aim->share) ? ", the worst case" : "");
    if (d->kind->pair) {
        fprintf(to, "%12.0f people in the first sample\n%12.0f in the second\n",
                w->samples[0], w->samples[1]);
        return;
    }
    fprintf(to, "%12.0f people by this design\n", w->n);
    if (!isnan(w->best) && w->best != w->n)
        fprintf(to, "%12.0f by the best design of its epsilon\n", w->best);
    fprintf(to, "%12.0f asked directly, without any privacy\n", w->direct);
}

void survey_needs_print(FILE *to, enum table_format format,
                        const struct survey_needs *w,
                        const struct survey_design *d,
                        const struct survey_aim *aim)
{
    if (format == TABLE_ALIGNED)
        power_print(to, w, d, aim);
    else
        power_machine(to, format, w, d, aim);
}
