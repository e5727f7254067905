/* internal.h - what the files of what is shown share. */
#ifndef SERVER_COLLECTOR_SHOWN_INTERNAL_H
#define SERVER_COLLECTOR_SHOWN_INTERNAL_H

#include "server/collector/shown/shown_keep.h"

#include <pthread.h>
#include <stdatomic.h>

hsy_status shown_view_copy(struct shown_view *out, const struct shown_view *v);

/* What is shown of an epoch; zeros: nothing. */
struct shown_epoch shown_view_at(const struct shown_view *v, uint32_t epoch);

struct shown {
    struct shown_options o;
    pthread_mutex_t renewing; /* one at a time; taken before the others */
    bool failing;             /* the last one could not be made; renewing */
    bool blind;               /* nor others' be read; whose thread ticks */
    atomic_uint paused;       /* backups that are made: none is renewed then */
    uint64_t moment;          /* of the grid, the last; whose thread ticks */
    pthread_mutex_t
        keep_lock;            /* of the keep; what it holds is what views say */
    struct shown_keep *keep;  /* owned */
    pthread_mutex_t lock;     /* of the views, for moments */
    struct shown_view *views; /* by entry; owned */
    size_t n;
};

/* ---- shown.c ------------------------------------------------------------- */

/* The first day whose tally is there, and stays for `spare` days. */
uint32_t shown_kept(const struct shown *s, uint32_t spare);

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

/* ---- others.c: what other nodes have put --------------------------------- */

/* Put what the keep has in the views. */
hsy_status shown_read(struct shown *s, hsy_error *err);

/* Enter an entry (shown_keep.h): *v, ours, becomes what is there. With the
 * lock of the keep, or `renewing` for makers. */
hsy_status shown_enter(struct shown *s, enum shown_turn turn,
                       const struct roster_entry *is, struct shown_view *v,
                       bool *newer, hsy_error *err);

/* Leave it, with the lock of the keep; a newer view is shown from here on. st:
 * what came of it, and what is returned if that was a failure. */
hsy_status shown_leave(struct shown *s, enum shown_turn turn,
                       const struct roster_entry *is,
                       const struct shown_view *v, bool newer, hsy_status st,
                       hsy_error *err);

#endif
