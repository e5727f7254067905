/* discover.c - hearsay discover: a tally of pem or sfp in, frequent strings
 * out (show); and before that, how many people it takes (plan). */
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
        return cli_fail("--top: %s; use at most %" PRIu64, err->msg,
                        err->limit);
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

int discover_refused(const hsy_search *search, bool puzzle,
                     const hsy_error *err)
{
    return puzzle ? discover_refused_puzzle(search, err)
                  : discover_refused_stages(search, err);
}

static bool discover_is_puzzle(const struct gather *g)
{
    return g->info.analysis == HSY_ANALYSIS_PUZZLE;
}

/* Print, and then draw. */
static int discover_tell(const struct discover_how *o,
                         const struct discover_found *r, struct output **figure)
{
    struct output *out = *figure;
    struct cli_figure f = {0};
    int failed;

    discover_print(stdout, o->format, r);
    failed = cli_finish();
    if (failed || out == NULL)
        return failed;
    *figure = NULL;
    return cli_finish_figure(out, o->plot,
                             discover_svg(&f.svg, &f.len, r, &f.err), &f);
}

/* Options that go with another mechanism's search. */
static int discover_fits(const struct discover_how *o, const struct gather *g)
{
    if (hsy_stage_number(g->scheme) != 0)
        return o->all_stages || o->all || o->threshold != 0
                   ? cli_fail("%s: this is a tally of one stage of a search in "
                              "batches; --all-stages is only for pem, --all "
                              "and --threshold for sfp",
                              g->first)
                   : 0;
    if (discover_is_puzzle(g) && (o->search.keep != 0 || o->all_stages))
        return cli_fail("--keep and --all-stages are only for pem, which has "
                        "stages; these reports are made by sfp");
    if (discover_is_puzzle(g))
        return 0;
    if (o->all || o->threshold != 0)
        return cli_fail("--all and --threshold are only for reports of sfp");
    if (g->info.analysis != HSY_ANALYSIS_SEARCH)
        return cli_fail(
            "%s: discover needs reports of pem or sfp, and these are made by "
            "%s; use 'randomize --strings --mechanism pem'",
            g->first, g->info.mechanism);
    return 0;
}

static int discover_failed(const struct discover_how *o, const struct gather *g,
                           const struct analysis_search *got,
                           const hsy_error *err)
{
    if (err->status == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (err->status == HSY_E_EMPTY && err->unit == HSY_UNIT_GROUP)
        return cli_fail("%s: %s %" PRIu64
                        " of %zu has no reports; ask more people",
                        g->first, got->offsets != 0 ? "offset" : "group",
                        err->at, analysis_groups(got));
    if (err->status != HSY_E_RANGE || err->field == HSY_FIELD_NONE)
        return cli_fail_error(g->first, err);
    return discover_refused(&o->search, discover_is_puzzle(g), err);
}

static void discover_tick(void *ctx, uint64_t stage, size_t stages)
{
    struct cli_progress *p = ctx;

    p->total = (double)stages;
    cli_progress_set(p, stage);
}

static int discover_any(const struct discover_how *o, struct gather *g,
                        struct output **figure)
{
    struct cli_progress progress = {.what = "stages"};
    const struct analysis_wanted wanted = {.search = o->search,
                                           .how = o->how,
                                           .significant = o->search.top == 0,
                                           .simultaneous = o->simultaneous,
                                           .all_stages = o->all_stages,
                                           .all = o->all,
                                           .threshold = o->threshold,
                                           .tick = discover_tick,
                                           .ctx = &progress};
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
    hsy_status st;

    if (failed)
        return failed;
    st = analysis_search(&got, &t, &wanted, &err);
    cli_progress_end(&progress);
    failed = st == HSY_OK ? discover_tell(o, &found, figure)
                          : discover_failed(o, g, &got, &err);
    analysis_search_clear(&got);
    return failed;
}

/* The figure is opened first: a wrong path does not cost the search. */
static int discover_run(struct discover_how *o, struct gather *g)
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

static int discover_planned(const struct discover_how *o, const hsy_scheme *s)
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
        return discover_refused(&o->search, puzzle, &err);
    discover_plan_print(stdout, o->format, &plan, &info, &o->aim);
    return cli_finish();
}

/* --bits and --step, without --set. */
static bool discover_param(struct cli_parser *p, void *to)
{
    return cli_spec_param(&((struct discover_how *)to)->spec, p);
}

