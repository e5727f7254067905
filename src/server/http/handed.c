/*
 * handed.c - sockets that listen already when the collector starts.
 *
 * A service manager that opens the sockets and hands them over keeps them while
 * the collector is restarted: who connects meanwhile waits, and is served by
 * the next process. All loops share the one socket of an address; a socket of
 * a loop's own would be closed with it, and with it whoever waits there.
 */
#define _GNU_SOURCE
#include "server/http/internal.h"

#include "host/base/host_fail.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The same address; port 0 is any. */
static bool handed_is4(const struct sockaddr_in *a,
                       const struct sockaddr_in *want)
{
    return a->sin_addr.s_addr == want->sin_addr.s_addr &&
           (want->sin_port == 0 || a->sin_port == want->sin_port);
}

static bool handed_is6(const struct sockaddr_in6 *a,
                       const struct sockaddr_in6 *want)
{
    return memcmp(&a->sin6_addr, &want->sin6_addr, sizeof a->sin6_addr) == 0 &&
           (want->sin6_port == 0 || a->sin6_port == want->sin6_port);
}

static bool handed_is(int fd, const struct sockaddr *want)
{
    struct sockaddr_storage at = {0}; /* so that a path ends */
    socklen_t len = sizeof at - 1;

    if (getsockname(fd, (struct sockaddr *)&at, &len) != 0 ||
        at.ss_family != want->sa_family)
        return false;
    if (at.ss_family == AF_INET)
        return handed_is4((struct sockaddr_in *)&at,
                          (const struct sockaddr_in *)want);
    if (at.ss_family == AF_INET6)
        return handed_is6((struct sockaddr_in6 *)&at,
                          (const struct sockaddr_in6 *)want);
    return at.ss_family == AF_UNIX &&
           strcmp(((struct sockaddr_un *)&at)->sun_path,
                  ((const struct sockaddr_un *)want)->sun_path) == 0;
}

void listen_handed_name(char *text, size_t room, int fd)
{
    struct sockaddr_storage at = {0}; /* so that a path ends */
    socklen_t len = sizeof at - 1;
    char host[INET6_ADDRSTRLEN] = "";

    snprintf(text, room, "of no address");
    if (getsockname(fd, (struct sockaddr *)&at, &len) != 0)
        return;
    if (at.ss_family == AF_INET) {
        const struct sockaddr_in *a = (const struct sockaddr_in *)&at;

        inet_ntop(AF_INET, &a->sin_addr, host, sizeof host);
        snprintf(text, room, "%s:%u", host, ntohs(a->sin_port));
    } else if (at.ss_family == AF_INET6) {
        const struct sockaddr_in6 *a = (const struct sockaddr_in6 *)&at;

        inet_ntop(AF_INET6, &a->sin6_addr, host, sizeof host);
        snprintf(text, room, "[%s]:%u", host, ntohs(a->sin6_port));
    } else if (at.ss_family == AF_UNIX) {
        snprintf(text, room, "unix:%s",
                 ((const struct sockaddr_un *)&at)->sun_path);
    }
}

int handed_take(struct listener *l, const struct sockaddr *want)
{
    struct listen_handed *h = l->options.handed;

    for (size_t i = 0; h != NULL && i < h->n; i++)
        if (h->fd[i] != -1 && handed_is(h->fd[i], want)) {
            int fd = h->fd[i];

            h->fd[i] = -1;
            return fd;
        }
    return -1;
}

/* Whether connections come of it, as of one that we would make. */
static bool handed_listens(int fd)
{
    int kind = 0, listens = 0;
    socklen_t len = sizeof kind;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &len) == 0 &&
           kind == SOCK_STREAM &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 &&
           listens != 0 &&
           fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0;
}

hsy_status handed_share(struct listener *l, int fd, hsy_error *err)
{
    bool good = handed_listens(fd);

    l->handed = true;
    listen_tune(l, fd);
    for (unsigned i = 0; good && i < l->options.loops; i++) {
        l->loops[i].socket = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        good = l->loops[i].socket != -1;
    }
    close(fd);
    return good ? HSY_OK
                : host_fail(err, HSY_E_RANGE, HOST_FIELD_LISTEN,
                            "the socket that was handed over for this address "
                            "does not listen");
}
