/* ohttp.c - Oblivious HTTP [RFC 9458] over HPKE. */
#include "host/seal/ohttp.h"

#include "host/seal/internal.h"

#include <sodium.h>
#include <string.h>

#define OHTTP_HEADER 7u /* key id, KEM, KDF, AEAD */
#define OHTTP_KEM 0x0020u
#define OHTTP_KDF 0x0001u

_Static_assert(OHTTP_REQUEST_HEAD == OHTTP_HEADER + SEAL_ENC &&
                   OHTTP_REQUEST_EXTRA == OHTTP_REQUEST_HEAD + SEAL_TAG &&
                   OHTTP_RESPONSE_EXTRA == OHTTP_NONCE_MAX + SEAL_TAG,
               "what sealing adds");

static void ohttp_put16(uint8_t *out, unsigned value)
{
    out[0] = (uint8_t)(value >> 8);
    out[1] = (uint8_t)value;
}

static unsigned ohttp_get16(const uint8_t *bytes)
{
    return (unsigned)bytes[0] << 8 | bytes[1];
}

/* The AEADs that seal: an exporter is none. */
static bool ohttp_aead(unsigned number, enum seal_aead *aead)
{
    if (number != SEAL_CHACHA20 && number != SEAL_AES128GCM)
        return false;
    *aead = (enum seal_aead)number;
    return true;
}

/* ---- Key configurations -------------------------------------------------- */

size_t ohttp_config(uint8_t out[OHTTP_CONFIG], const struct ohttp_key *key)
{
    static const unsigned aeads[] = {SEAL_AES128GCM, SEAL_CHACHA20};
    uint8_t *at = out + 5 + SEAL_KEY;

    out[0] = key->id;
    ohttp_put16(out + 1, OHTTP_KEM);
    memcpy(out + 3, key->pub, SEAL_KEY);
    ohttp_put16(out + 3 + SEAL_KEY, 4 * 2);
    for (size_t i = 0; i < 2; i++, at += 4) {
        ohttp_put16(at, OHTTP_KDF);
        ohttp_put16(at + 2, aeads[i]);
    }
    return OHTTP_CONFIG;
}

size_t ohttp_config_list(uint8_t *out, const struct ohttp_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ohttp_put16(out + i * OHTTP_LISTED, OHTTP_CONFIG);
        ohttp_config(out + i * OHTTP_LISTED + 2, &keys[i]);
    }
    return n * OHTTP_LISTED;
}

/* ---- Requests, section 4.3 ----------------------------------------------- */

static const char ohttp_request_label[] = "message/bhttp request";
static const char ohttp_response_label[] = "message/bhttp response";

/* The label, its zero, the header. */
#define OHTTP_INFO (sizeof ohttp_request_label + OHTTP_HEADER)

static void ohttp_info(uint8_t info[OHTTP_INFO],
                       const uint8_t header[OHTTP_HEADER])
{
    memcpy(info, ohttp_request_label, sizeof ohttp_request_label);
    memcpy(info + sizeof ohttp_request_label, header, OHTTP_HEADER);
}

/* The secret of the response: the context itself is not needed any more. */
static void ohttp_keep(struct ohttp_exchange *x, struct seal_context *c,
                       const uint8_t enc[SEAL_ENC])
{
    *x = (struct ohttp_exchange){.aead = c->aead};
    memcpy(x->enc, enc, SEAL_ENC);
    seal_export(c, x->secret, seal_aead_key(c->aead),
                (const uint8_t *)ohttp_response_label,
                sizeof ohttp_response_label - 1);
    seal_clear(c);
}

hsy_status ohttp_request_seal(struct ohttp_client *keep, uint8_t *out,
                              size_t room, size_t *len, uint8_t id,
                              const uint8_t pub[SEAL_KEY], enum seal_aead aead,
                              const uint8_t ephemeral[SEAL_KEY],
                              const uint8_t *bhttp, size_t bhttp_len)
{
    uint8_t info[OHTTP_INFO], head[OHTTP_REQUEST_HEAD] = {id};
    struct seal_context c;
    hsy_status st;

    if (!ohttp_aead((unsigned)aead, &aead))
        return HSY_E_UNKNOWN;
    if (bhttp_len > SEAL_TEXT_MAX || room < OHTTP_REQUEST_EXTRA ||
        bhttp_len > room - OHTTP_REQUEST_EXTRA)
        return HSY_E_FULL;
    ohttp_put16(head + 1, OHTTP_KEM);
    ohttp_put16(head + 3, OHTTP_KDF);
    ohttp_put16(head + 5, (unsigned)aead);
    ohttp_info(info, head);
    st = seal_setup_sender(&c, head + OHTTP_HEADER, aead, pub, info,
                           sizeof info, ephemeral);
    if (st != HSY_OK)
        return st;
    seal_close(&c, out + sizeof head, NULL, 0, bhttp, bhttp_len);
    memcpy(out, head, sizeof head);
    ohttp_keep(&keep->exchange, &c, head + OHTTP_HEADER);
    *len = bhttp_len + OHTTP_REQUEST_EXTRA;
    return HSY_OK;
}

static const struct ohttp_key *ohttp_find(const struct ohttp_key *keys,
                                          size_t n, uint8_t id)
{
    for (size_t i = 0; i < n; i++) {
        if (keys[i].id == id)
            return &keys[i];
    }
    return NULL;
}

