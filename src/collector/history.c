/*
 * history.c - the estimator's thread: figures of what has changed, as time goes
 * by.
 *
 * Once a second it tells readers of events what was counted; every
 * estimate_seconds it makes a figure of each entry with new reports, but spends
 * no more than a part of its time on any of them. Points of a day are written
 * at the latest when the day ends or the collector stops.
 */
#define _GNU_SOURCE /* pthread_condattr_setclock */
#include "history.h"

#include "hostfail.h"

#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HISTORY_LIVE 240u                        /* points of an entry */
#define HISTORY_DAYS 400u                        /* days of an entry */
#define HISTORY_BYTES ((size_t)64 * 1024 * 1024) /* of live points, at most */
#define HISTORY_KEEP_SECONDS 300 /* a day's point is written so often */
#define HISTORY_EASE 10 /* a figure that takes t is made every 10 t at most */

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
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    bool stop;
    struct history_series **series; /* by entry; owned */
    size_t n;
    size_t live_bytes;
};

static double history_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct desk *history_desk(struct history *h)
{
    return h != NULL ? h->desk : NULL;
}

/* ---- Points -------------------------------------------------------------- */

/* The series of an entry, made if there is none; under the lock. NULL: out of
 * memory. */
static struct history_series *history_of(struct history *h, uint32_t entry)
{
    if (entry >= h->n) {
        const size_t n = (size_t)entry + 16;
        struct history_series **more = realloc(h->series, n * sizeof *more);

        if (more == NULL)
            return NULL;
        memset(more + h->n, 0, (n - h->n) * sizeof *more);
        h->series = more;
        h->n = n;
    }
    if (h->series[entry] == NULL)
        h->series[entry] = calloc(1, sizeof *h->series[entry]);
    return h->series[entry];
}

static void history_forget(struct history *h, struct history_series *s)
{
    struct history_point *oldest = &s->live[s->first];

    h->live_bytes -= oldest->len;
    free(oldest->json);
    *oldest = (struct history_point){0};
    s->first = (s->first + 1) % HISTORY_LIVE;
    s->nlive--;
}

/* Add a point of now, which becomes the series'. */
static void history_add_live(struct history *h, struct history_series *s,
                             struct history_point point)
{
    while (s->nlive > 1 && (s->nlive == HISTORY_LIVE ||
                            h->live_bytes + point.len > HISTORY_BYTES))
        history_forget(h, s);
    s->live[(s->first + s->nlive++) % HISTORY_LIVE] = point;
    h->live_bytes += point.len;
}

/* Add a point of a day, or put it in the place of the same day's; it becomes
 * the series'. */
static void history_add_day(struct history_series *s,
                            struct history_point point)
{
    struct history_point *more;

    if (s->ndays != 0 && s->days[s->ndays - 1].day == point.day) {
        free(s->days[s->ndays - 1].json);
        s->days[s->ndays - 1] = point;
        return;
    }
    if (s->ndays == HISTORY_DAYS) {
        free(s->days[0].json);
        memmove(s->days, s->days + 1, --s->ndays * sizeof *s->days);
    }
    more = realloc(s->days, (s->ndays + 1) * sizeof *more);
    if (more == NULL) {
        free(point.json);
        return;
    }
    s->days = more;
    s->days[s->ndays++] = point;
}

static void history_free_series(struct history_series *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < HISTORY_LIVE; i++)
        free(s->live[i].json);
    for (size_t i = 0; i < s->ndays; i++)
        free(s->days[i].json);
    free(s->days);
    free(s);
}

static void history_put_points(struct put *p, const struct history_point *at,
                               size_t first, size_t n, size_t room)
{
    for (size_t i = 0; i < n; i++) {
        const struct history_point *point = &at[(first + i) % room];

        put_json(p, NULL, point->json, point->len);
    }
}

void history_put(struct history *h, struct put *p, uint32_t entry)
{
    const struct history_series *s;

    pthread_mutex_lock(&h->lock);
    s = entry < h->n ? h->series[entry] : NULL;
    put_array(p, "live");
    if (s != NULL)
        history_put_points(p, s->live, s->first, s->nlive, HISTORY_LIVE);
    put_end(p, ']');
    put_array(p, "days");
    if (s != NULL)
        history_put_points(p, s->days, 0, s->ndays, s->ndays + 1);
    put_end(p, ']');
    pthread_mutex_unlock(&h->lock);
}

/* ---- From a figure ------------------------------------------------------- */

static void history_put_row(struct put *p, json_t *row)
{
    static const char *const numbers[] = {"estimate", "stderr", "low", "high"};
    const json_t *value = json_object_get(row, "value");

    put_object(p, NULL);
    put_text(p, "value", json_string_value(value), json_string_length(value));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        put_number(p, numbers[i],
                   json_number_value(json_object_get(row, numbers[i])));
    put_end(p, '}');
}

