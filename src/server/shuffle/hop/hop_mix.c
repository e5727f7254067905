/*
 * hop_mix.c - the thread that closes, mixes, erases, and delivers.
 *
 * It goes round: what has come, what is due, one step of mixing or erasing at a
 * time, then what is to be delivered. A full disk and a next hop that is down
 * are waited out, and what need not wait for either goes on; a store that has
 * failed ends the process.
 */
#define _GNU_SOURCE
#include "server/shuffle/hop/internal.h"

#include "host/base/steady.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIX_RETRY 1000u /* milliseconds until a full disk is tried again */

static hsy_status mix_peel(void *ctx, uint8_t *out, bool *late,
                           const struct mixer_task *task, uint32_t epoch,
                           const uint8_t *id, const uint8_t *envelope)
{
    struct hops_keys keys;
    hsy_status st = hop_keys(ctx, &keys);

    if (st == HSY_OK)
        st = hops_peel(&keys, out, late, task, epoch, id, envelope);
    explicit_bzero(&keys, sizeof keys);
    return st;
}

/* ---- What there is to do ------------------------------------------------- */

/* Batches that nothing is done about, as no task has them: of a document that
 * is not in force, or of another key that signs. */
static void mix_orphans(struct hop *h)
{
    uint64_t orphans = 0;
    size_t n;
    const struct store_mix *rows = mixer_rows(h->mixer, &n);

    for (size_t i = 0; i < n; i++)
        orphans += rows[i].state != STORE_MIX_ERASED &&
                   rows[i].state != STORE_MIX_GONE &&
                   !mixer_ours(h->mixer, &rows[i]);
    if (orphans != 0)
        log_event(h->options.log, LOG_ERROR, "batches-of-no-task",
                  "batches=%" PRIu64, orphans);
}

/* Tasks that are asked now and that nothing is mixed of. */
static void mix_shut(struct hop *h, const struct roster *roster,
                     const struct mixer_task *tasks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (tasks[i].shut && roster_at(roster, tasks[i].entry)->current)
            log_event(h->options.log, LOG_ERROR, "no-seal-key",
                      "task=%s release=%" PRIu32, tasks[i].task,
                      tasks[i].release);
}

static hsy_status mix_take_tasks(struct hop *h, const struct roster *roster,
                                 hsy_error *err)
{
    struct mixer_task *tasks =
        malloc((roster_count(roster) + 1) * sizeof *tasks);
    struct hops_keys keys;
    hsy_status st;
    size_t n;

    if (tasks == NULL)
        return HSY_E_NOMEM;
    (void)hop_keys(h, &keys);
    n = hops_mixer_tasks(tasks, roster, &keys);
    explicit_bzero(&keys, sizeof keys);
    st = mixer_tasks(h->mixer, tasks, n, err);
    if (st == HSY_OK) {
        mix_orphans(h);
        mix_shut(h, roster, tasks, n);
    }
    free(tasks);
    return st;
}

/* The tasks of the document in force, if it or a key is another. */
static hsy_status mix_tasks(struct hop *h, hsy_error *err)
{
    struct roster *now = engine_roster(h->options.counting->view);
    hsy_status st = HSY_OK;
    bool other;

    pthread_mutex_lock(&h->lock);
    other = h->rekeyed || now != h->mixed;
    h->rekeyed = false;
    pthread_mutex_unlock(&h->lock);
    if (other)
        st = mix_take_tasks(h, now, err);
    if (other && st == HSY_OK) {
        roster_drop(h->mixed);
        h->mixed = now;
        hop_deliver_anew(h);
        return HSY_OK;
    }
    roster_drop(now);
    pthread_mutex_lock(&h->lock);
    h->rekeyed |= st != HSY_OK; /* once more */
    pthread_mutex_unlock(&h->lock);
    return st;
}

