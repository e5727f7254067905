/* plan.c - hearsay plan: the numbers people need before they ask. */
#include "cli/plan/internal.h"

#include <math.h>
#include <string.h>

enum {
    PLAN_OPT_N = 1,
    PLAN_OPT_ALPHA,
    PLAN_OPT_BETA,
    PLAN_OPT_EPSILON,
    PLAN_OPT_ALL,
    PLAN_OPT_SHARE,
    PLAN_OPT_PRIOR,
    PLAN_OPT_ANSWERS,
    PLAN_OPT_TOP,
    PLAN_OPT_PLOT,
    PLAN_OPT_PLOT_LEARNED,
    PLAN_OPT_TASK,
    PLAN_OPT_DAYS,
    PLAN_OPT_DEVICES,
    PLAN_OPT_FORMAT
};

static const struct cli_option plan_options[] = {
    {CLI_OPT_YES_NO, "yes-no", NULL, "a question with two answers: its share"},
    {CLI_OPT_VALUES, "values", "A,B,C", "a list: the share of one value"},
    {CLI_OPT_VALUES_FILE, "values-file", "FILE", "the same, a value a line"},
    {CLI_OPT_DOMAIN, "domain", "D", "the integers 0 to D-1: the share of one"},
    {CLI_OPT_RANGE, "range", "LO:HI", "a number: its mean"},
    {CLI_OPT_BINS, "bins", "B", "... the share of one of B equal bins"},
    {CLI_OPT_STRINGS, "strings", NULL,
     "discovery: a string of share alpha is found"},
    {PLAN_OPT_N, "n", "N", "people who answer"},
    {PLAN_OPT_ALPHA, "alpha", "A",
     "largest error: of a share, or of a mean in its units"},
    {PLAN_OPT_BETA, "beta", "B",
     "chance of a larger one (default 0.05 if another\n"
     "number is asked for)"},
    {PLAN_OPT_EPSILON, "epsilon", "E", "privacy of one answer"},
    {PLAN_OPT_ALL, "all", NULL, "all values at once, not one of them"},
    {PLAN_OPT_SHARE, "share", "F",
     "the true share (default: of yes/no the hardest to\n"
     "tell, else a small one; with --task 0.5)"},
    {CLI_OPT_MECHANISM, "mechanism", "NAME",
     "see 'hearsay mechanisms' (default auto; strings: pem)"},
    {CLI_OPT_SET, "set", "KEY=VALUE...", "a parameter of it"},
    {PLAN_OPT_PRIOR, "prior", "P",
     "what an observer believes beforehand (default 0.5)"},
    {PLAN_OPT_ANSWERS, "answers", "T",
     "fresh answers of one person (default 1)"},
    {PLAN_OPT_TOP, "top", "K", "strings: how many are wanted (default 16)"},
    {PLAN_OPT_PLOT, "plot", "FILE.svg",
     "draw the error against people, for some epsilons"},
    {PLAN_OPT_PLOT_LEARNED, "plot-learned", "FILE.svg",
     "draw what an answer tells against epsilon"},
    {PLAN_OPT_TASK, "task", "FILE:ID",
     "what to expect of a task, round by round, ..."},
    {PLAN_OPT_DAYS, "days", "T", "... after so many days"},
    {PLAN_OPT_DEVICES, "devices", "N", "... of so many devices that all stay"},
    CLI_FORMAT_OPTION(PLAN_OPT_FORMAT),
    {0, NULL, NULL, NULL}};

static const struct cli_command plan_command = {
    "plan",
    "KIND [--n N] [--alpha A] [--beta B] [--epsilon E] [options] | "
    "--task FILE:ID --days T --devices N",
    "Of people, error, its chance and epsilon, give all but one (the chance "
    "may "
    "be\n"
    "left out too) and learn the missing one: by a theorem, by the normal\n"
    "approximation and by the exact law. Also the mechanism to take, what a "
    "trusted\n"
    "curator would need, and what one answer tells about a person.",
    plan_options};

static bool plan_positive(struct cli_parser *p, double *out)
{
    double x;

    if (strpbrk(p->value, "eE") == NULL && cli_parse_number(&x, p->value) &&
        x > 0 && isfinite(x)) {
        *out = x;
        return true;
    }
    cli_usage(p, "--%s: a decimal number above 0", p->name);
    return false;
}

