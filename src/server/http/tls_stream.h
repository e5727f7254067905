/*
 * tls_stream.h - TLS over a socket that never waits, for either end.
 *
 * The socket's epoll tells of a change once (EPOLLET), and GnuTLS says "again"
 * also after a message that is not for us, or after part of one: bytes may wait
 * behind it. So the calls here go on until the socket has no more.
 */
#ifndef SERVER_HTTP_TLS_STREAM_H
#define SERVER_HTTP_TLS_STREAM_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls_stream {
    gnutls_session_t session; /* NULL: none */
    int fd;
    bool emptied;  /* the last read of the socket found nothing */
    size_t unread; /* bytes that came since the last data */
};

/* Makes a session with these flags of gnutls_init; false: out of memory. The
 * stream must stay where it is until tls_stream_end. */
bool tls_stream_begin(struct tls_stream *s, int fd, unsigned flags);
void tls_stream_end(struct tls_stream *s);

/* Returns 0: done, GNUTLS_E_AGAIN: wait for the socket, else why it failed,
 * after the peer has been told by an alert. */
int tls_stream_handshake(struct tls_stream *s);

/* Return the number of bytes; 0: none for now; -1: no more will come, or go. */
ssize_t tls_stream_read(struct tls_stream *s, void *to, size_t room);
ssize_t tls_stream_write(struct tls_stream *s, const void *from, size_t len);

#endif
