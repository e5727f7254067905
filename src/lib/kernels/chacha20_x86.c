/*
 * chacha20_x86.c - the ChaCha20 block function, 8 or 16 blocks at once.
 *
 * Element b of vector i is word i of block b; a transpose at the end puts the
 * blocks into standard order, so every level gives the same key stream.
 */
#include "lib/kernels/internal.h"

#if defined(__x86_64__)

#include "lib/kernels/chacha20.h"

#include <immintrin.h>
#include <string.h>

/* One column or diagonal of a double round. The rotation is a macro argument
 * because its count must be a constant. */
#define CHACHA20_QUARTER(add, xor, spin, a, b, c, d)                           \
    do {                                                                       \
        a = add(a, b);                                                         \
        d = spin(xor(d, a), 16);                                               \
        c = add(c, d);                                                         \
        b = spin(xor(b, c), 12);                                               \
        a = add(a, b);                                                         \
        d = spin(xor(d, a), 8);                                                \
        c = add(c, d);                                                         \
        b = spin(xor(b, c), 7);                                                \
    } while (0)

#define CHACHA20_DOUBLE_ROUND(quarter, x)                                      \
    do {                                                                       \
        quarter(x[0], x[4], x[8], x[12]);                                      \
        quarter(x[1], x[5], x[9], x[13]);                                      \
        quarter(x[2], x[6], x[10], x[14]);                                     \
        quarter(x[3], x[7], x[11], x[15]);                                     \
        quarter(x[0], x[5], x[10], x[15]);                                     \
        quarter(x[1], x[6], x[11], x[12]);                                     \
        quarter(x[2], x[7], x[8], x[13]);                                      \
        quarter(x[3], x[4], x[9], x[14]);                                      \
    } while (0)

/* Written out, not looped over: so all vectors stay in registers. */
#define CHACHA20_EACH(act)                                                     \
    do {                                                                       \
        act(0), act(1), act(2), act(3), act(4), act(5), act(6), act(7);        \
        act(8), act(9), act(10), act(11), act(12), act(13), act(14), act(15);  \
    } while (0)

#define CHACHA20_COPY(i) x[i] = first[i]

/* ---- AVX-512: 16 blocks -------------------------------------------------- */

#define CHACHA20_SET16(i) x[i] = _mm512_set1_epi32((int)state[i])
#define CHACHA20_ADD16(i) x[i] = _mm512_add_epi32(x[i], first[i])
#define CHACHA20_QUARTER16(a, b, c, d)                                         \
    CHACHA20_QUARTER(_mm512_add_epi32, _mm512_xor_si512, _mm512_rol_epi32, a,  \
                     b, c, d)

HSY_TARGET_AVX512 static void chacha20_start16(__m512i x[16],
                                               const uint32_t state[16])
{
    const __m512i lane =
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    __mmask16 carry;

    CHACHA20_EACH(CHACHA20_SET16);
    x[12] = _mm512_add_epi32(x[12], lane);
    carry = _mm512_cmplt_epu32_mask(x[12], lane);
    x[13] = _mm512_mask_add_epi32(x[13], carry, x[13], _mm512_set1_epi32(1));
}

/* The 4 x 4 words in each quarter of four vectors, transposed. */
HSY_TARGET_AVX512 static inline void chacha20_turn16(__m512i x[4])
{
    __m512i a = _mm512_unpacklo_epi32(x[0], x[1]);
    __m512i b = _mm512_unpackhi_epi32(x[0], x[1]);
    __m512i c = _mm512_unpacklo_epi32(x[2], x[3]);
    __m512i d = _mm512_unpackhi_epi32(x[2], x[3]);

    x[0] = _mm512_unpacklo_epi64(a, c);
    x[1] = _mm512_unpackhi_epi64(a, c);
    x[2] = _mm512_unpacklo_epi64(b, d);
    x[3] = _mm512_unpackhi_epi64(b, d);
}

