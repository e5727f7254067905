/* cohort_vec.h - counting reports by cohort, as many bits at a time as a vector
 * has bytes; see cohort.h. */
#include "lib/kernels/simd.h"

/* Whole stores: what a masked one leaves cannot be forwarded to the load of the
 * next report of the same cohort. */
SIMD_INLINE void K(cohort_add)(uint8_t *counters, uint64_t bits)
{
    simd_block *at = (simd_block *)(void *)counters;

    SIMD_UNROLL
    for (unsigned k = 0; k < 64 / SIMD_BYTES; k++)
        at[k] =
            (simd64)((simd8)at[k] - simd_spread8(bits >> SIMD_BYTES * k % 64));
}

void K(hsy_cohorts)(int64_t *cells, uint64_t *strata, const uint8_t *reports,
                    size_t n, size_t stride, uint32_t k, uint32_t m)
{
    cohort_count(cells, strata, reports, n, stride, k, m, K(cohort_add));
}
