/*
 * history.h - figures as time goes by, and making one at all.
 *
 * A *point* is what a curve needs of a figure: reports and the first rows. The
 * last point of each day is kept in the store; points of the last while are in
 * memory only, so that nothing on disk tells more than days.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include "api.h"
#include "desk.h"
#include "put.h"

#define HISTORY_ROWS 20u /* of a figure in a point */

/* Where requests wait that take their time; NULL: the history is not there. */
struct desk *history_desk(struct history *h);

/* Whether what was counted has not been folded for minutes. Any thread. */
bool history_stuck(struct history *h);

/* Figures that the desk has made; for its thread alone. */
struct recent *history_recent(struct history *h);

/* Members "live" and "days" of an entry; none of a NULL. Any thread. */
void history_put(struct history *h, struct put *p, uint32_t entry);

/* Reports and nulls of an entry in all time. Any thread. */
struct store_count history_count(struct collector *c, uint32_t entry);

/* What is asked of an entry: all of it (first and last 0), or its epochs. */
struct history_ask {
    const struct roster_entry *entry;
    uint32_t first, last;
};

/* A copy of the tally, to be freed: as many words as the entry has; and of
 * which rounds its reports are, to be cleared. Zeros
 * before anything has come; HSY_E_EMPTY if none of the days asked for is kept.
 * Waits for the folder. */
hsy_status history_copy(int64_t **words, struct engine_rounds *of,
                        struct collector *c, const struct history_ask *ask,
                        hsy_error *err);

/* The candidates of a task, to be freed; none is HSY_OK and NULL. */
hsy_status history_candidates(char **text, size_t *len, struct collector *c,
                              const char *task, hsy_error *err);

/* A figure of it. */
hsy_status history_figure(char **json, size_t *len, struct collector *c,
                          const struct history_ask *ask,
                          const struct figure_how *how, hsy_error *err);

#endif