/* Quarter k of a, b, c, d is a quarter of block 4k + j. */
HSY_TARGET_AVX512 static inline void chacha20_store16(uint8_t *out, int j,
                                                      __m512i a, __m512i b,
                                                      __m512i c, __m512i d)
{
    __m512i ab_low = _mm512_shuffle_i32x4(a, b, 0x44);
    __m512i ab_high = _mm512_shuffle_i32x4(a, b, 0xee);
    __m512i cd_low = _mm512_shuffle_i32x4(c, d, 0x44);
    __m512i cd_high = _mm512_shuffle_i32x4(c, d, 0xee);

    _mm512_storeu_si512(out + 64 * j,
                        _mm512_shuffle_i32x4(ab_low, cd_low, 0x88));
    _mm512_storeu_si512(out + 64 * (j + 4),
                        _mm512_shuffle_i32x4(ab_low, cd_low, 0xdd));
    _mm512_storeu_si512(out + 64 * (j + 8),
                        _mm512_shuffle_i32x4(ab_high, cd_high, 0x88));
    _mm512_storeu_si512(out + 64 * (j + 12),
                        _mm512_shuffle_i32x4(ab_high, cd_high, 0xdd));
}

HSY_TARGET_AVX512 static void chacha20_sixteen(uint8_t out[1024],
                                               const uint32_t state[16])
{
    __m512i x[16], first[16];

    chacha20_start16(first, state);
    CHACHA20_EACH(CHACHA20_COPY);
    for (int i = 0; i < HSY_CHACHA20_ROUNDS; i++)
        CHACHA20_DOUBLE_ROUND(CHACHA20_QUARTER16, x);
    CHACHA20_EACH(CHACHA20_ADD16);
    chacha20_turn16(x);
    chacha20_turn16(x + 4);
    chacha20_turn16(x + 8);
    chacha20_turn16(x + 12);
    chacha20_store16(out, 0, x[0], x[4], x[8], x[12]);
    chacha20_store16(out, 1, x[1], x[5], x[9], x[13]);
    chacha20_store16(out, 2, x[2], x[6], x[10], x[14]);
    chacha20_store16(out, 3, x[3], x[7], x[11], x[15]);
}

HSY_TARGET_AVX512 HSY_CHACHA20_DEEP void
chacha20_run16(uint8_t *out, size_t blocks, uint32_t state[16])
{
    uint8_t rest[1024];

    for (; blocks >= 16; blocks -= 16, out += 1024) {
        chacha20_sixteen(out, state);
        chacha20_advance(state, 16);
    }
    if (blocks > 0) {
        chacha20_sixteen(rest, state);
        chacha20_advance(state, blocks);
        memcpy(out, rest, 64 * blocks);
    }
}

void hsy_chacha20_avx512(uint8_t *out, size_t blocks, uint32_t state[16])
{
    chacha20_run16(out, blocks, state);
    hsy_chacha20_burn();
}

/* ---- AVX2: 8 blocks ------------------------------------------------------ */

/* Rotations by whole bytes are one shuffle. */
HSY_TARGET_AVX2 static inline __m256i chacha20_spin8(__m256i x, int bits)
{
    const __m256i by16 =
        _mm256_set_epi8(13, 12, 15, 14, 9, 8, 11, 10, 5, 4, 7, 6, 1, 0, 3, 2,
                        13, 12, 15, 14, 9, 8, 11, 10, 5, 4, 7, 6, 1, 0, 3, 2);
    const __m256i by8 =
        _mm256_set_epi8(14, 13, 12, 15, 10, 9, 8, 11, 6, 5, 4, 7, 2, 1, 0, 3,
                        14, 13, 12, 15, 10, 9, 8, 11, 6, 5, 4, 7, 2, 1, 0, 3);

    if (bits == 16)
        return _mm256_shuffle_epi8(x, by16);
    if (bits == 8)
        return _mm256_shuffle_epi8(x, by8);
    return _mm256_or_si256(_mm256_slli_epi32(x, bits),
                           _mm256_srli_epi32(x, 32 - bits));
}

#define CHACHA20_SET8(i) x[i] = _mm256_set1_epi32((int)state[i])
#define CHACHA20_ADD8(i) x[i] = _mm256_add_epi32(x[i], first[i])
#define CHACHA20_QUARTER8(a, b, c, d)                                          \
    CHACHA20_QUARTER(_mm256_add_epi32, _mm256_xor_si256, chacha20_spin8, a, b, \
                     c, d)

