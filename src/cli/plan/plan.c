/* plan.c - hearsay plan: the numbers people need before they ask. */
#include "cli/plan/internal.h"

#include <math.h>
#include <string.h>

static bool plan_positive(struct cli_parser *p, double *out)
{
    double x;

    if (strpbrk(p->value, "eE") == NULL && text_number(&x, p->value) && x > 0 &&
        isfinite(x)) {
        *out = x;
        return true;
    }
    cli_usage(p, "--%s: a decimal number above 0", p->name);
    return false;
}

static bool plan_alpha(struct cli_parser *p, void *to)
{
    struct plan_run *x = to;
    double *alpha = &x->question.given[PLAN_ALPHA];

    x->options.percent = strchr(p->value, '%') != NULL;
    return x->options.has[PLAN_ALPHA] = x->options.percent
                                            ? cli_value_fraction(p, alpha)
                                            : plan_positive(p, alpha);
}

static bool plan_beta(struct cli_parser *p, void *to)
{
    struct plan_run *x = to;

    return x->options.has[PLAN_BETA] =
               cli_value_fraction(p, &x->question.given[PLAN_BETA]);
}

static bool plan_epsilon(struct cli_parser *p, void *to)
{
    struct plan_run *x = to;

    x->options.has[PLAN_EPSILON] =
        hsy_epsilon_parse(&x->question.spec.nano_epsilon, p->value,
                          strlen(p->value)) == HSY_OK;
    if (!x->options.has[PLAN_EPSILON])
        cli_usage(p, "--epsilon: a decimal from 0.000001 to 32, or ln3");
    return x->options.has[PLAN_EPSILON];
}

static bool plan_central(struct cli_parser *p, void *to)
{
    struct plan_run *x = to;
    const bool good = hsy_epsilon_parse(&x->options.nano_central, p->value,
                                        strlen(p->value)) == HSY_OK;

    if (!good)
        cli_usage(p, "--epsilon-central: a decimal from 0.000001 to 32, or "
                     "ln3");
    return good;
}

static bool plan_delta(struct cli_parser *p, void *to)
{
    double *delta = &((struct plan_run *)to)->options.delta;

    if (text_number(delta, p->value) && *delta > 0 && *delta < 1)
        return true;
    cli_usage(p, "--delta takes a chance above 0 and below 1, as 1e-8");
    return false;
}

static bool plan_people(struct cli_parser *p, void *to)
{
    struct plan_run *x = to;
    uint64_t n = 0;

    x->options.has[PLAN_N] =
        cli_value_count(p, &n, 1, (uint64_t)9000000000000000);
    x->question.given[PLAN_N] = (double)n;
    return x->options.has[PLAN_N];
}

static bool plan_operand(struct cli_parser *p, void *to)
{
    (void)to;
    cli_usage(p, "plan reads no file");
    return false;
}

enum { PLAN_LOCAL = 0, PLAN_SHUFFLED };

static const char *const plan_models[] = {"local", "shuffled", NULL};

#define PLAN(member) offsetof(struct plan_run, member)

