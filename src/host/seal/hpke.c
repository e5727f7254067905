/* hpke.c - HPKE in base mode [RFC 9180]; names and order as the RFC has them.
 */
#include "host/seal/internal.h"

#include <sodium.h>
#include <string.h>

#define HPKE_SUITE 10u /* "HPKE", KEM, KDF, AEAD */

_Static_assert(SEAL_KEY == crypto_scalarmult_BYTES &&
                   SEAL_KEY == crypto_scalarmult_SCALARBYTES &&
                   SEAL_NONCE == crypto_aead_chacha20poly1305_ietf_NPUBBYTES &&
                   SEAL_TAG == crypto_aead_chacha20poly1305_ietf_ABYTES,
               "the sizes are those of libsodium");

static const uint8_t hpke_kem_suite[5] = {'K', 'E', 'M', 0x00, 0x20};

static void hpke_suite(uint8_t suite[HPKE_SUITE], enum seal_aead aead)
{
    memcpy(suite, "HPKE\x00\x20\x00\x01", 8);
    suite[8] = (uint8_t)((unsigned)aead >> 8);
    suite[9] = (uint8_t)aead;
}

/* ---- Labelled HKDF, section 4 -------------------------------------------- */

static void hpke_extract(uint8_t prk[SEAL_HASH], const uint8_t *salt,
                         size_t salt_len, struct seal_part suite,
                         const char *label, const uint8_t *ikm, size_t len)
{
    const struct seal_part parts[] = {
        {"HPKE-v1", 7}, suite, {label, strlen(label)}, {ikm, len}};

    seal_extract(prk, salt, salt_len, parts, 4);
}

static void hpke_expand(uint8_t *out, size_t len, const uint8_t prk[SEAL_HASH],
                        struct seal_part suite, const char *label,
                        const uint8_t *info, size_t info_len)
{
    const uint8_t length[2] = {(uint8_t)(len >> 8), (uint8_t)len};
    const struct seal_part parts[] = {{length, sizeof length},
                                      {"HPKE-v1", 7},
                                      suite,
                                      {label, strlen(label)},
                                      {info, info_len}};

    seal_expand(out, len, prk, parts, 5);
}

/* ---- Keys ---------------------------------------------------------------- */

hsy_status seal_public(uint8_t pub[SEAL_KEY], const uint8_t secret[SEAL_KEY])
{
    if (sodium_init() == -1)
        return HSY_E_ENTROPY;
    return crypto_scalarmult_base(pub, secret) == 0 ? HSY_OK : HSY_E_REFUSED;
}

hsy_status seal_keypair(uint8_t pub[SEAL_KEY], uint8_t secret[SEAL_KEY])
{
    if (sodium_init() == -1)
        return HSY_E_ENTROPY;
    randombytes_buf(secret, SEAL_KEY);
    return seal_public(pub, secret);
}

/* ExtractAndExpand, section 4.1. libsodium refuses a product of zeros, which
 * every sender could make: the shared secret would be no secret. */
static hsy_status hpke_shared(uint8_t shared[SEAL_HASH],
                              const uint8_t secret[SEAL_KEY],
                              const uint8_t other[SEAL_KEY],
                              const uint8_t enc[SEAL_ENC],
                              const uint8_t pub[SEAL_KEY])
{
    const struct seal_part suite = {hpke_kem_suite, sizeof hpke_kem_suite};
    uint8_t dh[SEAL_KEY], prk[SEAL_HASH], context[SEAL_ENC + SEAL_KEY];

    if (crypto_scalarmult(dh, secret, other) != 0)
        return HSY_E_REFUSED;
    memcpy(context, enc, SEAL_ENC);
    memcpy(context + SEAL_ENC, pub, SEAL_KEY);
    hpke_extract(prk, NULL, 0, suite, "eae_prk", dh, sizeof dh);
    hpke_expand(shared, SEAL_HASH, prk, suite, "shared_secret", context,
                sizeof context);
    sodium_memzero(dh, sizeof dh);
    sodium_memzero(prk, sizeof prk);
    return HSY_OK;
}

/* KeySchedule, section 5.1, in base mode: mode 0, empty psk and psk_id. */
static void hpke_schedule(struct seal_context *c, enum seal_aead aead,
                          const uint8_t shared[SEAL_HASH], const uint8_t *info,
                          size_t info_len)
{
    uint8_t id[HPKE_SUITE], context[1 + 2 * SEAL_HASH] = {0};
    const struct seal_part suite = {id, sizeof id};
    uint8_t secret[SEAL_HASH];

    hpke_suite(id, aead);
    hpke_extract(context + 1, NULL, 0, suite, "psk_id_hash", NULL, 0);
    hpke_extract(context + 1 + SEAL_HASH, NULL, 0, suite, "info_hash", info,
                 info_len);
    hpke_extract(secret, shared, SEAL_HASH, suite, "secret", NULL, 0);
    *c = (struct seal_context){.aead = aead};
    if (aead != SEAL_EXPORT_ONLY) {
        hpke_expand(c->key, seal_aead_key(aead), secret, suite, "key", context,
                    sizeof context);
        hpke_expand(c->base_nonce, SEAL_NONCE, secret, suite, "base_nonce",
                    context, sizeof context);
    }
    hpke_expand(c->exporter, SEAL_HASH, secret, suite, "exp", context,
                sizeof context);
    sodium_memzero(secret, sizeof secret);
}

