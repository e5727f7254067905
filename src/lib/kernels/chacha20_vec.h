/*
 * chacha20_vec.h - the ChaCha20 block function, a block in each lane.
 *
 * Element b of vector i is word i of block b; a transpose at the end puts the
 * blocks into standard order, so every level gives the same key stream.
 */
#include "lib/kernels/simd.h"

#define CHACHA20_SOME SIMD_HALVES /* blocks at once */

SIMD_INLINE void K(chacha20_quarter)(simd32 *x, int a, int b, int c, int d)
{
    x[a] += x[b];
    x[d] = simd_rotate32(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = simd_rotate32(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = simd_rotate32(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = simd_rotate32(x[b] ^ x[c], 7);
}

SIMD_INLINE void K(chacha20_start)(simd32 *x, const uint32_t *state)
{
    const simd32 lane = {SIMD_LANES32};

    SIMD_UNROLL
    for (int i = 0; i < 16; i++)
        x[i] = (simd32){0} + state[i];
    x[12] += lane;
    x[13] -= (simd32)(x[12] < lane); /* the carry: true is -1 */
}

/* The 4 x 4 words in each 16 bytes of four vectors, transposed. */
SIMD_INLINE void K(chacha20_turn)(simd32 *x)
{
    simd64 a = (simd64)simd_low32(x[0], x[1]);
    simd64 b = (simd64)simd_high32(x[0], x[1]);
    simd64 c = (simd64)simd_low32(x[2], x[3]);
    simd64 d = (simd64)simd_high32(x[2], x[3]);

    x[0] = (simd32)simd_low64(a, c);
    x[1] = (simd32)simd_high64(a, c);
    x[2] = (simd32)simd_low64(b, d);
    x[3] = (simd32)simd_high64(b, d);
}

/* Lane k, of 16 bytes, of a, b, c, d is a quarter of block 4k + j; out is where
 * block j begins. */
SIMD_INLINE void K(chacha20_put)(uint8_t *out, simd64 a, simd64 b, simd64 c,
                                 simd64 d)
{
#if SIMD_BYTES == 16
    simd_store(out, a);
    simd_store(out + 16, b);
    simd_store(out + 32, c);
    simd_store(out + 48, d);
#elif SIMD_BYTES == 32
    simd_store(out, __builtin_shufflevector(a, b, 0, 1, 4, 5));
    simd_store(out + 32, __builtin_shufflevector(c, d, 0, 1, 4, 5));
    simd_store(out + 256, __builtin_shufflevector(a, b, 2, 3, 6, 7));
    simd_store(out + 288, __builtin_shufflevector(c, d, 2, 3, 6, 7));
#else
    simd64 p = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    simd64 q = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    simd64 r = __builtin_shufflevector(c, d, 0, 1, 2, 3, 8, 9, 10, 11);
    simd64 s = __builtin_shufflevector(c, d, 4, 5, 6, 7, 12, 13, 14, 15);

    simd_store(out, __builtin_shufflevector(p, r, 0, 1, 4, 5, 8, 9, 12, 13));
    simd_store(out + 256,
               __builtin_shufflevector(p, r, 2, 3, 6, 7, 10, 11, 14, 15));
    simd_store(out + 512,
               __builtin_shufflevector(q, s, 0, 1, 4, 5, 8, 9, 12, 13));
    simd_store(out + 768,
               __builtin_shufflevector(q, s, 2, 3, 6, 7, 10, 11, 14, 15));
#endif
}

SIMD_INLINE void K(chacha20_blocks)(uint8_t *out, const uint32_t *state)
{
    simd32 x[16], first[16];

    K(chacha20_start)(first, state);
    SIMD_UNROLL
    for (int i = 0; i < 16; i++)
        x[i] = first[i];
    for (int i = 0; i < HSY_CHACHA20_ROUNDS; i++) {
        SIMD_UNROLL
        for (int k = 0; k < 4; k++)
            K(chacha20_quarter)(x, k, 4 + k, 8 + k, 12 + k);
        SIMD_UNROLL
        for (int k = 0; k < 4; k++)
            K(chacha20_quarter)
        (x, k, 4 + (k + 1) % 4, 8 + (k + 2) % 4, 12 + (k + 3) % 4);
    }
    SIMD_UNROLL
    for (int i = 0; i < 16; i++)
        x[i] += first[i];
    SIMD_UNROLL
    for (int i = 0; i < 16; i += 4)
        K(chacha20_turn)(x + i);
    SIMD_UNROLL
    for (int j = 0; j < 4; j++)
        K(chacha20_put)
    (out + 64 * j, (simd64)x[j], (simd64)x[4 + j], (simd64)x[8 + j],
     (simd64)x[12 + j]);
}

HSY_CHACHA20_DEEP void K(chacha20_run)(uint8_t *out, size_t blocks,
                                       uint32_t state[16])
{
    uint8_t rest[64 * CHACHA20_SOME];

    for (; blocks >= CHACHA20_SOME; blocks -= CHACHA20_SOME) {
        K(chacha20_blocks)(out, state);
        chacha20_advance(state, CHACHA20_SOME);
        out += sizeof rest;
    }
    /* As long as a whole run: streams ask for sixteen blocks at a time. */
    if (blocks > 0) {
        K(chacha20_blocks)(rest, state);
        chacha20_advance(state, blocks);
        memcpy(out, rest, 64 * blocks);
    }
}

void K(hsy_chacha20)(uint8_t *out, size_t blocks, uint32_t state[16])
{
    K(chacha20_run)(out, blocks, state);
    hsy_chacha20_burn();
}

#undef CHACHA20_SOME
