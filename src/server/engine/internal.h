/*
 * internal.h - what the files of the engine share.
 *
 * Whose a field is stands beside it. `lock` guards what both halves and others
 * look at; it is held for moments only, never during a call of the store. The
 * half that admits is alone in changing most of that, so it reads its own
 * changes without the lock.
 */
#ifndef SERVER_ENGINE_INTERNAL_H
#define SERVER_ENGINE_INTERNAL_H

#include "server/engine/engine.h"
#include "server/engine/fold.h"
#include "server/engine/ids.h"
#include "server/engine/portions.h"
#include "server/engine/quotas.h"

#include <pthread.h>

#define ENGINE_MARK 16u
#define ENGINE_UPLOAD_ID 16u /* bytes of an id before what is sealed */
#define ENGINE_REPORTS_MAX                                                     \
    ((uint64_t)1 << 56) /* of an entry: no sum of a                            \
                           tally comes near 2^63 */

/* A tally in memory. */
struct engine_tally {
    struct engine_tally *next; /* lock */
    uint32_t epoch;            /* 0: all epochs */
    bool touched;              /* since the last round; folding */
    bool begun;                /* from zeros, while reading back */
    uint64_t folded;           /* reports since then */
    hsy_tally view;            /* of words; folding */
    int64_t *words;
    uint8_t (*marks)[ENGINE_MARK]; /* of the chunks as the store has them */
};

/* A batch on its way from the store to the tallies. */
struct engine_batch {
    struct engine_batch *next;
    uint64_t seq;
    uint32_t entry, epoch, type;
    uint64_t reports;
    size_t len;
    uint8_t bytes[];
};

struct engine_queue {
    struct engine_batch *first, **end;
};

/* A batch that a shuffler delivered, as far as its counts go. */
struct engine_taken {
    uint64_t seq; /* of its commit; 0: it was read back, and is folded */
    uint32_t epoch;
    uint64_t n, nulls, unopened;
};

struct engine_entry {
    struct roster *roster; /* held, for what `is` leads to */
    const struct roster_entry *is;

    /* lock; only the half that admits changes them */
    struct store_count *counts; /* by epoch */
    size_t ncounts;
    uint64_t reports; /* in all */
    struct engine_taken *taken;
    size_t ntaken, taken_room;

    struct engine_tally *tallies; /* lock: the list, not what is in it */
    uint64_t waiting_bytes;       /* lock */
    bool refuses;                 /* lock: there is no memory for its tally */
    bool undated;                 /* lock: nor for those of some days */
    bool retired;                 /* lock; only the half that admits sets it */

    /* Of a mirror (mirror.h), lock: the counts that its tallies have. */
    struct store_count *folded;
    size_t nfolded;

    uint32_t slot; /* admitting: its first slot of this group, from 1 on */

    /* folding */
    uint64_t through; /* the last commit that is in its tallies */
    bool changed;     /* since the last round */
    bool chosen;      /* for this checkpoint */
    bool frozen;      /* it is being written: its batches wait */
    bool written;     /* all of it, and it waits for its round */
};

/* An entry in an epoch, within one group. */
struct admit_slot {
    uint32_t entry, epoch, next;
    enum { ADMIT_UNKNOWN, ADMIT_FITS, ADMIT_REFUSES } memory;
    uint64_t reports, nulls;
    uint64_t ids, enrolled; /* uploads without and with a token */
    uint64_t waiting;       /* bytes of the entry's batches, with these */
    struct engine_batch *batch;
    size_t room; /* of batch->bytes */
};

/* An upload as it stands in a batch. */
struct admit_upload {
    const uint8_t *bytes;
    size_t len;
};

struct admit_epoch {
    uint32_t epoch;
    bool null; /* of uploads that count nothing */
    struct store_id *ids;
    size_t n, room;
};

struct admit_quota {
    struct store_quota row;
    uint32_t added;
};

/* One group as it grows; the memory is kept for the next. */
struct admit {
    struct admit_slot *slots;
    struct admit_epoch *epochs;
    struct admit_quota *quotas;
    size_t nslots, slots_room, nepochs, epochs_room, nquotas, quotas_room;
    size_t waiting;    /* bytes of batches, those of before and these */
    hsy_status unread; /* an id could not be looked for */
    struct admit_upload *uploads; /* of one batch, while they are sorted */
    size_t uploads_room;

