/*
 * watch.h - whether a collector is well, and what it takes of the machine.
 *
 * A *trouble* is something that an operator has to mend: now, as uploads are
 * refused or nobody new can answer (it is grave, and the collector not ready),
 * or soon. Each has a word of ours that metrics, the log, /readyz, /v1/status
 * and docs/runbook.md share. troubles.c has the table of them.
 */
#ifndef SERVER_COLLECTOR_WATCH_WATCH_H
#define SERVER_COLLECTOR_WATCH_WATCH_H

#include "server/engine/engine.h"

struct collector;
struct config;
struct watch;

/* Before the sandbox: it keeps what it reads later open. */
hsy_status watch_open(struct watch **out, const struct config *f,
                      hsy_error *err);
void watch_close(struct watch *w); /* NULL is allowed */

/* ---- Troubles ------------------------------------------------------------ */

#define WATCH_TEXT 160

struct trouble {
    const char *name; /* "disk-full" */
    bool grave;
    char text[WATCH_TEXT]; /* "" if all is well */
};

#define WATCH_TROUBLES 22u

/* All that there can be, in the order of the table. Any thread. */
void watch_look(struct collector *c, struct trouble out[WATCH_TROUBLES]);

/* The first grave one; NULL: the collector is ready. */
const struct trouble *watch_grave(const struct trouble all[WATCH_TROUBLES]);

/* Look at everything once a second or so, and log what has begun, what is over,
 * and once a day what lasts. By one thread. */
void watch_tick(struct collector *c);

/* ---- The pulse: whether all threads still answer ------------------------- */

/* Ask the threads that admit and fold to do nothing, look whether the loops of
 * the listeners turn and whether watch_tick is called, and call beat(ctx) if
 * all is so; again after `micros`, at least every WATCH_PULSE. From when
 * workers and listeners have started until before they stop; a trouble if one
 * does not answer. NULL as beat: nobody wants to be told. */
#define WATCH_PULSE 5000000u

struct watch_pulse {
    uint64_t micros; /* 0: WATCH_PULSE */
    void (*beat)(void *ctx);
    void *ctx;
};

hsy_status watch_pulse_start(struct collector *c, const struct watch_pulse *how,
                             hsy_error *err);
void watch_pulse_stop(
    struct watch *w); /* NULL, or one that has none: nothing */

/* ---- Requests that are refused whole ------------------------------------- */

enum watch_refusal {
    WATCH_DISK,      /* 503: the disk is full */
    WATCH_BUSY,      /* 503: too many uploads wait */
    WATCH_MEMORY,    /* 503: there is none */
    WATCH_MALFORMED, /* 400: no uploads can be read in it */
    WATCH_TYPE       /* 415: another Content-Type */
};

#define WATCH_REFUSALS (WATCH_TYPE + 1)
extern const char *const watch_refusals[WATCH_REFUSALS]; /* words for metrics */

/* Count one; the disk took a commit. Any thread. */
void watch_refused(struct watch *w, enum watch_refusal why);
void watch_taken(struct watch *w);

/* ---- For metrics --------------------------------------------------------- */

struct watch_figures {
    uint64_t refusals[WATCH_REFUSALS];
    uint64_t disk_free, disk_size; /* of the file system of data; size 0: not
                                      known */
    uint64_t log_bytes;            /* of the logs of the store */
    uint64_t unfolded_seconds;     /* for which a commit waits, at least */
    uint64_t backup; /* when the last was made, seconds since 1970; 0: none */
    int64_t clock_step; /* seconds that the clock has gained on the one that
                           never steps, since the start */

    uint64_t started; /* seconds since 1970 */
    double cpu_seconds;
    uint64_t resident_bytes, virtual_bytes; /* 0: not known */
    uint64_t open_files, most_files;
};

/* Any thread. */
void watch_figures(struct collector *c, struct watch_figures *out);

/* The document in force. */
struct watch_document {
    bool there;
    uint64_t version;
    uint32_t issued, expires, tasks; /* expires: the day after the last */
};

void watch_document(struct collector *c, struct watch_document *out);

#endif
