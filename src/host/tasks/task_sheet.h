/* task_sheet.h - a document's deployment sheet, as a data-protection officer
 * asks for it. */
#ifndef HOST_TASKS_TASK_SHEET_H
#define HOST_TASKS_TASK_SHEET_H

#include "host/tasks/task_cost.h"

#include <stdio.h>

/* Markdown. costs are the file's; signature: what is known of it, NULL if a
 * tasks.yaml was read. What a document cannot know is left as "[ ... ]".
 * Whether it was written the stream says. */
void task_sheet_write(FILE *to, const struct task_file *file,
                      const struct task_costs *costs, const char *signature);

#endif
