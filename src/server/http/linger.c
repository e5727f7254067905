/*
 * linger.c - let go of a connection so that its last answer arrives.
 *
 * Whoever is refused in the middle of sending is answered at once. Closing the
 * socket then would throw the answer away, for bytes that come to a closed
 * socket reset the connection. So the socket is kept for a moment: what comes
 * is dropped, so much and so long and no more.
 */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC */
#include "server/http/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINGER_MS 2000u
#define LINGER_MOST 64u /* of a loop */

struct linger_socket {
    enum loop_kind kind;
    struct linger_socket *prev, *next;
    int fd;
    size_t left; /* bytes that may come */
    uint64_t deadline;
};

void linger_begin(struct loop *p, int fd)
{
    struct linger_socket *s;
    struct epoll_event on = {.events = EPOLLIN};

    if (p->nlingering >= LINGER_MOST || (s = malloc(sizeof *s)) == NULL)
        return;
    *s = (struct linger_socket){.kind = LOOP_LINGERS,
                                .next = p->lingering,
                                .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0),
                                .left = LISTEN_LINGER_BYTES,
                                .deadline = p->now + LINGER_MS};
    on.data.ptr = s;
    if (s->fd == -1 || epoll_ctl(p->epoll, EPOLL_CTL_ADD, s->fd, &on) != 0) {
        if (s->fd != -1)
            close(s->fd);
        free(s);
        return;
    }
    shutdown(s->fd, SHUT_WR);
    if (s->next != NULL)
        s->next->prev = s;
    p->lingering = s;
    p->nlingering++;
}

static void linger_end(struct loop *p, struct linger_socket *s)
{
    if (s->prev != NULL)
        s->prev->next = s->next;
    else
        p->lingering = s->next;
    if (s->next != NULL)
        s->next->prev = s->prev;
    p->nlingering--;
    close(s->fd);
    free(s);
}

void linger_drop(struct loop *p, struct linger_socket *s)
{
    char dropped[4096];
    size_t most = s->left < sizeof dropped ? s->left : sizeof dropped;
    ssize_t n = recv(s->fd, dropped, most, MSG_DONTWAIT);

    if (n == -1 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || (s->left -= (size_t)n) == 0)
        linger_end(p, s);
}

void linger_sweep(struct loop *p, bool all)
{
    for (struct linger_socket *next, *s = p->lingering; s != NULL; s = next) {
        next = s->next;
        if (all || s->deadline <= p->now)
            linger_end(p, s);
    }
}
