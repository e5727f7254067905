/*
 * simd.h - vectors of SIMD_BYTES bytes and what GNU vector types lack.
 *
 * A level (vec_*.c) says how wide its vectors are, opens the instructions of
 * its processor and includes this file and the kernels' bodies, so all of it is
 * compiled once a level and every name ends in the level's: K(name). Each
 * operation has a form in plain vector types, which a new processor starts
 * with; intrinsics stand where compilers do not find the instruction.
 *
 * Vectors wider than the processor's are lowered badly: none here is. Arrays of
 * vectors are read and written by pointers that may alias, never by memcpy,
 * which compilers send through memory.
 */
#ifndef LIB_KERNELS_SIMD_H
#define LIB_KERNELS_SIMD_H

#include "lib/kernels/levels.h"

#ifndef SIMD_BYTES /* as a header alone */
#define SIMD_BYTES 16
#define SIMD_LEVEL portable
#endif

#ifndef LIB_KERNELS_SIMD_NAMES
#define LIB_KERNELS_SIMD_NAMES

#define SIMD_PASTE(name, level) name##_##level
#define SIMD_NAME(name, level) SIMD_PASTE(name, level)
#define K(name) SIMD_NAME(name, SIMD_LEVEL)

#define simd32 K(simd32)
#define simd64 K(simd64)
#define simd_signed32 K(simd_signed32)
#define simd_signed64 K(simd_signed64)
#define simd_memory K(simd_memory)
#define simd_memory32 K(simd_memory32)
#define simd_load K(simd_load)
#define simd_store K(simd_store)
#define simd_load_some K(simd_load_some)
#define simd_store_some K(simd_store_some)
#define simd_select K(simd_select)
#define simd_most3 K(simd_most3)
#define simd_add3 K(simd_add3)
#define simd_ones8 K(simd_ones8)
#define simd_ones64 K(simd_ones64)
#define simd_sum8 K(simd_sum8)
#define simd_spread16 K(simd_spread16)
#define simd_spread8 K(simd_spread8)
#define simd_widen16 K(simd_widen16)
#define simd16 K(simd16)
#define simd_block K(simd_block)
#define simd_mul32 K(simd_mul32)
#define simd_mix32 K(simd_mix32)
#define simd_hide K(simd_hide)
#define simd_low32 K(simd_low32)
#define simd_high32 K(simd_high32)
#define simd_low64 K(simd_low64)
#define simd_high64 K(simd_high64)
#define simd_even32 K(simd_even32)
#define simd_odd32 K(simd_odd32)
#define simd_deal64 K(simd_deal64)
#define simd_collect32 K(simd_collect32)
#define simd_collect64 K(simd_collect64)
#define simd_less64 K(simd_less64)
#define simd_mask32 K(simd_mask32)
#define simd_odd64 K(simd_odd64)
#define simd_rotate32 K(simd_rotate32)
#define simd_lookup K(simd_lookup)
#define simd_gather K(simd_gather)
#define simd_float K(simd_float)
#define simd8 K(simd8)

/* Every operation goes into the loop that uses it. */
#define SIMD_INLINE __attribute__((always_inline, unused)) static inline

/* Loops of fixed length over arrays of vectors: unrolled before the arrays are
 * looked at, so that their elements live in registers. */
#if defined(__clang__)
#define SIMD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SIMD_UNROLL _Pragma("GCC unroll 64")
#endif

#endif

typedef uint8_t simd8 __attribute__((vector_size(SIMD_BYTES)));
typedef uint16_t simd16 __attribute__((vector_size(SIMD_BYTES)));
typedef uint32_t simd32 __attribute__((vector_size(SIMD_BYTES)));
typedef uint64_t simd64 __attribute__((vector_size(SIMD_BYTES)));
typedef int32_t simd_signed32 __attribute__((vector_size(SIMD_BYTES)));
typedef int64_t simd_signed64 __attribute__((vector_size(SIMD_BYTES)));
typedef float simd_float __attribute__((vector_size(SIMD_BYTES)));
typedef uint64_t simd_memory
    __attribute__((vector_size(SIMD_BYTES), aligned(1), may_alias));
typedef uint64_t simd_block
    __attribute__((vector_size(SIMD_BYTES), may_alias)); /* aligned */
typedef uint32_t simd_memory32 __attribute__((aligned(1), may_alias));

#define SIMD_WORDS (SIMD_BYTES / 8)  /* lanes of 64 bits */
#define SIMD_HALVES (SIMD_BYTES / 4) /* of 32 bits */

