/* survey.c - hearsay survey: an interview survey, before and after. */
#include "cli/survey/internal.h"

#include "host/base/ratio.h"

#include <math.h>
#include <string.h>

enum {
    SURVEY_DESIGN = 1, /* all of them */
    SURVEY_MATRIX,
    SURVEY_YES,
    SURVEY_N,
    SURVEY_COUNTS,
    SURVEY_ANSWERS,
    SURVEY_COLUMN,
    SURVEY_BY_GROUP,
    SURVEY_BY_WEIGHT,
    SURVEY_BY_SAMPLE,
    SURVEY_VALUES_FILE,
    SURVEY_LEVEL,
    SURVEY_PLOT,
    SURVEY_NEED,
    SURVEY_MARGIN,
    SURVEY_SHARES,
    SURVEY_CHANCE,
    SURVEY_SHARE,
    SURVEY_INNOCUOUS,
    SURVEY_SHEET,
    SURVEY_QUESTION,
    SURVEY_OTHER,
    SURVEY_RUNS,
    SURVEY_SEED,
    SURVEY_FORMAT
};

static const struct cli_option survey_options[] = {
    {SURVEY_DESIGN, "epsilon", "E", "the best design of this privacy, or lnN"},
    {SURVEY_DESIGN, "spinner", "P",
     "Warner: the question, chance P, or its opposite"},
    {SURVEY_DESIGN, "coins", "T,R", "the truth, chance T, else yes, chance R"},
    {SURVEY_DESIGN, "channel", "P,Q", "yes with chance P if true, Q if not"},
    {SURVEY_DESIGN, "unrelated", "T,R",
     "the question, T, or one a share R says yes to"},
    {SURVEY_DESIGN, "two-sample", "A,B",
     "the same, R unknown: chance A, and B in sample 2"},
    {SURVEY_DESIGN, "forced", "Y,N", "made to say yes, chance Y, or no, N"},
    {SURVEY_DESIGN, "crosswise", "R",
     "yes: the same as to one that a share R says yes to"},
    {SURVEY_MATRIX, "matrix", "FILE",
     "any channel: P(answer|truth), lines of "
     "answers"},
    {SURVEY_YES, "yes", "Y", "answers yes; Y1,Y2 of groups or samples"},
    {SURVEY_N, "n", "N", "answers in all, likewise"},
    {SURVEY_COUNTS, "counts", "A,B,C", "with --matrix: of each answer"},
    {SURVEY_ANSWERS, "answers", "FILE.csv", "instead: a line a person, with"},
    {SURVEY_COLUMN, "column", "NAME", "... the answer in this column"},
    {SURVEY_BY_GROUP, "group", "NAME", "... compare groups by this one"},
    {SURVEY_BY_WEIGHT, "weight", "NAME", "... weigh answers by this one"},
    {SURVEY_BY_SAMPLE, "sample", "NAME", "... 1 or 2, with --two-sample"},
    {SURVEY_VALUES_FILE, "values-file", "FILE",
     "what answers of --matrix are called"},
    {SURVEY_LEVEL, "level", "L", "of intervals and tests (default 0.95)"},
    {SURVEY_PLOT, "plot", "FILE.svg", "draw likelihood, surface or groups"},
    {SURVEY_NEED, "power", NULL, "how many people are needed"},
    {SURVEY_MARGIN, "margin", "M", "... to know a share to M either way"},
    {SURVEY_SHARES, "shares", "A,B", "... or to tell two groups apart"},
    {SURVEY_CHANCE, "chance", "C", "... with this chance (default 0.8)"},
    {SURVEY_SHARE, "share", "F", "the share that is expected or simulated"},
    {SURVEY_INNOCUOUS, "innocuous", "R", "of the other question, likewise"},
    {SURVEY_SHEET, "questionnaire", NULL, "a sheet to print"},
    {SURVEY_QUESTION, "question", "TEXT", "... with this question"},
    {SURVEY_OTHER, "other-question", "TEXT", "... and this harmless one"},
    {SURVEY_RUNS, "runs", "R", "surveys to simulate (default 1000)"},
    {SURVEY_SEED, "seed", "N", "of the simulation (default 1)"},
    CLI_FORMAT_OPTION(SURVEY_FORMAT),
    {0, NULL, NULL, NULL}};

