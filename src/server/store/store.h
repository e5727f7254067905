/*
 * store.h - where a collector keeps what it must not forget.
 *
 * A small interface, so that one machine (sqlite.c) and many can be
 * served by the same engine. A store keeps records and knows neither mechanisms
 * nor clocks. What it promises:
 *
 *   - store_append is all or nothing, and durable when it returns HSY_OK;
 *   - the tallies of an entry are read back exactly as of one commit, its
 *     `through`, and every later batch of it beside them, whatever was killed;
 *   - after HSY_E_IO nothing may be appended any more: the caller stops, and
 *     opens the store again (R20). HSY_E_FULL means the disk is full and
 *     nothing was changed: the caller may try again later.
 *
 * Three threads use a store: one appends (store_append, and what is marked
 * below), one writes tallies (store_chunks, store_rounds), and at a shuffler
 * one mixes. Reading back is done before any begins, but for figures, which the
 * one that appends may read.
 */
#ifndef SERVER_STORE_STORE_H
#define SERVER_STORE_STORE_H

#include "hearsay.h"

#define STORE_KEY 32
#define STORE_MERGED 16   /* bytes that name a merged tally file */
#define STORE_CHUNK 4096u /* words of a chunk of a tally */

/* An id as it is kept: one-way, with enough of the content's digest to tell
 * another content. */
struct store_id {
    uint8_t id[12];     /* keyed hash of the upload's id */
    uint8_t content[4]; /* keyed hash of its digest */
};

/* What one commit brings. */
struct store_ids {
    uint32_t epoch;
    const struct store_id *ids;
    size_t n;
    bool null; /* of null uploads: they may be forgotten */
};

enum store_batch_type {
    STORE_REPORTS = 1, /* uploads, each a u32 count and its packed reports */
    STORE_TALLY = 2,   /* a tally file that was merged in */
    STORE_SEALED = 3   /* sealed envelopes of one length; no tally takes them */
};

struct store_batch {
    uint64_t seq;          /* of its commit; set when read back */
    uint32_t entry, epoch; /* epoch 0: of no day, as a merged tally */
    uint32_t type;
    uint64_t reports;
    const uint8_t *bytes;
    size_t len;
};

/* Uploads of an entry in an epoch. */
struct store_count {
    uint32_t entry, epoch;
    uint64_t reports, nulls; /* in all, not what was added */
};

#define STORE_BATCH_ID 16
#define STORE_DIGEST 32
#define STORE_RECEIPT 64
#define STORE_HEADS 2048 /* bytes of the heads of a batch at most */
/* A sealed batch of an epoch before this is refused, and its row forgotten. */
#define STORE_RECEIVED_DAYS 400u

/* A batch that came from another hop, and what became of its envelopes. */
struct store_received {
    uint8_t id[STORE_BATCH_ID], digest[STORE_DIGEST];
    uint32_t entry, epoch;
    uint64_t n; /* taken; and those that were not: */
    uint64_t nulls, unopened, again;
    const uint8_t *heads; /* of all hops before; lasts for a call */
    size_t heads_len;
};

/* What was decided about the sealed envelopes of an entry at the end of an
 * epoch, and how far it is (server/shuffle/mixer.h). The numbers are kept. */
enum store_mix_state {
    STORE_MIX_NONE = 0, /* as a row to be put: there is to be none */
    STORE_MIX_WAITING = 1,
    STORE_MIX_CLOSED = 2,
    STORE_MIX_MIXED = 3,
    STORE_MIX_ACKED = 4,
    STORE_MIX_ERASED = 5,
    STORE_MIX_EXPIRED = 6,
    STORE_MIX_GONE = 7
};

struct store_mix {
    uint8_t id[STORE_BATCH_ID];
    uint32_t entry, epoch, part;
    uint64_t through; /* the last commit that it looked at */
    uint64_t n;       /* envelopes */
    enum store_mix_state state;
    uint8_t digest[STORE_DIGEST];   /* zeros before it is mixed */
    uint8_t receipt[STORE_RECEIPT]; /* zeros before it is received */
};

/* Sealed envelopes of an entry: of epochs since one and up to one, that came
 * with the commits from one to another; but not those up to another epoch and
 * commit. */
struct store_set {
    uint32_t entry, since, epoch, not_epoch;
    uint64_t from, through, not_through;
};

/* How much of its quota a token has used in an epoch. */
struct store_quota {
    uint8_t token[16]; /* one-way */
    uint32_t epoch, used;
};

struct store_commit {
    uint64_t seq; /* one more than the last */
    const struct store_ids *ids;
    size_t nids;
    const struct store_batch *batches;
    size_t nbatches;
    const struct store_count *counts;
    size_t ncounts;
    const struct store_quota *quotas;
    size_t nquotas;
    /* The name of a merged tally file, or NULL. If it was merged before,
     * store_append is HSY_E_REFUSED and changes nothing. */
    const uint8_t *merged;
    /* A batch of another hop, or NULL. The same again: as above. */
    const struct store_received *received;
    const struct store_mix *mixes; /* rows that are put with it */
    size_t nmixes;
};

