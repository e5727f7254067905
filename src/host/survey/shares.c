/* shares.c - from answers to shares, and whether groups differ. */
#include "host/survey/survey.h"

#include "host/base/host_fail.h"

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
    const hsy_survey *channel = &s->design->channel;
    const hsy_confidence how = {s->level, HSY_POPULATION, HSY_WILSON, 1};
    hsy_evidence points[SURVEY_GROUPS_MAX];
    double p_value; /* the ratio test's is shown */
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < data->count && st == HSY_OK; i++) {
        struct survey_row *row = &s->rows[i];

        st = estimate_worth(row, &data->groups[i], s->weighted, err);
        if (st == HSY_OK)
            st = hsy_survey_point(channel, &row->point, row->yes_worth,
                                  row->n_worth, err);
        if (st == HSY_OK)
            st = hsy_survey_estimate(&row->r, &row->point, s->level, err);
        points[i] = row->point;
    }
    s->count = data->count;
    if (st == HSY_OK && s->count > 1)
        st = hsy_survey_compare(channel, &s->test, points, s->count, err);
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
        s->pair.chance[i] = s->design->chance[i];
        s->pair.yes[i] = parts[i].yes_worth;
        s->pair.n[i] = parts[i].n_worth;
    }
    s->count = 1;
    s->rows[0].yes = parts[0].yes + parts[1].yes;
    s->rows[0].n = parts[0].n + parts[1].n;
    s->rows[0].yes_worth = parts[0].yes_worth + parts[1].yes_worth;
    s->rows[0].n_worth = parts[0].n_worth + parts[1].n_worth;
    if (st == HSY_OK)
        st = hsy_survey_pair_estimate(&s->pair, &s->rows[0].r, s->level, err);
    return st;
}

hsy_status survey_rows_fill(struct survey_rows *out,
                            const struct survey_design *design,
                            const struct survey_data *data, double level,
                            hsy_error *err)
{
    struct survey_rows s = {.design = design,
                            .silent = data->silent,
                            .level = level,
                            .weighted = data->weighted};
    hsy_status st;

    s.rows = calloc(SURVEY_GROUPS_MAX, sizeof *s.rows);
    if (s.rows == NULL)
        return host_nomem(err);
    st = design->kind->pair ? estimate_pair(&s, data, err)
                            : estimate_groups(&s, data, err);
    if (st != HSY_OK) {
        survey_rows_clear(&s);
        return st;
    }
    *out = s;
    return HSY_OK;
}

void survey_rows_clear(struct survey_rows *s)
{
    free(s->rows);
    *s = (struct survey_rows){0};
}

/* Wilson's interval of such a rate, cut to [0, 1], is a point, which would look
 * like certainty. */
bool survey_odd(const hsy_survey_result *r)
{
    return r->beyond > ESTIMATE_ODD ||
           (r->beyond > 0 && r->wilson[0] >= r->wilson[1]);
}

double survey_rows_epsilon(const struct survey_rows *s)
{
    double worst = 0;

    if (!s->design->kind->pair)
        return s->design->epsilon;
    for (size_t i = 0; i < 2; i++) {
        const double chance[2] = {s->pair.chance[i], s->rows[0].r.other_mle};
        hsy_survey channel;

        if (hsy_survey_init(&channel, HSY_SURVEY_UNRELATED, chance, NULL) ==
            HSY_OK)
            worst = fmax(worst, hsy_survey_epsilon(&channel));
    }
    return worst;
}
