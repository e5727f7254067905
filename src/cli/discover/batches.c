/* batches.c - hearsay discover --start, --next and --batches: searching in
 * batches. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "cli/base/tasks.h"
#include "cli/discover/internal.h"
#include "host/base/day.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NEXT_CANDIDATES_MAX (1u << 20)

/* The first, the next, or the plan of all stages. */
enum batches_what { BATCHES_START = 1, BATCHES_NEXT, BATCHES_PLAN };

struct batches_options {
    enum batches_what what;
    struct discover_options discover; /* search, aim, format */
    struct discover_batches batches;
    struct cli_spec spec; /* --epsilon */
    const char *task;     /* FILE:ID */
    const char *id, *source, *question, *from, *to, *output;
    int sizes;
    char **files; /* operands, in the place of arguments that were read */
    int nfiles;
};

bool discover_batched(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--start") == 0 || strcmp(argv[i], "--next") == 0 ||
            strcmp(argv[i], "--batches") == 0)
            return true;
    return false;
}

/* ---- What is wrong, in the words of the options -------------------------- */

static int batches_refused_search(const struct batches_options *o,
                                  const char *file, const hsy_error *err)
{
    return err->status == HSY_E_RANGE && err->field != HSY_FIELD_NONE
               ? discover_refused(&o->discover, false, err)
               : cli_fail_error(file, err);
}

/* Of what is settled for all stages, or of a task. */
static int batches_refused(const struct batches_options *o,
                           enum discover_wrong wrong, hsy_error *err)
{
    static const hsy_spec spec = {.mechanism = "stage",
                                  .kind = HSY_KIND_STRINGS};
    const struct discover_batches *b = &o->batches;

    switch (wrong) {
    case DISCOVER_STEP:
        return cli_fail("--step: steps of %" PRIu64 " do not divide %" PRIu64
                        " bits; choose one that does",
                        b->step, b->bits);
    case DISCOVER_ALPHABET:
        return cli_fail_error("--alphabet", err);
    case DISCOVER_WIDTH:
        return cli_fail("a stage would have %" PRIu64 " times 2^%" PRIu64
                        " candidates, more than the limit of %" PRIu64
                        "; raise it with --max-candidates (at most %u), or "
                        "lower --top, --keep or --step",
                        b->top * b->keep, b->step, b->candidates,
                        NEXT_CANDIDATES_MAX);
    case DISCOVER_SCHEME:
        return cli_scheme_refused(&spec, err);
    case DISCOVER_SEARCH:
        return discover_refused(&o->discover, false, err);
    case DISCOVER_DOCUMENT:
        return cli_fail_error(host_field_name(err->field), err);
    default:
        return cli_fail_nomem();
    }
}

/* Of a stage and its tally. */
static int batches_refused_next(const struct batches_options *o,
                                const struct gather *g, const char *id,
                                const struct discover_next *n, hsy_error *err)
{
    switch (n->file.wrong) {
    case DISCOVER_NO_STAGE:
        return cli_fail("--task %s: not a stage of a search; 'hearsay "
                        "discover --start' writes the first one",
                        o->task);
    case DISCOVER_OTHER_STAGE:
        return cli_fail("%s: not a tally of stage %" PRIu32 ", which --task "
                        "names: give the task and the tally of one stage",
                        g->first, n->stage);
    case DISCOVER_OTHER_TASK:
        return cli_fail("%s: not a tally of the task that --task names: they "
                        "differ in %s",
                        g->first, n->differs);
    case DISCOVER_EMPTY:
        return cli_fail("%s: no data: it holds no reports", g->first);
    case DISCOVER_LAST:
        return cli_fail("%s: stage %" PRIu32 " is the last; 'hearsay "
                        "discover' prints what it found",
                        g->first, n->stage);
    case DISCOVER_ROOM:
        return cli_fail("--top: %" PRIu64 " times %" PRIu64 " prefixes, but "
                        "the search was begun for at most %" PRIu64
                        " ('max-candidates' of the task)",
                        n->top, n->keep, n->room);
    case DISCOVER_SEARCH:
        return err->status == HSY_E_NOMEM
                   ? cli_fail_nomem()
                   : batches_refused_search(o, g->first, err);
    case DISCOVER_NOTHING:
        return cli_fail("%s: no prefix of stage %" PRIu32 " is more than "
                        "chance makes: there is nothing to ask next",
                        g->first, n->stage);
    case DISCOVER_RELEASE:
        return cli_fail_error(id, err);
    default:
        return batches_refused(o, n->file.wrong, err);
    }
}

