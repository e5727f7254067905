/* simulate_discover.c - hearsay simulate discover: how well frequent strings
 * are found among people whose strings are known. */
#include "cli/simulate/internal.h"
#include "sim/discovery/discovery.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct simulate_discover {
    struct cli_parser parser;
    struct cli_words data, mechanisms;
    struct cli_numbers epsilons;
    uint64_t domain, threads; /* 0: not given */
    int sizes;                /* enum discovery_sizes */
    struct discovery_grid grid;
    struct simulate_files files;
    enum table_format format;

    struct discovery_data people[CLI_LIST_MAX]; /* owned */
    struct discovery_result *rows;              /* owned */
    size_t nrows;
    struct cli_progress progress;
};

/* ---- Running ------------------------------------------------------------- */

/* Fields of a spec or a search, and the options that set them; any other is the
 * mechanism's. */
static const struct cli_field_option discover_fields[] = {
    {HSY_FIELD_FIRST, "--first"},    {HSY_FIELD_BITS, "--bits"},
    {HSY_FIELD_STEP, "--step"},      {HSY_FIELD_TOP, "--top"},
    {HSY_FIELD_KEEP, "--keep"},      {HOST_FIELD_USERS, "--users"},
    {HSY_FIELD_GROUP, "--users"},    {HSY_FIELD_POOL_BITS, "--pool-bits"},
    {HSY_FIELD_EPSILON, "--epsilon"}};

#define DISCOVER_FIELDS (sizeof discover_fields / sizeof discover_fields[0])

