/* task_model.h - what the smallest batch of a shuffled task is worth. */
#ifndef HOST_TASKS_TASK_MODEL_H
#define HOST_TASKS_TASK_MODEL_H

#include "hearsay/host.h"

/* How many seeds or cohorts devices keep for life, which reports show; 1: none
 * is kept. */
uint64_t task_model_pool(const hsy_release_info *info);

/* How many of the smallest batch are counted on, among those of one seed. */
uint64_t task_model_people(const hsy_task *task, uint64_t pool);

/* What that batch tells of one report with the task's delta, at most, and by
 * which bound: "blanket" or "clones". */
hsy_status task_model_worth(double *epsilon, const char **bound,
                            const hsy_release_info *info, hsy_error *err);

#endif
