/*
 * test_listen_crowd.c - one address has so many connections and no more, but
 * for those that are exempt; and where all connections are taken, who is slow
 * makes room.
 */
#define _GNU_SOURCE
#include "rig/listen_client.h"
#include "server/http/internal.h"
#include "tap.h"

#include <sys/un.h>
#include <time.h>

#define MOST 8u

static void serve_text(struct request *q, void *ctx)
{
    (void)ctx;
    request_answer(q, 200, "text/plain", "ok\n", 3, NULL);
}

static const struct route routes[] = {
    {"GET", "/text", LISTEN_ANYONE, 0, serve_text, NULL},
    {"POST", "/text", LISTEN_ANYONE, 100, serve_text, NULL}};

/* Nobody who connects here is one of them. */
static const char *const elsewhere[] = {"192.0.2.1", NULL};
static const char *const second[] = {"192.0.2.1", "127.0.0.2/31", NULL};

static struct listen_options options(const char *const *exempt)
{
    return (struct listen_options){.size = sizeof(struct listen_options),
                                   .address = "127.0.0.1:0",
                                   .routes = routes,
                                   .nroutes = 2,
                                   .loops = 2,
                                   .connections = 200,
                                   .address_connections = MOST,
                                   .exempt = exempt,
                                   .head_seconds = 60,
                                   .body_seconds = 60,
                                   .idle_seconds = 60,
                                   .inflight_bytes = 1u << 20};
}

static struct listener *serve(const struct listen_options *o)
{
    struct listener *l;

    if (listen_open(&l, o, NULL) != HSY_OK || listen_start(l, NULL) != HSY_OK)
        abort();
    return l;
}

static int dial_as(const struct listener *l, const char *address)
{
    struct sockaddr_in from = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    inet_pton(AF_INET, address, &from.sin_addr);
    if (bind(fd, (struct sockaddr *)&from, sizeof from) != 0)
        abort();
    dial_from(fd, l);
    return fd;
}

static void await_connections(const struct listener *l, uint64_t n)
{
    struct listen_status now;

    do {
        usleep(1000);
        listen_status(l, &now);
    } while (now.connections != n);
}

/* Whether somebody of this address is answered. */
static bool answered(const struct listener *l, const char *address)
{
    int fd = dial_as(l, address);

    say(fd, HEAD("GET /text") "\r\n", strlen(HEAD("GET /text") "\r\n"));
    return begins(hear(fd), "HTTP/1.1 200 ");
}

static void crowd_of(const struct listener *l, const char *address, int *fds,
                     unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        fds[i] = dial_as(l, address);
    await_connections(l, n);
}

static void an_address_has_so_many(void)
{
    const struct listen_options o = options(elsewhere);
    struct listener *l = serve(&o);
    struct listen_status now;
    int fds[MOST];

    crowd_of(l, "127.0.0.1", fds, MOST);
    ok(!answered(l, "127.0.0.1"), "an address that has all of its connections "
                                  "gets no further one");
    listen_status(l, &now);
    ok(eq_u64(now.refused, 1) && eq_u64(now.connections, MOST),
       "which is counted");
    ok(answered(l, "127.0.0.2") && answered(l, "127.9.9.9"),
       "other addresses are served");
    close(fds[0]);
    await_connections(l, MOST - 1);
    ok(answered(l, "127.0.0.1"), "as is this one when one of them has ended");
    for (unsigned i = 1; i < MOST; i++)
        close(fds[i]);
    await_connections(l, 0);
    crowd_of(l, "127.0.0.1", fds, MOST);
    ok(true, "all that have ended are given back");
    for (unsigned i = 0; i < MOST; i++)
        close(fds[i]);
    listen_close(l);
}

static void some_are_exempt(void)
{
    const struct listen_options own = options(NULL), given = options(second);
    struct listener *l = serve(&own);
    int fds[2 * MOST];

    crowd_of(l, "127.0.0.1", fds, 2 * MOST);
    ok(answered(l, "127.0.0.1"), "loopback is exempt if nothing is said");
    for (unsigned i = 0; i < 2 * MOST; i++)
        close(fds[i]);
    listen_close(l);
    l = serve(&given);
    crowd_of(l, "127.0.0.3", fds, 2 * MOST);
    ok(answered(l, "127.0.0.2"), "else the networks that are named");
    for (unsigned i = 0; i < 2 * MOST; i++)
        close(fds[i]);
    await_connections(l, 0);
    crowd_of(l, "127.0.0.4", fds, MOST);
    ok(!answered(l, "127.0.0.4"), "and no others");
    for (unsigned i = 0; i < MOST; i++)
        close(fds[i]);
    listen_close(l);
}

/* Whether a socket of IPv6 also takes IPv4. */
static bool both_kinds(void)
{
    FILE *f = fopen("/proc/sys/net/ipv6/bindv6only", "re");
    const bool both = f != NULL && fgetc(f) == '0';

    if (f != NULL)
        fclose(f);
    return both;
}

/* Those of IPv4 come to a socket of both kinds as IPv6 maps them, all in one
 * network of 64 bits: they are told apart all the same. */
static void both_kinds_are_counted(void)
{
    struct listen_options o = options(elsewhere);
    struct listener *l;
    int fds[MOST];

    o.address = "[::]:0";
    if (!both_kinds() || listen_open(&l, &o, NULL) != HSY_OK) {
        tap_skip("no IPv6 here");
        return;
    }
    if (listen_start(l, NULL) != HSY_OK)
        abort();
    crowd_of(l, "127.0.0.1", fds, MOST);
    ok(!answered(l, "127.0.0.1") && answered(l, "127.0.0.2"),
       "an address of IPv4 is itself on a socket of IPv6 too");
    for (unsigned i = 0; i < MOST; i++)
        close(fds[i]);
    listen_close(l);
}

