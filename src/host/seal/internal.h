/* internal.h - what HPKE and Oblivious HTTP share: HKDF and the AEADs. */
#ifndef HOST_SEAL_INTERNAL_H
#define HOST_SEAL_INTERNAL_H

#include "host/seal/seal.h"

#define SEAL_HASH 32u  /* of SHA-256 */
#define SEAL_NONCE 12u /* of either AEAD */

/* Bytes that are hashed one after the other, without a copy. */
struct seal_part {
    const void *bytes;
    size_t len;
};

/* HKDF-SHA256 [RFC 5869]; len at most SEAL_EXPORT_MAX. */
void seal_extract(uint8_t prk[SEAL_HASH], const uint8_t *salt, size_t salt_len,
                  const struct seal_part *ikm, size_t parts);
void seal_expand(uint8_t *out, size_t len, const uint8_t prk[SEAL_HASH],
                 const struct seal_part *info, size_t parts);

/* Bytes of a key; 0 where nothing is sealed, SIZE_MAX for what is none. */
size_t seal_aead_key(enum seal_aead aead);

/* aead is one of the two that seal; len as seal_close and seal_open have it. */
void seal_aead_close(enum seal_aead aead, const uint8_t *key,
                     const uint8_t nonce[SEAL_NONCE], uint8_t *out,
                     const struct seal_part *aad, const uint8_t *text,
                     size_t len);
hsy_status seal_aead_open(enum seal_aead aead, const uint8_t *key,
                          const uint8_t nonce[SEAL_NONCE], uint8_t *out,
                          const struct seal_part *aad, const uint8_t *sealed,
                          size_t len);

#endif
