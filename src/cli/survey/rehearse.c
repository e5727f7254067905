/*
 * rehearse.c - hearsay survey simulate: the survey before the survey.
 *
 * Answers of made-up people whose share is known, again and again: how far
 * estimates spread, and how often each interval holds. One sample's coverage is
 * also summed over its binomial law, which takes no luck.
 */
#include "cli/survey/internal.h"

#include <math.h>
#include <stdlib.h>

#define REHEARSE_KINDS 4u
#define REHEARSE_EXACT_MAX 1000000u /* people whose law is summed */

static const struct {
    hsy_interval interval;
    const char *name;
} rehearse_kinds[REHEARSE_KINDS] = {{HSY_WALD, "wald"},
                                    {HSY_WILSON, "wilson"},
                                    {HSY_LIKELIHOOD, "likelihood"},
                                    {HSY_EXACT, "exact"}};

struct rehearse {
    const struct survey_options *how;
    uint64_t n[2]; /* the second of a pair only */
    double rates[2];
    double predicted; /* standard error */
    double sum, squares, outside;
    double held[REHEARSE_KINDS], width[REHEARSE_KINDS], counted[REHEARSE_KINDS];
    double law[REHEARSE_KINDS]; /* coverage by the law; NaN: not had */
};

/* ---- Runs ---------------------------------------------------------------- */

static hsy_status rehearse_answer(hsy_survey_result *r,
                                  const struct rehearse *a, hsy_stream *st,
                                  hsy_error *err)
{
    const struct survey_design *d = &a->how->design;
    const double yes[2] = {
        (double)hsy_binomial_draw(a->n[0], a->rates[0], st),
        d->kind->pair ? (double)hsy_binomial_draw(a->n[1], a->rates[1], st)
                      : 0};
    const hsy_survey_pair pair = {{d->chance[0], d->chance[1]},
                                  {yes[0], yes[1]},
                                  {(double)a->n[0], (double)a->n[1]}};
    hsy_evidence point;
    hsy_status status;

    if (d->kind->pair)
        return hsy_survey_pair_estimate(r, &pair, a->how->level, err);
    status = hsy_survey_point(&point, &d->channel, yes[0], pair.n[0], err);
    return status == HSY_OK ? hsy_survey_estimate(r, &point, a->how->level, err)
                            : status;
}

static void rehearse_count(struct rehearse *a, const hsy_survey_result *r)
{
    const double *const ends[REHEARSE_KINDS] = {r->wald, r->wilson,
                                                r->likelihood, r->exact};
    const double share = a->how->share, off = r->value - share;

    a->sum += off;
    a->squares += off * off;
    a->outside += r->value < 0 || r->value > 1;
    for (size_t k = 0; k < REHEARSE_KINDS; k++) {
        if (isnan(ends[k][0]))
            continue;
        a->counted[k]++;
        a->held[k] +=
            ends[k][0] <= share + 1e-12 && share <= ends[k][1] + 1e-12;
        a->width[k] += ends[k][1] - ends[k][0];
    }
}

static hsy_status rehearse_runs(struct rehearse *a, hsy_error *err)
{
    struct cli_progress progress = {0};
    hsy_status status = HSY_OK;

    for (uint64_t i = 0; i < a->how->runs && status == HSY_OK; i++) {
        hsy_survey_result r;
        hsy_stream st;

        hsy_stream_seed(&st, a->how->seed, i);
        status = rehearse_answer(&r, a, &st, err);
        if (status == HSY_OK)
            rehearse_count(a, &r);
        hsy_stream_clear(&st);
        cli_progress_tick(&progress, i, "surveys");
    }
    cli_progress_end(&progress);
    return status;
}

/* ---- What to expect ------------------------------------------------------ */

static void rehearse_expect(struct rehearse *a)
{
    const struct survey_design *d = &a->how->design;
    const double gap = d->kind->pair ? d->chance[0] - d->chance[1]
                                     : hsy_survey_gap(&d->channel);
    double variance = 0;

    for (size_t i = 0; i < (d->kind->pair ? 2 : 1); i++) {
        const double c = d->kind->pair ? (1 - d->chance[1 - i]) / gap : 1 / gap;

        a->rates[i] = d->kind->pair
                          ? d->chance[i] * a->how->share +
                                (1 - d->chance[i]) * a->how->innocuous
                          : hsy_survey_rate(&d->channel, a->how->share);
        variance += c * c * a->rates[i] * (1 - a->rates[i]) / (double)a->n[i];
    }
    a->predicted = sqrt(variance);
    for (size_t k = 0; k < REHEARSE_KINDS; k++) {
        a->law[k] = NAN;
        if (!d->kind->pair && a->n[0] <= REHEARSE_EXACT_MAX)
            (void)hsy_survey_coverage(&a->law[k], &d->channel, a->n[0],
                                      a->how->share, rehearse_kinds[k].interval,
                                      a->how->level, NULL);
    }
}

