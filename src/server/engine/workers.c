/*
 * workers.c - the two threads of a collector.
 *
 * Whoever waits is a list under one lock. The admitter takes all of it (up to
 * WORKERS_GROUP bytes) and commits it as one group: while the disk works the
 * next group gathers, so a commit is shared by as many as are waiting. A thread
 * is woken only if it sleeps.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, signals of a thread */
#include "server/engine/workers_parts.h"

#include "host/base/host_fail.h"
#include "host/base/steady.h"
#include "host/base/threads.h"

#include <stdlib.h>
#include <time.h>

#define WORKERS_GROUP ((size_t)16 << 20) /* bytes of one group, about */
#define WORKERS_SUBMISSION 512u          /* bytes of one beside its body */
#define WORKERS_DAY 86400u
#define WORKERS_SECOND 1000000u

/* ---- Small things -------------------------------------------------------- */

/* Seconds that go on while the machine sleeps, too. */
static uint64_t workers_steady(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_BOOTTIME, &t) == -1)
        return steady_us() / WORKERS_SECOND;
    return (uint64_t)t.tv_sec;
}

/* Give the lock back and wake a half that sleeps: in this order, or it would
 * wake up only to wait for the lock. One call is enough for one sleep. */
static void workers_unlock(struct workers *w, struct workers_half *half)
{
    const bool asleep = half->asleep;

    half->asleep = false;
    pthread_mutex_unlock(&w->lock);
    if (asleep)
        pthread_cond_signal(&half->wake);
}

void workers_sleep(struct workers *w, struct workers_half *half,
                   uint64_t microseconds)
{
    const struct timespec until = steady_after(microseconds);

    half->asleep = true;
    pthread_cond_timedwait(&half->wake, &w->lock, &until);
    half->asleep = false;
}

uint64_t workers_quiet(struct workers *w, uint64_t by)
{
    const uint64_t quiet = atomic_load(&w->last) + WORKERS_QUIET;

    return quiet < by ? quiet : by;
}

void workers_fail(struct workers *w, hsy_status st, const hsy_error *err)
{
    bool first;

    pthread_mutex_lock(&w->lock);
    first = !w->dead;
    if (first) {
        w->failure = *err;
        w->failure.status = st;
        if (w->failure.msg == NULL)
            w->failure.msg = hsy_strstatus(st);
    }
    w->dead = true;
    pthread_cond_signal(&w->admitter.wake);
    workers_unlock(w, &w->folder);
    if (first && w->options.failed != NULL)
        w->options.failed(w->options.ctx, &w->failure);
}

/* ---- Calls --------------------------------------------------------------- */

void workers_calls(struct workers *w, struct workers_half *half)
{
    struct workers_call *call;

    for (;;) {
        pthread_mutex_lock(&w->lock);
        call = half->calls;
        if (call != NULL)
            half->calls = call->next;
        if (half->calls == NULL)
            half->calls_end = &half->calls;
        pthread_mutex_unlock(&w->lock);
        if (call == NULL)
            return;
        call->st = call->job(w->e, call->ctx, &call->err);
        if (call->st == HSY_E_IO)
            workers_fail(w, call->st, &call->err);
        pthread_mutex_lock(&w->lock);
        call->done = true;
        if (half == &w->admitter) { /* a tally may have been merged in */
            w->fold = true;
            pthread_cond_signal(&w->folder.wake);
        }
        pthread_cond_broadcast(&w->finished);
        pthread_mutex_unlock(&w->lock);
    }
}

static hsy_status workers_call(struct workers *w, struct workers_half *half,
                               const bool *closed, workers_job *job, void *ctx,
                               hsy_error *err)
{
    struct workers_call call = {.job = job, .ctx = ctx};

    pthread_mutex_lock(&w->lock);
    if (*closed || w->dead) {
        pthread_mutex_unlock(&w->lock);
        return host_fail(err, HSY_E_BUSY, HSY_FIELD_NONE,
                         "the collector is stopping");
    }
    *half->calls_end = &call;
    half->calls_end = &call.next;
    pthread_cond_signal(&half->wake);
    while (!call.done)
        pthread_cond_wait(&w->finished, &w->lock);
    pthread_mutex_unlock(&w->lock);
    if (err != NULL && call.st != HSY_OK)
        *err = call.err;
    return call.st;
}

hsy_status workers_admitting(struct workers *w, workers_job *job, void *ctx,
                             hsy_error *err)
{
    return workers_call(w, &w->admitter, &w->stopping, job, ctx, err);
}

