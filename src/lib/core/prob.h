/*
 * prob.h - exact coins.
 *
 * A coin of probability a/b is one 64-bit word U: with c = floor(2^64 / b) the
 * word is taken if U < c b (else drawn anew; probability below b / 2^64, and
 * independent of the outcome) and the event is U < c a. Given that U is taken
 * it is uniform below c b, so the event has probability exactly a / b.
 */
#ifndef LIB_CORE_PROB_H
#define LIB_CORE_PROB_H

#include "hearsay.h"
#include "lib/bits/ct.h"

/* The public part of a coin of denominator b. */
struct prob_base {
    uint64_t unit; /* c; for b = 1 it is 2^64 - 1, which serves as well */
    uint64_t last; /* c b - 1: the largest word taken */
};

/* 1 <= b <= 2^63. */
struct prob_base hsy_prob_base(uint64_t b);

/* A word uniform below c b, one eight-byte draw a try. */
hsy_status hsy_prob_word(uint64_t *word, const struct prob_base *base,
                         hsy_rng *rng);

/* All ones if such a word means the event of probability a / b, 0 <= a < b,
 * else zero. Time does not depend on a: it may be chosen by a truth. */
static inline uint64_t prob_event(uint64_t word, const struct prob_base *base,
                                  uint64_t a)
{
    return ct_less(word, base->unit * a); /* below c b, so no wrap */
}

/* 2^64 mod bound, what hsy_prob_below rejects. bound >= 1. */
uint64_t hsy_prob_excess(uint64_t bound);

/* Uniform below bound [Lemire 2019, Alg. 5]; excess = hsy_prob_excess(bound).
 */
hsy_status hsy_prob_below(uint64_t *out, uint64_t bound, uint64_t excess,
                          hsy_rng *rng);

#endif
