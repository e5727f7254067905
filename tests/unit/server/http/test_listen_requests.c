/*
 * test_listen_requests.c - requests in a row on one connection, in whatever
 * pieces: where each ends, when the connection does, and what is said between.
 */
#define _GNU_SOURCE
#include "rig/listen_client.h"
#include "tap.h"

#include <time.h>

#define GET "GET /text HTTP/1.1\r\nHost: x\r\n"
#define POST "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: "
#define LAST GET "Connection: close\r\n\r\n"

static void serve_text(struct request *q, void *ctx)
{
    (void)ctx;
    request_answer(q, 200, "text/plain", "text", 4, NULL);
}

static void serve_echo(struct request *q, void *ctx)
{
    size_t len;
    uint8_t *body = request_take_body(q, &len);

    (void)ctx;
    request_answer(q, 200, "text/plain", body, len, free);
}

static void serve_nothing(struct request *q, void *ctx)
{
    (void)ctx;
    request_answer(q, 204, NULL, NULL, 0, NULL);
}

static void serve_query(struct request *q, void *ctx)
{
    static const char *const known[] = {"a", "b", NULL};
    const char *a = request_query(q, "a");
    char *text;

    (void)ctx;
    if (a != NULL)
        request_set(q, "X-Of-Ours", a);
    if (asprintf(&text, "%s %d", a == NULL ? "-" : a,
                 request_query_only(q, known)) < 0)
        abort();
    request_answer(q, 200, "text/plain", text, strlen(text), free);
}

static const struct route routes[] = {
    {"GET", "/text", LISTEN_ANYONE, 0, serve_text, NULL},
    {"GET", "/query", LISTEN_ANYONE, 0, serve_query, NULL},
    {"GET", "/nothing", LISTEN_ANYONE, 0, serve_nothing, NULL},
    {"POST", "/echo", LISTEN_ANYONE, 100000, serve_echo, NULL}};

static struct listener *serve(void)
{
    const struct listen_options o = {.size = sizeof o,
                                     .address = "127.0.0.1:0",
                                     .routes = routes,
                                     .nroutes = sizeof routes / sizeof *routes,
                                     .loops = 1,
                                     .connections = 100,
                                     .head_seconds = 60,
                                     .body_seconds = 60,
                                     .idle_seconds = 60,
                                     .inflight_bytes = 1 << 20};
    struct listener *l;

    if (listen_open(&l, &o, NULL) != HSY_OK || listen_start(l, NULL) != HSY_OK)
        abort();
    return l;
}

