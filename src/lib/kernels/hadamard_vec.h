/* hadamard_vec.h - a batch of Hadamard response in vectors; see hadamard.h. */
#include "lib/kernels/simd.h"

/* Numbers in a vector of 32-bit lanes. */
#define HADAMARD_SOME SIMD_HALVES

/* hadamard_item in 64-bit lanes: rows are below 2^22. */
SIMD_INLINE simd64 K(hadamard_items)(simd64 code,
                                     const struct kernel_hadamard *h)
{
    simd64 row = code >> h->block_bits;
    simd64 hash = simd_mul32(row, (simd64){0} + h->a) + h->c;
    simd64 turn = (hash & UINT32_MAX) >> (32 - h->block_bits);
    simd64 block = (code ^ turn) & (((uint64_t)1 << h->block_bits) - 1);

    return block << h->index_bits | (row + 1);
}

/* The uniform outputs, or own ones, of a vector of codes; *again: ones where a
 * coin has to be drawn anew. All as low64 leaves pairs of coins. */
SIMD_INLINE simd64 K(hadamard_words)(simd64 *again, const uint64_t *codes,
                                     const uint64_t *coins,
                                     const struct kernel_hadamard *h)
{
    const simd64 a = simd_load(coins), b = simd_load(coins + SIMD_WORDS);
    const simd64 mask = (simd64){0} + (((uint64_t)1 << h->index_bits) - 1);
    simd64 coin = simd_low64(a, b);
    simd64 uniform = simd_high64(a, b) >> (64 - h->block_bits - h->index_bits);
    simd64 item = K(hadamard_items)(simd_deal64(simd_load(codes)), h);
    simd64 i = item & mask, u = uniform & mask;

    u ^= simd_odd64(i & u) & i & (0 - i);
    *again = simd_less64((simd64){0} + h->last, coin);
    return simd_select(simd_less64(coin, (simd64){0} + h->blanket), uniform,
                       (item & ~mask) | u);
}

size_t K(hsy_hadamard)(uint32_t *out, uint32_t *redo, const uint64_t *codes,
                       const uint64_t *coins, size_t n,
                       const struct kernel_hadamard *h)
{
    const struct kernel_hadamard c = *h;
    size_t count = 0, i = 0, more;

    for (; n - i >= HADAMARD_SOME; i += HADAMARD_SOME) {
        simd64 s, t, a, b;
        uint64_t again;

        a = K(hadamard_words)(&s, codes + i, coins + 2 * i, &c);
        b = K(hadamard_words)(&t, codes + i + SIMD_WORDS,
                              coins + 2 * (i + SIMD_WORDS), &c);
        simd_store(out + i, (simd64)simd_collect32(simd_even32(a, b)));
        again = ct_public(simd_mask32(simd_collect32(simd_even32(s, t))));
        for (; again != 0; again &= again - 1)
            redo[count++] = (uint32_t)i + (uint32_t)__builtin_ctzll(again);
    }
    more = hsy_hadamard_plain(out + i, redo + count, codes + i, coins + 2 * i,
                              n - i, h);
    for (size_t k = 0; k < more; k++)
        redo[count + k] += (uint32_t)i;
    return count + more;
}

#undef HADAMARD_SOME
