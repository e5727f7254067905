/* simulate_study.c - hearsay simulate --data: how well mechanisms do on people
 * whose truths are known. */
#define _DEFAULT_SOURCE
#include "simulate_study.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    STUDY_DATA = 1,
    STUDY_USERS,
    STUDY_MECHANISM,
    STUDY_EPSILON,
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
    {STUDY_EPSILON, "epsilon", "E,...", "privacy of one report (default 1)"},
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
    "attack averaging|change|fingerprint|drift [options]",
    "Collect from simulated people and compare the estimates with the truth:\n"
    "every mechanism at every epsilon, for every number of users and values.\n"
    "Beside the error stand what theory predicts and the best that is known.\n"
    "\n"
    "'hearsay simulate attack --help' has the attacks on devices, 'hearsay\n"
    "simulate --discover pem --help' the search for frequent strings.",
    study_options};

/* ---- Lists --------------------------------------------------------------- */

/* Each entry of the option's value, comma-separated, through take. */
static bool study_list(struct cli_parser *p,
                       bool (*take)(struct simulate_study *s,
                                    struct cli_parser *p, const char *word),
                       struct simulate_study *s)
{
    char word[64];
    const char *at = p->value;

    for (;;) {
        const size_t len = strcspn(at, ",");

        if (len == 0 || len >= sizeof word) {
            cli_usage(p, "--%s: %s", p->name,
                      len == 0 ? "a place in the list is empty"
                               : "too long a word in the list");
            return false;
        }
        memcpy(word, at, len);
        word[len] = '\0';
        if (!take(s, p, word))
            return false;
        if (at[len] == '\0')
            return true;
        at += len + 1;
    }
}

static bool study_fits(struct cli_parser *p, size_t n)
{
    if (n < SIMULATE_LIST_MAX)
        return true;
    cli_usage(p, "--%s: at most %u in a list", p->name, SIMULATE_LIST_MAX);
    return false;
}

static bool study_count(struct cli_parser *p, uint64_t *list, size_t *n,
                        const char *word, uint64_t least, uint64_t most)
{
    uint64_t x = 0;

    if (!study_fits(p, *n))
        return false;
    if (!cli_parse_count(&x, word) || x < least || x > most) {
        cli_usage(p,
                  "--%s takes integers from %" PRIu64 " to %" PRIu64
                  ", separated by commas",
                  p->name, least, most);
        return false;
    }
    list[(*n)++] = x;
    return true;
}

static bool study_take_users(struct simulate_study *s, struct cli_parser *p,
                             const char *word)
{
    return study_count(p, s->users, &s->nusers, word, 1, STUDY_USERS_MAX);
}

static bool study_take_domain(struct simulate_study *s, struct cli_parser *p,
                              const char *word)
{
    return study_count(p, s->domains, &s->ndomains, word, 2, HSY_VALUES_MAX);
}

static bool study_take_epsilon(struct simulate_study *s, struct cli_parser *p,
                               const char *word)
{
    hsy_status st;

    if (!study_fits(p, s->nepsilons))
        return false;
    st = hsy_epsilon_parse(&s->epsilons[s->nepsilons++], word, strlen(word));
    if (st == HSY_E_FORMAT)
        cli_usage(p, "--epsilon: not a decimal number (a digit first, no "
                     "exponent); write it as 1, 0.5 or ln3");
    else if (st != HSY_OK)
        cli_usage(p, "--epsilon: must be from 0.000001 to 32");
    return st == HSY_OK;
}

/* The names of all mechanisms, and whether this is one or another word for
 * one. */
#define STUDY_NAMES 64u

static bool study_known(const char *names[STUDY_NAMES], const char *word)
{
    const hsy_catalogue *row;
    bool known = strcmp(word, "auto") == 0;
    size_t n = 0;

    for (; n + 1 < STUDY_NAMES && (row = hsy_mechanism_at(n)) != NULL; n++) {
        const char *alias = row->aliases;

        names[n] = row->name;
        known = known || strcmp(word, row->name) == 0;
        while (*alias != '\0') {
            const size_t len = strcspn(alias, ",");

            known =
                known || (strlen(word) == len && memcmp(word, alias, len) == 0);
            alias += len + (alias[len] == ',');
        }
    }
    names[n] = NULL;
    return known;
}

