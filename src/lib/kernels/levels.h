/*
 * levels.h - what every level's file includes before it opens the instructions
 * of its processor: the frames of the kernels, and the intrinsics.
 */
#ifndef LIB_KERNELS_LEVELS_H
#define LIB_KERNELS_LEVELS_H

#include "lib/bits/bytes.h"
#include "lib/kernels/bernoulli_bits.h"
#include "lib/kernels/bit_counts.h"
#include "lib/kernels/chacha20.h"
#include "lib/kernels/cohort.h"
#include "lib/kernels/hadamard.h"
#include "lib/kernels/internal.h"
#include "lib/kernels/lh_decode.h"
#include "lib/kernels/line_sums.h"
#include "lib/kernels/wht.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#endif
