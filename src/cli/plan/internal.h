/* internal.h - what the files of hearsay plan share. */
#ifndef CLI_PLAN_INTERNAL_H
#define CLI_PLAN_INTERNAL_H

#include "cli/base/base.h"
#include "host/plan/plan.h"

struct plan_options {
    bool has[PLAN_NUMBERS];
    bool percent; /* alpha is said as 1% */
    const char *plot, *plot_learned;
    const char *task;       /* FILE:ID; NULL: a question of its own */
    uint64_t days, devices; /* with it */
    int model;              /* plan_models */
    uint64_t min_batch;     /* of shuffled reports, */
    uint64_t nano_central;  /* 0: the report's epsilon is given */
    double delta, honest;
    enum table_format format;
};

/* What is asked on the command line, and what is answered. */
struct plan_run {
    struct plan_options options;
    struct cli_spec spec;
    struct plan_question question;
    struct plan plan;
};

/* A batch of shuffled reports, printed to stdout (plan_shuffled.c); the exit
 * code. */
int plan_shuffled_show(const struct plan_run *x);

/* What to expect of a task, printed to stdout (plan_task.c); the exit code. */
int plan_task_show(const struct plan_run *x, struct cli_parser *p);

/* Print to stdout (plan_show.c). */
void plan_show(const struct plan_run *x);

#endif
