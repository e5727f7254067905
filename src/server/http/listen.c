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
/* Events heard of at a time, and how often in a turn, at most. */
#define LOOP_EVENTS 64
#define LOOP_ROUNDS 64u

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

static void loop_enter(struct loop *p, struct MHD_Connection *http, void **at)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(http, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct request *q = info == NULL ? NULL : calloc(1, sizeof *q);

    *at = q;
    if (q == NULL)
        return; /* its first request is cut off */
    q->kind = LOOP_CONNECTION;
    q->loop = p;
    q->http = http;
    q->fd = info->connect_fd;
    q->hidden = -1;
    q->deadline = request_until(q, p->listener->options.head_seconds);
    park_watch(p, q, EPOLL_CTL_ADD);
    crowd_enter(q);
    q->next = p->connections;
    if (q->next != NULL)
        q->next->prev = q;
    p->connections = q;
    atomic_fetch_add_explicit(&p->count, 1, memory_order_relaxed);
}

static void loop_leave(struct loop *p, struct request *q)
{
    if (q == NULL)
        return;
    gone_show(q);
    crowd_leave(q);
    epoll_ctl(p->epoll, EPOLL_CTL_DEL, q->fd, NULL);
    if (q->linger)
        linger_begin(p, q->fd);
    if (q->prev != NULL)
        q->prev->next = q->next;
    else
        p->connections = q->next;
    if (q->next != NULL)
        q->next->prev = q->prev;
    atomic_fetch_sub_explicit(&p->count, 1, memory_order_relaxed);
    free(q);
}

static void loop_connection(void *loop, struct MHD_Connection *http, void **at,
                            enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        loop_enter(loop, http, at);
    } else {
        loop_leave(loop, *at);
        *at = NULL;
    }
}

static unsigned loop_limit(const struct loop *p)
{
    const struct listen_options *o = &p->listener->options;

    return o->connections / o->loops + 1;
}

/* How long what has come of a body, or gone of an answer, puts its end off. A
 * body puts nothing off where bodies have little room left, if its sender sends
 * no more, or while the listener drains. */
static uint64_t loop_pace(const struct loop *p, const struct request *q,
                          int state)
{
    if (state == REQUEST_READING &&
        (q->gone || p->quiet || body_pressed(p->listener)))
        return 0;
    return 1000 * q->moved / LISTEN_SLOWEST;
}

/* How much sooner than otherwise time is up where there is no room for another
 * connection. What keeps pace is not hurt by it. */
static uint64_t loop_early(const struct listen_options *o,
                           const struct request *q, int state)
{
    uint64_t has = o->body_seconds, left = LISTEN_FULL_MS;

    if (state == REQUEST_NONE)
        has = q->served ? o->idle_seconds : o->head_seconds;
    if (state == REQUEST_NONE && q->served)
        left = LISTEN_FULL_IDLE_MS;
    return 1000 * has > left ? 1000 * has - left : 0;
}

/* Whether its time is up. */
static bool loop_late(const struct loop *p, const struct request *q, bool full)
{
    const int state = atomic_load_explicit(&q->state, memory_order_relaxed);
    const uint64_t early =
        full ? loop_early(&p->listener->options, q, state) : 0;

    return q->deadline != 0 &&
           q->deadline + loop_pace(p, q, state) <= p->now + early;
}

/* Connections whose time is up: libmicrohttpd sees them closed. */
static void loop_sweep(struct loop *p)
{
    bool full =
        atomic_load_explicit(&p->count, memory_order_relaxed) >= loop_limit(p);

    for (struct request *q = p->connections; q != NULL; q = q->next)
        if (loop_late(p, q, full)) {
            q->deadline = 0;
            atomic_fetch_add_explicit(&p->timeouts, 1, memory_order_relaxed);
            shutdown(q->fd, SHUT_RDWR);
        }
    linger_sweep(p, false);
    p->swept = p->now;
}

/* ---- Draining ------------------------------------------------------------ */

/* Listen no more, and let the socket live that somebody else has as well:
 * libmicrohttpd would shut it down for all. */
static void loop_deafen(struct loop *p)
{
    MHD_quiesce_daemon(p->http);
    close(p->socket);
    p->socket = -1;
}

