/*
 * http_client.c - see http_client.h.
 *
 * Each connection makes one exchange at a time: it connects, sends the request,
 * reads the response, and is idle until the next. The epoll tells of changes
 * only (EPOLLET), so each step goes on until the socket has no more.
 */
#define _GNU_SOURCE
#include "server/peer/http_client.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "host/base/steady.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CLIENT_EVENTS 64
#define CLIENT_SWEEP_MS 250u
#define CLIENT_CONNECT_MS 5000u
#define CLIENT_IDLE_MS 30000u /* less than servers keep a silent connection */
#define CLIENT_PROBE_MS 2000u /* between attempts to reach a lost target */
#define CLIENT_KEPT 16384u    /* bytes of a request's buffer, between two */
#define CLIENT_RETRIES 2u     /* besides one for each address */

const char *const client_outcomes[CLIENT_OUTCOMES] = {
    [CLIENT_ANSWERED] = "answered", [CLIENT_UNREACHABLE] = "no-link",
    [CLIENT_BROKEN] = "broken",     [CLIENT_PROTOCOL_ERROR] = "strange",
    [CLIENT_TIMEOUT] = "slow",      [CLIENT_STOPPED] = "stopped",
    [CLIENT_BUSY] = "busy"};

struct connection {
    struct target_link link;
    struct exchange *exchange; /* NULL: none */
    struct connection *idle;   /* the next of the idle ones */
    bool open;                 /* or being opened */
    bool used;                 /* it has brought a response before */
    bool admitted;             /* the response that is coming */
    uint64_t since;            /* when it began to connect or to be idle */
    struct target_request request;
    size_t sent; /* bytes of it */
    struct response response;
};

struct client {
    struct client_options options;
    int epoll, wake;
    uint64_t now, swept, tried; /* milliseconds */
    struct connection *connections, *idle;
    struct exchange *first, **last; /* that wait for a connection */
    _Atomic(struct exchange *) submitted;
    _Atomic bool stopping;
    _Atomic uint64_t open, waiting, opened;
};

/* ---- Exchanges ----------------------------------------------------------- */

static void client_wake(struct client *c)
{
    (void)!write(c->wake, &(uint64_t){1}, sizeof(uint64_t));
}

/* Pushes it. The thread that finds the list empty wakes the client's. */
void client_submit(struct client *c, struct exchange *x)
{
    struct exchange *head = atomic_load(&c->submitted);

    x->deadline = steady_ms() + 1000ull * c->options.answer_seconds;
    x->tries = 0;
    do
        x->next = head;
    while (!atomic_compare_exchange_weak(&c->submitted, &head, x));
    if (head == NULL)
        client_wake(c);
}

static void client_enqueue(struct client *c, struct exchange *x)
{
    x->next = NULL;
    *c->last = x;
    c->last = &x->next;
    atomic_fetch_add(&c->waiting, 1);
}

/* Takes the one at *at out of the queue. */
static struct exchange *client_dequeue(struct client *c, struct exchange **at)
{
    struct exchange *x = *at;

    *at = x->next;
    if (*at == NULL)
        c->last = at;
    atomic_fetch_sub(&c->waiting, 1);
    return x;
}

/* Enqueues what was submitted, in the order in which it came. */
static void client_collect(struct client *c)
{
    struct exchange *x = atomic_exchange(&c->submitted, NULL), *first = NULL;

    for (struct exchange *next; x != NULL; x = next) {
        next = x->next;
        x->next = first;
        first = x;
    }
    for (struct exchange *next; first != NULL; first = next) {
        next = first->next;
        client_enqueue(c, first);
    }
}

/* Tries once more by another connection, if it may, or ends with `why`. */
static void client_retry(struct client *c, struct exchange *x,
                         enum client_outcome why, bool may)
{
    if (may && c->now < x->deadline &&
        ++x->tries < CLIENT_RETRIES + c->options.target->n)
        client_enqueue(c, x);
    else
        x->done(x, why, NULL);
}

/* ---- Connections --------------------------------------------------------- */

static void client_disconnect(struct client *c, struct connection *k)
{
    struct connection **at = &c->idle;

    while (*at != NULL && *at != k)
        at = &(*at)->idle;
    if (*at == k)
        *at = k->idle;
    target_end(c->options.target, &k->link);
    response_clear(&k->response);
    free(k->request.bytes);
    *k = (struct connection){.open = false};
    atomic_fetch_sub(&c->open, 1);
}

/* Closes a connection. Its exchange goes on by another one if nothing can have
 * come of it, or ends. */
static void client_fail(struct client *c, struct connection *k,
                        enum client_outcome why)
{
    struct exchange *x = k->exchange;
    const bool stale = k->used && k->response.len == 0;
    const bool may = why == CLIENT_UNREACHABLE ? c->options.target->n > 1
                                               : why == CLIENT_BROKEN && stale;

    client_disconnect(c, k);
    if (x != NULL)
        client_retry(c, x, why, may);
}

