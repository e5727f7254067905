/*
 * probe.c - tests the libmicrohttpd that was found, before strangers do.
 *
 * head.c sees a head after the library has parsed it, so its strictness depends
 * on the library's version. Every listener therefore starts with this test: a
 * daemon with the listener's own options and callbacks reads ambiguous heads
 * from a socket pair, each followed by a valid request. If any of these
 * requests reaches a handler, or a connection stays open, or a valid request is
 * refused, the listener does not start. The test takes about 1 ms.
 */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "server/http/internal.h"

#include "host/base/host_fail.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PROBE_RUNS 64u /* of the daemon, for one connection */
#define PROBE_LINE "POST / HTTP/1.1\r\n"
#define PROBE_HOST PROBE_LINE "Host: x\r\n"
#define PROBE_HEAD(what, text)                                                 \
    {                                                                          \
        what, text, sizeof text - 1                                            \
    }

struct probe_head {
    const char *what, *text;
    size_t len;
};

static const struct probe_head probe_valid =
    PROBE_HEAD("a valid request", PROBE_HOST "Connection: close\r\nA: b\r\n"
                                             "Content-Length: 3\r\n\r\nabc");

static const struct probe_head probe_ambiguous[] = {
    PROBE_HEAD("a folded line", PROBE_HOST "A: b\r\n c\r\n\r\n"),
    PROBE_HEAD("a line folded with a tab", PROBE_HOST "A: b\r\n\tc\r\n\r\n"),
    PROBE_HEAD("a line folded after its name", PROBE_HOST "A:\r\n b\r\n\r\n"),
    PROBE_HEAD("a folded first header", PROBE_LINE " Host: x\r\n\r\n"),
    PROBE_HEAD("a folded Content-Length",
               PROBE_HOST "Content-Length:\r\n 0\r\n\r\n"),
    PROBE_HEAD("a Content-Length behind a fold",
               PROBE_HOST "A: b\r\n Content-Length: 9\r\n\r\n"),
    PROBE_HEAD("a folded Transfer-Encoding",
               PROBE_HOST "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"),
    PROBE_HEAD("a Transfer-Encoding behind a fold",
               PROBE_HOST "A: b\r\n Transfer-Encoding: chunked\r\n\r\n"),
    PROBE_HEAD("a bare LF after the first line",
               "POST / HTTP/1.1\nHost: x\r\n\r\n"),
    PROBE_HEAD("a bare LF after a header", PROBE_HOST "A: b\nC: d\r\n\r\n"),
    PROBE_HEAD("a bare LF at the end", PROBE_HOST "\n"),
    PROBE_HEAD("a bare CR", PROBE_HOST "A: b\rC: d\r\n\r\n"),
    PROBE_HEAD("a NUL in a value", PROBE_HOST "A: b\0c\r\n\r\n"),
    PROBE_HEAD("a NUL in a name", PROBE_HOST "A\0b: c\r\n\r\n"),
    PROBE_HEAD("a NUL in the path", "POST /\0 HTTP/1.1\r\nHost: x\r\n\r\n"),
    PROBE_HEAD("a space before a colon",
               PROBE_HOST "Content-Length : 0\r\n\r\n"),
    PROBE_HEAD("a space after a value", PROBE_HOST "A: b \r\n\r\n"),
    PROBE_HEAD("a header without a colon", PROBE_HOST "A\r\n\r\n"),
    PROBE_HEAD("a header without a name", PROBE_HOST ": b\r\n\r\n"),
    PROBE_HEAD("two spaces in the first line",
               "POST  / HTTP/1.1\r\nHost: x\r\n\r\n"),
    PROBE_HEAD("a tab in the first line",
               "POST\t/ HTTP/1.1\r\nHost: x\r\n\r\n"),
    PROBE_HEAD("a space in the path", "POST / a HTTP/1.1\r\nHost: x\r\n\r\n"),
    PROBE_HEAD("no Host", PROBE_LINE "\r\n"),
    PROBE_HEAD("two Hosts", PROBE_HOST "Host: x\r\n\r\n"),
    PROBE_HEAD("two Content-Lengths",
               PROBE_HOST "Content-Length: 0\r\nContent-Length: 0\r\n\r\n"),
    PROBE_HEAD("a Content-Length with a sign",
               PROBE_HOST "Content-Length: +0\r\n\r\n"),
    PROBE_HEAD("an empty Content-Length", PROBE_HOST "Content-Length:\r\n\r\n"),
    PROBE_HEAD("a chunked body with a trailer",
               PROBE_HOST "Transfer-Encoding: chunked\r\n\r\n"
                          "0\r\nA: b\r\n\r\n"),
    PROBE_HEAD("another Transfer-Encoding",
               PROBE_HOST "Transfer-Encoding: identity\r\n\r\n"),
    PROBE_HEAD("a Content-Length and a Transfer-Encoding",
               PROBE_HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"
                          "\r\n0\r\n\r\n"),
};

