/* study_options.c - the options of hearsay simulate study. */
#include "cli/simulate/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Values -------------------------------------------------------------- */

static bool study_take_model(struct simulate_study *s, struct cli_parser *p,
                             const char *word)
{
    struct study_way *m = &s->models[s->nmodels];
    hsy_error err = {0};
    hsy_status st;

    st = study_model_parse(&m->model, &m->curators, word, &err);
    if (st == HSY_E_UNKNOWN)
        cli_usage(p,
                  "--model: unknown model '%s'; use local, shuffled, central "
                  "or multiparty:K",
                  word);
    else if (st != HSY_OK)
        cli_usage(p, "--model: %s", err.msg);
    s->nmodels += st == HSY_OK;
    return st == HSY_OK;
}

static bool study_models(struct cli_parser *p, void *to)
{
    struct simulate_study *s = to;
    struct cli_words words = {0};
    bool good = cli_value_words(p, &words);

    s->nmodels = 0;
    for (size_t i = 0; i < words.n && good; i++)
        good = study_take_model(s, p, words.at[i]);
    return good;
}

static bool study_take_delta(struct cli_parser *p, void *to)
{
    double *delta = &((struct simulate_study *)to)->grid.how.delta;

    if (text_number(delta, p->value) && *delta >= STUDY_DELTA_MIN && *delta < 1)
        return true;
    cli_usage(p, "--delta takes a number from 1e-250 to below 1, e.g. 1e-6");
    return false;
}

/* ---- Options ------------------------------------------------------------- */

static const char *const study_samplings[] = {"auto", "users", NULL};

#define STUDY(member) offsetof(struct simulate_study, member)

static const struct cli_option study_options[] = {
    {"data", "D",
     "distribution of truths: zipf:S, geometric:P, poisson:L, uniform, "
     "uniform:LO:HI, gaussian:M:SD or file:PATH",
     CLI_INTO_TEXT, STUDY(data), .hints = SIMULATE_DATA " file:"},
    {"domain", "K,...", "truths are integers from 0 to K-1", CLI_INTO_COUNTS,
     STUDY(domains), 2, HSY_VALUES_MAX, .without = "range"},
    CLI_SPEC_AS("range", NULL, "truths are numbers; estimate the mean"),
    CLI_SPEC_AS("bins", NULL,
                "number of equal bins; estimates the share of each"),
    {"users", "N,...", "number of people (default 10000, or the file's)",
     CLI_INTO_COUNTS, STUDY(users), 1, STUDY_USERS_MAX},
    {"mechanism", "A,...", "names from 'hearsay mechanisms' (default auto)",
     CLI_INTO_CALL, STUDY(mechanisms), .call = simulate_mechanisms},
    {"model", "M,...",
     "trusted party: local (nobody, the default), shuffled (a shuffler), "
     "central (one curator), multiparty:K (K curators)",
     CLI_INTO_CALL, STUDY(models), .call = study_models,
     .hints = "local shuffled central multiparty:"},
    {"epsilon", "E,...",
     "epsilon of one report, of all shuffled reports, or of a release (default "
     "1)",
     CLI_INTO_EPSILONS, STUDY(epsilons), .hints = "1 2 ln3"},
    {"delta", "X",
     "shuffled: delta (default: the smaller of 1e-6 and users^-1.5)",
     CLI_INTO_CALL, .call = study_take_delta, .hints = "1e-6 1e-9"},
    {"assume-honest", "F",
     "shuffled: share of honest reports (default 1; in plan 0.9)",
     CLI_INTO_SHARE, STUDY(grid.how.honest), .high = 1, .hints = "90% 100%"},
    CLI_SPEC_AS("set", NULL, "parameter of the mechanism, as for randomize"),
    {"runs", "R", "number of simulated populations", CLI_INTO_COUNT,
     STUDY(grid.how.runs), 1, STUDY_RUNS_MAX, .preset = "20"},
    {"top", "K",
     "number of most frequent values to score (default 10, or all if fewer)",
     CLI_INTO_COUNT, STUDY(grid.top), 1, HSY_VALUES_MAX},
    {"sampling", "auto|users",
     "auto: draw all reports at once where that is exact (rr, grr, sue, oue, "
     "onebit); users: draw them one by one",
     CLI_INTO_CHOICE, STUDY(sampling), .words = study_samplings,
     .preset = "auto"},
    SIMULATE_ROWS(STUDY(grid.how.seed), STUDY(threads)),
    {"plot", "FILE.svg", "write a figure (.svg or .png)", CLI_INTO_TEXT,
     STUDY(files.plot)},
    {"dump", "FILE.csv", "write the result of every run", CLI_INTO_TEXT,
     STUDY(files.dump)},
    CLI_FORMAT_ROW(STUDY(format)),
    {0}};

static const struct cli_command study_command = {
    "simulate study",
    "--data D --domain K [options] | "
    "--data D --range LO:HI [--bins B] [options]",
    "Collect from simulated people and compare the estimates with the truth, "
    "for\nevery mechanism, epsilon, number of users and number of values. "
    "Models with a\ntrusted party can be compared with people who trust "
    "nobody. The predicted error\nand the error of the best known mechanism "
    "are printed beside the measured one.",
    study_options,
    .needs = "data",
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
        return "--delta needs --model shuffled";
    if (s->grid.how.honest > 0 && !shuffled)
        return "--assume-honest needs --model shuffled";
    if (s->nmodels == 0 || study_reporting(s) > 0)
        return NULL;
    if (s->mechanisms.n > 0)
        return "--mechanism needs --model local or shuffled; curators have "
               "their own";
    if (s->grid.how.one_by_one)
        return "--sampling needs --model local or shuffled; curators get no "
               "reports";
    return NULL;
}

/* ... and after. */
static const char *study_conflict(const struct simulate_study *s)
{
    if (s->domains.n == 0 && s->question.range == NULL &&
        !simulate_from_file(s))
        return "missing question: use --domain K or --range LO:HI";
    if (s->domains.n > 1 && simulate_from_file(s))
        return "--domain: give only one for a file";
    if (simulate_count(s) > SIMULATE_ROWS_MAX)
        return "more than 4096 rows; shorten the lists";
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