static const struct cli_command survey_command = {
    "survey",
    "DESIGN --yes Y --n N [options] | DESIGN --answers FILE.csv --column NAME "
    "[options] | DESIGN --power [options] | DESIGN "
    "--questionnaire [options] | simulate "
    "DESIGN "
    "--share F --n N [options]",
    "Analyse, plan or rehearse an interview survey by randomized response.",
    survey_options};

/* ---- What goes with what ------------------------------------------------- */

#define SURVEY_IN(work) (1u << (work))
#define SURVEY_EVIDENCE (SURVEY_IN(SURVEY_ESTIMATE) | SURVEY_IN(SURVEY_STATES))
#define SURVEY_FIGURES                                                         \
    (SURVEY_EVIDENCE | SURVEY_IN(SURVEY_POWER) | SURVEY_IN(SURVEY_SIMULATE))

static const struct survey_rule {
    int id;
    unsigned works;   /* in which it may stand */
    const char *with; /* what it goes with */
} survey_rules[] = {
    {SURVEY_DESIGN, ~SURVEY_IN(SURVEY_STATES), "other things than --matrix"},
    {SURVEY_MATRIX, SURVEY_IN(SURVEY_STATES), "--counts or --answers"},
    {SURVEY_YES, SURVEY_IN(SURVEY_ESTIMATE), "--n"},
    {SURVEY_N, SURVEY_IN(SURVEY_ESTIMATE) | SURVEY_IN(SURVEY_SIMULATE),
     "--yes, or simulate"},
    {SURVEY_COUNTS, SURVEY_IN(SURVEY_STATES), "--matrix"},
    {SURVEY_ANSWERS, SURVEY_EVIDENCE, "an estimate"},
    {SURVEY_COLUMN, SURVEY_EVIDENCE, "--answers"},
    {SURVEY_BY_GROUP, SURVEY_IN(SURVEY_ESTIMATE), "--answers"},
    {SURVEY_BY_WEIGHT, SURVEY_IN(SURVEY_ESTIMATE), "--answers"},
    {SURVEY_BY_SAMPLE, SURVEY_IN(SURVEY_ESTIMATE),
     "--answers and --two-sample"},
    {SURVEY_VALUES_FILE, SURVEY_IN(SURVEY_STATES), "--matrix"},
    {SURVEY_LEVEL, SURVEY_FIGURES, "figures"},
    {SURVEY_PLOT, SURVEY_EVIDENCE, "an estimate"},
    {SURVEY_MARGIN, SURVEY_IN(SURVEY_POWER), "--power"},
    {SURVEY_SHARES, SURVEY_IN(SURVEY_POWER), "--power"},
    {SURVEY_CHANCE, SURVEY_IN(SURVEY_POWER), "--power --shares"},
    {SURVEY_SHARE, SURVEY_IN(SURVEY_POWER) | SURVEY_IN(SURVEY_SIMULATE),
     "--power and simulate"},
    {SURVEY_INNOCUOUS, SURVEY_IN(SURVEY_POWER) | SURVEY_IN(SURVEY_SIMULATE),
     "--power and simulate"},
    {SURVEY_QUESTION, SURVEY_IN(SURVEY_QUESTIONNAIRE), "--questionnaire"},
    {SURVEY_OTHER, SURVEY_IN(SURVEY_QUESTIONNAIRE), "--questionnaire"},
    {SURVEY_RUNS, SURVEY_IN(SURVEY_SIMULATE), "simulate"},
    {SURVEY_SEED, SURVEY_IN(SURVEY_SIMULATE), "simulate"},
    {SURVEY_FORMAT, SURVEY_FIGURES, "figures"}};

struct survey_given {
    struct survey_options o;
    uint64_t given; /* options, by their id */
    bool simulate;
};

static bool survey_has(const struct survey_given *g, int id)
{
    return (g->given >> id & 1) != 0;
}

static const char *survey_option_name(int id)
{
    const struct cli_option *row = survey_options;

    while (row->id != id)
        row++;
    return row->name;
}