/* Accept no more. What is idle or has just come has a second: a request may be
 * on its way, and its answer then says that it is the last. So has a body that
 * is not whole: whoever sends half of one must not hold up a restart. */
static void loop_quiet(struct loop *p)
{
    p->quiet = true;
    loop_deafen(p);
    for (struct request *q = p->connections; q != NULL; q = q->next)
        if (atomic_load(&q->state) <= REQUEST_READING &&
            q->deadline > p->now + 1000)
            q->deadline = p->now + 1000;
}

/* ---- The loop ------------------------------------------------------------ */

/* Connections whose answers have come, all at once. */
static void loop_resume(struct loop *p)
{
    struct request *q =
        atomic_exchange_explicit(&p->answers, NULL, memory_order_acquire);

    while (q != NULL) {
        struct request *next = q->answered;

        if (q->gone)
            gone_resume(p, q);
        else
            MHD_resume_connection(q->http);
        q = next;
    }
}

/* Nobody answers any more: cut off what still waits. */
static void loop_end(struct loop *p)
{
    struct request *q;

    loop_resume(p);
    park_none(p);
    for (q = p->connections; q != NULL; q = q->next)
        if (atomic_load(&q->state) == REQUEST_WAITING) {
            q->status = 0;
            atomic_store(&q->state, REQUEST_ANSWERED);
            MHD_resume_connection(q->http);
        }
    for (int i = 0; i < 3; i++)
        MHD_run(p->http);
}

static int loop_timeout(struct loop *p)
{
    MHD_UNSIGNED_LONG_LONG ms;

    if (MHD_get_timeout(p->http, &ms) == MHD_YES && ms < LISTEN_SWEEP_MS)
        return (int)ms;
    return LISTEN_SWEEP_MS;
}

/*
 * Its peer sends no more. libmicrohttpd overlooks that if it comes together
 * with the last bytes: what has come is answered, but nothing is waited for.
 */
static void loop_gone(struct request *q)
{
    const int state = atomic_load(&q->state);

    q->gone = true;
    if (state <= REQUEST_READING && q->deadline != 0)
        q->deadline = request_until(q, 0);
}

