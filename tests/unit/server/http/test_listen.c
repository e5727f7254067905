/* test_listen.c - a listener in this process, spoken to over real sockets. */
#define _GNU_SOURCE
#include "rig/listen_client.h"
#include "tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- What is served ------------------------------------------------------ */

static pthread_t later_threads[64];
static atomic_uint later_count;

static void *later_answer(void *arg)
{
    request_answer(arg, 204, NULL, NULL, 0, NULL);
    return NULL;
}

/* Answered by another thread, before or after the handler returns. */
static void serve_later(struct request *q, void *ctx)
{
    (void)ctx;
    if (pthread_create(&later_threads[later_count++ % 64], NULL, later_answer,
                       q) != 0)
        abort();
}

static void serve_echo(struct request *q, void *ctx)
{
    size_t len;
    uint8_t *body = request_take_body(q, &len);

    (void)ctx;
    request_answer(q, 200, "application/octet-stream", body, len, free);
}

static void serve_text(struct request *q, void *ctx)
{
    (void)ctx;
    request_answer(q, 200, "text/plain", "ok\n", 3, NULL);
}

static void serve_names(struct request *q, void *ctx)
{
    const char *asked = request_query(q, "q");
    char *text;

    (void)ctx;
    if (asprintf(&text, "%s %s %s", request_segment(q, 0),
                 request_segment(q, 1), asked == NULL ? "-" : asked) < 0)
        abort();
    request_set(q, "X-Of-Ours", "yes");
    request_answer(q, 200, "text/plain", text, strlen(text), free);
}

static void serve_cut(struct request *q, void *ctx)
{
    (void)ctx;
    request_answer(q, 0, NULL, NULL, 0, NULL);
}

static void serve_problem(struct request *q, void *ctx)
{
    (void)ctx;
    request_problem(q, 422, "no \"good\"", "field %s", "x\ty");
}

static const struct route routes[] = {
    {"GET", "/text", LISTEN_ANYONE, 0, serve_text, NULL},
    {"POST", "/echo", LISTEN_ANYONE, 100000, serve_echo, NULL},
    {"POST", "/later", LISTEN_ANYONE, 1000, serve_later, NULL},
    {"GET", "/cut", LISTEN_ANYONE, 0, serve_cut, NULL},
    {"GET", "/problem", LISTEN_ANYONE, 0, serve_problem, NULL},
    {"GET", "/scrape", LISTEN_SCRAPER, 0, serve_text, NULL},
    {"PUT", "/operate", LISTEN_OPERATOR, 10, serve_echo, NULL},
    {"GET", "/of/*/and/*", LISTEN_ANALYST, 0, serve_names, NULL},
};

static enum listen_role role_of(void *ctx, const char *token)
{
    (void)ctx;
    return strcmp(token, "scraper") == 0    ? LISTEN_SCRAPER
           : strcmp(token, "analyst") == 0  ? LISTEN_ANALYST
           : strcmp(token, "operator") == 0 ? LISTEN_OPERATOR
                                            : LISTEN_ANYONE;
}

static const char *const origins[] = {"https://page.example", NULL};

static struct listen_options options(void)
{
    return (struct listen_options){.size = sizeof(struct listen_options),
                                   .address = "127.0.0.1:0",
                                   .routes = routes,
                                   .nroutes = sizeof routes / sizeof *routes,
                                   .loops = 2,
                                   .connections = 300,
                                   .head_seconds = 60,
                                   .body_seconds = 60,
                                   .idle_seconds = 60,
                                   .inflight_bytes = 1 << 20,
                                   .cors = origins,
                                   .role = role_of};
}

static struct listener *serve(const struct listen_options *o)
{
    struct listener *l;

    if (listen_open(&l, o, NULL) != HSY_OK || listen_start(l, NULL) != HSY_OK)
        abort();
    return l;
}

/* ---- Tests --------------------------------------------------------------- */

