/*
 * pool_link.c - one connection to the gateway: it connects, sends one request,
 * reads one answer, and is free for the next.
 *
 * The epoll of its thread tells of changes only (EPOLLET), so each step goes on
 * until the socket has no more. A connection that the gateway has closed while
 * it was free shows that when the next request is sent, or before; the same
 * bytes are then sent by another, which is harmless: an upload counts once.
 */
#define _GNU_SOURCE
#include "server/relay/internal.h"

#include <stdlib.h>
#include <sys/epoll.h>

#define LINK_CONNECT_MS 5000u
#define LINK_IDLE_MS 30000u /* less than servers keep one that is silent */

/* ---- Long answers -------------------------------------------------------- */

/* Counts an answer whose head says that it is long. Returns false if there are
 * too many. */
static bool link_count(struct pool_thread *t, struct pool_link *k)
{
    const struct pool_options *o = &t->pool->options;

    if (k->counted || k->answer.body == 0 ||
        k->answer.head.length <= POOL_SHORT)
        return true;
    k->counted = atomic_fetch_add(o->long_count, 1) < o->long_most;
    if (!k->counted)
        atomic_fetch_sub(o->long_count, 1);
    return k->counted;
}

static void link_uncount(struct pool_thread *t, struct pool_link *k)
{
    if (k->counted)
        atomic_fetch_sub(t->pool->options.long_count, 1);
    k->counted = false;
}

/* ---- Ending -------------------------------------------------------------- */

void link_close(struct pool_thread *t, struct pool_link *k)
{
    struct pool_link **at = &t->free;

    while (*at != NULL && *at != k)
        at = &(*at)->free;
    if (*at == k)
        *at = k->free;
    if (k->prev != NULL)
        k->prev->next = k->next;
    else
        t->links = k->next;
    if (k->next != NULL)
        k->next->prev = k->prev;
    t->nlinks--;
    atomic_fetch_sub(&t->pool->links, 1);
    target_end(&k->to);
    link_uncount(t, k);
    response_clear(&k->answer);
    free(k->out.bytes);
    free(k);
}

/* Records how an attempt to connect ended. */
static void link_tried(struct pool_thread *t, const struct pool_link *k)
{
    struct pool *p = t->pool;

    atomic_store(&p->last[k->to.turn % p->options.gateway->n], k->to.failure);
    atomic_store(&p->reached, k->to.up);
}

/* It is over; its job, if it has one, goes on by another or fails. */
static void link_broken(struct pool_thread *t, struct pool_link *k,
                        enum pool_failure why)
{
    struct target *g = t->pool->options.gateway;
    struct pool_job *job = k->job;
    const bool up = k->to.up;
    const bool silent = k->answer.len == 0 && why == POOL_BROKEN;
    const bool may = up ? silent && k->used : g->n > 1;

    if (!up) {
        unsigned turn = k->to.turn;

        atomic_compare_exchange_strong(&g->turn, &turn, turn + 1);
        link_tried(t, k);
        why = POOL_NO_LINK;
    }
    link_close(t, k);
    if (job != NULL)
        job_again(t, job, why, may);
}

static void link_rest(struct pool_thread *t, struct pool_link *k)
{
    k->job = NULL;
    k->since = t->now;
    link_uncount(t, k);
    response_again(&k->answer);
    k->free = t->free;
    t->free = k;
}

/* ---- Sending ------------------------------------------------------------- */

static bool link_write(struct pool_thread *t, struct pool_link *k)
{
    while (k->out_at < k->out.len) {
        const ssize_t n = target_send(&k->to, k->out.bytes + k->out_at,
                                      k->out.len - k->out_at);

        if (n < 0) {
            link_broken(t, k, POOL_BROKEN);
            return false;
        }
        if (n == 0)
            break;
        k->out_at += (size_t)n;
    }
    return true;
}