enum history_form { HISTORY_IS_LIVE, HISTORY_IS_DAY, HISTORY_IS_EVENT };

/* The point of a figure in one of its forms. */
static hsy_status history_point(struct history_point *out, json_t *figure,
                                const struct roster_entry *e,
                                enum history_form form, uint32_t day)
{
    json_t *rows = json_object_get(figure, "estimates");
    struct put p;
    hsy_status st = put_open(&p, NULL);

    if (st != HSY_OK)
        return st;
    if (form == HISTORY_IS_LIVE) {
        put_count(&p, "time", (uint64_t)time(NULL));
    } else if (form == HISTORY_IS_DAY) {
        put_day(&p, "day", day);
    } else {
        put_word(&p, "task", e->task.id);
        put_count(&p, "release", e->task.release);
    }
    put_count(&p, "reports",
              (uint64_t)json_integer_value(json_object_get(figure, "reports")));
    put_array(&p, "estimates");
    for (size_t i = 0; i < json_array_size(rows) && i < HISTORY_ROWS; i++)
        history_put_row(&p, json_array_get(rows, i));
    put_end(&p, ']');
    out->day = form == HISTORY_IS_DAY ? day : 0;
    return put_close(&p, &out->json, &out->len, NULL);
}

static void history_publish(struct history *h, const char *name,
                            const char *json, size_t len)
{
    if (h->c->admin != NULL)
        listen_publish(h->c->admin, name, json, len);
}

/* Let a figure be part of the history. */
static void history_take(struct history *h, const struct roster_entry *e,
                         const char *json, size_t len, uint32_t day)
{
    json_t *figure = json_loadb(json, len, 0, NULL);
    struct history_point live = {0}, of_day = {0}, event = {0};
    struct history_series *s;

    if (figure != NULL &&
        history_point(&event, figure, e, HISTORY_IS_EVENT, 0) == HSY_OK) {
        history_publish(h, "figure", event.json, event.len);
        free(event.json);
    }
    if (figure != NULL &&
        history_point(&live, figure, e, HISTORY_IS_LIVE, 0) == HSY_OK &&
        history_point(&of_day, figure, e, HISTORY_IS_DAY, day) == HSY_OK) {
        pthread_mutex_lock(&h->lock);
        s = history_of(h, e->number);
        if (s != NULL) {
            history_add_live(h, s, live);
            history_add_day(s, of_day);
            s->unkept = true;
            live.json = of_day.json = NULL;
        }
        pthread_mutex_unlock(&h->lock);
    }
    free(live.json);
    free(of_day.json);
    json_decref(figure);
}

/* ---- The store ----------------------------------------------------------- */

static hsy_status history_keep_job(struct engine *e, void *ctx, hsy_error *err)
{
    return engine_keep(e, ctx, err);
}

/* Write the last day's point of an entry, if it is not there. */
static void history_keep(struct history *h, uint32_t entry)
{
    struct store_figure figure = {.entry = entry};
    struct history_series *s;
    char *copy = NULL;
    hsy_error err = {0};

    pthread_mutex_lock(&h->lock);
    s = entry < h->n ? h->series[entry] : NULL;
    if (s != NULL && s->unkept && s->ndays != 0) {
        const struct history_point *last = &s->days[s->ndays - 1];

        copy = malloc(last->len + 1);
        if (copy != NULL) {
            memcpy(copy, last->json, last->len);
            figure.day = last->day;
            figure.json = copy;
            figure.len = last->len;
            s->unkept = false;
            s->kept = history_now();
        }
    }
    pthread_mutex_unlock(&h->lock);
    if (copy != NULL && workers_admitting(h->c->workers, history_keep_job,
                                          &figure, &err) != HSY_OK)
        log_failure(h->c->log, "keep-figure", &err);
    free(copy);
}

static hsy_status history_read(void *ctx, const struct store_figure *figure)
{
    struct history *h = ctx;
    struct history_point point = {.day = figure->day, .len = figure->len};
    struct history_series *s;

    point.json = malloc(figure->len + 1);
    if (point.json == NULL)
        return HSY_E_NOMEM;
    memcpy(point.json, figure->json, figure->len);
    pthread_mutex_lock(&h->lock);
    s = history_of(h, figure->entry);
    if (s != NULL)
        history_add_day(s, point);
    else
        free(point.json);
    pthread_mutex_unlock(&h->lock);
    return s != NULL ? HSY_OK : HSY_E_NOMEM;
}

static hsy_status history_read_job(struct engine *e, void *ctx, hsy_error *err)
{
    const struct store_reader to = {.ctx = ctx, .figure = history_read};

    return engine_figures(e, &to, err);
}

/* ---- The thread ---------------------------------------------------------- */

