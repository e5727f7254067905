/* shares.c - from answers to shares, and whether groups differ. */
#include "cli/survey/internal.h"

#include "host/base/output.h"

#include <math.h>
#include <stdlib.h>

#define ESTIMATE_ODD 5 /* standard errors beyond what any share explains */

static hsy_status estimate_worth(struct survey_row *row,
                                 const struct survey_group *g, bool weighted,
                                 hsy_error *err)
{
    const hsy_survey_weights w = {(double)(g->counts[0] + g->counts[1]),
                                  {g->sum[0], g->sum[1]},
                                  {g->squares[0], g->squares[1]}};

    row->name = g->name;
    row->yes = g->counts[1];
    row->n = g->counts[0] + g->counts[1];
    row->yes_worth = (double)row->yes;
    row->n_worth = (double)row->n;
    return weighted ? hsy_survey_weigh(&row->yes_worth, &row->n_worth, &w, err)
                    : HSY_OK;
}

static hsy_status estimate_groups(struct survey_rows *s,
                                  const struct survey_data *data,
                                  hsy_error *err)
{
    const hsy_survey *channel = &s->how->design.channel;
    const hsy_confidence how = {s->how->level, HSY_POPULATION, HSY_WILSON, 1};
    hsy_evidence points[SURVEY_GROUPS_MAX];
    double p_value; /* the ratio test's is shown */
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < data->count && st == HSY_OK; i++) {
        struct survey_row *row = &s->rows[i];

        st = estimate_worth(row, &data->groups[i], s->weighted, err);
        if (st == HSY_OK)
            st = hsy_survey_point(&row->point, channel, row->yes_worth,
                                  row->n_worth, err);
        if (st == HSY_OK)
            st = hsy_survey_estimate(&row->r, &row->point, s->how->level, err);
        points[i] = row->point;
    }
    s->count = data->count;
    if (st == HSY_OK && s->count > 1)
        st = hsy_survey_compare(&s->test, channel, points, s->count, err);
    if (st == HSY_OK && s->count == 2)
        st = hsy_estimate_difference(&s->difference, &p_value, &points[0],
                                     &points[1], &how, err);
    return st;
}

/* Both samples are one row. */
static hsy_status estimate_pair(struct survey_rows *s,
                                const struct survey_data *data, hsy_error *err)
{
    struct survey_row parts[2] = {{0}, {0}};
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < 2 && st == HSY_OK; i++) {
        st = estimate_worth(&parts[i], &data->groups[i], s->weighted, err);
        s->pair.chance[i] = s->how->design.chance[i];
        s->pair.yes[i] = parts[i].yes_worth;
        s->pair.n[i] = parts[i].n_worth;
    }
    s->count = 1;
    s->rows[0].yes = parts[0].yes + parts[1].yes;
    s->rows[0].n = parts[0].n + parts[1].n;
    s->rows[0].yes_worth = parts[0].yes_worth + parts[1].yes_worth;
    s->rows[0].n_worth = parts[0].n_worth + parts[1].n_worth;
    if (st == HSY_OK)
        st = hsy_survey_pair_estimate(&s->rows[0].r, &s->pair, s->how->level,
                                      err);
    return st;
}

/* A rate that no share explains. Wilson's interval of it, cut to [0, 1], is a
 * point, which would look like certainty. */
static bool estimate_odd(const hsy_survey_result *r)
{
    return r->beyond > ESTIMATE_ODD ||
           (r->beyond > 0 && r->wilson[0] >= r->wilson[1]);
}

static void estimate_warn(const struct survey_rows *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct survey_row *row = &s->rows[i];

        if (!estimate_odd(&row->r))
            continue;
        cli_note("warning: %s%s%sthe rate of yes is %.3g standard errors "
                 "beyond what any share makes it: is the design the one that "
                 "was used, and did people follow it?",
                 s->count > 1 ? "group " : "", s->count > 1 ? row->name : "",
                 s->count > 1 ? ": " : "", row->r.beyond);
    }
}

static int estimate_run(struct survey_rows *s, const struct survey_data *data,
                        struct output *figure)
{
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    hsy_status st = s->how->design.kind->pair ? estimate_pair(s, data, &err)
                                              : estimate_groups(s, data, &err);

    if (st != HSY_OK) {
        output_abort(figure);
        return cli_fail_error(NULL, &err);
    }
    if (figure != NULL) {
        const hsy_status made = survey_plot(&svg, &len, s, &err);
        const int failed =
            cli_finish_figure(figure, s->how->plot, made, svg, len, &err);

        if (failed)
            return failed;
    }
    estimate_warn(s);
    survey_show(s);
    return cli_finish();
}

int survey_estimate(const struct survey_options *o, struct cli_parser *p)
{
    struct survey_rows s = {.how = o};
    struct survey_data data = {0};
    struct output *figure = NULL;
    int failed = survey_data_read(&data, o, p);

    s.weighted = data.weighted;
    s.rows = calloc(SURVEY_GROUPS_MAX, sizeof *s.rows);
    if (!failed && s.rows == NULL)
        failed = cli_fail_nomem();
    if (!failed && o->plot != NULL)
        failed = cli_open_output(&figure, o->plot);
    if (!failed)
        failed = estimate_run(&s, &data, figure);
    free(s.rows);
    survey_data_clear(&data);
    return failed;
}

#undef ESTIMATE_ODD
