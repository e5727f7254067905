/*
 * test_listen_bodies.c - what bodies may take of memory and time: small ones
 * keep their room whatever large ones do, large ones take what has come of
 * them, and slow ones are closed for their pace, not for their length.
 */
#define _GNU_SOURCE
#include "rig/listen_client.h"
#include "tap.h"

#include <time.h>

#define POOL (2u << 20)
#define LARGE (1u << 20)

static char zeros[2 * LARGE];

static void serve_length(struct request *q, void *ctx)
{
    size_t len;

    (void)ctx;
    (void)request_body(q, &len);
    request_answer(q, 200, "text/plain", len == 0 ? "none" : "some", 4, NULL);
}

static const struct route routes[] = {
    {"POST", "/take", LISTEN_ANYONE, 4u << 20, serve_length, NULL}};

static struct listener *serve(uint32_t body_seconds)
{
    const struct listen_options o = {.size = sizeof o,
                                     .address = "127.0.0.1:0",
                                     .routes = routes,
                                     .nroutes = 1,
                                     .loops = 2,
                                     .connections = 100,
                                     .head_seconds = 60,
                                     .body_seconds = body_seconds,
                                     .idle_seconds = 60,
                                     .inflight_bytes = POOL};
    struct listener *l;

    if (listen_open(&l, &o, NULL) != HSY_OK || listen_start(l, NULL) != HSY_OK)
        abort();
    return l;
}

/* Announce a body and send this much of it. */
static int begin(const struct listener *l, size_t announced, size_t sent)
{
    char head[128];
    int fd = dial(l), len = snprintf(head, sizeof head,
                                     HEAD("POST /take") "Content-Length: %zu"
                                                        "\r\n\r\n",
                                     announced);

    say(fd, head, (size_t)len);
    say(fd, zeros, sent);
    return fd;
}

static void await_bytes(const struct listener *l, size_t least)
{
    struct listen_status now;

    do {
        usleep(1000);
        listen_status(l, &now);
    } while (now.inflight_bytes < least);
}

static void what_came_is_charged(void)
{
    struct listener *l = serve(60);
    const size_t came = LARGE / 2 + 10000;
    int fd = begin(l, LARGE, came);
    struct listen_status now;

    await_bytes(l, came);
    listen_status(l, &now);
    ok(now.inflight_bytes <= came + came / 8 + 16384,
       "a body takes what has come of it: %zu of %zu",
       (size_t)now.inflight_bytes, came);
    close(fd);
    listen_close(l);
}

/* Large bodies that stop in the middle have taken all there is. */
static void small_bodies_have_room(void)
{
    struct listener *l = serve(60);
    int fds[2], small;
    unsigned taken = 0;

    for (size_t i = 0; i < 2; i++) {
        fds[i] = begin(l, LARGE, LARGE - 1000);
        await_bytes(l, (i + 1) * (LARGE - 1000));
    }
    ok(begins(hear(begin(l, LARGE, LARGE)), "HTTP/1.1 503 "),
       "where large bodies have no room another is told to come back");
    for (unsigned i = 0; i < 20; i++) {
        small = begin(l, 16384, 16384);
        taken += begins(hear(small), "HTTP/1.1 200 ") ? 1 : 0;
    }
    is_u64(taken, 20, "small ones are taken all the same: %u of 20", taken);
    for (size_t i = 0; i < 2; i++) {
        say(fds[i], zeros, 1000);
        ok(begins(hear(fds[i]), "HTTP/1.1 200 "), "as are those that had room");
    }
    listen_close(l);
}

/* What was dropped for want of room makes room for others at once, not only at
 * its end. */
static void dropped_bodies_make_room(void)
{
    struct listener *l = serve(60);
    int first = begin(l, 2 * LARGE, LARGE + LARGE / 2), second;
    bool taken = false;

    await_bytes(l, LARGE + LARGE / 2);
    second = begin(l, LARGE, LARGE - 1);
    for (int i = 0; !taken && i < 1000; i++) {
        taken = begins(hear(begin(l, LARGE / 4, LARGE / 4)), "HTTP/1.1 200 ");
        usleep(1000);
    }
    ok(taken, "of a body that found no room nothing is kept");
    say(second, zeros, 1);
    ok(begins(hear(second), "HTTP/1.1 503 "), "it is told so at its end");
    close(first);
    listen_close(l);
}

/* Sends six parts, half a second between them, where each has a second. */
static bool taken_steadily(const struct listener *l)
{
    int fd = begin(l, 6 * 65536, 0);

    for (int i = 0; i < 6; i++) {
        say(fd, zeros, 65536);
        usleep(500000);
    }
    return begins(hear(fd), "HTTP/1.1 200 ");
}

/* A machine that stands still for half a second breaks the pace: once more. */
static void steady_bodies_are_taken(void)
{
    struct listener *l = serve(1);
    bool taken = false;

    for (int i = 0; !taken && i < 20; i++)
        taken = taken_steadily(l);
    ok(taken,
       "a body that takes longer than body_seconds is taken if it keeps pace");
    listen_close(l);
}

/* One byte at a time, and never the last ones. */
static void slow_bodies_are_cut(void)
{
    struct listener *l = serve(1);
    struct listen_status now = {0};
    int slow = begin(l, 1000, 0);

    for (int i = 0; now.timeouts == 0 && i < 12000; i++) {
        if (i < 900)
            say(slow, zeros, 1);
        usleep(10000);
        listen_status(l, &now);
    }
    is_u64(now.timeouts, 1, "a body that does not keep pace is cut");
    close(slow);
    listen_close(l);
}

static void pace_is_for_quiet_times(void)
{
    struct listener *l = serve(1);
    int fd = begin(l, 2 * LARGE, LARGE + LARGE / 4); /* 80 s by its pace */

    is_int(hear(fd)[0], 0,
           "where bodies take most of their room, each has body_seconds");
    listen_close(l);
}

/* The end of what a peer sends comes with its last bytes or after them. By its
 * pace such a body would have 57 s. */
static void gone_senders_are_not_waited_for(void)
{
    struct listener *l = serve(1);
    struct listen_status now = {.connections = 1};
    unsigned freed = 0;

    for (unsigned i = 0; i < 4 && freed == i; i++) {
        close(begin(l, LARGE, LARGE - LARGE / 8));
        for (int k = 0; freed == i && k < 3000; k++) {
            usleep(10000);
            listen_status(l, &now);
            freed += now.requests == i + 1 && now.connections == 0;
        }
    }
    is_u64(freed, 4, "bodies whose senders have gone are freed: %u of 4",
           freed);
    listen_close(l);
}

int main(void)
{
    what_came_is_charged();
    small_bodies_have_room();
    dropped_bodies_make_room();
    steady_bodies_are_taken();
    slow_bodies_are_cut();
    pace_is_for_quiet_times();
    gone_senders_are_not_waited_for();
    return tap_done();
}
