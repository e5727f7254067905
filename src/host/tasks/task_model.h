/* task_model.h - what the smallest batch of a shuffled task is worth. */
#ifndef HOST_TASKS_TASK_MODEL_H
#define HOST_TASKS_TASK_MODEL_H

#include "hearsay/host.h"

/* The smallest batch that is passed on. Who is not in the task's sample sends
 * null uploads, which hide nobody. */
hsy_batch task_model_batch(const hsy_task *task);

/* What that batch tells of one report with the task's delta, at most. */
hsy_status task_model_worth(hsy_worth *out, const hsy_release_info *info,
                            hsy_error *err);

#endif