static void socket_files_are_exempt(void)
{
    char directory[] = "/tmp/hsy-crowd-XXXXXX", address[128];
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct listen_options o = options(elsewhere);
    struct listener *l;
    int fds[2 * MOST];

    if (mkdtemp(directory) == NULL)
        abort();
    snprintf(to.sun_path, sizeof to.sun_path, "%s/s", directory);
    snprintf(address, sizeof address, "unix:%s", to.sun_path);
    o.address = address;
    l = serve(&o);
    for (unsigned i = 0; i < 2 * MOST; i++) {
        fds[i] = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(fds[i], (struct sockaddr *)&to, sizeof to) != 0)
            abort();
    }
    await_connections(l, 2 * MOST);
    ok(true, "who comes by a socket file is not counted");
    for (unsigned i = 0; i < 2 * MOST; i++)
        close(fds[i]);
    listen_close(l);
    rmdir(directory);
}

/* Heads and bodies have a minute here; the test has half of one. */
static void slowness_makes_room(const char *said, const char *what)
{
    struct listen_options o = options(NULL);
    struct listener *l;
    struct timespec from, to;
    int fds[4];

    o.loops = 1;
    o.connections = 3; /* and one */
    l = serve(&o);
    for (int i = 0; i < 4; i++) {
        fds[i] = dial_as(l, "127.0.0.1");
        say(fds[i], said, strlen(said));
    }
    await_connections(l, 4);
    clock_gettime(CLOCK_MONOTONIC, &from);
    ok(answered(l, "127.0.0.1"),
       "where all connections are taken by %s, another one is served", what);
    clock_gettime(CLOCK_MONOTONIC, &to);
    ok(to.tv_sec - from.tv_sec < 30, "long before their time is up: %ld s",
       (long)(to.tv_sec - from.tv_sec));
    for (int i = 0; i < 4; i++)
        close(fds[i]);
    listen_close(l);
}

static void networks_are_read(void)
{
    static const char *const
        good[] = {"10.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "127.0.0.1/32",
                  "::1",      "fd00::/8",   "::/0",      "2001:db8::/33"},
        *const bad[] = {
            "",     "10.0.0",      "10.0.0.0/", "10.0.0.0/33", "fd00::/129",
            "host", "10.0.0.0/8x", "/8",        "::1/-1",      "10.0.0.0/ 8"};

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ok(listen_is_network(good[i]), "'%s' is a network", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(!listen_is_network(bad[i]), "'%s' is none", bad[i]);
}

/* ---- Which addresses are one --------------------------------------------- */

/* The counters of an address of either kind, as one number; 0: none. */
static uint64_t counters(const struct listener *l, const char *address)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    const bool is_four = inet_pton(AF_INET, address, &four.sin_addr) == 1;
    uint32_t places[2];

    if (!is_four && inet_pton(AF_INET6, address, &six.sin6_addr) != 1)
        abort();
    if (!crowd_places(l->crowd, places,
                      is_four ? (const struct sockaddr *)&four
                              : (const struct sockaddr *)&six))
        return 0;
    return ((uint64_t)places[0] << 32 | places[1]) + 1;
}

/* Loopback has one address of IPv6, so this is about numbers. Two addresses
 * that are not one share both counters once in 2^32. */
static void a_network_of_64_bits_is_one(void)
{
    static const char *const networks[] = {
        "2001:db8:0:1::", "2001:db8:0:2::", "2001:db8:1:1::",
        "2001:db9:0:1::", "fd00:1:2:3::",   "fd00:1:2:4::"};
    static const char *const hosts[] = {"1", "2", "ffff:ffff:ffff:ffff",
                                        "8000:0:0:1"};
    static const char *const exempt[] = {"2001:db8:0:9::/64", NULL};
    const struct listen_options o = options(exempt);
    struct listener *l = serve(&o);
    uint64_t first[6];
    bool one = true, apart = true;
    char address[64];

    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 4; k++) {
            const bool whole = strlen(hosts[k]) > 4;

            snprintf(address, sizeof address, "%.*s%s",
                     (int)strlen(networks[i]) - (whole ? 1 : 0), networks[i],
                     hosts[k]);
            if (k == 0)
                first[i] = counters(l, address);
            one &= counters(l, address) == first[i] && first[i] != 0;
        }
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < i; k++)
            apart &= first[i] != first[k];
    ok(one, "all addresses of an IPv6 network of 64 bits are one");
    ok(apart, "networks that differ in a bit of these are not");
    ok(counters(l, "192.0.2.7") != counters(l, "192.0.2.8") &&
           eq_u64(counters(l, "192.0.2.7"), counters(l, "::ffff:192.0.2.7")),
       "each of IPv4 is one, also as IPv6 maps it");
    is_u64(counters(l, "2001:db8:0:9::77"), 0, "who is exempt is not counted");
    listen_close(l);
}

int main(void)
{
    a_network_of_64_bits_is_one();
    an_address_has_so_many();
    some_are_exempt();
    both_kinds_are_counted();
    socket_files_are_exempt();
    slowness_makes_room("", "silence");
    slowness_makes_room("GET /te", "heads");
    slowness_makes_room(HEAD("POST /text") "Content-Length: 9\r\n\r\nx",
                        "bodies");
    networks_are_read();
    return tap_done();
}