    /* As a store wants them. */
    struct store_ids *out_ids;
    struct store_batch *out_batches;
    struct store_count *out_counts;
    struct store_quota *out_quotas;
    size_t out_ids_room, out_batches_room, out_counts_room, out_quotas_room;
};

/* Reports of a batch as they are folded, and the checkpoint's place. */
struct fold {
    struct fold_space space;
    struct engine_queue ready, frozen; /* in the order of seq */
    struct engine_entry *writing;      /* its tallies are being written */
    struct engine_tally *tally;
    size_t chunk;   /* the next of that tally */
    size_t written; /* bytes since the last round */
};

/* How far the wall clock is believed (engine_clock.c). */
struct engine_clock {
    enum {
        ENGINE_CLOCK_FINE,
        ENGINE_CLOCK_JUMPED, /* ahead by more than it may gain; on trial */
        ENGINE_CLOCK_BEHIND  /* today is closed already */
    } state;
    uint32_t told;  /* the day it says; 0: nothing was told yet */
    uint32_t known; /* the day without it, by the last that was believed */
    uint64_t wall, steady; /* then: the anchor */
    uint64_t credit;       /* seconds that it may gain on the steady one */
    bool fresh;            /* since the start no trial has ended */
    bool quiet;            /* JUMPED, but as any clock at a first midnight */
    uint64_t since;        /* steady: the trial began */
    int64_t ahead;         /* wall less steady, then */
    uint64_t fit, unfit;   /* uploads of the trial: new days, old ones */
};

struct engine {
    struct store *store;
    bool mirror;         /* mirror.h */
    struct store *owned; /* closed with it; NULL: none */
    struct engine_options options;
    pthread_mutex_t lock;

    /* lock; only the half that admits changes them */
    struct roster *roster;
    uint8_t *document; /* of engine_document_make */
    size_t document_len;
    uint64_t version;     /* 0: there is none */
    uint32_t day, closed; /* the last day believed; epochs closed for ever */
    struct engine_clock clock;
    bool enrols;     /* some task wants tokens; any thread */
    uint32_t purged; /* closed days before this one have no tally */
    bool trim;       /* lock: there may be memory to give back */
    struct engine_entry **entries;
    size_t nentries;

    /* lock */
    struct engine_queue queue;
    struct engine_status status;

    /* admitting */
    struct ids *ids;
    struct quotas quotas;
    struct portions portions;
    struct admit admit;
    bool dead; /* the store has failed */

    struct fold fold; /* folding */
};

/* ---- engine.c ------------------------------------------------------------ */

/* An engine of a store that has nothing yet; NULL: out of memory. */
struct engine *engine_new(struct store *store, const struct store_state *state,
                          const struct engine_options *options);

/* Entries for those of the roster that have none yet. */
hsy_status engine_entries_make(struct engine *e, struct roster *roster,
                               hsy_error *err);

/* An entry; NULL: there is none. */
struct engine_entry *engine_entry_of(struct engine *e, size_t number);

/* A document that is shared, with one holder; NULL: out of memory. */
uint8_t *engine_document_make(const uint8_t *bytes, size_t len);

/* A document comes into force: its roster, its shared bytes, and the list of
 * entries (NULL: they are there), which are the engine's from now on. */
void engine_in_force(struct engine *e, struct engine_entry **all,
                     struct roster *roster, const hsy_document *doc,
                     uint8_t *copy);

/* The count of an entry in an epoch, made if there is none; with the lock.
 * NULL: out of memory. */
struct store_count *engine_count(struct engine_entry *x, uint32_t epoch);

/* The tally of an entry; NULL if there is none. With the lock. */
struct engine_tally *engine_tally_of(const struct engine_entry *x,
                                     uint32_t epoch);

/* A tally of zeros, made if there is none; with the lock. HSY_E_FULL if it
 * does not fit into `limit` bytes of all, HSY_E_NOMEM. */
hsy_status engine_tally_make(struct engine *e, struct engine_entry *x,
                             uint32_t epoch, size_t limit);
void engine_tally_free(struct engine_tally *t);

/* Take one out of its entry's list, and free it; with the lock. */
void engine_tally_drop(struct engine *e, const struct engine_entry *x,
                       struct engine_tally **at);