/* ---- Three things to do -------------------------------------------------- */

static int batches_day(uint32_t *day, const char *option, const char *text)
{
    return day_parse(day, text) ? 0
                                : cli_fail("%s: write a day as 2026-01-31, "
                                           "from 1970 on",
                                           option);
}

static int batches_name(char *to, size_t room, const char *option,
                        const char *text)
{
    if (strlen(text) >= room)
        return cli_fail("%s: at most %zu letters", option, room - 1);
    memcpy(to, text, strlen(text) + 1);
    return 0;
}

static int batches_plan(const struct batches_options *o, const hsy_spec *spec)
{
    struct discover_plan plan;
    hsy_error err = {0};

    if (discover_plan_batches(&plan, spec, &o->discover.search,
                              &o->discover.aim, &err) != HSY_OK)
        return batches_refused(o, plan.wrong, &err);
    discover_plan_print(stdout, o->discover.format, &plan, NULL,
                        &o->discover.aim);
    return cli_finish();
}

/* The task as the options say. */
static int batches_asked(hsy_task *task, const struct batches_options *o)
{
    uint32_t start = (uint32_t)(time(NULL) / 86400), last;
    char id[HSY_TASK_ID + 1], source[HSY_SOURCE_MAX + 1];
    int failed =
        batches_name(id, sizeof id, "--id", o->id != NULL ? o->id : "words");

    if (!failed)
        failed = batches_name(source, sizeof source, "--source", o->source);
    if (!failed && o->from != NULL)
        failed = batches_day(&start, "--from", o->from);
    last = start + DISCOVER_DAYS - 1;
    if (!failed && o->to != NULL)
        failed = batches_day(&last, "--to", o->to);
    if (failed)
        return failed;
    *task = discover_task(start, last + 1);
    memcpy(task->id, id, sizeof id);
    memcpy(task->source, source, sizeof source);
    task->question = o->question;
    task->question_len = strlen(o->question);
    return 0;
}

static int batches_start(const struct batches_options *o, const hsy_task *task,
                         const hsy_spec *spec)
{
    struct discover_file file;
    hsy_error err = {0};
    int failed;

    if (discover_stage_file(&file, task, spec, 1, &err) != HSY_OK)
        return file.wrong == DISCOVER_RELEASE
                   ? cli_fail_error(task->id, &err)
                   : batches_refused(o, file.wrong, &err);
    failed = cli_write_file(o->output, file.text, file.len);
    free(file.text);
    if (failed || o->output == NULL)
        return failed;
    printf("stage 1 of %" PRIu64
           "; 'hearsay tasks compile' signs it for devices\n",
           o->batches.bits / o->batches.step);
    return cli_finish();
}

/* --start and --plan: what is settled for all stages comes first. */
static int batches_begin(struct batches_options *o)
{
    enum discover_wrong wrong;
    hsy_error err = {0};
    hsy_task task;
    hsy_spec spec;
    int failed = o->what == BATCHES_START ? batches_asked(&task, o) : 0;

    if (failed)
        return failed;
    o->batches.nano_epsilon = o->spec.spec.nano_epsilon;
    o->batches.top = o->discover.search.top;
    o->batches.keep = o->discover.search.keep;
    o->batches.candidates = o->discover.search.max_candidates;
    discover_settle(&o->batches);
    if (discover_first(&spec, &wrong, &o->batches, &err) != HSY_OK)
        return batches_refused(o, wrong, &err);
    return o->what == BATCHES_START ? batches_start(o, &task, &spec)
                                    : batches_plan(o, &spec);
}