/* Wait so long; true if it is time to stop. */
static bool history_wait(struct history *h, double seconds)
{
    struct timespec until;
    const double at = history_now() + seconds;
    bool stop;

    until.tv_sec = (time_t)at;
    until.tv_nsec = (long)(1e9 * (at - (double)until.tv_sec));
    pthread_mutex_lock(&h->lock);
    while (!h->stop &&
           pthread_cond_timedwait(&h->changed, &h->lock, &until) == 0)
        ;
    stop = h->stop;
    pthread_mutex_unlock(&h->lock);
    return stop;
}

static void history_tell(struct history *h, const struct roster_entry *e,
                         const struct store_count *count)
{
    struct put p;
    char *json;
    size_t len;

    if (put_open(&p, NULL) != HSY_OK)
        return;
    put_word(&p, "task", e->task.id);
    put_count(&p, "release", e->task.release);
    put_count(&p, "reports", count->reports);
    put_count(&p, "nulls", count->nulls);
    if (put_close(&p, &json, &len, NULL) != HSY_OK)
        return;
    history_publish(h, "counts", json, len);
    free(json);
}

/* Write the last point if it is of a day that is over, or has waited long. */
static void history_settle(struct history *h, uint32_t entry,
                           const struct history_series *s, uint32_t day)
{
    bool keep;

    pthread_mutex_lock(&h->lock);
    keep = s->unkept && s->ndays != 0 &&
           (s->days[s->ndays - 1].day != day ||
            history_now() >= s->kept + HISTORY_KEEP_SECONDS);
    pthread_mutex_unlock(&h->lock);
    if (keep)
        history_keep(h, entry);
}

/* A figure of an entry whose reports have changed; later again, the longer it
 * took. */
static void history_make(struct history *h, const struct roster_entry *e,
                         struct history_series *s, uint64_t reports)
{
    const struct history_ask ask = {.entry = e};
    const struct figure_how how = {.level = 0.95, .lying = h->c->config.lying};
    const double begun = history_now();
    struct engine_status status;
    hsy_error err = {0};
    char *json = NULL;
    size_t len = 0;
    hsy_status st = history_figure(&json, &len, h->c, &ask, how, &err);

    engine_look(h->c->engine, &status);
    history_settle(h, e->number, s, status.day);
    if (st == HSY_OK)
        history_take(h, e, json, len, status.day);
    else if (st != HSY_E_EMPTY && st != HSY_E_BUSY && st != HSY_E_UNKNOWN)
        log_failure(h->c->log, "figure", &err);
    free(json);
    s->made = reports;
    s->due = history_now() + HISTORY_EASE * (history_now() - begun);
}

static void history_entry(struct history *h, const struct roster_entry *e,
                          uint32_t day, bool estimate)
{
    const struct store_count count = history_count(h->c, e->number);
    struct history_series *s;

    pthread_mutex_lock(&h->lock);
    s = history_of(h, e->number);
    pthread_mutex_unlock(&h->lock);
    if (s == NULL)
        return;
    history_settle(h, e->number, s, day);
    if (count.reports != s->told_reports || count.nulls != s->told_nulls) {
        history_tell(h, e, &count);
        s->told_reports = count.reports;
        s->told_nulls = count.nulls;
    }
    if (estimate && count.reports != s->made && history_now() >= s->due)
        history_make(h, e, s, count.reports);
}

static void history_round(struct history *h, bool estimate)
{
    struct roster *roster = engine_roster(h->c->engine);
    struct engine_status status;

    engine_look(h->c->engine, &status);
    for (size_t i = 0; roster != NULL && i < roster_count(roster); i++)
        history_entry(h, roster_at(roster, i), status.day, estimate);
    roster_drop(roster);
}

static void *history_run(void *ctx)
{
    struct history *h = ctx;
    const double every = (double)h->c->config.estimate_seconds;
    double next = 0;
    hsy_error err = {0};

    if (workers_admitting(h->c->workers, history_read_job, h, &err) != HSY_OK)
        log_failure(h->c->log, "read-figures", &err);
    while (!history_wait(h, every < 1 ? every : 1)) {
        const bool estimate = history_now() >= next;

        if (estimate)
            next = history_now() + every;
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
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

hsy_status history_start(struct history **out, struct collector *c,
                         hsy_error *err)
{
    struct history *h = calloc(1, sizeof *h);
    pthread_condattr_t monotonic;
    hsy_status st;

    if (h == NULL)
        return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    h->c = c;
    pthread_mutex_init(&h->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&h->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    st = desk_open(&h->desk, c, err);
    if (st == HSY_OK && pthread_create(&h->thread, NULL, history_run, h) != 0) {
        desk_close(h->desk);
        st = host_fail(err, HSY_E_NOMEM, NULL, "cannot make a thread");
    }
    if (st == HSY_OK)
        *out = h;
    else
        history_free(h);
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
