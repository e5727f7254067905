/*
 * tls_stream.c - see tls_stream.h.
 */
#include "server/http/tls_stream.h"

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>

/* What a peer may send without any data among it. GnuTLS keeps the pieces of a
 * message of a handshake until all are there, and takes any length for it that
 * 24 bits can say. */
#define TLS_STREAM_UNREAD 65536u

static ssize_t tls_stream_pull(gnutls_transport_ptr_t from, void *to,
                               size_t room)
{
    struct tls_stream *s = from;
    const ssize_t n = recv(s->fd, to, room, 0);

    s->emptied = n == -1 && errno == EAGAIN;
    if (n <= 0)
        return n;
    s->unread += (size_t)n;
    if (s->unread <= TLS_STREAM_UNREAD)
        return n;
    errno = ECONNABORTED;
    return -1;
}

bool tls_stream_begin(struct tls_stream *s, int fd, unsigned flags)
{
    *s = (struct tls_stream){.fd = fd};
    if (gnutls_init(&s->session, flags | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL |
                                     GNUTLS_NO_TICKETS) < 0) {
        s->session = NULL;
        return false;
    }
    gnutls_transport_set_ptr2(s->session, s,
                              (gnutls_transport_ptr_t)(intptr_t)fd);
    gnutls_transport_set_pull_function(s->session, tls_stream_pull);
    return true;
}

void tls_stream_end(struct tls_stream *s)
{
    if (s->session != NULL)
        gnutls_deinit(s->session);
    s->session = NULL;
}

/* Whether a call that brought nothing is to be made again at once; `before` is
 * what was unread then. */
static bool tls_stream_goes_on(const struct tls_stream *s, ssize_t code,
                               size_t before)
{
    return code == GNUTLS_E_INTERRUPTED ||
           code == GNUTLS_E_WARNING_ALERT_RECEIVED ||
           (code == GNUTLS_E_AGAIN && !s->emptied && s->unread != before);
}

int tls_stream_handshake(struct tls_stream *s)
{
    size_t before;
    int code;

    do {
        before = s->unread;
        code = gnutls_handshake(s->session);
    } while (tls_stream_goes_on(s, code, before));
    if (code == 0)
        s->unread = 0;
    else if (code != GNUTLS_E_AGAIN)
        (void)gnutls_alert_send_appropriate(s->session, code);
    return code;
}

ssize_t tls_stream_read(struct tls_stream *s, void *to, size_t room)
{
    size_t before;
    ssize_t n;

    do {
        before = s->unread;
        n = gnutls_record_recv(s->session, to, room);
    } while (tls_stream_goes_on(s, n, before));
    if (n > 0)
        s->unread = 0;
    return n > 0 ? n : n == GNUTLS_E_AGAIN ? 0 : -1;
}

ssize_t tls_stream_write(struct tls_stream *s, const void *from, size_t len)
{
    const ssize_t n = gnutls_record_send(s->session, from, len);

    return n >= 0                                             ? n
           : n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED ? 0
                                                              : -1;
}
