/* fields_without_lengths.c - fields one after the other without their lengths:
 * "ask" "source" is "asks" "ource". */
#include "zoo.h"

#include <string.h>

void zoo_fields_without_lengths_coins(uint8_t out[32],
                                      const uint8_t key[HSY_KEY],
                                      const hsy_context *context,
                                      bool published)
{
    uint8_t all[128] = {0};
    size_t n = strlen(context->purpose);

    memcpy(all, context->purpose, n);
    memcpy(all + n, context->source, context->source_len);
    n += context->source_len;
    memcpy(all + n, context->digest, HSY_DIGEST);
    n += HSY_DIGEST;
    all[n++] = (uint8_t)context->slot;
    all[n++] = (uint8_t)context->truth;
    all[n++] = published;
    hsy_blake2b(out, 32, all, n, key, HSY_KEY);
}
