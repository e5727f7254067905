/* vec_avx512.c - the kernels in vectors of 64 bytes. */
#include "lib/kernels/levels.h"

#if defined(__x86_64__)

HSY_TARGET_OPEN(HSY_AVX512)

#define SIMD_AVX512
#define SIMD_BYTES 64
#define SIMD_LEVEL avx512
#include "lib/kernels/all_vec.h"
#undef SIMD_AVX512

HSY_TARGET_CLOSE

#endif