static int survey_check_rules(struct survey_given *g, struct cli_parser *p)
{
    static const char *const works[] = {"an estimate", "--matrix", "--power",
                                        "--questionnaire", "simulate"};

    for (size_t i = 0; i < sizeof survey_rules / sizeof survey_rules[0]; i++) {
        const struct survey_rule *rule = &survey_rules[i];

        if (!survey_has(g, rule->id) ||
            (rule->works & SURVEY_IN(g->o.work)) != 0)
            continue;
        return cli_usage(p, "--%s goes with %s, not with %s",
                         rule->id == SURVEY_DESIGN
                             ? g->o.design.kind->name
                             : survey_option_name(rule->id),
                         rule->with, works[g->o.work]);
    }
    return 0;
}

/* One source of evidence, whole. */
static int survey_check_evidence(const struct survey_given *g,
                                 struct cli_parser *p)
{
    const struct survey_options *o = &g->o;
    const bool states = o->work == SURVEY_STATES;
    const bool counts = o->yes != NULL || o->n != NULL || o->counts != NULL;

    if (counts && o->answers != NULL)
        return cli_usage(p, "--answers or counts: one of the two");
    if (!counts && o->answers == NULL)
        return cli_usage(p, states ? "--matrix needs --counts A,B,..., or "
                                     "--answers FILE.csv --column NAME"
                                   : "what was answered? --yes Y --n N, or "
                                     "--answers FILE.csv --column NAME");
    if (counts && !states && (o->yes == NULL || o->n == NULL))
        return cli_usage(p, "--yes Y and --n N go together: how many said yes, "
                            "and how many answered");
    if (o->answers != NULL && o->column == NULL)
        return cli_usage(p, "--answers needs --column NAME: where the answer "
                            "stands");
    if (o->answers == NULL && (o->column != NULL || o->group != NULL ||
                               o->weight != NULL || o->sample != NULL))
        return cli_usage(p, "--column, --group, --weight and --sample name "
                            "columns of --answers FILE.csv");
    return 0;
}

static int survey_check_pair(const struct survey_given *g, struct cli_parser *p)
{
    const struct survey_options *o = &g->o;
    const bool pair = o->design.kind != NULL && o->design.kind->pair;

    if (!pair && (o->sample != NULL || survey_has(g, SURVEY_INNOCUOUS)))
        return cli_usage(p, "--%s goes with --two-sample",
                         o->sample != NULL ? "sample" : "innocuous");
    if (!pair)
        return 0;
    if (o->group != NULL)
        return cli_usage(p, "--two-sample compares no groups: estimate each "
                            "group alone");
    if (o->plot != NULL)
        return cli_usage(p, "--two-sample has no figure: two shares are "
                            "unknown");
    if (o->answers != NULL && o->sample == NULL)
        return cli_usage(p, "--two-sample needs --sample NAME: the column that "
                            "says 1 or 2");
    return 0;
}

static int survey_check(struct survey_given *g, struct cli_parser *p)
{
    struct survey_options *o = &g->o;
    const char *const inputs[] = {o->answers, o->matrix, o->values_file};
    int failed;

    if (survey_has(g, SURVEY_NEED) + survey_has(g, SURVEY_SHEET) + g->simulate >
        1)
        return cli_usage(p,
                         "--power, --questionnaire, simulate: one at a time");
    o->work = g->simulate                   ? SURVEY_SIMULATE
              : survey_has(g, SURVEY_SHEET) ? SURVEY_QUESTIONNAIRE
              : survey_has(g, SURVEY_NEED)  ? SURVEY_POWER
              : o->matrix != NULL           ? SURVEY_STATES
                                            : SURVEY_ESTIMATE;
    failed = survey_check_rules(g, p);
    if (failed)
        return failed;
    if (o->design.kind == NULL && o->matrix == NULL)
        return cli_usage(p, "how were people asked? Name a design: --epsilon, "
                            "--spinner, --coins, --channel, --unrelated, "
                            "--two-sample, --forced, --crosswise or --matrix");
    if (o->work == SURVEY_ESTIMATE || o->work == SURVEY_STATES)
        failed = survey_check_evidence(g, p);
    if (!failed)
        failed = survey_check_pair(g, p);
    return failed ? failed : cli_check_inputs(p, inputs, 3);
}

/* ---- Options ------------------------------------------------------------- */

