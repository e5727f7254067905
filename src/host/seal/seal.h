/*
 * seal.h - what only the holder of a key can open: HPKE, and reports sealed in
 * layers for a chain of shufflers and the collector behind it.
 *
 * HPKE is RFC 9180 in base mode: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256. A key
 * or an encapsulation that makes the shared secret zero is refused. Secrets are
 * wiped from memory once they are used; a context is its owner's to clear.
 * Nothing here allocates or keeps state, and any thread may call any of it.
 */
#ifndef HOST_SEAL_SEAL_H
#define HOST_SEAL_SEAL_H

#include "hearsay.h"

#define SEAL_KEY 32u /* X25519, public and secret */
#define SEAL_ENC 32u /* an encapsulated key */
#define SEAL_TAG 16u
#define SEAL_TEXT_MAX (1u << 30) /* bytes that are sealed or opened at once */
#define SEAL_EXPORT_MAX (255u * 32u)

/* The numbers are the RFC's. SEAL_EXPORT_ONLY neither closes nor opens. */
enum seal_aead {
    SEAL_AES128GCM = 1,
    SEAL_CHACHA20 = 3,
    SEAL_EXPORT_ONLY = 0xffff
};

struct seal_context {
    uint8_t key[32]; /* of AES-128-GCM the first 16 bytes */
    uint8_t base_nonce[12];
    uint8_t exporter[32];
    uint64_t sequence; /* number of the next message */
    enum seal_aead aead;
};

/* HSY_E_ENTROPY: no key was made. */
hsy_status seal_keypair(uint8_t pub[SEAL_KEY], uint8_t secret[SEAL_KEY]);

/* The public half of a secret. HSY_E_REFUSED: it is no secret. */
hsy_status seal_public(uint8_t pub[SEAL_KEY], const uint8_t secret[SEAL_KEY]);

/*
 * Begin to seal for pub; enc is what the receiver needs besides its key.
 * ephemeral is an X25519 secret that nobody else knows and that is used once,
 * or NULL: a fresh one. HSY_E_UNKNOWN: no such AEAD; HSY_E_REFUSED: pub gives
 * the zero shared secret; HSY_E_ENTROPY.
 */
hsy_status seal_setup_sender(struct seal_context *c, uint8_t enc[SEAL_ENC],
                             enum seal_aead aead, const uint8_t pub[SEAL_KEY],
                             const uint8_t *info, size_t info_len,
                             const uint8_t ephemeral[SEAL_KEY]);

/* Begin to open. pub belongs to secret. Failures as above. */
hsy_status seal_setup_receiver(struct seal_context *c, enum seal_aead aead,
                               const uint8_t enc[SEAL_ENC],
                               const uint8_t secret[SEAL_KEY],
                               const uint8_t pub[SEAL_KEY], const uint8_t *info,
                               size_t info_len);

/*
 * The next message. close writes len + 16 bytes, open len - 16; out may be the
 * input itself, else they do not overlap. HSY_E_REFUSED: it does not open, out
 * is zeros and the next message has the same number still. HSY_E_RANGE: too
 * long, or the context only exports. HSY_E_OVERFLOW: no number is left.
 */
hsy_status seal_close(struct seal_context *c, uint8_t *out, const uint8_t *aad,
                      size_t aad_len, const uint8_t *text, size_t len);
hsy_status seal_open(struct seal_context *c, uint8_t *out, const uint8_t *aad,
                     size_t aad_len, const uint8_t *sealed, size_t len);

/* A secret that sender and receiver share; at most SEAL_EXPORT_MAX bytes. */
void seal_export(const struct seal_context *c, uint8_t *out, size_t len,
                 const uint8_t *context, size_t context_len);

void seal_clear(struct seal_context *c);

/* ---- Envelopes: a report in layers --------------------------------------- */

#define SEAL_LAYER 52u     /* bytes a layer adds: key id 4, enc 32, tag 16 */
#define SEAL_LAYERS_MAX 9u /* eight shufflers and the collector */
#define SEAL_KEY_ID 4u
#define SEAL_SEED 64u

/* A period is so many epochs, from epoch 0 on. */
#define SEAL_PERIOD_DAYS 32u

enum seal_kind { SEAL_REPORT = 1, SEAL_NULL = 2 };

/* Where an upload belongs: an envelope opens nowhere else. epoch and id bind
 * the outermost layer, the period of the epoch binds the others, for which id
 * may be NULL. */
struct seal_place {
    const char *task; /* at most 32 bytes, ended or filled up by zeros */
    uint32_t release;
    const uint8_t *digest; /* HSY_DIGEST bytes, of the scheme */
    uint32_t epoch;
    const uint8_t *id;    /* 16 bytes, of the upload */
    const uint8_t *terms; /* HSY_DIGEST bytes: hsy_document_terms */
};

/* The first bytes of BLAKE2b-256 of "hearsay key 1" and pub. */
void seal_key_id(uint8_t id[SEAL_KEY_ID], const uint8_t pub[SEAL_KEY]);

/* Bytes of an envelope; what is left when all layers are off is a byte of
 * enum seal_kind and the report. */
size_t seal_onion_size(size_t layers, size_t report_len);

/*
 * Seal a report (of a null upload: zeros, for which report may be NULL) for
 * pubs, outermost first. The envelope is a function of the arguments: the same
 * seed gives a retry the same bytes. A seed is a secret of the device, another
 * one for each upload. HSY_E_RANGE: number of layers, kind or length;
 * HSY_E_REFUSED: one of the keys gives the zero shared secret. Then out holds
 * nothing.
 */
hsy_status seal_onion(uint8_t *out, const uint8_t (*pubs)[SEAL_KEY],
                      size_t layers, const struct seal_place *at,
                      const uint8_t seed[SEAL_SEED], uint8_t kind,
                      const uint8_t *report, size_t len);

/*
 * Take off one layer, 0 being the outermost of layers. out has len - 52 bytes;
 * it may be envelope + 36, else the two do not overlap. HSY_E_UNKNOWN: sealed
 * for another key; HSY_E_REFUSED: it does not open; HSY_E_RANGE: no such layer.
 */
hsy_status seal_peel(uint8_t *out, const uint8_t secret[SEAL_KEY],
                     const uint8_t pub[SEAL_KEY], size_t layer, size_t layers,
                     const struct seal_place *at, const uint8_t *envelope,
                     size_t len);

/*
 * The same for a layer that is not the outermost, on the day at->epoch of who
 * opens it: an envelope of that day's period, or of the one before (*late).
 * out and envelope do not overlap.
 */
hsy_status seal_peel_recent(uint8_t *out, bool *late,
                            const uint8_t secret[SEAL_KEY],
                            const uint8_t pub[SEAL_KEY], size_t layer,
                            size_t layers, const struct seal_place *at,
                            const uint8_t *envelope, size_t len);

#endif