static void requests_are_answered(const struct listener *l)
{
    const char *a = ask(l, HEAD("GET /text") "\r\n");

    ok(begins(a, "HTTP/1.1 200 ") && strstr(a, "\r\n\r\nok\n") != NULL,
       "a route answers");
    ok(strcasestr(a, "\r\nserver:") == NULL &&
           strcasestr(a, "\r\netag:") == NULL &&
           strcasestr(a, "cookie") == NULL,
       "no answer names the server, a tag or a cookie");
    a = ask(l, HEAD("HEAD /text") "\r\n");
    ok(begins(a, "HTTP/1.1 200 ") && strstr(a, "\r\n\r\nok") == NULL,
       "HEAD has no body");
    a = ask(l, HEAD("POST /echo") "Content-Length: 5\r\n\r\nhello");
    ok(strstr(a, "\r\n\r\nhello") != NULL, "a body comes whole");
    a = ask(l, HEAD("POST /echo") "Content-Length: 0\r\n\r\n");
    ok(begins(a, "HTTP/1.1 200 "), "an empty body is one");
    a = ask(l, HEAD("POST /later") "Content-Length: 1\r\n\r\nx");
    ok(begins(a, "HTTP/1.1 204 "), "another thread answers");
    a = ask(l, HEAD("GET /cut") "\r\n");
    is_int(a[0], 0, "status 0 closes without a word");
    a = ask(l, HEAD("GET /problem") "\r\n");
    ok(begins(a, "HTTP/1.1 422 ") &&
           strstr(a, "application/problem+json") != NULL &&
           strstr(a, "\"title\":\"no \\\"good\\\"\"") != NULL &&
           strstr(a, "\"detail\":\"field x\\ty\"") != NULL,
       "a problem is JSON, escaped");
}

static void connections_are_kept(const struct listener *l)
{
    char text[20000] = "";
    const char *a;

    for (int i = 0; i < 50; i++)
        strcat(text, i % 2 ? "GET /text HTTP/1.1\r\nHost: x\r\n\r\n"
                           : "POST /later HTTP/1.1\r\nHost: x\r\n"
                             "Content-Length: 3\r\n\r\nabc");
    strcat(text, HEAD("GET /text") "\r\n");
    a = ask(l, text);
    ok(eq_u64(times(a, "HTTP/1.1 "), 51) &&
           eq_u64(times(a, "HTTP/1.1 204"), 25),
       "requests in a row on one connection are answered in order");
}

static void routes_are_matched(const struct listener *l)
{
    const char *a = ask(
        l, HEAD("GET /of/this/and/that?q=a%20b&q2=c") "Authorization: Bearer "
                                                      "analyst\r\n\r\n");

    ok(strstr(a, "\r\n\r\nthis that a b") != NULL &&
           strstr(a, "X-Of-Ours: yes") != NULL,
       "a star stands for a segment; a query is read");
    ok(begins(ask(l, HEAD("GET /of//and/x") "\r\n"), "HTTP/1.1 404 "),
       "an empty segment is none");
    ok(begins(ask(l, HEAD("GET /text/") "\r\n"), "HTTP/1.1 404 "), "404");
    ok(begins(ask(l, HEAD("GET /text%00") "\r\n"), "HTTP/1.1 404 "),
       "an escaped NUL ends nothing");
    a = ask(l, HEAD("DELETE /text") "\r\n");
    ok(begins(a, "HTTP/1.1 405 ") &&
           strstr(a, "\r\nAllow: GET, HEAD, OPTIONS\r\n") != NULL,
       "405 says what is allowed");
    a = ask(l, "GET /no HTTP/1.1\r\nHost: x\r\n\r\n" HEAD("GET /text") "\r\n");
    ok(eq_u64(times(a, "HTTP/1.1 404"), 1) &&
           eq_u64(times(a, "HTTP/1.1 200"), 1),
       "after a 404 the connection goes on");
}

