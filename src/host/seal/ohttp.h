/*
 * ohttp.h - Oblivious HTTP [RFC 9458], both ends: a binary HTTP request sealed
 * for a gateway, so that a relay between sees who asks and not what, the
 * gateway what and not who.
 *
 * KEM and KDF are HPKE's X25519 and HKDF-SHA256, the AEAD is either of the two.
 * Lengths show: pad what is sealed (bhttp.h).
 */
#ifndef HOST_SEAL_OHTTP_H
#define HOST_SEAL_OHTTP_H

#include "host/seal/seal.h"

#define OHTTP_CONFIG 45u        /* bytes of a key configuration of ours */
#define OHTTP_LISTED 47u        /* and in application/ohttp-keys */
#define OHTTP_REQUEST_HEAD 39u  /* id, KEM, KDF, AEAD, encapsulated key */
#define OHTTP_REQUEST_EXTRA 55u /* bytes that sealing adds to a request */
#define OHTTP_RESPONSE_EXTRA                                                   \
    48u /* and to a response, at most (AES-128: 32)                            \
         */
#define OHTTP_NONCE_MAX 32u

struct ohttp_key {
    uint8_t id;
    uint8_t secret[SEAL_KEY], pub[SEAL_KEY];
};

/* What a request leaves behind for its response, at either end; a secret. */
struct ohttp_exchange {
    uint8_t secret[OHTTP_NONCE_MAX];
    uint8_t enc[SEAL_ENC];
    enum seal_aead aead;
};
struct ohttp_client {
    struct ohttp_exchange exchange;
};
struct ohttp_gateway {
    struct ohttp_exchange exchange;
};

/* ---- Key configurations, section 3 --------------------------------------- */

/* One, with both AEADs; returns its length. */
size_t ohttp_config(uint8_t out[OHTTP_CONFIG], const struct ohttp_key *key);

/* All as application/ohttp-keys has them, OHTTP_LISTED bytes each; returns the
 * length. */
size_t ohttp_config_list(uint8_t *out, const struct ohttp_key *keys, size_t n);

/* ---- The client ---------------------------------------------------------- */

/*
 * Seal a request: *len is bhttp_len + OHTTP_REQUEST_EXTRA. out may be bhttp -
 * OHTTP_REQUEST_HEAD, else they do not overlap. ephemeral as in
 * seal_setup_sender: NULL but for tests. HSY_E_FULL: room; HSY_E_UNKNOWN,
 * HSY_E_REFUSED, HSY_E_ENTROPY: as there.
 */
hsy_status ohttp_request_seal(struct ohttp_client *keep, uint8_t *out,
                              size_t room, size_t *len, uint8_t id,
                              const uint8_t pub[SEAL_KEY], enum seal_aead aead,
                              const uint8_t ephemeral[SEAL_KEY],
                              const uint8_t *bhttp, size_t bhttp_len);

/* Open its response: *len is below sealed_len, by what sealing added. */
hsy_status ohttp_response_open(const struct ohttp_client *keep, uint8_t *out,
                               size_t *len, const uint8_t *sealed,
                               size_t sealed_len);

void ohttp_client_clear(struct ohttp_client *keep);

/* ---- The gateway --------------------------------------------------------- */

/*
 * Open a request with one of keys: *len is sealed_len - OHTTP_REQUEST_EXTRA.
 * out may be sealed + OHTTP_REQUEST_HEAD, else they do not overlap.
 * HSY_E_UNKNOWN: none has its id, or other algorithms; HSY_E_REFUSED: it does
 * not open.
 */
hsy_status ohttp_request_open(struct ohttp_gateway *keep, uint8_t *out,
                              size_t *len, const struct ohttp_key *keys,
                              size_t n, const uint8_t *sealed,
                              size_t sealed_len);

/*
 * Seal its response: *len is bhttp_len + 32 or 48. nonce has as many bytes as
 * the AEAD's key, used for this response alone, or is NULL: a fresh one.
 * HSY_E_FULL: room.
 */
hsy_status ohttp_response_seal(const struct ohttp_gateway *keep, uint8_t *out,
                               size_t room, size_t *len, const uint8_t *nonce,
                               const uint8_t *bhttp, size_t bhttp_len);

void ohttp_gateway_clear(struct ohttp_gateway *keep);

#endif
