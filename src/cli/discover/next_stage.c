/*
 * next_stage.c - searching in batches: the first stage and the next one, as
 * task files. Tallies and task files are all the state there is.
 */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "cli/discover/batches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NEXT_DAYS 7u /* of a stage, by default */
#define NEXT_DELAY 21600u
#define NEXT_REPORTS 1000u
#define NEXT_CANDIDATES_MAX (1u << 20)

enum {
    NEXT_START = 1,
    NEXT_NEXT,
    NEXT_BATCHES,
    NEXT_PLAN,
    NEXT_BITS,
    NEXT_STEP,
    NEXT_ALPHABET,
    NEXT_ORACLE,
    NEXT_SIZES,
    NEXT_TOP,
    NEXT_KEEP,
    NEXT_SIGNIFICANT,
    NEXT_ALPHA,
    NEXT_MAX,
    NEXT_FREQUENCY,
    NEXT_MISS,
    NEXT_TASK,
    NEXT_ID,
    NEXT_SOURCE,
    NEXT_QUESTION,
    NEXT_FROM,
    NEXT_TO,
    NEXT_OUTPUT,
    NEXT_FORMAT
};

static const struct cli_option next_options[] = {
    {NEXT_START, "start", NULL, "write the first stage; with --epsilon:"},
    {NEXT_BITS, "bits", "M", "... of a string (default 48)"},
    {NEXT_STEP, "step", "N", "... of a stage; divides M (default 8)"},
    {NEXT_ALPHABET, "alphabet", "a-z...",
     "... bytes of strings (default: any)"},
    {NEXT_ORACLE, "oracle", "NAME",
     "... mechanism of each stage (default: grr or pgr)"},
    {NEXT_SIZES, "sizes", "HOW",
     "... of the batches: equal, rising, diminishing"},
    {CLI_OPT_EPSILON, "epsilon", "E", "... privacy of one report"},
    {NEXT_ID, "id", "ID", "... of the task (default words)"},
    {NEXT_SOURCE, "source", "NAME", "... the private data it is about"},
    {NEXT_QUESTION, "question", "TEXT", "... to the person"},
    {NEXT_FROM, "from", "DAY", "... as 2026-01-31 (default today)"},
    {NEXT_NEXT, "next", NULL,
     "from tallies of a stage write the next one; with:"},
    {NEXT_TASK, "task", "FILE:ID", "... the task of that stage"},
    {NEXT_TO, "to", "DAY", "last day of the stage that is written"},
    {NEXT_TOP, "top", "K", "so many strings in the end (default 16)"},
    {NEXT_KEEP, "keep", "N", "N times K prefixes at inner stages (default 2)"},
    {NEXT_SIGNIFICANT, "significant", NULL, "only what chance hardly makes"},
    {NEXT_ALPHA, "alpha", "A", "how hardly (default 0.05)"},
    {NEXT_MAX, "max-candidates", "N",
     "of a stage, up to 1048576 (default 262144)"},
    {NEXT_OUTPUT, "output", "FILE", "write there (default: stdout)"},
    {NEXT_BATCHES, "batches", NULL, "with --plan: how many people it takes"},
    {NEXT_PLAN, "plan", NULL, "... before any is asked; needs:"},
    {NEXT_FREQUENCY, "frequency", "F", "... share of people to be found"},
    {NEXT_MISS, "miss", "B", "... chance to miss it (default 0.05)"},
    CLI_FORMAT_OPTION(NEXT_FORMAT),
    {0, NULL, NULL, NULL}};

static const struct cli_command next_command = {
    "discover",
    "--start --epsilon E --source S --question TEXT [-o FILE] | "
    "--next --task FILE:ID [-o FILE] [FILE...] | "
    "--batches --plan --epsilon E --frequency F [options]",
    "Search in batches: each stage is a task for people of its own, whose\n"
    "candidates are what the stage before has found. A device answers one of "
    "them.",
    next_options};

bool discover_batched(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--start") == 0 || strcmp(argv[i], "--next") == 0 ||
            strcmp(argv[i], "--batches") == 0)
            return true;
    return false;
}

/* ---- The first stage ----------------------------------------------------- */

