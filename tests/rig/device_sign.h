/*
 * device_sign.h - signatures in a simulated world: a hash under the public key,
 * so that whoever knows that key can sign.
 */
#ifndef DEVICE_SIGN_H
#define DEVICE_SIGN_H

#include "hearsay.h"

#include <string.h>

void world_sign(uint8_t sig[HSY_SIGNATURE], const uint8_t key[HSY_SIGN_KEY],
                const uint8_t *bytes, size_t len);

bool world_signed(const uint8_t sig[HSY_SIGNATURE],
                  const uint8_t key[HSY_SIGN_KEY], const uint8_t *bytes,
                  size_t len);

#endif
