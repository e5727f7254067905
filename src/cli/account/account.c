/* account.c - hearsay account: what was spent, and what trust buys. */
#include "cli/account/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Options that make the question. */
#define ACCOUNT_KIND "yes-no domain range strings"

/* ---- Values -------------------------------------------------------------- */

/* As a double for the accounts and as nano-epsilon for a scheme; which of them
 * is out of range is said when it is needed. */
static bool account_epsilon_value(struct cli_parser *p, double *out,
                                  uint64_t *nano)
{
    if (hsy_epsilon_parse(nano, p->value, strlen(p->value)) != HSY_OK)
        *nano = 0;
    if (account_epsilon(out, p->value))
        return true;
    cli_usage(p,
              "--%s takes a number above 0 and at most 100, e.g. 1, 0.5 or ln3",
              p->name);
    return false;
}

static bool account_take_epsilon(struct cli_parser *p, void *to)
{
    struct account_how *h = to;

    return h->spec.has_epsilon = account_epsilon_value(
               p, &h->ask.epsilon, &h->spec.spec.nano_epsilon);
}

static bool account_target(struct cli_parser *p, void *to)
{
    uint64_t nano;

    return account_epsilon_value(p, &((struct account_how *)to)->ask.target,
                                 &nano);
}

static bool account_permanent(struct cli_parser *p, void *to)
{
    struct account_how *h = to;
    double epsilon;

    return account_epsilon_value(p, &epsilon, &h->ask.nano_permanent);
}

/* ---- Running ------------------------------------------------------------- */

/* A scheme is resolved from nano-epsilon. */
static int account_question(struct account_how *h)
{
    struct cli_parser *p = &h->parser;

    if (cli_given_of(p, ACCOUNT_KIND) == NULL)
        return 0;
    h->ask.spec = &h->spec.spec;
    if (h->spec.has_epsilon && h->spec.spec.nano_epsilon == 0)
        return cli_usage(p, "--epsilon: with a question, use a decimal from "
                            "0.000001 to 32, or e.g. ln3");
    if (cli_given(p, "permanent") && h->ask.nano_permanent == 0)
        return cli_usage(
            p, "--permanent: use a decimal from 0.000001 to 32, or e.g. ln3");
    return cli_spec_finish(&h->spec, p);
}

/* What a file says was spent. */
static int account_read(struct account_how *h)
{
    const char *name = cli_input_name(h->file);
    int fd = cli_open_input(h->file);
    hsy_error err = {0};
    hsy_status st;

    if (fd == -1)
        return CLI_FAILED;
    st = account_spent(&h->ask.spent, &h->ask.nspent, fd, &err);
    cli_close_input(fd);
    if (st == HSY_E_OVERFLOW)
        return cli_fail("%s: line %" PRIu64 ": more than %u reports together",
                        name, err.at, HSY_COMPOSE_MAX);
    return st == HSY_OK ? 0 : cli_fail_input(name, &err);
}

typedef hsy_status account_run(struct account *out,
                               const struct account_ask *ask, hsy_error *err);

static int account_do(struct account_how *h, account_run *run)
{
    hsy_error err = {0};
    struct account a;
    int failed = account_question(h);

    if (!failed && h->file != NULL)
        failed = account_read(h);
    if (failed)
        return failed;
    h->ask.curves = h->plot != NULL;
    if (run(&a, &h->ask, &err) != HSY_OK)
        return account_refused(&a, h, &err);
    return account_show(&a, h);
}

static int account_run_group(void *to)
{
    return account_do(to, account_group);
}

static int account_run_compose(void *to)
{
    return account_do(to, account_compose);
}

static int account_run_longitudinal(void *to)
{
    return account_do(to, account_longitudinal);
}

static int account_run_shuffle(void *to)
{
    struct account_how *h = to;

    if (h->plot != NULL && h->ask.n == 0)
        return cli_usage(
            &h->parser, "--plot needs --n, the number of people to draw up to");
    return account_do(h, account_shuffle);
}

static int account_run_poisoning(void *to)
{
    return account_do(to, account_poisoning);
}

/* ---- The command --------------------------------------------------------- */

#define ACCOUNT(member) offsetof(struct account_how, member)
#define ACCOUNT_ASKING "longitudinal shuffle poisoning"
#define ACCOUNT_NEEDS "yes-no|domain|range|strings"

