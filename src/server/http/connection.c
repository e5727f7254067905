/*
 * connection.c - a connection from its first byte to its last.
 *
 * Each phase has a step, which does one thing: it reads once, writes once,
 * reads a head, or calls a handler. connection_run takes steps until the
 * connection has to wait. The epoll watches a connection once and for all; a
 * connection whose request waits for its answer is told of what happens, but
 * does nothing, so that what it sends meanwhile stays in the kernel.
 */
#define _GNU_SOURCE /* accept4 */
#include "server/http/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Steps of one connection before it is the others' turn. */
#define CONNECTION_STEPS 64u
/* What may still come behind the last request, for so long, so that the answer
 * arrives: bytes that come to a closed socket would reset the connection. */
#define LINGER_BYTES 65536u
#define LINGER_SECONDS 2u
#define LINGER_MOST 64u /* connections of a loop */

/* ---- Time ---------------------------------------------------------------- */

void connection_time(struct connection *c, uint32_t seconds)
{
    c->since = c->request.loop->now;
    c->allowed = 1000ull * seconds;
    c->moved = 0;
}

/* The same for what is to be read: while the listener drains, a second. */
static void connection_time_read(struct connection *c, uint32_t seconds)
{
    connection_time(c, c->request.loop->quiet ? 1 : seconds);
}

static bool connection_silent(const struct connection *c)
{
    return c->phase == CONNECTION_HEAD && c->served && c->buffer == NULL;
}

/* How long what has come of a body, or gone of an answer, puts its end off. A
 * body puts nothing off where bodies have little room left, or while the
 * listener drains. */
static uint64_t connection_pace(const struct connection *c)
{
    const struct loop *p = c->request.loop;

    if (c->phase == CONNECTION_BODY &&
        (p->quiet || request_pressed(p->listener)))
        return 0;
    return 1000 * c->moved / LISTEN_SLOWEST;
}

bool connection_late(const struct connection *c, bool full)
{
    const uint64_t most =
        connection_silent(c) ? LISTEN_FULL_IDLE_MS : LISTEN_FULL_MS;
    const uint64_t allowed = full && c->allowed > most ? most : c->allowed;

    return c->allowed != 0 &&
           c->since + allowed + connection_pace(c) <= c->request.loop->now;
}

/* ---- Buffers ------------------------------------------------------------- */

static bool connection_take_buffer(struct connection *c)
{
    struct loop *p = c->request.loop;
    struct connection_buffer *b = p->spare;
    const bool kept = b != NULL || p->nbuffers < LOOP_BUFFERS;

    if (b != NULL)
        p->spare = b->next;
    else
        b = kept ? &p->buffers[p->nbuffers++] : malloc(sizeof *b);
    if (b == NULL)
        return false;
    b->kept = kept;
    b->from = b->end = 0;
    message_begin(&b->head, MESSAGE_REQUEST);
    c->buffer = b;
    return true;
}

static void connection_drop_buffer(struct connection *c)
{
    struct loop *p = c->request.loop;
    struct connection_buffer *b = c->buffer;

    c->buffer = NULL;
    if (b == NULL || !b->kept) {
        free(b);
        return;
    }
    b->next = p->spare;
    p->spare = b;
}

/* ---- Beginning and end --------------------------------------------------- */

static bool connection_watch(struct connection *c, int how)
{
    struct epoll_event on = {
        .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};

    return epoll_ctl(c->request.loop->epoll, how, c->fd, &on) == 0;
}

void connection_accept(struct loop *p, int fd, const struct sockaddr *from)
{
    struct connection *c = calloc(1, sizeof *c);
    const bool tls = atomic_load(&p->listener->tls) != NULL;

    if (c != NULL)
        c->request.loop = p;
    if (c == NULL || !crowd_enter(c, from)) {
        loop_count(&p->refused);
        close(fd);
        free(c);
        return;
    }
    c->fd = fd;
    c->phase = tls ? CONNECTION_HANDSHAKE : CONNECTION_HEAD;
    connection_time(c, p->listener->options.head_seconds);
    c->next = p->connections;
    if (c->next != NULL)
        c->next->prev = c;
    p->connections = c;
    atomic_fetch_add_explicit(&p->count, 1, memory_order_relaxed);
    if ((tls && !listen_tls_session(p->listener, &c->tls, fd)) ||
        !connection_watch(c, EPOLL_CTL_ADD))
        connection_close(c);
}

static void connection_end_request(struct connection *c)
{
    answer_forget(c);
    request_end(&c->request);
}