/* ---- Printing ------------------------------------------------------------ */

static void rehearse_cell(const void *ctx, size_t row, size_t column,
                          struct cli_cell *out)
{
    const struct rehearse *a = ctx;
    const double runs = a->counted[row];
    const double figures[] = {0, runs > 0 ? a->held[row] / runs : NAN,
                              a->law[row],
                              runs > 0 ? a->width[row] / runs : NAN};

    if (column == 0) {
        *out = cli_text(rehearse_kinds[row].name);
        return;
    }
    *out = cli_number(figures[column]);
    if (out->type == CLI_NUMBER)
        survey_percent(out->shown, out->number,
                       column == 3 ? survey_decimals(a->predicted) : 2);
}

static double rehearse_sd(const struct rehearse *a)
{
    const double runs = (double)a->how->runs, mean = a->sum / runs;

    return a->how->runs > 1
               ? sqrt(fmax(a->squares - runs * mean * mean, 0) / (runs - 1))
               : NAN;
}

static void rehearse_head(const struct rehearse *a)
{
    const struct survey_options *o = a->how;
    const double runs = (double)o->runs;
    const int decimals = survey_decimals(a->predicted);
    char share[48], mean[48], sd[48], predicted[48];

    survey_design_print(&o->design);
    survey_percent(share, o->share, decimals);
    survey_percent(mean, o->share + a->sum / runs, decimals);
    survey_percent(sd, rehearse_sd(a), decimals);
    survey_percent(predicted, a->predicted, decimals);
    printf("\n%.0f surveys of %.0f people, of whom %s have the truth yes (seed "
           "%.0f)\n",
           runs, (double)a->n[0] + (double)a->n[1], share, (double)o->seed);
    printf("estimates: mean %s, standard deviation %s (theory %s)\n", mean, sd,
           predicted);
    printf("outside 0 to 100 %%: %.1f %% of them\n\n", 100 * a->outside / runs);
}

static void rehearse_print(const struct rehearse *a)
{
    const struct survey_options *o = a->how;
    char held[32];
    const struct cli_column columns[] = {{"interval", NULL},
                                         {"coverage", held},
                                         {"coverage_exact", "by its law"},
                                         {"width", "mean width"}};
    const struct cli_table table = {columns, 4, REHEARSE_KINDS, rehearse_cell,
                                    a};
    const double runs = (double)o->runs;
    const struct cli_field fields[] = {
        {"design", cli_text(o->design.kind->option)},
        {"epsilon", cli_number(o->design.kind->pair ? NAN : o->design.epsilon)},
        {"share", cli_number(o->share)},
        {"n", cli_count(a->n[0] + a->n[1])},
        {"runs", cli_count(o->runs)},
        {"seed", cli_count(o->seed)},
        {"level", cli_number(o->level)},
        {"mean", cli_number(o->share + a->sum / runs)},
        {"sd", cli_number(rehearse_sd(a))},
        {"predicted_sd", cli_number(a->predicted)},
        {"outside", cli_number(a->outside / runs)}};

    snprintf(held, sizeof held, "holds (%.6g %%)", 100 * o->level);
    if (o->format == CLI_TABLE)
        rehearse_head(a);
    cli_print(o->format, &table, fields, sizeof fields / sizeof fields[0],
              "intervals");
}

static int rehearse_sizes(struct rehearse *a, struct cli_parser *p)
{
    const bool pair = a->how->design.kind->pair;
    const size_t count = survey_counts(a->n, pair ? 2 : 1, a->how->n, "n", p);

    if (count == 0)
        return p->exit;
    if (count != (pair ? 2 : 1) || a->n[0] == 0 || (pair && a->n[1] == 0))
        return cli_usage(p, "--n: %s",
                         pair ? "the people of both samples, as "
                                "300,300, and somebody in each"
                              : "somebody must answer");
    return 0;
}

int survey_simulate(const struct survey_options *o, struct cli_parser *p)
{
    struct rehearse a = {.how = o};
    hsy_error err = {0};
    int failed;

    if (isnan(o->share) || o->n == NULL)
        return cli_usage(p, "simulate needs --share F, what is true of the "
                            "made-up people, and --n N, how many answer");
    if (o->design.kind->pair && isnan(o->innocuous))
        return cli_usage(p, "simulate --two-sample needs --innocuous R, the "
                            "share of yes to the other question");
    failed = rehearse_sizes(&a, p);
    if (failed)
        return failed;
    rehearse_expect(&a);
    if (rehearse_runs(&a, &err) != HSY_OK)
        return cli_fail_error(NULL, &err);
    rehearse_print(&a);
    return cli_finish();
}

#undef REHEARSE_KINDS
#undef REHEARSE_EXACT_MAX
