/* pool.c - which answers of the gateway are forwarded, and the threads. */
#define _GNU_SOURCE
#include "server/relay/internal.h"

#include "host/base/host_fail.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct pool_thread {
    pthread_t thread;
    bool running;
    struct client *client;
    _Atomic uint64_t turns;
    uint64_t turned; /* at the last call of pool_turned */
};

struct pool {
    struct pool_options options;
    struct pool_thread *threads;
    _Atomic unsigned turn; /* of the threads: who gets the next request */
    _Atomic uint64_t forwarded, at_work, outcomes[POOL_OUTCOMES];
};

/* A request on its way; in its request's memory, gone with the answer. */
struct pool_job {
    struct exchange exchange; /* the first */
    struct pool *pool;
    struct request *request;
    bool counted; /* its answer is a long one, and in long_count */
};

/* ---- Answers ------------------------------------------------------------- */

const char *const pool_outcomes[POOL_OUTCOMES] = {
    [CLIENT_ANSWERED] = "answered", [CLIENT_UNREACHABLE] = "unreachable",
    [CLIENT_BROKEN] = "broken",     [CLIENT_PROTOCOL_ERROR] = "strange",
    [CLIENT_TIMEOUT] = "slow",      [CLIENT_STOPPED] = "stopping",
    [CLIENT_BUSY] = "busy",         [POOL_LENGTH] = "length",
    [POOL_REFUSED] = "refused"};

static void pool_refuse(struct pool *p, struct request *q, unsigned outcome)
{
    static const struct {
        int status;
        const char *title, *seconds;
    } all[POOL_OUTCOMES] = {
        [CLIENT_UNREACHABLE] = {502, "the gateway cannot be reached", NULL},
        [CLIENT_BROKEN] = {502, "the gateway closed the connection", NULL},
        [CLIENT_PROTOCOL_ERROR] = {502, "what answers is no gateway", NULL},
        [CLIENT_TIMEOUT] = {504, "the gateway did not answer in time", NULL},
        [CLIENT_STOPPED] = {503, "the relay is stopping", "10"},
        [CLIENT_BUSY] = {503, "too many requests wait", "1"},
        [POOL_LENGTH] = {502, "what answers is no gateway", NULL},
        [POOL_REFUSED] = {400, "the gateway refused the request", NULL}};

    atomic_fetch_add(&p->outcomes[outcome], 1);
    if (all[outcome].seconds != NULL)
        request_set(q, "Retry-After", all[outcome].seconds);
    request_problem(q, all[outcome].status, all[outcome].title, NULL);
}

/* Returns CLIENT_ANSWERED if a response may be forwarded. A gateway could mark
 * the answer to one device by its length, or by what it says in clear: only
 * sealed answers of known lengths are forwarded, and everything else is
 * replaced by words of the relay. */
static unsigned pool_judge(const struct pool_options *o,
                           const struct response *r)
{
    const unsigned status = r->head.status;

    if (status == 503)
        return CLIENT_BUSY;
    if (status / 100 == 4 && response_typed(r, "application/problem+json"))
        return POOL_REFUSED;
    if (status != 200 || !response_typed(r, "message/ohttp-res"))
        return CLIENT_PROTOCOL_ERROR;
    for (size_t i = 0; i < o->nanswer_bytes; i++)
        if (r->head.length == o->answer_bytes[i])
            return CLIENT_ANSWERED;
    return POOL_LENGTH;
}

/* An answer on its way to a client. */
struct pool_answer {
    _Atomic unsigned *count; /* that it is in; NULL: none */
    uint8_t bytes[];
};

static void pool_answer_free(void *bytes)
{
    struct pool_answer *a =
        (struct pool_answer *)((char *)bytes -
                               offsetof(struct pool_answer, bytes));

    if (a->count != NULL)
        atomic_fetch_sub(a->count, 1);
    free(a);
}

/* Answers with the body of a response, and hands the permit on to that. Returns
 * false if there is no memory. */
static bool pool_answer(struct pool_job *job, const struct response *r)
{
    const size_t len = r->head.length;
    struct pool_answer *a = malloc(sizeof *a + len);

    if (a == NULL)
        return false;
    a->count = job->counted ? job->pool->options.long_count : NULL;
    memcpy(a->bytes, response_body(r), len);
    atomic_fetch_add(&job->pool->outcomes[CLIENT_ANSWERED], 1);
    request_answer(job->request, 200, "message/ohttp-res", a->bytes, len,
                   pool_answer_free);
    return true;
}

