/*
 * socket.c - the sockets of a listener: an address and port, or a file.
 *
 * Every loop has a socket of its own on the same port (SO_REUSEPORT), so that
 * the kernel shares connections out. That option would also let a second
 * collector of the same user onto the port, so the first bind is made without
 * it: a port in use is an error. SO_REUSEADDR is for the next process: without
 * it the port is taken for a minute after a connection was closed from here.
 */
#define _GNU_SOURCE
#include "server/http/internal.h"

#include "host/base/digits.h"
#include "host/base/host_fail.h"

#include <errno.h>
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
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
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

void listen_tune(const struct listener *l, int fd)
{
    const int room = (int)l->options.send_bytes;
    const unsigned stalled = 1000u * l->options.body_seconds;

    if (room != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &stalled, sizeof stalled);
}

static bool socket_listen(struct listener *l, unsigned i, int fd)
{
    if (fd == -1)
        return false;
    l->loops[i].socket = fd; /* closed with the listener */
    listen_tune(l, fd);
    return listen(fd, SOCKET_BACKLOG) == 0;
}

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
    int first = handed_take(l, a->ai_addr);

    if (first != -1)
        return socket_port(l, first, &to, &len) ? handed_share(l, first, err)
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
    fd = handed_take(l, (struct sockaddr *)&to);
    if (fd != -1) {
        l->unix_path = strdup(path);
        return handed_share(l, fd, err);
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
