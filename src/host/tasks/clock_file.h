/* clock_file.h - the clock of a rehearsal is a file: who simulates days writes
 * it, the collector reads it. */
#ifndef HOST_TASKS_CLOCK_FILE_H
#define HOST_TASKS_CLOCK_FILE_H

#include "hearsay.h"

/* The time in the file, as day_moment reads it. HSY_E_IO with errno,
 * HSY_E_FORMAT. */
hsy_status rehearsal_read(uint64_t *seconds, const char *path, hsy_error *err);

#endif
