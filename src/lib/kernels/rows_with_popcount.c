/* rows_with_popcount.c - whether rows have the ones they should; in vectors:
 * row_popcounts_vec.h. */
#include "lib/kernels/internal.h"

size_t hsy_rows_with_popcount_plain(const uint8_t *rows, size_t n, size_t bytes,
                                    uint64_t ones)
{
    for (size_t r = 0; r < n; r++, rows += bytes) {
        uint64_t sum = 0;

        for (size_t i = 0; i < 8 * bytes; i++)
            sum += rows[i / 8] >> i % 8 & 1;
        if (sum != ones)
            return r;
    }
    return n;
}
