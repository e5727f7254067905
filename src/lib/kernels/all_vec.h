/* all_vec.h - every kernel's body for the level that includes it. No guard:
 * one file of the amalgamation includes it once a level. */
#include "lib/kernels/simd.h"

#include "lib/kernels/bernoulli_bits_vec.h"
#include "lib/kernels/bit_counts_vec.h"
#include "lib/kernels/chacha20_vec.h"
#include "lib/kernels/cohort_vec.h"
#include "lib/kernels/hadamard_vec.h"
#include "lib/kernels/line_sums_vec.h"
#include "lib/kernels/orthogonal_points_vec.h"
#include "lib/kernels/wht_vec.h"

/* These two have bodies of their own for AVX-512: *_avx512.c. */
#ifndef SIMD_AVX512
#include "lib/kernels/blanket_choices_vec.h"
#include "lib/kernels/lh_decode_vec.h"
#endif

#undef LIB_KERNELS_SIMD_H
#undef SIMD_BYTES
#undef SIMD_LEVEL
#undef SIMD_WORDS
#undef SIMD_HALVES
#undef SIMD_LANES32
#undef SIMD_LANES16
#undef SIMD_LOOKUP
