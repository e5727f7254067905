/*
 * pool.h - requests on their way to the gateway.
 *
 * A pool keeps connections to the gateway, on threads of its own, and gives
 * each request to one that is free: nothing of a connection to the gateway is
 * any client's. A request is answered once: with what the gateway says of it,
 * or with a problem. All that waits is bounded, in number and in time.
 */
#ifndef SERVER_RELAY_POOL_H
#define SERVER_RELAY_POOL_H

#include "server/http/http.h"
#include "server/peer/target.h"

struct pool;

struct pool_options {
    size_t size; /* sizeof(struct pool_options) */
    struct target *gateway;
    unsigned threads;
    unsigned links;   /* connections to the gateway, at most */
    unsigned waiting; /* requests for which there is none yet, at most */
    uint32_t answer_seconds;
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
    POOL_STRANGE, /* the answer is none that a relay gives on */
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
    bool reached; /* by the last connection that was tried */
};
void pool_status(const struct pool *p, struct pool_status *out);

/* Whether every thread has begun another turn since this was last asked; by one
 * thread. */
bool pool_turned(struct pool *p);

#endif
