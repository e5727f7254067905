/* internal.h - what the files that watch over a collector share. */
#ifndef SERVER_COLLECTOR_WATCH_INTERNAL_H
#define SERVER_COLLECTOR_WATCH_INTERNAL_H

#include "server/collector/watch/watch.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>

#define WATCH_STUCK 120u /* seconds of no folding, with something to fold */

/* What was said of a trouble; the thread's that ticks. */
struct watch_said {
    bool said; /* that it has begun, and not that it is over */
    uint32_t day;
    unsigned quiet; /* looks since it was last there */
};

/* Whom the pulse waits for. */
enum watch_thread {
    WATCH_NOBODY,
    WATCH_ADMITTER,
    WATCH_FOLDER,
    WATCH_LISTENER,
    WATCH_MAIN
};

struct pulse {
    struct watch_pulse how;
    bool runs;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool over;                  /* lock */
    atomic_int waits;           /* enum watch_thread */
    atomic_uint_fast64_t since; /* by watch_clock */
};

struct watch {
    const char *backups; /* the configuration's; NULL: there are none */
    uint64_t started;    /* seconds since 1970 */
    int64_t offset;      /* of the clock to the one that never steps */
    uint64_t most_files;
    int statm, data_fd; /* -1: there is none */
    DIR *files;         /* of this process; NULL: not known */

    atomic_uint_fast64_t refusals[WATCH_REFUSALS];
    atomic_uint_fast64_t disk_at; /* when the disk was last full; 0: it was
                                     not, when last written to */

    pthread_mutex_t lock; /* of what follows, and of files */
    /* Uploads when last looked at, and when there were more (0: never): those
     * refused for want of room, of them for want of ids. */
    uint64_t refused, no_ids;
    uint64_t refused_at, no_ids_at;
    uint64_t mark, mark_at; /* a commit that waits, and since when */
    uint64_t folded;        /* commits, when last looked at */
    uint64_t moved_at; /* when that was last something else, or all there is */
    bool stuck;        /* which was minutes ago */

    atomic_uint_fast64_t ticks;
    struct pulse pulse;
    struct watch_said said[WATCH_TROUBLES];
};

/* Seconds that never go back, from 1 on. */
uint64_t watch_clock(void);

/* ---- watch.c ------------------------------------------------------------- */

/* What the engine says at this time, once a second or so. */
void watch_sample(struct watch *w, const struct engine_status *s, uint64_t now);

/* ---- machine.c ----------------------------------------------------------- */

/* Open what is read later; close it. */
void watch_machine_open(struct watch *w, const char *data);
void watch_machine_close(struct watch *w);

void watch_machine(struct watch *w, struct watch_figures *out);

/* What is free of the disk, and its size, alone. */
void watch_disk(const struct watch *w, struct watch_figures *out);

/* Whether the disk takes some bytes: a file without a name, gone at once. false
 * also where a file system has no such files. */
bool watch_room(const struct watch *w);

#endif
