/*
 * relay.h - hearsay relay: forwards sealed requests to one gateway.
 *
 *     relay_open    everything that may fail: gateway, certificates, addresses
 *     relay_start   the sandbox, then the threads; ready from here on
 *     relay_stop    take nothing new, finish what has begun
 *     relay_close
 *
 * It sees who sends and not what; what it forwards has the gateway's name, a
 * type and a length, and nothing else of the client. It keeps and logs nothing
 * about clients. The caller blocks the signals that it waits for before
 * relay_start.
 */
#ifndef SERVER_RELAY_RELAY_H
#define SERVER_RELAY_RELAY_H

#include "server/http/http.h"

struct relay;

struct relay_options {
    size_t size;                    /* sizeof(struct relay_options) */
    const char *listen, *admin;     /* admin: NULL: there is none */
    const char *gateway;            /* a URL; target.h */
    const char *ca_file;            /* NULL: the system's */
    const char *tls_cert, *tls_key; /* files; NULL: plain HTTP */
    const char *const *proxies;     /* networks that are not counted as one
                                       client; ended by NULL; NULL: loopback */
    unsigned connections, address_connections;
    unsigned links, waiting;
    size_t body_bytes;
    const uint64_t *answer_bytes; /* lengths of sealed answers; no other one is
                                     forwarded */
    size_t nanswer_bytes;
    uint32_t answer_seconds, drain_seconds;
    unsigned sandbox; /* enum config_sandbox */
    bool log_json;
};

/* What went wrong, and with what. */
struct relay_trouble {
    const char *about; /* of the options; NULL: nothing in particular */
    int number;        /* an errno, or 0 */
    hsy_error err;
};

/* The options' texts are kept by reference. */
hsy_status relay_open(struct relay **out, const struct relay_options *o,
                      struct relay_trouble *t);
hsy_status relay_start(struct relay *r, struct relay_trouble *t);

/* Its listeners, for their ports; admin: NULL if there is none. */
const struct listener *relay_public(const struct relay *r);
const struct listener *relay_admin(const struct relay *r);

/* About once a second: whether all threads turn, whether the gateway is there.
 */
bool relay_look(struct relay *r);

/* Read certificate and key again; a broken one keeps the old. */
void relay_reload(struct relay *r);

void relay_stop(struct relay *r);
void relay_close(struct relay *r); /* NULL is allowed */

#endif
