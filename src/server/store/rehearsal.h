/*
 * rehearsal.h - a collector whose clock is a file.
 *
 * So that weeks can be rehearsed in seconds: `hearsay simulate fleet --days`
 * moves the file on, the collector follows. What was counted under such a clock
 * is nobody's: a store is of a rehearsal from its first day on, or never.
 */
#ifndef SERVER_STORE_REHEARSAL_H
#define SERVER_STORE_REHEARSAL_H

#include "host/tasks/clock_file.h"
#include "server/store/store.h"

/* The mark, among the names of merged tallies. */
extern const uint8_t rehearsal_name[STORE_MERGED];

/* Mark a store that was never used, or see that it is of the sort that is
 * wanted: HSY_E_REFUSED. state is what it was opened with, and follows. */
hsy_status rehearsal_mark(struct store *s, struct store_state *state,
                          bool rehearsal, hsy_error *err);

#endif
