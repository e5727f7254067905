/*
 * internal.h - what the files of a listener share.
 *
 * Ownership: a connection and its request belong to their loop's thread. A
 * handler may give the request away; until it is answered nobody else touches
 * it. Answers come back through a list that any thread may push to, with one
 * wake-up for all that are pushed before the loop looks.
 */
#ifndef SERVER_HTTP_INTERNAL_H
#define SERVER_HTTP_INTERNAL_H

#include "server/http/http.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/socket.h>

/* Bytes of a head at most, and all that libmicrohttpd keeps of a connection. */
#define LISTEN_HEAD_BYTES 8192u
/* Bytes a second, on an average, that a body or an answer must bring or take
 * once its first body_seconds are over. */
#define LISTEN_SLOWEST 16384u
/* A larger answer is handed to libmicrohttpd in parts, so that it shows how
 * much has gone. */
#define LISTEN_WHOLE_BYTES 65536u
/* A body that is no larger takes nothing of inflight_bytes. */
#define LISTEN_SMALL_BYTES 16384u
/* How much of a refused body is read, so that its sender sees the answer. */
#define LISTEN_LINGER_BYTES 65536u
/* A head, a body and an answer have so long, and silence between two requests,
 * where no connection is left for others. */
#define LISTEN_FULL_MS 2000u
#define LISTEN_FULL_IDLE_MS 1000u

enum request_state {
    REQUEST_NONE,     /* between two requests */
    REQUEST_READING,  /* its body is coming */
    REQUEST_HANDLING, /* its handler runs */
    REQUEST_WAITING,  /* its handler kept it; the connection is suspended */
    REQUEST_ANSWERED
};

/* Freed with a request. */
struct request_piece {
    struct request_piece *next;
    max_align_t bytes[];
};

struct request_header {
    struct request_header *next;
    const char *name, *value;
};

/* What the loop's epoll watches besides libmicrohttpd's and its wake-up: these
 * begin with their kind. */
enum loop_kind { LOOP_CONNECTION, LOOP_LINGERS };

struct request {
    enum loop_kind kind;
    struct loop *loop;
    struct MHD_Connection *http;
    struct request *prev, *next; /* all connections of the loop */
    struct request *answered;    /* the next in the loop's list of answers */
    int fd;
    bool crowded;      /* it is counted for its address, there: */
    uint32_t crowd[2]; /* crowd.c */
    int hidden;        /* what fd stands for while gone.c hides that */
    bool gone;         /* its peer sends no more */
    bool served;       /* has had an answer: if it waits now, it is idle */
    bool trusted;      /* by request_trust */
    uint64_t deadline; /* milliseconds of the loop's clock; 0: none */
    uint64_t moved;    /* bytes of a body or an answer, which put it off */

    _Atomic int state;
    bool parked;   /* by park.c */
    unsigned runs; /* for which it has waited, as that counts */
    bool lined;    /* the first line of a head has come, the rest has not */
    const char *url_end; /* of that line, as listen_url says */
    const struct route *route;
    const char *path;
    char *segments; /* of the stars, each ended by NUL, in request_piece */
    bool guarded;   /* as request_guard does */
    bool close;     /* after the answer */
    bool linger;    /* it was refused while it was being sent */
    bool dropped;   /* no room for the body: it is read and forgotten */
    uint8_t *body;
    size_t len, room, declared;
    size_t charged; /* of the listener's inflight, or small */
    struct request_piece *pieces;

    int status; /* the answer, ours until libmicrohttpd has it */
    const char *type;
    const void *answer;
    size_t answer_len;
    void (*done)(void *);
    struct request_header *headers;
};

struct loop {
    struct listener *listener;
    struct MHD_Daemon *http;
    pthread_t thread;
    bool running;
    int socket, epoll, wake;
    int silent[2];               /* by gone.c */
    uint64_t now, swept;         /* milliseconds */
    bool quiet;                  /* draining has begun here */
    struct request *connections; /* doubly linked */
    struct linger_socket *lingering;
    unsigned nlingering;
    struct MHD_Response *no_content;
    _Atomic(struct request *) answers;
    _Atomic uint64_t count, requests, refused, timeouts, by_hundred[6];
    _Atomic uint64_t full;  /* of those refused: with 503 */
    _Atomic uint64_t turns; /* of the loop, so far */
    uint64_t turned;        /* turns when listen_turned last looked */
};

struct listener {
    struct listen_options options;
    uint16_t port;
    char *unix_path; /* removed on close, unless it was handed over */
    bool handed;     /* its socket listened before it */
    struct listen_crowd *crowd; /* NULL: addresses are not counted */
    struct loop *loops;
    _Atomic size_t inflight, small; /* bytes of large and of small bodies */
    _Atomic uint64_t drain_until;   /* milliseconds; 0: not draining */
    _Atomic bool drained;           /* no handler is called any more */
    _Atomic bool stopping;
    _Atomic(struct listen_tls *) tls; /* the pair in force; NULL: no TLS */
};

/* ---- tls.c --------------------------------------------------------------- */

