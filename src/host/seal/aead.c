/* aead.c - ChaCha20-Poly1305 by libsodium, AES-128-GCM by nettle: libsodium has
 * AES-GCM for 256 bits only. */
#include "host/seal/internal.h"

#include <nettle/gcm.h>
#include <sodium.h>

size_t seal_aead_key(enum seal_aead aead)
{
    switch (aead) {
    case SEAL_AES128GCM:
        return AES128_KEY_SIZE;
    case SEAL_CHACHA20:
        return crypto_aead_chacha20poly1305_ietf_KEYBYTES;
    case SEAL_EXPORT_ONLY:
        return 0;
    }
    return SIZE_MAX;
}

static void aead_gcm_start(struct gcm_aes128_ctx *gcm, const uint8_t *key,
                           const uint8_t nonce[SEAL_NONCE],
                           const struct seal_part *aad)
{
    gcm_aes128_set_key(gcm, key);
    gcm_aes128_set_iv(gcm, SEAL_NONCE, nonce);
    gcm_aes128_update(gcm, aad->len, aad->bytes);
}

void seal_aead_close(enum seal_aead aead, const uint8_t *key,
                     const uint8_t nonce[SEAL_NONCE], uint8_t *out,
                     const struct seal_part *aad, const uint8_t *text,
                     size_t len)
{
    struct gcm_aes128_ctx gcm;

    if (aead == SEAL_CHACHA20) {
        crypto_aead_chacha20poly1305_ietf_encrypt(
            out, NULL, text, len, aad->bytes, aad->len, NULL, nonce, key);
        return;
    }
    aead_gcm_start(&gcm, key, nonce, aad);
    gcm_aes128_encrypt(&gcm, len, out, text);
    gcm_aes128_digest(&gcm, SEAL_TAG, out + len);
    sodium_memzero(&gcm, sizeof gcm);
}

static hsy_status aead_gcm_open(const uint8_t *key,
                                const uint8_t nonce[SEAL_NONCE], uint8_t *out,
                                const struct seal_part *aad,
                                const uint8_t *sealed, size_t len)
{
    struct gcm_aes128_ctx gcm;
    uint8_t tag[SEAL_TAG];
    bool same;

    aead_gcm_start(&gcm, key, nonce, aad);
    gcm_aes128_decrypt(&gcm, len, out, sealed);
    gcm_aes128_digest(&gcm, sizeof tag, tag);
    same = sodium_memcmp(tag, sealed + len, sizeof tag) == 0;
    sodium_memzero(&gcm, sizeof gcm);
    if (same)
        return HSY_OK;
    sodium_memzero(out, len);
    return HSY_E_REFUSED;
}

hsy_status seal_aead_open(enum seal_aead aead, const uint8_t *key,
                          const uint8_t nonce[SEAL_NONCE], uint8_t *out,
                          const struct seal_part *aad, const uint8_t *sealed,
                          size_t len)
{
    if (aead == SEAL_AES128GCM)
        return aead_gcm_open(key, nonce, out, aad, sealed, len - SEAL_TAG);
    /* What does not open leaves zeros. */
    return crypto_aead_chacha20poly1305_ietf_decrypt(out, NULL, NULL, sealed,
                                                     len, aad->bytes, aad->len,
                                                     nonce, key) == 0
               ? HSY_OK
               : HSY_E_REFUSED;
}