static int batches_write(const struct batches_options *o,
                         const struct gather *g, const hsy_task *task,
                         uint64_t version)
{
    const hsy_analysis_tally t = gathered(g);
    struct discover_done done = {
        .task = task, .version = version, .search = o->discover.search};
    struct discover_next next;
    hsy_error err = {0};
    int failed = 0;

    if (o->to != NULL) {
        failed = batches_day(&done.end, "--to", o->to);
        done.end++;
    }
    if (failed)
        return failed;
    if (discover_next(&next, &t, &done, &err) != HSY_OK)
        return batches_refused_next(o, g, task->id, &next, &err);
    failed = cli_write_file(o->output, next.file.text, next.file.len);
    free(next.file.text);
    if (!failed && o->output != NULL)
        printf("stage %" PRIu32 " of %" PRIu32 ": %" PRIu64 " reports, %zu of "
               "%" PRIu64 " prefixes go on\n",
               next.stage, next.stages, hsy_tally_reports(&g->tally),
               next.survivors, next.candidates);
    return failed ? failed : cli_finish();
}

static int batches_next(const struct batches_options *o, const struct gather *g)
{
    const char *colon = strrchr(o->task, ':');
    struct task_file tasks = {0};
    char *path = strdup(o->task);
    size_t i;
    int failed;

    if (path == NULL)
        return cli_fail_nomem();
    path[colon - o->task] = '\0';
    failed = cli_tasks_open(&tasks, path, false);
    free(path);
    i = failed ? 0 : task_file_find(&tasks, colon + 1);
    if (!failed && i == tasks.n)
        failed = cli_fail("--task: there is no task '%s'; 'hearsay tasks show' "
                          "lists them",
                          colon + 1);
    if (!failed)
        failed = batches_write(o, g, &tasks.all[i], tasks.doc.version);
    task_file_clear(&tasks);
    return failed;
}

/* ---- Options ------------------------------------------------------------- */

static bool batches_set(struct cli_parser *p, void *to)
{
    struct batches_options *o = to;
    const enum batches_what what = (enum batches_what)p->row->low;

    if (o->what != 0 && o->what != what) {
        cli_usage(p, "--start, --next and --batches --plan are three things");
        return false;
    }
    o->what = what;
    return true;
}

static bool batches_operand(struct cli_parser *p, void *to)
{
    struct batches_options *o = to;

    o->files[o->nfiles++] = p->argv[p->at - 1];
    return true;
}

static const char *const batches_sizes[] = {"equal", "rising", "diminishing",
                                            NULL};

#define BATCHES(member) offsetof(struct batches_options, member)

static const struct cli_option batches_options[] = {
    {0, "start", NULL, "write the first stage; with --epsilon:", CLI_INTO_CALL,
     BATCHES(what), BATCHES_START, .call = batches_set},
    {0, "bits", "M", "... of a string (default 48)", CLI_INTO_COUNT,
     BATCHES(batches.bits), 2, HSY_SPELL_BITS},
    {0, "step", "N", "... of a stage; divides M (default 8)", CLI_INTO_COUNT,
     BATCHES(batches.step), 1, 20},
    {0, "alphabet", "a-z...", "... bytes of strings (default: any)",
     CLI_INTO_TEXT, BATCHES(batches.alphabet)},
    {0, "oracle", "NAME", "... mechanism of each stage (default: grr or pgr)",
     CLI_INTO_TEXT, BATCHES(batches.oracle)},
    {0, "sizes", "HOW", "... of the batches: equal, rising, diminishing",
     CLI_INTO_CHOICE, BATCHES(sizes), .words = batches_sizes},
    {CLI_OPT_EPSILON, "epsilon", "E", "... privacy of one report"},
    {0, "id", "ID", "... of the task (default words)", CLI_INTO_TEXT,
     BATCHES(id)},
    {0, "source", "NAME", "... the private data it is about", CLI_INTO_TEXT,
     BATCHES(source)},
    {0, "question", "TEXT", "... to the person", CLI_INTO_TEXT,
     BATCHES(question)},
    {0, "from", "DAY", "... as 2026-01-31 (default today)", CLI_INTO_TEXT,
     BATCHES(from)},
    {0, "next", NULL, "from tallies of a stage write the next one; with:",
     CLI_INTO_CALL, BATCHES(what), BATCHES_NEXT, .call = batches_set},
    {0, "task", "FILE:ID", "... the task of that stage", CLI_INTO_TEXT,
     BATCHES(task)},
    {0, "to", "DAY", "last day of the stage that is written", CLI_INTO_TEXT,
     BATCHES(to)},
    {0, "top", "K", "so many strings in the end (default 16)", CLI_INTO_COUNT,
     BATCHES(discover.search.top), 1, HSY_SEARCH_TOP_MAX},
    {0, "keep", "N", "N times K prefixes at inner stages (default 2)",
     CLI_INTO_COUNT, BATCHES(discover.search.keep), 1, HSY_SEARCH_KEEP_MAX},
    {0, "significant", NULL, "only what chance hardly makes", CLI_INTO_FLAG,
     BATCHES(discover.search.significant)},
    {0, "alpha", "A", "how hardly (default 0.05)", CLI_INTO_SHARE,
     BATCHES(discover.search.alpha)},
    {0, "max-candidates", "N", "of a stage, up to 1048576 (default 262144)",
     CLI_INTO_COUNT, BATCHES(discover.search.max_candidates), 1,
     NEXT_CANDIDATES_MAX},
    {0, "output", "FILE", "write there (default: stdout)", CLI_INTO_OUTPUT,
     BATCHES(output)},
    {0, "batches", NULL, "with --plan: how many people it takes", CLI_INTO_CALL,
     BATCHES(what), BATCHES_PLAN, .call = batches_set},
    {0, "plan", NULL, "... before any is asked; needs:", CLI_INTO_CALL,
     BATCHES(what), BATCHES_PLAN, .call = batches_set},
    {0, "frequency", "F", "... share of people to be found", CLI_INTO_SHARE,
     BATCHES(discover.aim.frequency)},
    {0, "miss", "B", "... chance to miss it (default 0.05)", CLI_INTO_SHARE,
     BATCHES(discover.aim.miss)},
    CLI_FORMAT_ROW(BATCHES(discover.format)),
    {0}};

