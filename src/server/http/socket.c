/*
 * socket.c - the sockets of a listener: an address and port, or a file.
 *
 * Every loop has a socket of its own on the same port (SO_REUSEPORT), so that
 * the kernel shares connections out. That option would also let a second
 * collector of the same user onto the port, so the first bind is made without
 * it: a port in use is an error. SO_REUSEADDR is for the next process: without
 * it the port is taken for a minute after a connection was closed from here.
 *
 * A service manager that opens the sockets and hands them over keeps them while
 * the collector is restarted: who connects meanwhile waits, and is served by
 * the next process. All loops share the one socket of an address; a socket of
 * a loop's own would be closed with it, and with it whoever waits there.
 */
#define _GNU_SOURCE
#include "server/http/internal.h"

#include "host/base/digits.h"
#include "host/base/host_fail.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_BACKLOG 1024

/* A socket that is bound, or -1 with errno. */
static int socket_bound(const struct sockaddr *to, socklen_t len, bool shared)
{
    int fd =
        socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1, kept;

    if (fd == -1)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        (!shared ||
         setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0) &&
        bind(fd, to, len) == 0)
        return fd;
    kept = errno;
    close(fd);
    errno = kept;
    return -1;
}

/* What connections have of a listening socket: little room for what was sent
 * and not yet read, and an end if none of it is taken for long. */
static void socket_tune(const struct listener *l, int fd)
{
    const int room = (int)l->options.send_bytes;
    const unsigned stalled = 1000u * l->options.body_seconds;
    const int on = 1;

    if (room != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &stalled, sizeof stalled);
}

static bool socket_listen(struct listener *l, unsigned i, int fd)
{
    if (fd == -1)
        return false;
    l->loops[i].socket = fd; /* closed with the listener */
    socket_tune(l, fd);
    return listen(fd, SOCKET_BACKLOG) == 0;
}

/* ---- Sockets that listen already ----------------------------------------- */

/* The same address; port 0 is any. */
static bool socket_is4(const struct sockaddr_in *a,
                       const struct sockaddr_in *want)
{
    return a->sin_addr.s_addr == want->sin_addr.s_addr &&
           (want->sin_port == 0 || a->sin_port == want->sin_port);
}

static bool socket_is6(const struct sockaddr_in6 *a,
                       const struct sockaddr_in6 *want)
{
    return memcmp(&a->sin6_addr, &want->sin6_addr, sizeof a->sin6_addr) == 0 &&
           (want->sin6_port == 0 || a->sin6_port == want->sin6_port);
}

