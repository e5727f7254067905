/* fuzz_peel.c - envelopes from strangers: nothing is read past their end, what
 * was not sealed does not open, what was does. */
#define _GNU_SOURCE

#include "fuzz.h"
#include "host/seal/seal.h"

#define LAYERS 2u

static uint8_t peel_secrets[LAYERS][SEAL_KEY], peel_pubs[LAYERS][SEAL_KEY];
static const uint8_t peel_seed[SEAL_SEED], peel_digest[32], peel_id[16];
static uint8_t peel_terms[HSY_DIGEST];
static const struct seal_place peel_here = {"task", 1,       peel_digest,
                                            20000,  peel_id, peel_terms};

static void peel_set_up(void)
{
    for (size_t i = 0; i < LAYERS; i++) {
        memset(peel_secrets[i], (int)i + 1, SEAL_KEY);
        seal_public(peel_pubs[i], peel_secrets[i]);
    }
}

/* As it comes, and with the right key's id before it. */
static void peel_strangers(const uint8_t *data, size_t len, uint8_t *envelope,
                           uint8_t *out)
{
    for (size_t i = 0; i < LAYERS; i++)
        seal_peel(out, peel_secrets[i], peel_pubs[i], i, LAYERS, &peel_here,
                  data, len);
    if (len < SEAL_KEY_ID)
        return;
    memcpy(envelope, data, len);
    seal_key_id(envelope, peel_pubs[0]);
    seal_peel(out, peel_secrets[0], peel_pubs[0], 0, LAYERS, &peel_here,
              envelope, len);
}

static void peel_comes_back(const uint8_t *data, size_t len, uint8_t *envelope,
                            uint8_t *out)
{
    size_t size = seal_onion_size(LAYERS, len);

    fuzz_expect(seal_onion(envelope, (const uint8_t(*)[SEAL_KEY])peel_pubs,
                           LAYERS, &peel_here, peel_seed, SEAL_REPORT, data,
                           len) == HSY_OK,
                "any report is sealed");
    for (size_t i = 0; i < LAYERS; i++, size -= SEAL_LAYER) {
        fuzz_expect(seal_peel(out, peel_secrets[i], peel_pubs[i], i, LAYERS,
                              &peel_here, envelope, size) == HSY_OK,
                    "each layer comes off");
        memcpy(envelope, out, size - SEAL_LAYER);
    }
    fuzz_expect(size == 1 + len && envelope[0] == SEAL_REPORT &&
                    memcmp(envelope + 1, data, len) == 0,
                "and leaves the report");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    size_t size = seal_onion_size(LAYERS, len);
    uint8_t *envelope, *out;

    if (len > HSY_UPLOAD_MAX)
        return 0;
    if (peel_pubs[0][0] == 0)
        peel_set_up();
    envelope = malloc(size);
    out = malloc(size);
    if (envelope != NULL && out != NULL) {
        peel_strangers(data, len, envelope, out);
        peel_comes_back(data, len, envelope, out);
    }
    free(envelope);
    free(out);
    return 0;
}