void connection_close(struct connection *c)
{
    struct loop *p = c->request.loop;

    connection_end_request(c);
    connection_drop_buffer(c);
    crowd_leave(c);
    p->nlingering -= c->phase == CONNECTION_LINGER;
    if (c->prev != NULL)
        c->prev->next = c->next;
    else
        p->connections = c->next;
    if (c->next != NULL)
        c->next->prev = c->prev;
    atomic_fetch_sub_explicit(&p->count, 1, memory_order_relaxed);
    transport_close(c); /* what a peer can see comes last */
    free(c);
    loop_accept(p, true);
}

/* ---- A head -------------------------------------------------------------- */

/* Reads more of a head. */
static enum step connection_fill(struct connection *c)
{
    struct connection_buffer *b = c->buffer;
    ssize_t n;

    if (!c->readable) {
        if (b != NULL && b->from == b->end)
            connection_drop_buffer(c);
        return STEP_WAIT;
    }
    if (b == NULL && !connection_take_buffer(c))
        return STEP_CLOSE;
    b = c->buffer;
    if (b->end == sizeof b->bytes) {
        memmove(b->bytes, b->bytes + b->from, b->end - b->from);
        b->end -= b->from;
        b->from = 0;
    }
    n = transport_read(c, b->bytes + b->end, sizeof b->bytes - b->end);
    if (n < 0)
        return STEP_CLOSE;
    if (n != 0 && b->from == b->end && c->served)
        connection_time_read(c,
                             c->request.loop->listener->options.head_seconds);
    b->end += (size_t)n;
    return STEP_AGAIN;
}

/* A body that fits behind its head stays there. */
static void connection_open_body(struct connection *c)
{
    struct connection_buffer *b = c->buffer;
    struct request *q = &c->request;
    const size_t have = b->end - b->from;
    const size_t came = have < q->declared ? have : q->declared;
    uint8_t *here = (uint8_t *)b->bytes + b->from, *to;
    size_t room;

    if (q->declared <= sizeof b->bytes - b->from) {
        request_open_body(q, here);
        b->from += q->declared;
        if (b->end < b->from)
            b->end = b->from;
    } else {
        request_open_body(q, NULL);
        to = came != 0 ? request_body_room(q, &room) : NULL;
        if (to != NULL) /* there is room for all of a buffer */
            memcpy(to, here, came);
        b->from += came;
    }
    request_body_came(q, came);
}

/* Answers Expect: 100-continue, unless the body is on its way already. */
static bool connection_continue(struct connection *c)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct iovec part = {(void *)(uintptr_t)text, sizeof text - 1};
    const struct request *q = &c->request;

    return !q->head->expects_continue || q->came != 0 || q->declared == 0 ||
           transport_write(c, &part, 1) == sizeof text - 1;
}

/* A head is there: refuses it, or goes on to its body. */
static enum step connection_begin(struct connection *c,
                                  enum message_state state)
{
    struct connection_buffer *b = c->buffer;
    struct request *q = &c->request;
    const struct message *m = &b->head;

    request_begin(q, m, state == MESSAGE_WHOLE ? b->bytes + b->from : NULL);
    c->phase = CONNECTION_ANSWER;
    if (state == MESSAGE_BAD) {
        request_refuse(q, m->refusal, m->title, true);
        return STEP_AGAIN;
    }
    b->from += m->size;
    connection_time_read(c, q->loop->listener->options.body_seconds);
    if (!request_admit(q, q->text + m->method.at, m->length)) {
        q->close |= m->length != 0 || m->close;
        return STEP_AGAIN;
    }
    q->close = m->close;
    c->phase = CONNECTION_BODY;
    connection_open_body(c);
    return connection_continue(c) ? STEP_AGAIN : STEP_CLOSE;
}

static enum step connection_head(struct connection *c)
{
    struct connection_buffer *b = c->buffer;
    enum message_state state = MESSAGE_MORE;

    if (b != NULL && b->from != b->end)
        state = message_read(&b->head, b->bytes + b->from, b->end - b->from);
    return state == MESSAGE_MORE ? connection_fill(c)
                                 : connection_begin(c, state);
}

/* ---- A body and its handler ---------------------------------------------- */

static enum step connection_refuse(struct connection *c,
                                   const char *retry_after, const char *title)
{
    request_set(&c->request, "Retry-After", retry_after);
    request_refuse(&c->request, 503, title, true);
    c->phase = CONNECTION_ANSWER;
    return STEP_AGAIN;
}