/* What comes up to a text, which comes. */
static const char *await_text(int fd, const char *text)
{
    static char all[4096];
    size_t len = 0;
    ssize_t n = 1;

    do {
        all[len] = 0;
        if (strstr(all, text) != NULL)
            return all;
        n = recv(fd, all + len, sizeof all - 1 - len, 0);
        len += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    return all;
}

static void answers_many_at_once(const struct listener *l)
{
    static char text[1 << 17];
    const char *a;
    size_t len = 0;
    unsigned good = 0;

    for (unsigned i = 0; i < 1000; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                POST "4\r\n\r\n%04u", i);
    snprintf(text + len, sizeof text - len, LAST);
    a = ask(l, text);
    for (unsigned i = 0; i < 1000; i++) {
        char body[16];

        snprintf(body, sizeof body, "\r\n\r\n%04uHTTP", i);
        a = strstr(a, body);
        if (a == NULL)
            break;
        good++;
    }
    is_u64(good, 1000,
           "answers 1,000 requests that are sent at once, in their order");
}

static void answers_in_pieces(const struct listener *l)
{
    static const char text[] =
        POST "5\r\n\r\nhello" GET "\r\n" POST "0\r\n\r\n" LAST;
    const char *a;
    int fd = dial(l);

    for (size_t i = 0; i < sizeof text - 1; i++) {
        say(fd, text + i, 1);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    a = hear(fd);
    ok(eq_u64(times(a, "HTTP/1.1 200 OK\r\n"), 4) &&
           eq_u64(times(a, "\r\n\r\nhelloHTTP"), 1),
       "answers requests that come byte by byte");
}

/* Bodies that fit behind their heads, just do not, and do not by far. */
static void reads_bodies_of_any_length(const struct listener *l)
{
    static const size_t lengths[] = {1, 8000, 8192, 16384, 16385, 99999};
    static char text[110000], body[100000];

    memset(body, 'y', sizeof body);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const int len = snprintf(text, sizeof text, POST "%zu\r\n\r\n%.*s" LAST,
                                 lengths[i], (int)lengths[i], body);
        const char *a = ask(l, text);
        const char *first = strstr(a, "\r\n\r\n");

        ok(len > 0 && first != NULL &&
               eq_u64(strspn(first + 4, "y"), lengths[i]) &&
               eq_u64(times(a, "HTTP/1.1 200"), 2),
           "reads a body of %zu bytes, and the request behind it", lengths[i]);
    }
}

static void ends_where_it_says(const struct listener *l)
{
    const char *a = ask(l, POST "3\r\n\r\nabcdef\r\n\r\n" LAST);

    ok(begins(a, "HTTP/1.1 200 ") && eq_u64(times(a, "HTTP/1.1 400"), 1) &&
           eq_u64(times(a, "HTTP/1.1 "), 2),
       "takes what is longer than announced for a request, which it refuses");
    a = ask(l, POST "3\r\n\r\nabc\r\n" LAST);
    is_u64(times(a, "HTTP/1.1 200"), 2, "skips an empty line after a body");
    a = ask(l, POST "3\r\n\r\nabc\r\n\r\n" LAST);
    ok(eq_u64(times(a, "HTTP/1.1 200"), 1) &&
           eq_u64(times(a, "HTTP/1.1 400"), 1),
       "skips no second one");
}

static void wants_what_it_takes(const struct listener *l)
{
    static const char continues[] = "HTTP/1.1 100 Continue\r\n\r\n";
    static const char expects[] = "Expect: 100-continue\r\n";
    char text[256];
    const char *a;
    int fd = dial(l);

    snprintf(text, sizeof text, POST "5\r\n%sConnection: close\r\n\r\n",
             expects);
    say(fd, text, strlen(text));
    is_text(await_text(fd, continues), continues,
            "says 100 to a sender who waits for it");
    say(fd, "hello", 5);
    a = hear(fd);
    ok(begins(a, "HTTP/1.1 200 ") && strstr(a, "hello") != NULL,
       "reads the body after that");
    fd = dial(l);
    snprintf(text, sizeof text, POST "100001\r\n%s\r\n", expects);
    say(fd, text, strlen(text));
    a = hear(fd);
    ok(begins(a, "HTTP/1.1 413 ") && eq_u64(times(a, "HTTP/1.1 "), 1),
       "says no 100 to a sender whose body is refused");
    snprintf(text, sizeof text, POST "5\r\n%sConnection: close\r\n\r\nhello",
             expects);
    a = ask(l, text);
    ok(begins(a, "HTTP/1.1 200 "), "says no 100 if the body is there already");
}

static void closes_when_it_says(const struct listener *l)
{
    const char *a = ask(l, "GET /text HTTP/1.0\r\n\r\n" LAST);

    ok(eq_u64(times(a, "HTTP/1.1 200"), 1) &&
           strstr(a, "\r\nConnection: close\r\n") != NULL,
       "closes after a request of HTTP/1.0");
    a = ask(l, "GET /text HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n" LAST);
    ok(eq_u64(times(a, "HTTP/1.1 200"), 2) &&
           eq_u64(times(a, "\r\nConnection: keep-alive\r\n"), 1),
       "goes on after one that asks for it");
    a = ask(l, GET "Connection: x, Close\r\n\r\n" LAST);
    ok(eq_u64(times(a, "HTTP/1.1 200"), 1) &&
           strstr(a, "\r\nConnection: close\r\n") != NULL,
       "closes after a request that asks for it");
}

static void says_what_an_answer_is(const struct listener *l)
{
    const char *a = ask(l, GET "\r\n" LAST), *date = strstr(a, "\r\nDate: ");
    struct tm t = {0};
    const char *end = date == NULL
                          ? NULL
                          : strptime(date + 8, "%a, %d %b %Y %H:%M:%S GMT", &t);
    const time_t now = time(NULL), then = timegm(&t);

    ok(end != NULL && begins(end, "\r\n") && then <= now && then > now - 60,
       "an answer has its date");
    a = ask(l, "HEAD /text HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    ok(strstr(a, "\r\nContent-Length: 4\r\n") != NULL &&
           strstr(a, "\r\n\r\n") + 4 == a + strlen(a),
       "the answer to HEAD has a length and no body");
    a = ask(l, "GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    ok(begins(a, "HTTP/1.1 204 No Content\r\n") &&
           strstr(a, "Content-Length") == NULL,
       "a 204 has no length");
}

static void sets_whole_headers(const struct listener *l)
{
    const char *a = ask(l, "GET /query?a=b%20c HTTP/1.1\r\nHost: x\r\n"
                           "Connection: close\r\n\r\n");

    ok(strstr(a, "\r\nX-Of-Ours: b c\r\n") != NULL, "sets a header");
    a = ask(l, "GET /query?a=b%0d%0aX-Of-Others:c HTTP/1.1\r\nHost: x\r\n"
               "Connection: close\r\n\r\n");
    ok(begins(a, "HTTP/1.1 200 ") &&
           strstr(a, "\r\nX-Of-") > strstr(a, "\r\n\r\n"), /* the body */
       "drops a header whose value has an end of line");
}

static void reads_queries(const struct listener *l)
{
    static const struct {
        const char *query, *says;
    } cases[] = {{"", "- 1"},          {"?", "- 1"},
                 {"?a=1", "1 1"},      {"?b=2&a=x%20y+z", "x y z 1"},
                 {"?a", "- 1"},        {"?a=", " 1"},
                 {"?c=1&a=2", "2 0"},  {"?a=1&a=2", "1 0"},
                 {"?%61=%2", "%2 1"},  {"?a=%00", "%00 1"},
                 {"?a=1&&b=2", "1 0"}, {"?a=1&", "1 1"},
                 {"?a=b=c", "b=c 1"}};
    char text[256];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *a;

        snprintf(
            text, sizeof text,
            "GET /query%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            cases[i].query);
        a = strstr(ask(l, text), "\r\n\r\n");
        is_text(a == NULL ? NULL : a + 4, cases[i].says, "reads the query '%s'",
                cases[i].query);
    }
}

int main(void)
{
    struct listener *l = serve();

    answers_many_at_once(l);
    answers_in_pieces(l);
    reads_bodies_of_any_length(l);
    ends_where_it_says(l);
    wants_what_it_takes(l);
    closes_when_it_says(l);
    says_what_an_answer_is(l);
    sets_whole_headers(l);
    reads_queries(l);
    listen_close(l);
    return tap_done();
}
