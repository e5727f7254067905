/* test_pulse.c - a loop whose handler hangs does not turn, and that shows. */
#define _GNU_SOURCE
#include "server/http/http.h"
#include "tap.h"

#include <arpa/inet.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static sem_t begun, goes_on;

static void serve_slowly(struct request *q, void *ctx)
{
    (void)ctx;
    sem_post(&begun);
    while (sem_wait(&goes_on) != 0)
        ;
    request_answer(q, 204, NULL, NULL, 0, NULL);
}

static struct listener *serve(void)
{
    static const struct route routes[] = {
        {"GET", "/", LISTEN_ANYONE, 0, serve_slowly, NULL}};
    const struct listen_options o = {.size = sizeof o,
                                     .address = "127.0.0.1:0",
                                     .routes = routes,
                                     .nroutes = 1,
                                     .loops = 2,
                                     .connections = 8,
                                     .head_seconds = 30,
                                     .body_seconds = 30,
                                     .idle_seconds = 30,
                                     .inflight_bytes = 65536};
    struct listener *l;

    if (listen_open(&l, &o, NULL) != HSY_OK || listen_start(l, NULL) != HSY_OK)
        abort();
    return l;
}

static int call(const struct listener *l)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons(listen_port(l)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static const char head[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd == -1 ||
        connect(fd, (const struct sockaddr *)&to, sizeof to) == -1 ||
        send(fd, head, sizeof head - 1, 0) == -1)
        abort();
    return fd;
}

/* Looks until all loops have turned within a while; how often at most. */
static bool turns(struct listener *l, unsigned looks)
{
    static const struct timespec while_ = {.tv_nsec = 500000000};

    for (unsigned i = 0; i < looks; i++) {
        (void)listen_turned(l);
        nanosleep(&while_, NULL);
        if (listen_turned(l))
            return true;
    }
    return false;
}

int main(void)
{
    struct listener *l = serve();
    char answer[64];
    int fd;

    sem_init(&begun, 0, 0);
    sem_init(&goes_on, 0, 0);
    ok(turns(l, 240), "loops that have nothing to do turn");
    fd = call(l);
    while (sem_wait(&begun) != 0)
        ;
    ok(!turns(l, 3), "one whose handler hangs does not, and that shows");
    sem_post(&goes_on);
    ok(recv(fd, answer, sizeof answer, 0) > 12 &&
           eq_bytes(answer, "HTTP/1.1 204", 12),
       "it goes on");
    ok(turns(l, 240), "and all turn again");
    close(fd);
    listen_close(l);
    return tap_done();
}
