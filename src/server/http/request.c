/*
 * request.c - a request from its head to its handler.
 *
 * libmicrohttpd calls request_step with the head, then with pieces of the body,
 * then once more; an answer is queued in the last call, or in the first to
 * refuse a body unread (which also closes the connection).
 */
#include "server/http/internal.h"

#include "host/base/grow.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BODY_STEP 16384u /* bytes by which a large one grows, at least */

/* ---- The body ------------------------------------------------------------ */

/* A small body takes no room that others share: there are no more of them than
 * connections. A large one takes of inflight_bytes what has come, not what was
 * announced, and gives it back at once when there is no more: so large bodies,
 * however many and slow, keep no device's upload out. */

/* Small ones double; large ones grow by an eighth, so that what is taken is
 * about what has come. */
static size_t body_room(const struct request *q, size_t need)
{
    size_t room = q->room == 0 ? 4096 : 2 * q->room;

    if (q->declared > LISTEN_SMALL_BYTES)
        room = q->room + (q->room / 8 > BODY_STEP ? q->room / 8 : BODY_STEP);
    if (room < need)
        room = need;
    return room > q->declared ? q->declared : room;
}

static bool body_charge(struct request *q, size_t more)
{
    struct listener *l = q->loop->listener;

    if (q->declared <= LISTEN_SMALL_BYTES) {
        atomic_fetch_add(&l->small, more);
    } else if (atomic_fetch_add(&l->inflight, more) + more >
               l->options.inflight_bytes) {
        atomic_fetch_sub(&l->inflight, more);
        return false;
    }
    q->charged += more;
    return true;
}

static bool body_grow(struct request *q, size_t need)
{
    const size_t room = body_room(q, need);

    if (!body_charge(q, room - q->room) || !grow_to(&q->body, room, 1))
        return false;
    q->room = room;
    return true;
}

static void body_free(struct request *q)
{
    struct listener *l = q->loop->listener;

    atomic_fetch_sub(q->declared <= LISTEN_SMALL_BYTES ? &l->small
                                                       : &l->inflight,
                     q->charged);
    q->charged = 0;
    free(q->body);
    q->body = NULL;
    q->len = q->room = 0;
}

static void body_more(struct request *q, const char *data, size_t size)
{
    q->moved += size;
    if (q->gone) /* what it sent before is still being read */
        q->deadline = request_until(q, 0);
    if (q->dropped || q->status != 0)
        return;
    if (size > q->declared - q->len ||
        (size > q->room - q->len && !body_grow(q, q->len + size))) {
        q->dropped = true;
        body_free(q);
        return;
    }
    memcpy(q->body + q->len, data, size);
    q->len += size;
}

bool body_pressed(const struct listener *l)
{
    return atomic_load_explicit(&l->inflight, memory_order_relaxed) >
           l->options.inflight_bytes / 2;
}

/* ---- From its head to its handler ---------------------------------------- */

uint64_t request_until(const struct request *q, uint32_t seconds)
{
    return q->loop->now +
           (q->gone || q->loop->quiet ? 1000u : 1000ull * seconds);
}

static void request_begin(struct request *q, const char *url)
{
    q->lined = false;
    q->path = url;
    q->route = NULL;
    q->segments = NULL;
    q->close = q->dropped = q->guarded = false;
    q->len = q->room = q->declared = 0;
    q->status = 0;
    q->type = NULL;
    q->answer = NULL;
    q->answer_len = 0;
    q->done = NULL;
    atomic_store_explicit(&q->state, REQUEST_READING, memory_order_relaxed);
    atomic_fetch_add_explicit(&q->loop->requests, 1, memory_order_relaxed);
}

/* The first call: everything that can be refused by the head is. */
static enum MHD_Result request_head(struct request *q, const struct head *head)
{
    const struct listen_options *o = &q->loop->listener->options;
    struct head_facts facts;

    request_begin(q, head->url);
    listen_head(&facts, q->http, head);
    if (facts.status != 0) {
        request_refuse(q, facts.status, facts.title, true);
        q->linger = true;
        return request_send(q);
    }
    q->declared = (size_t)facts.length;
    q->deadline = request_until(q, o->body_seconds);
    if (request_admit(q, head->method, facts.length))
        return MHD_YES;
    atomic_store_explicit(&q->state, REQUEST_ANSWERED, memory_order_relaxed);
    if (q->declared == 0 && !q->close)
        return MHD_YES; /* sent in the next call: the connection may go on */
    q->linger = true;
    return request_send(q);
}

/* All of it is there. The handler may have answered before it returns, on this
 * thread or another; if not, the connection sleeps until it is. */
static enum MHD_Result request_run(struct request *q)
{
    int handling = REQUEST_HANDLING;

