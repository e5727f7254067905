/*
 * hop.h - a part of a chain as it runs: a shuffler, or the collector at its
 * end.
 *
 * Two threads of its own beside those of counting.h:
 *
 *   taker   takes batches of the hop before, a request at a time (inbox.h);
 *           what has come whole is counted by the admitter
 *   mixer   at a shuffler: closes, mixes and erases batches (mixer.h), and
 *           delivers them to the next hop until there is a receipt
 *
 * Both stop between two steps, each of which is a transaction or can be done
 * again; the heads of mixer.c and receive.c say why nothing is lost by that.
 */
#ifndef SERVER_SHUFFLE_HOP_HOP_H
#define SERVER_SHUFFLE_HOP_HOP_H

#include "host/tasks/loaded.h"
#include "server/counting/counting.h"
#include "server/http/http.h"
#include "server/peer/http_client.h"
#include "server/process/log.h"
#include "server/shuffle/hops.h"
#include "server/shuffle/parcel_wire.h"

struct hop;

/* Files of keys; keys.h has their form. */
struct hop_files {
    const char *sign_key;    /* signs batches and receipts */
    char *const *seal_keys;  /* open envelopes; ended by NULL */
    const char *receipt_key; /* public: the collector's; NULL: none */
};

struct hop_options {
    size_t size; /* sizeof(struct hop_options) */
    struct hop_files files;
    const char *next;    /* URL of the next hop; NULL: this is the collector */
    const char *next_ca; /* who signs its certificate; NULL: the system's */
    const char *directory; /* of the store */
    struct store *store;   /* a shuffler's; these three outlive the hop */
    struct counting *counting;
    struct log *log;
    uint64_t (*now)(void *ctx); /* seconds since 1970, of the mixer's thread */
    uint32_t look_millis;       /* how often it is asked */
    void (*failed)(void *ctx, const hsy_error *err); /* the store has */
    void *ctx;
};

/* Everything that may fail. A failure is of the file or URL that *about is set
 * to, NULL: of none; HSY_E_IO with errno. */
hsy_status hop_open(struct hop **out, const struct hop_options *o,
                    const char **about, hsy_error *err);
/* The threads; counting has started. */
hsy_status hop_start(struct hop *h, hsy_error *err);
/* End them; before counting is stopped, and after listeners are. */
void hop_stop(struct hop *h);
void hop_close(struct hop *h); /* NULL is allowed */

/* The key that this shuffler signs with; NULL: it is the collector. */
const uint8_t *hop_shuffler(const struct hop *h);

/* Take the keys of other files; the key that signs must be the same. */
hsy_status hop_take_keys(struct hop *h, const struct hop_files *files,
                         const char **about, hsy_error *err);

/* The public halves of a hop's keys. */
struct hop_public {
    uint8_t sign[HSY_SIGN_KEY];
    uint8_t seal[HOPS_KEYS][HSY_SEAL_KEY];
    size_t nseal;
};

/* Of files, without a hop; and of one that runs. */
hsy_status hop_files_check(struct hop_public *out,
                           const struct hop_files *files, const char **about,
                           hsy_error *err);
void hop_public(struct hop *h, struct hop_public *out);

/* Whether a document has envelopes for this shuffler, or collector, that none
 * of the keys opens: of a task of this id. */
bool hop_keyless(const hsy_document *doc, const struct hop_public *keys,
                 bool shuffles, char task[HSY_TASK_ID + 1]);

/* What a document says of a shuffler, by statements of its own. */
struct hop_places {
    bool any;  /* it has a place in the chain of a task */
    bool last; /* and in one the last: the next hop is the collector */
};
struct hop_places hop_places(const hsy_document *doc,
                             const uint8_t sign_key[HSY_SIGN_KEY]);

/* Note that a shuffler has loaded a document. HSY_E_IO with errno if the list
 * could not be written; it is served nevertheless, until the next start. Any
 * thread, one at a time. */
hsy_status hop_loaded(struct hop *h, const hsy_document *doc, uint32_t day);

/* The list of all that it loaded, signed on this day; its length, 0: there are
 * none. Any thread. */
size_t hop_documents(struct hop *h, uint8_t out[LOADED_MAX], uint32_t day);

/* A part of a delivery: it is answered by the taker. */
void hop_take(struct hop *h, struct request *q);

/* ---- How it is ----------------------------------------------------------- */

enum hop_refusal {
    HOP_UNKNOWN,   /* 404: no such task, or batch */
    HOP_MALFORMED, /* 400 */
    HOP_STRANGER,  /* 403, of heads 422: not signed by the hop before */
    HOP_OTHER,     /* 409: another batch of this id is here */
    HOP_WRONG,     /* 422: counts or a digest do not hold, too few are new */
    HOP_PLACE,     /* 416: not the next bytes */
    HOP_LATER,     /* 503 */
    HOP_REFUSALS
};
extern const char *const hop_refusals[HOP_REFUSALS]; /* one word each */

struct hop_status {
    bool shuffles;
    uint64_t taken; /* batches, since the start */
    uint64_t refused[HOP_REFUSALS];

    /* Of a shuffler. */
    uint64_t states[STORE_MIX_GONE + 1]; /* batches, by state */
    /* Envelopes since the start, and in the rows there were then. */
    uint64_t delivered;
    uint64_t erased;                 /* too few for too long */
    uint64_t unopened;               /* of batches of which too few opened */
    uint64_t tries[CLIENT_OUTCOMES]; /* requests to the next hop */
    uint64_t waits;    /* seconds for which nothing is received; 0: all is */
    uint64_t refusals; /* batches that the next hop refuses, now */
    unsigned answered; /* what it said to the last of them */
};
void hop_status(struct hop *h, struct hop_status *out);

/* All decisions in the order of entry, epoch and part, to be freed; NULL: there
 * are none, or there is no memory. */
struct store_mix *hop_mixes(struct hop *h, size_t *n);

#endif
