/* blanket_choices_vec.h - a batch of "blanket or own value" choices in vectors,
 * with the arithmetic of blanket_choices.c. */
#include "lib/kernels/simd.h"

/* Choices as 64-bit lanes in the order in which low64 leaves pairs of coins.
 * again: ones where a coin has to be drawn anew. */
struct K(blanket_words) {
    simd64 value, blanket, again;
};

SIMD_INLINE void K(blanket_draw)(struct K(blanket_words) * to,
                                 const uint64_t *coins,
                                 const struct kernel_choice *choice,
                                 simd64 bound)
{
    const simd64 a = simd_load(coins), b = simd_load(coins + SIMD_WORDS);
    simd64 coin = simd_low64(a, b), u = simd_high64(a, b);
    simd64 right = simd_mul32(u, bound);
    simd64 left = simd_mul32(u >> 32, bound) + (right >> 32);
    simd64 low = simd_mix32(right, left << 32);

    to->value = left >> 32;
    to->blanket = simd_less64(coin, (simd64){0} + choice->blanket);
    to->again = simd_less64((simd64){0} + choice->last, coin) |
                simd_less64(low, (simd64){0} + choice->excess);
}

/* A vector of choices; the bits of those to be drawn anew. */
SIMD_INLINE uint32_t K(blanket_some)(uint32_t *out, const uint32_t *own,
                                     const uint64_t *coins,
                                     const struct kernel_choice *choice,
                                     simd64 bound)
{
    struct K(blanket_words) a, b;
    simd32 blanket, value;

    K(blanket_draw)(&a, coins, choice, bound);
    K(blanket_draw)(&b, coins + 2 * SIMD_WORDS, choice, bound);
    blanket = simd_collect32(simd_even32(a.blanket, b.blanket));
    value = simd_collect32(simd_even32(a.value, b.value));
    simd_store(out,
               simd_select((simd64)blanket, (simd64)value, simd_load(own)));
    return simd_mask32(simd_collect32(simd_even32(a.again, b.again)));
}

size_t K(hsy_blanket_choices)(uint32_t *out, uint32_t *redo,
                              const uint32_t *own, const uint64_t *coins,
                              size_t n, const struct kernel_choice *choice)
{
    const struct kernel_choice c = *choice;
    const simd64 bound = simd_hide((simd64){0} + c.bound);
    size_t count = 0, i = 0, more;

    for (; n - i >= SIMD_HALVES; i += SIMD_HALVES) {
        uint64_t again = ct_public(
            K(blanket_some)(out + i, own + i, coins + 2 * i, &c, bound));

        for (; again != 0; again &= again - 1)
            redo[count++] = (uint32_t)i + (uint32_t)__builtin_ctzll(again);
    }
    more = hsy_blanket_choices_plain(out + i, redo + count, own + i,
                                     coins + 2 * i, n - i, choice);
    for (size_t k = 0; k < more; k++)
        redo[count + k] += (uint32_t)i;
    return count + more;
}
