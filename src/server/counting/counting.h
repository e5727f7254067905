/*
 * counting.h - where uploads are counted: on one machine, or on many.
 *
 * Whoever serves uploads and figures calls these functions and nothing below
 * them. counting_local is the engine of this process with its threads and its
 * SQLite store; counting_many (server/cluster) is any number of processes that
 * share PostgreSQL. Both promise the same: an upload that is acknowledged is
 * counted once, and stays counted.
 *
 * `view` is what this process knows of what was counted: the functions of
 * engine.h that any thread may call are asked about it.
 */
#ifndef SERVER_COUNTING_COUNTING_H
#define SERVER_COUNTING_COUNTING_H

#include "server/engine/workers.h"

struct counting {
    const struct counting_functions *ops;
    struct engine *view;
};

/* Threads that counting has, for who asks whether they still answer. */
enum counting_half { COUNTING_ADMITS, COUNTING_FOLDS };

struct counting_functions {
    const char *name; /* a word for logs and metrics */

    /* The threads; from here on uploads can be handed in. */
    hsy_status (*start)(struct counting *c, const struct workers_options *o,
                        hsy_error *err);

    /* Hand in a submission; false if there is no room (answer 503). Its outcome
     * is HSY_OK: the verdicts stand, and what they acknowledge is durable;
     * HSY_E_FULL: nothing was counted; anything else: say nothing. */
    bool (*submit)(struct counting *c, struct submission *s);
    void (*times)(struct counting *c, struct workers_times *out);

    /* Any thread; these wait. As the functions of engine.h say, and HSY_E_BUSY
     * where it is not known now: try again. */
    hsy_status (*document)(struct counting *c, const uint8_t *bytes, size_t len,
                           hsy_error *err);
    hsy_status (*merge)(struct counting *c, uint32_t entry,
                        const uint8_t *bytes, size_t len, hsy_error *err);
    hsy_status (*received)(struct counting *c, const uint8_t id[STORE_BATCH_ID],
                           struct store_received *out, hsy_error *err);
    hsy_status (*receive)(struct counting *c, struct engine_delivery *d,
                          hsy_error *err);
    hsy_status (*keep)(struct counting *c, const struct store_figure *figure,
                       hsy_error *err);
    hsy_status (*figures)(struct counting *c, const struct store_reader *to,
                          hsy_error *err);
    /* engine_retire_task of a release; without a task engine_purge before a
     * day. */
    hsy_status (*retire)(struct counting *c, const char *task, uint32_t which,
                         uint64_t *n, hsy_error *err);

    /* Call job while nothing is folded, after what was acknowledged of the
     * entry before is in its tallies, or as much of it as a while allows: the
     * functions of engine.h that belong to folding and only read. */
    hsy_status (*look)(struct counting *c, uint32_t entry, workers_job *job,
                       void *ctx, hsy_error *err);

    /* Returns once that half has turned. */
    void (*answer)(struct counting *c, enum counting_half half);

    /* Copy everything to a directory, as store.h says. HSY_E_REFUSED where that
     * is the database's business. */
    hsy_status (*backup)(struct counting *c, const char *directory,
                         const struct store_beside *beside, hsy_error *err);

    /* Finish what was handed in and end the threads. */
    hsy_status (*stop)(struct counting *c, hsy_error *err);
    void (*close)(struct counting *c);
};

/* The store in a data directory, made if it is not there, and the engine on it;
 * rehearsal: it is one, and stays one. */
hsy_status counting_local_open(struct counting **out, const char *data,
                               bool rehearsal, const struct engine_options *o,
                               hsy_error *err);

/* Its store; NULL: it is none of this machine's. */
struct store *counting_store(struct counting *c);

/* Stop if it runs, and close; NULL is allowed. */
void counting_close(struct counting *c);

/* ---- Calls --------------------------------------------------------------- */

static inline bool counting_submit(struct counting *c, struct submission *s)
{
    return c->ops->submit(c, s);
}

static inline void counting_times(struct counting *c, struct workers_times *out)
{
    c->ops->times(c, out);
}

static inline hsy_status counting_look(struct counting *c, uint32_t entry,
                                       workers_job *job, void *ctx,
                                       hsy_error *err)
{
    return c->ops->look(c, entry, job, ctx, err);
}

#endif
