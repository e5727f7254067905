/* history_parts.h - what the files of the history share. */
#ifndef HISTORY_PARTS_H
#define HISTORY_PARTS_H

#include "history.h"
#include "recent.h"

#include <jansson.h>
#include <pthread.h>

#define HISTORY_LIVE 240u                        /* points of an entry */
#define HISTORY_DAYS 400u                        /* days of an entry */
#define HISTORY_BYTES ((size_t)64 * 1024 * 1024) /* of live points, at most */

struct history_point {
    uint32_t day; /* of a day's point, else 0 */
    char *json;   /* owned */
    size_t len;
};

/* Points of an entry. */
struct history_series {
    struct history_point live[HISTORY_LIVE]; /* a ring */
    size_t first, nlive;
    struct history_point *days; /* oldest first; owned */
    size_t ndays;
    bool unkept; /* the last day's point is not in the store */
    double kept; /* when it was last put there */
    uint64_t told_reports, told_nulls; /* by an event */
    uint64_t made; /* reports when the last figure was made */
    double due;    /* no figure before */
};

struct history {
    struct collector *c;
    struct desk *desk;
    struct recent recent; /* the desk's */
    pthread_t thread;
    char *status;         /* owned; as readers were told, by the thread alone */
    double status_due;    /* they are not told before */
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    bool stop;
    uint64_t folded; /* commits, when last looked */
    double moved;    /* when that was last something else, or all there is */
    struct history_series **series; /* by entry; owned */
    size_t n;
    size_t live_bytes;
};

/* The series of an entry, made if there is none; under the lock. NULL: out of
 * memory. */
struct history_series *history_of(struct history *h, uint32_t entry);
void history_free_series(struct history_series *s); /* NULL is allowed */

/* Add a point of now, or of a day (in the place of the same day's), under the
 * lock; it becomes the series'. */
void history_add_live(struct history *h, struct history_series *s,
                      struct history_point point);
void history_add_day(struct history_series *s, struct history_point point);

enum history_form { HISTORY_IS_LIVE, HISTORY_IS_DAY, HISTORY_IS_EVENT };

/* The point of a figure in one of its forms. */
hsy_status history_point(struct history_point *out, json_t *figure,
                         const struct roster_entry *e, enum history_form form,
                         uint32_t day);

#endif
