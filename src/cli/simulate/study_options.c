/* study_options.c - the options of hearsay simulate --data. */
#include "cli/simulate/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Models -------------------------------------------------------------- */

static bool study_take_model(struct simulate_study *s, struct cli_parser *p,
                             const char *word)
{
    struct study_way *m = &s->models[s->nmodels];
    hsy_error err = {0};
    hsy_status st;

    st = study_model_parse(&m->model, &m->curators, word, &err);
    if (st == HSY_E_UNKNOWN)
        cli_usage(p,
                  "--model: no model '%s'; there are local, shuffled, "
                  "central and multiparty:K",
                  word);
    else if (st != HSY_OK)
        cli_usage(p, "--model: %s", err.msg);
    s->nmodels += st == HSY_OK;
    return st == HSY_OK;
}

static bool study_models(struct cli_parser *p, void *to)
{
    struct simulate_study *s = to;
    struct simulate_words words = {0};
    bool good = simulate_words(p, &words);

    s->nmodels = 0;
    for (size_t i = 0; i < words.n && good; i++)
        good = study_take_model(s, p, words.at[i]);
    free(words.memory);
    return good;
}

static bool study_take_delta(struct cli_parser *p, void *to)
{
    struct simulate_study *s = to;
    double x;

    if (text_number(&x, p->value) && x >= STUDY_DELTA_MIN && x < 1) {
        s->grid.how.delta = x;
        return true;
    }
    cli_usage(p, "--delta takes a number above 0 (from 1e-250 on) and below 1, "
                 "as 1e-6");
    return false;
}

/* ---- Options ------------------------------------------------------------- */

static bool study_operand(struct cli_parser *p, void *to)
{
    (void)to;
    cli_usage(p, "no simulation '%.64s'; there are 'attack' and 'fleet'",
              p->value);
    return false;
}

static const char *const study_samplings[] = {"auto", "users", NULL};

#define STUDY(member) offsetof(struct simulate_study, member)

static const struct cli_option study_options[] = {
    {0, "data", "D",
     "zipf:S, geometric:P, poisson:L, uniform,\n"
     "uniform:LO:HI, gaussian:M:SD or file:PATH",
     CLI_INTO_TEXT, STUDY(data)},
    {0, "domain", "K,...", "truths are the integers 0 to K-1", CLI_INTO_CALL,
     STUDY(domains), 2, HSY_VALUES_MAX, .call = simulate_counts},
    {CLI_OPT_RANGE, "range", "LO:HI",
     "truths are numbers; the mean is asked, or with"},
    {CLI_OPT_BINS, "bins", "B", "... the share of each of B equal bins"},
    {0, "users", "N,...", "people (default 10000, or the file's own)",
     CLI_INTO_CALL, STUDY(users), 1, STUDY_USERS_MAX, .call = simulate_counts},
    {0, "mechanism", "A,...", "see 'hearsay mechanisms' (default auto)",
     CLI_INTO_CALL, STUDY(mechanisms), .call = simulate_mechanisms},
    {0, "model", "M,...",
     "who is trusted: local (nobody, the default),\n"
     "shuffled (a shuffler), central (one curator),\n"
     "multiparty:K (K curators)",
     CLI_INTO_CALL, STUDY(models), .call = study_models},
    {0, "epsilon", "E,...",
     "privacy of one report, of all that are shuffled,\n"
     "or of a release (default 1)",
     CLI_INTO_CALL, STUDY(epsilons), .call = simulate_epsilons},
    {0, "delta", "X", "of shuffled reports (default 1e-6 or users^-1.5)",
     CLI_INTO_CALL, STUDY(grid.how.delta), .call = study_take_delta},
    {0, "assume-honest", "F",
     "... their honest share (default 1; plan takes 0.9)", CLI_INTO_PART,
     STUDY(grid.how.honest)},
    {CLI_OPT_SET, "set", "KEY=VALUE...", "a parameter, as for randomize"},
    {0, "runs", "R", "populations (default 20)", CLI_INTO_COUNT,
     STUDY(grid.how.runs), 1, STUDY_RUNS_MAX},
    {0, "top", "K", "heavy values to find (default 10, or all if fewer)",
     CLI_INTO_COUNT, STUDY(grid.top), 1, HSY_VALUES_MAX},
    {0, "sampling", "auto|users",
     "auto: all reports at once where that is exact\n"
     "(rr, grr, sue, oue, onebit); users: one by one",
     CLI_INTO_CHOICE, STUDY(sampling), .words = study_samplings},
    {0, "seed", "N", "of all coins (default 1)", CLI_INTO_COUNT,
     STUDY(grid.how.seed), 0, UINT64_MAX},
    {0, "threads", "N",
     "how many (default: all cores); the numbers do not\ndepend on it",
     CLI_INTO_COUNT, STUDY(threads), 1, STUDY_THREADS_MAX},
    {0, "plot", "FILE.svg", "write the figure", CLI_INTO_TEXT,
     STUDY(files.plot)},
    {0, "dump", "FILE.csv", "write every run", CLI_INTO_TEXT,
     STUDY(files.dump)},
    CLI_FORMAT_ROW(STUDY(format)),
    {0}};

