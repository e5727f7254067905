/* vec_avx512.c - the kernels in vectors of 64 bytes. */
#include "lib/kernels/levels.h"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(                                                  \
    __attribute__((target("sse4.2,avx,avx2,bmi,bmi2,popcnt,avx512f,avx512bw,"  \
                          "avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq"))),   \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("sse4.2,avx,avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq")
#pragma GCC target("avx512vl,avx512vbmi,avx512vpopcntdq")
#endif

#define SIMD_AVX512
#define SIMD_BYTES 64
#define SIMD_LEVEL avx512
#include "lib/kernels/all_vec.h"
#undef SIMD_AVX512

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