/* One or two shares from 0 to 1, the ends too. */
static bool survey_take_shares(struct cli_parser *p, double *out, size_t n)
{
    hsy_ratio r[2];
    const bool good = ratio_parse_list(r, n, p->value);

    for (size_t i = 0; good && i < n; i++)
        out[i] = (double)r[i].num / (double)r[i].den;
    if (!good)
        cli_usage(p, "--%s takes %s from 0 to 1, as 0.25 or 1/4", p->name,
                  n == 1 ? "a share" : "two shares A,B");
    return good;
}

static bool survey_take_text(struct survey_options *o, int id,
                             const char *value)
{
    const struct {
        int id;
        const char **place;
    } texts[] = {{SURVEY_MATRIX, &o->matrix},
                 {SURVEY_YES, &o->yes},
                 {SURVEY_N, &o->n},
                 {SURVEY_COUNTS, &o->counts},
                 {SURVEY_ANSWERS, &o->answers},
                 {SURVEY_COLUMN, &o->column},
                 {SURVEY_BY_GROUP, &o->group},
                 {SURVEY_BY_WEIGHT, &o->weight},
                 {SURVEY_BY_SAMPLE, &o->sample},
                 {SURVEY_VALUES_FILE, &o->values_file},
                 {SURVEY_PLOT, &o->plot},
                 {SURVEY_QUESTION, &o->question},
                 {SURVEY_OTHER, &o->other_question}};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].id != id)
            continue;
        *texts[i].place = value;
        return true;
    }
    return false;
}

static bool survey_operand(struct survey_given *g, struct cli_parser *p)
{
    if (strcmp(p->value, "simulate") == 0 && !g->simulate) {
        g->simulate = true;
        return true;
    }
    cli_usage(p,
              "'%.64s' is one word too many; answers come from --answers "
              "FILE.csv",
              p->value);
    return false;
}

static bool survey_option(struct survey_given *g, struct cli_parser *p, int id)
{
    struct survey_options *o = &g->o;

    if (id == CLI_OPERAND)
        return survey_operand(g, p);
    g->given |= (uint64_t)1 << id;
    if (survey_take_text(o, id, p->value))
        return true;
    switch (id) {
    case SURVEY_DESIGN:
        return survey_design_option(&o->design, p);
    case SURVEY_LEVEL:
        return cli_value_fraction(p, &o->level);
    case SURVEY_MARGIN:
        return cli_value_fraction(p, &o->aim.margin);
    case SURVEY_CHANCE:
        return cli_value_fraction(p, &o->aim.power);
    case SURVEY_SHARES:
        return survey_take_shares(p, o->aim.shares, 2);
    case SURVEY_SHARE:
        return survey_take_shares(p, &o->aim.share, 1);
    case SURVEY_INNOCUOUS:
        return survey_take_shares(p, &o->aim.innocuous, 1);
    case SURVEY_RUNS:
        return cli_value_count(p, &o->runs, 1, 10000000);
    case SURVEY_SEED:
        return cli_value_count(p, &o->seed, 0, UINT64_MAX);
    case SURVEY_FORMAT:
        return cli_value_format(p, &o->format);
    default: /* flags: that they are given is all */
        return true;
    }
}

int cmd_survey(int argc, char **argv)
{
    static int (*const works[])(const struct survey_options *,
                                struct cli_parser *) = {
        [SURVEY_ESTIMATE] = survey_estimate,
        [SURVEY_STATES] = survey_states,
        [SURVEY_POWER] = survey_power,
        [SURVEY_QUESTIONNAIRE] = survey_questionnaire,
        [SURVEY_SIMULATE] = survey_simulate};
    struct survey_given g = {.o = {.level = 0.95,
                                   .aim = {.margin = NAN,
                                           .share = NAN,
                                           .innocuous = NAN,
                                           .shares = {NAN, NAN},
                                           .power = 0.8},
                                   .runs = 1000,
                                   .seed = 1}};
    struct cli_parser p;
    int id, failed;

    cli_begin(&p, &survey_command, argc, argv);
    while ((id = cli_next(&p)) != CLI_END) {
        if (id == CLI_STOP || !survey_option(&g, &p, id))
            return p.exit;
    }
    failed = survey_check(&g, &p);
    return failed ? failed : works[g.o.work](&g.o, &p);
}

#undef SURVEY_IN
#undef SURVEY_EVIDENCE
#undef SURVEY_FIGURES