hsy_status workers_folding(struct workers *w, workers_job *job, void *ctx,
                           hsy_error *err)
{
    return workers_call(w, &w->folder, &w->stopping, job, ctx, err);
}

/* ---- Handing in ---------------------------------------------------------- */

static size_t workers_bytes(const struct submission *s)
{
    return WORKERS_SUBMISSION + s->in.len +
           s->in.n * sizeof(struct intake_upload);
}

bool workers_submit(struct workers *w, struct submission *s)
{
    const size_t bytes = workers_bytes(s);
    bool taken;

    s->next = NULL;
    s->handed = steady_us();
    atomic_store(&w->last, s->handed);
    pthread_mutex_lock(&w->lock);
    taken = !w->stopping && !w->dead &&
            w->waiting + bytes <= w->options.waiting_bytes;
    if (taken) {
        *w->end = s;
        w->end = &s->next;
        w->waiting += bytes;
    }
    workers_unlock(w, &w->admitter);
    return taken;
}

/* ---- The admitter -------------------------------------------------------- */

/* With the lock: cut a group off the list. */
static struct submission *workers_group(struct workers *w)
{
    struct submission *list = w->first, **at = &w->first;
    size_t bytes = 0;

    while (*at != NULL && bytes < WORKERS_GROUP) {
        bytes += workers_bytes(*at);
        at = &(*at)->next;
    }
    w->first = *at;
    *at = NULL;
    if (w->first == NULL)
        w->end = &w->first;
    return list;
}

/* Histogram place of so many microseconds: powers of two of 64. */
static size_t workers_place(uint64_t microseconds)
{
    size_t place = 0;

    while (place < WORKERS_WAITS - 1 && microseconds >= (uint64_t)64 << place)
        place++;
    return place;
}

static void workers_note(struct workers *w, const struct submission *list)
{
    const uint64_t now = steady_us();

    pthread_mutex_lock(&w->lock);
    w->times.groups++;
    for (; list != NULL; list = list->next) {
        w->times.submissions++;
        w->times.waits[workers_place(now - list->handed)]++;
        w->times.micros += now - list->handed;
        w->waiting -= workers_bytes(list);
    }
    w->fold = true;
    workers_unlock(w, &w->folder);
}

/* Everybody is told; a submission may be gone once it is. */
static void workers_tell(struct submission *list)
{
    while (list != NULL) {
        struct submission *next = list->next;

        list->done(list);
        list = next;
    }
}

/* Nobody of them is acknowledged. */
static void workers_refuse(struct submission *list)
{
    for (; list != NULL; list = list->next)
        list->outcome = HSY_E_IO;
}

static void workers_admit(struct workers *w, struct submission *list)
{
    hsy_error err = {0};
    hsy_status st = HSY_E_IO;

    if (!w->dead) {
        st = engine_admit(w->e, list, &err);
        if (st != HSY_OK && st != HSY_E_FULL)
            workers_fail(w, st, &err);
    }
    if (st != HSY_OK && st != HSY_E_FULL)
        workers_refuse(list);
    workers_note(w, list);
    workers_tell(list);
    atomic_store(&w->tidy, true);
}

/* The engine hears of every day, and of every second. A disk that is full is
 * tried again. */
static void workers_day(struct workers *w)
{
    const struct engine_time now = {.wall = w->options.now(w->options.ctx),
                                    .steady = workers_steady()};
    const uint32_t day = (uint32_t)(now.wall / WORKERS_DAY);
    hsy_error err = {0};
    hsy_status st;

    if ((day == w->day && now.steady == w->second) || w->dead)
        return;
    st = engine_tell(w->e, now, &err);
    if (st == HSY_OK) {
        w->day = day;
        w->second = now.steady;
    } else if (st != HSY_E_FULL) {
        workers_fail(w, st, &err);
    }
}

/* With the lock held at both ends: let the store tidy up, a little. */
static void workers_tidy(struct workers *w)
{
    hsy_error err = {0};
    bool more = false;
    hsy_status st;

    pthread_mutex_unlock(&w->lock);
    atomic_store(&w->tidy, false);
    st = engine_tidy(w->e, &more, &err);
    w->tidy_by = 0;
    if (st == HSY_OK && more) {
        atomic_store(&w->tidy, true);
        w->tidy_by = steady_us() + WORKERS_SECOND;
    } else if (st != HSY_OK && st != HSY_E_FULL) {
        workers_fail(w, st, &err);
    }
    pthread_mutex_lock(&w->lock);
}