static bool socket_is(int fd, const struct sockaddr *want)
{
    struct sockaddr_storage at = {0}; /* so that a path ends */
    socklen_t len = sizeof at - 1;

    if (getsockname(fd, (struct sockaddr *)&at, &len) != 0 ||
        at.ss_family != want->sa_family)
        return false;
    if (at.ss_family == AF_INET)
        return socket_is4((struct sockaddr_in *)&at,
                          (const struct sockaddr_in *)want);
    if (at.ss_family == AF_INET6)
        return socket_is6((struct sockaddr_in6 *)&at,
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

/* The socket of this address among those handed over, now ours; -1: none. */
static int socket_take(struct listener *l, const struct sockaddr *want)
{
    struct listen_handed *h = l->options.handed;

    for (size_t i = 0; h != NULL && i < h->n; i++)
        if (h->fd[i] != -1 && socket_is(h->fd[i], want)) {
            int fd = h->fd[i];

            h->fd[i] = -1;
            return fd;
        }
    return -1;
}

/* Whether connections come of it, as of one that we would make. */
static bool socket_listens(int fd)
{
    int kind = 0, listens = 0;
    socklen_t len = sizeof kind;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &len) == 0 &&
           kind == SOCK_STREAM &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 &&
           listens != 0 &&
           fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0;
}

/* Have all loops listen on it. It is closed. */
static hsy_status socket_share(struct listener *l, int fd, hsy_error *err)
{
    bool good = socket_listens(fd);

    l->handed = true;
    socket_tune(l, fd);
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

/* ---- An address and port ------------------------------------------------- */

static hsy_status socket_fail(hsy_error *err)
{
    return host_fail(err, HSY_E_IO, HOST_FIELD_LISTEN,
                     errno == EADDRINUSE
                         ? "the address is in use by another process"
                         : "cannot listen on this address");
}

/* What is bound to port 0 is told its port; the rest then asks for that. */
static bool socket_port(struct listener *l, int fd, struct sockaddr_storage *to,
                        socklen_t *len)
{
    *len = sizeof *to;
    if (getsockname(fd, (struct sockaddr *)to, len) != 0)
        return false;
    l->port =
        ntohs(to->ss_family == AF_INET6 ? ((struct sockaddr_in6 *)to)->sin6_port
                                        : ((struct sockaddr_in *)to)->sin_port);
    return true;
}

static hsy_status socket_bind_port(struct listener *l, const struct addrinfo *a,
                                   hsy_error *err)
{
    struct sockaddr_storage to;
    socklen_t len = a->ai_addrlen;
    int first = socket_take(l, a->ai_addr);

    if (first != -1)
        return socket_port(l, first, &to, &len) ? socket_share(l, first, err)
                                                : socket_fail(err);
    first = socket_bound(a->ai_addr, len, false);
    if (first == -1)
        return socket_fail(err);
    if (!socket_port(l, first, &to, &len)) {
        close(first);
        return socket_fail(err);
    }
    close(first);
    for (unsigned i = 0; i < l->options.loops; i++) {
        int fd = socket_bound((struct sockaddr *)&to, len, true);

        if (!socket_listen(l, i, fd))
            return socket_fail(err);
    }
    return HSY_OK;
}

static bool socket_is_port(const char *text)
{
    const size_t len = strlen(text);
    uint64_t port;

    return len <= 5 && digits_parse(&port, text, len, 65535);
}

/* "127.0.0.1:8080", "[::1]:0", "name:80" */
static hsy_status socket_inet(struct listener *l, const char *address,
                              hsy_error *err)
{
    struct addrinfo want = {.ai_socktype = SOCK_STREAM,
                            .ai_flags = AI_PASSIVE | AI_NUMERICSERV},
                    *found;
    const char *colon = strrchr(address, ':');
    bool bracket = address[0] == '[';
    char host[256];
    size_t len = colon == NULL ? 0 : (size_t)(colon - address);
    hsy_status st;

    if (len <= (bracket ? 2u : 0u) || len >= sizeof host ||
        !socket_is_port(colon + 1) ||
        (bracket ? colon[-1] != ']' : memchr(address, ':', len) != NULL))
        return host_fail(err, HSY_E_RANGE, HOST_FIELD_LISTEN,
                         "an address is HOST:PORT, [IPv6]:PORT or unix:PATH");
    if (bracket)
        address++, len -= 2;
    memcpy(host, address, len);
    host[len] = 0;
    if (getaddrinfo(host, colon + 1, &want, &found) != 0)
        return host_fail(err, HSY_E_RANGE, HOST_FIELD_LISTEN,
                         "no such host or port: an address is HOST:PORT, "
                         "[IPv6]:PORT or unix:PATH");
    st = socket_bind_port(l, found, err);
    freeaddrinfo(found);
    return st;
}

/* A socket file that nobody listens on any more is in the way: remove it. */
static void socket_remove_stale(const struct sockaddr_un *to)
{
    struct stat s;
    int fd;

    if (lstat(to->sun_path, &s) != 0 || !S_ISSOCK(s.st_mode))
        return;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd == -1)
        return;
    if (connect(fd, (const struct sockaddr *)to, sizeof *to) != 0 &&
        errno == ECONNREFUSED)
        unlink(to->sun_path);
    close(fd);
}

static hsy_status socket_unix(struct listener *l, const char *path,
                              hsy_error *err)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    mode_t mask;
    int fd;

    if (path[0] == 0 || strlen(path) >= sizeof to.sun_path)
        return host_fail(err, HSY_E_RANGE, HOST_FIELD_LISTEN,
                         "the path of a socket has 1 to 107 bytes");
    memcpy(to.sun_path, path, strlen(path) + 1);
    fd = socket_take(l, (struct sockaddr *)&to);
    if (fd != -1) {
        l->unix_path = strdup(path);
        return socket_share(l, fd, err);
    }
    socket_remove_stale(&to);
    mask = umask(0177); /* its owner's alone */
    fd = socket_bound((struct sockaddr *)&to, sizeof to, false);
    umask(mask);
    if (fd == -1)
        return socket_fail(err);
    l->unix_path = strdup(path);
    if (!socket_listen(l, 0, fd))
        return socket_fail(err);
    return l->unix_path == NULL ? host_nomem(err) : HSY_OK;
}

hsy_status listen_bind(struct listener *l, hsy_error *err)
{
    const char *address = l->options.address;

    if (strncmp(address, "unix:", 5) == 0)
        return socket_unix(l, address + 5, err);
    return socket_inet(l, address, err);
}

void listen_address(char text[LISTEN_ADDRESS], const struct listener *l,
                    const char *address)
{
    const char *colon = strrchr(address, ':');

    if (l->port == 0 || colon == NULL)
        snprintf(text, LISTEN_ADDRESS, "%s", address);
    else
        snprintf(text, LISTEN_ADDRESS, "%.*s:%u", (int)(colon - address),
                 address, l->port);
}
