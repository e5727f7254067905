/* survey.c - hearsay survey: an interview survey, before and after. */
#include "cli/survey/internal.h"

#include <math.h>
#include <string.h>

struct survey_given {
    struct cli_parser parser;
    struct survey_options o;
    bool need, sheet;
};

/* ---- Options ------------------------------------------------------------- */

/* Two shares from 0 to 1, the ends too. */
static bool survey_take_shares(struct cli_parser *p, void *to)
{
    double *out = ((struct survey_given *)to)->o.aim.shares;
    const char *comma = strchr(p->value, ',');

    if (comma != NULL &&
        text_part(&out[0], p->value, (size_t)(comma - p->value)) &&
        text_part(&out[1], comma + 1, strlen(comma + 1)))
        return true;
    cli_usage(p, "--shares takes two shares A,B from 0 to 1, e.g. 25%%,30%%");
    return false;
}

/* Take the option just read, a design's. */
static bool survey_design_option(struct cli_parser *p, void *to)
{
    struct survey_design *d = &((struct survey_given *)to)->o.design;
    const struct survey_kind *kind = survey_kind_of(p->name);
    hsy_error err = {0};

    if (d->kind != NULL) {
        cli_usage(p, "--%s: the design --%s is given already; use only one",
                  p->name, d->kind->name);
        return false;
    }
    switch (survey_design_parse(d, kind, p->value, &err)) {
    case HSY_OK:
        return true;
    case HSY_E_FORMAT:
        cli_usage(p, "--%s takes %s%s", kind->name, kind->takes,
                  kind->design == HSY_SURVEY_EPSILON
                      ? ""
                      : "; from 0 to 1, as decimals (0.75, at most 9 "
                        "decimals), percentages (75%) or fractions (3/4)");
        return false;
    default:
        cli_usage(p, "--%s: %s; %s", kind->name, err.msg, kind->fix);
        return false;
    }
}

#define GIVEN(member) offsetof(struct survey_given, member)
#define SURVEY(member) GIVEN(o.member)

/* What each kind of work excludes. */
#define SURVEY_EVIDENCE                                                        \
    "yes n counts answers column group weight sample values-file plot"
#define SURVEY_DESIGNS                                                         \
    "epsilon spinner coins channel unrelated two-sample forced crosswise"
#define SURVEY_DESIGN(name, arg, help, examples)                               \
    {                                                                          \
        name, arg, help, CLI_INTO_CALL, .call = survey_design_option,          \
                                        .hints = examples                      \
    }

static const struct cli_option survey_options[] = {
    SURVEY_DESIGN("epsilon", "E",
                  "best design with this epsilon (a number or lnN)", "1 2 ln3"),
    SURVEY_DESIGN("spinner", "P",
                  "Warner: ask the question (chance P) or its opposite",
                  "70% 75% 3/4"),
    SURVEY_DESIGN("coins", "T,R", "truth with chance T, else yes with chance R",
                  "50%,50%"),
    SURVEY_DESIGN("channel", "P,Q",
                  "yes with chance P if true, with chance Q if not", NULL),
    SURVEY_DESIGN("unrelated", "T,R",
                  "with chance T the question, else one of known share R",
                  NULL),
    SURVEY_DESIGN("two-sample", "A,B",
                  "as --unrelated, R unknown: two samples, chances A, B", NULL),
    SURVEY_DESIGN("forced", "Y,N",
                  "told to say yes (chance Y) or no (N), else the truth",
                  "1/6,1/6"),
    SURVEY_DESIGN("crosswise", "R",
                  "say if the answer equals that to one of known share R",
                  "1/4"),
    {"matrix", "FILE", "any channel: P(answer|truth), one CSV row per answer",
     CLI_INTO_TEXT, SURVEY(matrix), .verbs = "-", .with = "counts answers",
     .without = SURVEY_DESIGNS " yes n group weight sample"},
    {"yes", "Y", "number of yes answers; Y1,Y2 for groups or samples",
     CLI_INTO_TEXT, SURVEY(yes), .verbs = "-", .with = "n",
     .without = "answers"},
    {"n", "N", "number of answers; N1,N2 for groups or samples", CLI_INTO_TEXT,
     SURVEY(n)},
    {"counts", "A,B,C", "matrix: count of each answer", CLI_INTO_TEXT,
     SURVEY(counts), .verbs = "-", .with = "matrix", .without = "answers"},
    {"answers", "FILE.csv",
     "answers as CSV, one person per line, instead of counts", CLI_INTO_TEXT,
     SURVEY(answers), .verbs = "-", .with = "column"},
    {"column", "NAME", "column of the answer", CLI_INTO_TEXT, SURVEY(column),
     .verbs = "-", .with = "answers"},
    {"group", "NAME", "column of the groups to compare", CLI_INTO_TEXT,
     SURVEY(group), .verbs = "-", .with = "answers", .without = "two-sample"},
    {"weight", "NAME", "column of the weights", CLI_INTO_TEXT, SURVEY(weight),
     .verbs = "-", .with = "answers"},
    {"sample", "NAME", "two-sample: column with the sample number, 1 or 2",
     CLI_INTO_TEXT, SURVEY(sample), .verbs = "-", .with = "two-sample"},
    {"values-file", "FILE", "matrix: names of the answers, one per line",
     CLI_INTO_TEXT, SURVEY(values_file), .verbs = "-", .with = "matrix"},
    {"level", "L", "confidence level of intervals and tests", CLI_INTO_SHARE,
     SURVEY(level), .preset = "0.95", .without = "questionnaire",
     .hints = "90% 95% 99%"},
    {"plot", "FILE.svg", "plot the likelihood or the groups (.svg or .png)",
     CLI_INTO_TEXT, SURVEY(plot), .verbs = "-", .without = "two-sample"},
    {"power", NULL, "plan how many people are needed", CLI_INTO_FLAG,
     GIVEN(need), .verbs = "-",
     .without = SURVEY_EVIDENCE " matrix questionnaire"},
    {"margin", "M", "half-width of the interval", CLI_INTO_SHARE,
     SURVEY(aim.margin), .with = "power"},
    {"shares", "A,B", "or two true shares to distinguish", CLI_INTO_CALL,
     .call = survey_take_shares, .with = "power"},
    {"chance", "C", "power of the test", CLI_INTO_SHARE, SURVEY(aim.power),
     .preset = "0.8", .with = "power", .hints = "80% 90%"},
    {"share", "F", "expected or simulated share", CLI_INTO_SHARE,
     SURVEY(aim.share), 1, 1},
    {"innocuous", "R", "expected or simulated share of yes, harmless question",
     CLI_INTO_SHARE, SURVEY(aim.innocuous), 1, 1, .with = "two-sample"},
    {"questionnaire", NULL, "print a sheet for interviewer and respondent",
     CLI_INTO_FLAG, GIVEN(sheet), .verbs = "-",
     .without = SURVEY_EVIDENCE " matrix format"},
    {"question", "TEXT", "the sensitive question on it", CLI_INTO_TEXT,
     SURVEY(question), .with = "questionnaire"},
    {"other-question", "TEXT", "the harmless question on it", CLI_INTO_TEXT,
     SURVEY(other_question), .with = "questionnaire"},
    {"runs", "R", "number of surveys to simulate", CLI_INTO_COUNT, SURVEY(runs),
     1, 10000000, .preset = "1000", .verbs = "simulate"},
    {"seed", "N", "random seed", CLI_INTO_COUNT, SURVEY(seed), 0, UINT64_MAX,
     .preset = "1", .verbs = "simulate"},
    CLI_FORMAT_ROW(SURVEY(format)),
    {0}};

