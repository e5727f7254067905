/* chacha20.h - what the versions of the block function share. */
#ifndef LIB_KERNELS_CHACHA20_H
#define LIB_KERNELS_CHACHA20_H

#include <stdint.h>

#define HSY_CHACHA20_ROUNDS 10 /* double rounds */

/* A function that handles the key: its frame is burnt after its return. */
#define HSY_CHACHA20_DEEP __attribute__((noinline)) static

/* Move the 64-bit counter on. */
static inline void chacha20_advance(uint32_t state[16], uint64_t blocks)
{
    uint64_t counter = ((uint64_t)state[13] << 32 | state[12]) + blocks;

    state[12] = (uint32_t)counter;
    state[13] = (uint32_t)(counter >> 32);
}

/*
 * Zero the stack below the caller as deep as the rounds reach. They run in a
 * function of their own, never inlined, which the kernel calls before this:
 * compilers spill the key, and states from which it follows, to places that
 * have no name.
 */
void hsy_chacha20_burn(void);

#endif