static void roles_are_kept(const struct listener *l)
{
    const char *a = ask(l, HEAD("GET /scrape") "\r\n");

    ok(begins(a, "HTTP/1.1 401 ") &&
           strstr(a, "WWW-Authenticate: Bearer") != NULL,
       "without a token: 401");
    ok(begins(ask(l, HEAD("GET /scrape") "Authorization: Bearer x\r\n\r\n"),
              "HTTP/1.1 401 "),
       "with a wrong one: 401");
    ok(begins(
           ask(l,
               HEAD("GET /of/a/and/b") "Authorization: Bearer scraper\r\n\r\n"),
           "HTTP/1.1 403 "),
       "with too low a role: 403");
    ok(begins(
           ask(l, HEAD("GET /scrape") "Authorization: Bearer operator\r\n\r\n"),
           "HTTP/1.1 200 "),
       "a higher role may do what a lower may");
    a = ask(l, "PUT /operate HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n"
               "abc");
    ok(begins(a, "HTTP/1.1 401 ") && eq_u64(times(a, "HTTP/1.1 "), 1),
       "a body that may not be sent is not read: one answer, then closed");
}

/* Whatever leaves a doubt about where a request ends has one answer, an
 * error, and no second request on its connection is heard. */
static void doubts_end_the_connection(const struct listener *l)
{
    static const struct {
        const char *status, *text, *why;
    } cases[] = {
        {"400",
         "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
         "Content-Length: 3\r\n\r\nabc",
         "two lengths"},
        {"400",
         "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
         "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         "a length and chunks"},
        {"411",
         "POST /echo HTTP/1.1\r\nHost: x\r\n"
         "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         "chunks"},
        {"411",
         "POST /echo HTTP/1.1\r\nHost: x\r\n"
         "Transfer-Encoding: identity\r\n\r\n",
         "another coding"},
        {"400",
         "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\n"
         "abc",
         "a sign before the length"},
        {"400",
         "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3 \r\n\r\n"
         "abc",
         "a blank after the length"},
        {"400",
         "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3,3\r\n\r\n"
         "abc",
         "a list of lengths"},
        {"400", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n",
         "an empty length"},
        {"400",
         "POST /echo HTTP/1.1\r\nHost: x\r\n"
         "Content-Length: 99999999999999999999999\r\n\r\n",
         "a length beyond 64 bits"},
        {"413",
         "POST /echo HTTP/1.1\r\nHost: x\r\n"
         "Content-Length: 100001\r\n\r\n",
         "a body too large"},
        {"413", "GET /text HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx",
         "a body where there is none"},
        {"400", "GET /text HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
         "two hosts"},
        {"400", "GET /text HTTP/1.1\r\nA: b\r\n\r\n", "no host"},
        {"400", "GET /text HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\n\r\n",
         "an upgrade"},
        {"417",
         "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: more\r\n"
         "Content-Length: 3\r\n\r\nabc",
         "another expectation"},
        {"415",
         "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\n"
         "Content-Length: 3\r\n\r\nabc",
         "an encoding"},
        {"400", "GET /text HTTP/1.1\nHost: x\r\n\r\n",
         "a bare LF after the first line"},
        {"400", "GET /text HTTP/1.1\r\nHost: x\nA: b\r\n\r\n",
         "a bare LF between headers"},
        {"400", "GET /text HTTP/1.1\r\nHost: x\n\r\n",
         "a bare LF after the last header"},
        {"400", "GET /text HTTP/1.1\r\nHost: x\r\n\n", "a bare LF at the end"},
        {"400", "GET /text HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
         "a folded line"},
        {"400", "GET /text HTTP/1.1\r\nHost: x\r\nA: b\r\n\tc\r\nD: e\r\n\r\n",
         "a folded line and another"},
        {"400", "GET /text HTTP/1.1\r\nHost: x\r\nContent-Length : 0\r\n\r\n",
         "a blank before the colon"},
        {"400", "GET /text HTTP/1.1\r\nHost: x\r\nA: b \r\n\r\n",
         "a blank after a value"},
        {"400", "POST /echo HTTP/1.1\r\nHost: x\r\nContent_Length: 9\r\n\r\n",
         "a length in disguise"},
        {"400",
         "POST /echo HTTP/1.1\r\nHost: x\r\n"
         "TRANSFER_encoding: chunked\r\n\r\n",
         "a coding in disguise"},
        {"400", "GET /text HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n",
         "a bare CR"},
        {"400", "GET /text HTTP/1.1\r\n Host: x\r\n\r\n",
         "a blank before the first header"},
        {"400", "GET  /text HTTP/1.1\r\nHost: x\r\n\r\n",
         "two blanks in the first line"},
        {"400", "GET /text a HTTP/1.1\r\nHost: x\r\n\r\n",
         "a blank in the path"},
        {"400", "GET http://x/text HTTP/1.1\r\nHost: x\r\n\r\n", "a whole URL"},
        {"400", "G@T /text HTTP/1.1\r\nHost: x\r\n\r\n",
         "a method that is no word"},
        {"405", "BREW /text HTTP/1.1\r\nHost: x\r\n\r\n", "an unknown method"},
        {"404", "BREW /no HTTP/1.1\r\nHost: x\r\n\r\n",
         "an unknown method of an unknown path"},
    };
    char text[1024];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *a;

        snprintf(text, sizeof text, "%s%s", cases[i].text,
                 "GET /text HTTP/1.1\r\nHost: x\r\n\r\n");
        a = ask(l, text);
        ok(begins(a, "HTTP/1.1 ") &&
               eq_int(strncmp(a + 9, cases[i].status,
                              strcspn(cases[i].status, "x")),
                      0) &&
               eq_int(times(a, "HTTP/1.1 4"), 1) &&
               eq_int(times(a, "HTTP/1.1 2"), 0),
           "%s: %s and closed", cases[i].why, cases[i].status);
    }
}

static void a_nul_ends_the_connection(const struct listener *l)
{
    static const char text[] = "GET /text\0 HTTP/1.1\r\nHost: x\r\n\r\n"
                               "GET /text HTTP/1.1\r\nHost: x\r\n\r\n";
    int fd = dial(l);
    const char *a;

    say(fd, text, sizeof text - 1);
    a = hear(fd);
    ok(begins(a, "HTTP/1.1 400 ") && eq_int(times(a, "HTTP/1.1 2"), 0),
       "a NUL in the path: refused and closed");
}

static void heads_are_bounded(const struct listener *l)
{
    static char text[1 << 16];
    int fd = dial(l);
    const char *a;

    memset(text, 'a', sizeof text);
    say(fd, "GET /", 5);
    say(fd, text, sizeof text);
    a = hear(fd);
    ok(a[0] == 0 || begins(a, "HTTP/1.1 414 "), "an endless line is refused");
    fd = dial(l);
    say(fd, "GET / HTTP/1.1\r\nHost: x\r\nA: ", 28);
    say(fd, text, sizeof text);
    a = hear(fd);
    ok(a[0] == 0 || begins(a, "HTTP/1.1 431 "), "an endless header is refused");
}

static void refusals_arrive(const struct listener *l)
{
    static char body[60000];
    const char head[] = "POST /echo HTTP/1.1\r\nHost: x\r\n"
                        "Content-Length: 2000000000\r\n\r\n";
    int fd = dial(l);
    unsigned sent = 0;

    say(fd, head, sizeof head - 1);
    ok(begins(hear(fd), "HTTP/1.1 413 "),
       "a body too large is refused before it is sent");
    fd = dial(l);
    say(fd, head, sizeof head - 1);
    say(fd, body, sizeof body);
    ok(begins(hear(fd), "HTTP/1.1 413 "),
       "whoever sends some of it all the same can read why not");
    fd = dial(l);
    say(fd, head, sizeof head - 1);
    while (sent < 30000 && send(fd, body, sizeof body, MSG_NOSIGNAL) > 0)
        sent++;
    ok(sent < 30000, "whoever goes on and on is cut off");
    close(fd);
}

static void origins_are_kept(const struct listener *l)
{
    const char *a =
        ask(l, HEAD("OPTIONS /echo") "Origin: https://page.example\r\n\r\n");

    ok(begins(a, "HTTP/1.1 204 ") &&
           strstr(a, "Access-Control-Allow-Origin: https://page.example") !=
               NULL &&
           strstr(a, "Access-Control-Allow-Methods: POST") != NULL,
       "a page of a configured origin may ask");
    a = ask(l, HEAD("OPTIONS /echo") "Origin: https://other.example\r\n\r\n");
    ok(begins(a, "HTTP/1.1 204 ") && strstr(a, "Access-Control-Allow") == NULL,
       "another may not");
    a = ask(l, HEAD("GET /text") "Origin: https://page.example\r\n\r\n");
    ok(strstr(a, "Access-Control-Allow-Origin: https://page.example") != NULL,
       "and its answers may be read");
}

static void any_origin_may_be_allowed(void)
{
    static const char *const any[] = {"*", NULL};
    struct listen_options o = options();
    struct listener *l;
    const char *a;

    o.cors = any;
    l = serve(&o);
    a = ask(l, HEAD("OPTIONS /echo") "Origin: https://other.example\r\n\r\n");
    ok(begins(a, "HTTP/1.1 204 ") &&
           strstr(a, "Access-Control-Allow-Origin: https://other.example") !=
               NULL &&
           strstr(a, "Access-Control-Allow-Methods: POST") != NULL,
       "with * a page of any origin may ask");
    listen_close(l);
}

static void bodies_together_are_bounded(void)
{
    struct listen_options o = options();
    struct listener *l;
    static char body[50000];
    const char head[] = HEAD("POST /echo") "Content-Length: 50000\r\n\r\n";
    struct listen_status now;
    int fd;
    const char *a;

    o.inflight_bytes = 40000;
    l = serve(&o);
    fd = dial(l);
    say(fd, head, sizeof head - 1);
    say(fd, body, sizeof body);
    a = hear(fd);
    ok(begins(a, "HTTP/1.1 503 ") && strstr(a, "Retry-After:") != NULL,
       "more than all bodies may take: 503 with Retry-After");
    listen_status(l, &now);
    is_u64(now.inflight_bytes, 0, "nothing stays charged");
    listen_close(l);
}

static void late_connections_are_closed(void)
{
    struct listen_options o = options();
    struct listener *l;
    struct listen_status now;
    int fds[4];

    o.head_seconds = o.body_seconds = o.idle_seconds = 1;
    l = serve(&o);
    for (int i = 0; i < 4; i++)
        fds[i] = dial(l);
    say(fds[1], "GET /te", 7);
    say(fds[2], HEAD("POST /echo") "Content-Length: 5\r\n\r\nab",
        strlen(HEAD("POST /echo") "Content-Length: 5\r\n\r\nab"));
    say(fds[3], "GET /text HTTP/1.1\r\nHost: x\r\n\r\n", 31);
    is_int(hear(fds[0])[0], 0, "a connection that says nothing is closed");
    is_int(hear(fds[1])[0], 0, "one that does not end its head is closed");
    is_int(hear(fds[2])[0], 0, "one that does not end its body is closed");
    is_u64(times(hear(fds[3]), "HTTP/1.1 200"), 1,
           "one that is idle is closed");
    do
        listen_status(l, &now);
    while (now.connections != 0);
    is_u64(now.timeouts, 4, "and they are counted");
    listen_close(l);
}

static void who_is_done_is_not_waited_for(void)
{
    struct listen_options o = options();
    struct listener *l = serve(&o);
    const char head[] = HEAD("POST /echo") "Content-Length: 5\r\n\r\nab";
    const char get[] = "GET /text HTTP/1.1\r\nHost: x\r\n\r\n"
                       "GET /text HTTP/1.1\r\nHost: x\r\n\r\n";
    const struct {
        const char *text;
        size_t len;
    } says[] = {{get, 0},
                {get, 3},
                {get, 31},
                {get, sizeof get - 1},
                {head, sizeof head - 1}};

    for (size_t i = 0; i < sizeof says / sizeof *says; i++) {
        int fd = dial(l);
        const char *a;

        say(fd, says[i].text, says[i].len);
        shutdown(fd, SHUT_WR);
        a = hear(fd);
        ok(times(a, "HTTP/1.1 ") == (i == 2   ? 1
                                     : i == 3 ? 2
                                              : 0),
           "who sends no more is answered and closed, %zu", i);
    }
    listen_close(l);
}

static void idle_connections_make_room(void)
{
    struct listen_options o = options();
    struct listener *l;
    struct listen_status now;
    int idle[4];

    o.loops = 1;
    o.connections = 3; /* and one */
    l = serve(&o);
    for (int i = 0; i < 4; i++) {
        idle[i] = dial(l);
        say(idle[i], "GET /text HTTP/1.1\r\nHost: x\r\n\r\n", 31);
    }
    do
        listen_status(l, &now);
    while (now.answers[2] != 4);
    ok(begins(ask(l, HEAD("GET /text") "\r\n"), "HTTP/1.1 200 "),
       "where connections are as many as may be, idle ones are closed");
    for (int i = 0; i < 4; i++)
        close(idle[i]);
    listen_close(l);
}

static void draining_finishes(void)
{
    struct listen_options o = options();
    struct listener *l = serve(&o);
    struct listen_status now;
    int idle = dial(l), fresh;

    say(idle, "GET /text HTTP/1.1\r\nHost: x\r\n\r\n", 31);
    do
        listen_status(l, &now);
    while (now.answers[2] != 1);
    fresh = dial(l);
    do
        listen_status(l, &now);
    while (now.connections != 2);
    listen_drain(l, 60);
    listen_status(l, &now);
    is_u64(now.connections, 0, "draining ends all connections before its time");
    is_u64(times(hear(idle), "HTTP/1.1 200"), 1, "what was answered was sent");
    close(fresh);
    listen_close(l);
}

static void draining_cuts_bodies(void)
{
    static const char head[] =
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab";
    struct listen_options o = options();
    struct listener *l;
    struct listen_status now;
    int slow;

    o.body_seconds = 600;
    l = serve(&o);
    slow = dial(l);
    say(slow, head, sizeof head - 1);
    do
        listen_status(l, &now);
    while (now.requests != 1);
    listen_drain(l, 60);
    listen_status(l, &now);
    ok(eq_u64(now.connections, 0) && eq_u64(now.timeouts, 1),
       "draining does not wait for a body that is not whole");
    close(slow);
    listen_close(l);
}

/* Without tokens a name that is not ours is somebody's page. */
static void names_from_elsewhere(void)
{
    static const struct {
        const char *host, *answer;
    } hosts[] = {{"127.0.0.1", "200"},      {"127.0.0.1:8081", "200"},
                 {"localhost:80", "200"},   {"LOCALHOST", "200"},
                 {"[::1]:8081", "200"},     {"evil.example:8081", "403"},
                 {"127.0.0.1.evil", "403"}, {"localhost.evil", "403"}};
    struct listen_options o = options();
    struct listener *l;
    char text[128], status[16];

    o.role = NULL;
    l = serve(&o);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        int fd = dial(l);
        int len = snprintf(text, sizeof text,
                           "GET /scrape HTTP/1.1\r\nHost: %s\r\n"
                           "Connection: close\r\n\r\n",
                           hosts[i].host);

        snprintf(status, sizeof status, "HTTP/1.1 %s", hosts[i].answer);
        say(fd, text, (size_t)len);
        is_u64(times(hear(fd), status), 1, "without tokens, asked as %s: %s",
               hosts[i].host, hosts[i].answer);
    }
    listen_close(l);
}

