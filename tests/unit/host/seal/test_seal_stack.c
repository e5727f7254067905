/*
 * test_seal_stack.c - what seals and opens leaves nothing of keys and texts on
 * the stack, nor does what it calls: libsodium and nettle.
 */
#define _GNU_SOURCE /* pthread_attr_setstack */
#include "host/seal/ohttp.h"
#include "rig/dead_stack.h"
#include "rig/sanitized.h"
#include "tap.h"

#include <sodium.h>
#include <string.h>

#define TEXT 100u
#define SEALED (2 * SEAL_LAYER + 1 + TEXT)
#define WORDS_MAX 4096u

/* Not on any stack themselves. */
static uint8_t pubs[2][SEAL_KEY], secrets[2][SEAL_KEY], ephemeral[SEAL_KEY];
static uint8_t seed[SEAL_SEED], text[TEXT], digest[32], id[16];
static const uint8_t terms[HSY_DIGEST];
static uint8_t sealed[SEALED + 64], opened[SEALED + 64];
static const struct seal_place here = {"task", 1, digest, 20000, id, terms};
static struct seal_context context;
static struct ohttp_client client;
static struct ohttp_gateway gateway;
static struct ohttp_key keys[2];
static enum seal_aead aead;
static size_t len;
static hsy_status st;

static uint64_t words[WORDS_MAX];
static size_t n_words;

/* But for zeros, which are everywhere. */
static void also(const void *bytes, size_t size, uint64_t pad)
{
    for (size_t i = 0; i + 8 <= size && n_words < WORDS_MAX; i++) {
        uint64_t word;

        memcpy(&word, (const uint8_t *)bytes + i, 8);
        if ((word & 0xffffffff) != 0 && word >> 32 != 0)
            words[n_words++] = word ^ pad;
    }
}

/* A key as it is, and as HMAC's two pads have it. */
static void also_key(const void *bytes, size_t size)
{
    also(bytes, size, 0);
    also(bytes, size, 0x3636363636363636);
    also(bytes, size, 0x5c5c5c5c5c5c5c5c);
}

static void set_up(void)
{
    hsy_stream stream;
    hsy_rng rng = hsy_stream_rng(&stream);

    hsy_stream_seed(&stream, 17, 1);
    for (size_t i = 0; i < 2; i++) {
        rng.fill(rng.ctx, secrets[i], SEAL_KEY);
        seal_public(pubs[i], secrets[i]);
        keys[i].id = (uint8_t)i;
        memcpy(keys[i].pub, pubs[i], SEAL_KEY);
        memcpy(keys[i].secret, secrets[i], SEAL_KEY);
    }
    rng.fill(rng.ctx, ephemeral, sizeof ephemeral);
    rng.fill(rng.ctx, seed, sizeof seed);
    rng.fill(rng.ctx, text, sizeof text);
}

static void known_secrets(void)
{
    uint8_t dh[SEAL_KEY];

    n_words = 0;
    also_key(secrets, sizeof secrets);
    also_key(ephemeral, sizeof ephemeral);
    also_key(seed, sizeof seed);
    also(text, sizeof text, 0);
    also_key(context.key, sizeof context.key);
    also_key(context.exporter, sizeof context.exporter);
    also_key(client.exchange.secret,
             aead == SEAL_AES128GCM ? 16 : sizeof client.exchange.secret);
    if (crypto_scalarmult(dh, ephemeral, pubs[0]) == 0)
        also_key(dh, sizeof dh);
}

/* ---- What is watched ----------------------------------------------------- */

static void act_sender(void)
{
    uint8_t enc[SEAL_ENC];

    st = seal_setup_sender(&context, enc, aead, pubs[0], NULL, 0, ephemeral);
    memcpy(sealed, enc, sizeof enc);
    st = seal_close(&context, sealed + SEAL_ENC, NULL, 0, text, TEXT);
}

static void act_receiver(void)
{
    st = seal_setup_receiver(&context, aead, sealed, secrets[0], pubs[0], NULL,
                             0);
    st = seal_open(&context, opened, NULL, 0, sealed + SEAL_ENC,
                   TEXT + SEAL_TAG);
}

static void act_request(void)
{
    st = ohttp_request_seal(&client, sealed, sizeof sealed, &len, keys[0].id,
                            keys[0].pub, aead, ephemeral, text, TEXT);
}

static void act_gateway(void)
{
    st = ohttp_request_open(&gateway, opened, &len, keys, 2, sealed, len);
    if (st == HSY_OK)
        st = ohttp_response_seal(&gateway, sealed, sizeof sealed, &len, NULL,
                                 text, TEXT);
}

static void act_response(void)
{
    st = ohttp_response_open(&client, opened, &len, sealed, len);
}

static void act_onion(void)
{
    st = seal_onion(sealed, (const uint8_t(*)[SEAL_KEY])pubs, 2, &here, seed,
                    SEAL_REPORT, text, TEXT);
}

static void act_peel(void)
{
    st = seal_peel(opened, secrets[0], pubs[0], 0, 2, &here, sealed, SEALED);
    if (st == HSY_OK)
        st = seal_peel(sealed, secrets[1], pubs[1], 1, 2, &here, opened,
                       SEALED - SEAL_LAYER);
}

static void act_careless(void)
{
    volatile uint8_t copy[SEAL_KEY];

    for (size_t i = 0; i < SEAL_KEY; i++)
        copy[i] = secrets[0][i];
    st = copy[0] == secrets[0][0] ? HSY_OK : HSY_E_RANGE;
}

static size_t left_by(void (*act)(void))
{
    if (!dead_stack_run(act) || st != HSY_OK)
        return SIZE_MAX;
    known_secrets();
    return dead_stack_holds(words, n_words);
}

int main(void)
{
    static const struct {
        void (*act)(void);
        const char *name;
    } acts[] = {{act_sender, "sealing"},
                {act_receiver, "opening"},
                {act_request, "a client's request"},
                {act_gateway, "a gateway"},
                {act_response, "a client's response"}};

    if (TEST_SANITIZED) {
        tap_skip("a sanitizer has its own way with the stack");
        return tap_done();
    }
    set_up();
    for (size_t i = 0; i < 10; i++) {
        aead = i < 5 ? SEAL_CHACHA20 : SEAL_AES128GCM;
        is_u64(left_by(acts[i % 5].act), 0, "AEAD %d: %s leaves nothing",
               (int)aead, acts[i % 5].name);
    }
    aead = SEAL_CHACHA20;
    is_u64(left_by(act_onion), 0, "nor does an envelope that is sealed");
    is_u64(left_by(act_peel), 0, "or opened");
    ok(left_by(act_careless) > 0, "a copy that is left would be found");
    return tap_done();
}
