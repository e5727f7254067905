/*
 * store_memory.h - a store in memory with the promises of store.h, for tests.
 *
 * What it holds survives the engine, as a disk survives a process. It can be
 * full, and it can crash at a chosen call: then the call was done or not, it
 * says HSY_E_IO, and so does everything after it until memory_reopen. Calls are
 * checked as a strict store would: a caller's mistake is counted in `faults`.
 */
#ifndef STORE_MEMORY_H
#define STORE_MEMORY_H

#include "host/base/fields.h"
#include "server/store/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct memory_blob {
    uint32_t entry, epoch, type; /* entry: a number or day, where it has one */
    uint64_t seq, reports;
    uint8_t *bytes;
    size_t len;
};

struct memory_list {
    struct memory_blob *all;
    size_t n;
};

struct memory_tally {
    struct store_tally is;
    int64_t *words, *next; /* next: chunks that no round has put in place */
};

struct memory_store {
    struct store base;
    pthread_mutex_t lock;
    struct store_state state;
    struct memory_list document, entries, ids, batches, merged, figures;
    struct store_count *counts;
    struct store_quota *quotas;
    struct memory_tally *tallies;
    struct store_received *received;
    struct store_mix *mixes;
    size_t ncounts, nquotas, ntallies, nreceived, nmixes;
    uint64_t through[256];

    bool full;         /* there is no room for anything */
    bool mends;        /* an operator may let days open again, */
    bool retires;      /* and tasks go */
    uint64_t calls;    /* that change something, so far */
    uint64_t crash_at; /* the call that crashes; 0: none */
    bool crash_done;   /* that call was done all the same */
    bool crashed;
    unsigned faults; /* broken rules, ours or the caller's */
    uint64_t appends, chunks, rounds, flips, drops;
};

/* ---- Calls that change something ----------------------------------------- */

hsy_status memory_do_append(struct store *s, const struct store_commit *c,
                            hsy_error *err);

/* ---- Tallies ------------------------------------------------------------- */

hsy_status memory_do_chunks(struct store *s, const struct store_tally *tally,
                            const struct store_chunk *chunks, size_t n,
                            hsy_error *err);

/* ---- Reading back -------------------------------------------------------- */

extern const struct store_functions memory_functions;

/* ---- The whole ----------------------------------------------------------- */

void memory_open(struct memory_store *m, uint8_t key);

/* After a crash or a stop: what no round has put in place is forgotten. */
void memory_reopen(struct memory_store *m);

void memory_clear(struct memory_store *m);

#endif