/* Called by a handshake: the pair in force. */
int listen_tls_pick(gnutls_session_t session,
                    const struct gnutls_cert_retr_st *info,
                    gnutls_pcert_st **chain, unsigned *n,
                    gnutls_ocsp_data_st **ocsp, unsigned *nocsp,
                    gnutls_privkey_t *key, unsigned *flags);
void listen_tls_free(struct listener *l);

/* ---- socket.c ------------------------------------------------------------ */

/* As many listening sockets of one address as there are loops. */
hsy_status listen_bind(struct listener *l, hsy_error *err);

/* ---- crowd.c ------------------------------------------------------------- */

bool crowd_open(struct listener *l);
void crowd_close(struct listener *l);
/* The two counters of an address, one in each half; false: it is not counted.
 * The same for all addresses of an IPv6 network of 64 bits. */
bool crowd_places(const struct listen_crowd *c, uint32_t places[2],
                  const struct sockaddr *at);

/* libmicrohttpd asks whether a connection may be. */
enum MHD_Result crowd_admit(void *loop, const struct sockaddr *from,
                            socklen_t len);
void crowd_enter(struct request *q);
void crowd_leave(struct request *q);

/* ---- head.c -------------------------------------------------------------- */

struct head {
    const char *method, *url, *version;
    size_t size;         /* of all its bytes */
    const char *url_end; /* as listen_url says */
};

struct head_facts {
    int status;        /* 0: nothing is wrong */
    const char *title; /* of what is */
    uint64_t length;   /* of the body */
};

/* Hold a head against R24. What it refuses leaves the connection in doubt. */
void listen_head(struct head_facts *out, struct MHD_Connection *http,
                 const struct head *head);

/* libmicrohttpd's words for its operator. It answers a Content-Length that is
 * none by itself and sends that answer twice, so this one is given before and
 * the connection shut; everything else is not listened to. */
void listen_complaint(void *loop, const char *format, va_list args);

/* Returns the end of a URL that is not unescaped yet, or NULL if it has
 * anything but visible ASCII. */
const char *listen_url(const char *url);

/* As MHD_http_unescape, but NUL stays escaped. */
size_t listen_unescape(void *ctx, struct MHD_Connection *http, char *text);

/* ---- probe.c ------------------------------------------------------------- */

/* Tests that no ambiguous head gets past head.c with the libmicrohttpd that was
 * found. If one does, returns HSY_E_UNKNOWN with the library's version and what
 * differs. */
hsy_status listen_probe(hsy_error *err);

/* ---- route.c ------------------------------------------------------------- */

/* The request's route, role, origin; or its answer is made: false. */
bool request_admit(struct request *q, const char *method, uint64_t length);

/* ---- request.c ----------------------------------------------------------- */

/* What libmicrohttpd calls: with the first line, with all else, at the end. */
void *request_line(void *loop, const char *url, struct MHD_Connection *http);
enum MHD_Result request_step(void *loop, struct MHD_Connection *http,
                             const char *url, const char *method,
                             const char *version, const char *data,
                             size_t *size, void **context);
/* Whether large bodies have taken more than half of what they may. */
bool body_pressed(const struct listener *l);
/* When its time is up: after so many seconds, or after one if its peer is gone
 * or the listener drains. */
uint64_t request_until(const struct request *q, uint32_t seconds);
void request_over(void *loop, struct MHD_Connection *http, void **context,
                  enum MHD_RequestTerminationCode why);

/* ---- http_answer.c ------------------------------------------------------- */

/* On the loop's thread: queue the answer that was given. */
enum MHD_Result request_send(struct request *q);
/* Free an answer that nobody will send. */
void request_forget(struct request *q);
/* Make an answer of ours; on the loop's thread, before the handler. */
void request_refuse(struct request *q, int status, const char *title,
                    bool close);

/* ---- linger.c ------------------------------------------------------------ */

struct linger_socket; /* what the loop's epoll names it by */

/* Keep a socket that is about to be closed, if there is room. */
void linger_begin(struct loop *p, int fd);
void linger_drop(struct loop *p, struct linger_socket *s); /* bytes came */
void linger_sweep(struct loop *p, bool all);

/* ---- gone.c -------------------------------------------------------------- */

bool gone_open(struct loop *p);
void gone_close(struct loop *p);
/* Resume a connection whose answer is there and whose peer sends no more. */
void gone_resume(struct loop *p, struct request *q);
/* Its descriptor is its own again, if it was not. */
void gone_show(struct request *q);

/* ---- park.c -------------------------------------------------------------- */

void park_waiting(struct loop *p); /* after each run; only with TLS */
void park_wake(struct loop *p, struct request *q); /* if it is parked */
bool park_watch(struct loop *p, struct request *q, int how); /* epoll_ctl's */
void park_none(struct loop *p);

/* ---- listen.c ------------------------------------------------------------ */

void loop_wake(struct loop *p);
/* Starts libmicrohttpd for a loop. If p->socket is -1 it does not listen. */
bool loop_daemon(struct loop *p);

#endif