static int discover_plan(void *to)
{
    struct discover_how *o = to;
    struct cli_spec *spec = &o->spec;
    hsy_error err = {0};
    hsy_scheme *s = NULL;
    int failed;

    if (o->in_batches)
        return discover_plan_stages(o);
    spec->strings = true;
    if (spec->spec.mechanism == NULL)
        spec->spec.mechanism = "pem";
    if (o->alphabet != NULL &&
        hsy_alphabet_parse(spec->spec.alphabet, o->alphabet,
                           strlen(o->alphabet), &err) != HSY_OK)
        return cli_fail_error("--alphabet", &err);
    failed = cli_spec_finish(spec, &o->parser);
    if (!failed)
        failed = cli_scheme_new(&s, &spec->spec);
    if (!failed)
        failed = discover_planned(o, s);
    free(s);
    return failed;
}

/* ---- The command --------------------------------------------------------- */

/* Do something with the tally of the operands. */
static int discover_tally(struct discover_how *o,
                          int (*run)(struct discover_how *o, struct gather *g))
{
    struct gather g = {0};
    int failed = cli_gather_files(&g, &o->parser, o->parser.operands,
                                  o->parser.noperands);

    if (!failed)
        failed = run(o, &g);
    gather_clear(&g);
    return failed;
}

static int discover_show(void *to)
{
    return discover_tally(to, discover_run);
}

static int discover_run_next(void *to)
{
    return discover_tally(to, discover_next_stage);
}

static const char *const discover_sizes[] = {"equal", "rising", "diminishing",
                                             NULL};

#define DISCOVER(member) offsetof(struct discover_how, member)

