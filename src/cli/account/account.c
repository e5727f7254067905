/* account.c - hearsay account: what was spent, and what trust buys. */
#include "cli/account/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values -------------------------------------------------------------- */

static bool account_number_value(struct cli_parser *p, double *out, double low,
                                 double high, const char *what)
{
    double x;

    if (text_number(&x, p->value) && x > low && x < high) {
        *out = x;
        return true;
    }
    cli_usage(p, "--%s takes %s", p->name, what);
    return false;
}

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
              "--%s takes a number above 0 and at most 100, as 1, 0.5 or ln3",
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

static bool account_delta(struct cli_parser *p, void *to)
{
    return account_number_value(p, &((struct account_how *)to)->ask.delta, 0, 1,
                                "a chance above 0 and below 1, as 1e-6");
}

static bool account_held(struct cli_parser *p, void *to)
{
    return account_number_value(p, &((struct account_how *)to)->ask.held, -1,
                                1.0000001, "a share from 0 to 1, as 0.05");
}

static bool account_operand(struct cli_parser *p, void *to)
{
    struct account_how *h = to;

    if (h->action != NULL)
        cli_usage(p, "'%s' is one word too many", p->value);
    h->action = p->value;
    return p->exit == 0;
}

/* ---- Options ------------------------------------------------------------- */

#define ACCOUNT(member) offsetof(struct account_how, member)

static const struct cli_option account_options[] = {
    {0, "epsilon", "E", "of one report (or day, or release)", CLI_INTO_CALL,
     .call = account_take_epsilon},
    {0, "delta", "D", "chance that a bound fails (default 1e-6)", CLI_INTO_CALL,
     .call = account_delta},
    {0, "k", "K", "group: people; compose: reports", CLI_INTO_COUNT,
     ACCOUNT(ask.k), 1, HSY_COMPOSE_MAX},
    {0, "file", "FILE", "compose: an epsilon a line, or E,COUNT", CLI_INTO_TEXT,
     ACCOUNT(file)},
    {0, "n", "N", "people", CLI_INTO_COUNT, ACCOUNT(ask.n), 1,
     HSY_SHUFFLE_PEOPLE_MAX},
    {0, "target", "E", "shuffle: the epsilon wanted", CLI_INTO_CALL,
     .call = account_target},
    {0, "reports", "T", "longitudinal: so many on one question", CLI_INTO_COUNT,
     ACCOUNT(ask.reports), 1, HSY_COMPOSE_MAX},
    {0, "permanent", "E", "... of the permanent answer", CLI_INTO_CALL,
     .call = account_permanent},
    {0, "grain", "G", "... onebit rounds numbers to so much", CLI_INTO_TEXT,
     ACCOUNT(ask.grain)},
    {0, "days", "N", "... epsilon is renewed every day instead", CLI_INTO_COUNT,
     ACCOUNT(ask.days), 1, HSY_COMPOSE_MAX},
    {0, "lying", "B", "poisoning: share of devices, as 1%", CLI_INTO_SHARE,
     ACCOUNT(ask.lying)},
    {0, "targets", "R", "... for so many values (default 1)", CLI_INTO_COUNT,
     ACCOUNT(ask.targets), 1, HSY_TARGETS_MAX},
    {0, "held", "F", "... that the honest hold (default 0)", CLI_INTO_CALL,
     .call = account_held},
    {CLI_OPT_YES_NO, "yes-no", NULL, "the question: yes or no"},
    {CLI_OPT_DOMAIN, "domain", "D", "... one of D values"},
    {CLI_OPT_RANGE, "range", "LO:HI", "... a number, or with --bins"},
    {CLI_OPT_BINS, "bins", "B", "... which of B bins it is in"},
    {CLI_OPT_STRINGS, "strings", NULL, "... any text"},
    {CLI_OPT_MECHANISM, "mechanism", "NAME", "see 'hearsay mechanisms'"},
    {CLI_OPT_SET, "set", "KEY=VALUE...", "a parameter, as for randomize"},
    {0, "plot", "FILE.svg", "draw it", CLI_INTO_TEXT, ACCOUNT(plot)},
    CLI_FORMAT_ROW(ACCOUNT(format)),
    {0}};