static bool pool_admit(struct exchange *x, uint64_t length)
{
    struct pool_job *job = (struct pool_job *)x;
    const struct pool_options *o = &job->pool->options;

    if (length <= POOL_SHORT)
        return true;
    job->counted = atomic_fetch_add(o->long_count, 1) < o->long_most;
    if (!job->counted)
        atomic_fetch_sub(o->long_count, 1);
    return job->counted;
}

static void pool_done(struct exchange *x, enum client_outcome outcome,
                      struct response *r)
{
    struct pool_job *job = (struct pool_job *)x;
    struct pool *p = job->pool;
    unsigned is = outcome;

    atomic_fetch_sub(&p->at_work, 1);
    if (is == CLIENT_ANSWERED)
        is = pool_judge(&p->options, r);
    if (is == CLIENT_ANSWERED && pool_answer(job, r))
        return;
    if (job->counted)
        atomic_fetch_sub(p->options.long_count, 1);
    pool_refuse(p, job->request, is == CLIENT_ANSWERED ? CLIENT_BUSY : is);
}

void pool_forward(struct pool *p, struct request *q)
{
    struct pool_job *job = request_memory(q, sizeof *job);
    const unsigned turn = atomic_fetch_add(&p->turn, 1) % p->options.threads;
    size_t len;
    const uint8_t *body = request_body(q, &len);

    if (job == NULL || atomic_load(&p->at_work) >=
                           (uint64_t)p->options.waiting + p->options.links) {
        pool_refuse(p, q, CLIENT_BUSY);
        return;
    }
    *job = (struct pool_job){.exchange = {.body = body,
                                          .len = len,
                                          .admit = pool_admit,
                                          .done = pool_done},
                             .pool = p,
                             .request = q};
    atomic_fetch_add(&p->forwarded, 1);
    atomic_fetch_add(&p->at_work, 1);
    client_submit(p->threads[turn].client, &job->exchange);
}

/* ---- Threads ------------------------------------------------------------- */

hsy_status pool_open(struct pool **out, const struct pool_options *o,
                     hsy_error *err)
{
    struct pool *p = calloc(1, sizeof *p);
    const unsigned share = o->links / o->threads;
    const struct client_options client = {.size = sizeof client,
                                          .target = o->gateway,
                                          .connections = share + (share == 0),
                                          .answer_seconds = o->answer_seconds,
                                          .body_bytes = POOL_BODY_MAX,
                                          .probe = true};
    hsy_status st = HSY_OK;

    *out = p;
    if (p == NULL)
        return host_nomem(err);
    p->options = *o;
    p->threads = calloc(o->threads, sizeof *p->threads);
    if (p->threads == NULL)
        return host_nomem(err);
    for (unsigned i = 0; st == HSY_OK && i < o->threads; i++)
        st = client_open(&p->threads[i].client, &client, err);
    return st;
}

static void *pool_run(void *ctx)
{
    struct pool_thread *t = ctx;

    while (client_turn(t->client))
        atomic_fetch_add(&t->turns, 1);
    return NULL;
}

hsy_status pool_start(struct pool *p, hsy_error *err)
{
    for (unsigned i = 0; i < p->options.threads; i++) {
        struct pool_thread *t = &p->threads[i];

        t->running = pthread_create(&t->thread, NULL, pool_run, t) == 0;
        if (!t->running)
            return host_fail(err, HSY_E_IO, HSY_FIELD_NONE,
                             "cannot start a thread");
    }
    return HSY_OK;
}

void pool_close(struct pool *p)
{
    if (p == NULL)
        return;
    for (unsigned i = 0; p->threads != NULL && i < p->options.threads; i++) {
        struct pool_thread *t = &p->threads[i];

        if (t->running) {
            client_stop(t->client);
            pthread_join(t->thread, NULL);
        }
        client_close(t->client);
    }
    free(p->threads);
    free(p);
}

void pool_status(const struct pool *p, struct pool_status *out)
{
    *out = (struct pool_status){.forwarded = atomic_load(&p->forwarded),
                                .at_work = atomic_load(&p->at_work)};
    for (int i = 0; i < POOL_OUTCOMES; i++)
        out->outcomes[i] = atomic_load(&p->outcomes[i]);
    for (unsigned i = 0; i < p->options.threads; i++)
        client_status(p->threads[i].client, &out->links);
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