/* A tally: all reports of an entry (epoch 0), or those of one epoch of it. A
 * batch belongs to the first and, if there is one, to that of its epoch. */
struct store_tally {
    uint32_t entry, epoch;
    uint64_t words;
};

/* The tallies of an entry as of a commit. */
struct store_round {
    uint32_t entry;
    uint64_t through;
};

struct store_chunk {
    uint32_t place;       /* words STORE_CHUNK * place onward */
    const int64_t *words; /* STORE_CHUNK of them, fewer at the end */
    size_t n;
};

/* An estimate kept for the page, one a day of an entry: the last stands. */
struct store_figure {
    uint32_t entry, day;
    const char *json; /* as the collector printed it */
    size_t len;
};

/* Ids of an epoch that a store keeps in runs (runs.h): all its runs, one
 * reference each the caller's, in an array that is. */
struct run;
struct store_runs {
    uint32_t epoch;
    bool sealed; /* they hold all that was sealed (store_functions) */
    struct run **all;
    size_t n;
};

/* What a store is asked for when it is opened, in this order; each tally is
 * followed by its chunks, those that are not all zeros among them. Any may be
 * NULL; anything but HSY_OK ends the reading. Pointers last for the call
 * only. */
struct store_reader {
    void *ctx;
    bool check; /* what nobody takes is held against its checksums too */
    hsy_status (*document)(void *ctx, const uint8_t *bytes, size_t len);
    hsy_status (*entry)(void *ctx, uint32_t number, const uint8_t *bytes,
                        size_t len);
    hsy_status (*count)(void *ctx, const struct store_count *count);
    hsy_status (*quota)(void *ctx, const struct store_quota *quota);
    /* Those of runs are among them, unless runs are asked for. */
    hsy_status (*ids)(void *ctx, const struct store_ids *ids);
    hsy_status (*runs)(void *ctx, struct store_runs *runs); /* may take them */
    hsy_status (*tally)(void *ctx, const struct store_tally *tally);
    hsy_status (*chunk)(void *ctx, const struct store_tally *tally,
                        const struct store_chunk *chunk);
    /* Those beyond their entry's `through`, in the order of seq; none that is
     * sealed. */
    hsy_status (*batch)(void *ctx, const struct store_batch *batch);
    hsy_status (*sealed)(void *ctx,
                         const struct store_batch *batch); /* those */
    hsy_status (*received)(void *ctx, const struct store_received *received);
    hsy_status (*mix)(void *ctx, const struct store_mix *mix);
    hsy_status (*figure)(void *ctx, const struct store_figure *figure);
    /* Names of tally files that were merged in. */
    hsy_status (*merged)(void *ctx, const uint8_t name[STORE_MERGED]);
};

struct store_state {
    uint8_t key[STORE_KEY]; /* for ids and tokens; made with the store */
    uint64_t seq;           /* the last commit */
    uint32_t closed;        /* epochs up to this are closed for ever */
    uint32_t day;           /* the last day that was seen */
};

/* What puts durable files of others into the directory of a copy. */
struct store_beside {
    hsy_status (*put)(void *ctx, const char *directory, hsy_error *err);
    void *ctx;
};

/* Who waits while a store is settled. */
enum store_pace {
    STORE_BUSY,
    STORE_QUIET,  /* nobody */
    STORE_OVERDUE /* somebody does, but it was put off for long */
};

struct store; /* begins with a pointer to its functions */

struct store_functions {
    const char *name;
    hsy_status (*read)(struct store *s, const struct store_reader *to,
                       hsy_error *err);

    /* By the thread that appends. */
    hsy_status (*append)(struct store *s, const struct store_commit *c,
                         hsy_error *err);
    /* A document came into force, with entries that were not there yet. */
    hsy_status (*document)(struct store *s, const uint8_t *bytes, size_t len,
                           uint32_t first, const uint8_t *const *entries,
                           const size_t *lens, size_t n, hsy_error *err);
    /* The batch of another hop with an id; HSY_E_EMPTY if it never came. */
    hsy_status (*received)(struct store *s, const uint8_t id[STORE_BATCH_ID],
                           struct store_received *out, hsy_error *err);
    /* Close epochs: forget their ids and quotas. Those beyond `through` are
     * open, also if they were not (engine_tell). */
    hsy_status (*close_epochs)(struct store *s, uint32_t through, uint32_t day,
                               hsy_error *err);
    hsy_status (*figure)(struct store *s, const struct store_figure *figure,
                         hsy_error *err);
    /* Join small rows of ids, erase closed epochs; a little at a time, while it
     * has something to do: *more. */
    hsy_status (*tidy)(struct store *s, bool *more, hsy_error *err);

