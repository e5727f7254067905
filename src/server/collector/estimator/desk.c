/* desk.c - requests that take their time, on a thread of their own. */
#include "server/collector/estimator/internal.h"

#include "host/base/host_fail.h"

#include <stdlib.h>

#define DESK_WAITING 32u

struct desk {
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct {
        struct request *q;
        route_handler *work;
    } waiting[DESK_WAITING]; /* a ring */
    size_t first, n;
    bool closed;
};

/* The next request; false if there is none and will be none. */
static bool desk_next(struct desk *d, struct request **q, route_handler **work)
{
    bool found;

    pthread_mutex_lock(&d->lock);
    while (d->n == 0 && !d->closed)
        pthread_cond_wait(&d->changed, &d->lock);
    found = d->n != 0;
    if (found) {
        *q = d->waiting[d->first].q;
        *work = d->closed ? NULL : d->waiting[d->first].work;
        d->first = (d->first + 1) % DESK_WAITING;
        d->n--;
    }
    pthread_mutex_unlock(&d->lock);
    return found;
}

static void *desk_run(void *ctx)
{
    struct desk *d = ctx;
    struct request *q;
    route_handler *work;

    while (desk_next(d, &q, &work)) {
        if (work != NULL) {
            work(q, d->ctx);
        } else {
            request_set(q, "Retry-After", "10");
            request_problem(q, 503, "Stopping", "the collector is stopping");
        }
    }
    return NULL;
}

hsy_status desk_open(struct desk **out, void *ctx, hsy_error *err)
{
    struct desk *d = calloc(1, sizeof *d);

    if (d == NULL)
        return host_nomem(err);
    d->ctx = ctx;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    if (pthread_create(&d->thread, NULL, desk_run, d) != 0) {
        free(d);
        return host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE,
                         "cannot make a thread");
    }
    *out = d;
    return HSY_OK;
}

void desk_close(struct desk *d)
{
    if (d == NULL)
        return;
    pthread_mutex_lock(&d->lock);
    d->closed = true;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

bool desk_hand(struct desk *d, struct request *q, route_handler *work)
{
    bool taken;

    pthread_mutex_lock(&d->lock);
    taken = d->n < DESK_WAITING && !d->closed;
    if (taken) {
        const size_t at = (d->first + d->n++) % DESK_WAITING;

        d->waiting[at].q = q;
        d->waiting[at].work = work;
        pthread_cond_signal(&d->changed);
    }
    pthread_mutex_unlock(&d->lock);
    return taken;
}