static bool study_take_mechanism(struct simulate_study *s, struct cli_parser *p,
                                 const char *word)
{
    const char *names[STUDY_NAMES], *near;
    char *copy = s->words;

    if (!study_fits(p, s->nmechanisms))
        return false;
    if (!study_known(names, word)) {
        near = cli_nearest(word, names);
        cli_usage(p, "--mechanism: no mechanism '%s'%s%s%s", word,
                  near != NULL ? "; did you mean '" : "",
                  near != NULL ? near : "",
                  near != NULL ? "'?" : "; 'hearsay mechanisms' lists them");
        return false;
    }
    while (*copy != '\0') /* words stand one after the other */
        copy += strlen(copy) + 1;
    memcpy(copy, word, strlen(word) + 1);
    copy[strlen(word) + 1] = '\0';
    s->mechanisms[s->nmechanisms++] = copy;
    return true;
}

static bool study_mechanisms(struct simulate_study *s, struct cli_parser *p)
{
    s->words = calloc(strlen(p->value) + 2, 1);
    if (s->words == NULL) {
        p->exit = cli_fail_nomem();
        return false;
    }
    return study_list(p, study_take_mechanism, s);
}

/* ---- Options ------------------------------------------------------------- */

static bool study_sampling(struct simulate_study *s, struct cli_parser *p)
{
    static const char *const names[] = {"auto", "users", NULL};
    int choice;

    if (!cli_value_choice(p, &choice, names))
        return false;
    s->one_by_one = choice == 1;
    return true;
}

static bool study_option(struct simulate_study *s, struct cli_parser *p, int id)
{
    switch (id) {
    case STUDY_DATA:
        s->data = p->value;
        return true;
    case STUDY_USERS:
        return study_list(p, study_take_users, s);
    case STUDY_MECHANISM:
        return study_mechanisms(s, p);
    case STUDY_EPSILON:
        return study_list(p, study_take_epsilon, s);
    case STUDY_DOMAIN:
        return study_list(p, study_take_domain, s);
    case STUDY_RUNS:
        return cli_value_count(p, &s->runs, 1, STUDY_RUNS_MAX);
    case STUDY_TOP:
        return cli_value_count(p, &s->top, 1, HSY_VALUES_MAX);
    case STUDY_SAMPLING:
        return study_sampling(s, p);
    case STUDY_SEED:
        return cli_value_count(p, &s->seed, 0, UINT64_MAX);
    case STUDY_THREADS:
        return cli_value_count(p, &s->threads, 1, STUDY_THREADS_MAX);
    case STUDY_PLOT:
        s->plot = p->value;
        return true;
    case STUDY_DUMP:
        s->dump = p->value;
        return true;
    case STUDY_FORMAT:
        return cli_value_format(p, &s->format);
    case CLI_OPERAND:
        cli_usage(p, "no simulation '%.64s'; there is 'attack'", p->value);
        return false;
    default:
        return cli_spec_option(&s->question, p, id);
    }
}

static bool study_from_file(const struct simulate_study *s)
{
    return strncmp(s->data, "file:", 5) == 0;
}

/* What goes with what. */
static const char *study_conflict(const struct simulate_study *s)
{
    if (s->data == NULL)
        return "say what: --data D with --domain K or --range LO:HI, or "
               "'attack' and averaging, change, fingerprint or drift";
    if (s->ndomains > 0 && s->question.range != NULL)
        return "--domain and --range: one of the two";
    if (s->question.has_bins && s->question.range == NULL)
        return "--bins goes with --range";
    if (s->ndomains == 0 && s->question.range == NULL && !study_from_file(s))
        return "say what is asked: --domain K or --range LO:HI";
    if (s->ndomains > 1 && study_from_file(s))
        return "--domain: one for a file";
    if (s->nmechanisms * s->nepsilons * s->nusers *
            (s->ndomains > 0 ? s->ndomains : 1) >
        SIMULATE_ROWS_MAX)
        return "more than 4096 rows; ask for fewer at a time";
    return NULL;
}

/* What was not said. Nobody's number of users stands for the file's own. */
static void study_defaults(struct simulate_study *s)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (s->nmechanisms == 0)
        s->mechanisms[s->nmechanisms++] = "auto";
    if (s->nepsilons == 0)
        s->epsilons[s->nepsilons++] = HSY_NANO;
    if (s->nusers == 0)
        s->users[s->nusers++] =
            s->data != NULL && study_from_file(s) ? 0 : 10000;
    if (s->threads == 0)
        s->threads = cores < 1                         ? 1
                     : cores > (long)STUDY_THREADS_MAX ? STUDY_THREADS_MAX
                                                       : (uint64_t)cores;
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

/* ---- Running ------------------------------------------------------------- */

