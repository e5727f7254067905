/* study_options.c - the options of hearsay simulate --data. */
#include "cli/simulate/internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    STUDY_DATA = 1,
    STUDY_USERS,
    STUDY_MECHANISM,
    STUDY_MODEL,
    STUDY_EPSILON,
    STUDY_DELTA,
    STUDY_DOMAIN,
    STUDY_RUNS,
    STUDY_TOP,
    STUDY_SAMPLING,
    STUDY_SEED,
    STUDY_THREADS,
    STUDY_PLOT,
    STUDY_DUMP,
    STUDY_FORMAT
};

static const struct cli_option study_options[] = {
    {STUDY_DATA, "data", "D",
     "zipf:S, geometric:P, poisson:L, uniform,\n"
     "uniform:LO:HI, gaussian:M:SD or file:PATH"},
    {STUDY_DOMAIN, "domain", "K,...", "truths are the integers 0 to K-1"},
    {CLI_OPT_RANGE, "range", "LO:HI",
     "truths are numbers; the mean is asked, or with"},
    {CLI_OPT_BINS, "bins", "B", "... the share of each of B equal bins"},
    {STUDY_USERS, "users", "N,...",
     "people (default 10000, or the file's own)"},
    {STUDY_MECHANISM, "mechanism", "A,...",
     "see 'hearsay mechanisms' (default auto)"},
    {STUDY_MODEL, "model", "M,...",
     "who is trusted: local (nobody, the default),\n"
     "shuffled (a shuffler), central (one curator),\n"
     "multiparty:K (K curators)"},
    {STUDY_EPSILON, "epsilon", "E,...",
     "privacy of one report, of all that are shuffled,\n"
     "or of a release (default 1)"},
    {STUDY_DELTA, "delta", "X",
     "of shuffled reports (default 1e-6, or users^-1.5\nif that is less)"},
    {CLI_OPT_SET, "set", "KEY=VALUE...", "a parameter, as for randomize"},
    {STUDY_RUNS, "runs", "R", "populations (default 20)"},
    {STUDY_TOP, "top", "K",
     "heavy values to find (default 10, or all if fewer)"},
    {STUDY_SAMPLING, "sampling", "auto|users",
     "auto: all reports at once where that is exact\n"
     "(rr, grr, sue, oue, onebit); users: one by one"},
    {STUDY_SEED, "seed", "N", "of all coins (default 1)"},
    {STUDY_THREADS, "threads", "N",
     "how many (default: all cores); the numbers do not\ndepend on it"},
    {STUDY_PLOT, "plot", "FILE.svg", "write the figure"},
    {STUDY_DUMP, "dump", "FILE.csv", "write every run"},
    CLI_FORMAT_OPTION(STUDY_FORMAT),
    {0, NULL, NULL, NULL},
};

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
    study_options};

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

static bool study_models(struct simulate_study *s, struct cli_parser *p)
{
    struct simulate_words words = {0};
    bool good = simulate_words(p, &words);

    s->nmodels = 0;
    for (size_t i = 0; i < words.n && good; i++)
        good = study_take_model(s, p, words.at[i]);
    free(words.memory);
    return good;
}

