/*
 * test_http_client.c - requests to another server: by connections that are
 * kept, by another if one is gone, never for longer than was said, and of
 * several at once no more than there may be.
 */
#define _GNU_SOURCE
#include "server/peer/http_client.h"
#include "tap.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define STREAMS 5u

/* A server that does with each connection what is said, one after the other. */
struct peer {
    int fd;
    pthread_t thread;
    const char *const *script; /* of each connection, ended by NULL: */
    _Atomic unsigned connections;
};
/* "a": answer; "p": answer in two parts; "c": close; "s": stay silent; "x":
 * nonsense; "e": answer before the body has come, and close. */

static size_t peer_length(const char *head)
{
    const char *at = strcasestr(head, "content-length: ");

    return at != NULL ? strtoul(at + 16, NULL, 10) : 0;
}

/* A whole request; false: the other side is gone. */
static bool peer_hears(int fd, bool body)
{
    char head[4096];
    size_t len = 0, want = sizeof head;

    while (len < want) {
        const char *end;
        ssize_t n = recv(fd, head + len, 1, 0);

        if (n <= 0)
            return false;
        len += (size_t)n;
        end = memmem(head, len, "\r\n\r\n", 4);
        if (end != NULL)
            break;
    }
    head[len < sizeof head ? len : len - 1] = '\0';
    for (size_t left = body ? peer_length(head) : 0; left != 0;) {
        const ssize_t n =
            recv(fd, head, left < sizeof head ? left : sizeof head, 0);

        if (n <= 0)
            return false;
        left -= (size_t)n;
    }
    return true;
}

static void peer_says(int fd, const char *text, size_t len)
{
    (void)!send(fd, text, len, MSG_NOSIGNAL); /* it may be gone */
}

static void peer_serves(int fd, const char *script)
{
    for (; *script != '\0'; script++) {
        if (*script == 'c')
            return;
        if (!peer_hears(fd, *script != 'e'))
            return;
        if (*script == 'a' || *script == 'e')
            peer_says(fd, ANSWER, sizeof ANSWER - 1);
        if (*script == 'p') {
            peer_says(fd, ANSWER, 20);
            usleep(2000);
            peer_says(fd, &ANSWER[20], sizeof ANSWER - 21);
        }
        if (*script == 'x')
            peer_says(fd, "SMTP ready\r\n\r\n", 14);
        if (*script == 'e')
            return;
        while (*script == 's') {
            char byte;

            if (recv(fd, &byte, 1, 0) <= 0)
                return;
        }
    }
}

static void *peer_main(void *ctx)
{
    struct peer *p = ctx;

    for (; *p->script != NULL; p->script++) {
        const int fd = accept(p->fd, NULL, NULL);

        if (fd == -1)
            break;
        p->connections++;
        peer_serves(fd, *p->script);
        shutdown(fd, SHUT_RDWR);
        close(fd);
    }
    return NULL;
}

static struct client *peer_open(struct peer *p, struct target *to,
                                const char *const *script, uint32_t seconds)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    struct client_options o = {.size = sizeof o,
                               .target = to,
                               .connections = 1,
                               .answer_seconds = seconds,
                               .body_bytes = 65536};
    struct client *c = NULL;
    hsy_error err;
    char url[64];

    *p = (struct peer){.fd = socket(AF_INET, SOCK_STREAM, 0), .script = script};
    if (bind(p->fd, (struct sockaddr *)&at, len) == -1 ||
        listen(p->fd, 8) == -1 ||
        getsockname(p->fd, (struct sockaddr *)&at, &len) == -1)
        return NULL;
    snprintf(url, sizeof url, "http://127.0.0.1:%u", ntohs(at.sin_port));
    pthread_create(&p->thread, NULL, peer_main, p);
    if (target_open(to,
                    &(struct target_options){.url = url,
                                             .path = "/v1/batches",
                                             .type = "text/plain"},
                    &err) != HSY_OK ||
        client_open(&c, &o, &err) != HSY_OK)
        return NULL;
    return c;
}

static void peer_close(struct peer *p, struct target *to, struct client *c)
{
    client_close(c);
    shutdown(p->fd, SHUT_RDWR);
    pthread_join(p->thread, NULL);
    close(p->fd);
    target_close(to);
}

static enum client_outcome peer_asked(struct client *c, size_t len)
{
    uint8_t *body = calloc(1, len);
    struct response r;
    enum client_outcome outcome = client_post(c, body, len, &r);

    if (outcome == CLIENT_ANSWERED &&
        !(eq_u64(r.head.status, 200) && eq_u64(r.head.length, 2) &&
          eq_bytes(response_body(&r), "ok", 2)))
        outcome = CLIENT_OUTCOMES;
    response_clear(&r);
    free(body);
    return outcome;
}

static void keeps_a_connection(void)
{
    static const char *const script[] = {"apa", "a", NULL};
    struct target to;
    struct peer p;
    struct client *c = peer_open(&p, &to, script, 60);

    for (size_t i = 0; i < 4; i++)
        is_int(peer_asked(c, 100), CLIENT_ANSWERED, "request %zu is answered",
               i + 1);
    is_u64(p.connections, 2,
           "a connection is kept, and replaced when it was closed");
    peer_close(&p, &to, c);
}

static void sends_large_bodies(void)
{
    static const char *const script[] = {"aa", "e", "a", NULL};
    struct target to;
    struct peer p;
    struct client *c = peer_open(&p, &to, script, 60);

    is_int(peer_asked(c, 4u << 20), CLIENT_ANSWERED, "sends 4 MiB");
    is_int(peer_asked(c, 1), CLIENT_ANSWERED, "sends a byte after 4 MiB");
    (void)peer_asked(c, 16u << 20); /* answered early, or cut */
    is_int(peer_asked(c, 1), CLIENT_ANSWERED,
           "a response that comes too early does not spoil the next");
    peer_close(&p, &to, c);
}

