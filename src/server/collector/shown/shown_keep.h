/*
 * shown_keep.h - where generations are kept: on one machine, or for many.
 *
 * shown_file.c is shown.db in the data directory of one process. shown_many.c
 * (server/cluster) is a database that several nodes share: a generation that
 * one of them puts is shown by all, and no two make one of an entry at a time.
 */
#ifndef SERVER_COLLECTOR_SHOWN_SHOWN_KEEP_H
#define SERVER_COLLECTOR_SHOWN_SHOWN_KEEP_H

#include "server/collector/shown/shown.h"

/* Reports of an epoch that are shown: in all, and in the block of its day; and
 * the batches of shufflers that they came in. */
struct shown_epoch {
    uint32_t epoch;
    uint64_t reports, own, nulls;
    struct engine_sum came, own_came;
};

/* What is shown of an entry, without the tallies. */
struct shown_view {
    uint8_t digest[HSY_DIGEST]; /* of the entry's scheme */
    uint64_t generation;        /* 0: nothing is */
    uint64_t version;           /* another with each change, of a shared keep */
    uint32_t kept; /* blocks that end before have no tally: as far as a shared
                      keep knows */
    struct shown_epoch *counts; /* ascending; owned */
    size_t ncounts;
    struct shown_block *blocks; /* ascending; owned */
    size_t nblocks;
    bool gone; /* it is retired: its tallies are forgotten */
};

void shown_view_clear(struct shown_view *v);

/* In memory, what a keep forgets: blocks that end before a day; all: no block,
 * but every tally. */
void shown_view_forget(struct shown_view *v, uint32_t before, bool all);

/* A tally of an entry: block 0 is the whole, others are named by their first
 * day. */
struct shown_tally {
    uint32_t block;
    const int64_t *words;
};

/* For what an entry is entered: one thread at a time for each. */
enum shown_turn { SHOWN_READS, SHOWN_MAKES };

/* v becomes the taker's. */
typedef hsy_status shown_taker(void *ctx, uint32_t entry, struct shown_view *v);

struct shown_keep {
    const struct shown_keep_functions *ops;
};

/* A reader's calls (read, backup, and what stands between enter and leave) and
 * a maker's (put, forget, and likewise) may come from two threads at once if
 * the keep is shared; else from one at a time. */
struct shown_keep_functions {
    bool shared;

    /* Hand over what is there, once for each entry, but for those that have the
     * version known[entry]. */
    hsy_status (*read)(struct shown_keep *k, const uint64_t *known, size_t n,
                       shown_taker *take, void *ctx, hsy_error *err);

    /*
     * Of a shared keep alone; else NULL. From enter to leave an entry is as it
     * was at one moment, and for makers stays so. *v is changed if it is not of
     * the version that is there, and *newer then true: it may be shown once
     * leave returns HSY_OK, not before. After a failure there is no leave.
     */
    hsy_status (*enter)(struct shown_keep *k, enum shown_turn turn,
                        uint32_t entry, struct shown_view *v, bool *newer,
                        hsy_error *err);
    hsy_status (*leave)(struct shown_keep *k, enum shown_turn turn, bool newer,
                        hsy_error *err);

    /* Adds a tally to words; none is none. */
    hsy_status (*add)(struct shown_keep *k, enum shown_turn turn,
                      uint32_t entry, uint32_t block, int64_t *words, size_t n,
                      hsy_error *err);

    /* Put a generation in the place of the last, durably; blocks that end
     * before `kept` lose their tallies. HSY_E_BUSY: whether it was put is not
     * known. */
    hsy_status (*put)(struct shown_keep *k, const struct roster_entry *is,
                      struct shown_view *v, uint32_t kept,
                      const struct shown_tally *tallies, size_t n,
                      hsy_error *err);

    /* Let the tallies of an entry's blocks that end before a day go, and the
     * blocks; all: every tally of the entry. */
    hsy_status (*forget)(struct shown_keep *k, uint32_t entry, uint32_t before,
                         bool all, hsy_error *err);

    /* HSY_E_REFUSED where that is the database's business. */
    hsy_status (*backup)(struct shown_keep *k, const char *directory,
                         hsy_error *err);
    void (*close)(struct shown_keep *k);
};

/* shown.db in a directory, made if it is not there (shown_file.c). */
hsy_status shown_file_open(struct shown_keep **out, const char *data,
                           hsy_error *err);

#endif
