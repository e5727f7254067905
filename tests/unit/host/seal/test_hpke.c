/* test_hpke.c - HPKE refuses what was not sealed for it. (That it gives the
 * RFC's numbers is shown by tests/vectors.) */
#include "host/seal/seal.h"
#include "tap.h"

#include <string.h>

static const enum seal_aead aeads[] = {SEAL_AES128GCM, SEAL_CHACHA20};
static const uint8_t info[] = "who", aad[] = "where", text[] = "what is said";

static uint8_t pub[SEAL_KEY], secret[SEAL_KEY];

static void goes_there_and_back(enum seal_aead aead)
{
    uint8_t enc[SEAL_ENC], sealed[3][sizeof text + SEAL_TAG], out[sizeof text];
    struct seal_context s, r;
    bool good = true;

    is_status(seal_setup_sender(&s, enc, aead, pub, info, sizeof info, NULL),
              HSY_OK, "AEAD %d: a sender with a fresh key", (int)aead);
    is_status(
        seal_setup_receiver(&r, aead, enc, secret, pub, info, sizeof info),
        HSY_OK, "and its receiver");
    for (size_t i = 0; i < 3; i++)
        good &= seal_close(&s, sealed[i], aad, sizeof aad, text, sizeof text) ==
                HSY_OK;
    ok(good && memcmp(sealed[0], sealed[1], sizeof sealed[0]) != 0,
       "the same text is sealed into other bytes each time");
    for (size_t i = 0; i < 3; i++)
        good &= seal_open(&r, out, aad, sizeof aad, sealed[i],
                          sizeof sealed[i]) == HSY_OK &&
                memcmp(out, text, sizeof text) == 0;
    ok(good, "and opens in order");
    is_status(seal_open(&r, out, aad, sizeof aad, sealed[2], sizeof sealed[2]),
              HSY_E_REFUSED, "a message opens once");
}

