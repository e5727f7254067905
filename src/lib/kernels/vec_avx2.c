/* vec_avx2.c - the kernels in vectors of 32 bytes. */
#include "lib/kernels/levels.h"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(                                                  \
    __attribute__((target("sse4.2,avx,avx2,bmi,bmi2,popcnt"))),                \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("sse4.2,avx,avx2,bmi,bmi2,popcnt")
#endif

#define SIMD_AVX2
#define SIMD_BYTES 32
#define SIMD_LEVEL avx2
#include "lib/kernels/all_vec.h"
#undef SIMD_AVX2

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
