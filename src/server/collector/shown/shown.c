/* shown.c - generations of what readers are shown. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "server/collector/shown/internal.h"

#include "host/analysis/analysis.h"
#include "host/base/grow.h"
#include "host/base/host_fail.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t shown_moment_now(const struct shown *s)
{
    const bool shared = s->keep != NULL && s->keep->ops->shared;
    struct timespec t;

    if (s->o.seconds == 0 ||
        clock_gettime(shared ? CLOCK_REALTIME : CLOCK_BOOTTIME, &t) == -1)
        return 0;
    return (uint64_t)t.tv_sec / s->o.seconds;
}

bool shown_moment(struct shown *s)
{
    const uint64_t now = shown_moment_now(s);
    const bool come = s->o.seconds == 0 || now != s->moment;

    s->moment = now;
    return come;
}

/* The first day whose tally is there, and stays for `spare` days. */
uint32_t shown_kept(const struct shown *s, uint32_t spare)
{
    struct engine_status status;

    engine_status(s->o.engine, &status);
    return status.day + spare > s->o.keep_days
               ? status.day + spare - (uint32_t)s->o.keep_days
               : 0;
}

/* ---- Views --------------------------------------------------------------- */

/* The view of an entry; with the lock. NULL: there is none. */
static const struct shown_view *shown_at(const struct shown *s, uint32_t entry)
{
    return entry < s->n ? &s->views[entry] : NULL;
}

hsy_status shown_room(struct shown *s, uint32_t entry)
{
    bool there;

    pthread_mutex_lock(&s->lock);
    there = grow_room(&s->views, &s->n, (size_t)entry + 1, sizeof *s->views);
    pthread_mutex_unlock(&s->lock);
    return there ? HSY_OK : HSY_E_NOMEM;
}

hsy_status shown_set(struct shown *s, uint32_t entry, struct shown_view *v)
{
    const hsy_status st = shown_room(s, entry);

    if (st != HSY_OK)
        return st;
    pthread_mutex_lock(&s->lock);
    shown_view_clear(&s->views[entry]);
    s->views[entry] = *v;
    *v = (struct shown_view){0};
    pthread_mutex_unlock(&s->lock);
    return HSY_OK;
}

hsy_status shown_get(struct shown *s, uint32_t entry, struct shown_view *out)
{
    const struct shown_view *v;
    hsy_status st = HSY_OK;

    *out = (struct shown_view){0};
    pthread_mutex_lock(&s->lock);
    v = shown_at(s, entry);
    if (v != NULL)
        st = shown_view_copy(out, v);
    pthread_mutex_unlock(&s->lock);
    return st;
}

uint64_t shown_generation(struct shown *s, uint32_t entry)
{
    const struct shown_view *v;
    uint64_t generation;

    if (s == NULL)
        return 0;
    pthread_mutex_lock(&s->lock);
    v = shown_at(s, entry);
    generation = v != NULL ? v->generation : 0;
    pthread_mutex_unlock(&s->lock);
    return generation;
}

struct store_count shown_count(struct shown *s, uint32_t entry, uint64_t least)
{
    struct store_count sum = {.entry = entry};
    const struct shown_view *v;

    if (s == NULL)
        return sum;
    pthread_mutex_lock(&s->lock);
    v = shown_at(s, entry);
    for (size_t i = 0; v != NULL && i < v->ncounts; i++) {
        sum.reports += v->counts[i].reports;
        sum.nulls += v->counts[i].nulls;
    }
    pthread_mutex_unlock(&s->lock);
    if (least > 1)
        sum.nulls -= sum.nulls % least;
    return sum;
}

/* ---- Blocks -------------------------------------------------------------- */

/* The first day whose tally is there: another node's day may be a later one. */
static uint32_t shown_kept_of(const struct shown *s, const struct shown_view *v)
{
    const uint32_t kept = shown_kept(s, 0);

    return v->kept > kept ? v->kept : kept;
}

/* Whether a block is asked for, of those whose tallies are there. */
static bool shown_within(const struct shown_block *b, uint32_t kept,
                         uint32_t first, uint32_t last)
{
    return b->last >= kept && b->last >= first && b->first <= last;
}

hsy_status shown_blocks(struct shown *s, const struct roster_entry *is,
                        bool kept, struct shown_block **out, size_t *n)
{
    const uint64_t least = is->task.min_reports > 1 ? is->task.min_reports : 1;
    struct shown_view v;
    hsy_status st = shown_get(s, is->number, &v);
    size_t left = 0, i = 0;
    uint32_t from;

    if (st != HSY_OK)
        return st;
    from = kept ? shown_kept_of(s, &v) : 0;
    for (size_t k = 0; k < v.nblocks; k++) {
        struct shown_block b = v.blocks[k];

        for (; i < v.ncounts && v.counts[i].epoch <= b.last; i++)
            if (v.counts[i].epoch >= b.first) {
                b.reports += v.counts[i].own;
                b.nulls += v.counts[i].nulls;
            }
        b.nulls -= b.nulls % least; /* they are of no lot */
        if (b.last >= from)
            v.blocks[left++] = b;
    }
    *out = v.blocks;
    *n = left;
    free(v.counts);
    return HSY_OK;
}