static void study_tick(void *ctx, uint64_t users)
{
    struct simulate_study *s = ctx;

    s->people += users;
    cli_progress_tick(&s->progress, s->people, s->of);
}

static struct study study_setting(struct simulate_study *s,
                                  const struct study_people *people,
                                  const hsy_spec *spec, uint64_t users)
{
    struct study t = {.people = people,
                      .spec = *spec,
                      .users = users,
                      .runs = s->runs,
                      .seed = s->seed,
                      .top = (size_t)(s->top != 0 ? s->top : 10),
                      .threads = (unsigned)s->threads,
                      .one_by_one = s->one_by_one,
                      .keep = s->plot != NULL && spec->d > 0,
                      .tick = study_tick,
                      .ctx = s};

    if (t.top > spec->d)
        t.top = spec->d;
    return t;
}

/* One row: a mechanism at an epsilon, of one population. */
static int study_row(struct simulate_study *s,
                     const struct study_people *people, const hsy_spec *spec,
                     uint64_t users)
{
    struct study setting = study_setting(s, people, spec, users);
    struct study_result *row = &s->rows[s->nrows];
    hsy_error err = {0};
    hsy_status st;

    setting.as_counted = users == 0;
    if (users == 0)
        setting.users = s->counted;
    st = study_run(row, &setting, &err);
    s->nrows++;
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (st != HSY_OK)
        return cli_fail_error(spec->mechanism, &err);
    if (s->dumped != NULL)
        (void)simulate_dump(s, row, s->nrows == 1); /* commit says it again */
    free(row->each);
    row->each = NULL;
    return CLI_DONE;
}

/* All rows of one question. */
static int study_rows(struct simulate_study *s,
                      const struct study_people *people, const hsy_spec *asked)
{
    int code = CLI_DONE;

    for (size_t m = 0; m < s->nmechanisms; m++)
        for (size_t e = 0; e < s->nepsilons; e++)
            for (size_t u = 0; code == CLI_DONE && u < s->nusers; u++) {
                hsy_spec spec = *asked;

                spec.mechanism = s->mechanisms[m];
                spec.nano_epsilon = s->epsilons[e];
                code = study_row(s, people, &spec, s->users[u]);
            }
    return code;
}

/* Every scheme is resolved before any work, so that what makes no sense does
 * not come out late. */
static int study_schemes(const struct simulate_study *s, const hsy_spec *asked)
{
    int code = CLI_DONE;

    for (size_t m = 0; m < s->nmechanisms; m++)
        for (size_t e = 0; code == CLI_DONE && e < s->nepsilons; e++) {
            hsy_spec spec = *asked;
            hsy_scheme *scheme = NULL;

            spec.mechanism = s->mechanisms[m];
            spec.nano_epsilon = s->epsilons[e];
            code = cli_scheme_new(&scheme, &spec);
            free(scheme);
        }
    return code;
}

/* What progress is measured by: all who will report. */
static void study_total(struct simulate_study *s)
{
    const size_t rows =
        s->nmechanisms * s->nepsilons * (s->ndomains > 0 ? s->ndomains : 1);
    double people = 0;

    for (size_t u = 0; u < s->nusers; u++)
        people += (double)(s->users[u] != 0 ? s->users[u] : s->counted);
    snprintf(s->of, sizeof s->of, "of %.0f people",
             people * (double)s->runs * (double)rows);
}

/* A question for which the people are there. */
static int study_asked(struct simulate_study *s, struct cli_parser *p,
                       const struct study_people *people, const hsy_spec *spec,
                       bool try)
{
    if (s->top != 0 && spec->kind == HSY_KIND_NUMBER)
        return cli_usage(p, "--top does not go with a mean");
    if (s->top > spec->d && spec->kind != HSY_KIND_NUMBER)
        return cli_usage(p,
                         "--top %" PRIu64 " is more than there are candidates: "
                         "%" PRIu32 " values",
                         s->top, spec->d);
    study_total(s);
    return try ? study_schemes(s, spec) : study_rows(s, people, spec);
}

/* The people of a distribution. */
static int study_people(const struct simulate_study *s, struct cli_parser *p,
                        struct study_people *people, const hsy_spec *spec)
{
    struct study_data data = {0};
    hsy_error err = {0};

