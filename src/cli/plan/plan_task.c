/* plan_task.c - what to expect of a task as its days go by. */
#define _DEFAULT_SOURCE /* strndup */
#include "cli/plan/internal.h"

#include "cli/base/tasks.h"
#include "host/analysis/analysis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A plan of rounds, from a task. */
struct plan_task {
    hsy_release_info release;
    hsy_info info;
    uint64_t devices; /* that take part */
    uint64_t rounds;  /* that end in time */
    uint32_t days;    /* of one */
    uint32_t length;  /* of the task, in days */
    bool over;        /* ends before the days that are asked for */
    double share;
    struct plan_task_row {
        uint64_t rounds;
        double sd[2]; /* people, population */
    } row[PLAN_TASK_ROWS];
    size_t nrows;
};

/* What has no formula, and what answers the question instead. */
static int task_refused(const struct plan_task *t, const hsy_error *err)
{
    return cli_fail("%s: %s: %s", t->info.mechanism, err->msg,
                    t->info.kind == HSY_KIND_STRINGS &&
                            strcmp(t->info.mechanism, "rappor") != 0
                        ? "'hearsay plan --strings' says what share of people "
                          "a search finds, 'hearsay simulate --discover' tries "
                          "it"
                        : "'hearsay simulate --data' measures its error on "
                          "people of known truth");
}

/* 1, 2, 4 ... rounds, and all of them. */
static int task_rows(struct plan_task *t)
{
    for (uint64_t rounds = 1;; rounds *= 2) {
        struct plan_task_row *row = &t->row[t->nrows++];
        hsy_error err = {0};

        row->rounds = rounds < t->rounds ? rounds : t->rounds;
        if (hsy_attend_expect(row->sd, t->release.scheme, t->release.permanent,
                              t->share, t->devices * t->release.task.sends,
                              row->rounds, t->release.rounds, &err) != HSY_OK)
            return task_refused(t, &err);
        row->sd[0] *= shares_unit(&t->info);
        row->sd[1] *= shares_unit(&t->info);
        if (row->rounds == t->rounds)
            return 0;
    }
}

/* ---- Printing ------------------------------------------------------------ */

static const struct cli_column task_columns[] = {
    {"days", NULL},
    {"rounds", NULL},
    {"reports", NULL},
    {"stderr_people", "std. error, people"},
    {"stderr_population", "std. error, population"},
};

static void task_cell(const void *ctx, size_t row, size_t column,
                      struct cli_cell *out)
{
    const struct plan_task *t = ctx;
    const struct plan_task_row *r = &t->row[row];
    const bool mean = t->info.kind == HSY_KIND_NUMBER;

    if (column < 3) {
        const uint64_t counts[] = {r->rounds * t->days, r->rounds,
                                   r->rounds * t->devices *
                                       t->release.task.sends};

        *out = cli_count(counts[column]);
    } else {
        *out = cli_number(r->sd[column - 3]);
        snprintf(out->shown, sizeof out->shown, "%.4g%s",
                 (mean ? 1 : 100) * out->number, mean ? "" : " %");
    }
}

static void task_say(const struct plan_task *t)
{
    const hsy_ratio sample = t->release.task.sample;

    printf("%s, epsilon %.9g, %" PRIu64 " devices that all stay, rounds of "
           "%" PRIu32 " day%s",
           t->info.mechanism, t->info.epsilon, t->devices, t->days,
           t->days == 1 ? "" : "s");
    if (t->info.kind != HSY_KIND_NUMBER)
        printf(", a share of %.4g", t->share);
    if (sample.num != sample.den)
        printf("\n(the task asks %" PRIu64 " of %" PRIu64 " devices)",
               sample.num, sample.den);
    if (t->over)
        printf("\nthe task is over after %" PRIu32 " days", t->length);
    puts("\n");
}

