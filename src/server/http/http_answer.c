/*
 * http_answer.c - answers: given from any thread, sent by the loop's.
 */
#define _GNU_SOURCE /* CLOCK_REALTIME_COARSE */
#include "server/http/internal.h"

#include "host/base/grow.h"
#include "host/base/hex.h"
#include "host/base/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ANSWER_HEAD 512u /* bytes of a head, but for types and headers */

void request_set(struct request *q, const char *name, const char *value)
{
    size_t name_len = strlen(name) + 1, value_len = strlen(value) + 1;
    struct request_header *h = NULL;
    char *text;

    if (strpbrk(value, "\r\n") == NULL) /* it would end the line */
        h = request_memory(q, sizeof *h + name_len + value_len);
    if (h == NULL)
        return;
    text = (char *)(h + 1);
    memcpy(text, name, name_len);
    memcpy(text + name_len, value, value_len);
    h->name = text;
    h->value = text + name_len;
    h->next = q->headers;
    q->headers = h;
}

bool request_unchanged(struct request *q, const uint8_t digest[REQUEST_DIGEST])
{
    const char *known = request_header(q, "If-None-Match");
    char digits[2 * REQUEST_DIGEST + 1], tag[sizeof digits + 2];

    hex_put(digits, digest, REQUEST_DIGEST);
    snprintf(tag, sizeof tag, "\"%s\"", digits);
    request_set(q, "ETag", tag);
    return known != NULL &&
           (strcmp(known, "*") == 0 || strstr(known, tag) != NULL);
}

void request_guard(struct request *q, const char *policy)
{
    if (q->guarded)
        return;
    q->guarded = true;
    request_set(q, "Content-Security-Policy",
                policy != NULL ? policy
                               : "default-src 'none'; style-src "
                                 "'unsafe-inline'; frame-ancestors 'none'");
    request_set(q, "Cache-Control", "no-store");
    request_set(q, "X-Content-Type-Options", "nosniff");
    request_set(q, "Referrer-Policy", "no-referrer");
    request_set(q, "X-Frame-Options", "DENY");
}

/* Pushes an answered request. The thread that finds the list empty wakes the
 * loop, if it sleeps. */
static void answer_push(struct request *q)
{
    struct loop *p = q->loop;
    struct request *head =
        atomic_load_explicit(&p->answers, memory_order_relaxed);

    do
        q->answered = head;
    while (!atomic_compare_exchange_weak(&p->answers, &head, q));
    if (head == NULL && atomic_exchange(&p->sleeping, false))
        loop_wake(p);
}

void request_answer(struct request *q, int status, const char *type,
                    const void *body, size_t len, void (*done)(void *))
{
    q->status = status;
    q->type = type;
    q->answer = body;
    q->answer_len = len;
    q->done = done;
    if (atomic_exchange(&q->state, REQUEST_ANSWERED) == REQUEST_WAITING)
        answer_push(q);
}

/* {"type":"about:blank","title":...,"status":...,"detail":...}; NULL: out of
 * memory. */
static char *answer_problem(int status, const char *title, const char *detail)
{
    char *text = NULL;
    size_t len;
    struct put p;

    if (put_open_tight(&p, NULL) != HSY_OK)
        return NULL;
    put_word(&p, "type", "about:blank");
    put_word(&p, "title", title);
    put_count(&p, "status", (uint64_t)status);
    if (detail != NULL)
        put_word(&p, "detail", detail);
    return put_close(&p, &text, &len, NULL) == HSY_OK ? text : NULL;
}

static const char answer_problem_type[] = "application/problem+json";

void request_problem(struct request *q, int status, const char *title,
                     const char *format, ...)
{
    char detail[1024], *text;
    va_list args;

    if (format != NULL) {
        va_start(args, format);
        vsnprintf(detail, sizeof detail, format, args);
        va_end(args);
    }
    text = answer_problem(status, title, format == NULL ? NULL : detail);
    request_guard(q, NULL);
    request_answer(q, status, answer_problem_type, text,
                   text == NULL ? 0 : strlen(text), free);
}

void request_refuse(struct request *q, int status, const char *title,
                    bool close)
{
    char *text = answer_problem(status, title, NULL);

    atomic_fetch_add_explicit(&q->loop->refused, 1, memory_order_relaxed);
    if (status == 503)
        atomic_fetch_add_explicit(&q->loop->full, 1, memory_order_relaxed);
    request_guard(q, NULL);
    q->status = status;
    q->type = answer_problem_type;
    q->answer = text;
    q->answer_len = text == NULL ? 0 : strlen(text);
    q->done = free;
    q->close = close;
}

/* ---- On the loop's thread ------------------------------------------------ */

struct answer_status {
    int status;
    const char *reason;
};