static bool plan_epsilon(struct cli_parser *p, hsy_spec *spec)
{
    if (hsy_epsilon_parse(&spec->nano_epsilon, p->value, strlen(p->value)) ==
        HSY_OK)
        return true;
    cli_usage(p, "--epsilon: a decimal from 0.000001 to 32, or ln3");
    return false;
}

static bool plan_people(struct cli_parser *p, double *out)
{
    uint64_t n;

    if (!cli_value_count(p, &n, 1, (uint64_t)9000000000000000))
        return false;
    *out = (double)n;
    return true;
}

static bool plan_option(struct plan_run *x, struct cli_parser *p, int id)
{
    struct plan_options *o = &x->options;
    struct plan_question *q = &x->question;

    switch (id) {
    case PLAN_OPT_N:
        return o->has[PLAN_N] = plan_people(p, &q->given[PLAN_N]);
    case PLAN_OPT_ALPHA:
        o->percent = strchr(p->value, '%') != NULL;
        return o->has[PLAN_ALPHA] =
                   o->percent ? cli_value_fraction(p, &q->given[PLAN_ALPHA])
                              : plan_positive(p, &q->given[PLAN_ALPHA]);
    case PLAN_OPT_BETA:
        return o->has[PLAN_BETA] = cli_value_fraction(p, &q->given[PLAN_BETA]);
    case PLAN_OPT_EPSILON:
        return o->has[PLAN_EPSILON] = plan_epsilon(p, &q->spec);
    case PLAN_OPT_ALL:
        return q->all = true;
    case PLAN_OPT_SHARE:
        return o->has_share = cli_value_fraction(p, &q->share);
    case PLAN_OPT_PRIOR:
        return cli_value_fraction(p, &q->prior);
    case PLAN_OPT_ANSWERS:
        return cli_value_count(p, &q->answers, 1, 1000000);
    case PLAN_OPT_TOP:
        return o->has_top =
                   cli_value_count(p, &q->search.top, 1, HSY_SEARCH_TOP_MAX);
    case PLAN_OPT_PLOT:
        o->plot = p->value;
        return true;
    case PLAN_OPT_PLOT_LEARNED:
        o->plot_learned = p->value;
        return true;
    case PLAN_OPT_TASK:
        o->task = p->value;
        return true;
    case PLAN_OPT_DAYS:
        return cli_value_count(p, &o->days, 1, UINT32_MAX);
    case PLAN_OPT_DEVICES:
        return cli_value_count(p, &o->devices, 1, (uint64_t)1 << 40);
    case PLAN_OPT_FORMAT:
        return cli_value_format(p, &o->format);
    default:
        return cli_spec_option(&x->spec, p, id);
    }
}

/* One number is missing; the chance has a default. */
static int plan_missing(struct plan_run *x, struct cli_parser *p)
{
    struct plan_options *o = &x->options;
    unsigned missing = 0;

    if (!o->has[PLAN_BETA] &&
        !(o->has[PLAN_N] && o->has[PLAN_ALPHA] && o->has[PLAN_EPSILON])) {
        o->has[PLAN_BETA] = true;
        x->question.given[PLAN_BETA] = 0.05;
    }
    for (unsigned k = 0; k < PLAN_NUMBERS; k++)
        if (!o->has[k]) {
            x->question.missing = (enum plan_number)k;
            missing++;
        }
    if (missing == 1)
        return 0;
    return cli_usage(
        p, missing == 0 ? "nothing is missing: leave out one of --n, --alpha, "
                          "--beta and --epsilon to learn it"
                        : "give two of --n, --alpha and --epsilon; the third "
                          "is what you learn");
}

/* What goes with the kind of question. */
static int plan_fits(const struct plan_run *x, struct cli_parser *p)
{
    const struct plan_options *o = &x->options;
    const struct plan_question *q = &x->question;
    const uint32_t kind = q->spec.kind;

    if (cli_spec_trivial(&x->spec))
        return cli_usage(p, "with one value there is nothing to learn");
    if (q->all && kind != HSY_KIND_VALUES && kind != HSY_KIND_BINS)
        return cli_usage(p, "--all goes with a list of values or --bins");
    if (o->has_share && (kind == HSY_KIND_NUMBER || kind == HSY_KIND_STRINGS))
        return cli_usage(p, "--share goes with --yes-no, a list of values or "
                            "--bins");
    if (o->has_top && kind != HSY_KIND_STRINGS)
        return cli_usage(p, "--top goes with --strings");
    if (kind != HSY_KIND_NUMBER && o->has[PLAN_ALPHA] &&
        q->given[PLAN_ALPHA] >= 1)
        return cli_usage(p, "--alpha: a share's error is below 1");
    if (kind == HSY_KIND_NUMBER && o->percent)
        return cli_usage(p, "--alpha: the error of a mean is in its units");
    return 0;
}