#define PROBE_COUNT (sizeof probe_ambiguous / sizeof *probe_ambiguous)

static void probe_handle(struct request *q, void *handled)
{
    ++*(unsigned *)handled;
    request_answer(q, 200, NULL, "ok", 2, NULL);
}

static hsy_status probe_fail(const struct probe_head *head, hsy_error *err)
{
    static char text[160]; /* one thread opens all listeners */

    snprintf(text, sizeof text,
             "libmicrohttpd %s mishandles %s; install a version that hearsay "
             "was tested with: 0.9.75 or 1.0.1",
             MHD_get_version(), head->what);
    return host_fail(err, HSY_E_UNKNOWN, HOST_FIELD_LISTEN, text);
}

static bool probe_send(int fd, const struct probe_head *head)
{
    return send(fd, head->text, head->len, MSG_NOSIGNAL) == (ssize_t)head->len;
}

/* Lets the daemon read a head and, unless the head is the valid one, a valid
 * request behind it. The connection must be closed, and of all requests so far
 * the valid one alone must have reached the handler. */
static hsy_status probe_read(struct loop *p, const unsigned *handled,
                             const struct probe_head *head, hsy_error *err)
{
    static const struct sockaddr_un from = {.sun_family = AF_UNIX};
    unsigned runs = 0;
    int pair[2];
    bool sent;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                   pair) != 0)
        return host_fail(err, HSY_E_IO, HOST_FIELD_LISTEN,
                         "cannot make a socket pair");
    sent = MHD_add_connection(p->http, pair[0], (const struct sockaddr *)&from,
                              sizeof from) == MHD_YES &&
           probe_send(pair[1], head) &&
           (head == &probe_valid || probe_send(pair[1], &probe_valid));
    do
        MHD_run(p->http); /* version 1.0 adds the connection only here */
    while (++runs < PROBE_RUNS && atomic_load(&p->count) != 0);
    close(pair[1]);
    return sent && atomic_load(&p->count) == 0 && *handled == 1
               ? HSY_OK
               : probe_fail(head, err);
}

hsy_status listen_probe(hsy_error *err)
{
    static const struct route route = {"POST", "/",          LISTEN_ANYONE,
                                       3,      probe_handle, NULL};
    unsigned handled = 0;
    struct listener l = {.options = {.routes = &route,
                                     .nroutes = 1,
                                     .ctx = &handled,
                                     .loops = 1,
                                     .connections = 1}};
    struct loop p = {.listener = &l, .socket = -1, .epoll = -1, .wake = -1};
    hsy_status st;

    if (!loop_daemon(&p))
        return host_fail(err, HSY_E_IO, HOST_FIELD_LISTEN,
                         "cannot start a listener");
    st = probe_read(&p, &handled, &probe_valid, err);
    for (size_t i = 0; st == HSY_OK && i < PROBE_COUNT; i++)
        st = probe_read(&p, &handled, &probe_ambiguous[i], err);
    MHD_stop_daemon(p.http);
    return st;
}
