/* simulate_discover.c - hearsay simulate --discover: how well frequent strings
 * are found among people whose strings are known. */
#define _DEFAULT_SOURCE
#include "discovery.h"
#include "simulate_study.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DISCOVER_HOW = 1,
    DISCOVER_BITS,
    DISCOVER_STEP,
    DISCOVER_FIRST,
    DISCOVER_POOL,
    DISCOVER_TOP,
    DISCOVER_KEEP,
    DISCOVER_SIGNIFICANT,
    DISCOVER_MAX,
    DISCOVER_IDEAL,
    DISCOVER_DATA,
    DISCOVER_DOMAIN,
    DISCOVER_USERS,
    DISCOVER_MECHANISM,
    DISCOVER_EPSILON,
    DISCOVER_RUNS,
    DISCOVER_SEED,
    DISCOVER_THREADS,
    DISCOVER_FORMAT
};

static const struct cli_option discover_options[] = {
    {DISCOVER_HOW, "discover", "pem", "by prefix extending"},
    {DISCOVER_BITS, "bits", "M", "of a string (default 48)"},
    {DISCOVER_STEP, "step", "N", "bits from one group to the next (default 8)"},
    {DISCOVER_FIRST, "first", "N",
     "bits before the first step (default: as many as\n--top values take)"},
    {DISCOVER_POOL, "pool-bits", "N", "2^N public hashes of a group (16)"},
    {DISCOVER_TOP, "top", "K", "strings to find (default 16)"},
    {DISCOVER_KEEP, "keep", "N", "N times K prefixes at inner stages (2)"},
    {DISCOVER_SIGNIFICANT, "significant", NULL,
     "return only what chance hardly makes"},
    {DISCOVER_MAX, "max-candidates", "N", "of a stage (default 262144)"},
    {DISCOVER_IDEAL, "ideal", NULL,
     "a hash of each person's own in place of the pool"},
    {DISCOVER_DATA, "data", "D",
     "zipf:S, geometric:P, poisson:L, uniform,\n"
     "uniform:LO:HI or gaussian:M:SD"},
    {DISCOVER_DOMAIN, "domain", "K", "different strings (default 1000000)"},
    {DISCOVER_USERS, "users", "N", "people (default 1000000)"},
    {DISCOVER_MECHANISM, "mechanism", "olh",
     "what groups are asked by; the small ones by grr"},
    {DISCOVER_EPSILON, "epsilon", "E,...", "privacy of one report (default 1)"},
    {DISCOVER_RUNS, "runs", "R", "populations (default 20)"},
    {DISCOVER_SEED, "seed", "N", "of all coins (default 1)"},
    {DISCOVER_THREADS, "threads", "N",
     "how many (default: all cores); the numbers do not\ndepend on it"},
    CLI_FORMAT_OPTION(DISCOVER_FORMAT),
    {0, NULL, NULL, NULL},
};

static const struct cli_command discover_command = {
    "simulate", "--discover pem --data D [options]",
    "Let simulated people report prefixes of their strings, search for the\n"
    "frequent ones and compare what is found with what most people hold. "
    "Every\n"
    "person reports one by one, through the same code as real ones.",
    discover_options};

struct simulate_discover {
    const char *data, *mechanism;
    uint64_t epsilons[SIMULATE_LIST_MAX]; /* nano */
    size_t nepsilons;
    uint64_t domain, first, threads;
    struct discovery how;
    enum cli_format format;
    struct discovery_result rows[SIMULATE_LIST_MAX];
    struct cli_progress progress;
    uint64_t people;
    char of[48];
};

bool simulate_discovers(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--discover", 10) == 0)
            return true;
    return false;
}

/* ---- Rows ---------------------------------------------------------------- */

#define DISCOVER_ASKED 9u

static const char *const discover_asked[DISCOVER_ASKED] = {
    "discover", "mechanism", "epsilon", "users", "domain",
    "bits",     "step",      "top",     "runs"};

#define DISCOVER_COLUMNS (DISCOVER_ASKED + 2 * DISCOVERY_METRICS + 1)

static struct cli_cell discover_cell_asked(const struct simulate_discover *s,
                                           const struct discovery_result *row,
                                           size_t column)
{
    switch (column) {
    case 0:
        return cli_text(row->info.mechanism);
    case 1:
        return cli_text(s->how.ideal ? "ideal" : "olh");
    case 2:
        return cli_number(row->info.epsilon);
    case 3:
        return cli_count(s->how.users);
    case 4:
        return cli_count(s->domain);
    case 5:
        return cli_count(row->info.param[HSY_PARAM_BITS]);
    case 6:
        return cli_count(row->info.param[HSY_PARAM_STEP]);
    case 7:
        return cli_count(s->how.search.top);
    default:
        return cli_count(s->how.runs);
    }
}

