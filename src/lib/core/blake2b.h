/* blake2b.h - BLAKE2b piece by piece, for what does not lie in one buffer. */
#ifndef LIB_CORE_BLAKE2B_H
#define LIB_CORE_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

struct blake2b {
    uint64_t h[8];
    uint64_t count; /* bytes compressed so far */
    uint8_t block[128];
    size_t used;    /* bytes waiting in block */
    size_t out_len; /* 1 to 64 */
};

/* Time depends on lengths, never on the bytes of data or key. key_len is at
 * most 64, and 0 for the plain hash. */
void hsy_blake2b_init(struct blake2b *b, size_t out_len, const uint8_t *key,
                      size_t key_len);
void hsy_blake2b_update(struct blake2b *b, const void *data, size_t len);

/* Writes out_len bytes and wipes the state. */
void hsy_blake2b_final(struct blake2b *b, uint8_t *out);

#endif
