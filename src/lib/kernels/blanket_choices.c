/*
 * blanket_choices.c - a batch of "blanket or own value" choices, any machine.
 *
 * The uniform value is the high half of U * bound, redrawn if the low half is
 * below 2^64 mod bound [Lemire19]. Both branches are computed and one is taken
 * by a mask. Whether a coin has to be drawn anew depends on neither the own
 * value nor the outcome, so it may show.
 */
#include "lib/bits/ct.h"
#include "lib/kernels/internal.h"

/* U * bound as high and low word, bound below 2^32. */
static inline uint64_t blanket_multiply(uint64_t *low, uint64_t u,
                                        uint64_t bound)
{
    uint64_t right = (uint32_t)u * bound;
    uint64_t left = (u >> 32) * bound + (right >> 32);

    *low = left << 32 | (uint32_t)right;
    return left >> 32;
}

size_t hsy_blanket_choices_plain(uint32_t *out, uint32_t *redo,
                                 const uint32_t *own, const uint64_t *coins,
                                 size_t n, const struct kernel_choice *choice)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t low, coin = coins[2 * i];
        uint64_t value =
            blanket_multiply(&low, coins[2 * i + 1], choice->bound);
        uint64_t blanket = ct_less(coin, choice->blanket);

        out[i] = (uint32_t)ct_select(blanket, value, own[i]);
        if (ct_public(ct_less(choice->last, coin) |
                      ct_less(low, choice->excess)) != 0)
            redo[count++] = (uint32_t)i;
    }
    return count;
}
