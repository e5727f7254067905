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

/*
 * Eight bits as eight bytes of 0 or 1: copies of the byte, of which byte i
 * keeps bit i; what is not zero then is brought to bit 7 by adding 127, which
 * carries into no other byte.
 */
static inline uint64_t cohort_spread(uint64_t bits)
{
    uint64_t kept = (bits & 0xff) * 0x0101010101010101 & 0x8040201008040201;

    return (kept + 0x7f7f7f7f7f7f7f7f) >> 7 & 0x0101010101010101;
}

static inline void cohort_add_portable(uint8_t *counters, const uint8_t *report,
                                       size_t stride, uint32_t first,
                                       uint32_t width)
{
    for (uint32_t b = 0; b < width; b += 8) {
        size_t at = (first + b) / 8;
        uint64_t sum;

        if (at >= stride)
            break;
        /* Byte by byte sums stay below 256, so words add up like bytes. */
        memcpy(&sum, counters + b, sizeof sum);
        if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
            sum += __builtin_bswap64(cohort_spread(report[at]));
        else
            sum += cohort_spread(report[at]);
        memcpy(counters + b, &sum, sizeof sum);
    }
}

void hsy_cohorts_portable(int64_t *cells, uint64_t *strata,
                          const uint8_t *reports, size_t n, size_t stride,
                          uint32_t k, uint32_t m)
{
    cohort_count(cells, strata, reports, n, stride, k, m, cohort_add_portable);
}