static void says_what_went_wrong(void)
{
    static const char *const script[] = {"c", "x", "s", NULL};
    struct target to;
    struct peer p;
    struct client *c = peer_open(&p, &to, script, 1);

    is_int(peer_asked(c, 1), CLIENT_BROKEN,
           "a connection that is closed without a word is broken");
    is_int(peer_asked(c, 1), CLIENT_PROTOCOL_ERROR,
           "another protocol is a protocol error");
    is_int(peer_asked(c, 1), CLIENT_TIMEOUT, "no response in time: timeout");
    ok(to.reached && eq_int(target_failure(&to), TARGET_REACHED),
       "the target was reached by the last attempt");
    peer_close(&p, &to, c);
}

static void nobody_listens(void)
{
    static const char *const script[] = {NULL};
    struct target to;
    struct peer p;
    struct client *c = peer_open(&p, &to, script, 60);

    shutdown(p.fd, SHUT_RDWR);
    close(p.fd);
    pthread_join(p.thread, NULL);
    is_int(peer_asked(c, 1), CLIENT_UNREACHABLE,
           "a target where nobody listens is unreachable");
    ok(!to.reached && eq_int(target_failure(&to), TARGET_NO_CONNECTION),
       "the target knows why");
    client_close(c);
    target_close(&to);
}

static void *stopping(void *c)
{
    usleep(20000);
    client_stop(c);
    return NULL;
}

static void stops(void)
{
    static const char *const script[] = {"s", NULL};
    struct target to;
    struct peer p;
    struct client *c = peer_open(&p, &to, script, 3600);
    pthread_t other;

    pthread_create(&other, NULL, stopping, c);
    is_int(peer_asked(c, 1), CLIENT_STOPPED,
           "client_stop ends a request that waits");
    is_int(peer_asked(c, 1), CLIENT_STOPPED, "client_stop ends later requests");
    pthread_join(other, NULL);
    peer_close(&p, &to, c);
}

/* ---- Several at once ----------------------------------------------------- */

struct stream {
    struct exchange exchange; /* the first */
    enum client_outcome outcome;
    bool done;
};

static void stream_done(struct exchange *x, enum client_outcome outcome,
                        struct response *r)
{
    struct stream *s = (struct stream *)x;

    (void)r;
    s->outcome = outcome;
    s->done = true;
}

static bool stream_admit(struct exchange *x, uint64_t length)
{
    (void)x;
    return length != 2;
}

/* Submits them all; returns how many ended so. */
static unsigned streams(struct client *c, struct stream *s, unsigned n,
                        bool (*admit)(struct exchange *, uint64_t),
                        enum client_outcome outcome)
{
    unsigned left = n, so = 0;

    for (unsigned i = 0; i < n; i++) {
        s[i] = (struct stream){.exchange = {.body = (const uint8_t *)"x",
                                            .len = 1,
                                            .admit = admit,
                                            .done = stream_done}};
        client_submit(c, &s[i].exchange);
    }
    while (left != 0 && client_turn(c)) {
        left = 0;
        for (unsigned i = 0; i < n; i++)
            left += !s[i].done;
    }
    for (unsigned i = 0; i < n; i++)
        so += s[i].done && s[i].outcome == outcome;
    return so;
}

static void waits_for_a_connection(void)
{
    static const char *const script[] = {"aaaaaa", NULL};
    struct client_status status = {0};
    struct stream s[STREAMS];
    struct target to;
    struct peer p;
    struct client *c = peer_open(&p, &to, script, 60);

    is_u64(streams(c, s, STREAMS, NULL, CLIENT_ANSWERED), STREAMS,
           "exchanges wait for the one connection there may be");
    client_status(c, &status);
    ok(eq_u64(status.connections, 1) && eq_u64(status.opened, 1) &&
           eq_u64(status.waiting, 0),
       "the status counts connections and what waits");
    peer_close(&p, &to, c);
}

static void does_not_read_what_is_not_admitted(void)
{
    static const char *const script[] = {"a", "aa", NULL};
    struct stream s[1];
    struct target to;
    struct peer p;
    struct client *c = peer_open(&p, &to, script, 60);

    is_u64(streams(c, s, 1, stream_admit, CLIENT_BUSY), 1,
           "a response that is not admitted ends as busy");
    is_u64(streams(c, s, 1, NULL, CLIENT_ANSWERED), 1,
           "the next exchange has another connection");
    is_u64(p.connections, 2, "the connection of a refused response is closed");
    peer_close(&p, &to, c);
}

static void ends_what_is_left(void)
{
    static const char *const script[] = {"s", NULL};
    struct stream s[2] = {0};
    struct target to;
    struct peer p;
    struct client *c = peer_open(&p, &to, script, 3600);
    unsigned turns = 0;

    for (unsigned i = 0; i < 2; i++) {
        s[i].exchange = (struct exchange){
            .body = (const uint8_t *)"x", .len = 1, .done = stream_done};
        client_submit(c, &s[i].exchange);
        while (i == 0 && p.connections == 0 && turns++ < 1000)
            (void)client_turn(c);
    }
    peer_close(&p, &to, c);
    ok(s[0].done && eq_int(s[0].outcome, CLIENT_STOPPED) && s[1].done &&
           eq_int(s[1].outcome, CLIENT_STOPPED),
       "client_close ends what is on its way and what waits");
}

int main(void)
{
    keeps_a_connection();
    sends_large_bodies();
    says_what_went_wrong();
    nobody_listens();
    stops();
    waits_for_a_connection();
    does_not_read_what_is_not_admitted();
    ends_what_is_left();
    return tap_done();
}
