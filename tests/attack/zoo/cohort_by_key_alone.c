/*
 * cohort_by_key_alone.c - a cohort that is a function of the key alone.
 *
 * All tasks of a device publish the same one, so it links them: a name.
 */
#include "zoo.h"

#include <string.h>

void zoo_cohort_by_key_alone_coins(uint8_t out[32], const uint8_t key[HSY_KEY],
                                   const hsy_context *context, bool published)
{
    uint8_t all[64 + HSY_DIGEST] = {0};

    /* The secret coins are right; the published ones know no task. */
    if (published) {
        hsy_blake2b(out, 32, "cohort", 6, key, HSY_KEY);
        return;
    }
    memcpy(all, context->source, context->source_len);
    memcpy(all + 40, context->purpose, strlen(context->purpose));
    all[62] = (uint8_t)context->slot;
    all[63] = (uint8_t)context->truth;
    memcpy(all + 64, context->digest, HSY_DIGEST);
    hsy_blake2b(out, 32, all, sizeof all, key, HSY_KEY);
}