static const struct answer_status answer_reasons[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

static const char *answer_reason(int status)
{
    for (size_t i = 0; i < sizeof answer_reasons / sizeof *answer_reasons; i++)
        if (answer_reasons[i].status == status)
            return answer_reasons[i].reason;
    return "";
}

static bool answer_is_bodiless(const struct request *q)
{
    return q->status == 204 || q->status == 304;
}

/* "Date: Wed, 18 Nov 2026 20:00:00 GMT", made once a second. */
static void answer_date(struct loop *p)
{
    static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed",
                                    "Thu", "Fri", "Sat"};
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr",
                                       "May", "Jun", "Jul", "Aug",
                                       "Sep", "Oct", "Nov", "Dec"};
    struct timespec now;
    struct tm t;

    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec == p->date_second)
        return;
    p->date_second = now.tv_sec;
    if (gmtime_r(&now.tv_sec, &t) == NULL)
        return;
    snprintf(p->date, sizeof p->date, "%s, %02d %s %04d %02d:%02d:%02d GMT",
             days[t.tm_wday], t.tm_mday, months[t.tm_mon], t.tm_year + 1900,
             t.tm_hour, t.tm_min, t.tm_sec);
}

/* A head being written to the loop's scratch, which has room for it. */
static void answer_put(struct connection *c, const char *text)
{
    const size_t len = strlen(text);

    memcpy(c->out + c->out_len, text, len);
    c->out_len += len;
}

static void answer_put_header(struct connection *c, const char *name,
                              const char *value)
{
    answer_put(c, name);
    answer_put(c, ": ");
    answer_put(c, value);
    answer_put(c, "\r\n");
}

/* Makes room for a head: the first line, and what answer_compose adds, have
 * less than ANSWER_HEAD bytes. */
static bool answer_room(struct connection *c)
{
    const struct request *q = &c->request;
    struct loop *p = q->loop;
    size_t need = ANSWER_HEAD + (q->type != NULL ? strlen(q->type) : 0);

    for (const struct request_header *h = q->headers; h != NULL; h = h->next)
        need += strlen(h->name) + strlen(h->value) + 4;
    if (need > p->scratch_room && !grow_to(&p->scratch, need, 1))
        return false;
    if (need > p->scratch_room)
        p->scratch_room = need;
    c->out = p->scratch;
    c->out_len = 0;
    return true;
}

static bool answer_compose(struct connection *c)
{
    const struct request *q = &c->request;
    char line[] = "HTTP/1.1 000 ", text[32];

    if (!answer_room(c))
        return false;
    answer_date(q->loop);
    for (int i = 3, rest = q->status; i-- > 0; rest /= 10)
        line[9 + i] = (char)('0' + rest % 10);
    answer_put(c, line);
    answer_put(c, answer_reason(q->status));
    answer_put(c, "\r\n");
    answer_put_header(c, "Date", q->loop->date);
    if (q->close)
        answer_put_header(c, "Connection", "close");
    else if (q->head->minor == 0)
        answer_put_header(c, "Connection", "keep-alive");
    if (q->type != NULL)
        answer_put_header(c, "Content-Type", q->type);
    for (const struct request_header *h = q->headers; h != NULL; h = h->next)
        answer_put_header(c, h->name, h->value);
    if (!answer_is_bodiless(q)) {
        snprintf(text, sizeof text, "%zu", q->answer_len);
        answer_put_header(c, "Content-Length", text);
    }
    answer_put(c, "\r\n");
    return true;
}

static bool answer_begin(struct connection *c)
{
    struct request *q = &c->request;
    struct loop *p = q->loop;
    struct listener *l = p->listener;

    q->close |= atomic_load(&l->drain_until) != 0;
    if (q->answer == NULL)
        q->answer_len = 0;
    loop_count(&p->by_hundred[q->status / 100 % 6]);
    connection_time(c, l->options.body_seconds);
    c->sent = 0;
    return answer_compose(c);
}

/* The head is in the loop's scratch, which the next answer needs. */
static bool answer_own(struct connection *c)
{
    char *out;

    if (c->out_owned)
        return true;
    out = malloc(c->out_len);
    if (out == NULL)
        return false;
    memcpy(out, c->out, c->out_len);
    c->out = out;
    c->out_owned = true;
    return true;
}

/* Parts of it that have not gone yet, each of at least one byte. */
static int answer_left(const struct connection *c, struct iovec parts[2])
{
    const struct request *q = &c->request;
    const bool body = !q->without_body && !answer_is_bodiless(q);
    const size_t head = c->sent < c->out_len ? c->out_len - c->sent : 0;
    const size_t at = c->sent - (c->out_len - head);
    int n = 0;

    if (head != 0)
        parts[n++] = (struct iovec){c->out + c->sent, head};
    if (body && at < q->answer_len)
        parts[n++] = (struct iovec){(char *)(uintptr_t)q->answer + at,
                                    q->answer_len - at};
    return n;
}

enum step answer_step(struct connection *c, bool *sent)
{
    struct iovec parts[2];
    ssize_t went;
    int n;

    if (c->request.status == 0 || (c->out == NULL && !answer_begin(c)))
        return STEP_CLOSE;
    n = answer_left(c, parts);
    went = transport_write(c, parts, n);
    if (went < 0)
        return STEP_CLOSE;
    c->sent += (size_t)went;
    c->moved += (size_t)went;
    *sent = answer_left(c, parts) == 0;
    if (!*sent && !answer_own(c))
        return STEP_CLOSE;
    return went == 0 ? STEP_WAIT : STEP_AGAIN;
}

void answer_forget(struct connection *c)
{
    struct request *q = &c->request;

    if (c->out_owned)
        free(c->out);
    c->out = NULL;
    c->out_owned = false;
    if (q->done != NULL && q->answer != NULL)
        q->done((void *)(uintptr_t)q->answer);
    q->answer = NULL;
    q->done = NULL;
}
