/*
 * fake_pg.h - the functions of server/postgres/postgres.h on databases in
 * memory (fake_db.h), for simulations that run in one thread. It knows the
 * statements of server/cluster by their words, and ends the program at any
 * other. A program that links it has no libpq.
 */
#ifndef FAKE_PG_H
#define FAKE_PG_H

#include "rig/fake_db.h"
#include "server/postgres/postgres.h"

#define FAKE_SHARDS 2u
#define FAKE_CLIENTS 4u

/* What becomes of what a client sends. */
enum fake_fate {
    FAKE_ARRIVES,
    FAKE_LOST,   /* on its way there */
    FAKE_UNHEARD /* done, but the answer is lost */
};

/* Wrong clients, who are to be caught. */
enum fake_slip {
    FAKE_RIGHT,
    FAKE_TRUSTS_WARNING,  /* COMMIT is believed with a warning too */
    FAKE_AGAIN_UNWRITTEN, /* nothing is written for what was there before */
    FAKE_WATERMARK        /* batches are folded by number: a late one never */
};

extern struct fake_pg {
    struct fake_db shards[FAKE_SHARDS];
    uint64_t now;    /* seconds since 1970, by all servers' clocks */
    unsigned client; /* who opens places now */
    bool dead[FAKE_CLIENTS];
    bool reaches[FAKE_CLIENTS][2]; /* which servers */
    enum fake_slip slip;
    uint64_t commits, warnings, refusals;

    /* Asked before anything is sent. */
    enum fake_fate (*fate)(void);
    /* Whether a while passes between two statements. */
    bool (*pauses)(void);
    /* A while passes; false: the patience is over. */
    bool (*wait)(unsigned spins);
} fake_pg;

/* Databases with the tables of a cluster of so many shards, one after another
 * as the URLs "0", "1". */
void fake_pg_open(size_t shards);
void fake_pg_close(void);

#endif
