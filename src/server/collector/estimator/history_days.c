/*
 * history_days.c - figures of what was sent on the days of one block alone.
 *
 * A block's figure stands under its last day. It is made anew whenever more of
 * the block is shown.
 */
#define _GNU_SOURCE /* strdup */
#include "server/collector/estimator/internal.h"

#include <stdlib.h>

static hsy_status days_make(struct history_point *out, struct history *h,
                            const struct history_ask *ask,
                            const struct figure_how *how, hsy_error *err)
{
    struct figure *figure = NULL;
    hsy_status st = history_figure(&figure, h->c, ask, how, err);

    if (st == HSY_OK)
        st = history_point(out, figure, ask->entry, HISTORY_IS_OWN, ask->last);
    figure_drop(figure);
    return st;
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

static void days_renew(struct history *h, struct history_series *s,
                       const struct history_ask *ask,
                       const struct figure_how *how)
{
    struct history_point own = {0};
    hsy_error err = {0};
    hsy_status st = days_make(&own, h, ask, how, &err);

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
                       struct roster *roster, struct history_series *s,
                       const struct figure_how *how)
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
            days_renew(h, s,
                       &(struct history_ask){e, blocks[n].first, blocks[n].last,
                                             roster},
                       how);
    }
    free(blocks);
    return !left;
}
