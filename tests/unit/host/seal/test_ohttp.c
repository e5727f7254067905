/* test_ohttp.c - Oblivious HTTP: what the client seals the gateway opens and
 * the other way round; every byte counts, and other keys are told apart. */
#include "host/seal/ohttp.h"
#include "tap.h"

#include <string.h>

#define TEXT 100u
#define ROOM (TEXT + 64u)

static const enum seal_aead aeads[] = {SEAL_AES128GCM, SEAL_CHACHA20};
static struct ohttp_key keys[2];
static uint8_t text[TEXT];

static void set_up(void)
{
    for (size_t i = 0; i < 2; i++) {
        keys[i].id = (uint8_t)(7 + i);
        seal_keypair(keys[i].pub, keys[i].secret);
    }
    for (size_t i = 0; i < TEXT; i++)
        text[i] = (uint8_t)i;
}

static size_t request(struct ohttp_client *c, uint8_t out[ROOM],
                      const struct ohttp_key *key, enum seal_aead aead)
{
    size_t len = 0;

    ohttp_request_seal(c, out, ROOM, &len, key->id, key->pub, aead, NULL, text,
                       TEXT);
    return len;
}

static void goes_there_and_back(enum seal_aead aead)
{
    uint8_t sealed[ROOM], again[ROOM], out[ROOM];
    size_t extra = aead == SEAL_CHACHA20 ? 48 : 32, len = 0;
    struct ohttp_client c, other;
    struct ohttp_gateway g;

    ok(eq_u64(request(&other, again, &keys[1], aead),
              TEXT + OHTTP_REQUEST_EXTRA) &&
           eq_u64(request(&c, sealed, &keys[1], aead),
                  TEXT + OHTTP_REQUEST_EXTRA) &&
           memcmp(sealed, again, TEXT) != 0,
       "AEAD %d: a request is 55 bytes longer, and never the same", (int)aead);
    ok(eq_status(ohttp_request_open(&g, out, &len, keys, 2, sealed,
                                    TEXT + OHTTP_REQUEST_EXTRA),
                 HSY_OK) &&
           eq_u64(len, TEXT) && eq_bytes(out, text, TEXT),
       "the gateway opens it by the second of its keys");
    ok(eq_status(ohttp_response_seal(&g, sealed, ROOM, &len, NULL, text, 50),
                 HSY_OK) &&
           eq_u64(len, 50 + extra) &&
           eq_status(ohttp_response_open(&c, out, &len, sealed, len), HSY_OK) &&
           eq_u64(len, 50) && eq_bytes(out, text, 50),
       "and the client opens its answer");
    is_status(ohttp_response_open(&other, out, &len, sealed, 50 + extra),
              HSY_E_REFUSED, "which another client does not");
    ohttp_response_seal(&g, again, ROOM, &len, NULL, text, 50);
    ok(memcmp(sealed, again, 16) != 0, "a nonce is fresh each time");
}

static void every_byte_counts(enum seal_aead aead)
{
    uint8_t sealed[ROOM], out[ROOM];
    struct ohttp_client c;
    struct ohttp_gateway g;
    size_t len = request(&c, sealed, &keys[0], aead), n = 0, answer;
    unsigned opened = 0, unknown = 0;

    for (size_t i = 0; i < len; i++) {
        hsy_status st;

        sealed[i] ^= 0x40;
        st = ohttp_request_open(&g, out, &n, keys, 2, sealed, len);
        opened += st != HSY_E_REFUSED && st != HSY_E_UNKNOWN;
        unknown += st == HSY_E_UNKNOWN;
        sealed[i] ^= 0x40;
    }
    ok(eq_u64(opened, 0) && eq_u64(unknown, 7),
       "AEAD %d: a request with any byte changed does not open", (int)aead);
    for (size_t i = 0; i < len; i++)
        opened += ohttp_request_open(&g, out, &n, keys, 2, sealed, i) !=
                  HSY_E_REFUSED;
    is_u64(opened, 0, "nor cut off");
    ohttp_request_open(&g, out, &n, keys, 2, sealed, len);
    ohttp_response_seal(&g, sealed, ROOM, &answer, NULL, text, TEXT);
    for (size_t i = 0; i < answer; i++) {
        sealed[i] ^= 0x40;
        opened +=
            ohttp_response_open(&c, out, &n, sealed, answer) != HSY_E_REFUSED;
        sealed[i] ^= 0x40;
        opened += ohttp_response_open(&c, out, &n, sealed, i) != HSY_E_REFUSED;
    }
    is_u64(opened, 0, "nor does an answer");
    is_status(ohttp_response_open(&c, out, &n, sealed, answer), HSY_OK,
              "else it does");
}

