/*
 * workers.h - the threads of a collector and the queues between them.
 *
 *   listeners ---submission---> admitter ---batches---> folder
 *       ^------------done-----------'                     |
 *   estimator <-----------------copies--------------------'
 *
 * The admitter takes everything that waits as one group and commits it; the
 * folder folds, writes chunks and copies tallies; both belong to engine.h.
 * When the store fails nobody is acknowledged any more (outcome HSY_E_IO) and
 * `failed` is called: the process must end, and recover by opening the store
 * again.
 */
#ifndef SERVER_ENGINE_WORKERS_H
#define SERVER_ENGINE_WORKERS_H

#include "server/engine/engine.h"

struct workers;

struct workers_options {
    size_t waiting_bytes;       /* of submissions that are not admitted yet */
    uint32_t checkpoint_secs;   /* reports rest at most this long */
    size_t write_bytes;         /* of chunks written at a time */
    uint64_t (*now)(void *ctx); /* seconds since 1970, UTC */
    uint32_t look_micros;       /* how often it is asked at least; 0: 1 s */
    void (*failed)(void *ctx, const hsy_error *err); /* once, any thread */
    void *ctx;
};

hsy_status workers_start(struct workers **out, struct engine *e,
                         const struct workers_options *options, hsy_error *err);

/* Hand in a submission; false if there is no room (answer 503). */
bool workers_submit(struct workers *w, struct submission *s);

/* Do something on the admitter's or the folder's thread and wait for it: the
 * functions of engine.h that belong to its half. HSY_E_BUSY while stopping. */
typedef hsy_status workers_job(struct engine *e, void *ctx, hsy_error *err);
hsy_status workers_admitting(struct workers *w, workers_job *job, void *ctx,
                             hsy_error *err);
hsy_status workers_folding(struct workers *w, workers_job *job, void *ctx,
                           hsy_error *err);

/* Finish what was handed in, checkpoint everything, end the threads. */
hsy_status workers_stop(struct workers *w, hsy_error *err);

/* Histogram of seconds from hand-in to acknowledgement, by powers of two of
 * 64 microseconds, and how many groups there were; for /metrics. */
#define WORKERS_WAITS 16
struct workers_times {
    uint64_t waits[WORKERS_WAITS];
    uint64_t groups, submissions;
    uint64_t micros;     /* of all waits together */
    uint64_t checkpoint; /* microseconds since the last was written, or since
                            the start */
};
void workers_status(struct workers *w, struct workers_times *out);

#endif