static int plan_question(struct plan_run *x, struct cli_parser *p)
{
    const uint64_t given = x->question.spec.nano_epsilon;
    int failed;

    x->spec.has_epsilon = true; /* ours, or to be found */
    x->spec.spec.nano_epsilon = x->options.has[PLAN_EPSILON] ? given : HSY_NANO;
    failed = cli_spec_finish(&x->spec, p);
    if (failed)
        return failed;
    if (x->spec.spec.kind == HSY_KIND_STRINGS && x->spec.spec.mechanism == NULL)
        x->spec.spec.mechanism = plan_searcher();
    x->question.spec = x->spec.spec;
    return plan_fits(x, p);
}

int plan_refused(const struct plan_run *x, enum plan_why why, hsy_error *err)
{
    switch (why) {
    case PLAN_WHY_MEMORY:
        return cli_fail_nomem();
    case PLAN_WHY_SPEC:
        return cli_scheme_refused(&x->question.spec, err);
    case PLAN_WHY_CURATOR:
        return cli_scheme_curator(x->plan.at.info.mechanism);
    case PLAN_WHY_EPSILON:
        return cli_fail("no epsilon up to 32 is enough: ask more people "
                        "(--n), or allow a larger error (--alpha)");
    default:
        return cli_fail_error("--mechanism", err);
    }
}

static int plan_run(struct plan_run *x)
{
    hsy_error err = {0};
    int failed = 0;

    if (plan_solve(&x->plan, &x->question, &err) != HSY_OK)
        return plan_refused(x, x->plan.why, &err);
    if (x->options.plot != NULL)
        failed = plan_plot(x);
    if (!failed && x->options.plot_learned != NULL)
        failed = plan_plot_learned(x);
    if (failed)
        return failed;
    plan_show(x);
    return cli_finish();
}

/* A task says what is asked and at which epsilon. */
static int plan_alone(struct plan_run *x, struct cli_parser *p)
{
    const struct plan_options *o = &x->options;
    const struct cli_spec *c = &x->spec;
    int failed;

    if (o->task == NULL)
        failed = cli_usage(p, "--days and --devices go with --task");
    else if (o->has[PLAN_N] || o->has[PLAN_ALPHA] || o->has[PLAN_BETA] ||
             o->has[PLAN_EPSILON] || x->question.all || o->plot != NULL ||
             o->plot_learned != NULL || o->has_top || c->yes_no || c->strings ||
             c->has_domain || c->values != NULL || c->values_file != NULL ||
             c->range != NULL || c->params != 0 || c->spec.mechanism != NULL)
        failed = cli_usage(p, "--task says what is asked: leave out all but "
                              "--days, --devices, --share and --format");
    else
        failed = plan_task_show(x, p);
    cli_spec_clear(&x->spec);
    return failed;
}

int cmd_plan(int argc, char **argv)
{
    struct plan_run x = {.question = {.prior = 0.5,
                                      .answers = 1,
                                      .share = NAN,
                                      .search = {.size = sizeof(hsy_search)}}};
    struct cli_parser p;
    int id, failed;

    cli_begin(&p, &plan_command, argc, argv);
    while ((id = cli_next(&p)) != CLI_END) {
        if (id == CLI_OPERAND)
            return cli_usage(&p, "plan reads no file");
        if (id == CLI_STOP || !plan_option(&x, &p, id))
            return p.exit;
    }
    if (x.options.task != NULL || x.options.days != 0 || x.options.devices != 0)
        return plan_alone(&x, &p);
    failed = plan_missing(&x, &p);
    if (!failed)
        failed = plan_question(&x, &p);
    if (!failed)
        failed = plan_run(&x);
    cli_spec_clear(&x.spec);
    return failed;
}
