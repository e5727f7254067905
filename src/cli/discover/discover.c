/* discover.c - hearsay discover: a tally of pem or sfp in, frequent strings
 * out; and before that, how many people it takes. */
#include "cli/discover/internal.h"

#include "host/base/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Searching ----------------------------------------------------------- */

/* What a search by stages refuses, in the words of the options. */
static int discover_refused_stages(const hsy_search *search,
                                   const hsy_error *err)
{
    if (err->field == HSY_FIELD_MAX_CANDIDATES)
        return cli_fail(
            "a stage would have %" PRIu64 " candidates, more than the limit of "
            "%" PRIu64 "; raise it with --max-candidates (at most 16777216), "
            "or lower --top or --keep",
            err->limit,
            search->max_candidates != 0 ? search->max_candidates
                                        : HSY_SEARCH_CANDIDATES);
    if (err->field == HSY_FIELD_TOP)
        return cli_fail("--top: %s; at most %" PRIu64, err->msg, err->limit);
    return cli_fail_error(NULL, err);
}

/* What the fragment puzzle refuses. */
static int discover_refused_puzzle(const hsy_search *search,
                                   const hsy_error *err)
{
    const uint64_t limit = search->max_candidates != 0 ? search->max_candidates
                                                       : HSY_SEARCH_CANDIDATES;

    if (err->field == HSY_FIELD_PAIRS)
        return cli_fail("an offset has %" PRIu64 " pairs of a puzzle piece and "
                        "a fragment, more than the limit of %" PRIu64
                        "; raise it with --max-candidates (at most 16777216)",
                        err->limit, limit);
    if (err->field == HSY_FIELD_MAX_CANDIDATES)
        return cli_fail("%" PRIu64 " words could be joined, more than the "
                        "limit of %" PRIu64 "; raise it with --max-candidates "
                        "(at most 16777216), or lower --threshold or --alpha",
                        err->limit, limit);
    return cli_fail_error(NULL, err);
}

int discover_refused(const struct discover_options *o, bool puzzle,
                     const hsy_error *err)
{
    return puzzle ? discover_refused_puzzle(&o->search, err)
                  : discover_refused_stages(&o->search, err);
}

static bool discover_is_puzzle(const struct gather *g)
{
    return g->info.analysis == HSY_ANALYSIS_PUZZLE;
}

/* Print, and then draw. */
static int discover_tell(const struct discover_options *o,
                         const struct discover_found *r, struct output **figure)
{
    struct output *out = *figure;
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    hsy_status st;
    int failed;

    discover_print(stdout, o->format, r);
    failed = cli_finish();
    if (failed || out == NULL)
        return failed;
    *figure = NULL;
    st = discover_svg(&svg, &len, r, &err);
    return cli_finish_figure(out, o->plot, st, svg, len, &err);
}

/* Options that go with another mechanism's search. */
static int discover_fits(const struct discover_options *o,
                         const struct gather *g)
{
    if (hsy_stage_number(g->scheme) != 0)
        return o->all_stages || o->all || o->threshold != 0
                   ? cli_fail("%s: a tally in batches is of one stage: "
                              "--all-stages goes with pem, --all and "
                              "--threshold with sfp",
                              g->first)
                   : 0;
    if (discover_is_puzzle(g) && (o->search.keep != 0 || o->all_stages))
        return cli_fail("--keep and --all-stages go with reports of pem, which "
                        "has stages; these are of sfp");
    if (discover_is_puzzle(g))
        return o->all && o->search.significant
                   ? cli_fail("--significant and --all contradict each other")
                   : 0;
    if (o->all || o->threshold != 0)
        return cli_fail("--all and --threshold go with reports of sfp");
    if (g->info.analysis != HSY_ANALYSIS_SEARCH)
        return cli_fail("%s: strings are discovered from reports of pem or "
                        "sfp, and these are of %s; 'randomize --strings "
                        "--mechanism pem' makes them",
                        g->first, g->info.mechanism);
    return 0;
}

