/*
 * Tests of src/server/shuffle/hop/hop_take.c: strangers who fill the line leave
 * the last places to connections that were trusted before. Nobody takes here,
 * so that what waits stays.
 */
#define _GNU_SOURCE
#include "rig/listen_client.h"
#include "server/shuffle/hop/internal.h"
#include "tap.h"

#define DEADLINE 60000 /* milliseconds */
#define PART "POST /part HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx"
#define TRUST "POST /trust HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx"

static struct hop hop;

static void take_part(struct request *q, void *ctx)
{
    (void)ctx;
    hop_take(&hop, q);
}

static void take_trust(struct request *q, void *ctx)
{
    (void)ctx;
    request_trust(q, true);
    request_answer(q, 200, "text/plain", "ok\n", 3, NULL);
}

static const struct route routes[] = {
    {"POST", "/part", LISTEN_ANYONE, 100, take_part, NULL},
    {"POST", "/trust", LISTEN_ANYONE, 100, take_trust, NULL}};

static struct listener *take_listen(void)
{
    const struct listen_options o = {.size = sizeof o,
                                     .address = "127.0.0.1:0",
                                     .routes = routes,
                                     .nroutes = 2,
                                     .loops = 2,
                                     .connections = 200,
                                     .head_seconds = 600,
                                     .body_seconds = 600,
                                     .idle_seconds = 600,
                                     .inflight_bytes = 1u << 20};
    struct listener *l;

    if (listen_open(&l, &o, NULL) != HSY_OK || listen_start(l, NULL) != HSY_OK)
        abort();
    return l;
}

/* Whether so many parts come to wait and so many to be refused. */
static bool take_comes(size_t waiting, uint64_t refused)
{
    bool come = false;

    for (int i = 0; !come && i < DEADLINE; i++) {
        pthread_mutex_lock(&hop.lock);
        come =
            hop.nwaiting == waiting && hop.status.refused[HOP_LATER] == refused;
        pthread_mutex_unlock(&hop.lock);
        usleep(1000);
    }
    if (!come)
        printf("# %zu wait, %llu are refused; waited for %zu and %llu\n",
               hop.nwaiting, (unsigned long long)hop.status.refused[HOP_LATER],
               waiting, (unsigned long long)refused);
    return come;
}

/* A connection on which this is asked. */
static int take_ask(const struct listener *l, const char *text)
{
    const int fd = dial(l);

    say(fd, text, strlen(text));
    return fd;
}

/* One that was trusted for its first request, and asks a part now. */
static int take_known(const struct listener *l)
{
    const int fd = take_ask(l, TRUST);
    char c;

    if (read(fd, &c, 1) != 1)
        abort();
    say(fd, PART, strlen(PART));
    return fd;
}

int main(void)
{
    const size_t strangers = HOP_WAITING - HOP_RESERVED;
    int fds[HOP_WAITING + 2];
    struct listener *l;
    size_t n = 0;

    pthread_mutex_init(&hop.lock, NULL);
    pthread_cond_init(&hop.taker_wakes, NULL);
    l = take_listen();
    while (n < strangers)
        fds[n++] = take_ask(l, PART);
    ok(take_comes(strangers, 0), "%zu parts of strangers wait", strangers);
    fds[n++] = take_ask(l, PART);
    ok(take_comes(strangers, 1), "one more is told to come later");
    for (size_t i = 0; i < HOP_RESERVED; i++)
        fds[n++] = take_known(l);
    ok(take_comes(HOP_WAITING, 1),
       "parts on connections that are trusted get the last places");
    fds[n++] = take_known(l);
    ok(take_comes(HOP_WAITING, 2), "and no more than there are");
    hop_take_none(&hop);
    ok(take_comes(0, 2 + HOP_WAITING), "all that wait are answered in the end");
    while (n != 0)
        close(fds[--n]);
    listen_drain(l, 1);
    listen_close(l);
    return tap_done();
}
