/*
 * zoo_collector.h - collectors that forget ids or reports in ways others did.
 *
 * A plain collector in the world of collector_world.h: it counts an upload
 * unless it sees the id among those it remembers, and acknowledges once its
 * disk has synced that. What was not synced is gone after a crash. What it sees
 * or when it syncs may be wrong, nothing else; the right one must pass.
 */
#ifndef ZOO_COLLECTOR_H
#define ZOO_COLLECTOR_H

#include "rig/collector_world.h"

#define ZOO_GRACE 2u /* days, as the rig's */

struct zoo_known {
    uint8_t id[16], digest[32];
    uint32_t epoch, tick, turn;
    uint32_t task, cell;
    int64_t weight; /* what it adds to its cell */
    bool durable;   /* a crash leaves it */
    bool dropped;   /* its sync failed, and no later one brings it back */
};

/* What a collector remembers. */
struct zoo_books {
    uint32_t day;
    uint32_t tick;
    size_t n;
    size_t before; /* n when this group began */
    struct zoo_known known[2 * WORLD_ITEMS];
    int64_t cells[RIG_TASKS][WORLD_ITEMS];
    uint32_t syncs;
};

/* Whether the collector looks at an id that it has written down. */
typedef bool zoo_sees(const struct zoo_books *books, size_t i);

extern zoo_sees zoo_jobs_see_old_commits_sees, zoo_old_ids_dropped_sees,
    zoo_ten_minute_window_sees, zoo_ids_let_go_early_sees;

/* What an upload of reports adds to its cell, if it is counted, and how many
 * reports intake lets through. */
typedef int64_t zoo_weighs(const hsy_upload *head);

extern zoo_weighs zoo_count_believed_weighs;
extern const struct intake_gate zoo_count_believed_gate;

/* The clock says this day. */
typedef void zoo_told(struct zoo_books *books, uint32_t day);

extern zoo_told zoo_clock_believed_told;

/* Make durable what was written down; HSY_OK: it is acknowledged. */
typedef hsy_status zoo_sync(struct zoo_books *books);

extern zoo_sync zoo_ack_before_sync_sync, zoo_sync_retried_sync,
    zoo_commits_over_another_sync;
extern zoo_sync zoo_swap_sync; /* as commits_over_another, and right */

/*
 * The disk's own sync, which now and then fails as those of Linux do: once, and
 * the pages that it could not write count as clean from then on.
 */
#define ZOO_EIO 29u /* every so many syncs */

static inline hsy_status zoo_disk(struct zoo_books *books)
{
    const bool fails = ++books->syncs % ZOO_EIO == 0;

    for (size_t i = 0; i < books->n; i++) {
        struct zoo_known *k = &books->known[i];

        k->dropped |= fails && !k->durable;
        k->durable |= !k->dropped;
    }
    return fails ? HSY_E_IO : HSY_OK;
}

#endif
