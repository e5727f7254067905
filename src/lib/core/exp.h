/*
 * exp.h - e^epsilon in 128-bit integer arithmetic, with proved bounds.
 *
 * Epsilon comes in half nano-epsilon, so that epsilon / 2 is exact too:
 * x = half_nano / (2 * 10^9), 0 <= x <= 44. The bound: exp.c, Lemma 1.
 */
#ifndef LIB_CORE_EXP_H
#define LIB_CORE_EXP_H

#include <stdbool.h>
#include <stdint.h>

/* floor(e^x * 2^shift); never above it. The caller sees that e^x * 2^shift
 * stays below 2^63, as it does with hsy_exp_shift. */
uint64_t hsy_exp_weight(uint64_t half_nano, unsigned shift);

/* The number of bits of floor(e^x). */
unsigned hsy_exp_bits(uint64_t half_nano);

/* The least shift for which the weight has 45 bits or more: then rounding it
 * down costs less than 2^-44 of epsilon. */
unsigned hsy_exp_shift(uint64_t half_nano);

/* ceil(2^64 / (e^x + 1)); never below it. */
uint64_t hsy_exp_flip(uint64_t half_nano);

/* Whether num / den <= e^x for certain. den > 0. */
bool hsy_exp_covers(uint64_t half_nano, uint64_t num, uint64_t den);

/* The smallest nano-epsilon, of those a scheme may have, whose e^epsilon is at
 * least num / den for certain; 0 if none is. den > 0. */
uint64_t hsy_exp_cover(uint64_t num, uint64_t den);

/* Whether e^x <= n for certain. */
bool hsy_exp_within(uint64_t half_nano, uint64_t n);

#endif
