/* pool.c - the threads of a pool, and what waits for a connection. */
#define _GNU_SOURCE
#include "server/relay/internal.h"

#include "host/base/host_fail.h"
#include "host/base/steady.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define POOL_EVENTS 64
#define POOL_SWEEP_MS 250u
#define POOL_PROBE_MS                                                          \
    2000u             /* between tries to reach a gateway that is away         \
                       */
#define POOL_TRIES 3u /* of a request, by different connections */

/* ---- Jobs ---------------------------------------------------------------- */

const char *const pool_failures[POOL_FAILURES] = {
    [POOL_BUSY] = "busy",     [POOL_NO_LINK] = "unreachable",
    [POOL_BROKEN] = "broken", [POOL_STRANGE] = "strange",
    [POOL_LENGTH] = "length", [POOL_REFUSED] = "refused",
    [POOL_SLOW] = "slow",     [POOL_STOPPING] = "stopping"};

static void pool_refuse(struct pool *p, struct request *q,
                        enum pool_failure why)
{
    static const struct {
        int status;
        const char *title, *seconds;
    } all[POOL_FAILURES] = {
        [POOL_BUSY] = {503, "too many requests wait", "1"},
        [POOL_NO_LINK] = {502, "the gateway cannot be reached", NULL},
        [POOL_BROKEN] = {502, "the gateway closed the connection", NULL},
        [POOL_STRANGE] = {502, "what answers is no gateway", NULL},
        [POOL_LENGTH] = {502, "what answers is no gateway", NULL},
        [POOL_REFUSED] = {400, "the gateway refused the request", NULL},
        [POOL_SLOW] = {504, "the gateway did not answer in time", NULL},
        [POOL_STOPPING] = {503, "the relay is stopping", "10"}};

    atomic_fetch_add(&p->failures[why], 1);
    if (all[why].seconds != NULL)
        request_set(q, "Retry-After", all[why].seconds);
    request_problem(q, all[why].status, all[why].title, NULL);
}

void job_fail(struct pool *p, struct pool_job *job, enum pool_failure why)
{
    atomic_fetch_sub(&p->at_work, 1);
    pool_refuse(p, job->request, why);
}

static void job_wait(struct pool_thread *t, struct pool_job *job)
{
    job->next = NULL;
    *t->last = job;
    t->last = &job->next;
    atomic_fetch_add(&t->pool->waiting, 1);
}

void job_again(struct pool_thread *t, struct pool_job *job,
               enum pool_failure why, bool may)
{
    if (may && ++job->tries < POOL_TRIES && t->now < job->deadline)
        job_wait(t, job);
    else
        job_fail(t->pool, job, why);
}

/* Returns why an answer is not forwarded, POOL_FAILURES if it is. A gateway
 * could mark the answer to one device by its length, or by what it says in
 * clear: only sealed answers of known lengths are forwarded, and everything
 * else is replaced by words of the relay. */
static enum pool_failure job_unfit(const struct pool_options *o,
                                   const struct response_head *head)
{
    if (head->status == 503)
        return POOL_BUSY;
    if (head->type == RESPONSE_PROBLEM && head->status / 100 == 4)
        return POOL_REFUSED;
    if (head->type != RESPONSE_SEALED || head->status != 200)
        return POOL_STRANGE;
    for (size_t i = 0; i < o->nanswer_bytes; i++)
        if (head->length == o->answer_bytes[i])
            return POOL_FAILURES;
    return POOL_LENGTH;
}

/* An answer on its way to a client. */
struct job_body {
    _Atomic unsigned *count; /* that it is in; NULL: none */
    uint8_t bytes[];
};

static void job_body_free(void *bytes)
{
    struct job_body *b =
        (struct job_body *)((char *)bytes - offsetof(struct job_body, bytes));

    if (b->count != NULL)
        atomic_fetch_sub(b->count, 1);
    free(b);
}

void job_answer(struct pool *p, struct pool_job *job, const struct response *r,
                bool *counted)
{
    const enum pool_failure why = job_unfit(&p->options, &r->head);
    struct job_body *copy;

    if (why != POOL_FAILURES) {
        job_fail(p, job, why);
        return;
    }
    copy = malloc(sizeof *copy + r->head.length);
    if (copy == NULL) {
        job_fail(p, job, POOL_BUSY);
        return;
    }
    copy->count = *counted ? p->options.long_count : NULL;
    *counted = false;
    memcpy(copy->bytes, r->bytes + r->body, r->head.length);
    atomic_fetch_add(&p->answered, 1);
    atomic_fetch_sub(&p->at_work, 1);
    request_answer(job->request, 200, "message/ohttp-res", copy->bytes,
                   r->head.length, job_body_free);
}

