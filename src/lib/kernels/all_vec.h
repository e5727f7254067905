/* all_vec.h - every kernel's body for the level that includes it. No guard:
 * one file of the amalgamation includes it once a level. */
#include "lib/kernels/simd.h"

#include "lib/kernels/row_popcounts_vec.h" /* what bit_counts_vec.h calls */

#include "lib/kernels/bernoulli_bits_vec.h"
#include "lib/kernels/bit_counts_vec.h"
#ifndef SIMD_AVX512 /* blanket_choices_avx512.c */
#include "lib/kernels/blanket_choices_vec.h"
#endif
#include "lib/kernels/chacha20_vec.h"
#include "lib/kernels/cohort_vec.h"
#include "lib/kernels/hadamard_vec.h"
#include "lib/kernels/line_sums_vec.h"
#include "lib/kernels/orthogonal_points_vec.h"
#include "lib/kernels/wht_vec.h"

#undef LIB_KERNELS_SIMD_H
#undef SIMD_BYTES
#undef SIMD_LEVEL
#undef SIMD_WORDS
#undef SIMD_HALVES
