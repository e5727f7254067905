/*
 * pulse.c - a thread that asks all others whether they still answer.
 *
 * It waits for them itself: while one hangs it tells the service manager
 * nothing, which then ends the process. What it waits for, and since when, is
 * for the others to see.
 */
#define _GNU_SOURCE

#include "server/collector/watch/internal.h"

#include "host/base/host_fail.h"
#include "host/base/steady.h"
#include "host/base/threads.h"
#include "server/collector/collector.h"

static void pulse_waits(struct pulse *p, enum watch_thread whom)
{
    const int before = atomic_load(&p->waits);

    if (before != (int)whom) {
        atomic_store(&p->since, watch_clock());
        atomic_store(&p->waits, (int)whom);
    }
}

/* Until it is over, or microseconds have passed. */
static bool pulse_sleep(struct pulse *p, uint64_t micros)
{
    const struct timespec until = steady_after(micros);
    bool over;
    int waited = 0;

    pthread_mutex_lock(&p->lock);
    while (!p->over && waited == 0)
        waited = pthread_cond_timedwait(&p->wake, &p->lock, &until);
    over = p->over;
    pthread_mutex_unlock(&p->lock);
    return !over;
}

/* Both halves, then what turns by itself; the last who did not is waited for.
 */
static bool pulse_all(struct collector *c, struct pulse *p, uint64_t *ticks)
{
    const uint64_t now = atomic_load(&c->watch->ticks);
    bool turned;

    if (atomic_load(&p->waits) < WATCH_LISTENER)
        pulse_waits(p, WATCH_ADMITTER);
    c->counting->ops->answer(c->counting, COUNTING_ADMITS);
    if (atomic_load(&p->waits) < WATCH_LISTENER)
        pulse_waits(p, WATCH_FOLDER);
    c->counting->ops->answer(c->counting, COUNTING_FOLDS);
    turned = listen_turned(c->public);
    turned &= c->admin == NULL || listen_turned(c->admin);
    if (!turned)
        pulse_waits(p, WATCH_LISTENER);
    else
        pulse_waits(p, now == *ticks ? WATCH_MAIN : WATCH_NOBODY);
    *ticks = now;
    return atomic_load(&p->waits) == WATCH_NOBODY;
}

static void *pulse_run(void *ctx)
{
    struct collector *c = ctx;
    struct pulse *p = &c->watch->pulse;
    uint64_t ticks = 0;

    do {
        if (pulse_all(c, p, &ticks) && p->how.beat != NULL)
            p->how.beat(p->how.ctx);
    } while (pulse_sleep(p, p->how.micros));
    return NULL;
}

hsy_status watch_pulse_start(struct collector *c, const struct watch_pulse *how,
                             hsy_error *err)
{
    struct pulse *p = &c->watch->pulse;

    p->how = *how;
    if (p->how.micros == 0 || p->how.micros > WATCH_PULSE)
        p->how.micros = WATCH_PULSE;
    p->over = false;
    pthread_mutex_init(&p->lock, NULL);
    if (!thread_condition(&p->wake))
        return host_nomem(err);
    p->runs = thread_start(&p->thread, pulse_run, c);
    return p->runs ? HSY_OK
                   : host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE,
                               "no threads to be had");
}

void watch_pulse_stop(struct watch *w)
{
    struct pulse *p = w != NULL ? &w->pulse : NULL;

    if (p == NULL || !p->runs)
        return;
    pthread_mutex_lock(&p->lock);
    p->over = true;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    p->runs = false;
    atomic_store(&p->waits, WATCH_NOBODY);
}