/* By any thread: push it; whoever finds the list empty wakes the pool's. */
void pool_forward(struct pool *p, struct request *q)
{
    struct pool_job *job = request_memory(q, sizeof *job), *head;
    struct pool_thread *t =
        &p->threads[atomic_fetch_add(&p->turn, 1) % p->options.threads];

    if (job == NULL || atomic_load(&p->at_work) >=
                           (uint64_t)p->options.waiting + p->options.links) {
        pool_refuse(p, q, POOL_BUSY);
        return;
    }
    *job = (struct pool_job){.request = q,
                             .deadline = steady_ms() +
                                         1000ull * p->options.answer_seconds};
    atomic_fetch_add(&p->forwarded, 1);
    atomic_fetch_add(&p->at_work, 1);
    head = atomic_load_explicit(&t->given, memory_order_relaxed);
    do
        job->next = head;
    while (!atomic_compare_exchange_weak(&t->given, &head, job));
    if (head == NULL)
        (void)!write(t->wake, &(uint64_t){1}, sizeof(uint64_t));
}

/* ---- A thread ------------------------------------------------------------ */

/* What was given since the last look, in the order in which it came. */
static void thread_take(struct pool_thread *t)
{
    struct pool_job *job = atomic_exchange(&t->given, NULL), *first = NULL;

    for (struct pool_job *next; job != NULL; job = next) {
        next = job->next;
        job->next = first;
        first = job;
    }
    for (struct pool_job *next; first != NULL; first = next) {
        next = first->next;
        job_wait(t, first);
    }
}

static struct pool_job *thread_next(struct pool_thread *t)
{
    struct pool_job *job = t->first;

    t->first = job->next;
    if (t->first == NULL)
        t->last = &t->first;
    atomic_fetch_sub(&t->pool->waiting, 1);
    return job;
}

static unsigned thread_share(const struct pool_thread *t)
{
    const struct pool_options *o = &t->pool->options;

    return o->links / o->threads != 0 ? o->links / o->threads : 1;
}

/* Give what waits to links, as far as there are any. */
static void thread_assign(struct pool_thread *t)
{
    while (t->first != NULL) {
        struct pool_link *k = t->free;

        if (k != NULL) {
            t->free = k->free;
            k->free = NULL;
            if (link_quiet(k))
                link_take(t, k, thread_next(t));
            else
                link_close(t, k);
        } else if (t->nlinks < thread_share(t)) {
            k = link_open(t);
            if (k != NULL)
                link_take(t, k, thread_next(t));
            else
                job_again(t, thread_next(t), POOL_NO_LINK,
                          t->pool->options.gateway->n > 1);
        } else {
            return;
        }
    }
}

/* Those for whom no link came in time; and one link is kept, so that it is
 * known whether the gateway is there. */
static void thread_sweep(struct pool_thread *t)
{
    struct pool_job **at = &t->first;

    t->swept = t->now;
    link_sweep(t);
    while (*at != NULL) {
        struct pool_job *job = *at;

        if (t->now > job->deadline) {
            *at = job->next;
            atomic_fetch_sub(&t->pool->waiting, 1);
            job_fail(t->pool, job, POOL_SLOW);
        } else {
            at = &job->next;
        }
    }
    t->last = at;
    if (t->nlinks == 0 && (t->tried == 0 || t->now - t->tried >= POOL_PROBE_MS))
        (void)link_open(t);
}

/* A wake-up is taken from the counter, so that the next one is told of. */
static void thread_woken(struct pool_thread *t)
{
    uint64_t count;

    (void)!read(t->wake, &count, sizeof count);
}

static void *thread_run(void *ctx)
{
    struct pool_thread *t = ctx;
    struct epoll_event events[POOL_EVENTS];

    while (!atomic_load(&t->pool->stopping)) {
        const int n =
            epoll_wait(t->epoll, events, POOL_EVENTS, (int)POOL_SWEEP_MS);

        atomic_fetch_add(&t->turns, 1);
        t->now = steady_ms();
        for (int i = 0; i < n; i++)
            if (events[i].data.ptr == NULL)
                thread_woken(t);
            else
                link_event(t, events[i].data.ptr);
        thread_take(t);
        thread_assign(t);
        if (t->now - t->swept >= POOL_SWEEP_MS)
            thread_sweep(t);
    }
    return NULL;
}