static void client_rest(struct client *c, struct connection *k)
{
    k->exchange = NULL;
    k->admitted = false;
    k->since = c->now;
    response_again(&k->response);
    if (k->request.room > CLIENT_KEPT) {
        free(k->request.bytes);
        k->request = (struct target_request){.bytes = NULL};
    }
    k->idle = c->idle;
    c->idle = k;
}

/* Returns a new connection, of which there are fewer than there may be, or NULL
 * if none can be made. */
static struct connection *client_connect(struct client *c)
{
    struct target *to = c->options.target;
    struct connection *k = c->connections;
    struct epoll_event on = {.events =
                                 EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET};

    while (k->open)
        k++;
    c->tried = c->now;
    if (!target_begin(to, &k->link))
        return NULL;
    k->open = true;
    k->since = c->now;
    k->response.limit = c->options.body_bytes;
    response_again(&k->response);
    atomic_fetch_add(&c->open, 1);
    on.data.ptr = k;
    if (epoll_ctl(c->epoll, EPOLL_CTL_ADD, k->link.fd, &on) == 0)
        return k;
    client_disconnect(c, k);
    return NULL;
}

/* ---- An exchange on its connection --------------------------------------- */

/* Returns false if the socket will never take the rest. */
static bool client_send(struct connection *k)
{
    ssize_t n = 1;

    while (n > 0 && k->sent < k->request.len) {
        n = target_send(&k->link, k->request.bytes + k->sent,
                        k->request.len - k->sent);
        k->sent += n > 0 ? (size_t)n : 0;
    }
    return n >= 0;
}

/* Reads what has come. *over is set if no more will come. */
static enum message_state client_read(struct connection *k, bool *over)
{
    enum message_state state = MESSAGE_MORE;

    while (state == MESSAGE_MORE && !*over) {
        size_t room = 0;
        uint8_t *to = response_room(&k->response, &room);
        const ssize_t n = to != NULL ? target_receive(&k->link, to, room) : -1;

        *over = n < 0;
        if (n == 0)
            break;
        if (n > 0)
            state = response_add(&k->response, (size_t)n);
    }
    return state;
}

/* Returns false if the head has come and its exchange does not want the body.
 */
static bool client_admit(struct connection *k)
{
    struct exchange *x = k->exchange;

    if (!k->admitted && k->response.head.size != 0)
        k->admitted = x->admit == NULL || x->admit(x, k->response.head.length);
    return k->admitted || k->response.head.size == 0;
}

static void client_complete(struct client *c, struct connection *k)
{
    const bool last = k->response.head.close || k->sent != k->request.len;

    k->used = true;
    k->exchange->done(k->exchange, CLIENT_ANSWERED, &k->response);
    if (last)
        client_disconnect(c, k);
    else
        client_rest(c, k);
}

/* Sends and receives as much as can be now. A server may answer before it has
 * read the whole request. What comes while nothing was asked ends the
 * connection, whatever it is. */
static void client_progress(struct client *c, struct connection *k)
{
    const bool idle = k->exchange == NULL, sendable = idle || client_send(k);
    bool over = false;
    const enum message_state state = client_read(k, &over);

    over |= !sendable;
    if (idle && !over && k->response.len == 0)
        return;
    if (idle || (state == MESSAGE_MORE && over))
        client_fail(c, k, CLIENT_BROKEN);
    else if (state == MESSAGE_BAD)
        client_fail(c, k, CLIENT_PROTOCOL_ERROR);
    else if (!client_admit(k))
        client_fail(c, k, CLIENT_BUSY);
    else if (state == MESSAGE_WHOLE)
        client_complete(c, k);
}

static void client_start(struct client *c, struct connection *k,
                         struct exchange *x)
{
    k->sent = 0;
    if (!target_compose(c->options.target, &k->request, x->body, x->len)) {
        client_disconnect(c, k);
        x->done(x, CLIENT_BUSY, NULL);
        return;
    }
    k->exchange = x;
    if (k->link.up && !client_send(k))
        client_progress(c, k);
}

/* Returns true if nothing has come since the last response: it would be read as
 * the next response. The epoll may have reported it already. */
static bool client_is_quiet(struct connection *k)
{
    uint8_t byte;

    return target_receive(&k->link, &byte, 1) == 0;
}

/* Starts what waits, as far as there are connections. */
static void client_assign(struct client *c)
{
    while (
        c->first != NULL &&
        (c->idle != NULL || atomic_load(&c->open) < c->options.connections)) {
        struct connection *k = c->idle;
        struct exchange *x;

        if (k == NULL) {
            k = client_connect(c);
        } else if (client_is_quiet(k)) {
            c->idle = k->idle;
        } else {
            client_disconnect(c, k);
            continue;
        }
        x = client_dequeue(c, &c->first);
        if (k != NULL)
            client_start(c, k, x);
        else
            client_retry(c, x, CLIENT_UNREACHABLE, c->options.target->n > 1);
    }
}

/* ---- The loop ------------------------------------------------------------ */

