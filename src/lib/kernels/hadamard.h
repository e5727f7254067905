/*
 * hadamard.h - one randomized report of Hadamard response, by arithmetic only.
 *
 * Where a value stands is a public bijection from [0, d) into blocks and
 * indices 1 .. b-1: row x / B (from the left) gives the index, and within a row
 * the B values go to the B blocks in an order that is turned by a public hash
 * of the row. So values of one row never share a block, and two of different
 * rows share one with probability 1/B over the hashes: blocks hold the same
 * number of values, and the same share of people on average, however the shares
 * lie. B is a power of two, so there is no division. docs/mechanisms/hr.md, 1
 */
#ifndef LIB_KERNELS_HADAMARD_H
#define LIB_KERNELS_HADAMARD_H

#include "lib/bits/ct.h"
#include "lib/kernels/kernels.h"

/* The block and index of a value as one number, block * b + index. */
static inline uint64_t hadamard_item(uint64_t code,
                                     const struct kernel_hadamard *h)
{
    uint64_t row = code >> h->block_bits;
    uint64_t hash = (uint32_t)((uint32_t)row * h->a + h->c);
    uint64_t turn = hash >> (32 - h->block_bits);
    uint64_t block = (code ^ turn) & (((uint64_t)1 << h->block_bits) - 1);

    return block << h->index_bits | (row + 1);
}

/* 1 if x, below 2^32, has an odd number of ones. */
static inline uint64_t hadamard_parity(uint64_t x)
{
    x ^= x >> 16;
    x ^= x >> 8;
    x ^= x >> 4;
    x ^= x >> 2;
    return (x ^ x >> 1) & 1;
}

/*
 * The output among the item's own that a uniform output stands for: in the
 * item's block, at the same place u if parity(i & u) is even; else the lowest
 * bit of i is flipped in u, which makes it even. Each own place has two such
 * u, so the result is uniform.
 */
static inline uint64_t hadamard_own(uint64_t item, uint64_t uniform,
                                    unsigned index_bits)
{
    const uint64_t mask = ((uint64_t)1 << index_bits) - 1;
    uint64_t i = item & mask, u = uniform & mask;
    uint64_t odd = 0 - hadamard_parity(i & u);

    return (item & ~mask) | (u ^ (ct_hide(odd) & i & (0 - i)));
}

/* The report for a value from its coin and a uniform word. The uniform output
 * serves both as the blanket's and to choose an own one: only one of the two
 * is used, by a coin that is independent of it. */
static inline uint32_t hadamard_report(uint64_t code, uint64_t coin,
                                       uint64_t word,
                                       const struct kernel_hadamard *h)
{
    uint64_t uniform = word >> (64 - h->block_bits - h->index_bits);
    uint64_t own = hadamard_own(hadamard_item(code, h), uniform, h->index_bits);

    return (uint32_t)ct_select(ct_less(coin, h->blanket), uniform, own);
}

#endif
