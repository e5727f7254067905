/*
 * listen.c - a listener's loops: threads, deadlines, draining.
 */
#define _GNU_SOURCE
#include "server/http/internal.h"

#include "host/base/host_fail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* How often deadlines are looked at. */
#define LISTEN_SWEEP_MS 250
/* Events heard of in a turn, at most. */
#define LOOP_EVENTS 128
#define LOOP_ACCEPTS 64u /* connections taken in a turn, at most */

/* Milliseconds. */
static uint64_t listen_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return 1000 * (uint64_t)t.tv_sec + (uint64_t)t.tv_nsec / 1000000;
}

void loop_wake(struct loop *p)
{
    const uint64_t one = 1;

    while (write(p->wake, &one, sizeof one) == -1 && errno == EINTR)
        ;
}

/* ---- Connections --------------------------------------------------------- */

static unsigned loop_limit(const struct loop *p)
{
    const struct listen_options *o = &p->listener->options;

    return o->connections / o->loops + 1;
}

static bool loop_full(const struct loop *p)
{
    return atomic_load_explicit(&p->count, memory_order_relaxed) >=
           loop_limit(p);
}

/* Of a socket that other loops have too, one loop is told. */
void loop_accept(struct loop *p, bool on)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLEXCLUSIVE,
                                .data.ptr = p};

    if (on == p->accepting || (on && (p->quiet || loop_full(p))))
        return;
    if (epoll_ctl(p->epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, p->socket,
                  &event) == 0)
        p->accepting = on;
}

/* Takes some connections; the epoll tells of more. What goes wrong beyond a
 * connection that has gone is tried again by the next sweep. */
static void loop_take(struct loop *p)
{
    for (unsigned i = 0; i < LOOP_ACCEPTS && p->accepting; i++) {
        struct sockaddr_storage from;
        socklen_t len = sizeof from;
        const int fd = accept4(p->socket, (struct sockaddr *)&from, &len,
                               SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd != -1) {
            connection_accept(p, fd, (struct sockaddr *)&from);
            explicit_bzero(&from, sizeof from); /* no address is kept */
        } else if (errno == EAGAIN) {
            return;
        }
        if ((fd == -1 && errno != ECONNABORTED && errno != EINTR) ||
            loop_full(p))
            loop_accept(p, false);
    }
}

/* Closes connections whose time is up. */
static void loop_sweep(struct loop *p)
{
    const bool full = loop_full(p);

    for (struct connection *next, *c = p->connections; c != NULL; c = next) {
        next = c->next;
        if (!connection_late(c, full))
            continue;
        if (c->phase != CONNECTION_LINGER)
            loop_count(&p->timeouts);
        connection_close(c);
    }
    loop_accept(p, true);
    p->swept = p->now;
}

/* ---- Draining ------------------------------------------------------------ */

/* Accept no more. What is idle or has just come has a second: a request may be
 * on its way, and its answer then says that it is the last. So has a body that
 * is not whole: a stranger who sends half of one must not hold up a restart. */
static void loop_quiet(struct loop *p)
{
    loop_accept(p, false);
    p->quiet = true;
    close(p->socket);
    p->socket = -1;
    for (struct connection *c = p->connections; c != NULL; c = c->next)
        if ((c->phase <= CONNECTION_BODY || c->phase == CONNECTION_LINGER) &&
            c->since + c->allowed > p->now + 1000)
            connection_time(c, 1);
}

/* ---- The loop ------------------------------------------------------------ */

/* Sends the answers that have come, all at once. */
static void loop_answer(struct loop *p)
{
    struct request *q = atomic_exchange(&p->answers, NULL);

    while (q != NULL) {
        struct request *next = q->answered;

        connection_of(q)->phase = CONNECTION_ANSWER;
        connection_run(connection_of(q));
        q = next;
    }
}

static void loop_event(struct loop *p, const struct epoll_event *e)
{
    struct connection *c = e->data.ptr;

    if (e->data.ptr == p) {
        loop_take(p);
    } else if (c != NULL) {
        c->ended |= (e->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
        c->readable |= c->ended || (e->events & EPOLLIN) != 0;
        connection_run(c);
    }
}

/* Waits for something to do, and does it. Who pushes an answer after the list
 * was looked at finds the loop asleep and wakes it. */
static void loop_turn(struct loop *p)
{
    struct epoll_event events[LOOP_EVENTS];
    int n;

    atomic_store(&p->sleeping, true);
    n = epoll_wait(p->epoll, events, LOOP_EVENTS,
                   atomic_load(&p->answers) != NULL ? 0 : LISTEN_SWEEP_MS);
    atomic_store(&p->sleeping, false);
    p->now = listen_clock();
    for (int i = 0; i < n; i++)
        loop_event(p, &events[i]);
    loop_answer(p);
}

static void *loop_main(void *arg)
{
    struct loop *p = arg;
    struct listener *l = p->listener;

    while (!atomic_load_explicit(&l->stopping, memory_order_relaxed)) {
        atomic_fetch_add(&p->turns, 1);
        loop_turn(p);
        if (p->now - p->swept >= LISTEN_SWEEP_MS)
            loop_sweep(p);
        if (!p->quiet && atomic_load(&l->drain_until) != 0)
            loop_quiet(p);
    }
    return NULL;
}

/* ---- Opening ------------------------------------------------------------- */

static hsy_status loop_open(struct loop *p, hsy_error *err)
{
    struct epoll_event edge = {.events = EPOLLIN | EPOLLET}; /* never read */

    p->now = p->swept = listen_clock();
    p->epoll = epoll_create1(EPOLL_CLOEXEC);
    p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    p->buffers = calloc(LOOP_BUFFERS, sizeof *p->buffers);
    if (p->epoll == -1 || p->wake == -1 || p->buffers == NULL ||
        epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->wake, &edge) != 0)
        return host_fail(err, HSY_E_IO, HOST_FIELD_LISTEN,
                         "cannot make an event loop");
    loop_accept(p, true);
    return p->accepting ? HSY_OK
                        : host_fail(err, HSY_E_IO, HOST_FIELD_LISTEN,
                                    "cannot watch a listener");
}

