/* internal.h - what the files of a hop share. */
#ifndef SERVER_SHUFFLE_HOP_INTERNAL_H
#define SERVER_SHUFFLE_HOP_INTERNAL_H

#include "server/shuffle/hop/hop.h"
#include "server/shuffle/hops.h"

#include <pthread.h>
#include <stdatomic.h>

#define HOP_WAITING 64u /* parts of deliveries that wait to be taken */
#define HOP_RESERVED                                                           \
    2u /* of these, for senders whose last signature was good */

/* A batch that was taken, on its way to the mixer. */
struct hop_came {
    struct hop_came *next;
    struct store_mix row;
};

/* What the mixer's thread alone knows of delivering. */
struct hop_sender {
    struct target to;
    struct client *client;
    uint8_t *wire;                /* owned: a request */
    uint64_t again;               /* milliseconds: not before this */
    unsigned failures;            /* one after the other, */
    uint8_t last[STORE_BATCH_ID]; /* and of which batch the last was */
    struct hop_refused {
        uint8_t id[STORE_BATCH_ID];
        uint64_t again; /* milliseconds: this batch not before; 0: none */
    } * refused;        /* owned: the next hop did not want them */
    size_t nrefused;
};

struct hop {
    struct hop_options options;
    bool shuffles;
    uint8_t sign_key[HSY_SIGN_KEY], secret[HSY_SIGN_SECRET];
    char *documents, *documents_draft; /* owned: paths of their list */

    pthread_mutex_t lock; /* of all up to the next line */
    pthread_cond_t taker_wakes, mixer_wakes;
    struct hops_keys keys;
    struct loaded loaded; /* a shuffler's documents */
    bool rekeyed; /* they are others than the mixer's tasks were made with */
    struct request *waiting[HOP_WAITING]; /* a ring */
    size_t first, nwaiting;
    struct hop_came *came;
    bool stopping;
    struct store_mix *rows; /* owned: as they were last */
    size_t nrows;
    struct hop_status status; /* but for `waits` */
    uint64_t failing; /* milliseconds: since then nothing is received; 0 */

    pthread_t taker, mixing;
    bool taker_runs, mixing_runs;
    struct inbox *inbox;   /* the taker's */
    struct roster *roster; /* the taker's, while it takes something, */
    uint32_t day;          /* and the day of this hop's clock then */
    hsy_entropy entropy;   /* the mixer's, as the rest */
    struct mixer *mixer;
    struct roster *mixed; /* whose tasks it has */
    struct hop_sender sender;
};

bool hop_stops(struct hop *h);
/* The keys, to be wiped. HSY_E_BUSY if it is to stop: what opens one envelope
 * after the other ends then, and begins again at the next start. */
hsy_status hop_keys(struct hop *h, struct hops_keys *out);

/* ---- hop_take.c ---------------------------------------------------------- */

hsy_status hop_take_open(struct hop *h, hsy_error *err);
void *hop_take_main(void *ctx);
/* Refuse all that wait. */
void hop_take_none(struct hop *h);

/* ---- hop_documents.c ----------------------------------------------------- */

hsy_status hop_documents_open(struct hop *h, hsy_error *err);

/* ---- hop_mix.c ----------------------------------------------------------- */

hsy_status hop_mix_open(struct hop *h, hsy_error *err);
void *hop_mix_main(void *ctx);

/* ---- hop_deliver.c: by the mixer's thread -------------------------------- */

/* HSY_E_IO with errno; *about as in hop_open. */
hsy_status hop_deliver_open(struct hop *h, const char **about, hsy_error *err);
void hop_deliver_close(struct hop *h);
/* Try everything again now: a document or a key has changed. */
void hop_deliver_anew(struct hop *h);
/* Deliver what is mixed, one batch; *more if there may be another. HSY_OK also
 * if the next hop does not take it. */
hsy_status hop_deliver(struct hop *h, bool *more, hsy_error *err);

#endif