/* The numbers of lanes of 32 and of 16 bits, these modulo 16. */
#if SIMD_BYTES == 16
#define SIMD_LANES32 0, 1, 2, 3
#define SIMD_LANES16 SIMD_LANES32, 4, 5, 6, 7
#elif SIMD_BYTES == 32
#define SIMD_LANES32 0, 1, 2, 3, 4, 5, 6, 7
#define SIMD_LANES16 SIMD_LANES32, 8, 9, 10, 11, 12, 13, 14, 15
#else
#define SIMD_LANES32 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define SIMD_LANES16 SIMD_LANES32, SIMD_LANES32
#endif

/* ---- Memory -------------------------------------------------------------- */

SIMD_INLINE simd64 simd_load(const void *p)
{
    return *(const simd_memory *)p;
}

SIMD_INLINE void simd_store(void *p, simd64 x)
{
    *(simd_memory *)p = x;
}

/* The first n lanes of 32 bits, or all if there are no more; the others are
 * zero and are not touched. */
#if defined(SIMD_AVX2)
#define SIMD_FIRST(n)                                                          \
    _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n)),                            \
                       _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0))
#endif

SIMD_INLINE simd64 simd_load_some(const void *p, size_t n)
{
    if (n >= SIMD_HALVES)
        return simd_load(p);
#if defined(SIMD_AVX512)
    return (simd64)_mm512_maskz_loadu_epi32((__mmask16)((1u << n) - 1), p);
#elif defined(SIMD_AVX2)
    return (simd64)_mm256_maskload_epi32(p, SIMD_FIRST(n));
#else
    const simd_memory32 *from = p;
    simd32 x = {0};

    SIMD_UNROLL
    for (size_t i = 0; i < SIMD_HALVES - 1; i++)
        x[i] = i < n ? from[i] : 0;
    return (simd64)x;
#endif
}

SIMD_INLINE void simd_store_some(void *p, simd64 x, size_t n)
{
    if (n >= SIMD_HALVES) {
        simd_store(p, x);
        return;
    }
#if defined(SIMD_AVX512)
    _mm512_mask_storeu_epi32(p, (__mmask16)((1u << n) - 1), (__m512i)x);
#elif defined(SIMD_AVX2)
    _mm256_maskstore_epi32(p, SIMD_FIRST(n), (__m256i)x);
#else
    simd_memory32 *to = p;

    SIMD_UNROLL
    for (size_t i = 0; i < SIMD_HALVES - 1; i++)
        if (i < n)
            to[i] = ((simd32)x)[i];
#endif
}

#undef SIMD_FIRST

/* ---- Bit by bit ---------------------------------------------------------- */

/* a where mask is ones, b where it is zeros. */
SIMD_INLINE simd64 simd_select(simd64 mask, simd64 a, simd64 b)
{
#if defined(SIMD_AVX512)
    return (simd64)_mm512_ternarylogic_epi64((__m512i)mask, (__m512i)a,
                                             (__m512i)b, 0xca);
#elif defined(SIMD_AVX2)
    return (simd64)_mm256_blendv_epi8((__m256i)b, (__m256i)a, (__m256i)mask);
#else
    return b ^ (mask & (a ^ b));
#endif
}

/* The low halves of a's words and the high ones of b's. */
SIMD_INLINE simd64 simd_mix32(simd64 a, simd64 b)
{
#if defined(SIMD_AVX2)
    return (simd64)_mm256_blend_epi32((__m256i)a, (__m256i)b, 0xaa);
#else
    return (a & UINT32_MAX) | (b & ~(uint64_t)UINT32_MAX);
#endif
}

/* The majority of three bits. */
SIMD_INLINE simd64 simd_most3(simd64 a, simd64 b, simd64 c)
{
#if defined(SIMD_AVX512)
    return (simd64)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c,
                                             0xe8);
#else
    return (a & b) | (c & (a | b));
#endif
}

/* A full adder in each bit: *sum + a + b = new *sum + 2 * result. */
SIMD_INLINE simd64 simd_add3(simd64 *sum, simd64 a, simd64 b)
{
#if defined(SIMD_AVX512)
    simd64 carry = simd_most3(*sum, a, b);

    *sum = (simd64)_mm512_ternarylogic_epi64((__m512i)*sum, (__m512i)a,
                                             (__m512i)b, 0x96);
#elif defined(SIMD_AVX2)
    simd64 half = *sum ^ a, carry = (*sum & a) | (half & b);

    *sum = half ^ b;
#else
    simd64 half = a ^ b, carry = a ^ (half & (*sum ^ a));

    *sum ^= half;
#endif
    return carry;
}