    /* What was appended of an epoch's ids up to now may become runs: the one
     * that writes tallies makes them (settle). NULL: there are no runs. */
    hsy_status (*seal)(struct store *s, uint32_t epoch, hsy_error *err);
    /* The runs of an epoch are others than before: true, and it is the
     * caller's; until it is false. They are durable. */
    bool (*runs)(struct store *s, struct store_runs *out);
    /* Memory that making runs takes at this moment; any thread. */
    uint64_t (*making)(const struct store *s);

    /*
     * By the thread that writes tallies: chunks that have changed, of the next
     * images of an entry's tallies, in as many calls as one likes; a tally that
     * is not there yet begins with zeros. Then a round puts them all in the
     * place of the last, as of `through`, and erases the entry's batches up to
     * there; those of many entries at once cost as much as one. Until the round
     * the old images stand, and chunks without a round are forgotten when the
     * store is opened again.
     */
    hsy_status (*chunks)(struct store *s, const struct store_tally *tally,
                         const struct store_chunk *chunks, size_t n,
                         hsy_error *err);
    hsy_status (*rounds)(struct store *s, const struct store_round *rounds,
                         size_t n, hsy_error *err);
    /* Forget tallies of past epochs; the whole keeps their reports. */
    hsy_status (*drop)(struct store *s, const struct store_tally *tallies,
                       size_t n, hsy_error *err);
    /* Keep the logs short. Unless somebody waits (STORE_BUSY) also erase what
     * was superseded, a little, and then let nothing that was erased rest in a
     * log; *more if there is something to do when nobody waits. */
    hsy_status (*settle)(struct store *s, enum store_pace pace, bool *more,
                         hsy_error *err);

    /* Forget the ids of an epoch's null uploads, while nobody counts: *n. What
     * came before there was a difference stays. */
    hsy_status (*forget_nulls)(struct store *s, uint32_t epoch, uint64_t *n,
                               hsy_error *err);

    /*
     * By the thread that mixes; NULL: sealed batches are not kept. Rows are put
     * together, durably: in the place of those with the same id, or if they say
     * STORE_MIX_NONE there is none any more. Sealed batches of a set are handed
     * over one a call, in the order of their commits: the next after *at, which
     * is 0 at first; *more is false if there was none. They are erased some at
     * a time, while there are: *more.
     */
    hsy_status (*mix)(struct store *s, const struct store_mix *rows, size_t n,
                      hsy_error *err);
    hsy_status (*heads)(struct store *s, const uint8_t id[STORE_BATCH_ID],
                        uint8_t heads[STORE_HEADS], size_t *len,
                        hsy_error *err); /* of a batch that came; as above */
    hsy_status (*sealed_count)(struct store *s, const struct store_set *set,
                               uint64_t *envelopes, hsy_error *err);
    hsy_status (*sealed)(struct store *s, const struct store_set *set,
                         uint64_t *at,
                         hsy_status (*each)(void *ctx,
                                            const struct store_batch *batch),
                         void *ctx, bool *more, hsy_error *err);
    hsy_status (*sealed_erase)(struct store *s, const struct store_set *set,
                               bool *more, hsy_error *err);
    /* Forget the batches that came of epochs before one: no such batch is taken
     * any more. */
    hsy_status (*forget_received)(struct store *s, uint32_t before,
                                  hsy_error *err);

    /* Hold some room on the disk, with which the logs can be made short when it
     * is full, and what the logs need, so that commits need not wait for it;
     * that is no failure if there is none. May be NULL. */
    hsy_status (*reserve)(struct store *s, hsy_error *err);

    /* Copy everything to a directory while running; any thread. It has its name
     * once it is whole and durable, with what belongs beside it (NULL:
     * nothing). HSY_E_BUSY: so much came in meanwhile that it was given up. */
    hsy_status (*backup)(struct store *s, const char *directory,
                         const struct store_beside *beside, hsy_error *err);

    /* A store that has just been made becomes the heir of another: its key, its
     * days. HSY_E_REFUSED if it has commits; HSY_E_RANGE. */
    hsy_status (*inherit)(struct store *s, const struct store_state *state,
                          hsy_error *err);
    void (*close)(struct store *s);
};

struct store {
    const struct store_functions *ops;
};

/*
 * The store of one machine: SQLite in a directory that only its owner can
 * read, else HSY_E_REFUSED. One process has it at a time: HSY_E_BUSY, with the
 * number of that process in err->limit if it is known. HSY_E_EMPTY if there is
 * none and create is false; HSY_E_VERSION if a newer program made it;
 * HSY_E_DAMAGED if a part is missing or changed.
 */
hsy_status store_sqlite_open(struct store **out, struct store_state *state,
                             const char *directory, bool create,
                             hsy_error *err);

#endif