static void loop_event(struct loop *p, struct epoll_event *e)
{
    const enum loop_kind *kind = e->data.ptr;

    if (kind == NULL)
        return; /* libmicrohttpd's, or a wake-up */
    if (*kind == LOOP_LINGERS) {
        linger_drop(p, e->data.ptr);
        return;
    }
    if ((e->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0)
        loop_gone(e->data.ptr);
    park_wake(p, e->data.ptr);
}

/* Wait for something to do. All that has happened is heard of before answers
 * are looked for: whose peer has gone by then is known. */
static void loop_wait(struct loop *p)
{
    struct epoll_event events[LOOP_EVENTS];
    int n = epoll_wait(p->epoll, events, LOOP_EVENTS, loop_timeout(p));

    p->now = listen_clock();
    for (unsigned round = 0; n > 0; round++) {
        for (int i = 0; i < n; i++)
            loop_event(p, &events[i]);
        if (n < LOOP_EVENTS || round == LOOP_ROUNDS)
            return;
        n = epoll_wait(p->epoll, events, LOOP_EVENTS, 0);
    }
}

static void *loop_main(void *arg)
{
    struct loop *p = arg;
    struct listener *l = p->listener;

    while (!atomic_load_explicit(&l->stopping, memory_order_relaxed)) {
        atomic_fetch_add(&p->turns, 1);
        loop_wait(p);
        loop_resume(p);
        MHD_run(p->http);
        if (l->options.tls_cert != NULL)
            park_waiting(p);
        if (p->now - p->swept >= LISTEN_SWEEP_MS)
            loop_sweep(p);
        if (!p->quiet && atomic_load(&l->drain_until) != 0)
            loop_quiet(p);
    }
    loop_end(p);
    return NULL;
}

/* ---- Opening ------------------------------------------------------------- */

/* TLS: R25. No tickets and no session cache are offered by libmicrohttpd
 * without being asked; early data is off unless asked for. */
static const char *listen_priorities(const struct listen_options *o)
{
    return o->tls12 ? "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:"
                      "-RSA:-CIPHER-ALL:+AES-256-GCM:+AES-128-GCM:"
                      "+CHACHA20-POLY1305:+AES-256-CCM:+AES-128-CCM:"
                      "-MAC-ALL:+AEAD:%NO_TICKETS"
                    : "SECURE128:-VERS-ALL:+VERS-TLS1.3:%NO_TICKETS";
}

/* From this version on libmicrohttpd unfolds lines and accepts bare LF unless
 * it is told to be strict. Older ones leave such heads to head.c, which answers
 * where a strict library would close without an answer. */
#define LOOP_STRICT_VERSION "0.9.77"

bool loop_daemon(struct loop *p)
{
    const struct listen_options *o = &p->listener->options;
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_ERROR_LOG |
                     (p->socket == -1 ? MHD_USE_NO_LISTEN_SOCKET : 0);
    const bool tls = atomic_load(&p->listener->tls) != NULL;
    const int strict = strverscmp(MHD_get_version(), LOOP_STRICT_VERSION) >= 0;

    p->http = MHD_start_daemon(
        tls ? flags | MHD_USE_TLS : flags, 0, crowd_admit, p, request_step, p,
        MHD_OPTION_EXTERNAL_LOGGER, listen_complaint, p,
        MHD_OPTION_STRICT_FOR_CLIENT, strict, MHD_OPTION_CONNECTION_LIMIT,
        loop_limit(p), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)LISTEN_HEAD_BYTES, MHD_OPTION_NOTIFY_CONNECTION,
        loop_connection, p, MHD_OPTION_NOTIFY_COMPLETED, request_over, p,
        MHD_OPTION_UNESCAPE_CALLBACK, listen_unescape, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, request_line, p,
        p->socket != -1 ? MHD_OPTION_LISTEN_SOCKET : MHD_OPTION_END, p->socket,
        tls ? MHD_OPTION_HTTPS_CERT_CALLBACK2 : MHD_OPTION_END, listen_tls_pick,
        MHD_OPTION_HTTPS_PRIORITIES, listen_priorities(o), MHD_OPTION_END);
    return p->http != NULL;
}

static bool loop_descriptors(struct loop *p)
{
    p->epoll = epoll_create1(EPOLL_CLOEXEC);
    p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    p->no_content =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    return p->epoll != -1 && p->wake != -1 && p->no_content != NULL &&
           gone_open(p);
}

static bool loop_watch(struct loop *p)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(p->http, MHD_DAEMON_INFO_EPOLL_FD);
    struct epoll_event on = {.events = EPOLLIN},
                       edge = {.events = EPOLLIN | EPOLLET}; /* never read */

    return info != NULL &&
           epoll_ctl(p->epoll, EPOLL_CTL_ADD, info->epoll_fd, &on) == 0 &&
           epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->wake, &edge) == 0;
}

static hsy_status loop_open(struct loop *p, hsy_error *err)
{
    p->now = p->swept = listen_clock();
    if (!loop_descriptors(p))
        return host_fail(err, HSY_E_IO, HOST_FIELD_LISTEN,
                         "cannot make an event loop");
    if (!loop_daemon(p))
        return host_fail(err, HSY_E_IO, HOST_FIELD_LISTEN,
                         "cannot start a listener");
    return loop_watch(p) ? HSY_OK
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
        l->loops[i].silent[0] = l->loops[i].silent[1] = -1;
    }
    st = listen_probe(err);
    if (st == HSY_OK && o->tls_cert != NULL)
        st = listen_certify(l, o->tls_cert, o->tls_key, err);
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
    if (p->http != NULL) {
        if (p->socket != -1)
            loop_deafen(p);
        MHD_stop_daemon(p->http);
    }
    linger_sweep(p, true);
    if (p->socket != -1)
        close(p->socket);
    if (p->no_content != NULL)
        MHD_destroy_response(p->no_content);
    if (p->epoll != -1)
        close(p->epoll);
    if (p->wake != -1)
        close(p->wake);
    gone_close(p);
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
    listen_tls_free(l);
    crowd_close(l);
    free(l->unix_path);
    free(l->loops);
    free(l);
}
