/*
 * onion.c - a report in layers, one a shuffler and the innermost the
 * collector's.
 *
 * A layer is the id of the key it is sealed for (4 bytes), HPKE's encapsulated
 * key (32) and the sealed text with its tag. Envelopes are built in place, from
 * the inside: the text stands where it stays, heads grow before it and tags
 * behind.
 *
 * What is sealed says nothing of where it belongs; info and aad do. info names
 * the layer, so that no shuffler can pass off its own as another's. aad has
 * task, release, scheme and the terms; at the outermost layer also the epoch
 * and the id, which later hops must not learn; at the others the period of the
 * epoch. A hop that accepts two periods and remembers the envelopes of both
 * opens none twice, however old. A period is so long that all uploads of a
 * batch are of one: it tells them no further apart.
 *
 * Terms (hsy_document_terms) cover all keys and everything that decides who
 * sends a report and when. Each hop computes them from its own document, so it
 * opens nothing that was made under another: who gives one device a document of
 * its own does not know that device's envelope again behind a shuffler.
 */
#include "host/seal/seal.h"

#include "lib/bits/bytes.h"

#include <sodium.h>
#include <string.h>

#define ONION_HEAD (SEAL_KEY_ID + SEAL_ENC)
#define ONION_TASK 32u
#define ONION_ID 16u
#define ONION_AAD_TASK (ONION_TASK + 4 + 2 * HSY_DIGEST)
#define ONION_AAD (ONION_AAD_TASK + 4 + ONION_ID)
#define ONION_NAME "hearsay seal 2"
#define ONION_INFO (sizeof ONION_NAME - 1 + 2 + SEAL_KEY_ID)

_Static_assert(SEAL_LAYER == ONION_HEAD + SEAL_TAG, "head and tag");

void seal_key_id(uint8_t id[SEAL_KEY_ID], const uint8_t pub[SEAL_KEY])
{
    static const char label[] = "hearsay key 1";
    uint8_t text[sizeof label - 1 + SEAL_KEY], digest[32];

    memcpy(text, label, sizeof label - 1);
    memcpy(text + sizeof label - 1, pub, SEAL_KEY);
    crypto_generichash(digest, sizeof digest, text, sizeof text, NULL, 0);
    memcpy(id, digest, SEAL_KEY_ID);
}

size_t seal_onion_size(size_t layers, size_t report_len)
{
    return layers * SEAL_LAYER + 1 + report_len;
}

/* ---- What binds a layer to its place ------------------------------------- */

static void onion_info(uint8_t info[ONION_INFO], size_t layer, size_t layers,
                       const uint8_t key_id[SEAL_KEY_ID])
{
    const size_t name = sizeof ONION_NAME - 1;

    memcpy(info, ONION_NAME, name);
    info[name] = (uint8_t)layer;
    info[name + 1] = (uint8_t)layers;
    memcpy(info + name + 2, key_id, SEAL_KEY_ID);
}

static size_t onion_aad(uint8_t aad[ONION_AAD], size_t layer,
                        const struct seal_place *at)
{
    memset(aad, 0, ONION_AAD);
    for (size_t i = 0; i < ONION_TASK && at->task[i] != '\0'; i++)
        aad[i] = (uint8_t)at->task[i];
    bytes_put32(aad + ONION_TASK, at->release);
    memcpy(aad + ONION_TASK + 4, at->digest, HSY_DIGEST);
    memcpy(aad + ONION_TASK + 4 + HSY_DIGEST, at->terms, HSY_DIGEST);
    if (layer != 0) {
        bytes_put32(aad + ONION_AAD_TASK, at->epoch / SEAL_PERIOD_DAYS);
        return ONION_AAD_TASK + 4;
    }
    bytes_put32(aad + ONION_AAD_TASK, at->epoch);
    memcpy(aad + ONION_AAD_TASK + 4, at->id, ONION_ID);
    return ONION_AAD;
}

/* ---- Sealing ------------------------------------------------------------- */

/* All that a layer depends on is hashed: two layers that differ anywhere never
 * share a key, whatever the caller did with the seed. */
static void onion_ephemeral(uint8_t secret[SEAL_KEY],
                            const uint8_t seed[SEAL_SEED],
                            const uint8_t info[ONION_INFO],
                            const uint8_t pub[SEAL_KEY], const uint8_t *aad,
                            size_t aad_len, const uint8_t *text, size_t len)
{
    static const char label[] = "hearsay envelope 1";
    crypto_generichash_state h;

    crypto_generichash_init(&h, seed, SEAL_SEED, SEAL_KEY);
    crypto_generichash_update(&h, (const uint8_t *)label, sizeof label - 1);
    crypto_generichash_update(&h, info, ONION_INFO);
    crypto_generichash_update(&h, pub, SEAL_KEY);
    crypto_generichash_update(&h, aad, aad_len);
    crypto_generichash_update(&h, text, len);
    crypto_generichash_final(&h, secret, SEAL_KEY);
    sodium_memzero(&h, sizeof h);
}

