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

static bool transport_again(ssize_t code)
{
    return code == GNUTLS_E_AGAIN || code == GNUTLS_E_INTERRUPTED ||
           code == GNUTLS_E_WARNING_ALERT_RECEIVED;
}

/* After GnuTLS has said that nothing came. It says so also of messages that are
 * not for us, behind which bytes may wait of which the epoll does not tell
 * again. */
static void transport_emptied(struct connection *c)
{
    char byte;

    c->readable = recv(c->fd, &byte, 1, MSG_PEEK) != -1 || errno != EAGAIN;
}

enum transport_state transport_handshake(struct connection *c)
{
    int code;

    do
        code = gnutls_handshake(c->tls);
    while (code == GNUTLS_E_INTERRUPTED ||
           code == GNUTLS_E_WARNING_ALERT_RECEIVED);
    return code == 0                ? TRANSPORT_UP
           : code == GNUTLS_E_AGAIN ? TRANSPORT_WAITS
                                    : TRANSPORT_FAILED;
}

static ssize_t transport_read_tls(struct connection *c, void *to, size_t room)
{
    const ssize_t n = gnutls_record_recv(c->tls, to, room);

    if (n > 0)
        return n;
    if (!transport_again(n))
        return -1;
    transport_emptied(c);
    return 0;
}

/* ---- Either -------------------------------------------------------------- */

ssize_t transport_read(struct connection *c, void *to, size_t room)
{
    if (c->tls != NULL)
        return transport_read_tls(c, to, room);
    return transport_received(c, recv(c->fd, to, room, 0), room);
}

ssize_t transport_write(struct connection *c, struct iovec *parts, int n)
{
    const struct msghdr all = {.msg_iov = parts, .msg_iovlen = (size_t)n};
    ssize_t went;

    if (c->tls != NULL) {
        went = gnutls_record_send(c->tls, parts[0].iov_base, parts[0].iov_len);
        return went < 0 && transport_again(went) ? 0 : went;
    }
    went = sendmsg(c->fd, &all, MSG_NOSIGNAL);
    return went == -1 && (errno == EAGAIN || errno == EINTR) ? 0 : went;
}

void transport_shut(struct connection *c)
{
    if (c->tls != NULL)
        gnutls_bye(c->tls, GNUTLS_SHUT_WR);
    shutdown(c->fd, SHUT_WR);
}

void transport_close(struct connection *c)
{
    if (c->tls != NULL) {
        if (c->phase > CONNECTION_HANDSHAKE && c->phase != CONNECTION_LINGER)
            gnutls_bye(c->tls, GNUTLS_SHUT_WR);
        gnutls_deinit(c->tls);
    }
    close(c->fd);
}
