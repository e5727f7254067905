/*
 * http_answer.c - answers: given from any thread, sent by the loop's.
 */
#include "server/http/internal.h"

#include "host/base/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_PART 16384u /* bytes of an answer at a time */

void request_set(struct request *q, const char *name, const char *value)
{
    size_t name_len = strlen(name) + 1, value_len = strlen(value) + 1;
    struct request_header *h =
        request_memory(q, sizeof *h + name_len + value_len);
    char *text;

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

/* Push an answered request; whoever finds the list empty wakes the loop. */
static void answer_push(struct request *q)
{
    struct loop *p = q->loop;
    struct request *head =
        atomic_load_explicit(&p->answers, memory_order_relaxed);

    do
        q->answered = head;
    while (!atomic_compare_exchange_weak_explicit(
        &p->answers, &head, q, memory_order_release, memory_order_relaxed));
    if (head == NULL)
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

/* An answer that is sent in parts. */
struct answer_parts {
    struct request *q; /* there as long as parts are asked for */
    const char *bytes;
    size_t len;
    void (*done)(void *);
};

static ssize_t answer_part(void *ctx, uint64_t at, char *to, size_t max)
{
    struct answer_parts *a = ctx;
    const size_t left = a->len - (size_t)at, n = left < max ? left : max;

    if (n == 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    memcpy(to, a->bytes + at, n);
    a->q->moved = at + n;
    return (ssize_t)n;
}

static void answer_parted(void *ctx)
{
    struct answer_parts *a = ctx;

    if (a->done != NULL)
        a->done((void *)(uintptr_t)a->bytes);
    free(a);
}

static struct MHD_Response *answer_in_parts(struct request *q)
{
    struct answer_parts *a = malloc(sizeof *a);
    struct MHD_Response *r;

    if (a == NULL)
        return NULL;
    *a = (struct answer_parts){q, q->answer, q->answer_len, q->done};
    r = MHD_create_response_from_callback(a->len, ANSWER_PART, answer_part, a,
                                          answer_parted);
    if (r == NULL)
        free(a);
    return r;
}

static struct MHD_Response *answer_response(struct request *q)
{
    void *bytes = (void *)(uintptr_t)q->answer;

    if (bytes != NULL && q->answer_len > LISTEN_WHOLE_BYTES)
        return answer_in_parts(q);
    if (q->done == NULL || bytes == NULL)
        return MHD_create_response_from_buffer(
            bytes == NULL ? 0 : q->answer_len, bytes, MHD_RESPMEM_PERSISTENT);
    return MHD_create_response_from_buffer_with_free_callback(q->answer_len,
                                                              bytes, q->done);
}

static void answer_headers(struct request *q, struct MHD_Response *r)
{
    if (q->type != NULL)
        MHD_add_response_header(r, "Content-Type", q->type);
    for (const struct request_header *h = q->headers; h != NULL; h = h->next)
        MHD_add_response_header(r, h->name, h->value);
    if (q->close || atomic_load(&q->loop->listener->drain_until) != 0)
        MHD_add_response_header(r, "Connection", "close");
}

void request_forget(struct request *q)
{
    if (q->done != NULL && q->answer != NULL)
        q->done((void *)(uintptr_t)q->answer);
    q->answer = NULL;
    q->done = NULL;
}

/* Most answers are a bare 204: those share one. */
static bool answer_is_plain(const struct request *q)
{
    return q->status == 204 && q->headers == NULL && !q->close &&
           q->done == NULL && atomic_load(&q->loop->listener->drain_until) == 0;
}

enum MHD_Result request_send(struct request *q)
{
    struct loop *p = q->loop;
    struct MHD_Response *r;
    enum MHD_Result sent;

    if (q->status == 0)
        return MHD_NO;
    q->moved = 0;
    q->deadline = q->loop->now + 1000ull * p->listener->options.body_seconds;
    atomic_fetch_add_explicit(&p->by_hundred[q->status / 100 % 6], 1,
                              memory_order_relaxed);
    if (answer_is_plain(q))
        return MHD_queue_response(q->http, 204, p->no_content);
    r = answer_response(q);
    if (r == NULL)
        return MHD_NO; /* request_over follows */
    q->answer = NULL;  /* r's */
    q->done = NULL;
    answer_headers(q, r);
    sent = MHD_queue_response(q->http, (unsigned)q->status, r);
    MHD_destroy_response(r);
    return sent;
}