static int discover_refused(const char *asked, const hsy_error *err)
{
    if (err->status == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (err->field == HSY_FIELD_NONE)
        return cli_fail_error(NULL, err);
    if (err->field == HSY_FIELD_MAX_CANDIDATES)
        return cli_fail("a stage would have %" PRIu64
                        " candidates; allow them with --max-candidates (at "
                        "most 16777216), or lower --top, --keep or --step",
                        err->limit);
    if (err->field == HOST_FIELD_MEMORY)
        return cli_fail("--mechanism %s: %s: lower --threads", asked, err->msg);
    for (size_t i = 0; i < DISCOVER_FIELDS; i++)
        if (err->field == discover_fields[i].field)
            return cli_fail("%s: %s", discover_fields[i].option, err->msg);
    return cli_fail("--mechanism %s: %s", asked, err->msg);
}

static int discover_figure(const struct simulate_discover *s)
{
    struct cli_figure f = {0};

    return cli_finish_figure(
        s->files.figure, s->files.plot,
        discovery_svg(&f.svg, &f.len, s->rows, s->nrows, &f.err), &f);
}

/* Every row: first only whether all makes sense, then for real. */
static int discover_rows(struct simulate_discover *s, bool try)
{
    hsy_error err = {0};
    const hsy_status st =
        try ? discovery_grid_check(&s->grid, &err)
            : discovery_grid_run(&s->grid, s->rows, &s->nrows, &err);

    return st == HSY_OK ? CLI_DONE : discover_refused(s->grid.refused, &err);
}

static int discover_all(struct simulate_discover *s)
{
    int code = discover_rows(s, true);

    s->progress = (struct cli_progress){
        .what = "people", .total = discovery_grid_people(&s->grid)};
    if (code == CLI_DONE)
        code = simulate_files_open(&s->files);
    s->grid.dump = s->files.dumped;
    if (code == CLI_DONE)
        code = discover_rows(s, false);
    cli_progress_end(&s->progress);
    code = simulate_files_end(&s->files, code);
    if (code == CLI_DONE && s->files.figure != NULL)
        code = discover_figure(s);
    if (code != CLI_DONE)
        return code;
    discovery_print(stdout, s->format, &s->grid, s->rows, s->nrows);
    return cli_finish();
}

/* ---- People -------------------------------------------------------------- */

/* How many different truths a distribution has. */
static uint64_t discover_domain(const struct simulate_discover *s)
{
    const uint64_t bits = s->grid.how.batches.bits;

    if (s->domain != 0)
        return s->domain;
    if (!s->grid.integers)
        return 1000000;
    return bits < 22 ? (uint64_t)1 << bits : HSY_VALUES_MAX;
}

static int discover_distribution(struct simulate_discover *s,
                                 struct cli_parser *p, size_t i)
{
    const hsy_spec question = {.size = sizeof question,
                               .kind = HSY_KIND_VALUES,
                               .d = (uint32_t)discover_domain(s)};
    struct study_data data = {0};
    hsy_error err = {0};

    if (study_data_parse(&data, s->data.at[i], &err) == HSY_OK)
        (void)study_people_open(&s->people[i].people, &data, &question, &err);
    if (err.status == HSY_OK)
        return CLI_DONE;
    if (err.status == HSY_E_NOMEM)
        return cli_fail_nomem();
    return cli_usage(p, "--data %.64s: %s", s->data.at[i], err.msg);
}

static int discover_file(struct simulate_discover *s, size_t i,
                         const char *path)
{
    struct study_file file;
    hsy_error err = {0};
    const int fd = cli_open_input(path);
    hsy_status st;

    if (fd < 0)
        return CLI_FAILED;
    st = study_file_strings(&file, s->grid.how.batches.bits, s->grid.integers,
                            fd, &err);
    cli_close_input(fd);
    s->people[i].people = file.people;
    s->people[i].counted = file.users;
    return st == HSY_OK ? CLI_DONE
                        : simulate_file_refused(path, file.wrong, &err);
}

static int discover_people(struct simulate_discover *s, struct cli_parser *p)
{
    int code = CLI_DONE;

    for (size_t i = 0; code == CLI_DONE && i < s->data.n; i++) {
        const char *name = s->people[i].name = s->data.at[i];

        code = strncmp(name, "file:", 5) == 0 ? discover_file(s, i, name + 5)
                                              : discover_distribution(s, p, i);
        if (code == CLI_DONE && s->people[i].counted != 0 &&
            s->grid.users == 0 && s->grid.how.batches.rounds > 1)
            code = cli_usage(p, "--rounds needs --users, the number of people "
                                "to draw from the file for each");
    }
    return code;
}

/* ---- The command --------------------------------------------------------- */

/* What goes with what. */
static const char *discover_conflict(const struct simulate_discover *s)
{
    const uint64_t bits = s->grid.how.batches.bits;

    if (s->grid.integers && bits < 22 && s->domain > (uint64_t)1 << bits)
        return "--domain: more than the integers of --bits bits";
    if (s->data.n * s->mechanisms.n * s->epsilons.n > SIMULATE_ROWS_MAX)
        return "more than 4096 rows; shorten the lists";
    return NULL;
}

/* What stands for all mechanisms if none is named. */
static const char *discover_default(const struct discovery_grid *g)
{
    if (g->how.batches.asked)
        return "auto";
    return g->method.oracle != NULL ? g->method.oracle : g->method.rule;
}

static void discover_settle(struct simulate_discover *s)
{
    struct discovery_grid *g = &s->grid;

    if (s->epsilons.n == 0)
        s->epsilons.at[s->epsilons.n++] = HSY_NANO;
    if (s->mechanisms.n == 0)
        s->mechanisms.at[s->mechanisms.n++] = discover_default(g);
    g->how.batches.sizes = (enum discovery_sizes)s->sizes;
    discovery_settle(&g->how, &g->method);
    g->data = s->people;
    g->ndata = s->data.n;
    g->mechanisms = s->mechanisms.at;
    g->nmechanisms = s->mechanisms.n;
    g->epsilons = s->epsilons.at;
    g->nepsilons = s->epsilons.n;
    if (s->threads == 0)
        s->threads = simulate_cores();
    if (s->threads > g->how.runs)
        s->threads = g->how.runs;
    g->how.threads = (unsigned)s->threads;
    g->how.tick = cli_progress_add;
    g->how.ctx = &s->progress;
}

static void discover_end(struct simulate_discover *s)
{
    for (size_t i = 0; i < s->nrows; i++)
        discovery_close(&s->rows[i]);
    for (size_t i = 0; i < s->data.n; i++)
        study_people_close(&s->people[i].people);
    free(s->rows);
}

/* The verb is the method. */
static int discover_run(void *to)
{
    struct simulate_discover *s = to;
    const char *conflict;
    int code;

    (void)discovery_method(&s->grid.method, s->parser.verb->name, NULL);
    discover_settle(s);
    conflict = discover_conflict(s);
    if (conflict != NULL)
        return cli_usage(&s->parser, "%s", conflict);
    s->rows =
        calloc(s->data.n * s->mechanisms.n * s->epsilons.n, sizeof *s->rows);
    code = s->rows != NULL ? discover_people(s, &s->parser) : cli_fail_nomem();
    return code == CLI_DONE ? discover_all(s) : code;
}

/* As enum discovery_sizes. */
static const char *const discover_sizes[] = {"equal", "rising", "diminishing",
                                             NULL};

#define DISCOVER(member) offsetof(struct simulate_discover, member)

static const struct cli_option discover_options[] = {
    {"interactive", NULL,
     "search in batches: each batch is asked about extensions of the prefixes "
     "found before",
     CLI_INTO_FLAG, DISCOVER(grid.how.batches.asked), .verbs = "pem",
     .without = "first pool-bits"},
    {"sizes", "equal|rising|diminishing",
     "sizes of the batches: equal, rising evenly to 3 times the first, or "
     "diminishing to 1/3",
     CLI_INTO_CHOICE, DISCOVER(sizes), .words = discover_sizes,
     .preset = "equal", .with = "interactive"},
    {"rounds", "R",
     "repeat every batch R times with new people and average the scores",
     CLI_INTO_COUNT, DISCOVER(grid.how.batches.rounds), 1, 1000, .preset = "1",
     .with = "interactive"},
    {"bits", "M", "bits of a string", CLI_INTO_COUNT,
     DISCOVER(grid.how.batches.bits), 2, 64, .preset = "48"},
    {"integers", NULL,
     "use each truth as its own string of M bits (default: M random bits; "
     "lines of a file as they are)",
     CLI_INTO_FLAG, DISCOVER(grid.integers)},
    {"step", "N", "bits added per group (default 8)", CLI_INTO_COUNT,
     DISCOVER(grid.how.batches.step), 1, 63},
    {"first", "N",
     "bits before the first step (default: enough for --top values; 0 with "
     "--interactive)",
     CLI_INTO_COUNT, DISCOVER(grid.how.batches.first), 1, 63},
    {"pool-bits", "N", "2^N public hashes per group or batch (default 16)",
     CLI_INTO_COUNT, DISCOVER(grid.how.spec.param[HSY_PARAM_POOL_BITS]), 1,
     HSY_POOL_BITS_MAX},
    {"top", "K", "number of strings to find", CLI_INTO_COUNT,
     DISCOVER(grid.how.search.top), 1, HSY_SEARCH_TOP_MAX, .preset = "16"},
    {"keep", "N", "keep N times K prefixes at inner stages", CLI_INTO_COUNT,
     DISCOVER(grid.how.search.keep), 1, HSY_SEARCH_KEEP_MAX, .preset = "2"},
    {"significant", NULL, "return only significant strings", CLI_INTO_FLAG,
     DISCOVER(grid.how.search.significant)},
    {"max-candidates", "N", "most candidates of a stage", CLI_INTO_COUNT,
     DISCOVER(grid.how.search.max_candidates), 1, HSY_SEARCH_CANDIDATES_MAX,
     .preset = "262144"},
    {"data", "D,...",
     "distribution of strings: zipf:S, geometric:P, poisson:L, uniform, "
     "uniform:LO:HI, gaussian:M:SD or file:PATH",
     CLI_INTO_WORDS, DISCOVER(data), .hints = SIMULATE_DATA " file:"},
    {"domain", "K", "number of different strings (default 1000000, or 2^M)",
     CLI_INTO_COUNT, DISCOVER(domain), 2, HSY_VALUES_MAX},
    {"users", "N", "people per round (default 1000000, or the file's)",
     CLI_INTO_COUNT, DISCOVER(grid.users), 1, STUDY_EACH_MAX / 1000},
    {"mechanism", "A,...",
     "mechanism: olh (grr for small groups), blh, cms, hcms, others for few "
     "bits; with --interactive any for values (default auto)",
     CLI_INTO_CALL, DISCOVER(mechanisms), .call = simulate_mechanisms},
    {"epsilon", "E,...", "epsilon of one report (default 1)", CLI_INTO_EPSILONS,
     DISCOVER(epsilons), .hints = "1 2 ln3"},
    {"runs", "R", "number of simulated populations", CLI_INTO_COUNT,
     DISCOVER(grid.how.runs), 1, STUDY_RUNS_MAX, .preset = "20"},
    SIMULATE_ROWS(DISCOVER(grid.how.seed), DISCOVER(threads)),
    {"plot", "FILE.svg", "plot NDCG against epsilon (.svg or .png)",
     CLI_INTO_TEXT, DISCOVER(files.plot)},
    {"dump", "FILE.csv", "write the result of every run", CLI_INTO_TEXT,
     DISCOVER(files.dump)},
    CLI_FORMAT_ROW(DISCOVER(format)),
    {0}};

static const struct cli_verb discover_verbs[] = {
    {"pem", NULL, "--data D [--interactive] [options]", "data", discover_run,
     .about = "Search by extending prefixes (PEM)."},
    {"treehist", NULL, "--data D [options]", "data", discover_run,
     .about = "Search by PEM with hcms, one bit per group (TreeHist)."},
    {"sfp", NULL, "--words FILE --data D [options]", .own = simulate_puzzle,
     .about =
         "Solve Apple's sequence fragment puzzle ('discover sfp --help')."},
    {0}};

static const struct cli_command discover_command = {
    "simulate discover",
    NULL,
    "Let simulated people report prefixes of their strings, search for the "
    "frequent\nstrings and compare the result with the truly frequent ones, "
    "for every\ndistribution, mechanism and epsilon. Each person reports once, "
    "through the\ncode that real devices use.",
    discover_options,
    .verbs = discover_verbs,
    .apart = true};

int simulate_discover(int argc, char **argv)
{
    struct simulate_discover s = {
        .grid.how = {.spec = {.size = sizeof(hsy_spec)},
                     .search = {.size = sizeof(hsy_search)}}};
    const int code = cli_run(&s.parser, &discover_command, argc, argv, &s);

    discover_end(&s);
    return code;
}
