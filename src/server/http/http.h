/*
 * http.h - sockets, HTTP, and who may ask what.
 *
 * A listener is an address, a table of routes and some loops, each a thread
 * that waits for its connections by an epoll of its own. A route's handler is
 * called on a loop's thread with the whole, bounded request; it answers at
 * once, or keeps the request and answers later from any thread. Everything a
 * stranger can spend is bounded here (R22-R25): bytes of head and body, time of
 * both, connections, memory. A request of doubtful length never reaches a
 * handler, and its connection is closed.
 */
#ifndef SERVER_HTTP_HTTP_H
#define SERVER_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hearsay.h"

struct listener;
struct request;

enum listen_role {
    LISTEN_ANYONE = 0,
    LISTEN_SCRAPER, /* metrics and health */
    LISTEN_ANALYST, /* tasks, estimates, tallies */
    LISTEN_OPERATOR /* documents, merging, backup */
};

typedef void route_handler(struct request *q, void *ctx);

struct route {
    const char *method; /* "GET" (HEAD too), "POST", "PUT" */
    const char *path;   /* "/v1/tasks/" + "*" stands for one segment */
    enum listen_role role;
    size_t body_max; /* 0: no body */
    route_handler *handle;
    route_handler *work; /* what handle has done elsewhere; NULL: nothing */
};

/* Sockets that listen already: a listener takes that of its address and leaves
 * -1 in its place. */
#define LISTEN_HANDED 8
struct listen_handed {
    int fd[LISTEN_HANDED];
    size_t n;
};

/* Where such a socket listens, in words. */
void listen_handed_name(char *text, size_t room, int fd);

struct listen_options {
    size_t size;         /* sizeof(struct listen_options) */
    const char *address; /* "127.0.0.1:8080", "[::1]:0", "unix:/run/x.sock" */
    struct listen_handed *handed; /* NULL: none */
    const struct route *routes;
    size_t nroutes;
    void *ctx;      /* for handlers */
    unsigned loops; /* threads */
    unsigned connections;
    unsigned address_connections; /* of one address; 0: any number */
    const char *const *exempt;    /* networks that are not counted, ended by
                                     NULL; NULL: loopback. Socket files are
                                     not, ever */
    /* A body, and an answer, has a second more for each 16 KiB of it. */
    uint32_t head_seconds, body_seconds, idle_seconds;
    size_t body_bytes;     /* no body is larger, whatever a route says; 0:
                              as routes say */
    size_t inflight_bytes; /* bodies over 16 KiB, of all requests at once */
    size_t send_bytes;     /* the kernel keeps of an answer that is not read,
                              about; 0: as much as it likes */
    const char *tls_cert, *tls_key; /* PEM texts, NULL: no TLS */
    bool tls12;                     /* also TLS 1.2 with AEAD */
    const char *const *cors;        /* origins that may ask, ended by NULL; "*":
                                       any */
    /* The role that a bearer token has; NULL: everyone may do everything the
     * table has (the public listener). */
    enum listen_role (*role)(void *ctx, const char *token);
};

/* Bind and listen; nothing is served before listen_start. HSY_E_IO with errno
 * (EADDRINUSE), HSY_E_RANGE for an invalid address, the errors of
 * listen_pair_check for certificate and key. Routes and origins are kept by
 * reference, the rest is not needed afterwards. */
hsy_status listen_open(struct listener **out, const struct listen_options *o,
                       hsy_error *err);
hsy_status listen_start(struct listener *l, hsy_error *err);

/* Checks that the PEM texts are a certificate and its key. Fails with
 * HSY_E_FORMAT and the field TLS_CERT or TLS_KEY, or with HSY_E_MISMATCH if the
 * key belongs to another certificate. */
hsy_status listen_pair_check(const char *cert, const char *key, hsy_error *err);

/* Another certificate and key for handshakes from now on; one thread at a time,
 * of a listener that has TLS. Fails as listen_pair_check does; the old ones
 * then stay in use. */
hsy_status listen_certify(struct listener *l, const char *cert, const char *key,
                          hsy_error *err);
uint16_t listen_port(const struct listener *l); /* 0: a unix socket */

/* "127.0.0.1:8080": where it listens, for an address whose port may be 0. */
#define LISTEN_ADDRESS 128
void listen_address(char text[LISTEN_ADDRESS], const struct listener *l,
                    const char *address);

/* Take no new connections, let requests finish for so long, close. When it
 * returns no handler runs, and none is called any more: who is still sending
 * then gets a 503. */
void listen_drain(struct listener *l, uint32_t seconds);
/* Cut off what is left. No other thread answers any more. NULL is
 * allowed. */
void listen_close(struct listener *l);

/* "10.0.0.1", "10.0.0.0/8", "fd00::/8" */
bool listen_is_network(const char *text);

struct listen_status {
    uint64_t connections, requests, refused; /* now, ever, ever */
    uint64_t full; /* of the refused: there was no room for them */
    uint64_t inflight_bytes, timeouts;
    uint64_t answers[6]; /* by hundreds of the status */
};
void listen_status(const struct listener *l, struct listen_status *out);

/* Whether every loop has begun another turn since this was last asked, as it
 * does some times a second unless a handler hangs. By one thread. */
bool listen_turned(struct listener *l);

/* ---- A request ----------------------------------------------------------- */

const struct route *request_route(const struct request *q);
const char *request_segment(const struct request *q, size_t i); /* of a '*' */
const char *request_query(const struct request *q, const char *name);
/* Whether nothing is asked but these, ended by NULL. */
bool request_query_only(const struct request *q, const char *const *names);
const char *request_header(const struct request *q, const char *name);
/* Whether its Content-Type is this one, whatever parameters it has. */
bool request_typed(const struct request *q, const char *type);
const char *request_bearer(const struct request *q); /* token, or NULL */
const uint8_t *request_body(const struct request *q, size_t *len);
/* The body, to be freed; NULL: out of memory. */
uint8_t *request_take_body(struct request *q, size_t *len);
void *request_memory(struct request *q, size_t size); /* freed with it */

/* Set whether the connection of a request is trusted, before the answer; the
 * next requests on it are asked whether it is. It is not at first. */
void request_trust(struct request *q, bool trusted);
bool request_trusted(const struct request *q);

/* Answer, once, from any thread; q is gone afterwards. body is freed with
 * `done` (NULL: it is static). Status 0 cuts the connection: nothing is said.
 */
void request_answer(struct request *q, int status, const char *type,
                    const void *body, size_t len, void (*done)(void *));

/* The same with a header more; before the answer. Retry-After, Content-
 * Disposition and the like; both are copied. A value with an end of line is
 * dropped. */
void request_set(struct request *q, const char *name, const char *value);

/* Set the ETag, of a digest that identifies the answer and not who asks; true
 * if the request has that tag in If-None-Match: 304 is the answer. */
#define REQUEST_DIGEST 16
bool request_unchanged(struct request *q, const uint8_t digest[REQUEST_DIGEST]);

/* What a browser must know of an answer: nothing in it is a program but what
 * the policy says (NULL: nothing at all), nobody may frame or keep it. Problems
 * have it; once is enough. */
void request_guard(struct request *q, const char *policy);

/* RFC 9457: {"type","title","status","detail"}. */
void request_problem(struct request *q, int status, const char *title,
                     const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