/* Who is not done when the time is up finds nobody there: what a handler needs
 * may be gone. */
static void draining_ends(void)
{
    struct listen_options o = options();
    struct listener *l = serve(&o);
    struct listen_status now;
    const char *heard;
    int slow = dial(l);

    say(slow, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab",
        53);
    do
        listen_status(l, &now);
    while (now.requests != 1);
    listen_drain(l, 0);
    say(slow, "cd", 2);
    heard = hear(slow); /* nothing, if this machine stood still for a second */
    ok(heard[0] == '\0' || times(heard, "HTTP/1.1 503") == 1,
       "a body that ends after the time is up reaches no handler");
    listen_close(l);
}

static void addresses_are_checked(void)
{
    static const char *const wrong[] = {"",
                                        "8080",
                                        ":80",
                                        "127.0.0.1",
                                        "127.0.0.1:",
                                        "127.0.0.1:http",
                                        "127.0.0.1:70000",
                                        "::1:80",
                                        "[::1]80",
                                        "[]:80",
                                        "unix:"};
    struct listen_options o = options();
    struct listener *l = serve(&o), *m;
    hsy_error err;
    char taken[64];

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        o.address = wrong[i];
        ok(eq_status(listen_open(&m, &o, &err), HSY_E_RANGE) && err.msg != NULL,
           "'%s' is no address", wrong[i]);
    }
    snprintf(taken, sizeof taken, "127.0.0.1:%u", listen_port(l));
    o.address = taken;
    ok(eq_status(listen_open(&m, &o, &err), HSY_E_IO) &&
           strstr(err.msg, "in use"),
       "a port in use is an error that says so");
    listen_close(l);
    ok(eq_status(listen_open(&m, &o, &err), HSY_OK) && listen_port(m) != 0,
       "when it is free again it is taken");
    listen_close(m);
}

