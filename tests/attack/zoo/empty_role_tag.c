/*
 * empty_role_tag.c - the tag that keeps two roles apart is "\0", and as a C
 * string empty: what is published shows the secret coins.
 */
#include "zoo.h"

#include <string.h>

void zoo_empty_role_tag_coins(uint8_t out[32], const uint8_t key[HSY_KEY],
                              const hsy_context *context, bool published)
{
    const char *tag = published ? "\0" : "";
    uint8_t all[72 + HSY_DIGEST] = {0};
    size_t len = strlen(tag);

    memcpy(all, tag, len);
    memcpy(all + 8, context->source, context->source_len);
    memcpy(all + 40, context->purpose, strlen(context->purpose));
    all[70] = (uint8_t)context->slot;
    all[71] = (uint8_t)context->truth;
    memcpy(all + 72, context->digest, HSY_DIGEST);
    hsy_blake2b(out, 32, all, sizeof all, key, HSY_KEY);
}
