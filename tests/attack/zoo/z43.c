/* z43.c - a collector that forgets the answer of a peer that has gone: it frees
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

#define Z43_MOST 64u

static struct {
    const struct zoo_bodies *bodies;
    bool right;
    int socket;
    pthread_t thread;
    pthread_mutex_t lock;
    int waiting[Z43_MOST];
    unsigned n;
} z43 = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Whoever has said something is handed in. */
static void *z43_accept(void *ctx)
{
    char head[4096];
    int fd;

    while ((fd = accept(z43.socket, NULL, NULL)) != -1) {
        if (recv(fd, head, sizeof head, 0) <= 0)
            abort();
        pthread_mutex_lock(&z43.lock);
        if (z43.n == Z43_MOST)
            abort();
        z43.waiting[z43.n++] = fd;
        pthread_mutex_unlock(&z43.lock);
        z43.bodies->taken();
    }
    return ctx;
}

uint16_t zoo_z43_open(const struct zoo_bodies *bodies, bool right)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;

    z43.bodies = bodies;
    z43.right = right;
    z43.socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(z43.socket, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(z43.socket, Z43_MOST) != 0 ||
        getsockname(z43.socket, (struct sockaddr *)&at, &len) != 0 ||
        pthread_create(&z43.thread, NULL, z43_accept, NULL) != 0)
        abort();
    return ntohs(at.sin_port);
}

static void z43_send(int fd, const char *body)
{
    char head[128];
    int len = snprintf(head, sizeof head,
                       "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
                       z43.bodies->len);

    (void)!send(fd, head, (size_t)len, MSG_NOSIGNAL);
    for (size_t sent = 0; sent < z43.bodies->len;) {
        ssize_t n = send(fd, body + sent, z43.bodies->len - sent, MSG_NOSIGNAL);

        if (n <= 0)
            return;
        sent += (size_t)n;
    }
}

static void z43_finish(int fd)
{
    struct pollfd peer = {.fd = fd, .events = POLLRDHUP};
    void *body = z43.bodies->make();
    const bool gone = poll(&peer, 1, 0) == 1;

    if (z43.right || !gone) {
        z43_send(fd, body);
        z43.bodies->free(body);
    }
    close(fd);
}

void zoo_z43_answer(void)
{
    pthread_mutex_lock(&z43.lock);
    while (z43.n != 0)
        z43_finish(z43.waiting[--z43.n]);
    pthread_mutex_unlock(&z43.lock);
}

void zoo_z43_close(void)
{
    shutdown(z43.socket, SHUT_RDWR);
    pthread_join(z43.thread, NULL);
    close(z43.socket);
}
