/*
 * internal.h - requests on their way to the gateway.
 *
 * A pool keeps connections to the gateway, on threads of its own, and gives
 * each request to one that is free: nothing of a connection to the gateway is
 * any client's. A request is answered once: with the gateway's sealed answer,
 * or with a problem in words of the relay. All that waits is bounded, in number
 * and in time.
 *
 * Answers longer than POOL_SHORT hold documents. At most `long_most` of them
 * are in memory, from their head to the last byte that their client has read:
 * without this bound clients that read slowly could make a relay keep as many
 * as it has connections.
 */
#ifndef SERVER_RELAY_INTERNAL_H
#define SERVER_RELAY_INTERNAL_H

#include "server/http/http.h"
#include "server/peer/target.h"

#include <pthread.h>
#include <stdatomic.h>

#define POOL_SHORT 4096u /* bytes of an answer that needs no permit */

struct pool;

struct pool_options {
    size_t size; /* sizeof(struct pool_options) */
    struct target *gateway;
    unsigned threads;
    unsigned links;   /* connections to the gateway, at most */
    unsigned waiting; /* requests for which there is none yet, at most */
    uint32_t answer_seconds;
    const uint64_t *answer_bytes; /* known lengths of sealed answers */
    size_t nanswer_bytes;
    unsigned long_most;           /* long answers in memory */
    _Atomic unsigned *long_count; /* of these; outlives the pool, as answers
                                     do */
};

hsy_status pool_open(struct pool **out, const struct pool_options *o,
                     hsy_error *err);
hsy_status pool_start(struct pool *p, hsy_error *err);

/* Forward a request's body; it is answered by another thread, or at once if
 * there is no room. */
void pool_forward(struct pool *p, struct request *q);

void pool_close(struct pool *p); /* NULL is allowed */

/* Why a request had no answer of the gateway's. */
enum pool_failure {
    POOL_BUSY,    /* too many wait */
    POOL_NO_LINK, /* no connection to the gateway */
    POOL_BROKEN,  /* it broke before the answer */
    POOL_STRANGE, /* the answer is none that a relay forwards */
    POOL_LENGTH,  /* it is sealed, of an unknown length */
    POOL_REFUSED, /* the gateway refused the request in clear */
    POOL_SLOW,    /* none came in time */
    POOL_STOPPING,
    POOL_FAILURES
};
extern const char *const pool_failures[POOL_FAILURES]; /* one word each */

struct pool_status {
    uint64_t forwarded, answered; /* ever; answered: by the gateway */
    uint64_t failures[POOL_FAILURES];
    uint64_t links, waiting, at_work; /* now */
    uint64_t opened;                  /* connections, ever */
    bool reached;                /* by the last connection that was tried */
    enum target_failure failure; /* the most specific one of all addresses */
};
void pool_status(const struct pool *p, struct pool_status *out);

/* Whether every thread has begun another turn since this was last asked; by one
 * thread. */
bool pool_turned(struct pool *p);

/* ---- What its files share ------------------------------------------------ */

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
    struct target_request out;
    size_t out_at; /* bytes of it that went */
    bool counted;  /* its answer is a long one, and in long_count */
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
    _Atomic unsigned last[TARGET_ADDRESSES]; /* enum target_failure: of the last
                                                attempt at each address */
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
/* *counted is cleared if the answer stays in memory for its client. */
void job_answer(struct pool *p, struct pool_job *job, const struct response *r,
                bool *counted);

#endif
