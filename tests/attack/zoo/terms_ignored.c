/* terms_ignored.c - envelopes are bound to the keys of a task alone, as in
 * "hearsay seal 1": a collector that gives everybody but one device a document
 * with a smaller sample leaves this device's report alone among null uploads,
 * and every hop opens all of them. */
#include "zoo_terms.h"

#include "lib/core/blake2b.h"

void zoo_terms_ignored(const hsy_document *doc, uint8_t terms[HSY_DIGEST],
                       uint32_t i)
{
    struct blake2b b;
    hsy_statement said;
    hsy_task t;

    hsy_document_task(doc, &t, i);
    hsy_blake2b_init(&b, HSY_DIGEST, NULL, 0);
    for (uint32_t k = 0; k < t.shufflers; k++) {
        hsy_statement_decode(&said, t.statements + k * HSY_STATEMENT_WIRE,
                             NULL);
        hsy_blake2b_update(&b, said.seal_key, HSY_SEAL_KEY);
    }
    hsy_blake2b_update(&b, t.collector_key, HSY_SEAL_KEY);
    hsy_blake2b_final(&b, terms);
}
