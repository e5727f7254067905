/* internal.h - what the files of a pool share. */
#ifndef SERVER_RELAY_INTERNAL_H
#define SERVER_RELAY_INTERNAL_H

#include "server/peer/response.h"
#include "server/relay/pool.h"

#include <pthread.h>
#include <stdatomic.h>

/* A request on its way; in its request's memory, gone with the answer. */
struct pool_job {
    struct pool_job *next;
    struct request *request;
    uint64_t deadline; /* milliseconds */
    unsigned tries;
};

/* A connection, and what it is doing. */
struct pool_link {
    struct pool_link *prev, *next; /* all of the thread */
    struct pool_link *free;        /* the next that has nothing to do */
    struct target_link to;
    struct pool_job *job; /* NULL: none */
    bool used;            /* it has brought an answer before */
    uint64_t since;       /* it is idle, or connects, since then */
    uint8_t *out;         /* owned: the request */
    size_t out_len, out_room, out_at;
    struct response answer;
};

struct pool_thread {
    struct pool *pool;
    pthread_t thread;
    bool running;
    int epoll, wake;
    uint64_t now, swept, tried; /* milliseconds */
    struct pool_link *links, *free;
    unsigned nlinks;
    struct pool_job *first, **last; /* that wait for a link */
    _Atomic(struct pool_job *) given;
    _Atomic uint64_t turns;
    uint64_t turned;
};

struct pool {
    struct pool_options options;
    struct pool_thread *threads;
    _Atomic unsigned turn; /* of the threads: who gets the next request */
    _Atomic bool stopping, reached;
    _Atomic uint64_t forwarded, answered, failures[POOL_FAILURES];
    _Atomic uint64_t waiting, links, at_work, opened;
};

/* ---- Links (pool_link.c): on their thread -------------------------------- */

/* One more; NULL: it cannot be. */
struct pool_link *link_open(struct pool_thread *t);
/* Something has happened to it. */
void link_event(struct pool_thread *t, struct pool_link *k);
/* Whether one that is free has nothing to say: neither bytes nor an end. */
bool link_quiet(struct pool_link *k);
/* Give it a job. */
void link_take(struct pool_thread *t, struct pool_link *k,
               struct pool_job *job);
/* Those that took too long, and those that nobody needs. */
void link_sweep(struct pool_thread *t);
void link_close(struct pool_thread *t, struct pool_link *k);

/* ---- Jobs (pool.c) ------------------------------------------------------- */

void job_fail(struct pool *p, struct pool_job *job, enum pool_failure why);
/* The link of this one broke: again by another, or it fails. */
void job_again(struct pool_thread *t, struct pool_job *job,
               enum pool_failure why, bool may);
void job_answer(struct pool *p, struct pool_job *job, const struct response *r);

#endif
