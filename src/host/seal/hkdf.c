/* hkdf.c - HKDF-SHA256 [RFC 5869] by nettle, which uses the processor's own
 * instructions where libsodium's SHA-256 does not. */
#include "host/seal/internal.h"

#include <assert.h>
#include <nettle/hmac.h>
#include <sodium.h>

static void hkdf_update(struct hmac_sha256_ctx *h,
                        const struct seal_part *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hmac_sha256_update(h, parts[i].len, parts[i].bytes);
}

void seal_extract(uint8_t prk[SEAL_HASH], const uint8_t *salt, size_t salt_len,
                  const struct seal_part *ikm, size_t parts)
{
    struct hmac_sha256_ctx h;

    hmac_sha256_set_key(&h, salt_len, salt);
    hkdf_update(&h, ikm, parts);
    hmac_sha256_digest(&h, SEAL_HASH, prk);
    sodium_memzero(&h, sizeof h);
}

void seal_expand(uint8_t *out, size_t len, const uint8_t prk[SEAL_HASH],
                 const struct seal_part *info, size_t parts)
{
    struct hmac_sha256_ctx h;
    uint8_t block[SEAL_HASH], counter = 0;

    assert(len <= SEAL_EXPORT_MAX);
    hmac_sha256_set_key(&h, SEAL_HASH, prk);
    while (len != 0) {
        size_t n = len < sizeof block ? len : sizeof block;

        if (counter != 0)
            hmac_sha256_update(&h, sizeof block, block);
        counter++;
        hkdf_update(&h, info, parts);
        hmac_sha256_update(&h, 1, &counter);
        hmac_sha256_digest(&h, sizeof block, block);
        for (size_t i = 0; i < n; i++)
            out[i] = block[i];
        out += n;
        len -= n;
    }
    sodium_memzero(&h, sizeof h);
    sodium_memzero(block, sizeof block);
}
