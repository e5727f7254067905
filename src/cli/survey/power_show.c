/* power_show.c - how many people a survey needs. */
#include "cli/survey/internal.h"

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

static void power_machine(const struct survey_needs *w,
                          const struct survey_options *o)
{
    const struct survey_aim *aim = &o->aim;
    const bool pair = o->design.kind->pair;
    const struct power_row rows[] = {
        {"level", o->level},
        {"margin", w->groups ? NAN : aim->margin},
        {"share", w->groups ? NAN : w->share},
        {"share_a", w->groups ? aim->shares[0] : NAN},
        {"share_b", w->groups ? aim->shares[1] : NAN},
        {"chance", w->groups ? aim->power : NAN},
        {"epsilon", pair ? NAN : o->design.epsilon},
        {"n", w->n},
        {"n_first", pair ? w->samples[0] : NAN},
        {"n_second", pair ? w->samples[1] : NAN},
        {"n_best", w->best},
        {"n_direct", w->direct}};
    struct table_column columns[sizeof rows / sizeof rows[0]];
    const struct table table = {columns, sizeof rows / sizeof rows[0], 1,
                                power_cell, rows};
    const struct table_field field = {"design",
                                      cell_text(o->design.kind->name)};

    for (size_t i = 0; i < table.ncolumns; i++)
        columns[i] = (struct table_column){rows[i].name, NULL};
    table_print(stdout, o->format, &table, &field, 1, NULL);
}

static void power_print(const struct survey_needs *w,
                        const struct survey_options *o)
{
    const struct survey_aim *aim = &o->aim;
    char line[300];

    survey_design_print(&o->design);
    putchar('\n');
    if (w->groups)
        snprintf(line, sizeof line,
                 "To tell the shares %.4g and %.4g of two groups apart with "
                 "chance %.4g, by a test that calls equal ones different with "
                 "chance %.4g, each group needs",
                 aim->shares[0], aim->shares[1], aim->power, 1 - o->level);
    else
        snprintf(line, sizeof line,
                 "To know the share to %.4g either way with chance %.4g, if it "
                 "is %.4g%s, it takes",
                 aim->margin, o->level, w->share,
                 isnan(aim->share) ? ", the worst case" : "");
    table_paragraph(stdout, line);
    if (o->design.kind->pair) {
        printf("%12.0f people in the first sample\n%12.0f in the second\n",
               w->samples[0], w->samples[1]);
        return;
    }
    printf("%12.0f people by this design\n", w->n);
    if (!isnan(w->best) && w->best != w->n)
        printf("%12.0f by the best design of its epsilon\n", w->best);
    printf("%12.0f asked directly, without any privacy\n", w->direct);
}

int survey_power(const struct survey_options *o, struct cli_parser *p)
{
    struct survey_aim aim = o->aim;
    struct survey_needs w;
    hsy_error err = {0};

    aim.level = o->level;
    if (isnan(aim.margin) == isnan(aim.shares[0]))
        return cli_usage(p, "--power needs --margin M, or --shares A,B of two "
                            "groups to tell apart: one of the two");
    if (isnan(aim.margin) && !isnan(aim.share))
        return cli_usage(p, "--share goes with --margin; --shares says what is "
                            "expected already");
    switch (survey_needs_find(&w, &o->design, &aim, &err)) {
    case HSY_OK:
        break;
    case HSY_E_EMPTY:
        return cli_usage(p, "--two-sample --power needs --margin M, --share F "
                            "and --innocuous R: what is expected of either "
                            "question");
    default:
        return cli_fail_error("--power", &err);
    }
    if (o->format == TABLE_ALIGNED)
        power_print(&w, o);
    else
        power_machine(&w, o);
    return cli_finish();
}
