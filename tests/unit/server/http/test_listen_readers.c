/*
 * test_listen_readers.c - readers that do not read: what waits for them is
 * bounded, and how long it does goes by what they take.
 */
#define _GNU_SOURCE
#include "rig/listen_client.h"
#include "tap.h"

#include <time.h>

#define ANSWER (8u << 20)

static char much[ANSWER];

static void serve_much(struct request *q, void *ctx)
{
    (void)ctx;
    request_answer(q, 200, "text/plain", much, sizeof much, NULL);
}

static const struct route routes[] = {
    {"GET", "/much", LISTEN_ANYONE, 0, serve_much, NULL}};

static struct listener *serve(uint32_t body_seconds)
{
    const struct listen_options o = {.size = sizeof o,
                                     .address = "127.0.0.1:0",
                                     .routes = routes,
                                     .nroutes = 1,
                                     .loops = 1,
                                     .connections = 100,
                                     .head_seconds = 60,
                                     .body_seconds = body_seconds,
                                     .idle_seconds = 60,
                                     .inflight_bytes = 1u << 20,
                                     .send_bytes = 32768};
    struct listener *l;

    if (listen_open(&l, &o, NULL) != HSY_OK || listen_start(l, NULL) != HSY_OK)
        abort();
    return l;
}

/* Ask; little of the answer fits on this side. */
static int begin(const struct listener *l, const char *head)
{
    const int few = 4096;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
    dial_from(fd, l);
    say(fd, head, strlen(head));
    return fd;
}

/* Bytes that the kernel keeps of answers which this port has sent and nobody
 * has read: the queues of its connections. */
static size_t kept(uint16_t port)
{
    FILE *f = fopen("/proc/self/net/tcp", "re");
    char line[512];
    size_t all = 0;

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        unsigned local, state;
        size_t queue;

        if (sscanf(line, "%*d: %*8x:%x %*x:%*x %x %zx:", &local, &state,
                   &queue) == 3 &&
            local == port && state != 10) /* it listens: not a length */
            all += queue;
    }
    if (f != NULL)
        fclose(f);
    return all;
}

/* The same twice: nothing goes any more. */
static size_t kept_at_rest(uint16_t port)
{
    size_t before, now = 0;

    do {
        before = now;
        usleep(200000);
        now = kept(port);
    } while (now == 0 || now != before);
    return now;
}

static void answers_wait_bounded(void)
{
    struct listener *l = serve(60);
    int fds[10];
    size_t all;

    for (int i = 0; i < 10; i++)
        fds[i] = begin(l, HEAD("GET /much") "\r\n");
    all = kept_at_rest(listen_port(l));
    ok(all <= 10 * (64u << 10),
       "of an answer of 8 MiB that is not read %zu bytes wait", all / 10);
    for (int i = 0; i < 10; i++)
        close(fds[i]);
    listen_close(l);
}

/* The kernel gives them up, or we do: neither has a word for it. */
static void answers_end(void)
{
    struct listener *l = serve(1);
    struct listen_status now;
    int fd = begin(l, HEAD("GET /much") "\r\n");
    int tries = 0;

    do {
        usleep(100000);
        listen_status(l, &now);
    } while ((now.connections != 0 || now.requests != 1) && ++tries < 1200);
    is_u64(now.connections, 0, "who reads nothing is closed");
    close(fd);
    listen_close(l);
}

/* Reads slower than body_seconds, but steadily: some parts, then all the rest.
 */
static size_t read_steadily(const struct listener *l)
{
    int steady = begin(l, HEAD("GET /much") "\r\n");
    char part[65536];
    size_t all = 0;
    ssize_t n = 1;

    for (int i = 0; n > 0 && i < 15; i++) {
        for (int k = 0; n > 0 && k < 24; k++)
            if ((n = recv(steady, part, sizeof part, 0)) > 0)
                all += (size_t)n;
        usleep(300000);
    }
    while ((n = recv(steady, part, sizeof part, 0)) > 0)
        all += (size_t)n;
    close(steady);
    return all;
}

/* A machine that stands still for seconds breaks the pace: once more. */
static void answers_go_by_pace(void)
{
    struct listener *l = serve(4);
    size_t all = 0;

    for (int i = 0; all <= ANSWER && i < 10; i++)
        all = read_steadily(l);
    ok(all > ANSWER,
       "who takes longer than body_seconds but keeps pace gets "
       "all of an answer: %zu bytes",
       all);
    listen_close(l);
}

int main(void)
{
    memset(much, 'a', sizeof much);
    answers_wait_bounded();
    answers_end();
    answers_go_by_pace();
    return tap_done();
}
