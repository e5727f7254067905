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
#define simd_mul32 K(simd_mul32)

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

typedef uint32_t simd32 __attribute__((vector_size(SIMD_BYTES)));
typedef uint64_t simd64 __attribute__((vector_size(SIMD_BYTES)));
typedef int32_t simd_signed32 __attribute__((vector_size(SIMD_BYTES)));
typedef int64_t simd_signed64 __attribute__((vector_size(SIMD_BYTES)));
typedef uint64_t simd_memory
    __attribute__((vector_size(SIMD_BYTES), aligned(1), may_alias));
typedef uint32_t simd_memory32 __attribute__((aligned(1), may_alias));

#define SIMD_WORDS (SIMD_BYTES / 8)  /* lanes of 64 bits */
#define SIMD_HALVES (SIMD_BYTES / 4) /* of 32 bits */

/* ---- Memory -------------------------------------------------------------- */

SIMD_INLINE simd64 simd_load(const void *p)
{
    return *(const simd_memory *)p;
}

SIMD_INLINE void simd_store(void *p, simd64 x)
{
    *(simd_memory *)p = x;
}

/* The first n < SIMD_HALVES lanes of 32 bits; the others are zero and are not
 * touched. */
#if defined(SIMD_AVX2)
#define SIMD_FIRST(n)                                                          \
    _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n)),                            \
                       _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0))
#endif

SIMD_INLINE simd64 simd_load_some(const void *p, size_t n)
{
#if defined(SIMD_AVX512)
    return (simd64)_mm512_maskz_loadu_epi32((__mmask16)((1u << n) - 1), p);
#elif defined(SIMD_AVX2)
    return (simd64)_mm256_maskload_epi32(p, SIMD_FIRST(n));
#else
    const simd_memory32 *from = p;
    simd32 x = {0};

    for (size_t i = 0; i < n; i++)
        x[i] = from[i];
    return (simd64)x;
#endif
}

SIMD_INLINE void simd_store_some(void *p, simd64 x, size_t n)
{
#if defined(SIMD_AVX512)
    _mm512_mask_storeu_epi32(p, (__mmask16)((1u << n) - 1), (__m512i)x);
#elif defined(SIMD_AVX2)
    _mm256_maskstore_epi32(p, SIMD_FIRST(n), (__m256i)x);
#else
    simd_memory32 *to = p;

    for (size_t i = 0; i < n; i++)
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

#endif