/* Days to the borders of the blocks that they lie in; false: in none that is
 * kept. 0 stays 0. */
static bool shown_widen(struct shown *s, const struct roster_entry *is,
                        uint32_t *first, uint32_t *last)
{
    struct shown_block *blocks = NULL;
    uint32_t from = 0, to = 0;
    size_t n = 0;

    if (*first == 0)
        return true;
    if (s == NULL || shown_blocks(s, is, true, &blocks, &n) != HSY_OK)
        return false;
    for (size_t i = 0; i < n; i++)
        if (shown_within(&blocks[i], 0, *first, *last)) {
            from = from == 0 ? blocks[i].first : from;
            to = blocks[i].last;
        }
    free(blocks);
    if (from == 0)
        return false;
    *first = from;
    *last = to;
    return true;
}

/* ---- Rounds -------------------------------------------------------------- */

/* In which batches the reports of all, or of some blocks, came. Of one that is
 * smaller than a lot its size is not told, only that it has a report. */
static void shown_came(struct batches *out, const struct shown_view *v,
                       const struct roster_entry *is, uint32_t first,
                       uint32_t last)
{
    struct engine_sum sum = {0};

    for (size_t i = 0; i < v->ncounts; i++) {
        const struct shown_epoch *e = &v->counts[i];

        if (first == 0)
            engine_sum_add(&sum, &e->came);
        else if (e->epoch >= first && e->epoch <= last)
            engine_sum_add(&sum, &e->own_came);
    }
    if (sum.least < is->task.min_reports)
        sum.least = 1;
    engine_batches_say(out, &is->task, &sum);
}

/* Of which rounds the reports of all, or of some blocks, are. */
static hsy_status shown_rounds(struct engine_rounds *out,
                               const struct shown_view *v,
                               const struct roster_entry *is, uint32_t first,
                               uint32_t last, hsy_error *err)
{
    struct store_count *counts = calloc(v->ncounts + 1, sizeof *counts);
    size_t n = 0;
    hsy_status st;

    if (counts == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < v->ncounts; i++) {
        const struct shown_epoch *e = &v->counts[i];

        if (first == 0 || (e->epoch >= first && e->epoch <= last))
            counts[n++] = (struct store_count){
                .entry = is->number,
                .epoch = e->epoch,
                .reports = first == 0 ? e->reports : e->own};
    }
    st = engine_rounds_of(out, is, counts, n, err);
    free(counts);
    return st;
}

uint64_t shown_devices(struct shown *s, const struct roster_entry *is,
                       uint32_t first, uint32_t last)
{
    struct engine_rounds of = {0};
    hsy_attendance attended = {0};
    struct shown_view v;

    if (s == NULL || !shown_widen(s, is, &first, &last) ||
        shown_get(s, is->number, &v) != HSY_OK)
        return 0;
    if (shown_rounds(&of, &v, is, first, last, NULL) != HSY_OK ||
        engine_rounds_attend(&attended, &of, &is->task, NULL) != HSY_OK)
        attended.devices = 0;
    rounds_clear(&of.rounds);
    shown_view_clear(&v);
    return attended.devices;
}

/* ---- Copies -------------------------------------------------------------- */

/* With the keep's lock: the blocks that are asked for, and their borders. */
static hsy_status shown_sum(struct shown *s, const struct shown_view *v,
                            const struct roster_entry *is, uint32_t first,
                            uint32_t last, int64_t *words,
                            struct shown_block *span, hsy_error *err)
{
    const uint32_t kept = shown_kept_of(s, v);
    hsy_status st = HSY_OK;

    for (size_t k = 0; k < v->nblocks && st == HSY_OK; k++) {
        const struct shown_block *b = &v->blocks[k];

        if (!shown_within(b, kept, first, last))
            continue;
        span->first = span->first == 0 ? b->first : span->first;
        span->last = b->last;
        st = s->keep->ops->add(s->keep, SHOWN_READS, is->number, b->first,
                               words, is->words, err);
    }
    if (st == HSY_OK && span->first == 0)
        st = host_fail(err, HSY_E_EMPTY, HSY_FIELD_EPOCH,
                       "no tally of these days is kept");
    return st;
}

/* The first and the last day that have reports, and how many. */
static void shown_days(struct shown_block *span, const struct shown_view *v)
{
    for (size_t i = 0; i < v->ncounts; i++) {
        if (v->counts[i].reports == 0 || v->counts[i].epoch == 0 ||
            v->counts[i].epoch >= ENGINE_MERGED)
            continue;
        span->first = span->first == 0 ? v->counts[i].epoch : span->first;
        span->last = v->counts[i].epoch;
        span->reports += v->counts[i].reports;
    }
}

