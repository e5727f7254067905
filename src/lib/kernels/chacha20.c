/*
 * chacha20.c - the ChaCha20 block function [RFC8439, 2.3], any machine.
 *
 * The counter has 64 bits, in words 12 and 13, so a stream never wraps. No
 * step depends on the data: add, rotate and exclusive-or only.
 */
#include "lib/kernels/chacha20.h"

#include "lib/bits/bytes.h"
#include "lib/kernels/internal.h"

#include <string.h>

#define CHACHA20_ROOM 3072u

static uint32_t chacha20_rotate(uint32_t x, unsigned bits)
{
    return x << bits | x >> (32 - bits);
}

/* Inlined always: with constant places the words live in registers. */
__attribute__((always_inline)) static inline void
chacha20_quarter(uint32_t x[16], int a, int b, int c, int d)
{
    x[a] += x[b];
    x[d] = chacha20_rotate(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = chacha20_rotate(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = chacha20_rotate(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = chacha20_rotate(x[b] ^ x[c], 7);
}

static void chacha20_block(uint8_t out[64], const uint32_t state[16])
{
    uint32_t x[16];

    memcpy(x, state, sizeof x);
    for (int i = 0; i < HSY_CHACHA20_ROUNDS; i++) {
        chacha20_quarter(x, 0, 4, 8, 12);
        chacha20_quarter(x, 1, 5, 9, 13);
        chacha20_quarter(x, 2, 6, 10, 14);
        chacha20_quarter(x, 3, 7, 11, 15);
        chacha20_quarter(x, 0, 5, 10, 15);
        chacha20_quarter(x, 1, 6, 11, 12);
        chacha20_quarter(x, 2, 7, 8, 13);
        chacha20_quarter(x, 3, 4, 9, 14);
    }
    for (int i = 0; i < 16; i++)
        bytes_put32(out + 4 * i, x[i] + state[i]);
}

/* The deepest frames, of 16 blocks at once, take about 2100 bytes. */
__attribute__((noinline)) void hsy_chacha20_burn(void)
{
    uint8_t room[CHACHA20_ROOM];

    bytes_wipe(room, sizeof room);
}

HSY_CHACHA20_DEEP void chacha20_run(uint8_t *out, size_t blocks,
                                    uint32_t state[16])
{
    for (size_t i = 0; i < blocks; i++) {
        chacha20_block(out + 64 * i, state);
        chacha20_advance(state, 1);
    }
}

void hsy_chacha20_plain(uint8_t *out, size_t blocks, uint32_t state[16])
{
    chacha20_run(out, blocks, state);
    hsy_chacha20_burn();
}

#undef CHACHA20_ROOM
