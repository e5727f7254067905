/* internal.h - what the files of the history share. */
#ifndef SERVER_COLLECTOR_ESTIMATOR_INTERNAL_H
#define SERVER_COLLECTOR_ESTIMATOR_INTERNAL_H

#include "server/collector/estimator/estimator.h"

#include <pthread.h>

#define HISTORY_LIVE 240u /* points of an entry */
#define HISTORY_DAYS 400u /* days of an entry */
#define HISTORY_OWN 8u    /* figures of blocks that are made at once */
#define HISTORY_BYTES ((size_t)64 * 1024 * 1024) /* of live points, at most */

/* ---- recent.c: the figures that were made last --------------------------- */

/* The estimator's thread and the desk both keep theirs here, so that no figure
 * is made twice while the same generation is shown. Not locked. */

/* What was asked, in full. A figure holds its roster, so that no other entry
 * can come to stand where its entry stands. */
struct recent_key {
    const struct roster_entry *entry;
    uint32_t first, last, top;
    double level, lying;
    hsy_target target;
    uint64_t generation; /* of what is shown */
    uint32_t candidates; /* a checksum of their list */
};

#define RECENT_FIGURES 32u

struct recent {
    struct {
        struct recent_key key;
        struct figure *figure; /* held; NULL: none */
    } figures[RECENT_FIGURES];
    size_t next; /* place of the oldest */
};

/* Such a figure, to be dropped; NULL if there is none. */
struct figure *recent_find(const struct recent *r,
                           const struct recent_key *key);

/* Hold a figure, in the place of the same task's of an older generation, or of
 * the oldest. */
void recent_keep(struct recent *r, const struct recent_key *key,
                 struct figure *figure);
void recent_clear(struct recent *r);

/* ---- Points -------------------------------------------------------------- */

/* A figure of all reports until then; of a day also that of the reports which
 * were sent on it alone. */
struct history_point {
    uint32_t day; /* of a day's point, else 0 */
    char *json;   /* owned */
    size_t len;
    char *own; /* the day's own; NULL: there is none; owned */
    size_t own_len;
    uint64_t own_reports; /* in it */
    bool unkept;          /* the store has another point of this day, or none */
};

/* Points of an entry. */
struct history_series {
    struct history_point live[HISTORY_LIVE]; /* a ring */
    size_t first, nlive;
    struct history_point *days; /* oldest first; owned */
    size_t ndays;
    double kept;   /* when points of days were last put into the store */
    uint64_t made; /* that of the last figure */
    double due;    /* no figure before */
};

struct history {
    struct collector *c;
    struct desk *desk;
    struct shown *shown; /* owned */
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    bool stop;
    struct recent recent;
    struct history_seen seen;
    struct history_series **series; /* by entry; owned */
    size_t n;
    size_t live_bytes;
};

/* The series of an entry, made if there is none; under the lock. NULL: out of
 * memory. */
struct history_series *history_of(struct history *h, uint32_t entry);
void history_free_series(struct history_series *s); /* NULL is allowed */

/* Add a point of now, or of a day (in the place of the same day's figures, of
 * all and its own, as far as it has them), under the lock; it becomes the
 * series'. */
void history_add_live(struct history *h, struct history_series *s,
                      struct history_point point);
void history_add_day(struct history_series *s, struct history_point point);

/* The point of a day; NULL: there is none. */
const struct history_point *history_day(const struct history_series *s,
                                        uint32_t day);

/* A day's point as one text, to be freed, as the store and readers have it; and
 * back. */
hsy_status history_day_text(char **text, size_t *len,
                            const struct history_point *point);
hsy_status history_day_parse(struct history_point *out, uint32_t day,
                             const char *text, size_t len);

enum history_form {
    HISTORY_IS_LIVE,
    HISTORY_IS_DAY,
    HISTORY_IS_OWN /* of a day alone */
};

/* The point of a figure in one of its forms. */
hsy_status history_point(struct history_point *out, const struct figure *figure,
                         enum history_form form, uint32_t day);

#endif