static void client_event(struct client *c, struct connection *k)
{
    if (!k->link.up) {
        const enum target_step step = target_go_on(c->options.target, &k->link);

        if (step == TARGET_FAILED)
            client_fail(c, k, CLIENT_UNREACHABLE);
        if (step != TARGET_DONE)
            return;
        atomic_fetch_add(&c->opened, 1);
        if (k->exchange == NULL)
            client_rest(c, k);
    }
    client_progress(c, k);
}

/* Ends a connection that takes too long, or is not needed any more. */
static void client_sweep_one(struct client *c, struct connection *k)
{
    const uint64_t age = c->now - k->since;

    if (!k->link.up && age > CLIENT_CONNECT_MS)
        client_fail(c, k, CLIENT_UNREACHABLE);
    else if (k->exchange != NULL && c->now > k->exchange->deadline)
        client_fail(c, k, CLIENT_TIMEOUT);
    else if (k->exchange == NULL && k->link.up && atomic_load(&c->open) > 1 &&
             age > CLIENT_IDLE_MS)
        client_disconnect(c, k);
}

static void client_sweep(struct client *c)
{
    struct exchange **at = &c->first;

    c->swept = c->now;
    for (unsigned i = 0; i < c->options.connections; i++)
        if (c->connections[i].open)
            client_sweep_one(c, &c->connections[i]);
    while (*at != NULL)
        if (c->now > (*at)->deadline) {
            struct exchange *x = client_dequeue(c, at);

            x->done(x, CLIENT_TIMEOUT, NULL);
        } else {
            at = &(*at)->next;
        }
    if (c->options.probe && atomic_load(&c->open) == 0 &&
        (c->tried == 0 || c->now - c->tried >= CLIENT_PROBE_MS))
        (void)client_connect(c);
}

static void client_abort(struct client *c)
{
    client_collect(c);
    for (unsigned i = 0; i < c->options.connections; i++)
        if (c->connections[i].open)
            client_fail(c, &c->connections[i], CLIENT_STOPPED);
    while (c->first != NULL) {
        struct exchange *x = client_dequeue(c, &c->first);

        x->done(x, CLIENT_STOPPED, NULL);
    }
}

bool client_turn(struct client *c)
{
    struct epoll_event events[CLIENT_EVENTS];
    const int n =
        epoll_wait(c->epoll, events, CLIENT_EVENTS, (int)CLIENT_SWEEP_MS);
    uint64_t count;

    c->now = steady_ms();
    for (int i = 0; i < n; i++)
        if (events[i].data.ptr != NULL)
            client_event(c, events[i].data.ptr);
        else
            (void)!read(c->wake, &count, sizeof count);
    if (atomic_load(&c->stopping)) {
        client_abort(c);
        return false;
    }
    client_collect(c);
    client_assign(c);
    if (c->now - c->swept >= CLIENT_SWEEP_MS)
        client_sweep(c);
    return true;
}

void client_stop(struct client *c)
{
    atomic_store(&c->stopping, true);
    client_wake(c);
}

/* ---- One request after the other ----------------------------------------- */

struct client_posted {
    struct exchange exchange; /* the first */
    struct response *response;
    enum client_outcome outcome;
};

static void client_posted(struct exchange *x, enum client_outcome outcome,
                          struct response *r)
{
    struct client_posted *p = (struct client_posted *)x;

    p->outcome = outcome;
    if (r != NULL) {
        *p->response = *r;
        *r = (struct response){.limit = r->limit};
    }
}

enum client_outcome client_post(struct client *c, const uint8_t *body,
                                size_t len, struct response *out)
{
    struct client_posted p = {
        .exchange = {.body = body, .len = len, .done = client_posted},
        .response = out,
        .outcome = CLIENT_OUTCOMES};

    *out = (struct response){.bytes = NULL};
    client_submit(c, &p.exchange);
    while (p.outcome == CLIENT_OUTCOMES)
        (void)client_turn(c);
    return p.outcome;
}

/* ---- Opening and closing ------------------------------------------------- */

hsy_status client_open(struct client **out, const struct client_options *o,
                       hsy_error *err)
{
    struct client *c = calloc(1, sizeof *c);
    struct epoll_event on = {.events = EPOLLIN};

    if (c == NULL)
        return host_nomem(err);
    c->options = *o;
    c->last = &c->first;
    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    c->connections = calloc(o->connections, sizeof *c->connections);
    *out = c;
    if (c->connections == NULL)
        return host_nomem(err);
    return c->epoll != -1 && c->wake != -1 &&
                   epoll_ctl(c->epoll, EPOLL_CTL_ADD, c->wake, &on) == 0
               ? HSY_OK
               : host_fail(err, HSY_E_IO, HSY_FIELD_NONE,
                           "there are no descriptors left");
}

void client_close(struct client *c)
{
    if (c == NULL)
        return;
    if (c->connections != NULL)
        client_abort(c);
    if (c->epoll != -1)
        close(c->epoll);
    if (c->wake != -1)
        close(c->wake);
    free(c->connections);
    free(c);
}

void client_status(const struct client *c, struct client_status *sum)
{
    sum->connections += atomic_load(&c->open);
    sum->waiting += atomic_load(&c->waiting);
    sum->opened += atomic_load(&c->opened);
}