static const struct cli_option account_options[] = {
    {"epsilon", "E", "epsilon of one report (or day, or release)",
     CLI_INTO_CALL, .call = account_take_epsilon, .hints = "1 2 ln3"},
    {"delta", "D", "probability that a bound fails", CLI_INTO_CHANCE,
     ACCOUNT(ask.delta), .preset = "1e-6",
     .verbs = "group compose longitudinal shuffle", .hints = "1e-6 1e-9"},
    {"k", "K", "number of people (group) or reports (compose)", CLI_INTO_COUNT,
     ACCOUNT(ask.k), 1, HSY_COMPOSE_MAX, .verbs = "group compose",
     .with = "epsilon"},
    {"file", "FILE", "file with one epsilon per line, or E,COUNT",
     CLI_INTO_TEXT, ACCOUNT(file), .verbs = "compose",
     .without = "epsilon k plot"},
    {"n", "N", "number of people", CLI_INTO_COUNT, ACCOUNT(ask.n), 1,
     HSY_SHUFFLE_PEOPLE_MAX, .verbs = "shuffle"},
    {"target", "E", "target central epsilon", CLI_INTO_CALL,
     .call = account_target, .verbs = "shuffle"},
    {"reports", "T", "number of reports on one question", CLI_INTO_COUNT,
     ACCOUNT(ask.reports), 1, HSY_COMPOSE_MAX, .verbs = "longitudinal",
     .with = ACCOUNT_KIND, .without = "delta"},
    {"permanent", "E", "epsilon of the permanent answer", CLI_INTO_CALL,
     .call = account_permanent, .verbs = "longitudinal", .with = "reports"},
    {"grain", "G", "onebit: rounding step", CLI_INTO_TEXT, ACCOUNT(ask.grain),
     .verbs = "longitudinal", .with = "reports"},
    {"days", "N", "number of days; the budget --epsilon renews every day",
     CLI_INTO_COUNT, ACCOUNT(ask.days), 1, HSY_COMPOSE_MAX,
     .verbs = "longitudinal", .with = "epsilon",
     .without = ACCOUNT_KIND " reports"},
    {"lying", "B", "share of lying devices, such as 1%", CLI_INTO_SHARE,
     ACCOUNT(ask.lying), .verbs = "poisoning", .hints = "0.1% 1% 5%"},
    {"targets", "R", "number of target values", CLI_INTO_COUNT,
     ACCOUNT(ask.targets), 1, HSY_TARGETS_MAX, .preset = "1",
     .verbs = "poisoning"},
    {"held", "F", "true combined share of the targets", CLI_INTO_CHANCE,
     ACCOUNT(ask.held), 1, 1, .preset = "0", .verbs = "poisoning"},
    {"yes-no", NULL, "the question: yes or no", CLI_INTO_SPEC,
     .verbs = ACCOUNT_ASKING},
    {"domain", NULL, "the question: one of D values", CLI_INTO_SPEC,
     .verbs = ACCOUNT_ASKING},
    {"range", NULL, "the question: a number, or with --bins its bin",
     CLI_INTO_SPEC, .verbs = ACCOUNT_ASKING},
    {"bins", NULL, "number of bins", CLI_INTO_SPEC, .verbs = ACCOUNT_ASKING},
    {"strings", NULL, "the question: any text", CLI_INTO_SPEC,
     .verbs = ACCOUNT_ASKING},
    {"mechanism", NULL, "a name from 'hearsay mechanisms'", CLI_INTO_SPEC,
     .verbs = ACCOUNT_ASKING, .with = ACCOUNT_KIND},
    {"set", NULL, "parameter of the mechanism, as for randomize", CLI_INTO_SPEC,
     .verbs = ACCOUNT_ASKING, .with = ACCOUNT_KIND},
    {"plot", "FILE.svg", "write a figure of the bounds (.svg or .png)",
     CLI_INTO_TEXT, ACCOUNT(plot)},
    CLI_FORMAT_ROW(ACCOUNT(format)),
    {0}};

static const struct cli_verb account_verbs[] = {
    {"group", NULL, "--epsilon E --k K [options]", "k epsilon",
     account_run_group, .about = "Compute the group privacy of K people."},
    {"compose", NULL, "--epsilon E --k K | --file FILE", "file|k",
     account_run_compose, .about = "Compose several reports of one person."},
    {"longitudinal", NULL,
     "KIND --epsilon E --reports T [--permanent E] | --epsilon E --days N",
     "reports|days", account_run_longitudinal,
     .about = "Total repeated reports on one question."},
    {"shuffle", NULL, "[KIND] --epsilon E [--n N] [--target E]",
     "epsilon n|target", account_run_shuffle,
     .about = "Compute the central epsilon of shuffled reports."},
    {"poisoning", NULL, "KIND --epsilon E --mechanism NAME --lying B",
     "lying epsilon " ACCOUNT_NEEDS " mechanism", account_run_poisoning,
     .about = "Compute how far lying devices can move an estimate."},
    {0}};

static const struct cli_command account_command = {
    "account",
    NULL,
    "Compute the total privacy loss by every bound that applies, and state "
    "the\nassumptions. No data is read except --file.",
    account_options,
    .verbs = account_verbs,
    .apart = true,
    .spec = ACCOUNT(spec)};

int cmd_account(int argc, char **argv)
{
    struct account_how how = {0};
    const int failed = cli_run(&how.parser, &account_command, argc, argv, &how);

    free(how.ask.spent);
    cli_spec_clear(&how.spec);
    return failed;
}