static const struct cli_option plan_options[] = {
    {CLI_OPT_YES_NO, "yes-no", NULL, "a question with two answers: its share"},
    {CLI_OPT_VALUES, "values", "A,B,C", "a list: the share of one value"},
    {CLI_OPT_VALUES_FILE, "values-file", "FILE", "the same, a value a line"},
    {CLI_OPT_DOMAIN, "domain", "D", "the integers 0 to D-1: the share of one"},
    {CLI_OPT_RANGE, "range", "LO:HI", "a number: its mean"},
    {CLI_OPT_BINS, "bins", "B", "... the share of one of B equal bins"},
    {CLI_OPT_STRINGS, "strings", NULL,
     "discovery: a string of share alpha is found"},
    {0, "n", "N", "people who answer", CLI_INTO_CALL, .call = plan_people},
    {0, "alpha", "A", "largest error: of a share, or of a mean in its units",
     CLI_INTO_CALL, .call = plan_alpha},
    {0, "beta", "B", "chance of a larger one (default 0.05 unless asked for)",
     CLI_INTO_CALL, .call = plan_beta},
    {0, "epsilon", "E", "privacy of one answer", CLI_INTO_CALL,
     .call = plan_epsilon},
    {0, "all", NULL, "all values at once, not one of them", CLI_INTO_FLAG,
     PLAN(question.all)},
    {0, "share", "F",
     "the true share (default: of yes/no the hardest to\n"
     "tell, else a small one; with --task 0.5)",
     CLI_INTO_SHARE, PLAN(question.share)},
    {CLI_OPT_MECHANISM, "mechanism", "NAME",
     "see 'hearsay mechanisms' (default auto; strings: pem)"},
    {CLI_OPT_SET, "set", "KEY=VALUE...", "a parameter of it"},
    {0, "prior", "P", "what an observer believes beforehand (default 0.5)",
     CLI_INTO_SHARE, PLAN(question.prior)},
    {0, "answers", "T", "fresh answers of one person (default 1)",
     CLI_INTO_COUNT, PLAN(question.answers), 1, 1000000},
    {0, "curators", "K", "beside one curator, so many with their own people",
     CLI_INTO_COUNT, PLAN(question.curators), 1, HSY_SHUFFLE_PEOPLE_MAX},
    {0, "top", "K", "strings: how many are wanted (default 16)", CLI_INTO_COUNT,
     PLAN(question.search.top), 1, HSY_SEARCH_TOP_MAX},
    {0, "plot", "FILE.svg", "draw the error against people, for some epsilons",
     CLI_INTO_TEXT, PLAN(options.plot)},
    {0, "plot-learned", "FILE.svg", "draw what an answer tells against epsilon",
     CLI_INTO_TEXT, PLAN(options.plot_learned)},
    {0, "task", "FILE:ID", "what to expect of a task, round by round, ...",
     CLI_INTO_TEXT, PLAN(options.task)},
    {0, "days", "T", "... after so many days", CLI_INTO_COUNT,
     PLAN(options.days), 1, UINT32_MAX},
    {0, "devices", "N", "... of so many devices that all stay", CLI_INTO_COUNT,
     PLAN(options.devices), 1, (uint64_t)1 << 40},
    {0, "model", "M", "local, or shuffled: batches of at least ...",
     CLI_INTO_CHOICE, PLAN(options.model), .words = plan_models},
    {0, "min-batch", "N", "... so many reports", CLI_INTO_COUNT,
     PLAN(options.min_batch), 1, HSY_SHUFFLE_PEOPLE_MAX},
    {0, "epsilon-central", "E",
     "... that promise this (--epsilon: of a report)", CLI_INTO_CALL,
     .call = plan_central},
    {0, "delta", "D", "... with this (default 1e-8; account: 1e-6)",
     CLI_INTO_CALL, .call = plan_delta},
    {0, "assume-honest", "F", "... if such a share is honest (default 0.9)",
     CLI_INTO_PART, PLAN(options.honest)},
    CLI_FORMAT_ROW(PLAN(options.format)),
    {0}};

static const struct cli_command plan_command = {
    "plan",
    "KIND [--n N] [--alpha A] [--beta B] [--epsilon E] [options] | "
    "--task FILE:ID --days T --devices N | "
    "KIND --model shuffled --min-batch N [options]",
    "Of people, error, its chance and epsilon, give all but one (the chance "
    "may "
    "be\n"
    "left out too) and learn the missing one: by a theorem, by the normal\n"
    "approximation and by the exact law. Also the mechanism to take, what a "
    "trusted\n"
    "curator would need, and what one answer tells about a person.",
    plan_options,
    .operand = plan_operand,
    .spec = PLAN(spec)};

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
    if (cli_given(p, "share") &&
        (kind == HSY_KIND_NUMBER || kind == HSY_KIND_STRINGS))
        return cli_usage(p, "--share goes with --yes-no, a list of values or "
                            "--bins");
    if (q->curators != 0 && kind == HSY_KIND_STRINGS)
        return cli_usage(p, "--curators goes with a share or a mean");
    if (cli_given(p, "top") && kind != HSY_KIND_STRINGS)
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