    if (study_data_parse(&data, s->data, &err) == HSY_OK &&
        study_people_open(people, &data, spec, &err) == HSY_OK)
        return CLI_DONE;
    if (err.status == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (err.status == HSY_E_UNKNOWN)
        return cli_usage(p,
                         "--data: no distribution '%.64s'; there are zipf:S, "
                         "geometric:P, poisson:L, uniform, uniform:LO:HI, "
                         "gaussian:M:SD and file:PATH",
                         s->data);
    return cli_usage(p, "--data: %s", err.msg);
}

/* A file's people; it is read the first time. */
static int study_filed(struct simulate_study *s, struct cli_parser *p, bool try)
{
    int code = CLI_DONE;

    if (try)
        code = simulate_file(&s->filed, &s->counted, &s->question.spec,
                             s->data + 5);
    return code == CLI_DONE
               ? study_asked(s, p, &s->filed, &s->question.spec, try)
               : code;
}

/* Every domain: first only whether all makes sense, then for real. */
static int study_domains(struct simulate_study *s, struct cli_parser *p,
                         bool try)
{
    const size_t n = s->ndomains > 0 ? s->ndomains : 1;
    int code = CLI_DONE;

    if (study_from_file(s))
        return study_filed(s, p, try);
    for (size_t i = 0; code == CLI_DONE && i < n; i++) {
        struct study_people people = {0};
        hsy_spec spec = s->question.spec;

        if (s->ndomains > 0)
            spec.d = (uint32_t)s->domains[i];
        code = study_people(s, p, &people, &spec);
        if (code == CLI_DONE)
            code = study_asked(s, p, &people, &spec, try);
        study_people_close(&people);
    }
    return code;
}

/* ---- Files --------------------------------------------------------------- */

static int study_figure(const struct simulate_study *s, struct output *out)
{
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    hsy_status st = study_svg(&svg, &len, s->rows, s->nrows, &err);

    if (st == HSY_OK)
        st = output_write(out, svg, len);
    free(svg);
    if (st != HSY_OK) {
        output_abort(out);
        return err.status != HSY_OK ? cli_fail_error("figure", &err)
                                    : cli_fail_output(s->plot);
    }
    errno = 0;
    return output_commit(out) == HSY_OK ? CLI_DONE : cli_fail_output(s->plot);
}

static int study_open(struct output **out, const char *path)
{
    hsy_status st;

    if (path == NULL)
        return CLI_DONE;
    errno = 0;
    st = output_open(out, path);
    return st == HSY_OK        ? CLI_DONE
           : st == HSY_E_NOMEM ? cli_fail_nomem()
                               : cli_fail_output(path);
}

/* Files are opened before the work, so that a wrong path does not cost it. */
static int study_all(struct simulate_study *s, struct cli_parser *p)
{
    struct output *figure = NULL;
    int code = study_domains(s, p, true);

    if (code == CLI_DONE)
        code = study_open(&figure, s->plot);
    if (code == CLI_DONE)
        code = study_open(&s->dumped, s->dump);
    if (code == CLI_DONE)
        code = study_domains(s, p, false);
    cli_progress_end(&s->progress);
    if (code == CLI_DONE && s->dumped != NULL) {
        errno = 0;
        if (output_commit(s->dumped) != HSY_OK)
            code = cli_fail_output(s->dump);
        s->dumped = NULL;
    }
    if (code != CLI_DONE) {
        output_abort(s->dumped);
        output_abort(figure);
        return code;
    }
    if (figure != NULL)
        code = study_figure(s, figure);
    if (code != CLI_DONE)
        return code;
    simulate_rows(s);
    return cli_finish();
}

static void study_end(struct simulate_study *s)
{
    for (size_t i = 0; s->rows != NULL && i < s->nrows; i++)
        study_close(&s->rows[i]);
    free(s->rows);
    free(s->words);
    study_people_close(&s->filed);
    cli_spec_clear(&s->question);
}

int simulate_study(int argc, char **argv)
{
    struct simulate_study s = {.runs = 20, .seed = 1};
    const char *conflict;
    struct cli_parser p;
    int id, code;

    cli_begin(&p, &study_command, argc, argv);
    while ((id = cli_next(&p)) != CLI_END)
        if (id == CLI_STOP || !study_option(&s, &p, id)) {
            study_end(&s);
            return p.exit;
        }
    study_defaults(&s);
    conflict = study_conflict(&s);
    code = conflict != NULL ? cli_usage(&p, "%s", conflict)
                            : study_question(&s, &p);
    s.rows = calloc(SIMULATE_ROWS_MAX, sizeof *s.rows);
    if (code == CLI_DONE)
        code = s.rows != NULL ? study_all(&s, &p) : cli_fail_nomem();
    study_end(&s);
    return code;
}
