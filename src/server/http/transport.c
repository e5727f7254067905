/*
 * transport.c - the bytes of a connection, in clear or by TLS.
 *
 * The loop's epoll tells of a change once (EPOLLET), so a connection remembers
 * that there may be something to read until a read finds nothing.
 */
#include "server/http/internal.h"

#include <errno.h>
#include <unistd.h>

/* ---- In clear ------------------------------------------------------------ */

/* What came of a call of recv that asked for so much. Less means that there was
 * no more, unless the peer has ended: then the end can be read too. */
static ssize_t transport_received(struct connection *c, ssize_t n, size_t asked)
{
    if (n > 0) {
        c->readable = (size_t)n == asked || c->ended;
        return n;
    }
    if (n == -1 && errno == EAGAIN)
        c->readable = false;
    return n == -1 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

ssize_t transport_drop(struct connection *c, size_t most)
{
    char dropped[4096];

    if (most > sizeof dropped)
        most = sizeof dropped;
    return transport_received(c, recv(c->fd, dropped, most, 0), most);
}

/* ---- By TLS -------------------------------------------------------------- */

enum transport_state transport_handshake(struct connection *c)
{
    const int code = tls_stream_handshake(&c->tls);

    return code == 0                ? TRANSPORT_UP
           : code == GNUTLS_E_AGAIN ? TRANSPORT_WAITS
                                    : TRANSPORT_FAILED;
}

static ssize_t transport_read_tls(struct connection *c, void *to, size_t room)
{
    const ssize_t n = tls_stream_read(&c->tls, to, room);

    c->readable = !c->tls.emptied;
    return n;
}

/* ---- Either -------------------------------------------------------------- */

ssize_t transport_read(struct connection *c, void *to, size_t room)
{
    if (c->tls.session != NULL)
        return transport_read_tls(c, to, room);
    return transport_received(c, recv(c->fd, to, room, 0), room);
}

ssize_t transport_write(struct connection *c, struct iovec *parts, int n)
{
    const struct msghdr all = {.msg_iov = parts, .msg_iovlen = (size_t)n};
    ssize_t went;

    if (c->tls.session != NULL)
        return tls_stream_write(&c->tls, parts[0].iov_base, parts[0].iov_len);
    went = sendmsg(c->fd, &all, MSG_NOSIGNAL);
    return went == -1 && (errno == EAGAIN || errno == EINTR) ? 0 : went;
}

void transport_shut(struct connection *c)
{
    if (c->tls.session != NULL)
        gnutls_bye(c->tls.session, GNUTLS_SHUT_WR);
    shutdown(c->fd, SHUT_WR);
}

void transport_close(struct connection *c)
{
    if (c->tls.session != NULL && c->phase > CONNECTION_HANDSHAKE &&
        c->phase != CONNECTION_LINGER)
        gnutls_bye(c->tls.session, GNUTLS_SHUT_WR);
    tls_stream_end(&c->tls);
    close(c->fd);
}
