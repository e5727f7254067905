/* account.c - hearsay account: what was spent, and what trust buys. */
#include "cli/account/internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    ACCOUNT_K = 1,
    ACCOUNT_FILE,
    ACCOUNT_DELTA,
    ACCOUNT_N,
    ACCOUNT_TARGET,
    ACCOUNT_REPORTS,
    ACCOUNT_PERMANENT,
    ACCOUNT_GRAIN,
    ACCOUNT_DAYS,
    ACCOUNT_CURATORS,
    ACCOUNT_ALPHA,
    ACCOUNT_LYING,
    ACCOUNT_TARGETS,
    ACCOUNT_HELD,
    ACCOUNT_PLOT,
    ACCOUNT_FORMAT,
    ACCOUNT_EPSILON, /* of these three, any option that belongs to it */
    ACCOUNT_KIND,
    ACCOUNT_MECHANISM,
    ACCOUNT_OPTIONS
};

#define ACCOUNT_BIT(id) (1u << (id))

static const struct cli_option account_options[] = {
    {CLI_OPT_EPSILON, "epsilon", "E", "of one report (or day, or release)"},
    {ACCOUNT_DELTA, "delta", "D", "chance that a bound fails (default 1e-6)"},
    {ACCOUNT_K, "k", "K", "group: people; compose: reports"},
    {ACCOUNT_FILE, "file", "FILE", "compose: an epsilon a line, or E,COUNT"},
    {ACCOUNT_N, "n", "N", "people"},
    {ACCOUNT_TARGET, "target", "E", "shuffle: the epsilon wanted"},
    {ACCOUNT_REPORTS, "reports", "T", "longitudinal: so many on one question"},
    {ACCOUNT_PERMANENT, "permanent", "E", "... of the permanent answer"},
    {ACCOUNT_GRAIN, "grain", "G", "... onebit rounds numbers to so much"},
    {ACCOUNT_DAYS, "days", "N", "... epsilon is renewed every day instead"},
    {ACCOUNT_CURATORS, "curators", "K", "multiparty: how many"},
    {ACCOUNT_ALPHA, "alpha", "A", "central, multiparty: standard error wanted"},
    {ACCOUNT_LYING, "lying", "B", "poisoning: share of devices, as 1%"},
    {ACCOUNT_TARGETS, "targets", "R", "... for so many values (default 1)"},
    {ACCOUNT_HELD, "held", "F", "... that the honest hold (default 0)"},
    {CLI_OPT_YES_NO, "yes-no", NULL, "the question: yes or no"},
    {CLI_OPT_DOMAIN, "domain", "D", "... one of D values"},
    {CLI_OPT_RANGE, "range", "LO:HI", "... a number, or with --bins"},
    {CLI_OPT_BINS, "bins", "B", "... which of B bins it is in"},
    {CLI_OPT_STRINGS, "strings", NULL, "... any text"},
    {CLI_OPT_MECHANISM, "mechanism", "NAME", "see 'hearsay mechanisms'"},
    {CLI_OPT_SET, "set", "KEY=VALUE...", "a parameter, as for randomize"},
    {ACCOUNT_PLOT, "plot", "FILE.svg", "draw it"},
    CLI_FORMAT_OPTION(ACCOUNT_FORMAT),
    {0, NULL, NULL, NULL}};

static const struct cli_command account_command = {
    "account",
    "group --epsilon E --k K [options] | "
    "compose --epsilon E --k K | "
    "compose --file FILE | "
    "longitudinal KIND --epsilon E --permanent E --reports T | "
    "longitudinal --epsilon E --days N | "
    "shuffle [KIND] --epsilon E [--n N] [--target E] | "
    "central|multiparty KIND --epsilon E [--n N] [--alpha A] | "
    "poisoning KIND --epsilon E --mechanism NAME --lying B",
    "Total what was spent, by every bound that holds, and say what it "
    "assumes.\n"
    "Nothing is read but --file, and no truth is needed.",
    account_options};

static bool account_has(unsigned given, int id)
{
    return (given & ACCOUNT_BIT(id)) != 0;
}

/* What goes together only in some ways: a complaint, or NULL. */

static const char *account_clash_compose(unsigned given)
{
    const bool file = account_has(given, ACCOUNT_FILE);
    const bool epsilon = account_has(given, ACCOUNT_EPSILON);
    const bool k = account_has(given, ACCOUNT_K);

    if (file && (epsilon || k))
        return "--file has the epsilons: no --epsilon or --k beside it";
    if (file && account_has(given, ACCOUNT_PLOT))
        return "--plot draws one epsilon against --k: not with --file";
    if (!file && !(epsilon && k))
        return "'account compose' needs --epsilon E and --k K, or --file FILE";
    return NULL;
}

