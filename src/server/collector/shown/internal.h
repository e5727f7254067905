/* internal.h - what the files of what is shown share. */
#ifndef SERVER_COLLECTOR_SHOWN_INTERNAL_H
#define SERVER_COLLECTOR_SHOWN_INTERNAL_H

#include "server/collector/shown/shown.h"

#include <pthread.h>
#include <stdatomic.h>

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
    struct shown_epoch *counts; /* ascending; owned */
    size_t ncounts;
    struct shown_block *blocks; /* ascending; owned */
    size_t nblocks;
    bool gone; /* it is retired: its tallies are forgotten */
};

void shown_view_clear(struct shown_view *v);
hsy_status shown_view_copy(struct shown_view *out, const struct shown_view *v);

/* What is shown of an epoch; zeros: nothing. */
struct shown_epoch shown_view_at(const struct shown_view *v, uint32_t epoch);

struct shown_file;

struct shown {
    struct shown_options o;
    pthread_mutex_t renewing; /* one at a time; taken before the others */
    bool failing;             /* the last one could not be made; renewing */
    atomic_uint paused;       /* backups that are made: none is renewed then */
    uint64_t moment;          /* of the grid, the last; whose thread ticks */
    pthread_mutex_t
        file_lock; /* of the file; what it holds is what views say */
    struct shown_file *file;
    pthread_mutex_t lock;     /* of the views, for moments */
    struct shown_view *views; /* by entry; owned */
    size_t n;
};

/* ---- shown.c ------------------------------------------------------------- */

/* The first day whose tally is there, and stays for `spare` days. */
uint32_t shown_kept(const struct shown *s, uint32_t spare);

/* The view of an entry; with the lock. NULL: there is none. */
const struct shown_view *shown_at(const struct shown *s, uint32_t entry);

/* A copy of it, to be cleared. */
hsy_status shown_get(struct shown *s, uint32_t entry, struct shown_view *out);

/* Room for the view of an entry. */
hsy_status shown_room(struct shown *s, uint32_t entry);

/* Put a view in the place of the one there; it becomes ours. */
hsy_status shown_set(struct shown *s, uint32_t entry, struct shown_view *v);

/* ---- lots.c: which lots there are ---------------------------------------- */

struct shown_ask {
    const struct roster_entry *is;
    bool daily;     /* it has a tally for each day */
    uint32_t kept;  /* the first day whose tally stays for a while */
    uint32_t begin; /* and the first that a new block may begin with */
    uint32_t open;  /* the first day that uploads are taken of */
    const struct store_count *live; /* by epoch, ascending */
    size_t n;
    const struct engine_batches *batches; /* that they came in, likewise */
    size_t nbatches;
};

/* A block with reports that are not shown: they are a lot, or are held. */
struct shown_lot {
    size_t block; /* its place now; SHOWN_FORMING: it is not one yet */
    uint32_t first, last;
    bool shown;
    uint64_t live; /* reports that its days have */
};

#define SHOWN_FORMING SIZE_MAX

struct shown_plan {
    struct shown_view next; /* as it will be; to be cleared */
    struct shown_lot *lots; /* owned */
    size_t nlots;
    bool rest; /* what is of no block is a lot too */
    bool any;  /* something is shown that was not */
};

/* HSY_E_RANGE: less is there than is shown. */
hsy_status shown_plan(struct shown_plan *out, const struct shown_view *now,
                      const struct shown_ask *ask);
void shown_plan_clear(struct shown_plan *p);

/* ---- shown_file.c: shown.db ---------------------------------------------- */

hsy_status shown_file_open(struct shown_file **out, const char *data,
                           hsy_error *err);
void shown_file_close(struct shown_file *f);

/* Hand over what is there: once for each entry, v becomes the taker's. */
hsy_status shown_file_read(struct shown_file *f,
                           hsy_status (*take)(void *ctx, uint32_t entry,
                                              struct shown_view *v),
                           void *ctx, hsy_error *err);

/* Tallies of an entry: block 0 is the whole, others are named by their first
 * day. Adds to words; none is none. */
hsy_status shown_file_add(struct shown_file *f, uint32_t entry, uint32_t block,
                          int64_t *words, size_t n, hsy_error *err);

struct shown_tally {
    uint32_t block;
    const int64_t *words;
};

/* Put a generation in the place of the last, durably; blocks that end before
 * `kept` lose their tallies. */
hsy_status shown_file_put(struct shown_file *f, const struct roster_entry *is,
                          const struct shown_view *v, uint32_t kept,
                          const struct shown_tally *tallies, size_t n,
                          hsy_error *err);

/* Let the tallies of an entry's blocks that end before a day go, and the
 * blocks; all: every tally of the entry. */
hsy_status shown_file_forget(struct shown_file *f, uint32_t entry,
                             uint32_t before, bool all, hsy_error *err);
hsy_status shown_file_backup(struct shown_file *f, const char *directory,
                             hsy_error *err);

#endif
