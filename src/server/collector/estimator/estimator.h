/*
 * estimator.h - figures as time goes by, and making one at all.
 *
 * A *point* is what a curve needs of a figure: reports and the first rows. The
 * last point of each day is kept in the store; points of the last while are in
 * memory only, so that nothing on disk tells more than days.
 */
#ifndef SERVER_COLLECTOR_ESTIMATOR_ESTIMATOR_H
#define SERVER_COLLECTOR_ESTIMATOR_ESTIMATOR_H

#include "host/base/json.h"
#include "server/cluster/cluster.h"
#include "server/collector/collector.h"
#include "server/collector/shown/shown.h"

#define HISTORY_ROWS 20u /* of a figure in a point */

/* ---- Requests that take their time (desk.c) ------------------------------ */

/* One after another, on a thread of their own, so that no loop waits for them:
 * estimates with other options, tallies, documents, backups. The queue is
 * bounded: who comes when it is full is told to come back. */
struct desk;

/* ctx: of the handlers that it calls. */
hsy_status desk_open(struct desk **out, void *ctx, hsy_error *err);

/* What waits is answered 503, what is under way is finished. NULL is allowed.
 */
void desk_close(struct desk *d);

/* Have work answer q, once, on the desk's thread. False if there is no room;
 * then q is still the caller's. Any thread. */
bool desk_hand(struct desk *d, struct request *q, route_handler *work);

/* NULL: the history is not there. */
struct desk *history_desk(struct history *h);

/* ---- Figures ------------------------------------------------------------- */

/* Members "live" and "days" of an entry; none of a NULL. Any thread. */
void history_put(struct history *h, struct put *p, uint32_t entry);

/* What readers are shown; NULL: nothing. */
struct shown *history_shown(struct history *h);

/* For who asks, where there is no grid of moments (snapshot_seconds 0): the
 * next generation of what is shown of an entry (of all: NULL), if there is a
 * lot. On a thread that may wait. */
void history_renew(struct collector *c, const struct roster_entry *e);

/* Whether there may be one. Any thread. */
bool history_due(struct collector *c, const struct roster_entry *e);

/* The same at a moment of the grid, of all: a failure is logged, and the last
 * generation stands. The history's thread. */
void history_renew_all(struct collector *c);

/* Counters of uploads for who is no operator: as they were at the last moment
 * of the grid, as they are if there is none. Any thread. */
struct history_seen {
    struct engine_status engine;
    struct workers_times times;
    struct listen_status listener; /* the public one */
    struct watch_figures figures;
    struct cluster_status cluster; /* zeros on one machine */
};

void history_seen(struct collector *c, struct history_seen *out);

/* Reports and nulls of an entry in all time, and its devices: of the live
 * tally, which is the operators'. Any thread. */
struct store_count history_count(struct collector *c, uint32_t entry);
uint64_t history_live_devices(struct collector *c,
                              const struct roster_entry *e);

/* What is asked of an entry: all of it (first and last 0), or its days, as far
 * as the blocks reach that they lie in. */
struct history_ask {
    const struct roster_entry *entry;
    uint32_t first, last;
    struct roster *roster; /* of the entry; figures alone need it */
};

/* Devices that are shown at least: those of the largest round. Any thread. */
uint64_t history_devices(struct collector *c, const struct history_ask *ask);

/* A copy of the tally as it is shown, to be freed: as many words as the entry
 * has; of which rounds its reports are, to be cleared; and from which day to
 * which. HSY_E_EMPTY, with limit if only reports are missing. */
hsy_status history_copy(int64_t **words, struct engine_rounds *of,
                        struct figure_span *span, struct collector *c,
                        const struct history_ask *ask, hsy_error *err);

/* The same of the live tally, for operators alone; zeros before anything has
 * come. Waits for the folder. */
hsy_status history_live(int64_t **words, struct engine_rounds *of,
                        struct collector *c, const struct roster_entry *e,
                        hsy_error *err);

/* Ask for the candidates of a task; *text is to be freed. None is HSY_OK. */
hsy_status history_candidates(struct figure_how *how, char **text,
                              struct collector *c, const char *task,
                              hsy_error *err);

/* HSY_E_EMPTY if what is shown has fewer devices than min_reports. */
hsy_status history_enough(struct collector *c, const struct roster_entry *e,
                          hsy_error *err);

/* A figure of it, to be dropped: made now, or kept since it was last made of
 * the same. Any thread. */
hsy_status history_figure(struct figure **out, struct collector *c,
                          const struct history_ask *ask,
                          const struct figure_how *how, hsy_error *err);

#endif