static hsy_status mix_came(struct hop *h, hsy_error *err)
{
    hsy_status st = HSY_OK;

    while (st == HSY_OK) {
        struct hop_came *c;

        pthread_mutex_lock(&h->lock);
        c = h->came;
        if (c != NULL)
            h->came = c->next;
        pthread_mutex_unlock(&h->lock);
        if (c == NULL)
            break;
        st = mixer_came(h->mixer, &c->row, err);
        if (st == HSY_OK) {
            free(c);
            continue;
        }
        pthread_mutex_lock(&h->lock); /* there is no memory: once more */
        c->next = h->came;
        h->came = c;
        pthread_mutex_unlock(&h->lock);
    }
    return st;
}

static hsy_status mix_decide(struct hop *h, hsy_error *err)
{
    struct engine_status s;
    struct mixer_time now = {.wall = h->options.now(h->options.ctx)};

    /* The status is read later, so that its commits have all uploads of the
     * epochs that are closed. */
    now.closed = engine_days(h->options.counting->view).first - 1;
    engine_status(h->options.counting->view, &s);
    now.day = s.day;
    now.seq = s.seq;
    return mixer_decide(h->mixer, &now, err);
}

/* ---- What others see of it ----------------------------------------------- */

/* Log what became of batches since the last look. */
static void mix_tell(struct hop *h, const struct store_mix *row,
                     enum store_mix_state before)
{
    static const char *const events[] = {[STORE_MIX_WAITING] = "batch-waits",
                                         [STORE_MIX_MIXED] = "batch-mixed",
                                         [STORE_MIX_ACKED] = "batch-received",
                                         [STORE_MIX_EXPIRED] = "batch-expired",
                                         [STORE_MIX_GONE] = NULL};

    if (row->state == before || events[row->state] == NULL ||
        (row->state == STORE_MIX_WAITING && row->n == 0))
        return;
    log_event(h->options.log, LOG_NOTE, events[row->state],
              "entry=%" PRIu32 " epoch=%" PRIu32 " part=%" PRIu32
              " envelopes=%" PRIu64 " unopened=%" PRIu64,
              row->entry, row->epoch, row->part, row->n, mixer_unopened(row));
}

static enum store_mix_state mix_before(const struct hop *h,
                                       const struct store_mix *row)
{
    for (size_t i = 0; i < h->nrows; i++)
        if (memcmp(h->rows[i].id, row->id, sizeof row->id) == 0)
            return h->rows[i].state;
    return STORE_MIX_NONE;
}

static bool mix_is_delivered(enum store_mix_state state)
{
    return state == STORE_MIX_ACKED || state == STORE_MIX_ERASED;
}

static bool mix_is_erased(enum store_mix_state state)
{
    return state == STORE_MIX_EXPIRED || state == STORE_MIX_GONE;
}

/* Count a row, and its envelopes when they are delivered or erased: rows that
 * are over are forgotten some day. */
static void mix_count(struct hop_status *s, const struct store_mix *row,
                      enum store_mix_state before)
{
    s->states[row->state]++;
    if (before != STORE_MIX_WAITING)
        s->unopened += mixer_unopened(row);
    if (mix_is_delivered(row->state) && !mix_is_delivered(before))
        s->delivered += row->n;
    if (mix_is_erased(row->state) && !mix_is_erased(before))
        s->erased += row->n;
}

/* A copy of all rows for whoever asks, if they have changed. */
static void mix_show(struct hop *h, bool tell)
{
    size_t n;
    const struct store_mix *rows = mixer_rows(h->mixer, &n);
    struct store_mix *copy;
    struct hop_status is = {.delivered = 0};

    if (n == h->nrows &&
        (n == 0 || memcmp(rows, h->rows, n * sizeof *rows) == 0))
        return;
    copy = malloc((n + 1) * sizeof *copy);
    if (copy == NULL)
        return;
    memcpy(copy, rows, n * sizeof *copy);
    for (size_t i = 0; i < n; i++) {
        const enum store_mix_state before = mix_before(h, &rows[i]);

        mix_count(&is, &rows[i], before);
        if (tell)
            mix_tell(h, &rows[i], before);
    }
    pthread_mutex_lock(&h->lock);
    free(h->rows);
    h->rows = copy;
    h->nrows = n;
    memcpy(h->status.states, is.states, sizeof is.states);
    h->status.delivered += is.delivered;
    h->status.erased += is.erased;
    h->status.unopened += is.unopened;
    pthread_mutex_unlock(&h->lock);
}