/* Microseconds until the store may be tidied; UINT64_MAX: it need not be. */
static uint64_t workers_tidy_in(struct workers *w)
{
    const uint64_t now = steady_us();
    uint64_t at;

    if (!atomic_load(&w->tidy) || w->dead)
        return UINT64_MAX;
    if (w->tidy_by == 0)
        w->tidy_by =
            now + (uint64_t)w->options.checkpoint_secs * WORKERS_SECOND;
    at = w->first == NULL ? workers_quiet(w, w->tidy_by) : w->tidy_by;
    return at > now ? at - now : 0;
}

static uint64_t workers_look_at(const struct workers *w)
{
    return w->options.look_micros != 0 ? w->options.look_micros
                                       : WORKERS_SECOND;
}

/* Wait for a group; NULL: there may be a call, a new day, or the end. */
static struct submission *workers_wait(struct workers *w)
{
    struct submission *list;
    uint64_t tidy_in;

    pthread_mutex_lock(&w->lock);
    tidy_in = workers_tidy_in(w);
    if (tidy_in == 0 && !w->stopping) {
        workers_tidy(w);
    } else if (w->first == NULL && w->admitter.calls == NULL && !w->stopping) {
        const uint64_t look = workers_look_at(w);

        workers_sleep(w, &w->admitter, tidy_in < look ? tidy_in : look);
    }
    list = workers_group(w);
    pthread_mutex_unlock(&w->lock);
    return list;
}

static bool workers_admitter_done(struct workers *w)
{
    bool done;

    pthread_mutex_lock(&w->lock);
    done = w->stopping && w->first == NULL && w->admitter.calls == NULL;
    pthread_mutex_unlock(&w->lock);
    return done;
}

static void *workers_admitter(void *ctx)
{
    struct workers *w = ctx;

    while (!workers_admitter_done(w)) {
        struct submission *list = workers_wait(w);

        workers_day(w);
        if (list != NULL)
            workers_admit(w, list);
        workers_calls(w, &w->admitter);
    }
    pthread_mutex_lock(&w->lock);
    w->drained = true;
    w->fold = true;
    workers_unlock(w, &w->folder);
    return NULL;
}

/* ---- Starting and stopping ----------------------------------------------- */

static bool workers_half_init(struct workers_half *half)
{
    half->calls_end = &half->calls;
    return thread_condition(&half->wake);
}

static void workers_free(struct workers *w)
{
    pthread_cond_destroy(&w->admitter.wake);
    pthread_cond_destroy(&w->folder.wake);
    pthread_cond_destroy(&w->finished);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static bool workers_threads(struct workers *w)
{
    if (!thread_start(&w->admitter.thread, workers_admitter, w))
        return false;
    if (thread_start(&w->folder.thread, workers_folder, w))
        return true;
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    workers_unlock(w, &w->admitter);
    pthread_join(w->admitter.thread, NULL);
    return false;
}

hsy_status workers_start(struct workers **out, struct engine *e,
                         const struct workers_options *options, hsy_error *err)
{
    struct workers *w = calloc(1, sizeof *w);
    bool good;

    if (w == NULL)
        return host_nomem(err);
    w->e = e;
    w->options = *options;
    w->end = &w->first;
    atomic_init(&w->tidy, true);
    atomic_init(&w->dead, false);
    atomic_init(&w->checkpoint, steady_us());
    atomic_init(&w->last, 0);
    good = pthread_mutex_init(&w->lock, NULL) == 0;
    good &= pthread_cond_init(&w->finished, NULL) == 0;
    good &= workers_half_init(&w->admitter);
    good &= workers_half_init(&w->folder);
    if (good)
        workers_day(w); /* before anybody hands in anything */
    if (!good || w->dead || !workers_threads(w)) {
        hsy_status st = w->dead ? w->failure.status : HSY_E_NOMEM;
        const char *msg = w->dead ? w->failure.msg : "no threads to be had";

        workers_free(w);
        return host_fail(err, st, HSY_FIELD_NONE, msg);
    }
    *out = w;
    return HSY_OK;
}

hsy_status workers_stop(struct workers *w, hsy_error *err)
{
    hsy_status st;

    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    workers_unlock(w, &w->admitter);
    pthread_join(w->admitter.thread, NULL);
    pthread_join(w->folder.thread, NULL);
    st = w->dead ? w->failure.status : HSY_OK;
    if (st != HSY_OK && err != NULL)
        *err = w->failure;
    workers_free(w);
    return st;
}

void workers_status(struct workers *w, struct workers_times *out)
{
    pthread_mutex_lock(&w->lock);
    *out = w->times;
    pthread_mutex_unlock(&w->lock);
    out->checkpoint = steady_us() - atomic_load(&w->checkpoint);
}
