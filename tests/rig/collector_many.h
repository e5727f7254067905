/*
 * collector_many.h - nodes of a cluster in the world of collector_world.h, on
 * databases that fail over (fake_pg.h): src/server/cluster as it is.
 *
 * Nodes take turns in one thread, wherever they wait for a database; whose turn
 * it is, when a standby has what, which answers are lost, which servers and
 * nodes die, is drawn from the world's seed.
 */
#ifndef COLLECTOR_MANY_H
#define COLLECTOR_MANY_H

#include "rig/collector_world.h"
#include "rig/fake_pg.h"

#include <time.h>

#define MANY_NODES 3u

extern const struct world_collector world_many;

/* Of all seeds since the start. */
extern struct many_seen {
    uint64_t failovers, zombies, restarts, kills, cuts, cancelled, doubts,
        folds, groups;
} many_seen;

/* What the clients do wrong from now on. */
void many_slips(enum fake_slip slip);

/* How many of n ids go to the first of two shards; keyed: as they do, else as
 * if ids were not hashed with a key. */
size_t many_first(struct world *w, const uint8_t (*ids)[16], size_t n,
                  bool keyed);

/* The time of the simulation, which goes on a little. A program that runs one
 * has a clock_gettime of its own that says it. */
void many_time(struct timespec *t);

#endif
