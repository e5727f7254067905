/* batches.c - hearsay discover start, next and plan --batches: searching in
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

/* ---- What is wrong, in the words of the options -------------------------- */

static int batches_refused_search(const struct discover_how *o,
                                  const char *file, const hsy_error *err)
{
    return err->status == HSY_E_RANGE && err->field != HSY_FIELD_NONE
               ? discover_refused(&o->search, false, err)
               : cli_fail_error(file, err);
}

/* Of what is settled for all stages, or of a task. */
static int batches_refused(const struct discover_how *o,
                           enum discover_wrong wrong, hsy_error *err)
{
    static const hsy_spec spec = {.mechanism = "stage",
                                  .kind = HSY_KIND_STRINGS};
    const struct discover_batches *b = &o->batches;

    switch (wrong) {
    case DISCOVER_STEP:
        return cli_fail("--step %" PRIu64 " must divide the %" PRIu64
                        " bits of a string",
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
        return discover_refused(&o->search, false, err);
    case DISCOVER_DOCUMENT:
        return cli_fail_error(host_field_name(err->field), err);
    default:
        return cli_fail_nomem();
    }
}

/* Of a stage and its tally. */
static int batches_refused_next(const struct discover_how *o,
                                const struct gather *g, const char *id,
                                const struct discover_next *n, hsy_error *err)
{
    switch (n->file.wrong) {
    case DISCOVER_NO_STAGE:
        return cli_fail("--task %s: not a stage of a search; 'hearsay "
                        "discover start' writes the first one",
                        o->task);
    case DISCOVER_OTHER_STAGE:
        return cli_fail("%s: not a tally of stage %" PRIu32
                        " of --task; give the task and the tally of one stage",
                        g->first, n->stage);
    case DISCOVER_OTHER_TASK:
        return cli_fail(
            "%s: not a tally of the task of --task: they differ in %s",
            g->first, n->differs);
    case DISCOVER_EMPTY:
        return cli_fail("%s: no data: it holds no reports", g->first);
    case DISCOVER_LAST:
        return cli_fail("%s: stage %" PRIu32 " is the last; 'hearsay "
                        "discover show' prints what it found",
                        g->first, n->stage);
    case DISCOVER_ROOM:
        return cli_fail("--top: %" PRIu64 " times %" PRIu64
                        " prefixes exceed the %" PRIu64
                        " that the search was started for ('max-candidates' of "
                        "the task); lower it",
                        n->top, n->keep, n->room);
    case DISCOVER_SEARCH:
        return err->status == HSY_E_NOMEM
                   ? cli_fail_nomem()
                   : batches_refused_search(o, g->first, err);
    case DISCOVER_NOTHING:
        return cli_fail(
            "%s: no prefix of stage %" PRIu32
            " is significant, so there is no next stage; ask more people",
            g->first, n->stage);
    case DISCOVER_RELEASE:
        return cli_fail_error(id, err);
    default:
        return batches_refused(o, n->file.wrong, err);
    }
}

/* ---- Three things to do -------------------------------------------------- */

static int batches_name(char *to, size_t room, const char *option,
                        const char *text)
{
    if (strlen(text) >= room)
        return cli_fail("%s: use at most %zu characters", option, room - 1);
    memcpy(to, text, strlen(text) + 1);
    return 0;
}

/* The task as the options say. */
static int batches_asked(hsy_task *task, const struct discover_how *o)
{
    const uint32_t start =
        o->from != 0 ? o->from : (uint32_t)(time(NULL) / 86400);
    const uint32_t last = o->to != 0 ? o->to : start + DISCOVER_DAYS - 1;
    int failed;

    *task = discover_task(start, last + 1);
    failed = batches_name(task->id, sizeof task->id, "--id", o->id);
    if (!failed)
        failed = batches_name(task->source, sizeof task->source, "--source",
                              o->source);
    task->question = o->question;
    task->question_len = strlen(o->question);
    return failed;
}

static int batches_start(const struct discover_how *o, const hsy_task *task,
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

/* What is settled for all stages comes first. */
static int batches_first(struct discover_how *o, hsy_spec *spec)
{
    struct discover_batches *b = &o->batches;
    enum discover_wrong wrong;
    hsy_error err = {0};

    if (o->search.max_candidates > NEXT_CANDIDATES_MAX)
        return cli_usage(&o->parser, "--max-candidates: at most %u in batches",
                         NEXT_CANDIDATES_MAX);
    *b = (struct discover_batches){.nano_epsilon = o->spec.spec.nano_epsilon,
                                   .bits = o->spec.spec.param[HSY_PARAM_BITS],
                                   .step = o->spec.spec.param[HSY_PARAM_STEP],
                                   .sizes = (uint64_t)o->sizes,
                                   .oracle = o->spec.spec.oracle,
                                   .alphabet = o->alphabet,
                                   .top = o->search.top,
                                   .keep = o->search.keep,
                                   .candidates = o->search.max_candidates};
    discover_settle(b);
    return discover_first(spec, &wrong, b, &err) == HSY_OK
               ? 0
               : batches_refused(o, wrong, &err);
}

int discover_plan_stages(struct discover_how *o)
{
    struct discover_plan plan;
    hsy_error err = {0};
    hsy_spec spec;
    int failed = batches_first(o, &spec);

    if (failed)
        return failed;
    if (discover_plan_batches(&plan, &spec, &o->search, &o->aim, &err) !=
        HSY_OK)
        return batches_refused(o, plan.wrong, &err);
    discover_plan_print(stdout, o->format, &plan, NULL, &o->aim);
    return cli_finish();
}

int discover_start(void *to)
{
    struct discover_how *o = to;
    hsy_task task;
    hsy_spec spec;
    int failed = batches_asked(&task, o);

    if (!failed)
        failed = batches_first(o, &spec);
    return failed ? failed : batches_start(o, &task, &spec);
}

static int batches_write(const struct discover_how *o, const struct gather *g,
                         const hsy_task *task, uint64_t version)
{
    const hsy_analysis_tally t = gathered(g);
    struct discover_done done = {
        .task = task, .version = version, .search = o->search};
    struct discover_next next;
    hsy_error err = {0};
    int failed;

    if (o->to != 0)
        done.end = o->to + 1;
    if (discover_next(&next, &t, &done, &err) != HSY_OK)
        return batches_refused_next(o, g, task->id, &next, &err);
    failed = cli_write_file(o->output, next.file.text, next.file.len);
    free(next.file.text);
    if (!failed && o->output != NULL)
        printf("stage %" PRIu32 " of %" PRIu32 ": %" PRIu64
               " reports, %zu of %" PRIu64 " prefixes are kept\n",
               next.stage, next.stages, hsy_tally_reports(&g->tally),
               next.survivors, next.candidates);
    return failed ? failed : cli_finish();
}

int discover_next_stage(struct discover_how *o, struct gather *g)
{
    struct task_file tasks = {0};
    size_t at;
    int failed = cli_tasks_find(&tasks, &at, o->task, &o->parser);

    if (!failed)
        failed = batches_write(o, g, &tasks.all[at], tasks.doc.version);
    task_file_clear(&tasks);
    return failed;
}
