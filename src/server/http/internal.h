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
#include "server/http/message.h"
#include "server/http/tls_stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Bytes a second, on an average, that a body or an answer must bring or take
 * once its first body_seconds are over. */
#define LISTEN_SLOWEST 16384u
/* A body that is no larger takes nothing of inflight_bytes. */
#define LISTEN_SMALL_BYTES 16384u
/* A head, a body and an answer have so long, and silence between two requests,
 * where no connection is left for others. */
#define LISTEN_FULL_MS 2000u
#define LISTEN_FULL_IDLE_MS 1000u
/* Buffers that a loop has for good, in one block: others come and go, and would
 * keep the heap from shrinking. */
#define LOOP_BUFFERS 64u

/* Who has a request that is complete. */
enum request_state {
    REQUEST_HANDLING, /* its handler runs */
    REQUEST_WAITING,  /* its handler gave it away */
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

struct request {
    struct loop *loop;
    struct request *answered; /* the next in the loop's list of answers */
    _Atomic int state;        /* enum request_state */
    bool trusted;             /* by request_trust; stays with the connection */

    const struct message *head;
    char *text; /* the head's bytes: names, values and target end in NUL */
    const struct route *route;
    const char *path;  /* unescaped */
    const char *query; /* as it came; "": there is none */
    char *segments;    /* of the stars, each ended by NUL, in request_piece */
    bool without_body; /* of its answer: HEAD */
    bool guarded;      /* as request_guard does */
    bool close;        /* after the answer */
    struct request_piece *pieces;

    uint8_t *body;
    size_t len, room, declared;
    size_t came;    /* bytes of it, kept or dropped */
    size_t charged; /* of the listener's inflight, or small */
    bool borrowed;  /* body lies in the connection's buffer */
    bool dropped;   /* there was no room for it */

    int status; /* the answer */
    const char *type;
    const void *answer;
    size_t answer_len;
    void (*done)(void *);
    struct request_header *headers;
};

/* What a connection has received and not consumed: heads, and bodies that fit
 * behind them. It has one only while there is something in it. */
struct connection_buffer {
    struct connection_buffer *next; /* in the loop's list of spare ones */
    bool kept;                      /* it is one of the loop's */
    struct message head;
    size_t from, end; /* of bytes: not consumed */
    char bytes[MESSAGE_HEAD_BYTES];
};

enum connection_phase {
    CONNECTION_HANDSHAKE, /* of TLS */
    CONNECTION_HEAD,      /* in a head, or silent */
    CONNECTION_BODY,
    CONNECTION_HANDLER, /* a handler has the request */
    CONNECTION_ANSWER,
    CONNECTION_LINGER, /* nothing more is sent, and what comes is dropped */
    CONNECTION_PHASES
};

struct connection {
    struct request request;         /* the first: connection_of */
    struct connection *prev, *next; /* all connections of the loop */
    struct connection_buffer *buffer;
    struct tls_stream tls;
    int fd;
    enum connection_phase phase;
    bool readable;     /* a read may bring something */
    bool ended;        /* the peer sends no more than what there is to read */
    bool served;       /* it has had an answer */
    bool crowded;      /* it is counted for its address, there: */
    uint32_t crowd[2]; /* crowd.c */

    /* When the phase began, the milliseconds that it may take (0: no limit),
     * and the bytes moved in it, which put its end off. */
    uint64_t since, allowed, moved;