static const struct cli_command study_command = {
    "simulate",
    "--data D --domain K [options] | "
    "--data D --range LO:HI [--bins B] [options] | "
    "--discover pem --data D --domain K [options] | "
    "attack NAME [options] | "
    "fleet URL [options]",
    "Collect from simulated people and compare the estimates with the truth:\n"
    "every mechanism at every epsilon, for every number of users and values.\n"
    "Curators who are trusted with truths stand beside people who trust "
    "nobody.\n"
    "Beside the error stand what theory predicts and the best that is known.\n"
    "\n"
    "'hearsay simulate attack --help' has the attacks on devices, 'hearsay\n"
    "simulate fleet --help' devices against a real collector, 'hearsay\n"
    "simulate --discover pem --help' the search for frequent strings.",
    study_options,
    .operand = study_operand,
    .spec = STUDY(question)};

bool simulate_from_file(const struct simulate_study *s)
{
    return strncmp(s->data, "file:", 5) == 0;
}

/* How many models have people report. */
static size_t study_reporting(const struct simulate_study *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->nmodels; i++)
        n += s->models[i].curators == 0;
    return n;
}

size_t simulate_count(const struct simulate_study *s)
{
    const size_t some = study_reporting(s);

    return (some * s->mechanisms.n + s->nmodels - some) * s->epsilons.n *
           s->users.n * (s->domains.n > 0 ? s->domains.n : 1);
}

/* What goes with what, before anything is filled in. */
static const char *study_idle(const struct simulate_study *s)
{
    bool shuffled = false;

    for (size_t i = 0; i < s->nmodels; i++)
        shuffled |= s->models[i].model == STUDY_SHUFFLED;
    if (s->grid.how.delta > 0 && !shuffled)
        return "--delta is of shuffled reports; it goes with --model shuffled";
    if (s->grid.how.honest > 0 && !shuffled)
        return "--assume-honest is of shuffled reports; it goes with --model "
               "shuffled";
    if (s->nmodels == 0 || study_reporting(s) > 0)
        return NULL;
    if (s->mechanisms.n > 0)
        return "--mechanism: curators have their own; it goes with --model "
               "local or shuffled";
    if (s->grid.how.one_by_one)
        return "--sampling: people report nothing to curators; it goes with "
               "--model local or shuffled";
    return NULL;
}

/* ... and after. */
static const char *study_conflict(const struct simulate_study *s)
{
    if (s->data == NULL)
        return "say what: --data D with --domain K or --range LO:HI, or "
               "'attack' and " SIMULATE_ATTACKS;
    if (s->domains.n > 0 && s->question.range != NULL)
        return "--domain and --range: one of the two";
    if (s->question.has_bins && s->question.range == NULL)
        return "--bins goes with --range";
    if (s->domains.n == 0 && s->question.range == NULL &&
        !simulate_from_file(s))
        return "say what is asked: --domain K or --range LO:HI";
    if (s->domains.n > 1 && simulate_from_file(s))
        return "--domain: one for a file";
    if (simulate_count(s) > SIMULATE_ROWS_MAX)
        return "more than 4096 rows; ask for fewer at a time";
    return NULL;
}

/* What was not said. Nobody's number of users stands for the file's own. */
static void study_defaults(struct simulate_study *s)
{
    if (s->nmodels == 0)
        s->models[s->nmodels++] = (struct study_way){.model = STUDY_LOCAL};
    if (s->mechanisms.n == 0)
        s->mechanisms.at[s->mechanisms.n++] = "auto";
    if (s->epsilons.n == 0)
        s->epsilons.at[s->epsilons.n++] = HSY_NANO;
    if (s->users.n == 0)
        s->users.at[s->users.n++] =
            s->data != NULL && simulate_from_file(s) ? 0 : 10000;
    if (s->threads == 0)
        s->threads = simulate_cores();
}

/* Every model with every mechanism, where it takes one. */
static int study_ways(struct simulate_study *s)
{
    s->ways = calloc(s->nmodels * s->mechanisms.n, sizeof *s->ways);
    if (s->ways == NULL)
        return cli_fail_nomem();
    for (size_t i = 0; i < s->nmodels; i++)
        for (size_t m = 0; m < s->mechanisms.n; m++)
            if (m == 0 || s->models[i].curators == 0) {
                struct study_way *way = &s->ways[s->grid.nways++];

                *way = s->models[i];
                way->mechanism = s->mechanisms.at[m];
            }
    s->grid.ways = s->ways;
    s->grid.epsilons = s->epsilons.at;
    s->grid.nepsilons = s->epsilons.n;
    s->grid.users = s->users.at;
    s->grid.nusers = s->users.n;
    s->grid.how.threads = (unsigned)s->threads;
    return CLI_DONE;
}

/* The question, without mechanism and epsilon; d of the first domain. */
static int study_question(struct simulate_study *s, struct cli_parser *p)
{
    struct cli_spec *q = &s->question;

    q->has_epsilon = true;
    q->has_domain = q->range == NULL;
    q->domain = s->domains.n > 0 ? s->domains.at[0] : 0;
    return cli_spec_finish(q, p);
}

int simulate_options(struct simulate_study *s, struct cli_parser *p, int argc,
                     char **argv)
{
    const char *conflict;
    int failed;

    s->stop = !cli_read(p, &study_command, argc, argv, s);
    if (s->stop)
        return p->exit;
    s->grid.how.one_by_one = s->sampling == 1;
    conflict = study_idle(s);
    study_defaults(s);
    if (conflict == NULL)
        conflict = study_conflict(s);
    if (conflict != NULL)
        return cli_usage(p, "%s", conflict);
    failed = study_ways(s);
    return failed ? failed : study_question(s, p);
}
