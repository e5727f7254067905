/* rehearsal_rows.c - what a rehearsal showed, as a table, csv or json. */
#include "host/survey/internal.h"

#include <math.h>

struct rehearse_shown {
    FILE *to;
    const struct survey_design *design;
    const struct survey_rehearsal_how *asked;
    const struct survey_rehearsal *r;
};

static void rehearse_cell(const void *ctx, size_t row, size_t column,
                          struct table_cell *out)
{
    const struct rehearse_shown *a = ctx;
    const struct survey_held *held = &a->r->held[row];
    const double figures[] = {0, held->coverage, held->law, held->width};

    if (column == 0) {
        *out = cell_text(held->name);
        return;
    }
    *out = cell_number(figures[column]);
    if (out->type == CELL_NUMBER)
        survey_percent(out->shown, out->number,
                       column == 3 ? survey_decimals(a->r->predicted) : 2);
}

static void rehearse_head(const struct rehearse_shown *a)
{
    const struct survey_rehearsal_how *o = a->asked;
    const int decimals = survey_decimals(a->r->predicted);
    char share[48], mean[48], sd[48], predicted[48];

    survey_design_print(a->to, a->design);
    survey_percent(share, o->share, decimals);
    survey_percent(mean, a->r->mean, decimals);
    survey_percent(sd, a->r->sd, decimals);
    survey_percent(predicted, a->r->predicted, decimals);
    fprintf(a->to,
            "\n%.0f surveys (--runs) of %.0f people, %s of whom would truly "
            "say yes "
            "(seed %.0f)\n",
            (double)o->runs, (double)o->n[0] + (double)o->n[1], share,
            (double)o->seed);
    fprintf(a->to, "estimates: mean %s, standard deviation %s (theory %s)\n",
            mean, sd, predicted);
    fprintf(a->to, "outside 0 to 100 %%: %.1f %% of them\n\n",
            100 * a->r->outside);
}

static void rehearse_print(const struct rehearse_shown *a,
                           enum table_format format)
{
    const struct survey_design *d = a->design;
    const struct survey_rehearsal_how *asked = a->asked;
    char held[32];
    const struct table_column columns[] = {{"interval", NULL},
                                           {"coverage", held},
                                           {"coverage_exact", "computed"},
                                           {"width", "mean width"}};
    const struct table table = {columns, 4, SURVEY_INTERVALS, rehearse_cell, a};
    const struct table_field fields[] = {
        {"design", cell_text(d->kind->name)},
        {"epsilon", cell_number(d->kind->pair ? NAN : d->epsilon)},
        {"share", cell_number(asked->share)},
        {"n", cell_count(asked->n[0] + asked->n[1])},
        {"runs", cell_count(asked->runs)},
        {"seed", cell_count(asked->seed)},
        {"level", cell_number(asked->level)},
        {"mean", cell_number(a->r->mean)},
        {"sd", cell_number(a->r->sd)},
        {"predicted_sd", cell_number(a->r->predicted)},
        {"outside", cell_number(a->r->outside)}};

    snprintf(held, sizeof held, "holds (%.6g %%)", 100 * asked->level);
    if (format == TABLE_ALIGNED)
        rehearse_head(a);
    table_print(a->to, format, &table, fields, sizeof fields / sizeof fields[0],
                "intervals");
}

void survey_rehearsal_print(FILE *to, enum table_format format,
                            const struct survey_rehearsal *r,
                            const struct survey_design *design,
                            const struct survey_rehearsal_how *how)
{
    rehearse_print(&(struct rehearse_shown){to, design, how, r}, format);
}
