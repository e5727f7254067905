/* simulate_puzzle.c - hearsay simulate discover sfp: how well the fragment
 * puzzle finds words among people whose words are known. */
#include "cli/simulate/internal.h"
#include "sim/discovery/discovery.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct simulate_puzzle {
    const char *data, *words;
    struct cli_numbers epsilons;
    uint64_t threads;
    struct cli_spec spec;
    struct discovery how;
    enum table_format format;

    struct labels list;           /* owned */
    struct discovery_word *taken; /* owned */
    uint32_t left;                /* words left out */
    struct study_people people;   /* owned */
    struct discovery_result rows[CLI_LIST_MAX];
    struct cli_progress progress;
};

/* ---- Running ------------------------------------------------------------- */

/* The field of a spec or a search that is wrong, as the option to change. */
static int puzzle_refused(const hsy_error *err)
{
    char room[CLI_OPTION];
    const char *option = cli_option_of(room, err->field, NULL, 0);

    if (err->status == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (err->field == HSY_FIELD_NONE)
        return cli_fail_error(NULL, err);
    if (err->field == HSY_FIELD_PAIRS || err->field == HSY_FIELD_MAX_CANDIDATES)
        return cli_fail("%s: %" PRIu64 "; allow them with --max-candidates (at "
                        "most 16777216), or lower --threshold or --set "
                        "fragment-bits",
                        err->msg, err->limit);
    if (option == NULL)
        return cli_fail("--%s: %s", host_field_name(err->field), err->msg);
    return cli_fail("%s: %s", option, err->msg);
}

static int puzzle_run(struct simulate_puzzle *s)
{
    s->progress = (struct cli_progress){.what = "people",
                                        .total = (double)s->how.users *
                                                 (double)s->how.runs *
                                                 (double)s->epsilons.n};
    s->how.people = &s->people;
    s->how.tick = cli_progress_add;
    s->how.ctx = &s->progress;
    for (size_t e = 0; e < s->epsilons.n; e++) {
        hsy_error err = {0};

        s->how.spec.nano_epsilon = s->epsilons.at[e];
        if (discovery_run(&s->rows[e], &s->how, &err) != HSY_OK) {
            cli_progress_end(&s->progress);
            return puzzle_refused(&err);
        }
    }
    cli_progress_end(&s->progress);
    discovery_print_puzzles(stdout, s->format, &s->how, s->rows, s->epsilons.n,
                            s->left);
    return cli_finish();
}

/* The words of the list that can be spelled. */
static int puzzle_take(struct simulate_puzzle *s)
{
    hsy_spec spec = s->how.spec;
    hsy_error err = {0};

    spec.nano_epsilon = s->epsilons.at[0];
    if (discovery_words(&s->taken, &s->how.nwords, &s->list, &spec, &err) !=
        HSY_OK)
        return cli_scheme_refused(&spec, &err);
    s->left = s->list.d - (uint32_t)s->how.nwords;
    s->how.words = s->taken;
    if (s->how.nwords < 2)
        return cli_fail("%s: fewer than two words can be spelled; see "
                        "--alphabet and --set bits",
                        cli_input_name(s->words));
    return 0;
}

static int puzzle_people(struct simulate_puzzle *s, struct cli_parser *p)
{
    const hsy_spec question = {.size = sizeof question,
                               .kind = HSY_KIND_VALUES,
                               .d = (uint32_t)s->how.nwords};
    struct study_data data = {0};
    hsy_error err = {0};

    if (study_data_parse(&data, s->data, &err) == HSY_OK)
        (void)study_people_open(&s->people, &data, &question, &err);
    if (err.status == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (err.status != HSY_OK)
        return cli_usage(p, "--data: %s", err.msg);
    return puzzle_run(s);
}

/* ---- Options ------------------------------------------------------------- */

#define PUZZLE(member) offsetof(struct simulate_puzzle, member)

static const struct cli_option puzzle_options[] = {
    {"words", "FILE",
     "words of the people, one per line; words that the alphabet cannot spell "
     "are left out",
     CLI_INTO_TEXT, PUZZLE(words)},
    CLI_SPEC_AS("alphabet", NULL, "alphabet of the words (default a-z)"),
    {"data", "D",
     "distribution over the words, which each run reorders: zipf:S, "
     "geometric:P, poisson:L, uniform, uniform:LO:HI or gaussian:M:SD",
     CLI_INTO_TEXT, PUZZLE(data), .hints = SIMULATE_DATA},
    {"users", "N", "number of people", CLI_INTO_COUNT, PUZZLE(how.users), 1,
     STUDY_EACH_MAX, .preset = "1e6"},
    {"epsilon", "E,...",
     "epsilon of one report, fragment and word together (default 8)",
     CLI_INTO_EPSILONS, PUZZLE(epsilons), .hints = "4 8"},
    CLI_SPEC_AS("set", NULL,
                "parameters of sfp: bits piece-bits fragment-bits fragments "
                "word-share hashes width pool-seed"),
    CLI_SPEC_AS("oracle", "cms|hcms", "mechanism of the sketch (default cms)"),
    {"top", "K", "compare the first K with the K most frequent", CLI_INTO_COUNT,
     PUZZLE(how.search.top), 1, HSY_SEARCH_TOP_MAX, .preset = "10"},
    {"threshold", "T",
     "keep at most T pairs per offset (default: all significant ones; with "
     "--all 20)",
     CLI_INTO_COUNT, PUZZLE(how.puzzle.threshold), 1, HSY_PUZZLE_PAIRS_MAX},
    {"all", NULL, "keep pairs and words even if not significant", CLI_INTO_FLAG,
     PUZZLE(how.puzzle.all)},
    {"alpha", "A",
     "family-wise false-positive rate for pairs, and for words (default 0.05)",
     CLI_INTO_SHARE, PUZZLE(how.puzzle.alpha), .hints = "1% 5%"},
    {"max-candidates", "N",
     "most pairs per offset, and most words (default 262144)", CLI_INTO_COUNT,
     PUZZLE(how.puzzle.max_candidates), 1, HSY_SEARCH_CANDIDATES_MAX},
    {"runs", "R", "number of simulated populations", CLI_INTO_COUNT,
     PUZZLE(how.runs), 1, STUDY_RUNS_MAX, .preset = "5"},
    SIMULATE_ROWS(PUZZLE(how.seed), PUZZLE(threads)),
    CLI_FORMAT_ROW(PUZZLE(format)),
    {0}};

static const struct cli_command puzzle_command = {
    "simulate discover sfp",
    "--words FILE --data D [options]",
    "Let simulated people report their words and fragments of them, solve "
    "the\npuzzle and compare the words found with those that people have. Each "
    "person\nreports individually, through the code that real devices use.",
    puzzle_options,
    .needs = "words data",
    .spec = PUZZLE(spec)};

static void puzzle_settle(struct simulate_puzzle *s)
{
    hsy_spec *spec = &s->how.spec;

    if (s->epsilons.n == 0)
        s->epsilons.at[s->epsilons.n++] = 8 * (uint64_t)HSY_NANO;
    memcpy(spec->param, s->spec.spec.param, sizeof spec->param);
    spec->oracle = s->spec.spec.oracle;
    memcpy(spec->alphabet, s->spec.spec.alphabet, sizeof spec->alphabet);
    if (!s->spec.has_alphabet)
        (void)hsy_alphabet_parse(spec->alphabet, "a-z", 3, NULL);
    if (s->threads == 0)
        s->threads = simulate_cores();
    if (s->threads > s->how.runs)
        s->threads = s->how.runs;
    s->how.threads = (unsigned)s->threads;
}

static int puzzle_all(struct simulate_puzzle *s, struct cli_parser *p)
{
    int failed;

    if (s->spec.spec.design != HSY_DESIGN_EPSILON)
        return cli_usage(p, "--set takes only parameters of sfp");
    puzzle_settle(s);
    failed = cli_labels_read(&s->list, s->words);
    if (!failed)
        failed = puzzle_take(s);
    if (!failed)
        failed = puzzle_people(s, p);
    return failed;
}

int simulate_puzzle(int argc, char **argv)
{
    struct simulate_puzzle s = {
        .how = {.spec = {.size = sizeof(hsy_spec),
                         .mechanism = "sfp",
                         .kind = HSY_KIND_STRINGS},
                .puzzle = {.size = sizeof(hsy_puzzle)},
                .search = {.size = sizeof(hsy_search)}}};
    struct cli_parser p;
    const int code = cli_read(&p, &puzzle_command, argc, argv, &s)
                         ? puzzle_all(&s, &p)
                         : p.exit;

    for (size_t e = 0; e < s.epsilons.n; e++)
        discovery_close(&s.rows[e]);
    study_people_close(&s.people);
    labels_clear(&s.list);
    cli_spec_clear(&s.spec);
    free(s.taken);
    return code;
}
