/*
 * sign.c - Ed25519 signatures [RFC 8032], by libsodium.
 *
 * A secret is libsodium's: the seed, then the public key. sodium_init may be
 * called any number of times, from any thread.
 */
#include "hearsay/host.h"

#include <sodium.h>

_Static_assert(HSY_SIGN_KEY == crypto_sign_PUBLICKEYBYTES &&
                   HSY_SIGN_SECRET == crypto_sign_SECRETKEYBYTES &&
                   HSY_SIGNATURE == crypto_sign_BYTES,
               "the sizes are Ed25519's");

hsy_status hsy_sign_keypair(uint8_t key[HSY_SIGN_KEY],
                            uint8_t secret[HSY_SIGN_SECRET])
{
    if (sodium_init() == -1)
        return HSY_E_ENTROPY;
    return crypto_sign_keypair(key, secret) == 0 ? HSY_OK : HSY_E_ENTROPY;
}

/* The public half is derived anew: signing under a public key that does not
 * belong to the secret would give the secret away. */
hsy_status hsy_sign(uint8_t sig[HSY_SIGNATURE], const uint8_t *bytes,
                    size_t len, const uint8_t secret[HSY_SIGN_SECRET])
{
    uint8_t key[HSY_SIGN_KEY], whole[HSY_SIGN_SECRET];
    hsy_status st = HSY_OK;

    if (sodium_init() == -1)
        return HSY_E_ENTROPY;
    crypto_sign_seed_keypair(key, whole, secret);
    if (sodium_memcmp(whole, secret, sizeof whole) != 0)
        st = HSY_E_RANGE;
    else if (crypto_sign_detached(sig, NULL, bytes, len, whole) != 0)
        st = HSY_E_IO;
    sodium_memzero(whole, sizeof whole);
    return st;
}

bool hsy_sign_verify(const uint8_t key[HSY_SIGN_KEY],
                     const uint8_t sig[HSY_SIGNATURE], const uint8_t *bytes,
                     size_t len)
{
    return sodium_init() != -1 &&
           crypto_sign_verify_detached(sig, bytes, len, key) == 0;
}
