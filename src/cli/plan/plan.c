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
    cli_usage(p, "--%s takes a decimal number above 0", p->name);
    return false;
}

static bool plan_alpha(struct cli_parser *p, void *to)
{
    struct plan_run *x = to;
    double *alpha = &x->question.given[PLAN_ALPHA];

    x->options.percent = strchr(p->value, '%') != NULL;
    return x->options.has[PLAN_ALPHA] = x->options.percent
                                            ? cli_value_share(p, alpha)
                                            : plan_positive(p, alpha);
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

enum { PLAN_LOCAL = 0, PLAN_SHUFFLED };

static const char *const plan_models[] = {"local", "shuffled", NULL};

#define PLAN(member) offsetof(struct plan_run, member)

static const struct cli_option plan_options[] = {
    CLI_SPEC_AS("yes-no", NULL, "a yes/no question: the share of yes"),
    CLI_SPEC_AS("values", NULL,
                "one of these values: the share of one of them"),
    CLI_SPEC_AS("values-file", NULL,
                "a list in a file, one per line: the share of one value"),
    CLI_SPEC_AS("domain", NULL,
                "an integer from 0 to D-1: the share of one of them"),
    CLI_SPEC_AS("range", NULL, "a number: its mean"),
    CLI_SPEC_AS("bins", NULL, "the share of one of B equal bins"),
    CLI_SPEC_AS("strings", NULL, "any text: find a string of share alpha"),
    {"n", "N", "number of people who answer", CLI_INTO_CALL,
     .call = plan_people},
    {"alpha", "A", "largest error: of a share, or of a mean in its units",
     CLI_INTO_CALL, .call = plan_alpha, .hints = "1% 5%"},
    {"beta", "B", "probability of a larger error (default 0.05)",
     CLI_INTO_SHARE, PLAN(question.given[PLAN_BETA]), .hints = "1% 5%"},
    {"epsilon", "E", "privacy of one answer", CLI_INTO_EPSILON,
     PLAN(question.spec.nano_epsilon), .hints = "1 2 ln3"},
    {"all", NULL, "bound the largest error over all values", CLI_INTO_FLAG,
     PLAN(question.all), .with = "values values-file domain bins"},
    {"share", "F", "true share (default: 0.5 for yes/no and --task, else 0)",
     CLI_INTO_SHARE, PLAN(question.share), .low = 1,
     .with = "yes-no values values-file domain bins task"},
    CLI_SPEC_AS("mechanism", NULL,
                "a name from 'hearsay mechanisms' (default auto)"),
    CLI_SPEC_AS("set", NULL, "parameter of the mechanism"),
    {"prior", "P", "an observer's prior belief", CLI_INTO_SHARE,
     PLAN(question.prior), .preset = "0.5"},
    {"answers", "T", "number of fresh answers by one person", CLI_INTO_COUNT,
     PLAN(question.answers), 1, 1000000, .preset = "1"},
    {"curators", "K", "also compare with K curators, each with its own people",
     CLI_INTO_COUNT, PLAN(question.curators), 1, HSY_SHUFFLE_PEOPLE_MAX,
     .without = "strings"},
    {"top", "K", "number of strings to find (default 16)", CLI_INTO_COUNT,
     PLAN(question.search.top), 1, HSY_SEARCH_TOP_MAX, .with = "strings"},
    {"plot", "FILE.svg", "plot the error against people (.svg or .png)",
     CLI_INTO_TEXT, PLAN(options.plot)},
    {"plot-learned", "FILE.svg", "plot what an answer reveals (.svg or .png)",
     CLI_INTO_TEXT, PLAN(options.plot_learned)},
    {"task", "FILE:ID", "expected error of a task, round by round",
     CLI_INTO_TEXT, PLAN(options.task), .with = "days",
     .without = CLI_KINDS " n alpha beta epsilon all mechanism set top plot "
                          "plot-learned model prior answers curators"},
    {"days", "T", "task: number of days", CLI_INTO_COUNT, PLAN(options.days), 1,
     UINT32_MAX, .with = "devices"},
    {"devices", "N", "task: number of devices; assumes that all stay",
     CLI_INTO_COUNT, PLAN(options.devices), 1, (uint64_t)1 << 40,
     .with = "task"},
    {"model", "M", "trust model", CLI_INTO_CHOICE, PLAN(options.model),
     .words = plan_models, .preset = "local"},
    {"min-batch", "N", "minimum reports per batch", CLI_INTO_COUNT,
     PLAN(options.min_batch), 1, HSY_SHUFFLE_PEOPLE_MAX, .with = "model"},
    {"epsilon-central", "E", "epsilon of a batch (--epsilon: of a report)",
     CLI_INTO_EPSILON, PLAN(options.nano_central), .with = "model",
     .without = "epsilon"},
    {"delta", "D", "delta of the batch", CLI_INTO_CHANCE, PLAN(options.delta),
     .preset = "1e-8", .with = "model", .hints = "1e-6 1e-9"},
    {"assume-honest", "F", "share of honest reports", CLI_INTO_SHARE,
     PLAN(options.honest), .high = 1, .preset = "0.9", .with = "model",
     .hints = "90% 100%"},
    CLI_FORMAT_ROW(PLAN(options.format)),
    {0}};

static const struct cli_command plan_command = {
    "plan",
    "KIND [--n N] [--alpha A] [--beta B] [--epsilon E] [options] | "
    "--task FILE:ID --days T --devices N | "
    "KIND --model shuffled --min-batch N [options]",
    "Give all but one of --n, --alpha, --beta and --epsilon (--beta defaults "
    "to\n0.05); plan computes the missing one: by Hoeffding's bound, by the "
    "normal\napproximation and by the exact binomial law. It also prints the "
    "mechanism to\nuse, what a trusted curator would need, and what one answer "
    "reveals.",
    plan_options, .spec = PLAN(spec)};

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
    return cli_usage(p, missing == 0
                            ? "all four are given; leave out the one of --n, "
                              "--alpha, --beta and --epsilon to compute"
                            : "give two of --n, --alpha and --epsilon; plan "
                              "computes the third");
}

