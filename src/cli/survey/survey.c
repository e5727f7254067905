/* survey.c - hearsay survey: an interview survey, before and after. */
#include "cli/survey/internal.h"

#include "host/base/ratio.h"

#include <math.h>
#include <string.h>

struct survey_given {
    struct survey_options o;
    bool simulate, need, sheet;
};

/* ---- Options ------------------------------------------------------------- */

/* One or two shares from 0 to 1, the ends too: as many as the row's low. */
static bool survey_take_shares(struct cli_parser *p, void *to)
{
    double *out = (double *)((char *)to + p->row->place);
    const size_t n = p->row->low;
    hsy_ratio r[2];
    const bool good = ratio_parse_list(r, n, p->value);

    for (size_t i = 0; good && i < n; i++)
        out[i] = (double)r[i].num / (double)r[i].den;
    if (!good)
        cli_usage(p, "--%s takes %s from 0 to 1, as 0.25 or 1/4", p->name,
                  n == 1 ? "a share" : "two shares A,B");
    return good;
}

static bool survey_operand(struct cli_parser *p, void *to)
{
    struct survey_given *g = to;

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

/* Take the option just read, a design's. */
static bool survey_design_option(struct cli_parser *p, void *to)
{
    struct survey_design *d = &((struct survey_given *)to)->o.design;
    const struct survey_kind *kind = survey_kind_of(p->name);
    hsy_error err = {0};

    if (d->kind != NULL) {
        cli_usage(p, "--%s: one design at a time, and --%s is given", p->name,
                  d->kind->name);
        return false;
    }
    switch (survey_design_parse(d, kind, p->value, &err)) {
    case HSY_OK:
        return true;
    case HSY_E_FORMAT:
        cli_usage(p, "--%s takes %s%s", kind->name, kind->takes,
                  kind->design == HSY_SURVEY_EPSILON
                      ? ""
                      : "; from 0 to 1, as decimals (0.75, at most 9 digits "
                        "after the point) or fractions (3/4)");
        return false;
    default:
        cli_usage(p, "--%s: %s; %s", kind->name, err.msg, kind->fix);
        return false;
    }
}

#define SURVEY(member) offsetof(struct survey_given, member)

static const struct cli_option survey_options[] = {
    {0, "epsilon", "E", "the best design of this privacy, or lnN",
     CLI_INTO_CALL, SURVEY(o.design), .call = survey_design_option},
    {0, "spinner", "P", "Warner: the question, chance P, or its opposite",
     CLI_INTO_CALL, SURVEY(o.design), .call = survey_design_option},
    {0, "coins", "T,R", "the truth, chance T, else yes, chance R",
     CLI_INTO_CALL, SURVEY(o.design), .call = survey_design_option},
    {0, "channel", "P,Q", "yes with chance P if true, Q if not", CLI_INTO_CALL,
     SURVEY(o.design), .call = survey_design_option},
    {0, "unrelated", "T,R", "the question, T, or one a share R says yes to",
     CLI_INTO_CALL, SURVEY(o.design), .call = survey_design_option},
    {0, "two-sample", "A,B", "the same, R unknown: chance A, and B in sample 2",
     CLI_INTO_CALL, SURVEY(o.design), .call = survey_design_option},
    {0, "forced", "Y,N", "made to say yes, chance Y, or no, N", CLI_INTO_CALL,
     SURVEY(o.design), .call = survey_design_option},
    {0, "crosswise", "R", "yes: the same as to one that a share R says yes to",
     CLI_INTO_CALL, SURVEY(o.design), .call = survey_design_option},
    {0, "matrix", "FILE",
     "any channel: P(answer|truth), lines of "
     "answers",
     CLI_INTO_TEXT, SURVEY(o.matrix)},
    {0, "yes", "Y", "answers yes; Y1,Y2 of groups or samples", CLI_INTO_TEXT,
     SURVEY(o.yes)},
    {0, "n", "N", "answers in all, likewise", CLI_INTO_TEXT, SURVEY(o.n)},
    {0, "counts", "A,B,C", "with --matrix: of each answer", CLI_INTO_TEXT,
     SURVEY(o.counts)},
    {0, "answers", "FILE.csv", "instead: a line a person, with", CLI_INTO_TEXT,
     SURVEY(o.answers)},
    {0, "column", "NAME", "... the answer in this column", CLI_INTO_TEXT,
     SURVEY(o.column)},
    {0, "group", "NAME", "... compare groups by this one", CLI_INTO_TEXT,
     SURVEY(o.group)},
    {0, "weight", "NAME", "... weigh answers by this one", CLI_INTO_TEXT,
     SURVEY(o.weight)},
    {0, "sample", "NAME", "... 1 or 2, with --two-sample", CLI_INTO_TEXT,
     SURVEY(o.sample)},
    {0, "values-file", "FILE", "what answers of --matrix are called",
     CLI_INTO_TEXT, SURVEY(o.values_file)},
    {0, "level", "L", "of intervals and tests (default 0.95)", CLI_INTO_SHARE,
     SURVEY(o.level)},
    {0, "plot", "FILE.svg", "draw likelihood, surface or groups", CLI_INTO_TEXT,
     SURVEY(o.plot)},
    {0, "power", NULL, "how many people are needed", CLI_INTO_FLAG,
     SURVEY(need)},
    {0, "margin", "M", "... to know a share to M either way", CLI_INTO_SHARE,
     SURVEY(o.aim.margin)},
    {0, "shares", "A,B", "... or to tell two groups apart", CLI_INTO_CALL,
     SURVEY(o.aim.shares), 2, .call = survey_take_shares},
    {0, "chance", "C", "... with this chance (default 0.8)", CLI_INTO_SHARE,
     SURVEY(o.aim.power)},
    {0, "share", "F", "the share that is expected or simulated", CLI_INTO_CALL,
     SURVEY(o.aim.share), 1, .call = survey_take_shares},
    {0, "innocuous", "R", "of the other question, likewise", CLI_INTO_CALL,
     SURVEY(o.aim.innocuous), 1, .call = survey_take_shares},
    {0, "questionnaire", NULL, "a sheet to print", CLI_INTO_FLAG,
     SURVEY(sheet)},
    {0, "question", "TEXT", "... with this question", CLI_INTO_TEXT,
     SURVEY(o.question)},
    {0, "other-question", "TEXT", "... and this harmless one", CLI_INTO_TEXT,
     SURVEY(o.other_question)},
    {0, "runs", "R", "surveys to simulate (default 1000)", CLI_INTO_COUNT,
     SURVEY(o.runs), 1, 10000000},
    {0, "seed", "N", "of the simulation (default 1)", CLI_INTO_COUNT,
     SURVEY(o.seed), 0, UINT64_MAX},
    CLI_FORMAT_ROW(SURVEY(o.format)),
    {0}};

static const struct cli_command survey_command = {
    "survey",
    "DESIGN --yes Y --n N [options] | DESIGN --answers FILE.csv --column NAME "
    "[options] | DESIGN --power [options] | DESIGN "
    "--questionnaire [options] | simulate "
    "DESIGN "
    "--share F --n N [options]",
    "Analyse, plan or rehearse an interview survey by randomized response.",
    survey_options, .operand = survey_operand};

/* ---- What goes with what ------------------------------------------------- */

#define SURVEY_IN(work) (1u << (work))
#define SURVEY_EVIDENCE (SURVEY_IN(SURVEY_ESTIMATE) | SURVEY_IN(SURVEY_STATES))
#define SURVEY_FIGURES                                                         \
    (SURVEY_EVIDENCE | SURVEY_IN(SURVEY_POWER) | SURVEY_IN(SURVEY_SIMULATE))

static const struct survey_rule {
    const char *name; /* NULL: all designs */
    unsigned works;   /* in which it may stand */
    const char *with; /* what it goes with */
} survey_rules[] = {
    {NULL, ~SURVEY_IN(SURVEY_STATES), "other things than --matrix"},
    {"matrix", SURVEY_IN(SURVEY_STATES), "--counts or --answers"},
    {"yes", SURVEY_IN(SURVEY_ESTIMATE), "--n"},
    {"n", SURVEY_IN(SURVEY_ESTIMATE) | SURVEY_IN(SURVEY_SIMULATE),
     "--yes, or simulate"},
    {"counts", SURVEY_IN(SURVEY_STATES), "--matrix"},
    {"answers", SURVEY_EVIDENCE, "an estimate"},
    {"column", SURVEY_EVIDENCE, "--answers"},
    {"group", SURVEY_IN(SURVEY_ESTIMATE), "--answers"},
    {"weight", SURVEY_IN(SURVEY_ESTIMATE), "--answers"},
    {"sample", SURVEY_IN(SURVEY_ESTIMATE), "--answers and --two-sample"},
    {"values-file", SURVEY_IN(SURVEY_STATES), "--matrix"},
    {"level", SURVEY_FIGURES, "figures"},
    {"plot", SURVEY_EVIDENCE, "an estimate"},
    {"margin", SURVEY_IN(SURVEY_POWER), "--power"},
    {"shares", SURVEY_IN(SURVEY_POWER), "--power"},
    {"chance", SURVEY_IN(SURVEY_POWER), "--power --shares"},
    {"share", SURVEY_IN(SURVEY_POWER) | SURVEY_IN(SURVEY_SIMULATE),
     "--power and simulate"},
    {"innocuous", SURVEY_IN(SURVEY_POWER) | SURVEY_IN(SURVEY_SIMULATE),
     "--power and simulate"},
    {"question", SURVEY_IN(SURVEY_QUESTIONNAIRE), "--questionnaire"},
    {"other-question", SURVEY_IN(SURVEY_QUESTIONNAIRE), "--questionnaire"},
    {"runs", SURVEY_IN(SURVEY_SIMULATE), "simulate"},
    {"seed", SURVEY_IN(SURVEY_SIMULATE), "simulate"},
    {"format", SURVEY_FIGURES, "figures"}};

static int survey_check_rules(struct survey_given *g, struct cli_parser *p)
{
    static const char *const works[] = {"an estimate", "--matrix", "--power",
                                        "--questionnaire", "simulate"};

    for (size_t i = 0; i < sizeof survey_rules / sizeof survey_rules[0]; i++) {
        const struct survey_rule *rule = &survey_rules[i];

        const char *name = rule->name;

        if (name == NULL && g->o.design.kind != NULL)
            name = g->o.design.kind->name;
        if (name == NULL || !cli_given(p, name) ||
            (rule->works & SURVEY_IN(g->o.work)) != 0)
            continue;
        return cli_usage(p, "--%s goes with %s, not with %s", name, rule->with,
                         works[g->o.work]);
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

    if (!pair && (o->sample != NULL || cli_given(p, "innocuous")))
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

    if (g->need + g->sheet + g->simulate > 1)
        return cli_usage(p,
                         "--power, --questionnaire, simulate: one at a time");
    o->work = g->simulate         ? SURVEY_SIMULATE
              : g->sheet          ? SURVEY_QUESTIONNAIRE
              : g->need           ? SURVEY_POWER
              : o->matrix != NULL ? SURVEY_STATES
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
    int failed;

    if (!cli_read(&p, &survey_command, argc, argv, &g))
        return p.exit;
    failed = survey_check(&g, &p);
    return failed ? failed : works[g.o.work](&g.o, &p);
}

#undef SURVEY_IN
#undef SURVEY_EVIDENCE
#undef SURVEY_FIGURES