static const struct cli_command batches_command = {
    "discover",
    "--start --epsilon E --source S --question TEXT [-o FILE] | "
    "--next --task FILE:ID [-o FILE] [FILE...] | "
    "--batches --plan --epsilon E --frequency F [options]",
    "Search in batches: each stage is a task for people of its own, whose\n"
    "candidates are what the stage before has found. A device answers one of "
    "them.",
    batches_options,
    .operand = batches_operand,
    .spec = BATCHES(spec)};

/* What belongs to the one is not for the others. */
static int batches_usage(const struct batches_options *o, struct cli_parser *p)
{
    const char *colon = o->task != NULL ? strrchr(o->task, ':') : NULL;
    const bool next = o->what == BATCHES_NEXT;

    if (next && (colon == NULL || colon == o->task || colon[1] == '\0'))
        return cli_usage(p, "--next needs --task FILE:ID, the task of the "
                            "stage that was tallied");
    if (next &&
        (o->batches.bits != 0 || o->batches.step != 0 ||
         o->batches.sizes != 0 || o->batches.alphabet != NULL ||
         o->batches.oracle != NULL || o->id != NULL || o->source != NULL ||
         o->question != NULL || o->from != NULL || o->spec.has_epsilon))
        return cli_usage(p, "--next goes on with what --start has settled: "
                            "leave that out");
    if (!next && (o->nfiles != 0 || o->task != NULL))
        return cli_usage(p, "tallies and --task go with --next");
    if (!next && !o->spec.has_epsilon)
        return cli_usage(p, "--epsilon E is missing: privacy of one report");
    if (o->what == BATCHES_START && (o->source == NULL || o->question == NULL))
        return cli_usage(p, "--start needs --source NAME and --question TEXT");
    if (o->what == BATCHES_PLAN && !cli_given(p, "frequency"))
        return cli_usage(p, "--plan needs --frequency F: the share of people "
                            "that hold a string to be found");
    return 0;
}

int discover_batches(int argc, char **argv)
{
    struct batches_options o = {
        .discover = {.search = {.size = sizeof(hsy_search)}, .aim.miss = 0.05},
        .files = argv};
    struct gather g = {0};
    struct cli_parser p;
    int failed;

    if (!cli_read(&p, &batches_command, argc, argv, &o))
        return p.exit;
    o.batches.sizes = (uint64_t)o.sizes;
    failed = batches_usage(&o, &p);
    if (!failed && o.what != BATCHES_NEXT)
        failed = batches_begin(&o);
    else if (!failed) {
        failed = cli_gather_files(&g, &p, o.files, o.nfiles);
        if (!failed)
            failed = batches_next(&o, &g);
    }
    gather_clear(&g);
    return failed;
}

#undef NEXT_CANDIDATES_MAX
