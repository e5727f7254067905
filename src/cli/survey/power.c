/* power.c - how many people a survey needs. */
#include "cli/survey/internal.h"

#include <inttypes.h>
#include <math.h>

/* What is needed by the design itself, by the best one of its epsilon, and by
 * asking directly. A pair has none but the first, split in two. */
struct power_needs {
    const struct survey_options *how;
    bool groups;
    double share; /* that is expected, or the worst */
    double n, samples[2], best, direct;
};

/* The share whose rate of yes is nearest to 1/2: it takes the most people. */
static double power_worst(const hsy_survey *s)
{
    return fmin(fmax((0.5 - s->q) / hsy_survey_gap(s), 0), 1);
}

static hsy_status power_of(double *n, const struct power_needs *w,
                           const hsy_survey *s, hsy_error *err)
{
    const struct survey_options *o = w->how;

    if (w->groups)
        return hsy_survey_need_groups(n, s, o->shares[0], o->shares[1],
                                      o->level, o->power, err);
    return hsy_survey_need(n, s, isnan(o->share) ? power_worst(s) : o->share,
                           o->margin, o->level, err);
}

static hsy_status power_one(struct power_needs *w, hsy_error *err)
{
    const struct survey_design *d = &w->how->design;
    const hsy_survey direct = {.p = 1, .not_q = 1};
    const double epsilon[2] = {d->epsilon, 0};
    hsy_survey best;
    hsy_status st = power_of(&w->n, w, &d->channel, err);

    w->best = NAN;
    if (st == HSY_OK)
        st = power_of(&w->direct, w, &direct, err);
    /* Beyond epsilon 32 asking directly is as good. */
    if (st == HSY_OK &&
        hsy_survey_init(&best, HSY_SURVEY_EPSILON, epsilon, NULL) == HSY_OK)
        st = power_of(&w->best, w, &best, err);
    return st;
}

static int power_pair(struct power_needs *w, struct cli_parser *p,
                      hsy_error *err, hsy_status *st)
{
    const struct survey_options *o = w->how;

    if (w->groups || isnan(o->share) || isnan(o->innocuous))
        return cli_usage(p, "--two-sample --power needs --margin M, --share F "
                            "and --innocuous R: what is expected of either "
                            "question");
    *st = hsy_survey_pair_need(w->samples, o->design.chance, o->share,
                               o->innocuous, o->margin, o->level, err);
    w->n = w->samples[0] + w->samples[1];
    w->best = w->direct = NAN;
    return 0;
}

/* ---- Printing ------------------------------------------------------------ */

struct power_row {
    const char *name;
    double value;
};

static void power_cell(const void *ctx, size_t row, size_t column,
                       struct cli_cell *out)
{
    const struct power_row *rows = ctx;

    (void)row;
    *out = cli_number(rows[column].value);
}

static void power_machine(const struct power_needs *w)
{
    const struct survey_options *o = w->how;
    const bool pair = o->design.kind->pair;
    const struct power_row rows[] = {
        {"level", o->level},
        {"margin", w->groups ? NAN : o->margin},
        {"share", w->groups ? NAN : w->share},
        {"share_a", w->groups ? o->shares[0] : NAN},
        {"share_b", w->groups ? o->shares[1] : NAN},
        {"chance", w->groups ? o->power : NAN},
        {"epsilon", pair ? NAN : o->design.epsilon},
        {"n", w->n},
        {"n_first", pair ? w->samples[0] : NAN},
        {"n_second", pair ? w->samples[1] : NAN},
        {"n_best", w->best},
        {"n_direct", w->direct}};
    struct cli_column columns[sizeof rows / sizeof rows[0]];
    const struct cli_table table = {columns, sizeof rows / sizeof rows[0], 1,
                                    power_cell, rows};
    const struct cli_field field = {"design", cli_text(o->design.kind->option)};

    for (size_t i = 0; i < table.ncolumns; i++)
        columns[i] = (struct cli_column){rows[i].name, NULL};
    cli_print(o->format, &table, &field, 1, NULL);
}

static void power_print(const struct power_needs *w)
{
    const struct survey_options *o = w->how;
    char line[300];

    survey_design_print(&o->design);
    putchar('\n');
    if (w->groups)
        snprintf(line, sizeof line,
                 "To tell the shares %.4g and %.4g of two groups apart with "
                 "chance %.4g, by a test that calls equal ones different with "
                 "chance %.4g, each group needs",
                 o->shares[0], o->shares[1], o->power, 1 - o->level);
    else
        snprintf(line, sizeof line,
                 "To know the share to %.4g either way with chance %.4g, if it "
                 "is %.4g%s, it takes",
                 o->margin, o->level, w->share,
                 isnan(o->share) ? ", the worst case" : "");
    cli_paragraph(line);
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
    struct power_needs w = {.how = o, .groups = isnan(o->margin)};
    hsy_error err = {0};
    hsy_status st = HSY_OK;
    int failed = 0;

    if (isnan(o->margin) == isnan(o->shares[0]))
        return cli_usage(p, "--power needs --margin M, or --shares A,B of two "
                            "groups to tell apart: one of the two");
    if (w.groups && !isnan(o->share))
        return cli_usage(p, "--share goes with --margin; --shares says what is "
                            "expected already");
    w.share = !isnan(o->share)       ? o->share
              : o->design.kind->pair ? NAN
                                     : power_worst(&o->design.channel);
    if (o->design.kind->pair)
        failed = power_pair(&w, p, &err, &st);
    else
        st = power_one(&w, &err);
    if (failed)
        return failed;
    if (st != HSY_OK)
        return cli_fail_error("--power", &err);
    if (o->format == CLI_TABLE)
        power_print(&w);
    else
        power_machine(&w);
    return cli_finish();
}
