/* internal.h - what the files of hearsay plan share. */
#ifndef CLI_PLAN_INTERNAL_H
#define CLI_PLAN_INTERNAL_H

#include "cli/base/base.h"

/* The four numbers of which one is to be found. */
enum plan_number { PLAN_ALPHA = 0, PLAN_N, PLAN_BETA, PLAN_EPSILON };

#define PLAN_NUMBERS 4u

struct plan_options {
    bool has[PLAN_NUMBERS];
    double given[PLAN_NUMBERS];
    uint64_t nano_epsilon;
    bool all, has_share;
    bool percent; /* alpha is said as 1% */
    double share, prior;
    uint64_t answers; /* of one person */
    hsy_search search;
    const char *plot, *plot_learned;
    const char *task;       /* FILE:ID; NULL: a question of its own */
    uint64_t days, devices; /* with it */
    enum cli_format format;
};

/* A question at some epsilon. */
struct plan_case {
    hsy_info info;
    double unit; /* of a mean: the width of its range; of a share 1 */
    hsy_accuracy accuracy;
    hsy_stage stages[HSY_STAGES_MAX]; /* of a discovery */
    size_t nstages;                   /* 0: it is none */
};

struct plan {
    struct plan_options options;
    struct cli_spec spec;
    enum plan_number missing;
    struct plan_case at; /* at the epsilon given or found */
    bool there[HSY_BOUNDS];
    double found[HSY_BOUNDS];    /* the missing number by each bound */
    double number[PLAN_NUMBERS]; /* all four, the missing one by the first
                                    bound that is there */
    double limit;                /* n times the least variance known */
};

#define PLAN_TASK_ROWS 64u

/* What to expect of a task, printed to stdout (plan_task.c); the exit code. */
int plan_task(const struct plan_options *o, const char *where,
              struct cli_parser *p);

/* Names of numbers and bounds, as options and in json. */
extern const char *const plan_number_names[];
extern const char *const plan_bound_names[];

/* What the question is at an epsilon (solve.c). 0, or the exit code after
 * a message. */
int plan_case(struct plan_case *c, const struct plan *p, uint64_t nano_epsilon);

/* The error at this many people, and the chance of more. */
double plan_alpha(const struct plan_case *c, hsy_bound bound, double n,
                  double beta);

/* Find the missing number. 0, or the exit code after a message. */
int plan_solve(struct plan *p);

/* The chance that whoever believed something with chance `prior` can be brought
 * to believe it with, by answers of so much epsilon together. */
double plan_posterior(double prior, double epsilon);

/* Print to stdout (plan_show.c), and draw (plan_plot.c): 0, or the exit code.
 */
void plan_show(const struct plan *p);
int plan_plot(const struct plan *p);
int plan_plot_learned(const struct plan *p);

#endif
