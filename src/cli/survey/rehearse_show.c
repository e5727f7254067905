/* rehearse_show.c - hearsay survey simulate: the survey before the survey. */
#include "cli/survey/internal.h"

#include <math.h>

struct rehearse_shown {
    const struct survey_options *how;
    struct survey_rehearsal_how asked;
    struct survey_rehearsal r;
};

static void rehearse_cell(const void *ctx, size_t row, size_t column,
                          struct table_cell *out)
{
    const struct rehearse_shown *a = ctx;
    const struct survey_held *held = &a->r.held[row];
    const double figures[] = {0, held->coverage, held->law, held->width};

    if (column == 0) {
        *out = cell_text(held->name);
        return;
    }
    *out = cell_number(figures[column]);
    if (out->type == CELL_NUMBER)
        survey_percent(out->shown, out->number,
                       column == 3 ? survey_decimals(a->r.predicted) : 2);
}

static void rehearse_head(const struct rehearse_shown *a)
{
    const struct survey_rehearsal_how *o = &a->asked;
    const int decimals = survey_decimals(a->r.predicted);
    char share[48], mean[48], sd[48], predicted[48];

    survey_design_print(&a->how->design);
    survey_percent(share, o->share, decimals);
    survey_percent(mean, a->r.mean, decimals);
    survey_percent(sd, a->r.sd, decimals);
    survey_percent(predicted, a->r.predicted, decimals);
    printf("\n%.0f surveys of %.0f people, of whom %s have the truth yes (seed "
           "%.0f)\n",
           (double)o->runs, (double)o->n[0] + (double)o->n[1], share,
           (double)o->seed);
    printf("estimates: mean %s, standard deviation %s (theory %s)\n", mean, sd,
           predicted);
    printf("outside 0 to 100 %%: %.1f %% of them\n\n", 100 * a->r.outside);
}

static void rehearse_print(const struct rehearse_shown *a)
{
    const struct survey_options *o = a->how;
    const struct survey_rehearsal_how *asked = &a->asked;
    char held[32];
    const struct table_column columns[] = {{"interval", NULL},
                                           {"coverage", held},
                                           {"coverage_exact", "by its law"},
                                           {"width", "mean width"}};
    const struct table table = {columns, 4, SURVEY_INTERVALS, rehearse_cell, a};
    const struct table_field fields[] = {
        {"design", cell_text(o->design.kind->name)},
        {"epsilon",
         cell_number(o->design.kind->pair ? NAN : o->design.epsilon)},
        {"share", cell_number(asked->share)},
        {"n", cell_count(asked->n[0] + asked->n[1])},
        {"runs", cell_count(asked->runs)},
        {"seed", cell_count(asked->seed)},
        {"level", cell_number(o->level)},
        {"mean", cell_number(a->r.mean)},
        {"sd", cell_number(a->r.sd)},
        {"predicted_sd", cell_number(a->r.predicted)},
        {"outside", cell_number(a->r.outside)}};

    snprintf(held, sizeof held, "holds (%.6g %%)", 100 * o->level);
    if (o->format == TABLE_ALIGNED)
        rehearse_head(a);
    table_print(stdout, o->format, &table, fields,
                sizeof fields / sizeof fields[0], "intervals");
}

static int rehearse_sizes(uint64_t n[2], const struct survey_options *o,
                          struct cli_parser *p)
{
    const bool pair = o->design.kind->pair;
    const size_t count = survey_counts(n, pair ? 2 : 1, o->n, "n", p);

    if (count == 0)
        return p->exit;
    if (count != (pair ? 2 : 1) || n[0] == 0 || (pair && n[1] == 0))
        return cli_usage(p, "--n: %s",
                         pair ? "the people of both samples, as "
                                "300,300, and somebody in each"
                              : "somebody must answer");
    return 0;
}

static void rehearse_tick(void *ctx, uint64_t run)
{
    cli_progress_tick(ctx, run, "surveys");
}

int survey_simulate(const struct survey_options *o, struct cli_parser *p)
{
    struct cli_progress progress = {0};
    struct rehearse_shown a = {.how = o,
                               .asked = {.level = o->level,
                                         .share = o->aim.share,
                                         .innocuous = o->aim.innocuous,
                                         .runs = o->runs,
                                         .seed = o->seed,
                                         .tick = rehearse_tick,
                                         .ctx = &progress}};
    hsy_error err = {0};
    hsy_status st;
    int failed;

    if (isnan(o->aim.share) || o->n == NULL)
        return cli_usage(p, "simulate needs --share F, what is true of the "
                            "made-up people, and --n N, how many answer");
    if (o->design.kind->pair && isnan(o->aim.innocuous))
        return cli_usage(p, "simulate --two-sample needs --innocuous R, the "
                            "share of yes to the other question");
    failed = rehearse_sizes(a.asked.n, o, p);
    if (failed)
        return failed;
    st = survey_rehearse(&a.r, &o->design, &a.asked, &err);
    cli_progress_end(&progress);
    if (st != HSY_OK)
        return cli_fail_error(NULL, &err);
    rehearse_print(&a);
    return cli_finish();
}