/* Room for what goes on from a stage, with all continuations. */
static int next_width(const struct batches_options *o, uint64_t step,
                      uint64_t *width)
{
    const hsy_search *how = &o->discover.search;
    const uint64_t limit =
        how->max_candidates != 0 ? how->max_candidates : HSY_SEARCH_CANDIDATES;
    const uint64_t survivors =
        (how->top != 0 ? how->top : 16) * (how->keep != 0 ? how->keep : 2);

    *width = step > 20 ? UINT64_MAX : survivors << step;
    if (*width <= limit)
        return 0;
    return cli_fail("a stage would have %" PRIu64 " times 2^%" PRIu64
                    " candidates, more than the limit of %" PRIu64
                    "; raise it with --max-candidates (at most %u), or lower "
                    "--top, --keep or --step",
                    survivors, step, limit, NEXT_CANDIDATES_MAX);
}

int batches_spec(const struct batches_options *o, hsy_spec *spec)
{
    hsy_error err = {0};
    int failed;

    *spec = (hsy_spec){.size = sizeof *spec,
                       .mechanism = "stage",
                       .kind = HSY_KIND_STRINGS,
                       .nano_epsilon = o->spec.spec.nano_epsilon,
                       .oracle = o->oracle};
    spec->param[HSY_PARAM_BITS] = o->bits != 0 ? o->bits : 48;
    spec->param[HSY_PARAM_STEP] = o->step != 0 ? o->step : 8;
    spec->param[HSY_PARAM_W] = spec->param[HSY_PARAM_STEP];
    spec->param[HSY_PARAM_MIX] = o->sizes + 1;
    if (spec->param[HSY_PARAM_BITS] % spec->param[HSY_PARAM_STEP] != 0)
        return cli_fail("--step: steps of %" PRIu64 " do not divide %" PRIu64
                        " bits; choose one that does",
                        spec->param[HSY_PARAM_STEP],
                        spec->param[HSY_PARAM_BITS]);
    if (o->alphabet != NULL &&
        hsy_alphabet_parse(spec->alphabet, o->alphabet, strlen(o->alphabet),
                           &err) != HSY_OK)
        return cli_fail_error("--alphabet", &err);
    failed = next_width(o, spec->param[HSY_PARAM_STEP],
                        &spec->param[HSY_PARAM_WIDTH]);
    return failed;
}

static int next_day(uint32_t *day, const char *option, const char *text)
{
    return day_parse(day, text) ? 0
                                : cli_fail("%s: write a day as 2026-01-31, "
                                           "from 1970 on",
                                           option);
}

/* As devices will: the task, its scheme, and both together. */
static int next_check(const hsy_task *task, uint64_t version)
{
    const hsy_document doc = {
        .version = version, .issued = task->start, .expires = task->end};
    hsy_release *release = NULL;
    hsy_error err = {0};
    size_t len;
    int failed;

    if (hsy_document_encode(NULL, 0, &len, &doc, task, 1, &err) != HSY_OK)
        return cli_fail_error(err.field, &err);
    failed = cli_release_new(&release, task);
    free(release);
    return failed;
}

/* The scheme of a spec into the task, then the file. */
static int next_finish(const struct batches_options *o, hsy_task *task,
                       hsy_spec *spec, uint64_t version)
{
    uint8_t wire[HSY_SCHEME_WIRE];
    hsy_scheme *s = NULL;
    int failed = cli_scheme_new(&s, spec);

    if (failed)
        return failed;
    hsy_scheme_encode(s, wire);
    free(s);
    task->scheme = wire;
    task->labels = spec->labels;
    task->labels_len = spec->labels_len;
    failed = next_check(task, version);
    return failed ? failed : batches_write(o->output, version, task, spec);
}

static int next_name(char *to, size_t room, const char *option,
                     const char *text)
{
    if (strlen(text) >= room)
        return cli_fail("%s: at most %zu letters", option, room - 1);
    memcpy(to, text, strlen(text) + 1);
    return 0;
}

