/*
 * collector.h - the routes of both listeners, and what they share.
 *
 * A collector counts uploads (counting.h), and has two listeners, tokens and
 * figures. A shuffler is one that counts envelopes instead of reports: it has a
 * hop that mixes them and passes them on, and neither figures nor copies.
 * serve.c (src/cli/serve/serve.c calls it) opens and closes them in order; the
 * routes only use what is here. docs/openapi.yaml describes every route, and a
 * test holds the server against it.
 */
#ifndef SERVER_COLLECTOR_COLLECTOR_H
#define SERVER_COLLECTOR_COLLECTOR_H

#include "server/auth/auth.h"
#include "server/collector/figures/figures.h"
#include "server/collector/watch/watch.h"
#include "server/counting/counting.h"
#include "server/gateway/gateway.h"
#include "server/http/http.h"
#include "server/process/config.h"
#include "server/process/log.h"
#include "server/shuffle/hop/hop.h"

#include <pthread.h>

struct history;
struct shown_keep;
struct copies;
struct put;

struct collector {
    struct config config;    /* does not change while threads run, but for what
                                reload.c alone reads */
    const char *config_path; /* NULL: there is none */
    bool enrols;             /* the configuration names tasks with tokens */
    bool accept_clock;       /* at this start; engine.h */
    uint64_t rehearsed[2];   /* the time of a rehearsal; the admitter's and the
                                mixer's */
    unsigned connections;    /* of a listener, as descriptors suffice */
    struct counting *counting;
    struct engine *engine;           /* what it knows: counting's */
    struct listener *public, *admin; /* admin: NULL if there is none */
    struct tokens *tokens;
    struct gateway *gateway;
    struct hop *hop; /* batches of shufflers; NULL: none are taken */
    struct shown_keep *shown_keep; /* for history; NULL: shown.db. Owned until
                                      history takes it */
    struct history *history;
    struct copies *copies;   /* the schedule of backups; NULL: there is none */
    pthread_mutex_t copying; /* one backup at a time */
    int backups;             /* of copies_hold; -1: it is not held */
    struct log *log;
    struct watch *watch;
    int manager;               /* of notify_open; -1: there is none */
    pthread_mutex_t documents; /* one is taken at a time; of sign_key */
    uint8_t sign_key[HSY_SIGN_KEY];
    bool ready; /* both listeners serve; false while draining */
};

extern const struct route api_public[]; /* api_public.c; ctx: the collector */
extern const size_t api_public_count;
extern const struct route api_admin[]; /* api_admin.c */
extern const size_t api_admin_count;
extern const struct route api_shuffler_admin[]; /* in its place */
extern const size_t api_shuffler_admin_count;

/* Whether it is a shuffler. */
static inline bool collector_shuffles(const struct collector *c)
{
    return c->config.next != NULL;
}

/* Verify a document and put it in force; the routes and reload use it. *again:
 * it is in force already. HSY_E_SIGNATURE, HSY_E_OLD, HSY_E_FORMAT,
 * HSY_E_RANGE. */
hsy_status api_take_document(struct collector *c, const uint8_t *bytes,
                             size_t len, bool *again, hsy_error *err);

/* Log it if the document in force names no key of the gateway, or no statement
 * of the shuffler (serve.c): after either has changed. */
void serve_remind_document(struct collector *c);

/* ---- The estimator's thread (history.c) ---------------------------------- */

/* Makes a figure of every task that has changed, every estimate_seconds; keeps
 * the last of each day in the store and finer ones in memory; answers
 * requests for figures with other options in between. */
hsy_status history_start(struct history **out, struct collector *c,
                         hsy_error *err);
void history_stop(struct history *h); /* NULL is allowed */

#endif
