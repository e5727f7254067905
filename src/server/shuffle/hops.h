/*
 * hops.h - what a document says of a chain, for who is a part of it: which
 * tasks a shuffler mixes, whose batches it or a collector takes, and the layers
 * they take off.
 */
#ifndef SERVER_SHUFFLE_HOPS_H
#define SERVER_SHUFFLE_HOPS_H

#include "host/seal/seal.h"
#include "server/intake/roster.h"
#include "server/shuffle/inbox.h"
#include "server/shuffle/mixer.h"

#define HOPS_KEYS 2u /* that are valid at a time */

/* Somebody's keys. */
struct hops_keys {
    uint8_t
        sign[HSY_SIGN_KEY]; /* of a shuffler; a collector is known by none */
    uint8_t
        collector[HSY_SIGN_KEY]; /* that the collector signs receipts with */
    struct hops_seal {
        uint8_t pub[SEAL_KEY], secret[SEAL_KEY];
    } seal[HOPS_KEYS];
    size_t nseal;
};

/* What the shuffler at a place says, from 1 on; false: the task has none there.
 * That it has signed it is not looked at. */
bool hops_statement(const hsy_task *task, uint32_t place, hsy_statement *out);

/* Whether all statements are signed by who makes them: a collector alone signs
 * the document, and must not put words into a shuffler's mouth, as a smaller
 * min_batch. False: those of *task are not. */
bool hops_agree(const hsy_document *doc, uint32_t *task);

/* Whether the envelopes of all tasks are at the end of their chains before they
 * are of a period that no hop opens any more: a device's upload comes up to
 * grace_days late, and each shuffler lets it wait for max_wait. False: those of
 * *task are not. */
bool hops_in_time(const hsy_document *doc, uint64_t grace_days, uint32_t *task);
#define HOPS_TOO_LATE                                                          \
    "grace_days, close_after and max_wait of all shufflers together must be "  \
    "less than 32 days: later hops open no older envelopes"

/* The tasks that a shuffler mixes; an array of as many as the roster has. */
size_t hops_mixer_tasks(struct mixer_task *out, const struct roster *roster,
                        const struct hops_keys *keys);

/* Take this shuffler's layer off: as mixer_options.peel. */
hsy_status hops_peel(const struct hops_keys *keys, uint8_t *out, bool *late,
                     const struct mixer_task *task, uint32_t epoch,
                     const uint8_t *id, const uint8_t *envelope);

/* The task of a batch that is for a shuffler, or for the collector, and that
 * can be opened: as inbox_options.find. What out leads to is the roster's. */
bool hops_find(const struct roster *roster, const struct hops_keys *keys,
               bool collector, const struct batch_head *head,
               struct inbox_task *out);

/* The last layer, and a report of the task or none: as inbox_options.open, on a
 * day of the collector's own clock. */
hsy_status hops_open(const struct roster *roster, const struct hops_keys *keys,
                     const struct inbox_task *task, uint32_t day, uint8_t *item,
                     bool *null, const uint8_t *envelope);

#endif
