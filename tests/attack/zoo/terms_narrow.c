/* terms_narrow.c - terms bind all of a task, but only id, release and sample of
 * the other tasks on its source: a collector that gives everybody but one
 * device another task that is dearer, or due earlier, uses up the caps of the
 * source there and leaves this device's report alone among null uploads. */
#include "zoo_terms.h"

#include "lib/bits/bytes.h"
#include "lib/core/blake2b.h"

#include <string.h>

void zoo_terms_narrow(const hsy_document *doc, uint8_t terms[HSY_DIGEST],
                      uint32_t i)
{
    const uint8_t *first = doc->bytes + 64, *own = first, *at = first;
    struct blake2b b;

    while (i-- != 0)
        own += bytes_get32(own);
    hsy_blake2b_init(&b, HSY_DIGEST, NULL, 0);
    hsy_blake2b_update(&b, own, bytes_get32(own));
    for (uint32_t k = 0; k < doc->tasks; k++, at += bytes_get32(at))
        if (memcmp(at + 120, own + 120, HSY_SOURCE_MAX) == 0) {
            hsy_blake2b_update(&b, at + 4, 4);   /* release */
            hsy_blake2b_update(&b, at + 72, 16); /* sample */
            hsy_blake2b_update(&b, at + 88, 32); /* id */
        }
    hsy_blake2b_final(&b, terms);
}
