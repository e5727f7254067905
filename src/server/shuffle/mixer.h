/*
 * mixer.h - what a shuffler does with sealed envelopes: it closes batches,
 * mixes them, has them delivered, and erases them.
 *
 * Envelopes rest in the store (STORE_SEALED). What is decided about them is a
 * row of the store, and every change of one is a transaction:
 *
 *   WAITING  too few came by the end of an epoch; they join the next one's.
 *            At a later hop: too few of a batch opened; they are a file, and
 *            join the next batch of their period
 *   CLOSED   these and no others are a batch
 *   MIXED    the batch is a file, whose digest the row has; it is never mixed
 *            again, and these bytes are what is sent
 *   ACKED    the next hop has it: its receipt is in the row
 *   ERASED   the envelopes and the file are gone
 *   EXPIRED  too few for too long: they are being erased, unsent
 *   GONE     and have been
 *
 * mixer.c has the argument why nothing is lost or sent twice as two batches.
 * A batch is closed by time and never by number, so that nobody can make a
 * shuffler flush one. Its envelopes are of one period (seal.h), so that no
 * later hop can tell some of them from others by the period that opens them.
 * Nothing here reads a clock or makes a thread: one thread calls all of it.
 */
#ifndef SERVER_SHUFFLE_MIXER_H
#define SERVER_SHUFFLE_MIXER_H

#include "server/shuffle/batch_wire.h"

#define MIXER_UPLOAD_ID 16u /* before each envelope of the first hop */
#define MIXER_DAYS 35u      /* rows that are over are kept for so long, */
#define MIXER_ROWS 512u     /* and so many of a task */

/* A task of which this shuffler is a hop. */
struct mixer_task {
    uint32_t entry; /* of the store */
    char task[HSY_TASK_ID + 1];
    uint32_t release;
    uint8_t scheme[HSY_DIGEST];
    uint8_t terms[HSY_DIGEST]; /* that envelopes were made under */
    uint32_t place, of;        /* from 1 on, and how many hops there are */
    uint32_t first, last;      /* epochs of which uploads may come */
    uint64_t min_batch;
    uint32_t max_wait;    /* epochs */
    uint32_t close_after; /* seconds after the end of an epoch */
    uint32_t length;      /* of an envelope as it comes to this hop */
    bool shut; /* the key that opens them is not here: they wait for it */
    uint8_t before[HSY_SIGN_KEY]; /* signs for the hop before, if any */
    uint8_t next[HSY_SIGN_KEY];   /* signs receipts */
};

struct mixer_options {
    size_t size;           /* sizeof(struct mixer_options) */
    struct store *store;   /* the caller's; must outlive the mixer */
    const char *directory; /* of the store; files are in its `mixed` */
    hsy_rng rng;
    uint64_t part; /* envelopes of a batch, at most; 0: BATCH_MOST */
    uint8_t key[HSY_SIGN_KEY], secret[HSY_SIGN_SECRET];

    /* Take a layer off: out has length - BATCH_LAYER bytes. epoch and id are
     * the upload's. Beyond the first hop id is NULL and epoch is today; *late:
     * the envelope is of the period before today's. HSY_E_REFUSED,
     * HSY_E_UNKNOWN: it does not open, and is counted; anything else ends the
     * mixing. */
    hsy_status (*peel)(void *ctx, uint8_t *out, bool *late,
                       const struct mixer_task *task, uint32_t epoch,
                       const uint8_t *id, const uint8_t *envelope);
    /* Told before each change of a file; may be NULL. */
    void (*moment)(void *ctx);
    void *ctx;
};

struct mixer;

/* Read back how far all batches are. HSY_E_DAMAGED: the file of a mixed one is
 * missing. Files of no batch are removed. */
hsy_status mixer_open(struct mixer **out, const struct mixer_options *options,
                      hsy_error *err);
void mixer_close(struct mixer *m); /* NULL is allowed */

/* The tasks there are; those that are gone are still mixed and delivered while
 * they have batches, so they stay in the list. The mixer keeps a copy. */
hsy_status mixer_tasks(struct mixer *m, const struct mixer_task *tasks,
                       size_t n, hsy_error *err);

/* The time in seconds since 1970, the day that is believed (engine_status), the
 * last epoch of which no upload comes any more, and the last commit that is
 * durable. */
struct mixer_time {
    uint64_t wall;
    uint32_t day, closed;
    uint64_t seq;
};

/* At a first hop: close what is due, or let it wait, or let it expire. At a
 * later hop: let what has waited for more than max_wait days expire. Then
 * forget rows that are over. Comes before mixer_step. */
hsy_status mixer_decide(struct mixer *m, const struct mixer_time *now,
                        hsy_error *err);

/* At a later hop: a batch came, and the commit that took it has put this row.
 */
hsy_status mixer_came(struct mixer *m, const struct store_mix *row,
                      hsy_error *err);

/* Mix one batch, or erase a bounded number of envelopes; *more if there is
 * something left to do. HSY_E_FULL: nothing was changed, try again later. */
hsy_status mixer_step(struct mixer *m, bool *more, hsy_error *err);

/* The next batch that is mixed and not received, after one (NULL: the first):
 * false if there is none. */
struct mixer_parcel {
    uint8_t id[STORE_BATCH_ID];
    uint32_t entry;
    size_t heads;      /* bytes of the file before its envelopes */
    uint64_t bytes, n; /* of the file; envelopes in it */
};
bool mixer_parcel(const struct mixer *m, const uint8_t *after,
                  struct mixer_parcel *out);
/* Its bytes, those from a place on. HSY_E_IO. */
hsy_status mixer_parcel_read(const struct mixer *m,
                             const struct mixer_parcel *parcel, uint8_t *out,
                             uint64_t at, size_t len, hsy_error *err);
/* The next hop has given a receipt. HSY_E_REFUSED: it does not hold, and
 * nothing was changed. */
hsy_status mixer_acked(struct mixer *m, const uint8_t id[STORE_BATCH_ID],
                       const uint8_t receipt[STORE_RECEIPT], hsy_error *err);

/* Whether something is done about a row: a task has it, and if it is to be
 * mixed or delivered it is named by the key that signs. */
bool mixer_ours(const struct mixer *m, const struct store_mix *row);

/* Returns how many envelopes of a batch did not open at a later hop where the
 * others wait; 0 of any other row. Those of a batch that leaves are in its
 * head. */
uint64_t mixer_unopened(const struct store_mix *row);

/* All rows, in the order of entry, epoch, part; until the next call that
 * changes something. */
const struct store_mix *mixer_rows(const struct mixer *m, size_t *n);

#endif