/* What goes with the kind of question. */
static int plan_fits(const struct plan_run *x, struct cli_parser *p)
{
    const struct plan_options *o = &x->options;
    const struct plan_question *q = &x->question;
    const uint32_t kind = q->spec.kind;

    if (cli_spec_trivial(&x->spec))
        return cli_usage(p, "only one value: there is nothing to estimate");
    if (kind != HSY_KIND_NUMBER && o->has[PLAN_ALPHA] &&
        q->given[PLAN_ALPHA] >= 1)
        return cli_usage(p, "--alpha must be below 1 for a share");
    if (kind == HSY_KIND_NUMBER && o->percent)
        return cli_usage(p, "--alpha: give the error of a mean in its units");
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
    struct cli_figure f = {0};
    const hsy_status made =
        plan_figure(&f.svg, &f.len, &x->plan, &x->question, &f.err);

    if (x->plan.why != 0)
        return plan_refused(x, x->plan.why, &f.err);
    return cli_write_figure(x->options.plot, made, &f);
}

static int plan_plot_learned(const char *path)
{
    struct cli_figure f = {0};

    return cli_write_figure(path, plan_learned_figure(&f.svg, &f.len, &f.err),
                            &f);
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

/* Batches of shuffled reports. */
static int plan_shuffled(struct plan_run *x, struct cli_parser *p)
{
    const char *stray =
        cli_given_of(p, "n alpha beta plot plot-learned curators");
    int failed = 0;

    if (stray != NULL)
        failed =
            cli_usage(p, "--%s cannot be used with --model shuffled", stray);
    else if (!cli_given(p, "min-batch"))
        failed = cli_usage(p, "--model shuffled needs --min-batch N, the "
                              "minimum reports per batch");
    else if (cli_given_of(p, "epsilon epsilon-central") == NULL)
        failed = cli_usage(p, "--model shuffled needs --epsilon E of a report, "
                              "or --epsilon-central E of a batch");
    if (!failed)
        failed = plan_question(x, p);
    if (!failed && x->question.spec.kind == HSY_KIND_STRINGS)
        failed = cli_usage(p, "--strings cannot be used with --model: a search "
                              "has no error to compare");
    return failed ? failed : plan_shuffled_show(x);
}

/* Of the four numbers that a question has, three. */
static int plan_asked(struct plan_run *x, struct cli_parser *p)
{
    const char *stray =
        cli_given_of(p, "min-batch epsilon-central delta assume-honest");
    int failed = stray != NULL
                     ? cli_usage(p, "--%s needs --model shuffled", stray)
                     : plan_missing(x, p);

    if (!failed)
        failed = plan_question(x, p);
    return failed ? failed : plan_run(x);
}

int cmd_plan(int argc, char **argv)
{
    struct plan_run x = {
        .question = {.share = NAN, .search = {.size = sizeof(hsy_search)}}};
    struct cli_parser p;
    int failed;

    if (!cli_read(&p, &plan_command, argc, argv, &x))
        return p.exit;
    x.options.has[PLAN_BETA] = cli_given(&p, "beta");
    x.options.has[PLAN_EPSILON] = cli_given(&p, "epsilon");
    failed = x.options.task != NULL             ? plan_task_show(&x, &p)
             : x.options.model == PLAN_SHUFFLED ? plan_shuffled(&x, &p)
                                                : plan_asked(&x, &p);
    cli_spec_clear(&x.spec);
    return failed;
}
