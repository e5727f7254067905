/*
 * pool.h - public pools: of hash functions for local hashing, and of sequences
 * of random words for what else is drawn in public.
 *
 * Function j of a pool is a pair of random linear functions, reduced to [0, g)
 * by multiply-high. Narrow: ((a x + b) mod 2^32) for codes below 2^17. Wide:
 * the top 32 bits of (a x_low + c x_high + b mod 2^64), for any 64-bit code.
 * The top 16 bits of a narrow value and all 32 of a wide one are exactly
 * pairwise independent over random coefficients [Dietzfelbinger96], so two
 * codes collide with probability 1/g up to g / 2^32. Privacy depends on none of
 * it.
 */
#ifndef LIB_KERNELS_POOL_H
#define LIB_KERNELS_POOL_H

#include <stddef.h>
#include <stdint.h>

/* Codes below this use the narrow family. */
#define HSY_POOL_NARROW (1u << 17)

struct pool_hash {
    uint64_t a, b, c; /* narrow uses the low 32 bits of a and b */
};

/* Function number j of the pool named seed. */
struct pool_hash hsy_pool_at(uint64_t seed, uint32_t j);

/* The first n words of sequence number j of the pool named seed. */
void hsy_pool_words(uint64_t *words, size_t n, uint64_t seed, uint32_t j);

/* The 32-bit value before the reduction. Constant time in code. */
static inline uint32_t pool_narrow(const struct pool_hash *h, uint64_t code)
{
    return (uint32_t)h->a * (uint32_t)code + (uint32_t)h->b;
}

static inline uint32_t pool_wide(const struct pool_hash *h, uint64_t code)
{
    return (uint32_t)((h->a * (uint32_t)code + h->c * (code >> 32) + h->b) >>
                      32);
}

/*
 * A public bijection of codes without order in it [Steele14]. Linear functions
 * are pairwise independent, but of codes in arithmetic progression collisions
 * come together: who needs more than pairs scatters indices first, as a string
 * is by its hash. Constant time in code.
 */
static inline uint64_t pool_scatter(uint64_t code)
{
    code += 0x9e3779b97f4a7c15;
    code = (code ^ code >> 30) * 0xbf58476d1ce4e5b9;
    code = (code ^ code >> 27) * 0x94d049bb133111eb;
    return code ^ code >> 31;
}

static inline uint32_t pool_reduce(uint32_t value, uint32_t g)
{
    return (uint32_t)(((uint64_t)value * g) >> 32);
}

#endif
