/*
 * golden_shuffled.h - the golden files of shuffled tasks: a statement, a
 * document of formats 2 and 3 and a sealed upload, by keys that everybody
 * knows.
 */
#ifndef GOLDEN_SHUFFLED_H
#define GOLDEN_SHUFFLED_H

#include "host/seal/seal.h"
#include "host/tasks/loaded.h"
#include "rig/example_tasks.h"

#define GOLDEN_REPORT 5u /* the letter in the innermost envelope */

struct golden_shuffled {
    struct example_tasks tasks;
    uint8_t secrets[2][SEAL_KEY], keys[2][SEAL_KEY]; /* shuffler, collector */
    uint8_t terms[HSY_DIGEST]; /* of the document's second task */
    uint8_t statement[HSY_STATEMENT_WIRE];
    uint8_t *document; /* owned */
    size_t document_len;
    uint8_t *third; /* the same in format 3; owned */
    size_t third_len;
    uint8_t loaded[LOADED_MAX]; /* the shuffler's list of documents */
    size_t loaded_len;
    uint8_t upload[256];
    size_t upload_len;
};

/* False if anything fails. */
bool golden_shuffled_make(struct golden_shuffled *g);

/* Where its upload belongs. */
struct seal_place golden_shuffled_place(const struct golden_shuffled *g,
                                        const hsy_upload *head);

#endif