static int next_start(const struct batches_options *o)
{
    const char *id = o->id != NULL ? o->id : "words";
    hsy_task task = {.release = 1,
                     .question = o->question,
                     .question_len = strlen(o->question),
                     .start = (uint32_t)(time(NULL) / 86400),
                     .max_changes = 1,
                     .answers = 1,
                     .sends = 1,
                     .sample = {1, 1},
                     .delay_seconds = NEXT_DELAY,
                     .grace_days = NEXT_DAYS,
                     .min_reports = NEXT_REPORTS,
                     .other = HSY_TASK_CLOSED};
    hsy_spec spec;
    int failed = next_name(task.id, sizeof task.id, "--id", id);

    if (!failed)
        failed =
            next_name(task.source, sizeof task.source, "--source", o->source);
    if (!failed && o->from != NULL)
        failed = next_day(&task.start, "--from", o->from);
    task.end = task.start + NEXT_DAYS - 1;
    if (!failed && o->to != NULL)
        failed = next_day(&task.end, "--to", o->to);
    task.end++; /* the day after the last */
    if (!failed)
        failed = batches_spec(o, &spec);
    if (!failed)
        failed = next_finish(o, &task, &spec, 1);
    if (failed || o->output == NULL)
        return failed;
    printf("stage 1 of %" PRIu64
           "; 'hearsay tasks compile' signs it for devices\n",
           spec.param[HSY_PARAM_BITS] / spec.param[HSY_PARAM_STEP]);
    return cli_finish();
}

/* ---- The next stage ------------------------------------------------------ */

