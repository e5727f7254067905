/*
 * events.c - server-sent events: one text, many readers.
 *
 * What is published is handed to every loop, and copied by the loop's thread to
 * each of its subscribers. A subscriber with nothing to read is suspended; one
 * for which too much waits is closed, for it can ask again.
 */
#include "server/http/internal.h"

#include "host/base/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

void request_subscribe(struct request *q)
{
    q->status = 200;
    q->type = "text/event-stream";
    q->close = true; /* when it ends */
    request_set(q, "Cache-Control", "no-store");
    q->events_from = q->events_ready = q->events_room = 0;
    q->events_asleep = q->events_over = false;
    request_give(q, REQUEST_EVENTS);
}

static void events_wake(struct request *q)
{
    if (q->events_asleep) {
        q->events_asleep = false;
        MHD_resume_connection(q->http);
    }
}

/* Close it, whatever waits for its reader. */
static void events_stop(struct request *q)
{
    q->events_over = true;
    shutdown(q->fd, SHUT_RDWR);
    events_wake(q);
}

void events_finish(struct request *q)
{
    q->events_over = true;
    q->deadline = request_until(q, 0);
    events_wake(q);
}

/* Called when the socket takes more. */
static ssize_t events_read(void *ctx, uint64_t at, char *to, size_t max)
{
    struct request *q = ctx;
    size_t len = q->events_ready < max ? q->events_ready : max;

    (void)at;
    if (len == 0 && q->events_over)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (len == 0) {
        q->events_asleep = true;
        MHD_suspend_connection(q->http);
        return 0;
    }
    memcpy(to, q->events + q->events_from, len);
    q->events_from += len;
    q->events_ready -= len;
    return (ssize_t)len;
}

struct MHD_Response *events_response(struct request *q)
{
    struct loop *p = q->loop;

    q->deadline = 0;
    q->events_over = q->gone; /* nobody would hear of its end again */
    q->events_prev = NULL;
    q->events_next = p->subscribers;
    if (p->subscribers != NULL)
        p->subscribers->events_prev = q;
    p->subscribers = q;
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096,
                                             events_read, q, NULL);
}

void events_forget(struct request *q)
{
    struct loop *p = q->loop;

    if (p->subscribers != q && q->events_prev == NULL)
        return; /* no subscriber */
    if (q->events_prev != NULL)
        q->events_prev->events_next = q->events_next;
    else
        p->subscribers = q->events_next;
    if (q->events_next != NULL)
        q->events_next->events_prev = q->events_prev;
    q->events_prev = q->events_next = NULL;
    free(q->events);
    q->events = NULL;
}

static bool events_room(struct request *q, size_t len)
{
    size_t need = q->events_ready + len, room;

    if (q->events_from != 0 && q->events_ready != 0)
        memmove(q->events, q->events + q->events_from, q->events_ready);
    q->events_from = 0;
    if (need <= q->events_room)
        return true;
    if (need > LISTEN_EVENTS_BYTES)
        return false;
    room = 2 * need < LISTEN_EVENTS_BYTES ? 2 * need : LISTEN_EVENTS_BYTES;
    if (!grow_to(&q->events, room, 1))
        return false;
    q->events_room = room;
    return true;
}

static void events_give(struct request *q, const char *bytes, size_t len)
{
    if (q->events_over)
        return;
    if (!events_room(q, len)) {
        events_stop(q);
        return;
    }
    memcpy(q->events + q->events_ready, bytes, len);
    q->events_ready += len;
    events_wake(q);
}

/* Whether who reads may still do so: a token may have been revoked. */
static bool events_may(const struct request *q)
{
    const struct listen_options *o = &q->loop->listener->options;
    const char *token = request_bearer(q);

    return o->role == NULL || q->route->role == LISTEN_ANYONE ||
           (token != NULL && o->role(o->ctx, token) >= q->route->role);
}

/* End those who may not; each before something is given to it. */
static void events_expel(struct loop *p)
{
    for (struct request *q = p->subscribers; q != NULL; q = q->events_next)
        if (!q->events_over && !events_may(q))
            events_stop(q);
}

void events_spread(struct loop *p)
{
    struct listen_event *e = atomic_exchange(&p->events, NULL), *next, *first;

    for (first = NULL; e != NULL; e = next) { /* the last came first */
        next = e->next;
        e->next = first;
        first = e;
    }
    if (first != NULL)
        events_expel(p);
    for (e = first; e != NULL; e = next) {
        next = e->next;
        for (struct request *q = p->subscribers; q != NULL; q = q->events_next)
            events_give(q, e->bytes, e->len);
        free(e);
    }
}

void events_ping(struct loop *p)
{
    static const char ping[] = ":\n\n"; /* a comment: readers skip it */

    events_expel(p);
    for (struct request *q = p->subscribers; q != NULL; q = q->events_next)
        events_give(q, ping, sizeof ping - 1);
}

void events_end(struct loop *p)
{
    for (struct request *q = p->subscribers; q != NULL; q = q->events_next) {
        q->events_over = true;
        events_wake(q);
    }
}

static struct listen_event *events_make(const char *name, const char *data,
                                        size_t len)
{
    const size_t room = sizeof "event: \ndata: \n\n" + strlen(name) + len;
    struct listen_event *e = malloc(sizeof *e + room);

    if (e != NULL)
        e->len = (size_t)snprintf(e->bytes, room, "event: %s\ndata: %.*s\n\n",
                                  name, (int)len, data);
    return e;
}

void listen_publish(struct listener *l, const char *name, const char *data,
                    size_t len)
{
    for (unsigned i = 0; i < l->options.loops; i++) {
        struct loop *p = &l->loops[i];
        struct listen_event *e = events_make(name, data, len), *head;

        if (e == NULL)
            return;
        head = atomic_load(&p->events);
        do
            e->next = head;
        while (!atomic_compare_exchange_weak(&p->events, &head, e));
        if (head == NULL)
            loop_wake(p);
    }
}