static void discover_cell(const void *ctx, size_t row, size_t column,
                          struct cli_cell *out)
{
    const struct simulate_discover *s = ctx;
    const struct discovery_result *r = &s->rows[row];

    if (column < DISCOVER_ASKED) {
        *out = discover_cell_asked(s, r, column);
        if (column == 2)
            snprintf(out->shown, sizeof out->shown, "%.6g", r->info.epsilon);
        return;
    }
    column -= DISCOVER_ASKED;
    if (column == 2 * DISCOVERY_METRICS) {
        *out = cli_text(s->how.ideal ? "aggregate" : "users");
        return;
    }
    *out = cli_number(column < DISCOVERY_METRICS
                          ? r->mean[column]
                          : r->error[column - DISCOVERY_METRICS]);
    if (out->type == CLI_NUMBER)
        snprintf(out->shown, sizeof out->shown, "%.3f", out->number);
}

static void discover_show(const struct simulate_discover *s)
{
    static char names[DISCOVERY_METRICS][16];
    struct cli_column columns[DISCOVER_COLUMNS];
    const struct cli_table table = {columns, DISCOVER_COLUMNS, s->nepsilons,
                                    discover_cell, s};

    for (size_t i = 0; i < DISCOVER_ASKED; i++)
        columns[i] = (struct cli_column){discover_asked[i], NULL};
    for (size_t m = 0; m < DISCOVERY_METRICS; m++) {
        const char *name = discovery_metric_name((enum discovery_metric)m);

        snprintf(names[m], sizeof names[m], "%s_se", name);
        columns[DISCOVER_ASKED + m] = (struct cli_column){name, NULL};
        columns[DISCOVER_ASKED + DISCOVERY_METRICS + m] =
            (struct cli_column){names[m], m == 0 ? "+-" : ""};
    }
    columns[DISCOVER_COLUMNS - 1] = (struct cli_column){"sampling", ""};
    cli_print(s->format, &table, NULL, 0, "rows");
}

/* ---- Running ------------------------------------------------------------- */

static void discover_tick(void *ctx, uint64_t users)
{
    struct simulate_discover *s = ctx;

    s->people += users;
    cli_progress_tick(&s->progress, s->people, s->of);
}