static void a_socket_file_serves(void)
{
    char directory[] = "/tmp/hsy-listen-XXXXXX", address[128];
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct listen_options o = options();
    struct listener *l, *m;
    hsy_error err;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    if (mkdtemp(directory) == NULL)
        abort();
    snprintf(to.sun_path, sizeof to.sun_path, "%s/s", directory);
    snprintf(address, sizeof address, "unix:%s", to.sun_path);
    o.address = address;
    /* What an earlier process left behind. */
    if (bind(fd, (struct sockaddr *)&to, sizeof to) != 0)
        abort();
    close(fd);
    l = serve(&o);
    is_u64(listen_port(l), 0, "a socket file has no port");
    ok(eq_status(listen_open(&m, &o, &err), HSY_E_IO) &&
           strstr(err.msg, "in use"),
       "and one listener");
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    is_int(connect(fd, (struct sockaddr *)&to, sizeof to), 0, "it is there");
    say(fd, HEAD("GET /text") "\r\n", strlen(HEAD("GET /text") "\r\n"));
    ok(begins(hear(fd), "HTTP/1.1 200 "), "and serves");
    listen_close(l);
    ok(access(to.sun_path, F_OK) != 0, "it is removed on closing");
    rmdir(directory);
}

int main(void)
{
    struct listen_options o = options();
    struct listener *l = serve(&o);
    struct listen_status now;

    requests_are_answered(l);
    connections_are_kept(l);
    routes_are_matched(l);
    roles_are_kept(l);
    doubts_end_the_connection(l);
    a_nul_ends_the_connection(l);
    heads_are_bounded(l);
    refusals_arrive(l);
    origins_are_kept(l);
    listen_status(l, &now);
    ok(eq_u64(now.inflight_bytes, 0) && now.refused > 30, "counters are kept");
    for (unsigned i = 0; i < later_count; i++)
        pthread_join(later_threads[i], NULL);
    listen_close(l);
    listen_close(NULL);
    any_origin_may_be_allowed();
    bodies_together_are_bounded();
    late_connections_are_closed();
    who_is_done_is_not_waited_for();
    idle_connections_make_room();
    draining_finishes();
    draining_cuts_bodies();
    draining_ends();
    names_from_elsewhere();
    addresses_are_checked();
    a_socket_file_serves();
    return tap_done();
}