static const struct cli_command account_command = {
    "account",
    "group --epsilon E --k K [options] | "
    "compose --epsilon E --k K | "
    "compose --file FILE | "
    "longitudinal KIND --epsilon E --permanent E --reports T | "
    "longitudinal --epsilon E --days N | "
    "shuffle [KIND] --epsilon E [--n N] [--target E] | "
    "poisoning KIND --epsilon E --mechanism NAME --lying B",
    "Total what was spent, by every bound that holds, and say what it "
    "assumes.\n"
    "Nothing is read but --file, and no truth is needed.",
    account_options,
    .operand = account_operand,
    .spec = ACCOUNT(spec)};

/* ---- What goes together -------------------------------------------------- */

#define ACCOUNT_KIND "yes-no, --domain or --range"

/* What an option is called in what an account takes: those that make the
 * question have one name, and so have mechanism and set. */
static const char *account_called(const struct cli_option *o)
{
    if (o->id == CLI_OPT_MECHANISM || o->id == CLI_OPT_SET)
        return "mechanism";
    return o->id != 0 ? ACCOUNT_KIND : o->name;
}

static bool account_has(const struct cli_parser *p, const char *group)
{
    for (const struct cli_option *o = account_options; o->name != NULL; o++)
        if (strcmp(account_called(o), group) == 0 && cli_given(p, o->name))
            return true;
    return false;
}

/* What goes together only in some ways: a complaint, or NULL. */

static const char *account_clash_compose(const struct cli_parser *p)
{
    const bool file = account_has(p, "file");
    const bool epsilon = account_has(p, "epsilon");
    const bool k = account_has(p, "k");

    if (file && (epsilon || k))
        return "--file has the epsilons: no --epsilon or --k beside it";
    if (file && account_has(p, "plot"))
        return "--plot draws one epsilon against --k: not with --file";
    if (!file && !(epsilon && k))
        return "'account compose' needs --epsilon E and --k K, or --file FILE";
    return NULL;
}

static const char *account_clash_longitudinal(const struct cli_parser *p)
{
    const bool days = account_has(p, "days");
    const bool kind = account_has(p, ACCOUNT_KIND);

    if (days && (kind || account_has(p, "reports") ||
                 account_has(p, "permanent") || account_has(p, "grain")))
        return "--days is a budget renewed every day: only --epsilon and "
               "--delta go with it";
    if (days && !account_has(p, "epsilon"))
        return "--days needs --epsilon E: what a day may spend";
    if (!days && !kind)
        return "'account longitudinal' needs the question (--yes-no, --domain, "
               "--range) with --reports T, or --days N";
    if (kind && !account_has(p, "reports"))
        return "'account longitudinal' needs --reports T: how many there are "
               "on the question";
    if (kind && account_has(p, "delta"))
        return "--delta goes with --days: the loss of a permanent answer needs "
               "none";
    return NULL;
}

static const char *account_clash_shuffle(const struct cli_parser *p)
{
    const bool n = account_has(p, "n");

    if (!n && !account_has(p, "target"))
        return "'account shuffle' needs --n N, or --target E to learn how many "
               "it takes";
    if (!n && account_has(p, "plot"))
        return "--plot draws up to --n people: say how many";
    return NULL;
}

/* What an account needs, and what else it takes. */
struct account_action {
    const char *name;
    hsy_status (*run)(struct account *out, const struct account_ask *ask,
                      hsy_error *err);
    const char *(*clash)(const struct cli_parser *p); /* NULL: nothing else */
    const char *needs[5], *takes[9];                  /* NULL behind them */
};

static const struct account_action account_actions[] = {
    {"group", account_group, NULL, {"k", "epsilon"}, {"delta"}},
    {"compose",
     account_compose,
     account_clash_compose,
     {NULL},
     {"k", "file", "delta", "epsilon"}},
    {"longitudinal",
     account_longitudinal,
     account_clash_longitudinal,
     {NULL},
     {"delta", "reports", "permanent", "grain", "days", "epsilon", ACCOUNT_KIND,
      "mechanism"}},
    {"shuffle",
     account_shuffle,
     account_clash_shuffle,
     {"epsilon"},
     {"delta", "n", "target", ACCOUNT_KIND, "mechanism"}},
    {"poisoning",
     account_poisoning,
     NULL,
     {"lying", "epsilon", ACCOUNT_KIND, "mechanism"},
     {"targets", "held"}},
};

#define ACCOUNT_ACTIONS (sizeof account_actions / sizeof account_actions[0])

