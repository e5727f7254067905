/*
 * store_runs.h - the runs of a store of one machine (runs.h), for its files.
 *
 * Ids of an epoch are of two kinds, of null uploads and the others; each kind
 * is a half, and its rows in the table ids have places of their own. A row of
 * the table runs says which rows of ids it stands for: those of its half up to
 * the place `through`.
 */
#ifndef SERVER_STORE_STORE_RUNS_H
#define SERVER_STORE_STORE_RUNS_H

#include "server/store/internal.h"
#include "server/store/runs.h"

#define RUNS_DIRECTORY "runs" /* in that of the store */

/* As the thread that appends knows a half. */
struct store_half {
    uint64_t half;
    uint64_t last;  /* the last place that was given away */
    uint64_t floor; /* rows up to this place are not changed any more */
    uint64_t seal;  /* the number of its epoch's last seal */
};

/* As the thread that makes runs knows it. */
struct runs_half {
    uint64_t half;
    uint64_t through; /* rows up to this place are in runs, */
    uint64_t sealed;  /* and up to this they are to be */
    uint64_t seal;    /* the number of its epoch's last seal */
    bool waste;       /* rows up to `through` may be there */
    struct run **all; /* held */
    size_t n;
};

/* What the one that appends has sealed; and what became of it. */
struct runs_seal {
    uint32_t epoch;
    uint64_t number, at[2]; /* by half: the last place; 0: none */
};

struct runs_news {
    uint64_t seal; /* they hold all up to this one */
    struct store_runs is;
};

struct runs_job; /* store_runs_make.c */

struct runs_store {
    int dir; /* -1: there is none yet */
    char *path;
    uint64_t ids_at; /* ids that are worth a run by themselves */

    /* Of the thread that appends. */
    struct store_half *halves;
    size_t nhalves;
    uint64_t seals;

    /* Guarded by cutting. */
    struct runs_half *parts;
    size_t nparts;
    uint64_t next; /* number */
    struct runs_job *job;
    bool stuck;          /* there was no room: wait until nobody waits */
    struct run_is *over; /* of closed epochs: their rows go, then they do */
    size_t nover;
    struct run **gone; /* not in force any more, until nobody else has them */
    size_t ngone;
    bool rooted; /* the directory's own name is durable */

    /* Guarded by posting. */
    pthread_mutex_t posting;
    struct runs_seal *sealed;
    size_t nsealed;
    struct runs_news *news; /* at most one an epoch */
    size_t nnews;
    atomic_bool any; /* news */

    atomic_uint_fast64_t making; /* bytes of what no run in force has */

    atomic_uint_fast32_t closed; /* epochs up to this are */
};

static inline uint32_t runs_epoch(uint64_t half)
{
    return (uint32_t)(half >> 1);
}

static inline uint64_t runs_begin(uint64_t half)
{
    return half * STORE_NULLS;
}

static inline uint64_t runs_half_of(uint64_t place)
{
    return place / STORE_NULLS;
}

/* ---- Opening (store_runs.c) ---------------------------------------------- */

bool store_runs_new(struct store_sqlite *s);
void store_runs_free(struct store_sqlite *s);

/* Read the table and open what it names; HSY_E_DAMAGED. What it does not name
 * is removed, unless one only looks. Before anything is appended. */
hsy_status store_runs_open(struct store_sqlite *s, bool look, hsy_error *err);

/* Make runs of rows at once, where there are very many: they would all have to
 * be in memory (store_runs_over.c). */
hsy_status store_runs_convert(struct store_sqlite *s, hsy_error *err);

/* The directory, made if there is none: false with errno. */
bool store_runs_enter(struct store_sqlite *s, bool make);

/* ---- For who appends ----------------------------------------------------- */

/* The next place of a half, and the place up to which rows stay as they are. */
int store_runs_place(struct store_sqlite *s, struct sql *q, uint64_t half,
                     uint64_t *place);
uint64_t store_runs_floor(const struct store_sqlite *s, uint64_t place);

/* Epochs up to this one are closed. */
void store_runs_closed(struct store_sqlite *s, uint32_t closed);

hsy_status store_seal(struct store *is, uint32_t epoch, hsy_error *err);
bool store_new_runs(struct store *is, struct store_runs *out);
uint64_t store_making(const struct store *is);

/* ---- For others ---------------------------------------------------------- */

/* Hand out runs, or their ids (read_back.c). */
hsy_status store_runs_read(struct store_sqlite *s,
                           const struct store_reader *to, hsy_error *err);

/* Bytes of all files. */
uint64_t store_runs_bytes(const struct store_sqlite *s);

/* The place up to which rows of a half are in runs, `begin` if none is. */
uint64_t store_runs_through(const struct store_sqlite *s, uint64_t half,
                            uint64_t begin);

/* Forget the runs of a half, within a transaction and after it; and how many
 * ids they have. */
uint64_t store_runs_ids(const struct store_sqlite *s, uint64_t half);
int store_runs_erase(struct store_sqlite *s, struct sql *q, uint64_t half);
void store_runs_forget(struct store_sqlite *s, uint64_t half);

/* All that the record names at this moment, held; caller holds cutting and
 * writing. Then copy them into a directory. */
hsy_status store_runs_hold(struct store_sqlite *s, struct store_runs *out);
hsy_status store_runs_copy(const struct store_runs *runs, const char *directory,
                           hsy_error *err);

/* A bounded step of whatever there is to do; *more is set if that is not all.
 * Caller holds cutting (store_runs_over.c). */
hsy_status store_runs_step(struct store_sqlite *s, bool quiet, bool *more,
                           hsy_error *err);

/* ---- Making (store_runs_make.c) ------------------------------------------ */

/* A step of making or merging a run; *more: something was done. */
hsy_status store_runs_work(struct store_sqlite *s, bool *more, hsy_error *err);
/* Memory that the work on hand takes. */
uint64_t store_runs_job_bytes(const struct runs_store *r);
/* What is being made comes to nothing; if its epoch is closed. */
void store_runs_abandon(struct store_sqlite *s);
void store_runs_abandon_closed(struct store_sqlite *s, uint64_t closed);

/* ---- Between the two ----------------------------------------------------- */

struct runs_half *store_runs_part(struct runs_store *r, uint64_t half);
void store_runs_half_clear(struct runs_half *p);
/* All runs of an epoch, held; false: out of memory. And let go of them. */
bool store_runs_of(const struct runs_store *r, uint32_t epoch,
                   struct store_runs *out);
void store_runs_clear(struct store_runs *runs);
/* The number of an epoch's last seal, if all of it is in runs; else 0. */
uint64_t store_runs_done(struct runs_store *r, uint32_t epoch);
void store_runs_post(struct store_sqlite *s, uint32_t epoch);
void store_runs_unlink(struct store_sqlite *s, const struct run_is *is);
/* A run is not in force any more. Its blocks are given back when its file is
 * closed, which takes a while: whoever makes runs does that, when the others
 * have let go of it. */
void store_runs_leave(struct runs_store *r, struct run *run);
void store_runs_let_go(struct runs_store *r);
/* Take what was sealed. */
bool store_runs_take_seals(struct store_sqlite *s);

#endif