/* The ones in each byte. */
SIMD_INLINE simd64 simd_ones8(simd64 x)
{
#if defined(SIMD_AVX2)
    const __m256i table =
        _mm256_set_epi64x(0x0403030203020201, 0x0302020102010100,
                          0x0403030203020201, 0x0302020102010100);
    const simd64 half = (simd64){0} + 0x0f0f0f0f0f0f0f0f;

    return (simd64)_mm256_add_epi8(
        _mm256_shuffle_epi8(table, (__m256i)(x & half)),
        _mm256_shuffle_epi8(table, (__m256i)(x >> 4 & half)));
#elif SIMD_BYTES == 16 && defined(__aarch64__)
    return (simd64)vcntq_u8((uint8x16_t)x);
#else
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
#endif
}

/* The sums of eight bytes each. */
SIMD_INLINE simd64 simd_sum8(simd64 x)
{
#if defined(SIMD_AVX2)
    return (simd64)_mm256_sad_epu8((__m256i)x, _mm256_setzero_si256());
#elif SIMD_BYTES == 16 && defined(__SSE2__)
    return (simd64)_mm_sad_epu8((__m128i)x, _mm_setzero_si128());
#else
    x = (x & 0x00ff00ff00ff00ff) + (x >> 8 & 0x00ff00ff00ff00ff);
    x += x >> 16;
    return (x + (x >> 32)) & 0xffff;
#endif
}

/* The ones in each word. */
SIMD_INLINE simd64 simd_ones64(simd64 x)
{
#if defined(SIMD_AVX512)
    return (simd64)_mm512_popcnt_epi64((__m512i)x);
#else
    return simd_sum8(simd_ones8(x));
#endif
}

/* ---- Arithmetic ---------------------------------------------------------- */

/* The products of the low halves of words. */
SIMD_INLINE simd64 simd_mul32(simd64 a, simd64 b)
{
#if defined(SIMD_AVX512)
    return (simd64)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(SIMD_AVX2)
    return (simd64)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif SIMD_BYTES == 16 && defined(__SSE2__)
    return (simd64)_mm_mul_epu32((__m128i)a, (__m128i)b);
#elif SIMD_BYTES == 16 && defined(__aarch64__)
    return (simd64)vmull_u32(vmovn_u64((uint64x2_t)a),
                             vmovn_u64((uint64x2_t)b));
#else
    return (a & UINT32_MAX) * (b & UINT32_MAX);
#endif
}

/* x, about which the compiler knows nothing: of a factor of simd_mul32 that it
 * knows to be short, clang makes a product of whole words. */
SIMD_INLINE simd64 simd_hide(simd64 x)
{
#if defined(__x86_64__) &&                                                     \
    (SIMD_BYTES == 16 || defined(SIMD_AVX2) || defined(SIMD_AVX512))
    __asm__("" : "+x"(x));
#endif
    return x;
}

/* Ones where a < b. */
SIMD_INLINE simd64 simd_less64(simd64 a, simd64 b)
{
#if defined(SIMD_AVX512) || defined(SIMD_AVX2) || defined(__aarch64__)
    return (simd64)(a < b);
#else
    return (simd64)((simd_signed64)((~a & b) | ((~a | b) & (a - b))) >> 63);
#endif
}

/* Ones where an odd number of the low 32 bits is set. */
SIMD_INLINE simd64 simd_odd64(simd64 x)
{
#if defined(SIMD_AVX512)
    x = (simd64)_mm512_popcnt_epi64((__m512i)(x & UINT32_MAX));
#else
    for (int half = 16; half > 0; half /= 2)
        x ^= x >> half;
#endif
    return 0 - (x & 1);
}

SIMD_INLINE simd32 simd_rotate32(simd32 x, int bits)
{
#if defined(SIMD_AVX2)
    const __m256i by16 =
        _mm256_set_epi64x(0x0d0c0f0e09080b0a, 0x0504070601000302,
                          0x0d0c0f0e09080b0a, 0x0504070601000302);
    const __m256i by8 =
        _mm256_set_epi64x(0x0e0d0c0f0a09080b, 0x0605040702010003,
                          0x0e0d0c0f0a09080b, 0x0605040702010003);

    /* Rotations by whole bytes are one shuffle. */
    if (bits == 16)
        return (simd32)_mm256_shuffle_epi8((__m256i)x, by16);
    if (bits == 8)
        return (simd32)_mm256_shuffle_epi8((__m256i)x, by8);
#endif
    return x << bits | x >> (32 - bits);
}

/* ---- Order --------------------------------------------------------------- */