/* ---- Opening and closing ------------------------------------------------- */

static bool thread_open(struct pool_thread *t)
{
    struct epoll_event on = {.events = EPOLLIN};

    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    t->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->last = &t->first;
    return t->epoll != -1 && t->wake != -1 &&
           epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->wake, &on) == 0;
}

hsy_status pool_open(struct pool **out, const struct pool_options *o,
                     hsy_error *err)
{
    struct pool *p = calloc(1, sizeof *p);
    bool good = true;

    if (p != NULL)
        p->threads = calloc(o->threads, sizeof *p->threads);
    if (p == NULL || p->threads == NULL) {
        free(p);
        return host_nomem(err);
    }
    p->options = *o;
    for (unsigned i = 0; i < o->threads; i++) {
        p->threads[i].pool = p;
        p->threads[i].epoll = p->threads[i].wake = -1;
    }
    for (unsigned i = 0; good && i < o->threads; i++)
        good = thread_open(&p->threads[i]);
    if (!good) {
        pool_close(p);
        return host_fail(err, HSY_E_IO, HSY_FIELD_NONE,
                         "cannot make an event loop");
    }
    *out = p;
    return HSY_OK;
}

hsy_status pool_start(struct pool *p, hsy_error *err)
{
    for (unsigned i = 0; i < p->options.threads; i++) {
        struct pool_thread *t = &p->threads[i];

        if (pthread_create(&t->thread, NULL, thread_run, t) != 0)
            return host_fail(err, HSY_E_IO, HSY_FIELD_NONE,
                             "cannot start a thread");
        t->running = true;
    }
    return HSY_OK;
}

/* Its thread is over. */
static void thread_end(struct pool_thread *t)
{
    for (struct pool_link *next, *k = t->links; k != NULL; k = next) {
        next = k->next;
        if (k->job != NULL)
            job_fail(t->pool, k->job, POOL_STOPPING);
        link_close(t, k);
    }
    thread_take(t);
    while (t->first != NULL)
        job_fail(t->pool, thread_next(t), POOL_STOPPING);
}

/* End the threads; whoever waits is refused. */
static void pool_stop(struct pool *p)
{
    atomic_store(&p->stopping, true);
    for (unsigned i = 0; i < p->options.threads; i++) {
        struct pool_thread *t = &p->threads[i];

        if (!t->running)
            continue;
        (void)!write(t->wake, &(uint64_t){1}, sizeof(uint64_t));
        pthread_join(t->thread, NULL);
        t->running = false;
        thread_end(t);
    }
}

void pool_close(struct pool *p)
{
    if (p == NULL)
        return;
    pool_stop(p);
    for (unsigned i = 0; i < p->options.threads; i++) {
        if (p->threads[i].epoll != -1)
            close(p->threads[i].epoll);
        if (p->threads[i].wake != -1)
            close(p->threads[i].wake);
    }
    free(p->threads);
    free(p);
}

void pool_status(const struct pool *p, struct pool_status *out)
{
    *out = (struct pool_status){.forwarded = atomic_load(&p->forwarded),
                                .answered = atomic_load(&p->answered),
                                .links = atomic_load(&p->links),
                                .waiting = atomic_load(&p->waiting),
                                .at_work = atomic_load(&p->at_work),
                                .opened = atomic_load(&p->opened),
                                .reached = atomic_load(&p->reached)};
    for (int i = 0; i < POOL_FAILURES; i++)
        out->failures[i] = atomic_load(&p->failures[i]);
    for (size_t i = 0; i < p->options.gateway->n; i++) {
        const enum target_failure last = atomic_load(&p->last[i]);

        if (last > out->failure)
            out->failure = last;
    }
}

bool pool_turned(struct pool *p)
{
    bool all = true;

    for (unsigned i = 0; i < p->options.threads; i++) {
        struct pool_thread *t = &p->threads[i];
        const uint64_t turns = atomic_load(&t->turns);

        all &= turns != t->turned;
        t->turned = turns;
    }
    return all;
}
