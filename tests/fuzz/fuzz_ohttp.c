/*
 * fuzz_ohttp.c - what a stranger may send a gateway, and a relay a client:
 * sealed requests and responses. Bytes from outside do not open; sealed here
 * they do.
 */
#define _GNU_SOURCE

#include "fuzz.h"
#include "host/seal/ohttp.h"

static struct ohttp_key ohttp_keys[2];

static void ohttp_set_up(void)
{
    for (size_t i = 0; i < 2; i++) {
        ohttp_keys[i].id = (uint8_t)(i + 1);
        memset(ohttp_keys[i].secret, (int)i + 1, SEAL_KEY);
        seal_public(ohttp_keys[i].pub, ohttp_keys[i].secret);
    }
}

/* The input as a text: sealed, it opens; with a bit of its own changed, not. */
static void ohttp_comes_back(const uint8_t *data, size_t len, uint8_t *sealed,
                             uint8_t *out)
{
    const struct ohttp_key *key = &ohttp_keys[len % 2];
    struct ohttp_client client;
    struct ohttp_gateway gateway;
    size_t n, m;

    fuzz_expect(ohttp_request_seal(&client, sealed, len + OHTTP_REQUEST_EXTRA,
                                   &n, key->id, key->pub,
                                   len % 4 < 2 ? SEAL_CHACHA20 : SEAL_AES128GCM,
                                   ohttp_keys[0].secret, data, len) == HSY_OK,
                "any text is sealed");
    fuzz_expect(ohttp_request_open(&gateway, out, &m, ohttp_keys, 2, sealed,
                                   n) == HSY_OK &&
                    m == len && memcmp(out, data, len) == 0,
                "and opens");
    sealed[n - 1 - len % n] ^= 1;
    fuzz_expect(ohttp_request_open(&gateway, out, &m, ohttp_keys, 2, sealed,
                                   n) != HSY_OK,
                "but not with a bit changed");
    if (len > 0)
        ohttp_response_open(&client, out, &m, data, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t *sealed = malloc(len + OHTTP_REQUEST_EXTRA);
    uint8_t *out = malloc(len + OHTTP_REQUEST_EXTRA);
    struct ohttp_gateway gateway;
    size_t n;

    if (ohttp_keys[0].id == 0)
        ohttp_set_up();
    if (sealed != NULL && out != NULL) {
        if (ohttp_request_open(&gateway, out, &n, ohttp_keys, 2, data, len) ==
            HSY_OK)
            fuzz_expect(n + OHTTP_REQUEST_EXTRA == len, "lengths agree");
        ohttp_comes_back(data, len, sealed, out);
    }
    free(sealed);
    free(out);
    return 0;
}