/* Two vectors are woven within each 16 bytes, which is one instruction
 * everywhere: low takes the lower halves by turns, high the upper ones, even
 * and odd every second word of a, then of b. */
#if SIMD_BYTES == 16
#define SIMD_WEAVE64(k) k, 2 + k
#define SIMD_WEAVE32(k) k, 4 + k, 1 + k, 5 + k
#define SIMD_EACH32(k) k, 2 + k, 4 + k, 6 + k
#define SIMD_DEAL64 0, 1
#define SIMD_COLLECT64 0, 1
#define SIMD_COLLECT32 0, 1, 2, 3
#elif SIMD_BYTES == 32
#define SIMD_WEAVE64(k) k, 4 + k, 2 + k, 6 + k
#define SIMD_WEAVE32(k) k, 8 + k, 1 + k, 9 + k, 4 + k, 12 + k, 5 + k, 13 + k
#define SIMD_EACH32(k) k, 2 + k, 8 + k, 10 + k, 4 + k, 6 + k, 12 + k, 14 + k
#define SIMD_DEAL64 0, 2, 1, 3
#define SIMD_COLLECT64 0, 2, 1, 3
#define SIMD_COLLECT32 0, 4, 1, 5, 2, 6, 3, 7
#else
#define SIMD_WEAVE64(k) k, 8 + k, 2 + k, 10 + k, 4 + k, 12 + k, 6 + k, 14 + k
#define SIMD_WEAVE32(k)                                                        \
    k, 16 + k, 1 + k, 17 + k, 4 + k, 20 + k, 5 + k, 21 + k, 8 + k, 24 + k,     \
        9 + k, 25 + k, 12 + k, 28 + k, 13 + k, 29 + k
#define SIMD_EACH32(k)                                                         \
    k, 2 + k, 16 + k, 18 + k, 4 + k, 6 + k, 20 + k, 22 + k, 8 + k, 10 + k,     \
        24 + k, 26 + k, 12 + k, 14 + k, 28 + k, 30 + k
#define SIMD_DEAL64 0, 4, 1, 5, 2, 6, 3, 7
#define SIMD_COLLECT64 0, 2, 4, 6, 1, 3, 5, 7
#define SIMD_COLLECT32 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15
#endif

SIMD_INLINE simd32 simd_low32(simd32 a, simd32 b)
{
    return __builtin_shufflevector(a, b, SIMD_WEAVE32(0));
}

SIMD_INLINE simd32 simd_high32(simd32 a, simd32 b)
{
    return __builtin_shufflevector(a, b, SIMD_WEAVE32(2));
}

SIMD_INLINE simd64 simd_low64(simd64 a, simd64 b)
{
    return __builtin_shufflevector(a, b, SIMD_WEAVE64(0));
}

SIMD_INLINE simd64 simd_high64(simd64 a, simd64 b)
{
    return __builtin_shufflevector(a, b, SIMD_WEAVE64(1));
}

/* gcc finds the instruction for floats only; none is computed with. */
SIMD_INLINE simd32 simd_even32(simd64 a, simd64 b)
{
    return (simd32)__builtin_shufflevector((simd_float)a, (simd_float)b,
                                           SIMD_EACH32(0));
}

SIMD_INLINE simd32 simd_odd32(simd64 a, simd64 b)
{
    return (simd32)__builtin_shufflevector((simd_float)a, (simd_float)b,
                                           SIMD_EACH32(1));
}

/* Consecutive words in the order in which low64 or high64 leave those of two
 * vectors. */
SIMD_INLINE simd64 simd_deal64(simd64 x)
{
    return __builtin_shufflevector(x, x, SIMD_DEAL64);
}

/* Back to the order of memory: of even32 or odd32 of two vectors as they were
 * loaded, and of even32 of what low64 gave. */
SIMD_INLINE simd32 simd_collect64(simd32 x)
{
    return (simd32)__builtin_shufflevector((simd64)x, (simd64)x,
                                           SIMD_COLLECT64);
}

SIMD_INLINE simd32 simd_collect32(simd32 x)
{
    return __builtin_shufflevector(x, x, SIMD_COLLECT32);
}

#undef SIMD_WEAVE64
#undef SIMD_WEAVE32
#undef SIMD_EACH32
#undef SIMD_DEAL64
#undef SIMD_COLLECT64
#undef SIMD_COLLECT32