static const char *account_clash_longitudinal(unsigned given)
{
    const bool days = account_has(given, ACCOUNT_DAYS);
    const bool kind = account_has(given, ACCOUNT_KIND);

    if (days &&
        given & (ACCOUNT_BIT(ACCOUNT_KIND) | ACCOUNT_BIT(ACCOUNT_REPORTS) |
                 ACCOUNT_BIT(ACCOUNT_PERMANENT) | ACCOUNT_BIT(ACCOUNT_GRAIN)))
        return "--days is a budget renewed every day: only --epsilon and "
               "--delta go with it";
    if (days && !account_has(given, ACCOUNT_EPSILON))
        return "--days needs --epsilon E: what a day may spend";
    if (!days && !kind)
        return "'account longitudinal' needs the question (--yes-no, --domain, "
               "--range) with --reports T, or --days N";
    if (kind && !account_has(given, ACCOUNT_REPORTS))
        return "'account longitudinal' needs --reports T: how many there are "
               "on the question";
    if (kind && account_has(given, ACCOUNT_DELTA))
        return "--delta goes with --days: the loss of a permanent answer needs "
               "none";
    return NULL;
}

static const char *account_clash_shuffle(unsigned given)
{
    const bool n = account_has(given, ACCOUNT_N);

    if (!n && !account_has(given, ACCOUNT_TARGET))
        return "'account shuffle' needs --n N, or --target E to learn how many "
               "it takes";
    if (!n && account_has(given, ACCOUNT_PLOT))
        return "--plot draws up to --n people: say how many";
    return NULL;
}

static const char *account_clash_models(unsigned given)
{
    if (!account_has(given, ACCOUNT_N) && !account_has(given, ACCOUNT_ALPHA))
        return "needs --n N, or --alpha A to learn how many people it takes";
    return NULL;
}

/* What an account needs, and what else it takes. */
struct account_action {
    const char *name;
    hsy_status (*run)(struct account *out, const struct account_ask *ask,
                      hsy_error *err);
    unsigned needs, takes;
    const char *(*clash)(unsigned given); /* NULL: nothing else to see to */
};

#define ACCOUNT_ALWAYS (ACCOUNT_BIT(ACCOUNT_PLOT) | ACCOUNT_BIT(ACCOUNT_FORMAT))
#define ACCOUNT_QUESTION                                                       \
    (ACCOUNT_BIT(ACCOUNT_KIND) | ACCOUNT_BIT(ACCOUNT_MECHANISM))

static const struct account_action account_actions[] = {
    {"group", account_group,
     ACCOUNT_BIT(ACCOUNT_EPSILON) | ACCOUNT_BIT(ACCOUNT_K),
     ACCOUNT_BIT(ACCOUNT_DELTA), NULL},
    {"compose", account_compose, 0,
     ACCOUNT_BIT(ACCOUNT_EPSILON) | ACCOUNT_BIT(ACCOUNT_K) |
         ACCOUNT_BIT(ACCOUNT_FILE) | ACCOUNT_BIT(ACCOUNT_DELTA),
     account_clash_compose},
    {"longitudinal", account_longitudinal, 0,
     ACCOUNT_BIT(ACCOUNT_EPSILON) | ACCOUNT_QUESTION |
         ACCOUNT_BIT(ACCOUNT_REPORTS) | ACCOUNT_BIT(ACCOUNT_PERMANENT) |
         ACCOUNT_BIT(ACCOUNT_GRAIN) | ACCOUNT_BIT(ACCOUNT_DAYS) |
         ACCOUNT_BIT(ACCOUNT_DELTA),
     account_clash_longitudinal},
    {"shuffle", account_shuffle, ACCOUNT_BIT(ACCOUNT_EPSILON),
     ACCOUNT_QUESTION | ACCOUNT_BIT(ACCOUNT_N) | ACCOUNT_BIT(ACCOUNT_TARGET) |
         ACCOUNT_BIT(ACCOUNT_DELTA),
     account_clash_shuffle},
    {"central", account_central,
     ACCOUNT_BIT(ACCOUNT_EPSILON) | ACCOUNT_BIT(ACCOUNT_KIND),
     ACCOUNT_QUESTION | ACCOUNT_BIT(ACCOUNT_N) | ACCOUNT_BIT(ACCOUNT_ALPHA),
     account_clash_models},
    {"multiparty", account_multiparty,
     ACCOUNT_BIT(ACCOUNT_EPSILON) | ACCOUNT_BIT(ACCOUNT_KIND) |
         ACCOUNT_BIT(ACCOUNT_CURATORS),
     ACCOUNT_QUESTION | ACCOUNT_BIT(ACCOUNT_N) | ACCOUNT_BIT(ACCOUNT_ALPHA),
     account_clash_models},
    {"poisoning", account_poisoning,
     ACCOUNT_BIT(ACCOUNT_EPSILON) | ACCOUNT_QUESTION |
         ACCOUNT_BIT(ACCOUNT_LYING),
     ACCOUNT_BIT(ACCOUNT_TARGETS) | ACCOUNT_BIT(ACCOUNT_HELD), NULL},
};