hsy_status listen_open(struct listener **out, const struct listen_options *o,
                       hsy_error *err)
{
    struct listener *l = calloc(1, sizeof *l);
    hsy_status st;

    if (l == NULL)
        return host_nomem(err);
    l->options = *o;
    if (l->options.loops == 0 || strncmp(o->address, "unix:", 5) == 0)
        l->options.loops = 1;
    l->loops = calloc(l->options.loops, sizeof *l->loops);
    if (l->loops == NULL) {
        free(l);
        return host_nomem(err);
    }
    for (unsigned i = 0; i < l->options.loops; i++) {
        l->loops[i].listener = l;
        l->loops[i].socket = l->loops[i].epoll = l->loops[i].wake = -1;
    }
    st = listen_tls_open(l, err);
    if (st == HSY_OK && !crowd_open(l))
        st = host_nomem(err);
    if (st == HSY_OK)
        st = listen_bind(l, err);
    for (unsigned i = 0; st == HSY_OK && i < l->options.loops; i++)
        st = loop_open(&l->loops[i], err);
    if (st != HSY_OK) {
        listen_close(l);
        return st;
    }
    *out = l;
    return HSY_OK;
}

hsy_status listen_start(struct listener *l, hsy_error *err)
{
    for (unsigned i = 0; i < l->options.loops; i++) {
        struct loop *p = &l->loops[i];

        if (pthread_create(&p->thread, NULL, loop_main, p) != 0)
            return host_fail(err, HSY_E_IO, HOST_FIELD_LISTEN,
                             "cannot start a thread");
        p->running = true;
    }
    return HSY_OK;
}

uint16_t listen_port(const struct listener *l)
{
    return l->port;
}

void listen_status(const struct listener *l, struct listen_status *out)
{
    *out = (struct listen_status){.inflight_bytes = atomic_load(&l->inflight) +
                                                    atomic_load(&l->small)};
    for (unsigned i = 0; i < l->options.loops; i++) {
        const struct loop *p = &l->loops[i];

        out->connections += atomic_load(&p->count);
        out->requests += atomic_load(&p->requests);
        out->refused += atomic_load(&p->refused);
        out->full += atomic_load(&p->full);
        out->timeouts += atomic_load(&p->timeouts);
        for (int h = 0; h < 6; h++)
            out->answers[h] += atomic_load(&p->by_hundred[h]);
    }
}

bool listen_turned(struct listener *l)
{
    bool all = true;

    for (unsigned i = 0; i < l->options.loops; i++) {
        struct loop *p = &l->loops[i];
        const uint64_t turns = atomic_load(&p->turns);

        all &= turns != p->turned;
        p->turned = turns;
    }
    return all;
}

/* ---- Closing ------------------------------------------------------------- */

/* Wait until the loop has begun another turn: what it did before is done. */
static void listen_turn(struct loop *p)
{
    const uint64_t turn = atomic_load(&p->turns);

    while (p->running && atomic_load(&p->turns) == turn) {
        loop_wake(p);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

void listen_drain(struct listener *l, uint32_t seconds)
{
    uint64_t until = listen_clock() + 1000ull * seconds;
    struct listen_status now;

    atomic_store(&l->drain_until, until);
    for (unsigned i = 0; i < l->options.loops; i++)
        if (l->loops[i].running)
            loop_wake(&l->loops[i]);
    do {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        listen_status(l, &now);
    } while (now.connections != 0 && listen_clock() < until);
    atomic_store(&l->drained, true);
    for (unsigned i = 0; i < l->options.loops; i++)
        listen_turn(&l->loops[i]);
}

static void loop_close(struct loop *p)
{
    if (p->running) {
        loop_wake(p);
        pthread_join(p->thread, NULL);
    }
    while (p->connections != NULL)
        connection_close(p->connections);
    free(p->buffers);
    free(p->scratch);
    if (p->socket != -1)
        close(p->socket);
    if (p->epoll != -1)
        close(p->epoll);
    if (p->wake != -1)
        close(p->wake);
}

void listen_close(struct listener *l)
{
    if (l == NULL)
        return;
    atomic_store(&l->stopping, true);
    for (unsigned i = 0; i < l->options.loops; i++)
        loop_close(&l->loops[i]);
    if (l->unix_path != NULL && !l->handed)
        unlink(l->unix_path);
    listen_tls_close(l);
    crowd_close(l);
    free(l->unix_path);
    free(l->loops);
    free(l);
}
