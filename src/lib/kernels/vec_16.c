/*
 * vec_16.c - the kernels in vectors of 16 bytes: SSE2, NEON or wasm's by what
 * the compiler has, and words elsewhere. The order of halves in a word is that
 * of little-endian machines.
 */
#include "lib/kernels/levels.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#ifndef SIMD_BYTES /* a test tries the widest logic on any processor */
#define SIMD_BYTES 16
#endif
#define SIMD_LEVEL portable
#include "lib/kernels/all_vec.h"

#endif