/* ---- Contexts ------------------------------------------------------------ */

static hsy_status hpke_ready(enum seal_aead aead)
{
    if (seal_aead_key(aead) == SIZE_MAX)
        return HSY_E_UNKNOWN;
    return sodium_init() == -1 ? HSY_E_ENTROPY : HSY_OK;
}

static hsy_status hpke_sender(struct seal_context *c, uint8_t enc[SEAL_ENC],
                              enum seal_aead aead, const uint8_t pub[SEAL_KEY],
                              const uint8_t *info, size_t info_len,
                              const uint8_t ephemeral[SEAL_KEY])
{
    uint8_t own[SEAL_ENC], shared[SEAL_HASH];
    hsy_status st = seal_public(own, ephemeral);

    if (st == HSY_OK)
        st = hpke_shared(shared, ephemeral, pub, own, pub);
    if (st != HSY_OK)
        return st;
    memcpy(enc, own, SEAL_ENC);
    hpke_schedule(c, aead, shared, info, info_len);
    sodium_memzero(shared, sizeof shared);
    return HSY_OK;
}

hsy_status seal_setup_sender(struct seal_context *c, uint8_t enc[SEAL_ENC],
                             enum seal_aead aead, const uint8_t pub[SEAL_KEY],
                             const uint8_t *info, size_t info_len,
                             const uint8_t ephemeral[SEAL_KEY])
{
    uint8_t fresh[SEAL_KEY];
    hsy_status st = hpke_ready(aead);

    if (st != HSY_OK)
        return st;
    if (ephemeral != NULL)
        return hpke_sender(c, enc, aead, pub, info, info_len, ephemeral);
    randombytes_buf(fresh, sizeof fresh);
    st = hpke_sender(c, enc, aead, pub, info, info_len, fresh);
    sodium_memzero(fresh, sizeof fresh);
    return st;
}

hsy_status seal_setup_receiver(struct seal_context *c, enum seal_aead aead,
                               const uint8_t enc[SEAL_ENC],
                               const uint8_t secret[SEAL_KEY],
                               const uint8_t pub[SEAL_KEY], const uint8_t *info,
                               size_t info_len)
{
    uint8_t shared[SEAL_HASH];
    hsy_status st = hpke_ready(aead);

    if (st == HSY_OK)
        st = hpke_shared(shared, secret, enc, enc, pub);
    if (st != HSY_OK)
        return st;
    hpke_schedule(c, aead, shared, info, info_len);
    sodium_memzero(shared, sizeof shared);
    return HSY_OK;
}

void seal_clear(struct seal_context *c)
{
    sodium_memzero(c, sizeof *c);
}

/* ---- Messages ------------------------------------------------------------ */

/* ComputeNonce, section 5.2. */
static hsy_status hpke_nonce(uint8_t nonce[SEAL_NONCE],
                             const struct seal_context *c, size_t len)
{
    if (c->aead == SEAL_EXPORT_ONLY || len > SEAL_TEXT_MAX)
        return HSY_E_RANGE;
    if (c->sequence == UINT64_MAX)
        return HSY_E_OVERFLOW;
    memcpy(nonce, c->base_nonce, SEAL_NONCE);
    for (unsigned i = 0; i < 8; i++)
        nonce[SEAL_NONCE - 1 - i] ^= (uint8_t)(c->sequence >> 8 * i);
    return HSY_OK;
}

hsy_status seal_close(struct seal_context *c, uint8_t *out, const uint8_t *aad,
                      size_t aad_len, const uint8_t *text, size_t len)
{
    const struct seal_part beside = {aad, aad_len};
    uint8_t nonce[SEAL_NONCE];
    hsy_status st = hpke_nonce(nonce, c, len);

    if (st != HSY_OK)
        return st;
    seal_aead_close(c->aead, c->key, nonce, out, &beside, text, len);
    c->sequence++;
    return HSY_OK;
}

hsy_status seal_open(struct seal_context *c, uint8_t *out, const uint8_t *aad,
                     size_t aad_len, const uint8_t *sealed, size_t len)
{
    const struct seal_part beside = {aad, aad_len};
    uint8_t nonce[SEAL_NONCE];
    hsy_status st;

    if (len < SEAL_TAG)
        return HSY_E_REFUSED;
    st = hpke_nonce(nonce, c, len - SEAL_TAG);
    if (st == HSY_OK)
        st = seal_aead_open(c->aead, c->key, nonce, out, &beside, sealed, len);
    if (st == HSY_OK)
        c->sequence++;
    return st;
}

void seal_export(const struct seal_context *c, uint8_t *out, size_t len,
                 const uint8_t *context, size_t context_len)
{
    uint8_t id[HPKE_SUITE];
    const struct seal_part suite = {id, sizeof id};

    hpke_suite(id, c->aead);
    hpke_expand(out, len, c->exporter, suite, "sec", context, context_len);
}