/* With the keep's lock, the entry entered. */
static hsy_status shown_words(struct shown *s, const struct shown_view *v,
                              const struct roster_entry *is, uint32_t first,
                              uint32_t last, int64_t *words,
                              struct shown_block *span, hsy_error *err)
{
    if (v->generation == 0 || v->gone)
        return host_fail(err, HSY_E_EMPTY, HSY_FIELD_REPORTS,
                         v->gone ? "the task is retired" : "too few reports");
    if (first != 0)
        return shown_sum(s, v, is, first, last, words, span, err);
    shown_days(span, v);
    return s->keep->ops->add(s->keep, SHOWN_READS, is->number, 0, words,
                             is->words, err);
}

hsy_status shown_copy(struct shown *s, const struct roster_entry *is,
                      uint32_t first, uint32_t last, int64_t *words,
                      struct engine_rounds *of, struct shown_block *span,
                      hsy_error *err)
{
    struct shown_view v;
    bool newer = false;
    hsy_status st;

    *span = (struct shown_block){0};
    memset(words, 0, is->words * sizeof *words);
    pthread_mutex_lock(&s->keep_lock);
    st = shown_get(s, is->number, &v);
    if (st == HSY_OK)
        st = shown_enter(s, SHOWN_READS, is, &v, &newer, err);
    if (st == HSY_OK) {
        st = shown_words(s, &v, is, first, last, words, span, err);
        st = shown_leave(s, SHOWN_READS, is, &v, newer, st, err);
    }
    pthread_mutex_unlock(&s->keep_lock);
    if (st == HSY_OK)
        st = shown_rounds(of, &v, is, first == 0 ? 0 : span->first, span->last,
                          err);
    if (st == HSY_OK)
        shown_came(&of->batches, &v, is, first == 0 ? 0 : span->first,
                   span->last);
    shown_view_clear(&v);
    return st;
}

/* ---- Open and close ------------------------------------------------------ */

hsy_status shown_open(struct shown **out, const struct shown_options *o,
                      hsy_error *err)
{
    struct shown *s = calloc(1, sizeof *s);
    hsy_status st;

    if (s == NULL) {
        if (o->keep != NULL)
            o->keep->ops->close(o->keep);
        return host_nomem(err);
    }
    s->o = *o;
    s->keep = o->keep;
    s->moment = shown_moment_now(s);
    pthread_mutex_init(&s->renewing, NULL);
    atomic_init(&s->paused, 0);
    pthread_mutex_init(&s->keep_lock, NULL);
    pthread_mutex_init(&s->lock, NULL);
    st = s->keep == NULL ? shown_file_open(&s->keep, o->data, err) : HSY_OK;
    if (st == HSY_OK)
        st = shown_read(s, err);
    if (st == HSY_OK)
        st = shown_forget(s, 0, err);
    if (st != HSY_OK)
        shown_close(s);
    else
        *out = s;
    return st;
}

void shown_close(struct shown *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->n; i++)
        shown_view_clear(&s->views[i]);
    free(s->views);
    if (s->keep != NULL)
        s->keep->ops->close(s->keep);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->keep_lock);
    pthread_mutex_destroy(&s->renewing);
    free(s);
}

/* With `renewing`: whether there is something to forget, and then do. */
static hsy_status shown_forget_one(struct shown *s, uint32_t entry,
                                   uint32_t before, hsy_error *err)
{
    const bool all = engine_is_retired(s->o.engine, entry);
    const struct shown_view *v;
    bool some;
    hsy_status st;

    pthread_mutex_lock(&s->lock);
    v = shown_at(s, entry);
    some =
        v != NULL && v->generation != 0 &&
        ((all && !v->gone) || (v->nblocks != 0 && v->blocks[0].last < before));
    pthread_mutex_unlock(&s->lock);
    if (!some)
        return HSY_OK;
    pthread_mutex_lock(&s->keep_lock);
    st = s->keep->ops->forget(s->keep, entry, before, all, err);
    pthread_mutex_lock(&s->lock);
    if (st == HSY_OK)
        shown_view_forget(&s->views[entry], before, all);
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_unlock(&s->keep_lock);
    return st;
}

hsy_status shown_forget(struct shown *s, uint32_t before, hsy_error *err)
{
    hsy_status st;

    if (s == NULL)
        return HSY_OK;
    pthread_mutex_lock(&s->renewing);
    st = s->keep->ops->shared ? shown_read(s, err) : HSY_OK;
    for (size_t i = 0; i < s->n && st == HSY_OK; i++)
        st = shown_forget_one(s, (uint32_t)i, before, err);
    pthread_mutex_unlock(&s->renewing);
    return st;
}

void shown_pause(struct shown *s, bool pause)
{
    if (s == NULL)
        return;
    if (pause) {
        atomic_fetch_add(&s->paused, 1);
        pthread_mutex_lock(&s->renewing);
    } else {
        pthread_mutex_unlock(&s->renewing);
        atomic_fetch_sub(&s->paused, 1);
    }
}

hsy_status shown_backup(struct shown *s, const char *directory, hsy_error *err)
{
    hsy_status st;

    pthread_mutex_lock(&s->keep_lock);
    st = s->keep->ops->backup(s->keep, directory, err);
    pthread_mutex_unlock(&s->keep_lock);
    return st;
}
