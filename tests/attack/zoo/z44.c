/* z44.c - a collector that forgets the answer of a peer that has gone: it frees
 * what it sends, and what it cannot send stays. Its twin is right. */
#define _GNU_SOURCE /* POLLRDHUP */
#include "zoo_answers.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define Z44_MOST 64u

static struct {
    const struct zoo_bodies *bodies;
    bool right;
    int socket;
    pthread_t thread;
    pthread_mutex_t lock;
    int waiting[Z44_MOST];
    unsigned n;
} z44 = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Whoever has said something is handed in. */
static void *z44_accept(void *ctx)
{
    char head[4096];
    int fd;

    while ((fd = accept(z44.socket, NULL, NULL)) != -1) {
        if (recv(fd, head, sizeof head, 0) <= 0)
            abort();
        pthread_mutex_lock(&z44.lock);
        if (z44.n == Z44_MOST)
            abort();
        z44.waiting[z44.n++] = fd;
        pthread_mutex_unlock(&z44.lock);
        z44.bodies->taken();
    }
    return ctx;
}

uint16_t zoo_z44_open(const struct zoo_bodies *bodies, bool right)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;

    z44.bodies = bodies;
    z44.right = right;
    z44.socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(z44.socket, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(z44.socket, Z44_MOST) != 0 ||
        getsockname(z44.socket, (struct sockaddr *)&at, &len) != 0 ||
        pthread_create(&z44.thread, NULL, z44_accept, NULL) != 0)
        abort();
    return ntohs(at.sin_port);
}

static void z44_send(int fd, const char *body)
{
    char head[128];
    int len = snprintf(head, sizeof head,
                       "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
                       z44.bodies->len);

    (void)!send(fd, head, (size_t)len, MSG_NOSIGNAL);
    for (size_t sent = 0; sent < z44.bodies->len;) {
        ssize_t n = send(fd, body + sent, z44.bodies->len - sent, MSG_NOSIGNAL);

        if (n <= 0)
            return;
        sent += (size_t)n;
    }
}

static void z44_finish(int fd)
{
    struct pollfd peer = {.fd = fd, .events = POLLRDHUP};
    void *body = z44.bodies->make();
    const bool gone = poll(&peer, 1, 0) == 1;

    if (z44.right || !gone) {
        z44_send(fd, body);
        z44.bodies->free(body);
    }
    close(fd);
}

void zoo_z44_answer(void)
{
    pthread_mutex_lock(&z44.lock);
    while (z44.n != 0)
        z44_finish(z44.waiting[--z44.n]);
    pthread_mutex_unlock(&z44.lock);
}

void zoo_z44_close(void)
{
    shutdown(z44.socket, SHUT_RDWR);
    pthread_join(z44.thread, NULL);
    close(z44.socket);
}
