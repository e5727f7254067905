/*
 * roster.h - what a collector may be told: the tasks it asks or has asked.
 *
 * An *entry* is one task under one release and one scheme, with everything that
 * is needed to check, fold and estimate its reports. Entries are numbered as
 * they come and stay for ever, so that tallies and files name them by number;
 * a roster is a list of all of them at one moment. Rosters are immutable and
 * counted: a document that brings new tasks makes a new roster, and whoever
 * still holds the old one may go on reading it, on any thread.
 */
#ifndef SERVER_INTAKE_ROSTER_H
#define SERVER_INTAKE_ROSTER_H

#include "hearsay.h"

struct roster_entry {
    uint32_t number; /* its place in the roster, from 0 on */
    bool current;    /* the document in force asks it */
    bool ended;      /* it is shuffled, and no release of its task is current */
    hsy_task task;   /* question, labels and wires lead into `bytes` */
    const hsy_scheme *scheme;
    const hsy_release *release; /* for what a person is told, and charges */
    uint8_t digest[HSY_DIGEST]; /* of the scheme */
    size_t report_bytes;
    size_t words;        /* hsy_tally_words */
    size_t sealed_bytes; /* of a sealed upload's payload; 0: none is sealed */
    uint8_t first_key[HSY_SIGN_KEY]; /* that its first shuffler signs with */
    uint8_t terms[HSY_DIGEST];       /* hsy_document_terms, if shuffled */
    uint32_t first, last; /* epochs in which its uploads may be due */
    const uint8_t *bytes; /* a document of this one task, with terms instead of
                             a signature */
    size_t len;
};

struct roster;

/* No entries; one reference. NULL: out of memory. */
struct roster *roster_new(void);
struct roster *roster_hold(struct roster *r); /* one more reference; r */
void roster_drop(struct roster *r);           /* NULL is allowed */

/*
 * A new roster: the entries of old, and those of the document that it does not
 * have yet (another task, release or scheme) after them. The document's
 * signature is the caller's business. HSY_E_RANGE if a task is there with the
 * same id and release but another scheme, or is shuffled under other terms:
 * then err->at is its place in the document.
 */
hsy_status roster_extend(struct roster **out, struct roster *old,
                         const hsy_document *doc, hsy_error *err);

/* The same from entries as a store kept them, in the order of their numbers:
 * the documents of one task each. current are those in force. */
hsy_status roster_load(struct roster **out, const uint8_t *const *bytes,
                       const size_t *len, size_t n, const hsy_document *doc,
                       hsy_error *err);

size_t roster_count(const struct roster *r);
const struct roster_entry *roster_at(const struct roster *r, size_t number);

/* Bytes of a request, and of an answer that holds the document, before they are
 * sealed, as the document in force states them; 0 if it names no gateway. */
uint32_t roster_request_bytes(const struct roster *r);
uint32_t roster_document_bytes(const struct roster *r);

/* Memory of the tallies of all tasks in force: of each one, and if it has at
 * most day_words cells one for each of the days that are kept, today and
 * tomorrow. */
uint64_t roster_tally_bytes(const struct roster *r, uint64_t day_words,
                            uint64_t days);

/* By what an upload's head says; NULL if there is none. A task that is known,
 * but not under this release or digest, is left in *near (may be NULL). */
const struct roster_entry *roster_find(const struct roster *r,
                                       const hsy_upload *head,
                                       const struct roster_entry **near);

#endif
