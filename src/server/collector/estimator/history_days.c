/*
 * history_days.c - figures of what was sent on the days of one block alone.
 *
 * A block's figure stands under its last day. It is made anew whenever more of
 * the block is shown.
 */
#define _GNU_SOURCE /* strdup */
#include "server/collector/estimator/internal.h"

#include <stdlib.h>
#include <string.h>

static hsy_status days_make(struct history_point *out, struct history *h,
                            const struct roster_entry *e,
                            const struct shown_block *block,
                            const struct figure_how *how, hsy_error *err)
{
    const struct history_ask ask = {
        .entry = e, .first = block->first, .last = block->last};
    json_t *figure = NULL;
    char *json = NULL;
    size_t len = 0;
    hsy_status st = history_figure(&json, &len, h->c, &ask, how, err);

    if (st == HSY_OK)
        figure = json_loadb(json, len, JSON_ALLOW_NUL, NULL);
    if (figure != NULL)
        st = history_point(out, figure, e, HISTORY_IS_OWN, block->last);
    json_decref(figure);
    free(json);
    return figure == NULL && st == HSY_OK ? HSY_E_NOMEM : st;
}

/* Whether the block has no figure yet, or one of other reports. */
static bool days_stale(struct history *h, const struct history_series *s,
                       const struct shown_block *block)
{
    const struct history_point *known;
    bool stale;

    pthread_mutex_lock(&h->lock);
    known = history_day(s, block->last);
    stale = known == NULL || known->own == NULL ||
            known->own_reports != block->reports;
    pthread_mutex_unlock(&h->lock);
    return stale;
}

static void days_renew(struct history *h, const struct roster_entry *e,
                       struct history_series *s,
                       const struct shown_block *block,
                       const struct figure_how *how)
{
    struct history_point own = {0};
    hsy_error err = {0};
    hsy_status st = days_make(&own, h, e, block, how, &err);

    if (st == HSY_OK) {
        own.unkept = true;
        pthread_mutex_lock(&h->lock);
        history_add_day(s, own);
        pthread_mutex_unlock(&h->lock);
    } else if (st != HSY_E_BUSY && st != HSY_E_UNKNOWN && st != HSY_E_EMPTY) {
        log_failure(h->c->log, "figure-of-day", &err);
    }
}

bool history_make_days(struct history *h, const struct roster_entry *e,
                       struct history_series *s, const struct figure_how *how)
{
    struct shown_block *blocks = NULL;
    size_t n = 0, made = 0;
    bool left = false;

    if (shown_blocks(h->shown, e, true, &blocks, &n) != HSY_OK)
        return false;
    while (n-- > 0 && !left) { /* the newest first */
        if (!days_stale(h, s, &blocks[n]))
            continue;
        left = made++ == HISTORY_OWN;
        if (!left)
            days_renew(h, e, s, &blocks[n], how);
    }
    free(blocks);
    return !left;
}
