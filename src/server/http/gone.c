/*
 * gone.c - the answer of a peer that sends no more.
 *
 * When a connection is resumed, libmicrohttpd 0.9.75 reads from it first, and
 * if the peer has shut down its side (it may: RFC 9112, 9.6) closes it without
 * asking for the answer. So the end is hidden from it: while it looks, the
 * connection's descriptor is one of a socket to which nobody writes, and once
 * the answer is asked for it is the connection's again.
 */
#define _GNU_SOURCE /* dup3 */
#include "server/http/internal.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

bool gone_open(struct loop *p)
{
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                      p->silent) == 0;
}

void gone_close(struct loop *p)
{
    for (int i = 0; i < 2; i++)
        if (p->silent[i] != -1)
            close(p->silent[i]);
}

/* Where there is no descriptor left it is resumed as others are: then it is
 * closed without its answer. */
static void gone_hide(struct loop *p, struct request *q)
{
    q->hidden = fcntl(q->fd, F_DUPFD_CLOEXEC, 0);
    if (q->hidden != -1 && dup3(p->silent[0], q->fd, O_CLOEXEC) == -1) {
        close(q->hidden);
        q->hidden = -1;
    }
}

void gone_show(struct request *q)
{
    if (q->hidden == -1)
        return;
    dup3(q->hidden, q->fd, O_CLOEXEC);
    close(q->hidden);
    q->hidden = -1;
}

void gone_resume(struct loop *p, struct request *q)
{
    gone_hide(p, q);
    MHD_resume_connection(q->http);
    MHD_run(p->http); /* q may not be there any more */
}