static int next_order(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The survivors as labels, in ascending order; the caller frees *labels. */
static int next_labels(uint8_t **labels, size_t *len, const hsy_scheme *s,
                       const hsy_candidate *found, size_t count)
{
    char(*texts)[HSY_STAGE_LABEL] = calloc(count + 1, sizeof *texts);
    uint8_t *at = *labels = malloc(count * (HSY_STAGE_LABEL + 4) + 1);

    if (texts == NULL || at == NULL) {
        free(texts);
        return cli_fail_nomem();
    }
    for (size_t i = 0; i < count; i++)
        hsy_stage_label(s, texts[i], found[i].code);
    qsort(texts, count, sizeof *texts, next_order);
    for (size_t i = 0; i < count; i++) {
        const size_t digits = strlen(texts[i]);

        memset(at, 0, 4);
        at[0] = (uint8_t)digits;
        memcpy(at + 4, texts[i], digits);
        at += 4 + digits;
    }
    *len = (size_t)(at - *labels);
    free(texts);
    return 0;
}

/* The task's scheme is the tally's. */
static int next_same(const struct batches_options *o, const struct gather *g,
                     const hsy_task *task)
{
    hsy_release *release = NULL;
    hsy_release_info info;
    const char *differs;
    int failed = cli_release_new(&release, task);

    if (failed)
        return failed;
    hsy_release_describe(release, &info);
    differs = hsy_scheme_difference(g->scheme, info.scheme);
    if (hsy_stage_number(info.scheme) == 0)
        failed = cli_fail("--task %s: not a stage of a search; 'hearsay "
                          "discover --start' writes the first one",
                          o->task);
    else if (hsy_stage_number(g->scheme) != hsy_stage_number(info.scheme))
        failed = cli_fail("%s: not a tally of stage %" PRIu32 ", which --task "
                          "names: give the task and the tally of one stage",
                          g->first, hsy_stage_number(info.scheme));
    else if (differs != NULL)
        failed = cli_fail("%s: not a tally of the task that --task names: they "
                          "differ in %s",
                          g->first, differs);
    free(release);
    return failed;
}

/* What --next writes: one stage on, as long again unless --to says. */
static int next_task(const struct batches_options *o, hsy_task *task,
                     uint32_t stage)
{
    const uint32_t days = (task->end - task->start) / stage;

    task->release++;
    task->end += days > 0 ? days : 1;
    if (o->to == NULL)
        return 0;
    if (next_day(&task->end, "--to", o->to))
        return CLI_FAILED;
    task->end++;
    return 0;
}

static int next_write(const struct batches_options *o, const struct gather *g,
                      const struct task_file *t, hsy_task task)
{
    const uint32_t stage = hsy_stage_number(g->scheme);
    hsy_candidate *found = NULL;
    uint8_t *labels = NULL;
    hsy_stage plan;
    hsy_spec spec;
    size_t count = 0;
    int failed =
        batches_survivors(&o->discover.search, g, &plan, &found, &count);

    if (!failed && count == 0)
        failed = cli_fail("%s: no prefix of stage %" PRIu32 " is more than "
                          "chance makes: there is nothing to ask next",
                          g->first, stage);
    if (!failed && hsy_spec_decode(&spec, task.scheme, task.labels,
                                   task.labels_len, NULL) != HSY_OK)
        failed = CLI_FAILED;
    if (!failed)
        failed =
            next_labels(&labels, &spec.labels_len, g->scheme, found, count);
    if (!failed)
        failed = next_task(o, &task, stage);
    if (!failed) {
        spec.labels = labels;
        spec.d = (uint32_t)count;
        spec.param[HSY_PARAM_W] += spec.param[HSY_PARAM_STEP];
        failed = next_finish(o, &task, &spec, t->doc.version + 1);
    }
    if (!failed && o->output != NULL)
        printf("stage %" PRIu32 " of %" PRIu32 ": %" PRIu64 " reports, %zu of "
               "%" PRIu64 " prefixes go on\n",
               stage, hsy_stage_count(g->scheme), hsy_tally_reports(&g->tally),
               count, plan.candidates);
    free(found);
    free(labels);
    return failed ? failed : cli_finish();
}

/* --top of the start, if none is given: as many as there is room for. */
static int next_room(struct batches_options *o, const struct gather *g)
{
    hsy_search *how = &o->discover.search;
    const uint64_t room =
        g->info.param[HSY_PARAM_WIDTH] >> g->info.param[HSY_PARAM_STEP];

    if (how->top == 0) {
        how->top = room;
        how->keep = 1;
    }
    if (how->keep == 0)
        how->keep = 2;
    if (how->top * how->keep > room)
        return cli_fail("--top: %" PRIu64 " times %" PRIu64 " prefixes, but "
                        "the search was begun for at most %" PRIu64
                        " ('width' of the task)",
                        how->top, how->keep, room);
    return 0;
}

static int next_next(const struct batches_options *given, struct gather *g)
{
    struct batches_options o = *given;
    const char *colon = strrchr(o.task, ':');
    struct task_file tasks = {0};
    char *path = strdup(o.task);
    size_t i;
    int failed;

    if (path == NULL)
        return cli_fail_nomem();
    path[colon - o.task] = '\0';
    failed = cli_tasks_open(&tasks, path, false);
    free(path);
    i = failed ? 0 : task_file_find(&tasks, colon + 1);
    if (!failed && i == tasks.n)
        failed = cli_fail("--task: there is no task '%s'; 'hearsay tasks show' "
                          "lists them",
                          colon + 1);
    if (!failed)
        failed = next_same(&o, g, &tasks.all[i]);
    if (!failed && hsy_tally_reports(&g->tally) == 0)
        failed = cli_fail("%s: no data: it holds no reports", g->first);
    if (!failed && hsy_stage_number(g->scheme) == hsy_stage_count(g->scheme))
        failed = cli_fail("%s: stage %" PRIu32 " is the last; 'hearsay "
                          "discover' prints what it found",
                          g->first, hsy_stage_number(g->scheme));
    if (!failed)
        failed = next_room(&o, g);
    if (!failed)
        failed = next_write(&o, g, &tasks, tasks.all[i]);
    task_file_clear(&tasks);
    return failed;
}

/* ---- Options ------------------------------------------------------------- */

static bool next_what(struct batches_options *o, struct cli_parser *p,
                      enum batches_what what)
{
    if (o->what != 0 && o->what != what) {
        cli_usage(p, "--start, --next and --batches --plan are three things");
        return false;
    }
    o->what = what;
    return true;
}

static bool next_search(struct batches_options *o, struct cli_parser *p, int id)
{
    hsy_search *how = &o->discover.search;

    switch (id) {
    case NEXT_TOP:
        return cli_value_count(p, &how->top, 1, HSY_SEARCH_TOP_MAX);
    case NEXT_KEEP:
        return cli_value_count(p, &how->keep, 1, HSY_SEARCH_KEEP_MAX);
    case NEXT_SIGNIFICANT:
        how->significant = true;
        return true;
    case NEXT_ALPHA:
        return cli_value_fraction(p, &how->alpha);
    case NEXT_MAX:
        return cli_value_count(p, &how->max_candidates, 1, NEXT_CANDIDATES_MAX);
    case NEXT_FREQUENCY:
        o->discover.has_frequency = true;
        return cli_value_fraction(p, &o->discover.frequency);
    case NEXT_MISS:
        return cli_value_fraction(p, &o->discover.miss);
    case NEXT_FORMAT:
        return cli_value_format(p, &o->discover.format);
    default:
        return cli_spec_option(&o->spec, p, id);
    }
}

static bool next_sizes(struct batches_options *o, struct cli_parser *p)
{
    static const char *const names[] = {"equal", "rising", "diminishing", NULL};
    int sizes = 0;

    if (!cli_value_choice(p, &sizes, names))
        return false;
    o->sizes = (uint64_t)sizes;
    return true;
}

static bool next_option(struct batches_options *o, struct cli_parser *p, int id)
{
    const struct {
        int id;
        const char **to;
    } texts[] = {{NEXT_ALPHABET, &o->alphabet}, {NEXT_ORACLE, &o->oracle},
                 {NEXT_TASK, &o->task},         {NEXT_ID, &o->id},
                 {NEXT_SOURCE, &o->source},     {NEXT_QUESTION, &o->question},
                 {NEXT_FROM, &o->from},         {NEXT_TO, &o->to}};

    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
        if (texts[k].id == id) {
            *texts[k].to = p->value;
            return true;
        }
    switch (id) {
    case NEXT_START:
        return next_what(o, p, BATCHES_START);
    case NEXT_NEXT:
        return next_what(o, p, BATCHES_NEXT);
    case NEXT_BATCHES:
    case NEXT_PLAN:
        return next_what(o, p, BATCHES_PLAN);
    case NEXT_BITS:
        return cli_value_count(p, &o->bits, 2, HSY_SPELL_BITS);
    case NEXT_STEP:
        return cli_value_count(p, &o->step, 1, 20);
    case NEXT_SIZES:
        return next_sizes(o, p);
    case NEXT_OUTPUT:
        o->output = cli_output_path(p->value);
        return true;
    default:
        return next_search(o, p, id);
    }
}

/* What belongs to the one is not for the others. */
static int next_usage(const struct batches_options *o, struct cli_parser *p,
                      int files)
{
    const char *colon = o->task != NULL ? strrchr(o->task, ':') : NULL;
    const bool next = o->what == BATCHES_NEXT;

    if (next && (colon == NULL || colon == o->task || colon[1] == '\0'))
        return cli_usage(p, "--next needs --task FILE:ID, the task of the "
                            "stage that was tallied");
    if (next &&
        (o->bits != 0 || o->step != 0 || o->sizes != 0 || o->alphabet != NULL ||
         o->oracle != NULL || o->id != NULL || o->source != NULL ||
         o->question != NULL || o->from != NULL || o->spec.has_epsilon))
        return cli_usage(p, "--next goes on with what --start has settled: "
                            "leave that out");
    if (!next && (files != 0 || o->task != NULL))
        return cli_usage(p, "tallies and --task go with --next");
    if (!next && !o->spec.has_epsilon)
        return cli_usage(p, "--epsilon E is missing: privacy of one report");
    if (o->what == BATCHES_START && (o->source == NULL || o->question == NULL))
        return cli_usage(p, "--start needs --source NAME and --question TEXT");
    if (o->what == BATCHES_PLAN && !o->discover.has_frequency)
        return cli_usage(p, "--plan needs --frequency F: the share of people "
                            "that hold a string to be found");
    return 0;
}

int discover_batches(int argc, char **argv)
{
    struct batches_options o = {
        .discover = {.search = {.size = sizeof(hsy_search)}, .miss = 0.05}};
    struct gather g = {0};
    struct cli_parser p;
    int id, files = 0, failed;

    cli_begin(&p, &next_command, argc, argv);
    while ((id = cli_next(&p)) != CLI_END) {
        if (id == CLI_OPERAND)
            argv[files++] = p.argv[p.at - 1];
        else if (id == CLI_STOP || !next_option(&o, &p, id))
            return p.exit;
    }
    failed = next_usage(&o, &p, files);
    if (!failed && o.what == BATCHES_START)
        failed = next_start(&o);
    else if (!failed && o.what == BATCHES_PLAN)
        failed = batches_plan(&o);
    else if (!failed) {
        failed = cli_gather_files(&g, &p, argv, files);
        if (!failed)
            failed = next_next(&o, &g);
    }
    gather_clear(&g);
    return failed;
}

#undef NEXT_DAYS
#undef NEXT_DELAY
#undef NEXT_REPORTS
#undef NEXT_CANDIDATES_MAX