/* All of it is there. The handler may have answered before it returns, on this
 * thread or another; if not, the connection waits until it does. */
static enum step connection_handle(struct connection *c)
{
    struct request *q = &c->request;
    int handling = REQUEST_HANDLING;

    connection_time(c, 0);
    if (q->dropped)
        return connection_refuse(c, "1", "too many bodies at once");
    if (atomic_load(&q->loop->listener->drained))
        return connection_refuse(c, "10", "the collector is stopping");
    c->phase = CONNECTION_HANDLER;
    atomic_store_explicit(&q->state, REQUEST_HANDLING, memory_order_relaxed);
    q->route->handle(q, q->loop->listener->options.ctx);
    if (atomic_compare_exchange_strong(&q->state, &handling, REQUEST_WAITING))
        return STEP_WAIT;
    c->phase = CONNECTION_ANSWER;
    return STEP_AGAIN;
}

static enum step connection_body(struct connection *c)
{
    struct request *q = &c->request;
    size_t room = q->declared - q->came;
    uint8_t *to, dropped[4096];
    ssize_t n;

    if (room == 0)
        return connection_handle(c);
    if (!c->readable)
        return STEP_WAIT;
    to = request_body_room(q, &room);
    n = to != NULL
            ? transport_read(c, to, room)
            : transport_read(c, dropped,
                             room < sizeof dropped ? room : sizeof dropped);
    if (n < 0)
        return STEP_CLOSE;
    request_body_came(q, (size_t)n);
    c->moved += (size_t)n;
    return STEP_AGAIN;
}

static enum step connection_wait(struct connection *c)
{
    (void)c;
    return STEP_WAIT;
}

/* ---- The answer, and what comes after it --------------------------------- */

/* Sends no more, and lets the peer read. */
static enum step connection_linger(struct connection *c)
{
    struct loop *p = c->request.loop;

    if (p->nlingering == LINGER_MOST || c->ended)
        return STEP_CLOSE;
    transport_shut(c);
    p->nlingering++;
    c->phase = CONNECTION_LINGER;
    c->linger_left = LINGER_BYTES;
    connection_time_read(c, LINGER_SECONDS);
    c->readable = true;
    return STEP_AGAIN;
}

static enum step connection_answer(struct connection *c)
{
    const struct listen_options *o = &c->request.loop->listener->options;
    struct connection_buffer *b = c->buffer;
    bool sent = false;
    const enum step step = answer_step(c, &sent);

    if (!sent)
        return step;
    connection_end_request(c);
    if (c->request.close)
        return connection_linger(c);
    c->phase = CONNECTION_HEAD;
    c->served = true;
    message_begin(&b->head, MESSAGE_REQUEST);
    if (b->from == b->end)
        b->from = b->end = 0;
    connection_time_read(c, b->end != 0 ? o->head_seconds : o->idle_seconds);
    return STEP_AGAIN;
}

static enum step connection_drain(struct connection *c)
{
    ssize_t n;

    if (!c->readable)
        return STEP_WAIT;
    n = transport_drop(c, c->linger_left);
    if (n < 0 || (c->linger_left -= (size_t)n) == 0)
        return STEP_CLOSE;
    return STEP_AGAIN;
}

static enum step connection_handshake(struct connection *c)
{
    const enum transport_state state = transport_handshake(c);

    if (state == TRANSPORT_WAITS)
        return STEP_WAIT;
    if (state == TRANSPORT_FAILED) {
        loop_count(&c->request.loop->refused);
        return STEP_CLOSE;
    }
    c->phase = CONNECTION_HEAD;
    return STEP_AGAIN;
}

/* ---- All of it ----------------------------------------------------------- */

static enum step (*const connection_steps[CONNECTION_PHASES])(
    struct connection *c) = {
    [CONNECTION_HANDSHAKE] = connection_handshake,
    [CONNECTION_HEAD] = connection_head,
    [CONNECTION_BODY] = connection_body,
    [CONNECTION_HANDLER] = connection_wait,
    [CONNECTION_ANSWER] = connection_answer,
    [CONNECTION_LINGER] = connection_drain,
};

void connection_run(struct connection *c)
{
    for (unsigned i = 0; i < CONNECTION_STEPS; i++) {
        const enum step step = connection_steps[c->phase](c);

        if (step == STEP_WAIT)
            return;
        if (step == STEP_CLOSE) {
            connection_close(c);
            return;
        }
    }
    connection_watch(c, EPOLL_CTL_MOD); /* it hears of itself again */
}
