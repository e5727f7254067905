/* hadamard.c - a batch of Hadamard response, any machine; see hadamard.h. */
#include "lib/kernels/hadamard.h"

#include "lib/kernels/internal.h"

size_t hsy_hadamard_plain(uint32_t *out, uint32_t *redo, const uint64_t *codes,
                          const uint64_t *coins, size_t n,
                          const struct kernel_hadamard *h)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        out[i] = hadamard_report(codes[i], coins[2 * i], coins[2 * i + 1], h);
        if (ct_public(ct_less(h->last, coins[2 * i])) != 0)
            redo[count++] = (uint32_t)i;
    }
    return count;
}