static void task_print(const struct plan_task *t, enum cli_format format)
{
    const struct cli_table table = {task_columns,
                                    sizeof task_columns / sizeof *task_columns,
                                    t->nrows, task_cell, t};
    const struct cli_field fields[] = {
        {"task", cli_text(t->release.task.id)},
        {"mechanism", cli_text(t->info.mechanism)},
        {"epsilon", cli_number(t->info.epsilon)},
        {"epsilon_permanent", t->info.epsilon_lifetime > 0
                                  ? cli_number(t->info.epsilon_lifetime)
                                  : (struct cli_cell){.type = CLI_NONE}},
        {"devices", cli_count(t->devices)},
        {"task_days", cli_count(t->length)},
        {"share", t->info.kind == HSY_KIND_NUMBER
                      ? (struct cli_cell){.type = CLI_NONE}
                      : cli_number(t->share)},
    };

    if (format == CLI_TABLE)
        task_say(t);
    cli_print(format, &table, fields, sizeof fields / sizeof *fields, "rounds");
    if (format != CLI_TABLE)
        return;
    putchar('\n');
    if (t->release.permanent != NULL)
        puts("Answers are kept for a slot: more days do not bring the error "
             "below that of the\nkept answers. Where devices come and go it is "
             "larger for the same reports.");
    else if (t->nrows > 1)
        puts("Every round has fresh coins: the noise averages out, and so does "
             "the privacy.\n'hearsay account compose' adds up what is told.");
}

/* ---- Reading ------------------------------------------------------------- */

static int task_plan(struct plan_task *t, const hsy_task *task, uint64_t days)
{
    const uint32_t length = task->end - task->start;
    const uint32_t slot = task->slot_days != 0 ? task->slot_days : length;
    const double taking = (double)task->sample.num / (double)task->sample.den;

    t->length = length;
    t->over = days > length;
    t->days = task->round_days != 0 ? task->round_days : slot;
    t->rounds = (days < length ? days : length) / t->days;
    t->devices = (uint64_t)((double)t->devices * taking);
    if (t->rounds == 0)
        return cli_fail("--days %" PRIu64 ": no round ends by then: one of "
                        "'%s' has %" PRIu32 " days",
                        days, task->id, t->days);
    if (t->devices == 0)
        return cli_fail("--devices: none of them takes part: the task asks a "
                        "sample of %.4g",
                        taking);
    return 0;
}

static int task_run(struct plan_task *t, const struct plan_options *o,
                    const hsy_task *task)
{
    hsy_release *release = NULL;
    int failed = cli_release_new(&release, task);

    if (failed)
        return failed;
    hsy_release_describe(release, &t->release);
    hsy_scheme_info(t->release.scheme, &t->info);
    t->share = o->has_share ? o->share : 0.5;
    if (o->has_share && t->info.kind == HSY_KIND_NUMBER) {
        free(release);
        return cli_fail("--share: '%s' asks for a mean", task->id);
    }
    failed = task_plan(t, task, o->days);
    if (!failed)
        failed = task_rows(t);
    if (!failed)
        task_print(t, o->format);
    free(release);
    return failed ? failed : cli_finish();
}

int plan_task(const struct plan_options *o, const char *where,
              struct cli_parser *p)
{
    const char *colon = strrchr(where, ':');
    struct plan_task t = {.devices = o->devices};
    struct task_file tasks = {0};
    char *path;
    size_t i;
    int failed;

    if (colon == NULL || colon == where || colon[1] == '\0')
        return cli_usage(p, "--task takes FILE:ID, as tasks.yaml:browser");
    if (o->days == 0 || o->devices == 0)
        return cli_usage(p, "--task takes --days T and --devices N");
    path = strndup(where, (size_t)(colon - where));
    if (path == NULL)
        return cli_fail_nomem();
    failed = cli_tasks_open(&tasks, path, false);
    i = failed ? 0 : task_file_find(&tasks, colon + 1);
    if (!failed && i == tasks.n)
        failed = cli_fail("%s: there is no task '%s'", path, colon + 1);
    if (!failed)
        failed = task_run(&t, o, &tasks.all[i]);
    task_file_clear(&tasks);
    free(path);
    return failed;
}
