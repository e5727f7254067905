/* workers_parts.h - what the two threads of a collector share. */
#ifndef SERVER_ENGINE_WORKERS_PARTS_H
#define SERVER_ENGINE_WORKERS_PARTS_H

#include "server/engine/workers.h"

#include <pthread.h>
#include <stdatomic.h>

/* Housekeeping waits until nothing was handed in for so long, or for one
 * checkpoint interval if that never happens; microseconds. */
#define WORKERS_QUIET 200000u

/* Somebody who waits until something was done on a thread. */
struct workers_call {
    struct workers_call *next;
    workers_job *job;
    void *ctx;
    hsy_status st;
    hsy_error err;
    bool done;
};

struct workers_half {
    pthread_t thread;
    pthread_cond_t wake;
    bool asleep;
    struct workers_call *calls, **calls_end;
};

struct workers {
    struct engine *e;
    struct workers_options options;
    pthread_mutex_t lock;
    pthread_cond_t finished; /* some call is done */
    struct workers_half admitter, folder;

    /* under the lock */
    struct submission *first, **end;
    size_t waiting; /* bytes */
    bool stopping;  /* nothing is handed in any more */
    bool drained;   /* the admitter has ended */
    bool fold;      /* there is something to fold */
    hsy_error failure;
    struct workers_times times;

    atomic_bool dead;                /* something has failed */
    atomic_bool tidy;                /* the store may have something to tidy */
    atomic_uint_fast64_t last;       /* when something was handed in */
    atomic_uint_fast64_t checkpoint; /* when the last was written */

    /* the admitter's */
    uint32_t day;     /* that the engine was told, */
    uint64_t second;  /* by the steady clock */
    uint64_t tidy_by; /* when tidying waits no longer; 0: nothing waits */
};

/* ---- workers.c ----------------------------------------------------------- */

/* With the lock: until somebody wakes the half, or microseconds have passed. */
void workers_sleep(struct workers *w, struct workers_half *half,
                   uint64_t microseconds);

/* When housekeeping that may wait until `by` is due: nobody waits then. */
uint64_t workers_quiet(struct workers *w, uint64_t by);

/* Something is broken: nobody is acknowledged any more. */
void workers_fail(struct workers *w, hsy_status st, const hsy_error *err);

/* Do all calls of the half that wait. */
void workers_calls(struct workers *w, struct workers_half *half);

/* ---- workers_fold.c ------------------------------------------------------ */

/* The folder's thread. */
void *workers_folder(void *ctx);

#endif