static int plan_refused(const struct plan_run *x, enum plan_why why,
                        hsy_error *err)
{
    switch (why) {
    case PLAN_WHY_MEMORY:
        return cli_fail_nomem();
    case PLAN_WHY_SPEC:
        return cli_scheme_refused(&x->question.spec, err);
    case PLAN_WHY_CURATOR:
        return cli_scheme_curator(x->plan.at.info.mechanism);
    case PLAN_WHY_CURATORS:
        return cli_fail("--curators: %s", err->msg);
    case PLAN_WHY_EPSILON:
        return cli_fail("no epsilon up to 32 is enough: ask more people "
                        "(--n), or allow a larger error (--alpha)");
    default:
        return cli_fail_error("--mechanism", err);
    }
}

static int plan_plot(struct plan_run *x)
{
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    const hsy_status made =
        plan_figure(&svg, &len, &x->plan, &x->question, &err);

    if (x->plan.why != 0)
        return plan_refused(x, x->plan.why, &err);
    return cli_write_figure(x->options.plot, made, svg, len, &err);
}

static int plan_plot_learned(const char *path)
{
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    const hsy_status made = plan_learned_figure(&svg, &len, &err);

    return cli_write_figure(path, made, svg, len, &err);
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
        failed = plan_plot_learned(x->options.plot_learned);
    if (failed)
        return failed;
    plan_show(x);
    return cli_finish();
}

/* A task says what is asked and at which epsilon. */
static int plan_alone(struct plan_run *x, struct cli_parser *p)
{
    const struct plan_options *o = &x->options;
    int failed;

    if (o->task == NULL)
        failed = cli_usage(p, "--days and --devices go with --task");
    else if (cli_stray(p, "task days devices share format prior answers bins"))
        failed = cli_usage(p, "--task says what is asked: leave out all but "
                              "--days, --devices, --share and --format");
    else
        failed = plan_task_show(x, p);
    cli_spec_clear(&x->spec);
    return failed;
}

/* Batches of shuffled reports. */
static int plan_shuffled(struct plan_run *x, struct cli_parser *p)
{
    const struct plan_options *o = &x->options;
    int failed = 0;

    if (cli_given(p, "n") || cli_given(p, "alpha") || cli_given(p, "beta") ||
        cli_given(p, "plot") || cli_given(p, "plot-learned") ||
        cli_given(p, "curators"))
        failed = cli_usage(p, "--model shuffled takes --min-batch, --epsilon "
                              "or --epsilon-central, --delta and "
                              "--assume-honest; no --n, --alpha, --beta, "
                              "--curators or figure");
    else if (o->min_batch == 0)
        failed = cli_usage(p, "--model shuffled needs --min-batch N: the "
                              "fewest reports that are passed on");
    else if ((o->nano_central != 0) == o->has[PLAN_EPSILON])
        failed = cli_usage(p, "--model shuffled needs --epsilon E of a report, "
                              "or --epsilon-central E of a batch");
    if (!failed)
        failed = plan_question(x, p);
    if (!failed && x->question.spec.kind == HSY_KIND_STRINGS)
        failed = cli_usage(p, "--strings: no error of a search to compare; "
                              "it goes without --model");
    return failed ? failed : plan_shuffled_show(x);
}

int cmd_plan(int argc, char **argv)
{
    struct plan_run x = {.options = {.delta = 1e-8, .honest = 0.9},
                         .question = {.prior = 0.5,
                                      .answers = 1,
                                      .share = NAN,
                                      .search = {.size = sizeof(hsy_search)}}};
    struct cli_parser p;
    int failed;

    if (!cli_read(&p, &plan_command, argc, argv, &x))
        return p.exit;
    if (x.options.task != NULL || x.options.days != 0 || x.options.devices != 0)
        return plan_alone(&x, &p);
    if (x.options.model == PLAN_SHUFFLED) {
        failed = plan_shuffled(&x, &p);
        cli_spec_clear(&x.spec);
        return failed;
    }
    if (cli_given(&p, "min-batch") || cli_given(&p, "epsilon-central") ||
        cli_given(&p, "delta") || cli_given(&p, "assume-honest"))
        failed = cli_usage(&p, "--min-batch, --epsilon-central, --delta and "
                               "--assume-honest go with --model shuffled");
    else
        failed = plan_missing(&x, &p);
    if (!failed)
        failed = plan_question(&x, &p);
    if (!failed)
        failed = plan_run(&x);
    cli_spec_clear(&x.spec);
    return failed;
}
