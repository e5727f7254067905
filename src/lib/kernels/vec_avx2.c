/* vec_avx2.c - the kernels in vectors of 32 bytes. */
#include "lib/kernels/levels.h"

#if defined(__x86_64__)

HSY_TARGET_OPEN(HSY_AVX2)

#define SIMD_AVX2
#define SIMD_BYTES 32
#define SIMD_LEVEL avx2
#include "lib/kernels/all_vec.h"
#undef SIMD_AVX2

HSY_TARGET_CLOSE

#endif
