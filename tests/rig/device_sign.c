/* device_sign.c - see device_sign.h. */

#include "rig/device_sign.h"

void world_sign(uint8_t sig[HSY_SIGNATURE], const uint8_t key[HSY_SIGN_KEY],
                const uint8_t *bytes, size_t len)
{
    hsy_blake2b(sig, HSY_SIGNATURE, bytes, len, key, HSY_SIGN_KEY);
}

bool world_signed(const uint8_t sig[HSY_SIGNATURE],
                  const uint8_t key[HSY_SIGN_KEY], const uint8_t *bytes,
                  size_t len)
{
    uint8_t want[HSY_SIGNATURE];

    world_sign(want, key, bytes, len);
    return memcmp(want, sig, sizeof want) == 0;
}