/* The AEAD is part of what the key is bound to. */
static void algorithms_cannot_be_exchanged(void)
{
    uint8_t sealed[ROOM], out[ROOM];
    struct ohttp_client c;
    struct ohttp_gateway g;
    size_t len = request(&c, sealed, &keys[0], SEAL_CHACHA20), n;

    sealed[6] = SEAL_AES128GCM;
    is_status(ohttp_request_open(&g, out, &n, keys, 2, sealed, len),
              HSY_E_REFUSED, "sealed by one AEAD, said to be by the other");
    sealed[6] = SEAL_CHACHA20;
    sealed[0] = keys[1].id;
    is_status(ohttp_request_open(&g, out, &n, keys, 2, sealed, len),
              HSY_E_REFUSED, "for one key, said to be for the other");
    sealed[0] = 99;
    is_status(ohttp_request_open(&g, out, &n, keys, 2, sealed, len),
              HSY_E_UNKNOWN, "for a key that is gone");
    is_status(ohttp_request_open(&g, out, &n, keys, 0, sealed, len),
              HSY_E_UNKNOWN, "where there are none");
    sealed[5] = sealed[6] = 0xff;
    sealed[0] = keys[0].id;
    is_status(ohttp_request_open(&g, out, &n, keys, 2, sealed, len),
              HSY_E_UNKNOWN, "by no AEAD at all");
}

static void zero_secret_is_refused(void)
{
    static const uint8_t zeros[SEAL_KEY];
    uint8_t sealed[ROOM], out[ROOM];
    struct ohttp_client c;
    struct ohttp_gateway g;
    size_t len = request(&c, sealed, &keys[0], SEAL_CHACHA20), n;

    memset(sealed + 7, 0, SEAL_ENC);
    is_status(ohttp_request_open(&g, out, &n, keys, 2, sealed, len),
              HSY_E_REFUSED, "an encapsulation of zeros");
    is_status(ohttp_request_seal(&c, out, ROOM, &n, 1, zeros, SEAL_CHACHA20,
                                 NULL, text, TEXT),
              HSY_E_REFUSED, "a key of zeros");
}

static void room_is_kept(void)
{
    uint8_t out[ROOM];
    struct ohttp_client c;
    struct ohttp_gateway g = {.exchange = {.aead = SEAL_CHACHA20}};
    const struct ohttp_key *k = &keys[0];
    size_t n;

    ok(eq_status(ohttp_request_seal(&c, out, TEXT + 54, &n, k->id, k->pub,
                                    SEAL_CHACHA20, NULL, text, TEXT),
                 HSY_E_FULL) &&
           eq_status(ohttp_request_seal(&c, out, 10, &n, k->id, k->pub,
                                        SEAL_CHACHA20, NULL, text, TEXT),
                     HSY_E_FULL) &&
           eq_status(
               ohttp_response_seal(&g, out, TEXT + 47, &n, NULL, text, TEXT),
               HSY_E_FULL),
       "what does not fit is not sealed");
    is_status(ohttp_request_seal(&c, out, ROOM, &n, k->id, k->pub,
                                 SEAL_EXPORT_ONLY, NULL, text, TEXT),
              HSY_E_UNKNOWN, "nor by an exporter");
}

/* ---- Key configurations -------------------------------------------------- */

static void configurations_are_listed(void)
{
    uint8_t list[2 * OHTTP_LISTED], one[OHTTP_CONFIG];

    ohttp_config(one, &keys[1]);
    ok(eq_u64(ohttp_config_list(list, keys, 2), sizeof list) &&
           eq_u64(list[0], 0) && eq_u64(list[1], OHTTP_CONFIG) &&
           eq_bytes(list + OHTTP_LISTED + 2, one, sizeof one),
       "a list of configurations, each with its length before it");
}

static void nothing_is_left(void)
{
    static const struct ohttp_client empty;
    struct ohttp_client c;
    struct ohttp_gateway g;
    uint8_t sealed[ROOM], out[ROOM];
    size_t n, len = request(&c, sealed, &keys[0], SEAL_CHACHA20);

    ohttp_request_open(&g, out, &n, keys, 2, sealed, len);
    ok(eq_bytes(&c, &g, sizeof c), "both ends keep the same");
    ohttp_client_clear(&c);
    ohttp_gateway_clear(&g);
    ok(eq_bytes(&c, &empty, sizeof c) && eq_bytes(&g, &empty, sizeof g),
       "and nothing once they are cleared");
}

int main(void)
{
    set_up();
    for (size_t i = 0; i < 2; i++) {
        goes_there_and_back(aeads[i]);
        every_byte_counts(aeads[i]);
    }
    algorithms_cannot_be_exchanged();
    zero_secret_is_refused();
    room_is_kept();
    configurations_are_listed();
    nothing_is_left();
    return tap_done();
}
