/* tasks.h - what others need of the files that read tasks.yaml. */
#ifndef HOST_TASKS_TASKS_H
#define HOST_TASKS_TASKS_H

#include "hearsay_host.h"

/* All of a file of at most YAML_FILE_MAX bytes, owned by the caller. HSY_E_IO
 * with errno, HSY_E_RANGE if it is longer, HSY_E_NOMEM. */
hsy_status tasks_slurp(uint8_t **out, size_t *len, const char *path);

/* Where the file is, for the files that it names; NULL: out of memory. */
char *tasks_directory(const char *path);

bool tasks_date(uint32_t *day, const char *text); /* 2026-01-31 */
/* A moment, UTC: a day (its noon), 2026-01-31T08:30Z or T08:30:00Z, or seconds
 * since 1970. */
bool tasks_time(uint64_t *seconds, const char *text);

#endif