static int discover_failed(const struct discover_options *o,
                           const struct gather *g,
                           const struct analysis_search *got,
                           const hsy_error *err)
{
    if (err->status == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (err->status == HSY_E_EMPTY && err->unit == HSY_UNIT_GROUP)
        return cli_fail("%s: %s %" PRIu64 " of %zu has no reports: more "
                        "people are needed",
                        g->first, got->offsets != 0 ? "offset" : "group",
                        err->at, analysis_groups(got));
    if (err->status != HSY_E_RANGE || err->field == HSY_FIELD_NONE)
        return cli_fail_error(g->first, err);
    return discover_refused(o, discover_is_puzzle(g), err);
}

static int discover_any(const struct discover_options *o, struct gather *g,
                        struct output **figure)
{
    const struct analysis_wanted wanted = {.search = o->search,
                                           .how = o->how,
                                           .significant = o->search.top == 0,
                                           .simultaneous = o->simultaneous,
                                           .all_stages = o->all_stages,
                                           .all = o->all,
                                           .threshold = o->threshold};
    const hsy_analysis_tally t = gathered(g);
    struct analysis_search got = {0};
    const struct discover_found found = {.tally = &t,
                                         .got = &got,
                                         .level = o->how.level,
                                         .simultaneous = o->simultaneous,
                                         .all_stages = o->all_stages,
                                         .miss = o->aim.miss};
    hsy_error err = {0};
    int failed = discover_fits(o, g);

    if (failed)
        return failed;
    failed = analysis_search(&got, &t, &wanted, &err) == HSY_OK
                 ? discover_tell(o, &found, figure)
                 : discover_failed(o, g, &got, &err);
    analysis_search_clear(&got);
    return failed;
}

/* The figure is opened first: a wrong path does not cost the search. */
static int discover_run(const struct discover_options *o, struct gather *g)
{
    struct output *figure = NULL;
    int failed = 0;

    if (hsy_tally_reports(&g->tally) == 0)
        return cli_fail("%s: no data: it holds no reports", g->first);
    if (o->plot != NULL)
        failed = cli_open_output(&figure, o->plot);
    if (!failed)
        failed = discover_any(o, g, &figure);
    output_abort(figure);
    return failed;
}

/* ---- Planning ------------------------------------------------------------ */

static int discover_planned(const struct discover_options *o,
                            const hsy_scheme *s)
{
    const hsy_puzzle how = {.size = sizeof how,
                            .top = o->search.top,
                            .threshold = o->threshold,
                            .all = o->all,
                            .alpha = o->search.alpha,
                            .max_candidates = o->search.max_candidates};
    struct discover_plan plan;
    hsy_error err = {0};
    hsy_scheme_info info;
    hsy_status st;
    bool puzzle;

    hsy_scheme_describe(s, &info);
    puzzle = info.analysis == HSY_ANALYSIS_PUZZLE;
    st = puzzle ? discover_plan_puzzle(&plan, s, &how, &o->aim, &err)
                : discover_plan_groups(&plan, s, &o->search, &o->aim, &err);
    if (st != HSY_OK)
        return discover_refused(o, puzzle, &err);
    discover_plan_print(stdout, o->format, &plan, &info, &o->aim);
    return cli_finish();
}

static int discover_plan(const struct discover_options *o,
                         struct cli_spec *spec, struct cli_parser *p)
{
    hsy_scheme *s = NULL;
    int failed;

    spec->strings = true;
    if (spec->spec.mechanism == NULL)
        spec->spec.mechanism = "pem";
    failed = cli_spec_finish(spec, p);
    if (!failed)
        failed = cli_scheme_new(&s, &spec->spec);
    if (!failed)
        failed = discover_planned(o, s);
    free(s);
    return failed;
}

/* ---- Options ------------------------------------------------------------- */

struct discover_asked {
    struct discover_options o;
    struct cli_spec spec;
    char **files; /* operands, in the place of arguments that were read */
    int nfiles;
};

/* --bits and --step, without --set. */
static bool discover_param(struct cli_parser *p, void *to)
{
    return cli_spec_param(&((struct discover_asked *)to)->spec, p);
}

static bool discover_operand(struct cli_parser *p, void *to)
{
    struct discover_asked *a = to;

    a->files[a->nfiles++] = p->argv[p->at - 1];
    return true;
}

#define DISCOVER(member) offsetof(struct discover_asked, member)

static const struct cli_option discover_options[] = {
    {0, "top", "K",
     "the K largest, chance or not; of sfp K at most\n"
     "(default: strings that chance hardly makes, at most\n"
     "16, of sfp all)",
     CLI_INTO_COUNT, DISCOVER(o.search.top), 1, HSY_SEARCH_TOP_MAX},
    {0, "significant", NULL,
     "only what chance hardly makes, at every stage and\n"
     "with --top too (sfp does so anyway)",
     CLI_INTO_FLAG, DISCOVER(o.search.significant)},
    {0, "alpha", "A",
     "how hardly: a stage takes any prefix that nobody has\n"
     "with this chance (default 0.05)",
     CLI_INTO_SHARE, DISCOVER(o.search.alpha)},
    {0, "keep", "N",
     "N times K prefixes go from an inner stage to the next\n"
     "(default 2)",
     CLI_INTO_COUNT, DISCOVER(o.search.keep), 1, HSY_SEARCH_KEEP_MAX},
    {0, "level", "L", "of the intervals (default 0.95)", CLI_INTO_SHARE,
     DISCOVER(o.how.level)},
    {0, "simultaneous", NULL,
     "intervals that hold for all candidates together, so\n"
     "also for those that were picked",
     CLI_INTO_FLAG, DISCOVER(o.simultaneous)},
    {0, "all-stages", NULL, "the prefixes of every stage too", CLI_INTO_FLAG,
     DISCOVER(o.all_stages)},
    {0, "threshold", "T",
     "sfp: at most T pairs of an offset go on (default: as\n"
     "many as are more than chance makes; with --all 20)",
     CLI_INTO_COUNT, DISCOVER(o.threshold), 1, HSY_PUZZLE_PAIRS_MAX},
    {0, "all", NULL, "sfp: pairs and words, chance or not", CLI_INTO_FLAG,
     DISCOVER(o.all)},
    {0, "max-candidates", "N",
     "of a stage, up to 16777216 (default 262144): time\n"
     "and memory grow with it",
     CLI_INTO_COUNT, DISCOVER(o.search.max_candidates), 1,
     HSY_SEARCH_CANDIDATES_MAX},
    {0, "plot", "FILE.svg", "write what was found as a figure", CLI_INTO_TEXT,
     DISCOVER(o.plot)},
    {0, "plan", NULL, "how many people it takes, before any is asked; with:",
     CLI_INTO_FLAG, DISCOVER(o.plan)},
    {0, "frequency", "F", "... share of people that hold a string to be found",
     CLI_INTO_SHARE, DISCOVER(o.aim.frequency)},
    {0, "miss", "B", "... chance to miss it at a stage (default 0.05)",
     CLI_INTO_SHARE, DISCOVER(o.aim.miss)},
    {CLI_OPT_EPSILON, "epsilon", "E", "... privacy of one report"},
    {CLI_OPT_MECHANISM, "mechanism", "pem|sfp", "... (default pem)"},
    {0, "bits", "M", "... of a string (default 48; sfp: 10 symbols)",
     CLI_INTO_CALL, DISCOVER(spec), .call = discover_param},
    {0, "step", "N", "... of a stage", CLI_INTO_CALL, DISCOVER(spec),
     .call = discover_param},
    {CLI_OPT_ALPHABET, "alphabet", "SET",
     "... bytes of the strings, as a-z0-9 or \\x00-\\x1f"},
    {CLI_OPT_ORACLE, "oracle", "NAME",
     "... the mechanism that asks for prefixes, or the\nsketch of sfp"},
    {CLI_OPT_SET, "set", "KEY=VALUE...",
     "... a parameter of pem or sfp, as for randomize"},
    CLI_FORMAT_ROW(DISCOVER(o.format)),
    {0}};

static const struct cli_command discover_command = {
    "discover",
    "[options] [FILE...] | --plan --epsilon E --frequency F [options] | "
    "--start|--next|--batches ... (in batches: --next --help)",
    "Find the frequent strings in tallies or reports of the mechanisms pem "
    "and sfp:\n"
    "strings that nobody listed beforehand, with their shares and intervals. "
    "Of a\nsearch in batches, what one stage has found.",
    discover_options,
    .operand = discover_operand,
    .spec = DISCOVER(spec)};

static int discover_check(struct cli_parser *p,
                          const struct discover_options *o,
                          const struct cli_spec *spec, int files)
{
    if (o->plan && !spec->has_epsilon)
        return cli_usage(p, "--plan needs --epsilon E");
    if (o->plan && !cli_given(p, "frequency"))
        return cli_usage(p, "--plan needs --frequency F: the share of people "
                            "that hold a string to be found");
    if (o->plan && o->plot != NULL)
        return cli_usage(p, "--plot draws what was found, and --plan searches "
                            "nothing");
    if (o->plan && files != 0)
        return cli_usage(p, "--plan reads no file: it goes before collecting");
    if (!o->plan &&
        (spec->has_epsilon || spec->params != 0 || spec->has_alphabet ||
         spec->spec.oracle != NULL || spec->spec.mechanism != NULL ||
         cli_given(p, "frequency") || cli_given(p, "miss")))
        return cli_usage(p, "--epsilon, --mechanism, --bits, --step, --set, "
                            "--alphabet, --oracle, --frequency and --miss go "
                            "with --plan; "
                            "a tally has its own parameters");
    return 0;
}

static int discover_do(struct discover_asked *a, struct cli_parser *p)
{
    struct gather g = {0};
    int failed = discover_check(p, &a->o, &a->spec, a->nfiles);

    if (!failed && a->o.plan)
        return discover_plan(&a->o, &a->spec, p);
    if (!failed)
        failed = cli_gather_files(&g, p, a->files, a->nfiles);
    if (!failed)
        failed = discover_run(&a->o, &g);
    gather_clear(&g);
    return failed;
}

int cmd_discover(int argc, char **argv)
{
    struct discover_asked a = {.o = {.search = {.size = sizeof(hsy_search)},
                                     .how.level = 0.95,
                                     .aim.miss = 0.05},
                               .files = argv};
    struct cli_parser p;
    int failed;

    if (discover_batched(argc, argv))
        return discover_batches(argc, argv);
    failed = cli_read(&p, &discover_command, argc, argv, &a)
                 ? discover_do(&a, &p)
                 : p.exit;
    cli_spec_clear(&a.spec);
    return failed;
}