/* Bit i: the highest bit of lane i. */
SIMD_INLINE uint32_t simd_mask32(simd32 x)
{
#if defined(SIMD_AVX512)
    return _mm512_movepi32_mask((__m512i)x);
#elif defined(SIMD_AVX2)
    return (uint32_t)_mm256_movemask_ps((__m256)x);
#elif SIMD_BYTES == 16 && defined(__SSE2__)
    return (uint32_t)_mm_movemask_ps((__m128)x);
#else
    uint32_t mask = 0;

    for (unsigned i = 0; i < SIMD_HALVES; i++)
        mask |= x[i] >> 31 << i;
    return mask;
#endif
}

/* ---- Wider lanes --------------------------------------------------------- */

/* Lane i of 16 bits is ones if bit i is. */
SIMD_INLINE simd16 simd_spread16(uint32_t bits)
{
#if defined(SIMD_AVX512)
    return (simd16)_mm512_movm_epi16(bits);
#else
    const simd16 bit = ((simd16){0} + 1) << (simd16){SIMD_LANES16};
    simd16 x = (simd16){0} + (uint16_t)bits;

#if SIMD_BYTES >= 64
    for (int i = 16; i < 32; i++)
        x[i] = (uint16_t)(bits >> 16);
#endif
    return (simd16)((x & bit) == bit);
#endif
}

/* Byte i is ones if bit i is: each eight bytes get copies of a byte of bits, of
 * which byte i keeps bit i. */
SIMD_INLINE simd8 simd_spread8(uint64_t bits)
{
#if defined(SIMD_AVX512)
    return (simd8)_mm512_movm_epi8(bits);
#else
    const simd64 bit = (simd64){0} + 0x8040201008040201;
#if defined(SIMD_AVX2)
    const __m256i places = _mm256_set_epi64x(
        0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
    simd64 x =
        (simd64)_mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), places);
#elif SIMD_BYTES == 16 && defined(__SSE2__)
    __m128i twice = _mm_cvtsi32_si128((int)bits);

    twice = _mm_unpacklo_epi8(twice, twice);
    simd64 x =
        (simd64)_mm_shuffle_epi32(_mm_shufflelo_epi16(twice, 0x50), 0x50);
#else
    simd64 x;

    for (size_t i = 0; i < SIMD_WORDS; i++)
        x[i] = (bits >> 8 * i & 0xff) * 0x0101010101010101;
#endif
    return (simd8)((simd8)(x & bit) == (simd8)bit);
#endif
}

/* As many numbers of 16 bits as there are words. */
SIMD_INLINE simd64 simd_widen16(const uint16_t *p)
{
#if defined(SIMD_AVX512)
    return (simd64)_mm512_cvtepu16_epi64(_mm_loadu_si128((const void *)p));
#elif defined(SIMD_AVX2)
    return (simd64)_mm256_cvtepu16_epi64(_mm_loadl_epi64((const void *)p));
#else
    simd64 x = {0};

    for (size_t i = 0; i < SIMD_WORDS; i++)
        x[i] = p[i];
    return x;
#endif
}

/* ---- Tables -------------------------------------------------------------- */

/* Entries of a row of sixteen numbers, by a number below 16 in each lane; where
 * there is no instruction for it, memory serves as well. */
#if defined(SIMD_AVX2)
#define SIMD_LOOKUP
SIMD_INLINE simd32 simd_lookup(const uint32_t *row, simd32 at)
{
    __m256i below = (__m256i)simd_load(row),
            above = (__m256i)simd_load(row + 8);

    below = _mm256_permutevar8x32_epi32(below, (__m256i)at);
    above = _mm256_permutevar8x32_epi32(above, (__m256i)at);
    return (simd32)_mm256_blendv_ps((__m256)below, (__m256)above,
                                    (__m256)(at << 28));
}
#endif

/* Add the words of a table at the places given: the first of them to sum[0]. */
SIMD_INLINE void simd_gather(simd64 *sum, const int64_t *table, simd32 at)
{
#if defined(SIMD_AVX2)
    const long long *base = (const long long *)(const void *)table;
    __m256i places = (__m256i)at;

    sum[0] +=
        (simd64)_mm256_i32gather_epi64(base, _mm256_castsi256_si128(places), 8);
    sum[1] += (simd64)_mm256_i32gather_epi64(
        base, _mm256_extracti128_si256(places, 1), 8);
#else
    uint64_t found[SIMD_HALVES];
    uint32_t place[SIMD_HALVES];

    simd_store(place, (simd64)at);
    for (size_t i = 0; i < SIMD_HALVES; i++)
        found[i] = (uint64_t)table[place[i]];
    sum[0] += simd_load(found);
    sum[1] += simd_load(found + SIMD_WORDS);
#endif
}

#endif
