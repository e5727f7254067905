/*
 * pool.c - the functions of a public pool.
 *
 * The coefficients of function j are words 3j, 3j+1, 3j+2 of the sequence that
 * SplitMix64 [Steele14] gives from the mixed seed. They are public and need no
 * secrecy: everybody computes the same pool from its number.
 */
#include "lib/kernels/pool.h"

static uint64_t pool_mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Word n of the sequence: a counter in steps of 2^64 over the golden ratio,
 * mixed. */
static uint64_t pool_word(uint64_t start, uint64_t n)
{
    return pool_mix(start + (n + 1) * 0x9e3779b97f4a7c15);
}

struct pool_hash hsy_pool_at(uint64_t seed, uint32_t j)
{
    /* Seeds that follow each other must not give shifted copies of one
     * sequence, so the seed is mixed before it is counted from. */
    uint64_t start = pool_word(seed, 0), n = 3 * (uint64_t)j;
    struct pool_hash h;

    h.a = pool_word(start, n);
    h.b = pool_word(start, n + 1);
    h.c = pool_word(start, n + 2);
    return h;
}

void hsy_pool_words(uint64_t *words, size_t n, uint64_t seed, uint32_t j)
{
    uint64_t start = hsy_pool_at(seed, j).a;

    for (size_t i = 0; i < n; i++)
        words[i] = pool_word(start, i);
}
