/*
 * twins.h - what is sent to two ways of counting, which must say the same of
 * it: tasks of several sizes, uploads, requests of them, batches of a shuffler,
 * tally files; all from one seed.
 *
 * Left out, for the ways may differ there (docs/cluster.md): an id under two
 * epochs, and an id under two tasks, for a cluster looks for it in the table of
 * its epoch, and a task with tokens is in a shard of its own; an id again, in
 * one group, of an upload that was refused for its token's quota, if it comes
 * with other bytes or under another token: then a cluster says "try again".
 */
#ifndef TWINS_H
#define TWINS_H

#include "server/engine/engine.h"

#define TWINS_DAY 20600u
#define TWINS_UPLOADS 24u /* of a request, at most */
#define TWINS_KNOWN 512u  /* uploads that may come again */
#define TWINS_TOKENS 6u
#define TWINS_QUOTA 9u
#define TWINS_PARCEL 40u /* envelopes of a batch, at most */

enum twins_task {
    TWINS_BIT,
    TWINS_VALUES,
    TWINS_BITS,
    TWINS_LARGE,
    TWINS_ENROLLED,
    TWINS_VEILED,
    TWINS_TASKS
};

extern const char *const twins_ids[TWINS_TASKS];

/* An upload that was sent, and may be again. */
struct twins_known {
    uint8_t *bytes; /* owned */
    size_t len;
    uint32_t task, epoch, token;
    bool settled; /* it was counted, by an answer */
};

/* A request. */
struct twins_request {
    uint8_t *body; /* owned */
    size_t len;
    uint32_t token; /* 0: none */
    bool forwarded; /* uploads may have many reports */
    size_t n;
    size_t known[TWINS_UPLOADS]; /* their places; TWINS_KNOWN: none */
};

struct twins {
    uint64_t random;
    uint64_t version; /* of the document in force */
    uint32_t release; /* of all tasks but the veiled one */
    uint32_t day;
    struct roster *roster; /* of the document in force; borrowed */
    struct twins_known known[TWINS_KNOWN];
    size_t nknown; /* so far: those that stay are the last */
    uint64_t envelopes, parcels;
};

uint32_t twins_below(struct twins *t, uint32_t n);

/* The next document, with every task under the release; *len with its
 * signature of zeros. The caller's. */
uint8_t *twins_document(struct twins *t, size_t *len);

/* The entry of a task under the release in force. */
const struct roster_entry *twins_entry(const struct twins *t,
                                       enum twins_task task);

/* A request of some uploads: new ones, and such as have come. */
void twins_ask(struct twins *t, struct twins_request *q);

/* What became of upload i of a request. */
void twins_settle(struct twins *t, const struct twins_request *q, size_t i,
                  enum intake_verdict verdict);

/* Read it as a server does. */
bool twins_read(const struct twins_request *q, struct submission *s,
                struct roster *roster, struct intake_days days);

/* A batch of a shuffler, with envelopes that may have come. */
struct twins_parcel {
    struct engine_delivery d;
    uint8_t items[TWINS_PARCEL * 8], names[TWINS_PARCEL][16], heads[64];
    bool null[TWINS_PARCEL];
};
void twins_deliver(struct twins *t, struct twins_parcel *p);

/* A tally file of some reports of an entry; the caller's. */
uint8_t *twins_tally(struct twins *t, const struct roster_entry *is,
                     size_t *len);

void twins_clear(struct twins *t);

#endif
