/* day.h - days since 1970 as people write them. */
#ifndef HOST_BASE_DAY_H
#define HOST_BASE_DAY_H

#include "lib/bits/day.h"

#include <stdbool.h>

/* A date from 1970 on, as 2026-01-31; false: it is none. */
bool day_parse(uint32_t *day, const char *text);

/* A moment, UTC: a day (its noon), 2026-01-31T08:30Z or T08:30:00Z, or seconds
 * since 1970. */
bool day_moment(uint64_t *seconds, const char *text);

#endif
