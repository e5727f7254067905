/* test_sign.c - Ed25519: the vectors of RFC 8032, and what is refused. */
#include "hearsay/host.h"
#include "tap.h"

#include <string.h>

static void unhex(uint8_t *out, const char *hex)
{
    for (size_t i = 0; hex[2 * i] != '\0'; i++) {
        unsigned byte = 0;

        sscanf(hex + 2 * i, "%2x", &byte);
        out[i] = (uint8_t)byte;
    }
}

/* RFC 8032, 7.1, tests 1 to 3: seed, public key, message, signature. */
static const char *const vectors[3][4] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb88215"
     "90a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e4"
     "3e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b53"
     "8d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"},
};

static void vector_holds(const char *const v[4])
{
    uint8_t secret[HSY_SIGN_SECRET], key[HSY_SIGN_KEY], message[2];
    uint8_t want[HSY_SIGNATURE], sig[HSY_SIGNATURE] = {0};
    size_t len = strlen(v[2]) / 2;

    unhex(secret, v[0]);
    unhex(secret + 32, v[1]);
    unhex(key, v[1]);
    unhex(message, v[2]);
    unhex(want, v[3]);
    ok(eq_status(hsy_sign(sig, message, len, secret), HSY_OK) &&
           eq_bytes(sig, want, sizeof sig),
       "RFC 8032: %zu bytes are signed as there", len);
    ok(hsy_sign_verify(key, sig, message, len), "and verified");
}

static void forgeries_are_refused(void)
{
    uint8_t key[HSY_SIGN_KEY], other[HSY_SIGN_KEY];
    uint8_t secret[HSY_SIGN_SECRET], foreign[HSY_SIGN_SECRET];
    uint8_t sig[HSY_SIGNATURE] = {0}, message[40] = "a document";
    size_t passed = 0;

    ok(eq_status(hsy_sign_keypair(key, secret), HSY_OK) &&
           eq_status(hsy_sign_keypair(other, foreign), HSY_OK) &&
           memcmp(key, other, sizeof key) != 0,
       "keys are new each time");
    ok(eq_status(hsy_sign(sig, message, sizeof message, secret), HSY_OK) &&
           hsy_sign_verify(key, sig, message, sizeof message),
       "what is signed verifies");
    ok(!hsy_sign_verify(other, sig, message, sizeof message),
       "but not by another key");
    for (size_t i = 0; i < 8 * sizeof message; i++) {
        message[i / 8] ^= (uint8_t)(1 << i % 8);
        passed += hsy_sign_verify(key, sig, message, sizeof message);
        message[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    for (size_t i = 0; i < 8 * sizeof sig; i++) {
        sig[i / 8] ^= (uint8_t)(1 << i % 8);
        passed += hsy_sign_verify(key, sig, message, sizeof message);
        sig[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    is_u64(passed, 0, "nor after any bit of message or signature has changed");
    ok(!hsy_sign_verify(key, sig, message, sizeof message - 1),
       "nor for a shorter message");
    memcpy(secret + 32, other, sizeof other);
    is_status(hsy_sign(sig, message, sizeof message, secret), HSY_E_RANGE,
              "a secret with another's public key signs nothing");
}

int main(void)
{
    for (size_t i = 0; i < 3; i++)
        vector_holds(vectors[i]);
    forgeries_are_refused();
    return tap_done();
}