/* ---- What goes with what ------------------------------------------------- */

/* One source of evidence, whole; a share where one is expected. */
static int survey_check_works(const struct survey_given *g,
                              struct cli_parser *p)
{
    const struct survey_options *o = &g->o;
    const char *share = cli_given_of(p, "share innocuous");

    if (o->work != SURVEY_ESTIMATE && o->work != SURVEY_STATES)
        return 0;
    if (share != NULL)
        return cli_usage(p, "--%s needs --power or simulate", share);
    if (o->yes == NULL && o->counts == NULL && o->answers == NULL)
        return cli_usage(p, "missing answers: give --yes Y --n N, or --answers "
                            "FILE.csv --column NAME");
    if (o->n != NULL && o->yes == NULL)
        return cli_usage(p, "--yes Y and --n N need each other: how many said "
                            "yes, and how many answered");
    if (o->design.kind != NULL && o->design.kind->pair && o->answers != NULL &&
        o->sample == NULL)
        return cli_usage(p, "--two-sample needs --sample NAME, the column with "
                            "the sample number");
    return 0;
}

static int survey_check(struct survey_given *g)
{
    struct cli_parser *p = &g->parser;
    struct survey_options *o = &g->o;
    const char *const inputs[] = {o->answers, o->matrix, o->values_file};
    int failed;

    o->work = cli_does(p, "simulate") ? SURVEY_SIMULATE
              : g->sheet              ? SURVEY_QUESTIONNAIRE
              : g->need               ? SURVEY_POWER
              : o->matrix != NULL     ? SURVEY_STATES
                                      : SURVEY_ESTIMATE;
    if (o->design.kind == NULL && o->matrix == NULL)
        return cli_usage(p, "missing design: give one of --epsilon, --spinner, "
                            "--coins, --channel, --unrelated, --two-sample, "
                            "--forced, --crosswise or --matrix");
    failed = survey_check_works(g, p);
    return failed ? failed : cli_check_inputs(p, inputs, 3);
}

static int survey_run(void *to)
{
    static int (*const works[])(const struct survey_options *,
                                struct cli_parser *) = {
        [SURVEY_ESTIMATE] = survey_estimate,
        [SURVEY_STATES] = survey_states,
        [SURVEY_POWER] = survey_power,
        [SURVEY_QUESTIONNAIRE] = survey_questionnaire,
        [SURVEY_SIMULATE] = survey_simulate};
    struct survey_given *g = to;
    const int failed = survey_check(g);

    return failed ? failed : works[g->o.work](&g->o, &g->parser);
}

static const struct cli_verb survey_verbs[] = {
    {"", .run = survey_run},
    {"simulate", NULL, "DESIGN --share F --n N [options]", .run = survey_run,
     .about = "Rehearse a survey many times on people with known answers."},
    {0}};

static const struct cli_command survey_command = {
    "survey",
    "DESIGN --yes Y --n N [options] | DESIGN --answers FILE.csv --column NAME "
    "[options] | DESIGN --power [options] | DESIGN "
    "--questionnaire [options] | simulate "
    "DESIGN "
    "--share F --n N [options]",
    "Analyse, plan or rehearse an interview survey by randomized response.",
    survey_options, .verbs = survey_verbs};

int cmd_survey(int argc, char **argv)
{
    struct survey_given g = {.o.aim = {.margin = NAN,
                                       .share = NAN,
                                       .innocuous = NAN,
                                       .shares = {NAN, NAN}}};

    return cli_run(&g.parser, &survey_command, argc, argv, &g);
}
