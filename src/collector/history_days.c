/*
 * history_days.c - figures of what was sent on one day alone.
 *
 * Reports of a day go on coming for a while after it (grace), so that a figure
 * is made anew whenever the day's reports are not those in it.
 */
#define _GNU_SOURCE /* strdup */
#include "history_parts.h"

#include <stdlib.h>
#include <string.h>

#define DAYS_COUNTS 4096u

/* A day whose tally is not there: it began to be kept later, or is no longer.
 */
static hsy_status days_none(struct history_point *out, uint32_t day)
{
    *out = (struct history_point){.day = day, .own_len = 4};
    out->own = strdup("null");
    return out->own != NULL ? HSY_OK : HSY_E_NOMEM;
}

/* The figure of a day, or that it has too few reports for one. */
static hsy_status days_make(struct history_point *out, struct history *h,
                            const struct roster_entry *e,
                            const struct store_count *day,
                            const struct figure_how *how, hsy_error *err)
{
    const struct history_ask ask = {
        .entry = e, .first = day->epoch, .last = day->epoch};
    json_t *figure = NULL;
    char *json = NULL;
    size_t len = 0;
    hsy_status st = history_figure(&json, &len, h->c, &ask, how, err);

    if (st == HSY_E_EMPTY)
        return err->limit != 0
                   ? history_few(out, e, day, history_devices(h->c, &ask))
                   : days_none(out, day->epoch);
    if (st == HSY_OK)
        figure = json_loadb(json, len, JSON_ALLOW_NUL, NULL);
    if (figure != NULL)
        st = history_point(out, figure, e, HISTORY_IS_OWN, day->epoch);
    json_decref(figure);
    free(json);
    return figure == NULL && st == HSY_OK ? HSY_E_NOMEM : st;
}

/* Whether the day has no figure yet, or one of other reports. */
static bool days_stale(struct history *h, const struct history_series *s,
                       const struct store_count *day)
{
    const struct history_point *known;
    bool stale;

    pthread_mutex_lock(&h->lock);
    known = history_day(s, day->epoch);
    stale = known == NULL || known->own == NULL ||
            known->own_reports != day->reports;
    pthread_mutex_unlock(&h->lock);
    return stale;
}

/* folded: all that was counted is in the tallies, whatever they hold. */
static void days_renew(struct history *h, const struct roster_entry *e,
                       struct history_series *s, const struct store_count *day,
                       const struct figure_how *how, bool folded)
{
    struct history_point own = {0};
    hsy_error err = {0};
    hsy_status st = days_make(&own, h, e, day, how, &err);

    if (st == HSY_OK) {
        own.unkept = true;
        if (folded)
            own.own_reports = day->reports;
        pthread_mutex_lock(&h->lock);
        history_add_day(s, own);
        pthread_mutex_unlock(&h->lock);
    } else if (st != HSY_E_BUSY && st != HSY_E_UNKNOWN) {
        log_failure(h->c->log, "figure-of-day", &err);
    }
}

bool history_make_days(struct history *h, const struct roster_entry *e,
                       struct history_series *s, const struct figure_how *how)
{
    struct store_count *days = malloc(DAYS_COUNTS * sizeof *days);
    struct engine_status status;
    size_t n = 0, made = 0;
    bool left = false;

    engine_look(h->c->engine, &status);
    if (days != NULL && e->words <= h->c->config.day_words)
        n = engine_counts(h->c->engine, e->number, days, DAYS_COUNTS);
    if (n > DAYS_COUNTS)
        n = DAYS_COUNTS;
    while (n-- > 0 && !left) { /* the newest first */
        if (!engine_is_day(&days[n]) || days[n].reports == 0 ||
            days[n].epoch + h->c->config.keep_days < status.day ||
            !days_stale(h, s, &days[n]))
            continue;
        left = made++ == HISTORY_OWN;
        if (!left)
            days_renew(h, e, s, &days[n], how, status.folded == status.seq);
    }
    free(days);
    return !left;
}
