/*
 * park.c - TLS handshakes that do not go on are put aside.
 *
 * libmicrohttpd 0.9.75 asks to be run again at once while it believes that a
 * connection has something to read, and of an unfinished handshake it believes
 * that until it ends: one stranger who stops in the middle would keep a
 * processor busy. So a connection that waits for its first request although
 * libmicrohttpd was run again and again is suspended; our own epoll watches it,
 * and the next byte brings it back.
 */
#include "server/http/internal.h"

#include <sys/epoll.h>

#define PARK_RUNS 8u /* enough to read a whole head that is there */

/* Every connection is watched for its end; who is parked, for bytes too. */
bool park_watch(struct loop *p, struct request *q, int how)
{
    struct epoll_event on = {.events = q->parked
                                           ? EPOLLIN | EPOLLRDHUP | EPOLLONESHOT
                                           : EPOLLRDHUP | EPOLLET,
                             .data.ptr = q};

    return epoll_ctl(p->epoll, how, q->fd, &on) == 0;
}

static void park(struct loop *p, struct request *q)
{
    q->parked = true;
    if (park_watch(p, q, EPOLL_CTL_MOD))
        MHD_suspend_connection(q->http);
    else
        q->parked = false;
}

void park_wake(struct loop *p, struct request *q)
{
    if (!q->parked)
        return;
    q->parked = false;
    q->runs = 0;
    park_watch(p, q, EPOLL_CTL_MOD);
    MHD_resume_connection(q->http);
}

void park_waiting(struct loop *p)
{
    for (struct request *q = p->connections; q != NULL; q = q->next)
        if (!q->parked && !q->served && !q->lined &&
            atomic_load_explicit(&q->state, memory_order_relaxed) ==
                REQUEST_NONE &&
            ++q->runs > PARK_RUNS)
            park(p, q);
}

void park_none(struct loop *p)
{
    for (struct request *q = p->connections; q != NULL; q = q->next)
        park_wake(p, q);
}