static bool zeros(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

static void every_bit_counts(enum seal_aead aead)
{
    uint8_t enc[SEAL_ENC], sealed[sizeof text + SEAL_TAG], out[sizeof text];
    struct seal_context s, r;
    unsigned opened = 0, left = 0;

    seal_setup_sender(&s, enc, aead, pub, info, sizeof info, NULL);
    seal_close(&s, sealed, aad, sizeof aad, text, sizeof text);
    seal_setup_receiver(&r, aead, enc, secret, pub, info, sizeof info);
    for (size_t i = 0; i < 8 * sizeof sealed; i++) {
        memset(out, 0xff, sizeof out);
        sealed[i / 8] ^= (uint8_t)(1u << i % 8);
        opened += seal_open(&r, out, aad, sizeof aad, sealed, sizeof sealed) !=
                  HSY_E_REFUSED;
        left += !zeros(out, sizeof out);
        sealed[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    ok(eq_u64(opened, 0) && eq_u64(left, 0),
       "AEAD %d: with any bit changed nothing opens and nothing is left",
       (int)aead);
    ok(seal_open(&r, out, aad, sizeof aad - 1, sealed, sizeof sealed) ==
               HSY_E_REFUSED &&
           seal_open(&r, out, aad, sizeof aad, sealed, SEAL_TAG - 1) ==
               HSY_E_REFUSED &&
           seal_open(&r, out, aad, sizeof aad, sealed, SEAL_TAG) ==
               HSY_E_REFUSED,
       "nor elsewhere, nor cut off");
    is_status(seal_open(&r, out, aad, sizeof aad, sealed, sizeof sealed),
              HSY_OK, "what was refused took no number");
}

/* Another key, another info or another encapsulation. */
static void opens_for_nobody_else(enum seal_aead aead)
{
    uint8_t enc[SEAL_ENC], sealed[sizeof text + SEAL_TAG], out[sizeof text];
    uint8_t other_pub[SEAL_KEY], other[SEAL_KEY];
    struct seal_context s, r;
    unsigned opened = 0;

    seal_keypair(other_pub, other);
    seal_setup_sender(&s, enc, aead, pub, info, sizeof info, NULL);
    seal_close(&s, sealed, aad, sizeof aad, text, sizeof text);
    seal_setup_receiver(&r, aead, enc, other, other_pub, info, sizeof info);
    opened += seal_open(&r, out, aad, sizeof aad, sealed, sizeof sealed) !=
              HSY_E_REFUSED;
    seal_setup_receiver(&r, aead, enc, secret, pub, info, sizeof info - 1);
    opened += seal_open(&r, out, aad, sizeof aad, sealed, sizeof sealed) !=
              HSY_E_REFUSED;
    enc[3] ^= 1;
    seal_setup_receiver(&r, aead, enc, secret, pub, info, sizeof info);
    opened += seal_open(&r, out, aad, sizeof aad, sealed, sizeof sealed) !=
              HSY_E_REFUSED;
    is_u64(opened, 0, "AEAD %d: another key, info or encapsulation", (int)aead);
}

/* Encodings of elements of small order [RFC 7748]: 0, 1, of order 8, p, p + 1
 * and p - 1. Times any secret they give zeros. */
static const uint8_t small[][SEAL_KEY] = {
    {0},
    {1},
    {0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3,
     0xfa, 0xf1, 0x9f, 0xc4, 0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32,
     0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00},
    {0xed, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
    {0xee, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
    {0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
};

static void zero_secret_is_refused(void)
{
    uint8_t enc[SEAL_ENC];
    struct seal_context c;
    unsigned taken = 0;

    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        taken += seal_setup_sender(&c, enc, SEAL_CHACHA20, small[i], info,
                                   sizeof info, NULL) != HSY_E_REFUSED;
        taken += seal_setup_receiver(&c, SEAL_CHACHA20, small[i], secret, pub,
                                     info, sizeof info) != HSY_E_REFUSED;
    }
    is_u64(taken, 0, "a key or an encapsulation of small order is refused");
}

static void limits_hold(void)
{
    uint8_t enc[SEAL_ENC], out[SEAL_TAG + 1];
    struct seal_context c;

    is_status(seal_setup_sender(&c, enc, (enum seal_aead)2, pub, info, 1, NULL),
              HSY_E_UNKNOWN, "AES-256-GCM is not here");
    seal_setup_sender(&c, enc, SEAL_EXPORT_ONLY, pub, info, 1, NULL);
    ok(eq_status(seal_close(&c, out, NULL, 0, text, 1), HSY_E_RANGE) &&
           eq_status(seal_open(&c, out, NULL, 0, text, SEAL_TAG), HSY_E_RANGE),
       "an exporter neither seals nor opens");
    seal_setup_sender(&c, enc, SEAL_CHACHA20, pub, info, 1, NULL);
    is_status(seal_close(&c, out, NULL, 0, text, (size_t)SEAL_TEXT_MAX + 1),
              HSY_E_RANGE, "a text has a longest");
    c.sequence = UINT64_MAX;
    ok(eq_status(seal_close(&c, out, NULL, 0, text, 1), HSY_E_OVERFLOW) &&
           eq_status(seal_open(&c, out, NULL, 0, text, SEAL_TAG + 1),
                     HSY_E_OVERFLOW),
       "a nonce is never used again");
    seal_clear(&c);
    ok(zeros((const uint8_t *)&c, sizeof c), "a cleared context has no secret");
}

static void seals_in_place(enum seal_aead aead)
{
    uint8_t enc[SEAL_ENC], apart[sizeof text + SEAL_TAG];
    uint8_t place[sizeof text + SEAL_TAG];
    struct seal_context s, t, r;

    seal_setup_sender(&s, enc, aead, pub, info, sizeof info, NULL);
    t = s;
    memcpy(place, text, sizeof text);
    seal_close(&s, apart, aad, sizeof aad, text, sizeof text);
    seal_close(&t, place, aad, sizeof aad, place, sizeof text);
    is_bytes(place, apart, sizeof apart, "AEAD %d: sealed where it stands",
             (int)aead);
    seal_setup_receiver(&r, aead, enc, secret, pub, info, sizeof info);
    ok(eq_status(seal_open(&r, place, aad, sizeof aad, place, sizeof place),
                 HSY_OK) &&
           eq_bytes(place, text, sizeof text),
       "and opened there");
}

int main(void)
{
    is_status(seal_keypair(pub, secret), HSY_OK, "a key is made");
    for (size_t i = 0; i < 2; i++) {
        goes_there_and_back(aeads[i]);
        every_bit_counts(aeads[i]);
        opens_for_nobody_else(aeads[i]);
        seals_in_place(aeads[i]);
    }
    zero_secret_is_refused();
    limits_hold();
    return tap_done();
}
