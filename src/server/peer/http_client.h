/*
 * http_client.h - requests to another server, by connections that are kept.
 *
 * A client is an event loop for one thread, which calls client_turn again and
 * again or client_post for one request after the other. Nothing blocks but the
 * wait for events. All that waits is bounded in time; how many exchanges wait
 * is for the caller to bound.
 *
 * A kept connection that the other server has closed meanwhile is replaced, and
 * the same bytes are sent again: requests must be idempotent.
 */
#ifndef SERVER_PEER_HTTP_CLIENT_H
#define SERVER_PEER_HTTP_CLIENT_H

#include "server/peer/response.h"
#include "server/peer/target.h"

struct client;

struct client_options {
    size_t size; /* sizeof(struct client_options) */
    struct target *target;
    unsigned connections;    /* at most */
    uint32_t answer_seconds; /* of an exchange, waiting and connecting too */
    size_t body_bytes;       /* of a response at most */
    bool probe; /* keep one connection open, so that it is known whether the
                   target can be reached */
};

/* Makes all descriptors but sockets, which a sandbox would forbid later. Close
 * it in any case. */
hsy_status client_open(struct client **out, const struct client_options *o,
                       hsy_error *err);
/* Ends what is left with CLIENT_STOPPED. No thread is in client_turn any more.
 * NULL is allowed. */
void client_close(struct client *c);

enum client_outcome {
    CLIENT_ANSWERED,
    CLIENT_UNREACHABLE,    /* no connection could be made */
    CLIENT_BROKEN,         /* the connection broke before the response */
    CLIENT_PROTOCOL_ERROR, /* what came is no response that we accept */
    CLIENT_TIMEOUT,
    CLIENT_STOPPED,
    CLIENT_BUSY, /* no memory, or the response was not admitted */
    CLIENT_OUTCOMES
};
extern const char *const client_outcomes[CLIENT_OUTCOMES]; /* one word each */

/* A request and what becomes of it. It and its body belong to the caller and
 * stay until done is called. */
struct exchange {
    const uint8_t *body;
    size_t len;
    /* Returns false if the body that the head of the response announces must
     * not be read. NULL: all may be. */
    bool (*admit)(struct exchange *x, uint64_t length);
    /* Called once, by the client's thread. r is NULL unless the outcome is
     * CLIENT_ANSWERED; its bytes may be taken. */
    void (*done)(struct exchange *x, enum client_outcome outcome,
                 struct response *r);

    struct exchange *next; /* these are the client's */
    uint64_t deadline;     /* milliseconds */
    unsigned tries;
};

/* Sends a request as soon as there is a connection for it. Any thread. */
void client_submit(struct client *c, struct exchange *x);

/* Waits for events, a quarter of a second at most, and handles them. Returns
 * false when the client is to stop: then all exchanges have ended. */
bool client_turn(struct client *c);

/* Submits a request and waits for its response, which is out's, to be cleared.
 */
enum client_outcome client_post(struct client *c, const uint8_t *body,
                                size_t len, struct response *out);

/* From now on all exchanges end with CLIENT_STOPPED. Any thread. */
void client_stop(struct client *c);

struct client_status {
    uint64_t connections, waiting; /* now; waiting for a connection */
    uint64_t opened;               /* connections, ever */
};
/* Adds up; any thread. */
void client_status(const struct client *c, struct client_status *sum);

#endif
