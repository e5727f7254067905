/*
 * test_ask.c - requests to another server, one at a time: by a connection that
 * is kept, by another if that is gone, and never for longer than was said.
 */
#define _GNU_SOURCE
#include "server/peer/ask.h"
#include "tap.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/* A server that does with each connection what is said, one after the other. */
struct peer {
    int fd;
    pthread_t thread;
    const char *const *script; /* of each connection, ended by NULL: */
    unsigned connections;
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

static struct ask *peer_open(struct peer *p, struct target *to,
                             const char *const *script, uint32_t seconds)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    struct ask_options o = {.size = sizeof o,
                            .to = to,
                            .connect_seconds = 5,
                            .answer_seconds = seconds};
    struct ask *a = NULL;
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
        ask_open(&a, &o, &err) != HSY_OK)
        return NULL;
    return a;
}

static void peer_close(struct peer *p, struct target *to, struct ask *a)
{
    ask_close(a);
    shutdown(p->fd, SHUT_RDWR);
    pthread_join(p->thread, NULL);
    close(p->fd);
    target_close(to);
}

static enum ask_outcome peer_asked(struct ask *a, size_t len,
                                   struct ask_answer *out)
{
    uint8_t *body = calloc(1, len);
    const enum ask_outcome so = ask_post(a, body, len, out);

    free(body);
    return so;
}

static void a_connection_is_kept(void)
{
    static const char *const script[] = {"apa", "a", NULL};
    struct ask_answer got;
    struct target to;
    struct peer p;
    struct ask *a = peer_open(&p, &to, script, 60);

    for (size_t i = 0; i < 4; i++)
        ok(a != NULL && peer_asked(a, 100, &got) == ASK_ANSWERED &&
               got.status == 200 && got.len == 2 &&
               memcmp(got.body, "ok", 2) == 0,
           "request %zu is answered", i + 1);
    is_u64(p.connections, 2,
           "by one connection, and when it was closed "
           "another");
    peer_close(&p, &to, a);
}

static void large_bodies_go_through(void)
{
    static const char *const script[] = {"aa", "e", "a", NULL};
    struct ask_answer got;
    struct target to;
    struct peer p;
    struct ask *a = peer_open(&p, &to, script, 60);

    ok(peer_asked(a, 4u << 20, &got) == ASK_ANSWERED &&
           peer_asked(a, 1, &got) == ASK_ANSWERED,
       "4 MiB, and then a byte");
    (void)peer_asked(a, 16u << 20, &got); /* answered early, or cut */
    ok(peer_asked(a, 1, &got) == ASK_ANSWERED,
       "an answer that comes too early does not spoil the next");
    peer_close(&p, &to, a);
}

static void what_goes_wrong_is_said(void)
{
    static const char *const script[] = {"c", "x", "s", NULL};
    struct ask_answer got;
    struct target to;
    struct peer p;
    struct ask *a = peer_open(&p, &to, script, 1);

    is_int(peer_asked(a, 1, &got), ASK_BROKEN, "closed without a word");
    is_int(peer_asked(a, 1, &got), ASK_STRANGE, "another protocol");
    is_int(peer_asked(a, 1, &got), ASK_SLOW, "no answer in time");
    peer_close(&p, &to, a);
}

static void nobody_is_there(void)
{
    static const char *const script[] = {NULL};
    struct ask_answer got;
    struct target to;
    struct peer p;
    struct ask *a = peer_open(&p, &to, script, 60);

    shutdown(p.fd, SHUT_RDWR);
    close(p.fd);
    pthread_join(p.thread, NULL);
    is_int(peer_asked(a, 1, &got), ASK_NO_LINK, "nobody listens");
    ask_close(a);
    target_close(&to);
}

static void *stopping(void *a)
{
    usleep(20000);
    ask_stop(a);
    return NULL;
}

static void it_stops_when_told(void)
{
    static const char *const script[] = {"s", NULL};
    struct ask_answer got;
    struct target to;
    struct peer p;
    struct ask *a = peer_open(&p, &to, script, 3600);
    pthread_t other;

    pthread_create(&other, NULL, stopping, a);
    is_int(peer_asked(a, 1, &got), ASK_STOPPED, "a request that waits ends");
    is_int(peer_asked(a, 1, &got), ASK_STOPPED, "and so does the next");
    pthread_join(other, NULL);
    peer_close(&p, &to, a);
}

int main(void)
{
    a_connection_is_kept();
    large_bodies_go_through();
    what_goes_wrong_is_said();
    nobody_is_there();
    it_stops_when_told();
    return tap_done();
}