static bool account_listed(const char *const *list, const char *group)
{
    while (*list != NULL && strcmp(*list, group) != 0)
        list++;
    return *list != NULL;
}

static bool account_takes(const struct account_action *a, const char *group)
{
    return account_listed(a->needs, group) || account_listed(a->takes, group);
}

/* An option that has no place here, and those that have, in this order. */
static int account_stray(struct cli_parser *p, const struct account_action *a,
                         const char *stray)
{
    static const char *const order[] = {
        "k",       "file",      "delta",   "n",          "target",
        "reports", "permanent", "grain",   "days",       "lying",
        "targets", "held",      "epsilon", ACCOUNT_KIND, "mechanism"};
    char list[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (account_takes(a, order[i]) && used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s--%s",
                                     used == 0 ? "" : ", ", order[i]);
    return cli_usage(p, "--%s does not go with 'account %s', which takes %s",
                     stray, a->name, list);
}

/* Options that are missing, or that do not go with the account. */
static int account_fits(struct cli_parser *p, const struct account_action *a)
{
    static const char *const always[] = {"plot", "format", NULL};

    for (const struct cli_option *o = account_options; o->name != NULL; o++) {
        const char *group = account_called(o);

        if (cli_given(p, o->name) && !account_takes(a, group) &&
            !account_listed(always, group))
            return account_stray(p, a, group);
    }
    for (const char *const *need = a->needs; *need != NULL; need++)
        if (!account_has(p, *need))
            return cli_usage(p, "'account %s' needs --%s", a->name, *need);
    return 0;
}

static int account_unknown(struct cli_parser *p, const char *name,
                           const char *near)
{
    if (near != NULL)
        return cli_usage(p, "no 'account %s'; did you mean 'account %s'?", name,
                         near);
    return cli_usage(p, "say what to account for: group, compose, "
                        "longitudinal, shuffle or poisoning");
}

/* ---- The command --------------------------------------------------------- */

/* A scheme is resolved from nano-epsilon. */
static int account_question(struct cli_parser *p, struct account_how *h)
{
    if (!account_has(p, ACCOUNT_KIND))
        return 0;
    h->ask.spec = &h->spec.spec;
    if (account_has(p, "epsilon") && h->spec.spec.nano_epsilon == 0)
        return cli_usage(p, "--epsilon: with a question it is a decimal from "
                            "0.000001 to 32, or ln3");
    if (account_has(p, "permanent") && h->ask.nano_permanent == 0)
        return cli_usage(p, "--permanent: a decimal from 0.000001 to 32, or "
                            "ln3");
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

static int account_call(const struct account_action *action,
                        struct account_how *h)
{
    hsy_error err = {0};
    struct account a;
    int failed = h->file != NULL ? account_read(h) : 0;

    if (failed)
        return failed;
    if (action->run(&a, &h->ask, &err) != HSY_OK)
        return account_refused(&a, h, &err);
    return account_show(&a, h);
}

static int account_run(struct cli_parser *p, struct account_how *h)
{
    const char *near, *clash;
    size_t i = cli_find(account_actions, sizeof account_actions[0],
                        ACCOUNT_ACTIONS, h->action, &near);
    const struct account_action *a = account_actions + i;
    int failed;

    if (i == ACCOUNT_ACTIONS)
        return account_unknown(p, h->action, near);
    failed = account_fits(p, a);
    if (failed)
        return failed;
    clash = a->clash != NULL ? a->clash(p) : NULL;
    if (clash == NULL && account_has(p, "mechanism") &&
        !account_has(p, ACCOUNT_KIND))
        clash = "--mechanism and --set need the question: --yes-no, --domain, "
                "--range or --strings";
    if (clash != NULL)
        return cli_usage(p, "%s", clash);
    failed = account_question(p, h);
    return failed ? failed : account_call(a, h);
}

int cmd_account(int argc, char **argv)
{
    struct account_how how = {.ask = {.delta = 1e-6, .targets = 1}};
    struct cli_parser p;
    int failed;

    if (cli_read(&p, &account_command, argc, argv, &how)) {
        how.ask.curves = how.plot != NULL;
        failed = account_run(&p, &how);
    } else {
        failed = p.exit;
    }
    free(how.ask.spent);
    cli_spec_clear(&how.spec);
    return failed;
}