/* The key and the AEAD that a header names. */
static hsy_status ohttp_header(const struct ohttp_key **key,
                               enum seal_aead *aead,
                               const struct ohttp_key *keys, size_t n,
                               const uint8_t *sealed, size_t len)
{
    if (len < OHTTP_REQUEST_EXTRA)
        return HSY_E_REFUSED;
    *key = ohttp_find(keys, n, sealed[0]);
    if (*key == NULL || ohttp_get16(sealed + 1) != OHTTP_KEM ||
        ohttp_get16(sealed + 3) != OHTTP_KDF ||
        !ohttp_aead(ohttp_get16(sealed + 5), aead))
        return HSY_E_UNKNOWN;
    return HSY_OK;
}

hsy_status ohttp_request_open(struct ohttp_gateway *keep, uint8_t *out,
                              size_t *len, const struct ohttp_key *keys,
                              size_t n, const uint8_t *sealed,
                              size_t sealed_len)
{
    const uint8_t *enc = sealed + OHTTP_HEADER;
    uint8_t info[OHTTP_INFO];
    const struct ohttp_key *key;
    enum seal_aead aead;
    struct seal_context c;
    hsy_status st = ohttp_header(&key, &aead, keys, n, sealed, sealed_len);

    if (st != HSY_OK)
        return st;
    ohttp_info(info, sealed);
    st = seal_setup_receiver(&c, aead, enc, key->secret, key->pub, info,
                             sizeof info);
    if (st != HSY_OK)
        return st;
    st = seal_open(&c, out, NULL, 0, sealed + OHTTP_REQUEST_HEAD,
                   sealed_len - OHTTP_REQUEST_HEAD);
    if (st != HSY_OK) {
        seal_clear(&c);
        return HSY_E_REFUSED;
    }
    ohttp_keep(&keep->exchange, &c, enc);
    *len = sealed_len - OHTTP_REQUEST_EXTRA;
    return HSY_OK;
}

/* ---- Responses, section 4.4 ---------------------------------------------- */

static void ohttp_response_keys(uint8_t key[SEAL_HASH],
                                uint8_t nonce[SEAL_NONCE],
                                const struct ohttp_exchange *x,
                                const uint8_t *response_nonce)
{
    const size_t key_len = seal_aead_key(x->aead);
    const struct seal_part secret = {x->secret, key_len};
    const struct seal_part for_key = {"key", 3}, for_nonce = {"nonce", 5};
    uint8_t salt[SEAL_ENC + OHTTP_NONCE_MAX], prk[SEAL_HASH];

    memcpy(salt, x->enc, SEAL_ENC);
    memcpy(salt + SEAL_ENC, response_nonce, key_len);
    seal_extract(prk, salt, SEAL_ENC + key_len, &secret, 1);
    seal_expand(key, key_len, prk, &for_key, 1);
    seal_expand(nonce, SEAL_NONCE, prk, &for_nonce, 1);
    sodium_memzero(prk, sizeof prk);
}

hsy_status ohttp_response_seal(const struct ohttp_gateway *keep, uint8_t *out,
                               size_t room, size_t *len, const uint8_t *nonce,
                               const uint8_t *bhttp, size_t bhttp_len)
{
    const struct ohttp_exchange *x = &keep->exchange;
    const struct seal_part nothing = {NULL, 0};
    const size_t nonce_len = seal_aead_key(x->aead);
    const size_t extra = nonce_len + SEAL_TAG;
    uint8_t key[SEAL_HASH], aead_nonce[SEAL_NONCE], fresh[OHTTP_NONCE_MAX];

    if (bhttp_len > SEAL_TEXT_MAX || room < extra || bhttp_len > room - extra)
        return HSY_E_FULL;
    if (nonce == NULL) {
        randombytes_buf(fresh, nonce_len);
        nonce = fresh;
    }
    ohttp_response_keys(key, aead_nonce, x, nonce);
    seal_aead_close(x->aead, key, aead_nonce, out + nonce_len, &nothing, bhttp,
                    bhttp_len);
    memcpy(out, nonce, nonce_len);
    sodium_memzero(key, sizeof key);
    *len = bhttp_len + extra;
    return HSY_OK;
}

hsy_status ohttp_response_open(const struct ohttp_client *keep, uint8_t *out,
                               size_t *len, const uint8_t *sealed,
                               size_t sealed_len)
{
    const struct ohttp_exchange *x = &keep->exchange;
    const struct seal_part nothing = {NULL, 0};
    const size_t nonce_len = seal_aead_key(x->aead);
    uint8_t key[SEAL_HASH], nonce[SEAL_NONCE];
    hsy_status st;

    if (sealed_len < nonce_len + SEAL_TAG ||
        sealed_len - nonce_len - SEAL_TAG > SEAL_TEXT_MAX)
        return HSY_E_REFUSED;
    ohttp_response_keys(key, nonce, x, sealed);
    st = seal_aead_open(x->aead, key, nonce, out, &nothing, sealed + nonce_len,
                        sealed_len - nonce_len);
    sodium_memzero(key, sizeof key);
    if (st == HSY_OK)
        *len = sealed_len - nonce_len - SEAL_TAG;
    return st;
}

void ohttp_client_clear(struct ohttp_client *keep)
{
    sodium_memzero(keep, sizeof *keep);
}

void ohttp_gateway_clear(struct ohttp_gateway *keep)
{
    sodium_memzero(keep, sizeof *keep);
}