static bool study_take_delta(struct simulate_study *s, struct cli_parser *p)
{
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

static bool study_sampling(struct simulate_study *s, struct cli_parser *p)
{
    static const char *const names[] = {"auto", "users", NULL};
    int choice;

    if (!cli_value_choice(p, &choice, names))
        return false;
    s->grid.how.one_by_one = choice == 1;
    return true;
}

static bool study_option(struct simulate_study *s, struct cli_parser *p, int id)
{
    switch (id) {
    case STUDY_DATA:
        s->data = p->value;
        return true;
    case STUDY_USERS:
        return simulate_counts(p, s->users, &s->nusers, 1, STUDY_USERS_MAX);
    case STUDY_MECHANISM:
        return simulate_mechanisms(p, &s->mechanisms);
    case STUDY_MODEL:
        return study_models(s, p);
    case STUDY_EPSILON:
        return simulate_epsilons(p, s->epsilons, &s->nepsilons);
    case STUDY_DELTA:
        return study_take_delta(s, p);
    case STUDY_DOMAIN:
        return simulate_counts(p, s->domains, &s->ndomains, 2, HSY_VALUES_MAX);
    case STUDY_RUNS:
        return cli_value_count(p, &s->grid.how.runs, 1, STUDY_RUNS_MAX);
    case STUDY_TOP:
        return cli_value_count(p, &s->grid.top, 1, HSY_VALUES_MAX);
    case STUDY_SAMPLING:
        return study_sampling(s, p);
    case STUDY_SEED:
        return cli_value_count(p, &s->grid.how.seed, 0, UINT64_MAX);
    case STUDY_THREADS:
        return cli_value_count(p, &s->threads, 1, STUDY_THREADS_MAX);
    case STUDY_PLOT:
        s->files.plot = p->value;
        return true;
    case STUDY_DUMP:
        s->files.dump = p->value;
        return true;
    case STUDY_FORMAT:
        return cli_value_format(p, &s->format);
    case CLI_OPERAND:
        cli_usage(p,
                  "no simulation '%.64s'; there are 'attack' and "
                  "'fleet'",
                  p->value);
        return false;
    default:
        return cli_spec_option(&s->question, p, id);
    }
}

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

    return (some * s->mechanisms.n + s->nmodels - some) * s->nepsilons *
           s->nusers * (s->ndomains > 0 ? s->ndomains : 1);
}

/* What goes with what, before anything is filled in. */
static const char *study_idle(const struct simulate_study *s)
{
    bool shuffled = false;

    for (size_t i = 0; i < s->nmodels; i++)
        shuffled |= s->models[i].model == STUDY_SHUFFLED;
    if (s->grid.how.delta > 0 && !shuffled)
        return "--delta is of shuffled reports; it goes with --model shuffled";
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
    if (s->ndomains > 0 && s->question.range != NULL)
        return "--domain and --range: one of the two";
    if (s->question.has_bins && s->question.range == NULL)
        return "--bins goes with --range";
    if (s->ndomains == 0 && s->question.range == NULL && !simulate_from_file(s))
        return "say what is asked: --domain K or --range LO:HI";
    if (s->ndomains > 1 && simulate_from_file(s))
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
    if (s->nepsilons == 0)
        s->epsilons[s->nepsilons++] = HSY_NANO;
    if (s->nusers == 0)
        s->users[s->nusers++] =
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
    s->grid.epsilons = s->epsilons;
    s->grid.nepsilons = s->nepsilons;
    s->grid.users = s->users;
    s->grid.nusers = s->nusers;
    s->grid.how.threads = (unsigned)s->threads;
    return CLI_DONE;
}

/* The question, without mechanism and epsilon; d of the first domain. */
static int study_question(struct simulate_study *s, struct cli_parser *p)
{
    struct cli_spec *q = &s->question;

    q->has_epsilon = true;
    q->has_domain = q->range == NULL;
    q->domain = s->ndomains > 0 ? s->domains[0] : 0;
    return cli_spec_finish(q, p);
}

int simulate_options(struct simulate_study *s, struct cli_parser *p, int argc,
                     char **argv)
{
    const char *conflict;
    int id, failed;

    cli_begin(p, &study_command, argc, argv);
    while ((id = cli_next(p)) != CLI_END)
        if (id == CLI_STOP || !study_option(s, p, id)) {
            s->stop = true;
            return p->exit;
        }
    conflict = study_idle(s);
    study_defaults(s);
    if (conflict == NULL)
        conflict = study_conflict(s);
    if (conflict != NULL)
        return cli_usage(p, "%s", conflict);
    failed = study_ways(s);
    return failed ? failed : study_question(s, p);
}
