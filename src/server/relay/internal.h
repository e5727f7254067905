/*
 * internal.h - requests on their way to the gateway.
 *
 * A pool has some threads, each with a client (server/peer/http_client.h) that
 * keeps connections to the gateway: nothing of a connection to the gateway is
 * any device's. A request is answered once: with the gateway's sealed answer,
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
#include "server/peer/http_client.h"

#define POOL_SHORT 4096u /* bytes of an answer that needs no permit */
#define POOL_BODY_MAX ((1u << 20) + 48u) /* of an answer: a sealed document */

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

/* Close it in any case. */
hsy_status pool_open(struct pool **out, const struct pool_options *o,
                     hsy_error *err);
hsy_status pool_start(struct pool *p, hsy_error *err);

/* Forwards a request's body. Another thread answers the request, or this one at
 * once if too many wait. */
void pool_forward(struct pool *p, struct request *q);

void pool_close(struct pool *p); /* NULL is allowed */

/* What became of a request: enum client_outcome, and besides */
enum {
    POOL_LENGTH = CLIENT_OUTCOMES, /* sealed, of an unknown length */
    POOL_REFUSED,                  /* the gateway refused it in clear */
    POOL_OUTCOMES
};
extern const char *const pool_outcomes[POOL_OUTCOMES]; /* one word each */

struct pool_status {
    uint64_t forwarded, at_work; /* ever, now */
    uint64_t outcomes[POOL_OUTCOMES];
    struct client_status links;
};
void pool_status(const struct pool *p, struct pool_status *out);

/* Returns true if every thread has begun another turn since the last call. To
 * be called by one thread. */
bool pool_turned(struct pool *p);

#endif
