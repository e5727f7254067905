/* chacha20.h - what the versions of the block function share. */
#ifndef HSY_CHACHA20_H
#define HSY_CHACHA20_H

#include <stdint.h>

#define HSY_CHACHA20_ROUNDS 10 /* double rounds */

/* Move the 64-bit counter on. */
static inline void chacha20_advance(uint32_t state[16], uint64_t blocks)
{
    uint64_t counter = ((uint64_t)state[13] << 32 | state[12]) + blocks;

    state[12] = (uint32_t)counter;
    state[13] = (uint32_t)(counter >> 32);
}

#endif
