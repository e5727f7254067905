/* listen_client.h - as much of a client as tests of a listener need: bytes to
 * and from its port, on real sockets. */
#ifndef LISTEN_CLIENT_H
#define LISTEN_CLIENT_H

#include "server/http/http.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static inline void dial_from(int fd, const struct listener *l)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(listen_port(l)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        abort();
}

static inline int dial(const struct listener *l)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    dial_from(fd, l);
    return fd;
}

static inline void say(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

        if (n <= 0)
            return;
        bytes += n;
        len -= (size_t)n;
    }
}

/* Everything until the other side closes. */
static inline const char *hear(int fd)
{
    static char all[1 << 18];
    size_t len = 0;
    ssize_t n;

    while (len < sizeof all - 1 &&
           (n = recv(fd, all + len, sizeof all - 1 - len, 0)) > 0)
        len += (size_t)n;
    all[len] = 0;
    close(fd);
    return all;
}

/* What is answered to these bytes, to the end of the connection. */
static inline const char *ask(const struct listener *l, const char *text)
{
    int fd = dial(l);

    say(fd, text, strlen(text));
    return hear(fd);
}

static inline unsigned times(const char *all, const char *part)
{
    unsigned n = 0;

    for (; (all = strstr(all, part)) != NULL; all += strlen(part))
        n++;
    return n;
}

static inline bool begins(const char *all, const char *with)
{
    return strncmp(all, with, strlen(with)) == 0;
}

#define HEAD(line) line " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"

#endif
