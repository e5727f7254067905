/* cohort.c - counting reports by cohort, any machine. */
#include "lib/kernels/cohort.h"

#include "lib/kernels/internal.h"

void hsy_cohorts_plain(int64_t *cells, uint64_t *strata, const uint8_t *reports,
                       size_t n, size_t stride, uint32_t k, uint32_t m)
{
    (void)m;
    for (size_t i = 0; i < n; i++, reports += stride) {
        size_t c = (size_t)cohort_of(reports, stride, k);

        for (uint32_t b = 0; b < k; b++)
            cells[c * k + b] += reports[b / 8] >> b % 8 & 1;
        strata[c]++;
    }
}