    q->deadline = 0;
    if (q->dropped || q->len != q->declared) {
        request_set(q, "Retry-After", "1");
        request_refuse(q, 503, "too many bodies at once", true);
        return request_send(q);
    }
    if (atomic_load(&q->loop->listener->drained)) {
        request_set(q, "Retry-After", "10");
        request_refuse(q, 503, "the collector is stopping", true);
        return request_send(q);
    }
    atomic_store_explicit(&q->state, REQUEST_HANDLING, memory_order_relaxed);
    q->route->handle(q, q->loop->listener->options.ctx);
    if (atomic_compare_exchange_strong(&q->state, &handling, REQUEST_WAITING)) {
        MHD_suspend_connection(q->http);
        return MHD_YES;
    }
    return request_send(q);
}

void *request_line(void *loop, const char *url, struct MHD_Connection *http)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(http, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct request *q = info == NULL ? NULL : info->socket_context;

    (void)loop;
    if (q != NULL) {
        q->lined = true;
        q->url_end = listen_url(url);
    }
    return q;
}

enum MHD_Result request_step(void *loop, struct MHD_Connection *http,
                             const char *url, const char *method,
                             const char *version, const char *data,
                             size_t *size, void **context)
{
    struct request *q = *context;
    int state;

    (void)loop;
    if (q == NULL)
        return MHD_NO; /* there was no memory for the connection */
    gone_show(q);
    state = atomic_load_explicit(&q->state, memory_order_acquire);
    if (state == REQUEST_NONE) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(
            http, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

        return request_head(q,
                            &(struct head){method, url, version,
                                           info == NULL ? 0 : info->header_size,
                                           q->url_end});
    }
    if (*size != 0) {
        body_more(q, data, *size);
        *size = 0;
        return MHD_YES;
    }
    return state >= REQUEST_ANSWERED ? request_send(q) : request_run(q);
}

void request_over(void *loop, struct MHD_Connection *http, void **context,
                  enum MHD_RequestTerminationCode why)
{
    struct request *q = *context;

    (void)loop;
    (void)http;
    (void)why;
    if (q == NULL)
        return;
    *context = NULL;
    q->lined = false;
    request_forget(q);
    for (struct request_piece *next, *p = q->pieces; p != NULL; p = next) {
        next = p->next;
        free(p);
    }
    q->pieces = NULL;
    q->headers = NULL;
    body_free(q);
    q->served = true;
    q->moved = 0;
    q->deadline = request_until(q, q->loop->listener->options.idle_seconds);
    atomic_store_explicit(&q->state, REQUEST_NONE, memory_order_relaxed);
}

/* ---- What a handler may ask ---------------------------------------------- */

const struct route *request_route(const struct request *q)
{
    return q->route;
}

const char *request_segment(const struct request *q, size_t i)
{
    const char *at = q->segments;

    for (; at != NULL && *at != 0; at += strlen(at) + 1)
        if (i-- == 0)
            return at;
    return NULL;
}

const char *request_query(const struct request *q, const char *name)
{
    return MHD_lookup_connection_value(q->http, MHD_GET_ARGUMENT_KIND, name);
}

struct query_names {
    const char *const *known;
    uint64_t seen; /* a bit each */
    bool only;
};

static enum MHD_Result query_known(void *ctx, enum MHD_ValueKind kind,
                                   const char *name, const char *value)
{
    struct query_names *names = ctx;
    size_t at = 0;

    (void)kind;
    (void)value;
    while (names->known[at] != NULL && strcmp(names->known[at], name) != 0)
        at++;
    names->only = names->known[at] != NULL && (names->seen >> at & 1) == 0;
    names->seen |= (uint64_t)1 << at;
    return names->only ? MHD_YES : MHD_NO;
}

bool request_query_only(const struct request *q, const char *const *names)
{
    struct query_names look = {.known = names, .only = true};

    MHD_get_connection_values(q->http, MHD_GET_ARGUMENT_KIND, query_known,
                              &look);
    return look.only;
}

const char *request_header(const struct request *q, const char *name)
{
    return MHD_lookup_connection_value(q->http, MHD_HEADER_KIND, name);
}

bool request_typed(const struct request *q, const char *type)
{
    const char *given = request_header(q, "Content-Type");
    const size_t len = given != NULL ? strcspn(given, "; \t") : 0;

    return len == strlen(type) && strncasecmp(given, type, len) == 0;
}

void request_trust(struct request *q, bool trusted)
{
    q->trusted = trusted;
}

bool request_trusted(const struct request *q)
{
    return q->trusted;
}

const char *request_bearer(const struct request *q)
{
    const char *given = request_header(q, "Authorization");

    if (given == NULL || strncasecmp(given, "Bearer ", 7) != 0)
        return NULL;
    given += 7;
    return given + strspn(given, " ");
}

const uint8_t *request_body(const struct request *q, size_t *len)
{
    *len = q->len;
    return q->body;
}

uint8_t *request_take_body(struct request *q, size_t *len)
{
    uint8_t *body = q->body;

    *len = q->len;
    q->body = NULL;
    q->len = 0;
    return body != NULL ? body : calloc(1, 1);
}

void *request_memory(struct request *q, size_t size)
{
    struct request_piece *piece = malloc(sizeof *piece + size);

    if (piece == NULL)
        return NULL;
    piece->next = q->pieces;
    q->pieces = piece;
    return piece->bytes;
}
