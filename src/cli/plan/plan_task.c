/* plan_task.c - what to expect of a task as its days go by. */
#include "cli/plan/internal.h"

#include "cli/base/tasks.h"
#include <inttypes.h>
#include <stdlib.h>

/* ---- Printing ------------------------------------------------------------ */

static const struct table_column task_columns[] = {
    {"days", NULL},
    {"rounds", NULL},
    {"reports", NULL},
    {"stderr_people", "std. error, people"},
    {"stderr_population", "std. error, population"},
};

static void task_cell(const void *ctx, size_t row, size_t column,
                      struct table_cell *out)
{
    const struct plan_task *t = ctx;
    const struct plan_task_row *r = &t->row[row];
    const bool mean = t->info.kind == HSY_KIND_NUMBER;

    if (column < 3) {
        const uint64_t counts[] = {r->rounds * t->days, r->rounds, r->reports};

        *out = cell_count(counts[column]);
    } else {
        *out = cell_number(r->sd[column - 3]);
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

static void task_print(const struct plan_task *t, enum table_format format)
{
    const struct table table = {task_columns,
                                sizeof task_columns / sizeof *task_columns,
                                t->nrows, task_cell, t};
    const struct table_field fields[] = {
        {"task", cell_text(t->release.task.id)},
        {"mechanism", cell_text(t->info.mechanism)},
        {"epsilon", cell_number(t->info.epsilon)},
        {"epsilon_permanent", t->info.epsilon_permanent > 0
                                  ? cell_number(t->info.epsilon_permanent)
                                  : (struct table_cell){.type = CELL_NONE}},
        {"devices", cell_count(t->devices)},
        {"task_days", cell_count(t->length)},
        {"share", t->info.kind == HSY_KIND_NUMBER
                      ? (struct table_cell){.type = CELL_NONE}
                      : cell_number(t->share)},
    };

    if (format == TABLE_ALIGNED)
        task_say(t);
    table_print(stdout, format, &table, fields, sizeof fields / sizeof *fields,
                "rounds");
    if (format != TABLE_ALIGNED)
        return;
    putchar('\n');
    if (t->release.permanent != NULL)
        puts("Answers are kept for a slot: more days do not reduce the error "
             "below that of the\nkept answers. If devices come and go, it is "
             "larger for as many reports.");
    else if (t->nrows > 1)
        puts("Every round has fresh noise: the noise averages out, and so does "
             "the privacy.\n'hearsay account compose' adds up the privacy "
             "loss.");
}

/* ---- Refusing ------------------------------------------------------------ */

/* What has no formula, and what answers the question instead. */
static int task_no_law(const struct plan_task *t, const hsy_error *err)
{
    return cli_fail(
        "%s: %s: %s", t->info.mechanism, err->msg,
        t->info.kind == HSY_KIND_STRINGS &&
                t->info.analysis != HSY_ANALYSIS_RAPPOR
            ? "use 'hearsay plan --strings' for the share of people that a "
              "search finds, or 'hearsay simulate discover'"
            : "use 'hearsay simulate study' to measure its error");
}

static int task_refused(const struct plan_task *t, uint64_t days,
                        const hsy_error *err)
{
    switch (t->why) {
    case PLAN_WHY_SHARE:
        return cli_fail("--share: leave it out; task '%s' asks for a mean",
                        t->release.task.id);
    case PLAN_WHY_DAYS:
        return cli_fail("--days %" PRIu64
                        ": no round ends by then; a round of '%s' has %" PRIu32
                        " days",
                        days, t->release.task.id, t->days);
    case PLAN_WHY_DEVICES:
        return cli_fail("--devices: too few for anyone to take part; the task "
                        "asks a sample of %.4g",
                        t->taking);
    default:
        return task_no_law(t, err);
    }
}

/* ---- Reading ------------------------------------------------------------- */

static int task_run(const struct plan_run *x, const hsy_task *task)
{
    const struct plan_task_how how = {x->options.devices, x->options.days,
                                      x->question.share};
    hsy_release *release = NULL;
    hsy_error err = {0};
    struct plan_task t;
    int failed = cli_release_new(&release, task);

    if (failed)
        return failed;
    if (plan_task(&t, release, &how, &err) != HSY_OK)
        failed = task_refused(&t, how.days, &err);
    else
        task_print(&t, x->options.format);
    free(release);
    return failed ? failed : cli_finish();
}

int plan_task_show(const struct plan_run *x, struct cli_parser *p)
{
    const struct plan_options *o = &x->options;
    struct task_file tasks = {0};
    size_t at = 0;
    int failed = cli_tasks_find(&tasks, &at, o->task, p);

    if (!failed)
        failed = task_run(x, &tasks.all[at]);
    task_file_clear(&tasks);
    return failed;
}
