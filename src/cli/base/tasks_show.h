/* tasks_show.h - printing tasks. */
#ifndef CLI_BASE_TASKS_SHOW_H
#define CLI_BASE_TASKS_SHOW_H

#include "cli/base/tasks.h"

struct tasks_show {
    enum table_format format;
    bool labels;           /* in plain words, instead of the table */
    const char *signature; /* what is known of it, NULL: there is none */
};

/* 0, or the exit code after a message. */
int tasks_show(const struct task_file *t, const struct tasks_show *how);

#endif
