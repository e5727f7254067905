/*
 * copies.h - backups of a running collector: by hand, and every backup_hours.
 *
 * A backup is a data directory of its own (store.h), looked through before it
 * gets its name. Those by hand are backup-2026-11-16, then with -2 and so on;
 * they stay. Those of the schedule end in -scheduled, or -scheduled-2; once one
 * more is whole, all but the latest backup_keep of them are removed.
 */
#ifndef SERVER_COLLECTOR_COPIES_H
#define SERVER_COLLECTOR_COPIES_H

#include "server/collector/collector.h"

#define COPIES_PATH 4096u

struct copies;

/* Have the directory of backups for oneself as long as *fd is open, or -1: two
 * that make backups in one would remove what the other has begun.
 * HSY_E_REFUSED: another has it. */
hsy_status copies_hold(int *fd, const struct collector *c, hsy_error *err);

/* Make one now, any thread; its full name is in path. HSY_E_REFUSED if there is
 * no name left. What failed is in the log too. */
hsy_status copies_make(struct collector *c, bool scheduled,
                       char path[COPIES_PATH], hsy_error *err);

/* The schedule, a thread of its own; *out is NULL if there is none. */
hsy_status copies_start(struct copies **out, struct collector *c,
                        hsy_error *err);
void copies_stop(struct copies *s); /* NULL is allowed; waits for a backup */

#endif