/* ---- Opening ------------------------------------------------------------- */

hsy_status hop_mix_open(struct hop *h, hsy_error *err)
{
    struct mixer_options o = {.size = sizeof o,
                              .store = h->options.store,
                              .directory = h->options.directory,
                              .peel = mix_peel,
                              .ctx = h};
    hsy_status st;

    hsy_entropy_init(&h->entropy);
    o.rng = hsy_entropy_coins(&h->entropy).secret;
    memcpy(o.key, h->sign_key, sizeof o.key);
    memcpy(o.secret, h->secret, sizeof o.secret);
    st = mixer_open(&h->mixer, &o, err);
    explicit_bzero(&o, sizeof o);
    if (st == HSY_OK)
        mix_show(h, false); /* a shuffler that is ready shows its batches */
    return st;
}

/* ---- Going round --------------------------------------------------------- */

static hsy_status mix_steps(struct hop *h, hsy_error *err)
{
    hsy_status st = HSY_OK;
    bool more = true;

    while (st == HSY_OK && more && !hop_stops(h)) {
        st = mixer_step(h->mixer, &more, err);
        mix_show(h, true);
    }
    return st;
}

static hsy_status mix_deliver(struct hop *h, hsy_error *err)
{
    hsy_status st = HSY_OK;
    bool more = true;

    while (st == HSY_OK && more && !hop_stops(h)) {
        st = hop_deliver(h, &more, err);
        mix_show(h, true);
    }
    return st;
}

/* What passes by itself. */
static bool mix_later(hsy_status st)
{
    return st == HSY_E_FULL || st == HSY_E_NOMEM || st == HSY_E_BUSY;
}

/* What waits for room does not hold up the rest, which may make room: batches
 * that are received can be erased. HSY_OK, or why something waits. */
static hsy_status mix_round(struct hop *h, hsy_error *err)
{
    static hsy_status (*const parts[])(struct hop *, hsy_error *) = {
        mix_tasks, mix_came, mix_decide, mix_steps, mix_deliver};
    hsy_status waits = HSY_OK;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        hsy_error why = {0};
        const hsy_status st = parts[i](h, &why);

        if (st != HSY_OK && (waits == HSY_OK || !mix_later(st)))
            *err = why;
        if (st != HSY_OK && !mix_later(st))
            return st;
        waits = waits == HSY_OK ? st : waits;
        mix_show(h, true);
    }
    return waits == HSY_OK ? mix_steps(h, err) : waits; /* what is received */
}

static void mix_wait(struct hop *h, uint32_t millis)
{
    const struct timespec until = steady_after((uint64_t)millis * 1000);

    pthread_mutex_lock(&h->lock);
    if (!h->stopping && h->came == NULL)
        pthread_cond_timedwait(&h->mixer_wakes, &h->lock, &until);
    pthread_mutex_unlock(&h->lock);
}

void *hop_mix_main(void *ctx)
{
    struct hop *h = ctx;
    bool full = false;

    while (!hop_stops(h)) {
        hsy_error err = {0};
        const hsy_status st = mix_round(h, &err);
        const bool later = mix_later(st);

        if (st != HSY_OK && !later) {
            h->options.failed(h->options.ctx, &err);
            return NULL;
        }
        if (later && !full && !hop_stops(h))
            log_failure(h->options.log, "mixing-waits", &err);
        full = later;
        mix_wait(h, later ? MIX_RETRY : h->options.look_millis);
    }
    return NULL;
}