/* Whether an entry has a tally for each day, and whether that of this epoch is
 * still kept. */
bool engine_daily(const struct engine *e, const struct engine_entry *x);
bool engine_keeps(const struct engine *e, uint32_t epoch);

/* Whether one of its tallies stays; with the lock. */
bool engine_keeps_tally(const struct engine *e, const struct engine_entry *x,
                        const struct engine_tally *t);

/* What the tallies of a roster's tasks will take, days included. */
uint64_t engine_tally_need(const struct engine *e, const struct roster *r);

void engine_queue_init(struct engine_queue *q);
void engine_queue_push(struct engine_queue *q, struct engine_batch *b);
struct engine_batch *engine_queue_pop(struct engine_queue *q);

/* ---- engine_clock.c ------------------------------------------------------ */

/* An upload of this epoch was taken: what it says of a clock on trial. */
void engine_clock_heard(struct engine *e, uint32_t epoch, uint64_t n);

/* ---- commit_order.c ------------------------------------------------------ */

/* Put ids and uploads of the group in an order that says nothing. False: out of
 * memory. */
bool engine_order(struct engine *e);

/* ---- engine_rounds.c ----------------------------------------------------- */

/* How a merged tally of so many reports is counted: by its rounds, or if it has
 * none and nothing is kept as of no round; *out is to be freed. HSY_E_REFUSED,
 * HSY_E_MISMATCH if the task has no such round. */
hsy_status engine_rounds_counts(struct store_count **out, size_t *n,
                                const struct roster_entry *is,
                                const struct rounds *rounds, uint64_t reports,
                                hsy_error *err);

/* ---- engine_batches.c ---------------------------------------------------- */

/* Room for one more batch of an entry; with the lock. False: out of memory. */
bool engine_taken_room(struct engine_entry *x);

/* Note it, where there is room; with the lock. */
void engine_taken_add(struct engine_entry *x, const struct store_received *row,
                      uint64_t seq);

/* Those of the reports that engine_copy gives at this moment; by the thread
 * that folds. */
hsy_status engine_batches_of(struct batches *out, struct engine *e,
                             const struct roster_entry *is, uint32_t first,
                             uint32_t last, hsy_error *err);

/* ---- engine_runs.c ------------------------------------------------------- */

/* By the half that admits, between commits: adopt runs that were made; let
 * epochs become runs that have many ids in memory, or when nobody waits some.
 */
void engine_runs_status(struct engine *e);
hsy_status engine_runs_seal(struct engine *e, bool idle, hsy_error *err);

/* Say in the status how many ids there are; with the lock. */
void engine_count_ids(struct engine *e);

/* ---- engine_fold.c ------------------------------------------------------- */

/* The length of the upload at the beginning of a batch's bytes; 0: it is not
 * whole. */
size_t engine_upload_len(const struct roster_entry *is, const uint8_t *bytes,
                         size_t left, size_t *count);

/* Add a batch to the tallies of its entry, which are there. */
hsy_status engine_fold_batch(struct engine *e, struct engine_entry *x,
                             const struct store_batch *batch, hsy_error *err);

/* The entry is no longer written: its batches are the next to be folded. */
void engine_thaw(struct engine *e, struct engine_entry *x);

/* ---- checkpoint.c -------------------------------------------------------- */

/* What a chunk is known by: the same mark, the same chunk. */
void engine_mark(uint8_t mark[ENGINE_MARK], const int64_t *words, size_t n);
size_t engine_chunk_words(const struct engine_entry *x, size_t chunk);
size_t engine_chunks(const struct engine_entry *x);

/* ---- recover.c ----------------------------------------------------------- */

hsy_status engine_read(struct engine *e, hsy_error *err);

/* ---- engine_forget.c ----------------------------------------------------- */

/* HSY_OK if the store lives and has this entry. */
hsy_status engine_entry_there(const struct engine *e, uint32_t entry,
                              hsy_error *err);

/* ---- merge.c ------------------------------------------------------------- */

/* Add a tally file to a tally; it was looked through before. */
hsy_status engine_merge_file(hsy_tally *t, const uint8_t *bytes, size_t len,
                             hsy_error *err);

/* Its rounds, to be cleared. */
hsy_status engine_merge_rounds(struct rounds *rounds, const uint8_t *bytes,
                               size_t len, hsy_error *err);

#endif