#define ACCOUNT_ACTIONS (sizeof account_actions / sizeof account_actions[0])

/* ---- Values -------------------------------------------------------------- */

static bool account_number_value(struct cli_parser *p, double *out, double low,
                                 double high, const char *what)
{
    double x;

    if (cli_parse_number(&x, p->value) && x > low && x < high) {
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

static bool account_held(struct cli_parser *p, double *out)
{
    return account_number_value(p, out, -1, 1.0000001,
                                "a share from 0 to 1, as 0.05");
}

/* ---- Options ------------------------------------------------------------- */

static bool account_own(struct cli_parser *p, int id, struct account_how *h)
{
    struct account_ask *a = &h->ask;
    double epsilon;
    uint64_t nano;

    switch (id) {
    case ACCOUNT_K:
        return cli_value_count(p, &a->k, 1, HSY_COMPOSE_MAX);
    case ACCOUNT_FILE:
        h->file = p->value;
        return true;
    case ACCOUNT_DELTA:
        return account_number_value(p, &a->delta, 0, 1,
                                    "a chance above 0 and below 1, as 1e-6");
    case ACCOUNT_N:
        return cli_value_count(p, &a->n, 1, HSY_SHUFFLE_PEOPLE_MAX);
    case ACCOUNT_TARGET:
        return account_epsilon_value(p, &a->target, &nano);
    case ACCOUNT_REPORTS:
        return cli_value_count(p, &a->reports, 1, HSY_COMPOSE_MAX);
    case ACCOUNT_PERMANENT:
        return account_epsilon_value(p, &epsilon, &a->nano_permanent);
    case ACCOUNT_GRAIN:
        a->grain = p->value;
        return true;
    case ACCOUNT_DAYS:
        return cli_value_count(p, &a->days, 1, HSY_COMPOSE_MAX);
    case ACCOUNT_CURATORS:
        return cli_value_count(p, &a->curators, 1, HSY_SHUFFLE_PEOPLE_MAX);
    case ACCOUNT_ALPHA:
        return account_number_value(p, &a->alpha, 0, 1e300,
                                    "a standard error above 0, as 0.01");
    case ACCOUNT_LYING:
        return cli_value_fraction(p, &a->lying);
    case ACCOUNT_TARGETS:
        return cli_value_count(p, &a->targets, 1, HSY_TARGETS_MAX);
    case ACCOUNT_HELD:
        return account_held(p, &a->held);
    case ACCOUNT_PLOT:
        h->plot = p->value;
        return a->curves = true;
    default:
        return cli_value_format(p, &h->format);
    }
}

/* Which bit an option belongs to, after it was taken; 0 after a complaint. */
static unsigned account_option(struct cli_parser *p, int id,
                               struct account_how *h)
{
    switch (id) {
    case CLI_OPT_EPSILON:
        if (!account_epsilon_value(p, &h->ask.epsilon,
                                   &h->spec.spec.nano_epsilon))
            return 0;
        h->spec.has_epsilon = true;
        return ACCOUNT_BIT(ACCOUNT_EPSILON);
    case CLI_OPT_MECHANISM:
    case CLI_OPT_SET:
        return cli_spec_option(&h->spec, p, id) ? ACCOUNT_BIT(ACCOUNT_MECHANISM)
                                                : 0;
    default:
        if (id >= CLI_OPT_YES_NO)
            return cli_spec_option(&h->spec, p, id) ? ACCOUNT_BIT(ACCOUNT_KIND)
                                                    : 0;
        return account_own(p, id, h) ? ACCOUNT_BIT(id) : 0;
    }
}

static const char *account_option_name(int id)
{
    static const char *const groups[] = {
        "epsilon", "yes-no, --domain or --range", "mechanism"};

    if (id >= ACCOUNT_EPSILON)
        return groups[id - ACCOUNT_EPSILON];
    for (size_t i = 0;; i++)
        if (account_options[i].id == id)
            return account_options[i].name;
}

static const struct account_action *account_find(struct cli_parser *p,
                                                 const char *name)
{
    const char *names[ACCOUNT_ACTIONS + 1] = {NULL};
    const char *near;

    for (size_t i = 0; i < ACCOUNT_ACTIONS; i++) {
        names[i] = account_actions[i].name;
        if (name != NULL && strcmp(name, names[i]) == 0)
            return &account_actions[i];
    }
    near = name != NULL ? cli_nearest(name, names) : NULL;
    if (near != NULL)
        cli_usage(p, "no 'account %s'; did you mean 'account %s'?", name, near);
    else
        cli_usage(p, "say what to account for: group, compose, longitudinal, "
                     "shuffle, central, multiparty or poisoning");
    return NULL;
}

/* An option that has no place here, and those that have. */
static int account_stray(struct cli_parser *p, const struct account_action *a,
                         int stray)
{
    char list[256] = "";
    size_t used = 0;

    for (int id = 1; id < ACCOUNT_OPTIONS; id++)
        if ((a->needs | a->takes) & ACCOUNT_BIT(id) && used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s--%s",
                                     used == 0 ? "" : ", ",
                                     account_option_name(id));
    return cli_usage(p, "--%s does not go with 'account %s', which takes %s",
                     account_option_name(stray), a->name, list);
}

/* Options that are missing, or that do not go with the account. */
static int account_fits(struct cli_parser *p, const struct account_action *a,
                        unsigned given)
{
    for (int id = 1; id < ACCOUNT_OPTIONS; id++) {
        if (given & ACCOUNT_BIT(id) & ~(a->needs | a->takes | ACCOUNT_ALWAYS))
            return account_stray(p, a, id);
        if (a->needs & ACCOUNT_BIT(id) & ~given)
            return cli_usage(p, "'account %s' needs --%s", a->name,
                             account_option_name(id));
    }
    return 0;
}

/* A scheme is resolved from nano-epsilon. */
static int account_question(struct cli_parser *p, struct account_how *h,
                            unsigned given)
{
    if (!account_has(given, ACCOUNT_KIND))
        return 0;
    h->ask.spec = &h->spec.spec;
    if (account_has(given, ACCOUNT_EPSILON) && h->spec.spec.nano_epsilon == 0)
        return cli_usage(p, "--epsilon: with a question it is a decimal from "
                            "0.000001 to 32, or ln3");
    if (account_has(given, ACCOUNT_PERMANENT) && h->ask.nano_permanent == 0)
        return cli_usage(p, "--permanent: a decimal from 0.000001 to 32, or "
                            "ln3");
    return cli_spec_finish(&h->spec, p);
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

static int account_run(struct cli_parser *p, struct account_how *h,
                       const char *name, unsigned given)
{
    const struct account_action *a = account_find(p, name);
    const char *clash;
    int failed;

    if (a == NULL)
        return p->exit;
    failed = account_fits(p, a, given);
    if (failed)
        return failed;
    clash = a->clash != NULL ? a->clash(given) : NULL;
    if (clash == NULL && account_has(given, ACCOUNT_MECHANISM) &&
        !account_has(given, ACCOUNT_KIND))
        clash = "--mechanism and --set need the question: --yes-no, --domain, "
                "--range or --strings";
    if (clash != NULL)
        return cli_usage(p, "%s", clash);
    failed = account_question(p, h, given);
    return failed ? failed : account_call(a, h);
}

/* What was given besides the options that h holds. */
struct account_words {
    const char *action;
    unsigned given;
};

static bool account_take(struct cli_parser *p, int id, struct account_how *h,
                         struct account_words *w)
{
    unsigned bit;

    if (id == CLI_OPERAND) {
        if (w->action != NULL)
            cli_usage(p, "'%s' is one word too many", p->value);
        w->action = p->value;
        return p->exit == 0;
    }
    bit = account_option(p, id, h);
    w->given |= bit;
    return bit != 0;
}

int cmd_account(int argc, char **argv)
{
    struct account_how how = {.ask = {.delta = 1e-6, .targets = 1}};
    struct account_words words = {NULL, 0};
    struct cli_parser p;
    int id, failed;

    cli_begin(&p, &account_command, argc, argv);
    while ((id = cli_next(&p)) != CLI_END) {
        if (id == CLI_STOP || !account_take(&p, id, &how, &words)) {
            cli_spec_clear(&how.spec);
            return p.exit;
        }
    }
    failed = account_run(&p, &how, words.action, words.given);
    free(how.ask.spent);
    cli_spec_clear(&how.spec);
    return failed;
}

#undef ACCOUNT_BIT
#undef ACCOUNT_ALWAYS
#undef ACCOUNT_QUESTION
#undef ACCOUNT_ACTIONS
