/* forgets_answers.c - a collector that forgets the answer of a peer that has
 * gone: it frees what it sends, and what it cannot send stays. Its twin is
 * right. */
#define _GNU_SOURCE /* POLLRDHUP */
#include "zoo_answers.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWERS_MOST 64u

static struct {
    const struct zoo_bodies *bodies;
    bool right;
    int socket;
    pthread_t thread;
    pthread_mutex_t lock;
    int waiting[ANSWERS_MOST];
    unsigned n;
} forgets_answers = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Whoever has said something is handed in. */
static void *forgets_answers_accept(void *ctx)
{
    char head[4096];
    int fd;

    while ((fd = accept(forgets_answers.socket, NULL, NULL)) != -1) {
        if (recv(fd, head, sizeof head, 0) <= 0)
            abort();
        pthread_mutex_lock(&forgets_answers.lock);
        if (forgets_answers.n == ANSWERS_MOST)
            abort();
        forgets_answers.waiting[forgets_answers.n++] = fd;
        pthread_mutex_unlock(&forgets_answers.lock);
        forgets_answers.bodies->taken();
    }
    return ctx;
}

uint16_t zoo_forgets_answers_open(const struct zoo_bodies *bodies, bool right)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;

    forgets_answers.bodies = bodies;
    forgets_answers.right = right;
    forgets_answers.socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(forgets_answers.socket, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(forgets_answers.socket, ANSWERS_MOST) != 0 ||
        getsockname(forgets_answers.socket, (struct sockaddr *)&at, &len) !=
            0 ||
        pthread_create(&forgets_answers.thread, NULL, forgets_answers_accept,
                       NULL) != 0)
        abort();
    return ntohs(at.sin_port);
}

static void forgets_answers_send(int fd, const char *body)
{
    char head[128];
    int len = snprintf(head, sizeof head,
                       "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
                       forgets_answers.bodies->len);

    (void)!send(fd, head, (size_t)len, MSG_NOSIGNAL);
    for (size_t sent = 0; sent < forgets_answers.bodies->len;) {
        ssize_t n = send(fd, body + sent, forgets_answers.bodies->len - sent,
                         MSG_NOSIGNAL);

        if (n <= 0)
            return;
        sent += (size_t)n;
    }
}

static void forgets_answers_finish(int fd)
{
    struct pollfd peer = {.fd = fd, .events = POLLRDHUP};
    void *body = forgets_answers.bodies->make();
    const bool gone = poll(&peer, 1, 0) == 1;

    if (forgets_answers.right || !gone) {
        forgets_answers_send(fd, body);
        forgets_answers.bodies->free(body);
    }
    close(fd);
}

void zoo_forgets_answers_answer(void)
{
    pthread_mutex_lock(&forgets_answers.lock);
    while (forgets_answers.n != 0)
        forgets_answers_finish(forgets_answers.waiting[--forgets_answers.n]);
    pthread_mutex_unlock(&forgets_answers.lock);
}

void zoo_forgets_answers_close(void)
{
    shutdown(forgets_answers.socket, SHUT_RDWR);
    pthread_join(forgets_answers.thread, NULL);
    close(forgets_answers.socket);
}
