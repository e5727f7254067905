/* task_cost.h - what a task costs whoever answers it, as its reports add up;
 * what its smallest batch is worth; both in a deployment sheet. */
#ifndef HOST_TASKS_TASK_COST_H
#define HOST_TASKS_TASK_COST_H

#include "host/tasks/task_file.h"

#include <stdio.h>

/* Numbers of reports of a slot after which epsilon is told. */
enum task_cost_after {
    TASK_COST_7,
    TASK_COST_30,
    TASK_COST_ALL, /* of the slot */
    TASK_COST_AFTER
};

struct task_cost {
    const hsy_task *task; /* the file's */
    hsy_release *release; /* owned */
    hsy_release_info info;
    hsy_scheme_info scheme;
    hsy_permanent_info memo;
    double after[TASK_COST_AFTER]; /* NaN: no kept answer, or fewer reports */
};

/* Of every task of a file. Zero it to begin; clear it after a failure too. */
struct task_costs {
    struct task_cost *rows; /* owned */
    size_t n;
};

/* *at is the task that could not be resolved. */
hsy_status task_costs_open(struct task_costs *l, const struct task_file *t,
                           size_t *at, hsy_error *err);
void task_costs_clear(struct task_costs *l);

/* Whether one of them keeps its answers, and changes them at least so often a
 * slot, and at most so often. */
bool task_costs_keep(const struct task_costs *l, uint32_t least, uint32_t most);

/* ---- Shuffled tasks (task_model.c) --------------------------------------- */

/* The smallest batch that is passed on. Who is not in the task's sample sends
 * null uploads, which hide nobody. */
hsy_batch task_model_batch(const hsy_task *task);

/* What that batch tells of one report with the task's delta, at most. */
hsy_status task_model_worth(hsy_worth *out, const hsy_release_info *info,
                            hsy_error *err);

/* Nano-epsilon by which a claim may be below what is found: where an epsilon is
 * found by halving its last digits differ. */
#define TASK_MODEL_SLACK 1000u

/* Returns true if the task is not shuffled, or its central epsilon is at least
 * that of task_model_worth. Takes some milliseconds. */
bool task_model_proved(const hsy_release_info *info);

/* The same of all tasks of a document: HSY_E_RANGE with the task's place. */
hsy_status task_model_check(const hsy_document *doc, hsy_error *err);

/* ---- The sheet (task_sheet.c) -------------------------------------------- */

/* Markdown. costs are the file's; signature: what is known of it, NULL if a
 * tasks.yaml was read. What a document cannot know is left as "[ ... ]".
 * Whether it was written the stream says. */
void task_sheet_write(FILE *to, const struct task_file *file,
                      const struct task_costs *costs, const char *signature);

#endif