    /* The answer on its way. */
    char *out; /* its head: the loop's scratch, or owned */
    size_t out_len, sent;
    bool out_owned;
    size_t linger_left; /* bytes that may still come */
};

static inline struct connection *connection_of(struct request *q)
{
    return (struct connection *)q;
}

struct loop {
    struct listener *listener;
    pthread_t thread;
    bool running;
    int socket, epoll, wake;
    uint64_t now, swept; /* milliseconds */
    char date[40];       /* as answers have it, made for this second: */
    time_t date_second;
    bool accepting;                 /* the epoll watches its socket */
    bool quiet;                     /* draining has begun here */
    struct connection *connections; /* doubly linked */
    struct connection_buffer *buffers, *spare; /* LOOP_BUFFERS; free ones */
    unsigned nbuffers;                         /* that have been used */
    unsigned nlingering;
    char *scratch; /* for heads of answers; owned */
    size_t scratch_room;
    _Atomic(struct request *) answers;
    _Atomic bool sleeping; /* in epoll_wait: who pushes an answer wakes it */
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
    gnutls_certificate_credentials_t credentials;
    gnutls_priority_t priorities;
};

static inline void loop_count(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* ---- tls.c --------------------------------------------------------------- */

/* Everything that sessions share; the first certificate and key. */
hsy_status listen_tls_open(struct listener *l, hsy_error *err);
void listen_tls_close(struct listener *l);
/* Begins a session of a listener that has TLS. */
bool listen_tls_session(struct listener *l, struct tls_stream *s, int fd);

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
/* Counts a new connection; false: its address has too many. */
bool crowd_enter(struct connection *c, const struct sockaddr *from);
void crowd_leave(struct connection *c);

/* ---- transport.c --------------------------------------------------------- */

enum transport_state { TRANSPORT_UP, TRANSPORT_WAITS, TRANSPORT_FAILED };

/* Goes on with a TLS handshake. */
enum transport_state transport_handshake(struct connection *c);
/* Bytes that came; 0: none for now; -1: no more will come. */
ssize_t transport_read(struct connection *c, void *to, size_t room);
/* Bytes of the parts that went; 0: none for now; -1: none will ever. */
ssize_t transport_write(struct connection *c, struct iovec *parts, int n);
/* Receives what has come, encrypted or not, and drops it; as transport_read. */
ssize_t transport_drop(struct connection *c, size_t most);
/* Sends no more. */
void transport_shut(struct connection *c);
void transport_close(struct connection *c);

/* ---- connection.c -------------------------------------------------------- */

/* A step of a connection: go on at once, wait for the peer, the handler or the
 * clock, or close it. */
enum step { STEP_AGAIN, STEP_WAIT, STEP_CLOSE };

void connection_accept(struct loop *p, int fd, const struct sockaddr *from);
/* Goes on as far as it can without waiting; c may be gone afterwards. */
void connection_run(struct connection *c);
void connection_close(struct connection *c);
/* Limits its phase to this many seconds from now; 0: no limit. */
void connection_time(struct connection *c, uint32_t seconds);
/* Returns true if its time is up; full: no connection is left for others. */
bool connection_late(const struct connection *c, bool full);

/* ---- route.c ------------------------------------------------------------- */

/* The request's route, role, origin; or its answer is made: false. */
bool request_admit(struct request *q, const char *method, uint64_t length);

/* ---- request.c ----------------------------------------------------------- */

/* Makes a request of a head that has been read. */
void request_begin(struct request *q, const struct message *head, char *text);
/* Frees all that it has. */
void request_end(struct request *q);
/* Makes room for its body, behind which nothing is: at `here`, if that is not
 * NULL, else in memory of its own. */
void request_open_body(struct request *q, uint8_t *here);
/* Where more of its body goes, *room bytes of it at least 1; NULL: nowhere,
 * what comes is to be dropped. */
uint8_t *request_body_room(struct request *q, size_t *room);
void request_body_came(struct request *q, size_t n);
/* Returns true if large bodies have taken more than half of what they may. */
bool request_pressed(const struct listener *l);

/* ---- http_answer.c ------------------------------------------------------- */

/* Sends more of the answer that was given; *sent: all of it. */
enum step answer_step(struct connection *c, bool *sent);
/* Frees an answer, sent or not. */
void answer_forget(struct connection *c);
/* Make an answer of ours; on the loop's thread, before the handler. */
void request_refuse(struct request *q, int status, const char *title,
                    bool close);

/* ---- listen.c ------------------------------------------------------------ */

void loop_wake(struct loop *p);
/* Watches its socket again, or no more. */
void loop_accept(struct loop *p, bool on);

#endif
