/* tasks.h - what others need of the files that read tasks.yaml. */
#ifndef HOST_TASKS_TASKS_H
#define HOST_TASKS_TASKS_H

#include "hearsay_host.h"

/* Where the file is, for the files that it names; NULL: out of memory. */
char *tasks_directory(const char *path);

#endif
