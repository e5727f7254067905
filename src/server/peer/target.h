/* target.h - one other server, fixed at the start: addresses, connections. */
#ifndef SERVER_PEER_TARGET_H
#define SERVER_PEER_TARGET_H

#include "hearsay.h"
#include "server/http/tls_stream.h"

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#define TARGET_ADDRESSES 8u /* of its name, at most */
#define TARGET_HOST 256u
#define TARGET_HEAD 2048u /* bytes of a request's head, at most */

struct target_address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } at;
    socklen_t len;
    _Atomic unsigned failure; /* enum target_failure of the last attempt */
};

struct target {
    bool tls, literal;      /* literal: its host is an address */
    char host[TARGET_HOST]; /* without brackets */
    char port[6];
    char head[TARGET_HEAD]; /* of every request, up to its length */
    size_t head_len;
    struct target_address addresses[TARGET_ADDRESSES];
    size_t n;
    _Atomic unsigned turn; /* which of them is taken: it moves on a failure */
    _Atomic bool reached;  /* by the last attempt to connect */
    gnutls_certificate_credentials_t trust; /* NULL: no TLS */
};

struct target_options {
    const char *url;     /* "https://host:port/path" */
    const char *path;    /* if the URL has none */
    const char *type;    /* Content-Type of what is sent */
    const char *ca_file; /* certificates to trust; NULL: the system's */
};

/* The name is looked up and certificates are read here, once. HSY_E_RANGE for
 * what is no address, HSY_E_IO for a name that nobody knows, HSY_E_FORMAT for a
 * file without certificates. Close it in any case. */
hsy_status target_open(struct target *g, const struct target_options *o,
                       hsy_error *err);
void target_close(struct target *g);

/* A request as it is sent; zero it to begin, free its bytes at the end. */
struct target_request {
    uint8_t *bytes; /* owned */
    size_t len, room;
};

/* Head and body; false: out of memory. */
bool target_compose(const struct target *g, struct target_request *out,
                    const uint8_t *body, size_t len);

/* ---- A connection to it -------------------------------------------------- */

/* Why a connection attempt failed; the most specific reason is the largest. */
enum target_failure {
    TARGET_REACHED, /* it did not */
    TARGET_NO_CONNECTION,
    TARGET_NO_TLS,     /* the handshake failed, not because of a certificate */
    TARGET_WRONG_NAME, /* the certificate is for another host */
    TARGET_WRONG_TIME, /* the certificate has expired or is not valid yet */
    TARGET_UNKNOWN_CA, /* nobody whom we trust has signed the certificate */
    TARGET_FAILURES
};

struct target_link {
    int fd; /* -1: there is none */
    struct tls_stream tls;
    unsigned turn;               /* the address that it is to */
    bool up;                     /* bytes can be sent */
    enum target_failure failure; /* the reason if it never gets up */
};

enum target_step { TARGET_DONE, TARGET_WAITS, TARGET_FAILED };

/* Begins to connect. Nothing here blocks: the socket becomes writable when the
 * connection is made. Returns false if there is no socket: then k has ended. */
bool target_begin(struct target *g, struct target_link *k);
/* Goes on when the socket is readable or writable; DONE: it is up. */
enum target_step target_go_on(struct target *g, struct target_link *k);
/* Return the number of bytes sent or received; 0: none for now; -1: the
 * connection has ended. */
ssize_t target_send(struct target_link *k, const uint8_t *bytes, size_t len);
ssize_t target_receive(struct target_link *k, uint8_t *bytes, size_t room);
/* Ends a connection that was begun. If it never was up, that is a failed
 * attempt, and the next one is to another address. */
void target_end(struct target *g, struct target_link *k);

/* Returns the most specific failure of the last attempts at all addresses. Any
 * thread. */
enum target_failure target_failure(const struct target *g);

#endif
