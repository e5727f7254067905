/*
 * history.c - the estimator's thread: figures of what has changed, as time goes
 * by.
 *
 * Once a second it looks whether a moment for new generations (shown.h) has
 * come; every estimate_seconds it makes figures of those that did, but spends
 * no more than a part of its time on any of them. Points of a day are written
 * at the latest when the day ends or the collector stops.
 */
#define _GNU_SOURCE /* of threads.h */
#include "server/collector/estimator/internal.h"

#include "host/base/host_fail.h"
#include "host/base/steady.h"
#include "host/base/threads.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HISTORY_KEEP_SECONDS 300 /* a day's point is written so often */
#define HISTORY_EASE 10 /* a figure that takes t is made every 10 t at most */

static double history_now(void)
{
    return 1e-6 * (double)steady_us();
}

struct shown *history_shown(struct history *h)
{
    return h != NULL ? h->shown : NULL;
}

struct desk *history_desk(struct history *h)
{
    return h != NULL ? h->desk : NULL;
}

/* ---- From a figure ------------------------------------------------------- */

/* Let a figure be part of the history. */
static void history_take(struct history *h, const struct roster_entry *e,
                         const struct figure *figure, uint32_t day)
{
    struct history_point live = {0}, of_day = {0};
    struct history_series *s;

    if (history_point(&live, figure, HISTORY_IS_LIVE, 0) == HSY_OK &&
        history_point(&of_day, figure, HISTORY_IS_DAY, day) == HSY_OK) {
        pthread_mutex_lock(&h->lock);
        s = history_of(h, e->number);
        if (s != NULL) {
            history_add_live(h, s, live);
            of_day.unkept = true;
            history_add_day(s, of_day);
            live.json = of_day.json = NULL;
        }
        pthread_mutex_unlock(&h->lock);
    }
    free(live.json);
    free(of_day.json);
}

/* ---- The store ----------------------------------------------------------- */

/* A day's point that is not in the store, as text to be freed; NULL: there is
 * none, or no memory. */
static char *history_unkept(struct history *h, struct store_figure *figure)
{
    struct history_series *s;
    char *text = NULL;

    pthread_mutex_lock(&h->lock);
    s = figure->entry < h->n ? h->series[figure->entry] : NULL;
    for (size_t i = 0; s != NULL && i < s->ndays && text == NULL; i++) {
        struct history_point *point = &s->days[i];

        if (point->unkept &&
            history_day_text(&text, &figure->len, point) == HSY_OK) {
            figure->day = point->day;
            figure->json = text;
            point->unkept = false;
            s->kept = history_now();
        }
    }
    pthread_mutex_unlock(&h->lock);
    return text;
}

/* Write the points of an entry's days that are not there. */
static void history_keep(struct history *h, uint32_t entry)
{
    struct counting *counting = h->c->counting;
    struct store_figure figure = {.entry = entry};
    hsy_error err = {0};
    char *text;

    while ((text = history_unkept(h, &figure)) != NULL) {
        if (counting->ops->keep(counting, &figure, &err) != HSY_OK)
            log_failure(h->c->log, "keep-figure", &err);
        free(text);
    }
}

static hsy_status history_read(void *ctx, const struct store_figure *figure)
{
    struct history *h = ctx;
    struct history_point point;
    struct history_series *s;

    if (history_day_parse(&point, figure->day, figure->json, figure->len) !=
        HSY_OK)
        return HSY_E_NOMEM;
    pthread_mutex_lock(&h->lock);
    s = history_of(h, figure->entry);
    if (s != NULL) {
        history_add_day(s, point);
    } else {
        free(point.json);
        free(point.own);
    }
    pthread_mutex_unlock(&h->lock);
    return s != NULL ? HSY_OK : HSY_E_NOMEM;
}

/* ---- The thread ---------------------------------------------------------- */

/* Wait so long; true if it is time to stop. */
static bool history_wait(struct history *h, double seconds)
{
    const struct timespec until = steady_after((uint64_t)(1e6 * seconds));
    bool stop;

    pthread_mutex_lock(&h->lock);
    while (!h->stop &&
           pthread_cond_timedwait(&h->changed, &h->lock, &until) == 0)
        ;
    stop = h->stop;
    pthread_mutex_unlock(&h->lock);
    return stop;
}

/* Write points that are of a day that is over, or have waited long. */
static void history_settle(struct history *h, uint32_t entry,
                           const struct history_series *s, uint32_t day)
{
    bool keep = false;

    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < s->ndays && !keep; i++)
        keep = s->days[i].unkept &&
               (s->days[i].day < day ||
                history_now() >= s->kept + HISTORY_KEEP_SECONDS);
    pthread_mutex_unlock(&h->lock);
    if (keep)
        history_keep(h, entry);
}