/* The field of a spec or a search that is wrong is the option to change. */
static int discover_refused(const hsy_error *err)
{
    if (err->status == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (err->field == NULL)
        return cli_fail_error(NULL, err);
    if (strcmp(err->field, "max-candidates") == 0)
        return cli_fail("a stage would have %" PRIu64
                        " candidates; allow them with --max-candidates (at "
                        "most 16777216), or lower --top, --keep or --step",
                        err->limit);
    return cli_fail("--%s: %s",
                    strcmp(err->field, "w") == 0 ? "first" : err->field,
                    err->msg);
}

static int discover_run(struct simulate_discover *s,
                        const struct study_people *people)
{
    snprintf(s->of, sizeof s->of, "of %.0f people",
             (double)s->how.users * (double)s->how.runs * (double)s->nepsilons);
    s->how.people = people;
    s->how.tick = discover_tick;
    s->how.ctx = s;
    for (size_t e = 0; e < s->nepsilons; e++) {
        hsy_error err = {0};

        s->how.spec.nano_epsilon = s->epsilons[e];
        if (discovery_run(&s->rows[e], &s->how, &err) != HSY_OK) {
            cli_progress_end(&s->progress);
            return discover_refused(&err);
        }
    }
    cli_progress_end(&s->progress);
    discover_show(s);
    return cli_finish();
}

static int discover_people(struct simulate_discover *s, struct cli_parser *p)
{
    const hsy_spec question = {.size = sizeof question,
                               .kind = HSY_KIND_VALUES,
                               .d = (uint32_t)s->domain};
    struct study_people people = {0};
    struct study_data data = {0};
    hsy_error err = {0};
    int code;

    if (study_data_parse(&data, s->data, &err) == HSY_OK)
        (void)study_people_open(&people, &data, &question, &err);
    if (err.status == HSY_E_NOMEM)
        code = cli_fail_nomem();
    else if (err.status != HSY_OK)
        code = cli_usage(p, "--data: %s", err.msg);
    else
        code = discover_run(s, &people);
    study_people_close(&people);
    return code;
}

/* ---- Options ------------------------------------------------------------- */

static bool discover_epsilons(struct simulate_discover *s, struct cli_parser *p)
{
    const char *at = p->value;

    s->nepsilons = 0;
    for (;;) {
        const size_t len = strcspn(at, ",");

        if (s->nepsilons == SIMULATE_LIST_MAX) {
            cli_usage(p, "--epsilon: at most %u in a list", SIMULATE_LIST_MAX);
            return false;
        }
        if (hsy_epsilon_parse(&s->epsilons[s->nepsilons++], at, len) !=
            HSY_OK) {
            cli_usage(p, "--epsilon: numbers from 0.000001 to 32, or ln3, "
                         "separated by commas");
            return false;
        }
        if (at[len] == '\0')
            return true;
        at += len + 1;
    }
}

/* A name of which there is one. */
static bool discover_named(struct cli_parser *p, const char *one)
{
    if (strcmp(p->value, one) == 0)
        return true;
    cli_usage(p, "--%s: there is %s", p->name, one);
    return false;
}

static bool discover_option(struct simulate_discover *s, struct cli_parser *p,
                            int id)
{
    uint64_t *param = s->how.spec.param;
    hsy_search *search = &s->how.search;

    switch (id) {
    case DISCOVER_HOW:
        return discover_named(p, "pem");
    case DISCOVER_MECHANISM:
        return discover_named(p, "olh");
    case DISCOVER_BITS:
        return cli_value_count(p, &param[HSY_PARAM_BITS], 2, 64);
    case DISCOVER_STEP:
        return cli_value_count(p, &param[HSY_PARAM_STEP], 1, 63);
    case DISCOVER_FIRST:
        return cli_value_count(p, &s->first, 1, 63);
    case DISCOVER_POOL:
        return cli_value_count(p, &param[HSY_PARAM_POOL_BITS], 1,
                               HSY_POOL_BITS_MAX);
    case DISCOVER_TOP:
        return cli_value_count(p, &search->top, 1, HSY_SEARCH_TOP_MAX);
    case DISCOVER_KEEP:
        return cli_value_count(p, &search->keep, 1, HSY_SEARCH_KEEP_MAX);
    case DISCOVER_SIGNIFICANT:
        search->significant = true;
        return true;
    case DISCOVER_MAX:
        return cli_value_count(p, &search->max_candidates, 1,
                               HSY_SEARCH_CANDIDATES_MAX);
    case DISCOVER_IDEAL:
        s->how.ideal = true;
        return true;
    case DISCOVER_DATA:
        s->data = p->value;
        return true;
    case DISCOVER_DOMAIN:
        return cli_value_count(p, &s->domain, 2, HSY_VALUES_MAX);
    case DISCOVER_USERS:
        return cli_value_count(p, &s->how.users, 1, STUDY_EACH_MAX);
    case DISCOVER_EPSILON:
        return discover_epsilons(s, p);
    case DISCOVER_RUNS:
        return cli_value_count(p, &s->how.runs, 1, STUDY_RUNS_MAX);
    case DISCOVER_SEED:
        return cli_value_count(p, &s->how.seed, 0, UINT64_MAX);
    case DISCOVER_THREADS:
        return cli_value_count(p, &s->threads, 1, STUDY_THREADS_MAX);
    case DISCOVER_FORMAT:
        return cli_value_format(p, &s->format);
    default:
        cli_usage(p, "'%.64s' is one word too many", p->value);
        return false;
    }
}

/* ceil(log2 k), at least 1. */
static uint64_t discover_log(uint64_t k)
{
    uint64_t bits = 1;

    while ((uint64_t)1 << bits < k)
        bits++;
    return bits;
}

static void discover_settle(struct simulate_discover *s)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (s->nepsilons == 0)
        s->epsilons[s->nepsilons++] = HSY_NANO;
    s->how.spec.param[HSY_PARAM_W] =
        s->first != 0 ? s->first : discover_log(s->how.search.top);
    if (s->threads == 0)
        s->threads = cores < 1 ? 1 : (uint64_t)cores;
    if (s->threads > STUDY_THREADS_MAX)
        s->threads = STUDY_THREADS_MAX;
    if (s->threads > s->how.runs)
        s->threads = s->how.runs;
    s->how.threads = (unsigned)s->threads;
}

int simulate_discover(int argc, char **argv)
{
    struct simulate_discover s = {
        .domain = 1000000,
        .how = {
            .spec = {.size = sizeof(hsy_spec),
                     .mechanism = "pem",
                     .kind = HSY_KIND_STRINGS,
                     .param = {[HSY_PARAM_BITS] = 48, [HSY_PARAM_STEP] = 8}},
            .search = {.size = sizeof(hsy_search), .top = 16},
            .users = 1000000,
            .runs = 20,
            .seed = 1}};
    struct cli_parser p;
    int id;

    cli_begin(&p, &discover_command, argc, argv);
    while ((id = cli_next(&p)) != CLI_END)
        if (id == CLI_STOP || !discover_option(&s, &p, id))
            return p.exit;
    if (s.data == NULL)
        return cli_usage(&p, "--data says how strings are spread over people, "
                             "as --data zipf:1.5");
    discover_settle(&s);
    return discover_people(&s, &p);
}