/* Seal len bytes at out + ONION_HEAD, in place, and write the head before. */
static hsy_status onion_wrap(uint8_t *out, const uint8_t pub[SEAL_KEY],
                             size_t layer, size_t layers,
                             const struct seal_place *at,
                             const uint8_t seed[SEAL_SEED], size_t len)
{
    uint8_t info[ONION_INFO], aad[ONION_AAD], secret[SEAL_KEY];
    uint8_t *text = out + ONION_HEAD;
    size_t aad_len = onion_aad(aad, layer, at);
    struct seal_context c;
    hsy_status st;

    seal_key_id(out, pub);
    onion_info(info, layer, layers, out);
    onion_ephemeral(secret, seed, info, pub, aad, aad_len, text, len);
    st = seal_setup_sender(&c, out + SEAL_KEY_ID, SEAL_CHACHA20, pub, info,
                           sizeof info, secret);
    sodium_memzero(secret, sizeof secret);
    if (st != HSY_OK)
        return st;
    st = seal_close(&c, text, aad, aad_len, text, len);
    seal_clear(&c);
    return st;
}

static bool onion_layers(size_t layers)
{
    return layers >= 1 && layers <= SEAL_LAYERS_MAX;
}

hsy_status seal_onion(uint8_t *out, const uint8_t (*pubs)[SEAL_KEY],
                      size_t layers, const struct seal_place *at,
                      const uint8_t seed[SEAL_SEED], uint8_t kind,
                      const uint8_t *report, size_t len)
{
    uint8_t *text = out + layers * ONION_HEAD;
    size_t text_len = 1 + len;

    if (!onion_layers(layers) || len > HSY_UPLOAD_MAX ||
        (kind != SEAL_REPORT && kind != SEAL_NULL) ||
        (report == NULL && kind == SEAL_REPORT))
        return HSY_E_RANGE;
    text[0] = kind;
    if (report != NULL)
        memcpy(text + 1, report, len);
    else
        memset(text + 1, 0, len);
    for (size_t i = layers; i-- > 0;) {
        hsy_status st = onion_wrap(out + i * ONION_HEAD, pubs[i], i, layers, at,
                                   seed, text_len);

        if (st != HSY_OK) {
            sodium_memzero(out, seal_onion_size(layers, len));
            return st;
        }
        text_len += SEAL_LAYER;
    }
    return HSY_OK;
}

/* ---- Opening ------------------------------------------------------------- */

/* If late is not NULL, the period before at->epoch's is tried too. */
static hsy_status onion_open(struct seal_context *c, uint8_t *out, bool *late,
                             size_t layer, struct seal_place at,
                             const uint8_t *sealed, size_t len)
{
    uint8_t aad[ONION_AAD];
    hsy_status st =
        seal_open(c, out, aad, onion_aad(aad, layer, &at), sealed, len);

    if (late == NULL)
        return st;
    *late = st == HSY_E_REFUSED && at.epoch >= SEAL_PERIOD_DAYS;
    if (!*late)
        return st;
    at.epoch -= SEAL_PERIOD_DAYS;
    return seal_open(c, out, aad, onion_aad(aad, layer, &at), sealed, len);
}

static hsy_status onion_peel(uint8_t *out, bool *late,
                             const uint8_t secret[SEAL_KEY],
                             const uint8_t pub[SEAL_KEY], size_t layer,
                             size_t layers, const struct seal_place *at,
                             const uint8_t *envelope, size_t len)
{
    uint8_t info[ONION_INFO], key_id[SEAL_KEY_ID];
    struct seal_context c;
    hsy_status st;

    if (!onion_layers(layers) || layer >= layers)
        return HSY_E_RANGE;
    if (len < SEAL_LAYER)
        return HSY_E_REFUSED;
    seal_key_id(key_id, pub);
    if (memcmp(key_id, envelope, sizeof key_id) != 0)
        return HSY_E_UNKNOWN;
    onion_info(info, layer, layers, key_id);
    st = seal_setup_receiver(&c, SEAL_CHACHA20, envelope + SEAL_KEY_ID, secret,
                             pub, info, sizeof info);
    if (st != HSY_OK)
        return st;
    st = onion_open(&c, out, late, layer, *at, envelope + ONION_HEAD,
                    len - ONION_HEAD);
    seal_clear(&c);
    return st;
}

hsy_status seal_peel(uint8_t *out, const uint8_t secret[SEAL_KEY],
                     const uint8_t pub[SEAL_KEY], size_t layer, size_t layers,
                     const struct seal_place *at, const uint8_t *envelope,
                     size_t len)
{
    return onion_peel(out, NULL, secret, pub, layer, layers, at, envelope, len);
}

hsy_status seal_peel_recent(uint8_t *out, bool *late,
                            const uint8_t secret[SEAL_KEY],
                            const uint8_t pub[SEAL_KEY], size_t layer,
                            size_t layers, const struct seal_place *at,
                            const uint8_t *envelope, size_t len)
{
    return layer == 0 ? HSY_E_RANGE
                      : onion_peel(out, late, secret, pub, layer, layers, at,
                                   envelope, len);
}