/* ---- What was sent on the days of one block alone ------------------------ */

/* A block's figure stands under its last day. It is made anew whenever more of
 * the block is shown. */
static hsy_status history_make_block(struct history_point *out,
                                     struct history *h,
                                     const struct history_ask *ask,
                                     const struct figure_how *how,
                                     hsy_error *err)
{
    struct figure *figure = NULL;
    hsy_status st = history_figure(&figure, h->c, ask, how, err);

    if (st == HSY_OK)
        st = history_point(out, figure, HISTORY_IS_OWN, ask->last);
    figure_drop(figure);
    return st;
}

/* Whether the block has no figure yet, or one of other reports. */
static bool history_stale(struct history *h, const struct history_series *s,
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

static void history_renew_block(struct history *h, struct history_series *s,
                                const struct history_ask *ask,
                                const struct figure_how *how)
{
    struct history_point own = {0};
    hsy_error err = {0};
    hsy_status st = history_make_block(&own, h, ask, how, &err);

    if (st == HSY_OK) {
        own.unkept = true;
        pthread_mutex_lock(&h->lock);
        history_add_day(s, own);
        pthread_mutex_unlock(&h->lock);
    } else if (st != HSY_E_BUSY && st != HSY_E_UNKNOWN && st != HSY_E_EMPTY) {
        log_failure(h->c->log, "figure-of-day", &err);
    }
}

/* Make figures of those blocks of days whose reports have changed, a few at a
 * time; false if some are left. */
static bool history_make_days(struct history *h, const struct roster_entry *e,
                              struct roster *roster, struct history_series *s,
                              const struct figure_how *how)
{
    struct shown_block *blocks = NULL;
    size_t n = 0, made = 0;
    bool left = false;

    if (shown_blocks(h->shown, e, true, &blocks, &n) != HSY_OK)
        return false;
    while (n-- > 0 && !left) { /* the newest first */
        if (!history_stale(h, s, &blocks[n]))
            continue;
        left = made++ == HISTORY_OWN;
        if (!left)
            history_renew_block(h, s,
                                &(struct history_ask){e, blocks[n].first,
                                                      blocks[n].last, roster},
                                how);
    }
    free(blocks);
    return !left;
}

/* ---- Of each entry ------------------------------------------------------- */

/* A figure as it is shown if nothing else is asked, and those of single days.
 * *all: none of these is left. */
static hsy_status history_figure_now(struct history *h, struct roster *roster,
                                     const struct roster_entry *e,
                                     struct history_series *s, uint32_t day,
                                     bool *all, hsy_error *err)
{
    const struct history_ask ask = {.entry = e, .roster = roster};
    struct figure_how how = {.level = 0.95, .lying = h->c->config.lying};
    struct figure *figure = NULL;
    char *candidates = NULL;
    hsy_status st =
        history_candidates(&how, &candidates, h->c, e->task.id, err);

    if (st == HSY_OK)
        st = history_figure(&figure, h->c, &ask, &how, err);
    if (st == HSY_OK) {
        history_take(h, e, figure, day);
        *all = history_make_days(h, e, roster, s, &how);
    }
    free(candidates);
    figure_drop(figure);
    return st;
}

/* A figure of an entry that shows a new generation; later again, the longer it
 * took. */
static void history_make(struct history *h, struct roster *roster,
                         const struct roster_entry *e, struct history_series *s,
                         uint32_t day, uint64_t generation)
{
    const double begun = history_now();
    hsy_error err = {0};
    bool all = true;
    hsy_status st;

    history_settle(h, e->number, s, day);
    st = history_figure_now(h, roster, e, s, day, &all, &err);
    if (st != HSY_OK && st != HSY_E_EMPTY && st != HSY_E_BUSY &&
        st != HSY_E_UNKNOWN)
        log_failure(h->c->log, "figure", &err);
    if (st != HSY_E_BUSY && all)
        s->made = generation;
    s->due = history_now() + HISTORY_EASE * (history_now() - begun);
}

static void history_entry(struct history *h, struct roster *roster, size_t i,
                          uint32_t day, bool estimate)
{
    const struct roster_entry *e = roster_at(roster, i);
    struct history_series *s;
    uint64_t generation;

    pthread_mutex_lock(&h->lock);
    s = history_of(h, e->number);
    pthread_mutex_unlock(&h->lock);
    if (s == NULL)
        return;
    history_settle(h, e->number, s, day);
    generation = shown_generation(h->shown, e->number);
    if (estimate && generation != s->made && history_now() >= s->due)
        history_make(h, roster, e, s, day, generation);
}

/* ---- Counters that readers see ------------------------------------------- */

static void history_look(struct collector *c, struct history_seen *out)
{
    engine_status(c->engine, &out->engine);
    counting_times(c->counting, &out->times);
    listen_status(c->public, &out->listener);
    watch_figures(c, &out->figures);
    (void)cluster_status(c->counting, &out->cluster);
}

static void history_see(struct history *h)
{
    struct history_seen now;

    history_look(h->c, &now);
    pthread_mutex_lock(&h->lock);
    h->seen = now;
    pthread_mutex_unlock(&h->lock);
}

void history_seen(struct collector *c, struct history_seen *out)
{
    struct history *h = c->history;

    if (h == NULL || c->config.snapshot_seconds == 0) {
        history_look(c, out);
        return;
    }
    pthread_mutex_lock(&h->lock);
    *out = h->seen;
    pthread_mutex_unlock(&h->lock);
}

/* ---- Rounds -------------------------------------------------------------- */

/* Generations that other nodes made. */
static void history_refresh(struct history *h)
{
    hsy_error err = {0};

    if (shown_refresh(h->shown, &err) != HSY_OK && err.status != HSY_E_BUSY)
        log_failure(h->c->log, "snapshot", &err);
}

static void history_round(struct history *h, bool estimate)
{
    struct roster *roster = engine_roster(h->c->engine);
    struct engine_status status;

    engine_status(h->c->engine, &status);
    history_refresh(h);
    if (shown_moment(h->shown)) {
        history_see(h);
        history_renew_all(h->c);
    }
    for (size_t i = 0; roster != NULL && i < roster_count(roster); i++)
        history_entry(h, roster, i, status.day, estimate);
    roster_drop(roster);
}

static void *history_run(void *ctx)
{
    struct history *h = ctx;
    struct counting *counting = h->c->counting;
    const struct store_reader to = {.ctx = h, .figure = history_read};
    const double every = (double)h->c->config.estimate_seconds;
    double next = 0;
    hsy_error err = {0};

    if (counting->ops->figures(counting, &to, &err) != HSY_OK)
        log_failure(h->c->log, "read-figures", &err);
    while (!history_wait(h, every < 1 ? every : 1)) {
        const bool estimate = history_now() >= next;

        if (estimate)
            next = history_now() + 0.9 * every; /* rounds are late, not early */
        history_round(h, estimate);
    }
    for (size_t i = 0; i < h->n; i++)
        history_keep(h, (uint32_t)i);
    return NULL;
}

/* ---- Start and stop ------------------------------------------------------ */

static void history_free(struct history *h)
{
    for (size_t i = 0; i < h->n; i++)
        history_free_series(h->series[i]);
    free(h->series);
    shown_close(h->shown);
    recent_clear(&h->recent);
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

static hsy_status history_show(struct history *h, hsy_error *err)
{
    const struct config *config = &h->c->config;
    const struct shown_options o = {.data = config->data,
                                    .keep = h->c->shown_keep,
                                    .engine = h->c->engine,
                                    .counting = h->c->counting,
                                    .seconds = config->snapshot_seconds,
                                    .day_words = config->day_words,
                                    .keep_days = config->keep_days};

    h->c->shown_keep = NULL; /* it is what is shown that closes it */
    return shown_open(&h->shown, &o, err);
}

hsy_status history_start(struct history **out, struct collector *c,
                         hsy_error *err)
{
    struct history *h = calloc(1, sizeof *h);
    hsy_status st;

    if (h == NULL)
        return host_nomem(err);
    h->c = c;
    pthread_mutex_init(&h->lock, NULL);
    *out = h; /* the thread asks for it */
    st = thread_condition(&h->changed) ? history_show(h, err) : host_nomem(err);
    history_look(c, &h->seen);
    if (st == HSY_OK)
        st = desk_open(&h->desk, c, err);
    if (st == HSY_OK && pthread_create(&h->thread, NULL, history_run, h) != 0) {
        desk_close(h->desk);
        st =
            host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, "cannot make a thread");
    }
    if (st != HSY_OK) {
        *out = NULL;
        history_free(h);
    }
    return st;
}

void history_stop(struct history *h)
{
    if (h == NULL)
        return;
    desk_close(h->desk);
    pthread_mutex_lock(&h->lock);
    h->stop = true;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
    pthread_join(h->thread, NULL);
    history_free(h);
}
