/*
 * permute.c - Fisher and Yates with exact coins.
 *
 * Law. Step i, from n - 1 down to 1, exchanges element i with one of the i + 1
 * elements 0..i, each chosen with probability exactly 1/(i + 1), independently
 * of the other steps. After it element i is never touched again. There are
 * n (n - 1) ... 2 = n! sequences of choices, each with probability 1/n!, and no
 * two of them give the same order: the last element tells the first choice, and
 * with that exchange undone the last but one tells the second, and so on. So
 * each order comes from just one sequence and has probability 1/n!.
 *
 * Nothing here looks at what is permuted, so the order cannot depend on it.
 */
#include "server/shuffle/permute.h"

#include "lib/bits/draw.h"
#include "lib/bits/u128.h"

/* Uniform below bound [Lemire 2019, Alg. 5]: of the 2^64 words, bound times
 * floor(2^64 / bound) are taken, as many for each value. */
static hsy_status permute_below(uint32_t *out, uint32_t bound, hsy_rng *rng)
{
    const uint64_t excess = (0 - (uint64_t)bound) % bound; /* 2^64 mod bound */
    uint64_t word;
    hsy_status st;

    do
        st = draw_words(&word, 1, rng);
    while (st == HSY_OK && word * bound < excess);
    if (st == HSY_OK)
        *out = (uint32_t)((hsy_u128)word * bound >> 64);
    return st;
}

hsy_status permute(uint32_t *place, uint32_t n, hsy_rng *rng)
{
    hsy_status st = HSY_OK;

    for (uint32_t i = 0; i < n; i++)
        place[i] = i;
    for (uint32_t i = n; st == HSY_OK && i-- > 1;) {
        uint32_t with = 0, had = place[i];

        st = permute_below(&with, i + 1, rng);
        if (st != HSY_OK)
            break;
        place[i] = place[with];
        place[with] = had;
    }
    return st;
}