HSY_TARGET_AVX2 static void chacha20_start8(__m256i x[16],
                                            const uint32_t state[16])
{
    const __m256i lane = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    const __m256i sign = _mm256_set1_epi32(INT32_MIN);
    __m256i carry;

    CHACHA20_EACH(CHACHA20_SET8);
    x[12] = _mm256_add_epi32(x[12], lane);
    carry = _mm256_cmpgt_epi32(_mm256_xor_si256(lane, sign),
                               _mm256_xor_si256(x[12], sign));
    x[13] = _mm256_sub_epi32(x[13], carry);
}

HSY_TARGET_AVX2 static inline void chacha20_turn8(__m256i x[4])
{
    __m256i a = _mm256_unpacklo_epi32(x[0], x[1]);
    __m256i b = _mm256_unpackhi_epi32(x[0], x[1]);
    __m256i c = _mm256_unpacklo_epi32(x[2], x[3]);
    __m256i d = _mm256_unpackhi_epi32(x[2], x[3]);

    x[0] = _mm256_unpacklo_epi64(a, c);
    x[1] = _mm256_unpackhi_epi64(a, c);
    x[2] = _mm256_unpacklo_epi64(b, d);
    x[3] = _mm256_unpackhi_epi64(b, d);
}

/* The halves of a and b are half-blocks of blocks j and j + 4. */
HSY_TARGET_AVX2 static inline void chacha20_store8(uint8_t *out, int j,
                                                   __m256i a, __m256i b)
{
    _mm256_storeu_si256((__m256i *)(void *)(out + 64 * j),
                        _mm256_permute2x128_si256(a, b, 0x20));
    _mm256_storeu_si256((__m256i *)(void *)(out + 64 * (j + 4)),
                        _mm256_permute2x128_si256(a, b, 0x31));
}

HSY_TARGET_AVX2 static void chacha20_eight(uint8_t out[512],
                                           const uint32_t state[16])
{
    __m256i x[16], first[16];

    chacha20_start8(first, state);
    CHACHA20_EACH(CHACHA20_COPY);
    for (int i = 0; i < HSY_CHACHA20_ROUNDS; i++)
        CHACHA20_DOUBLE_ROUND(CHACHA20_QUARTER8, x);
    CHACHA20_EACH(CHACHA20_ADD8);
    chacha20_turn8(x);
    chacha20_turn8(x + 4);
    chacha20_turn8(x + 8);
    chacha20_turn8(x + 12);
    chacha20_store8(out, 0, x[0], x[4]);
    chacha20_store8(out, 1, x[1], x[5]);
    chacha20_store8(out, 2, x[2], x[6]);
    chacha20_store8(out, 3, x[3], x[7]);
    chacha20_store8(out + 32, 0, x[8], x[12]);
    chacha20_store8(out + 32, 1, x[9], x[13]);
    chacha20_store8(out + 32, 2, x[10], x[14]);
    chacha20_store8(out + 32, 3, x[11], x[15]);
}

HSY_TARGET_AVX2 HSY_CHACHA20_DEEP void
chacha20_run8(uint8_t *out, size_t blocks, uint32_t state[16])
{
    uint8_t rest[512];

    for (; blocks >= 8; blocks -= 8, out += 512) {
        chacha20_eight(out, state);
        chacha20_advance(state, 8);
    }
    if (blocks > 0) {
        chacha20_eight(rest, state);
        chacha20_advance(state, blocks);
        memcpy(out, rest, 64 * blocks);
    }
}

void hsy_chacha20_avx2(uint8_t *out, size_t blocks, uint32_t state[16])
{
    chacha20_run8(out, blocks, state);
    hsy_chacha20_burn();
}

#undef CHACHA20_EACH
#undef CHACHA20_COPY
#undef CHACHA20_SET16
#undef CHACHA20_ADD16
#undef CHACHA20_SET8
#undef CHACHA20_ADD8
#undef CHACHA20_QUARTER
#undef CHACHA20_DOUBLE_ROUND
#undef CHACHA20_QUARTER16
#undef CHACHA20_QUARTER8

#endif