void link_take(struct pool_thread *t, struct pool_link *k, struct pool_job *job)
{
    size_t len;
    const uint8_t *body = request_body(job->request, &len);

    k->job = job;
    k->out_at = 0;
    if (!target_compose(t->pool->options.gateway, &k->out, body, len)) {
        k->job = NULL;
        job_fail(t->pool, job, POOL_BUSY);
        link_close(t, k);
    } else if (k->to.up) {
        link_write(t, k);
    }
}

/* What has come since the last answer belongs to nobody, and would be read as
 * the answer of whoever is next; the epoll may have told of it already. */
bool link_quiet(struct pool_link *k)
{
    uint8_t byte;

    return target_receive(&k->to, &byte, 1) == 0;
}

/* ---- Connecting ---------------------------------------------------------- */

static void link_up(struct pool_thread *t, struct pool_link *k)
{
    link_tried(t, k);
    atomic_fetch_add(&t->pool->opened, 1);
    if (k->job == NULL)
        link_rest(t, k);
    else
        link_write(t, k);
}

struct pool_link *link_open(struct pool_thread *t)
{
    struct pool_link *k = calloc(1, sizeof *k);
    struct epoll_event on = {
        .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = k};
    bool begun;

    if (k == NULL)
        return NULL;
    begun = target_begin(t->pool->options.gateway, &k->to);
    k->answer.most = RESPONSE_BODY_MAX;
    k->since = t->tried = t->now;
    k->next = t->links;
    if (t->links != NULL)
        t->links->prev = k;
    t->links = k;
    t->nlinks++;
    atomic_fetch_add(&t->pool->links, 1);
    if (begun && epoll_ctl(t->epoll, EPOLL_CTL_ADD, k->to.fd, &on) == 0)
        return k;
    link_broken(t, k, POOL_NO_LINK);
    return NULL;
}

/* ---- Reading ------------------------------------------------------------- */

static void link_whole(struct pool_thread *t, struct pool_link *k)
{
    struct pool_job *job = k->job;
    const bool over = k->answer.head.close || k->out_at != k->out.len;

    k->job = NULL;
    k->used = true;
    job_answer(t->pool, job, &k->answer, &k->counted);
    if (over)
        link_close(t, k);
    else
        link_rest(t, k);
}

/* What comes while nothing was asked ends it, whatever it is. */
static void link_read(struct pool_thread *t, struct pool_link *k)
{
    bool over;
    const enum response_state state = target_read(&k->to, &k->answer, &over);

    if (over || (k->job == NULL && k->answer.len != 0))
        link_broken(t, k, POOL_BROKEN);
    else if (state == RESPONSE_BAD)
        link_broken(t, k, POOL_STRANGE);
    else if (!link_count(t, k))
        link_broken(t, k, POOL_BUSY);
    else if (state == RESPONSE_WHOLE)
        link_whole(t, k);
}

void link_event(struct pool_thread *t, struct pool_link *k)
{
    if (!k->to.up) {
        const enum target_step step =
            target_go_on(t->pool->options.gateway, &k->to);

        if (step == TARGET_FAILED)
            link_broken(t, k, POOL_NO_LINK);
        else if (step == TARGET_DONE)
            link_up(t, k);
        return;
    }
    if (k->job == NULL || link_write(t, k))
        link_read(t, k);
}

/* ---- Time ---------------------------------------------------------------- */

void link_sweep(struct pool_thread *t)
{
    for (struct pool_link *next, *k = t->links; k != NULL; k = next) {
        struct pool_job *job = k->job;

        next = k->next;
        if (!k->to.up && t->now - k->since > LINK_CONNECT_MS) {
            link_broken(t, k, POOL_NO_LINK);
        } else if (job != NULL && t->now > job->deadline) {
            k->job = NULL;
            job_fail(t->pool, job, POOL_SLOW);
            link_close(t, k);
        } else if (job == NULL && k->to.up && t->nlinks > 1 &&
                   t->now - k->since > LINK_IDLE_MS) {
            link_close(t, k);
        }
    }
}