static const struct cli_option discover_options[] = {
    {"top", "K",
     "return the K largest, significant or not; sfp: at most K (default: "
     "significant strings, at most 16; sfp: all)",
     CLI_INTO_COUNT, DISCOVER(search.top), 1, HSY_SEARCH_TOP_MAX},
    {"keep", "N", "keep N times K prefixes at inner stages (default 2)",
     CLI_INTO_COUNT, DISCOVER(search.keep), 1, HSY_SEARCH_KEEP_MAX},
    {"significant", NULL,
     "keep only significant prefixes, also with --top (always on for sfp)",
     CLI_INTO_FLAG, DISCOVER(search.significant), .without = "all"},
    {"alpha", "A", "family-wise error rate per stage (default 0.05)",
     CLI_INTO_SHARE, DISCOVER(search.alpha), .hints = "1% 5%"},
    {"max-candidates", "N",
     "maximum candidates per stage (default 262144); time and memory grow with "
     "it",
     CLI_INTO_COUNT, DISCOVER(search.max_candidates), 1,
     HSY_SEARCH_CANDIDATES_MAX},
    {"threshold", "T",
     "sfp: keep at most T pairs per offset (default: all significant ones; "
     "with --all 20)",
     CLI_INTO_COUNT, DISCOVER(threshold), 1, HSY_PUZZLE_PAIRS_MAX,
     .verbs = "show plan", .without = "batches"},
    {"all", NULL, "sfp: keep pairs and words even if not significant",
     CLI_INTO_FLAG, DISCOVER(all), .verbs = "show plan", .without = "batches"},
    {"level", "L", "confidence level of the intervals", CLI_INTO_SHARE,
     DISCOVER(how.level), .preset = "0.95", .verbs = "show",
     .hints = "90% 95% 99%"},
    {"simultaneous", NULL,
     "make intervals hold for all candidates together, and so for those "
     "selected",
     CLI_INTO_FLAG, DISCOVER(simultaneous), .verbs = "show"},
    {"all-stages", NULL, "also print the prefixes of every stage",
     CLI_INTO_FLAG, DISCOVER(all_stages), .verbs = "show"},
    {"plot", "FILE.svg", "write the result as a figure (.svg or .png)",
     CLI_INTO_TEXT, DISCOVER(plot), .verbs = "show"},
    {"frequency", "F", "share of people who have the string", CLI_INTO_SHARE,
     DISCOVER(aim.frequency), .verbs = "plan", .hints = "0.1% 1%"},
    {"miss", "B", "probability of missing it at a stage", CLI_INTO_SHARE,
     DISCOVER(aim.miss), .preset = "0.05", .verbs = "plan", .hints = "1% 5%"},
    {"epsilon", NULL, "privacy of one report", CLI_INTO_SPEC,
     .verbs = "plan start"},
    {"mechanism", "pem|sfp", "mechanism (default pem)", CLI_INTO_SPEC,
     .verbs = "plan", .without = "batches"},
    {"bits", "M", "bits per string (default 48; sfp: 10 symbols)",
     CLI_INTO_CALL, .call = discover_param, .verbs = "plan start"},
    {"step", "N",
     "bits added per stage; must divide M with --batches (default 8)",
     CLI_INTO_CALL, .call = discover_param, .verbs = "plan start"},
    {"alphabet", "SET", "allowed bytes, such as a-z0-9 or \\x00-\\x1f",
     CLI_INTO_TEXT, DISCOVER(alphabet), .verbs = "plan start",
     .hints = "a-z a-z0-9"},
    {"oracle", NULL, "mechanism that reports prefixes, or the sketch of sfp",
     CLI_INTO_SPEC, .verbs = "plan start"},
    {"set", NULL, "parameter of pem or sfp, as for randomize", CLI_INTO_SPEC,
     .verbs = "plan", .without = "batches"},
    {"batches", NULL,
     "plan a search in batches, with new people for each stage", CLI_INTO_FLAG,
     DISCOVER(in_batches), .verbs = "plan"},
    {"sizes", "equal|rising|diminishing", "relative sizes of the batches",
     CLI_INTO_CHOICE, DISCOVER(sizes), .words = discover_sizes,
     .preset = "equal", .verbs = "plan start"},
    {"source", "NAME", "name of the private data asked about", CLI_INTO_TEXT,
     DISCOVER(source), .verbs = "start"},
    {"question", "TEXT", "question shown to the person", CLI_INTO_TEXT,
     DISCOVER(question), .verbs = "start"},
    {"id", "ID", "task id", CLI_INTO_TEXT, DISCOVER(id), .preset = "words",
     .verbs = "start"},
    {"from", "DAY", "first day, such as 2026-01-31 (default today)",
     CLI_INTO_DAY, DISCOVER(from), .verbs = "start"},
    {"to", "DAY", "last day of the new stage", CLI_INTO_DAY, DISCOVER(to),
     .verbs = "start next"},
    {"task", "FILE:ID", "task of the stage that was tallied", CLI_INTO_TEXT,
     DISCOVER(task), .verbs = "next"},
    {"output", "FILE", "output file (default: stdout)", CLI_INTO_OUTPUT,
     DISCOVER(output), .verbs = "start next"},
    {"format", "table|csv|json", "output format", CLI_INTO_FORMAT,
     DISCOVER(format), .preset = "table", .verbs = "show plan"},
    {0}};

static const struct cli_verb discover_verbs[] = {
    {"plan", NULL, "--epsilon E --frequency F [--batches] [options]",
     "epsilon frequency", discover_plan,
     .about = "Compute how many people are needed to find a string."},
    {"start", NULL, "--epsilon E --source S --question TEXT [-o FILE]",
     "epsilon source question", discover_start,
     .about = "Write the first stage of a search in batches.\nEach stage is a "
              "task for different people: a device answers only one stage."},
    {"next", "[FILE...]", "--task FILE:ID [-o FILE]", "task", discover_run_next,
     .about = "Write the next stage from the tallies of the previous one.\nIts "
              "candidates extend the prefixes found."},
    {"show", "[FILE...]", "[options]", .run = discover_show,
     .about = "Find the frequent strings in tallies or reports of pem and "
              "sfp.\nEach has a share and an interval. In a search in batches, "
              "show the result of\none stage."},
    {0}};

static const struct cli_command discover_command = {
    "discover",
    NULL,
    "Find frequent strings that nobody listed beforehand. Plan how many people "
    "it\ntakes, search tallies of the mechanisms pem and sfp, or search in "
    "batches, stage\nby stage: 'start' the first, then 'next' after each.",
    discover_options,
    .verbs = discover_verbs,
    .apart = true,
    .spec = DISCOVER(spec)};

int cmd_discover(int argc, char **argv)
{
    struct discover_how o = {.search.size = sizeof(hsy_search)};
    const int failed = cli_run(&o.parser, &discover_command, argc, argv, &o);

    cli_spec_clear(&o.spec);
    return failed;
}
