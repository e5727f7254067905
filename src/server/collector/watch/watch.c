/* watch.c - what a collector remembers of how it fares, and says in its log. */
#define _GNU_SOURCE

#include "server/collector/watch/internal.h"

#include "host/base/host_fail.h"
#include "server/cluster/cluster.h"
#include "server/collector/collector.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WATCH_QUIET 5u /* looks until a trouble is said to be over */

const char *const watch_refusals[WATCH_REFUSALS] = {
    [WATCH_DISK] = "disk",
    [WATCH_BUSY] = "busy",
    [WATCH_MEMORY] = "memory",
    [WATCH_MALFORMED] = "malformed",
    [WATCH_TYPE] = "content-type"};

uint64_t watch_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec + 1;
}

/* ---- Opening ------------------------------------------------------------- */

static int64_t watch_offset(void)
{
    return (int64_t)time(NULL) - (int64_t)watch_clock();
}

hsy_status watch_open(struct watch **out, const struct config *f,
                      hsy_error *err)
{
    struct watch *w = calloc(1, sizeof *w);

    if (w == NULL)
        return host_nomem(err);
    w->backups = f->backups != NULL ? f->backups : f->data;
    w->started = (uint64_t)time(NULL);
    w->offset = watch_offset();
    pthread_mutex_init(&w->lock, NULL);
    watch_machine_open(w, f->data);
    *out = w;
    return HSY_OK;
}

void watch_close(struct watch *w)
{
    if (w == NULL)
        return;
    watch_pulse_stop(w);
    watch_machine_close(w);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

/* ---- What happens -------------------------------------------------------- */

void watch_refused(struct watch *w, enum watch_refusal why)
{
    atomic_fetch_add(&w->refusals[why], 1);
    if (why == WATCH_DISK)
        atomic_store(&w->disk_at, watch_clock());
}

void watch_taken(struct watch *w)
{
    if (atomic_load_explicit(&w->disk_at, memory_order_relaxed) != 0)
        atomic_store(&w->disk_at, 0);
}

/* ---- Once a second ------------------------------------------------------- */

static void watch_more(uint64_t *seen, uint64_t *at, uint64_t is, uint64_t now)
{
    if (is != *seen)
        *at = now;
    *seen = is;
}

static void watch_uploads(struct watch *w, const struct engine_status *s,
                          uint64_t now)
{
    watch_more(&w->refused, &w->refused_at, s->verdicts[INTAKE_FULL], now);
    watch_more(&w->no_ids, &w->no_ids_at, s->ids_refused, now);
}

/* The mark moves on when all up to it is folded. */
static void watch_folding(struct watch *w, const struct engine_status *s,
                          uint64_t now)
{
    if (w->mark_at != 0 && s->folded < w->mark)
        return;
    w->mark = s->seq;
    w->mark_at = s->seq > s->folded ? now : 0;
}

/* Whether folding goes on, if there is something to fold. */
static void watch_moving(struct watch *w, const struct engine_status *s,
                         uint64_t now)
{
    if (w->moved_at == 0 || s->folded != w->folded || s->folded == s->seq)
        w->moved_at = now;
    w->folded = s->folded;
    w->stuck = now > w->moved_at + WATCH_STUCK;
}

void watch_sample(struct watch *w, const struct engine_status *s, uint64_t now)
{
    pthread_mutex_lock(&w->lock);
    watch_uploads(w, s, now);
    watch_folding(w, s, now);
    watch_moving(w, s, now);
    pthread_mutex_unlock(&w->lock);
}

/* When it begins, and once a day while it lasts; that it is over only when it
 * has not come back for a while. */
static void watch_say(struct collector *c, struct watch_said *is,
                      const struct trouble *t, uint32_t day)
{
    const bool there = t->text[0] != '\0';

    is->quiet = there ? 0 : is->quiet + 1;
    if (there && (!is->said || is->day != day)) {
        log_words(c->log, t->grave ? LOG_ERROR : LOG_NOTE, "trouble", t->name,
                  t->text);
        is->said = true;
        is->day = day;
    } else if (is->said && is->quiet >= WATCH_QUIET) {
        log_event(c->log, LOG_NOTE, "trouble-over", "name=%s", t->name);
        is->said = false;
    }
}

/* A disk that was full is tried without waiting for an upload: who asks whether
 * the collector is ready may send none before it is. */
static void watch_try_disk(struct watch *w)
{
    if (atomic_load(&w->disk_at) != 0 && watch_room(w))
        watch_taken(w);
}

void watch_tick(struct collector *c)
{
    struct trouble all[WATCH_TROUBLES];
    struct engine_status status;

    atomic_fetch_add(&c->watch->ticks, 1);
    watch_try_disk(c->watch);
    engine_status(c->engine, &status);
    watch_sample(c->watch, &status, watch_clock());
    watch_look(c, all);
    for (size_t i = 0; i < WATCH_TROUBLES; i++)
        watch_say(c, &c->watch->said[i], &all[i], status.day);
}

/* ---- For metrics --------------------------------------------------------- */

void watch_figures(struct collector *c, struct watch_figures *out)
{
    struct watch *w = c->watch;
    struct cluster_status cluster;

    *out = (struct watch_figures){.started = w->started,
                                  .most_files = w->most_files,
                                  .clock_step = watch_offset() - w->offset};
    for (size_t i = 0; i < WATCH_REFUSALS; i++)
        out->refusals[i] = atomic_load(&w->refusals[i]);
    pthread_mutex_lock(&w->lock);
    if (w->mark_at != 0)
        out->unfolded_seconds = watch_clock() - w->mark_at;
    watch_machine(w, out);
    pthread_mutex_unlock(&w->lock);
    if (cluster_status(c->counting, &cluster))
        out->unfolded_seconds = cluster_unfolded(&cluster);
}

void watch_document(struct collector *c, struct watch_document *out)
{
    size_t len = 0;
    uint8_t *bytes = engine_document_hold(c->engine, &len);
    hsy_document doc;

    *out = (struct watch_document){.there = false};
    if (bytes != NULL && hsy_document_open(&doc, bytes, len, NULL) == HSY_OK)
        *out = (struct watch_document){.there = true,
                                       .version = doc.version,
                                       .issued = doc.issued,
                                       .expires = doc.expires,
                                       .tasks = doc.tasks};
    engine_document_drop(bytes);
}
