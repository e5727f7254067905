/*
 * channel.h - the binary channel, one exact coin a bit.
 *
 *     P[1 | 1] = own / total,   P[1 | 0] = other / total.
 *
 * One 64-bit word, taken below unit * total, is compared with unit * own or
 * unit * other (prob.h); which of the two is a masked choice.
 */
#ifndef LIB_FAMILY_CHANNEL_H
#define LIB_FAMILY_CHANNEL_H

#include "lib/scheme/permanent.h"

#define CHANNEL_BLOCK 256

/* s->bits.own, other and total are set, 0 < own, other < total <= 2^63. */
void hsy_channel_resolve(hsy_scheme *s);

/* own = A, other = 2^shift, total = A + 2^shift with A = floor(e^epsilon
 * 2^shift) and the shift of hsy_exp_shift. */
void hsy_channel_by_epsilon(hsy_scheme *s);

/* Room for one block; holds truths and coins. */
struct channel_block {
    uint8_t bits[CHANNEL_BLOCK], out[CHANNEL_BLOCK];
    uint64_t words[CHANNEL_BLOCK];
    uint64_t rest[CHANNEL_BLOCK]; /* of reports, besides the bit; public */
};

/* The bits of n <= CHANNEL_BLOCK truths, and the rest of their reports, if a
 * report is more than a bit. words is free. */
typedef hsy_status channel_asker(const hsy_scheme *s, struct channel_block *b,
                                 const uint64_t *codes, size_t n,
                                 hsy_coins *coins);

/* randomize of a mechanism that asks for one bit: the channel's answer at place
 * `at` of the rest. */
hsy_status hsy_channel_randomize(const hsy_scheme *s, uint8_t *reports,
                                 const uint64_t *codes, size_t n,
                                 hsy_coins *coins, channel_asker *ask,
                                 unsigned at);

/* Reports of one bit: how many of n are 0 or 1, and how many are 1. */
size_t hsy_channel_check(const hsy_scheme *s, const uint8_t *reports, size_t n);
void hsy_channel_tally(const hsy_scheme *s, hsy_tally *t,
                       const uint8_t *reports, size_t n);

/* Kept: one bit, of another law for the two keys. */
struct permanent_part hsy_channel_part(const hsy_scheme *s);

/* The law of a 1 as the support of code 1. */
void hsy_channel_support(const hsy_scheme *s, struct mech_support *out);

/* The largest ratio of a channel by epsilon. */
size_t hsy_channel_law_worst(const hsy_scheme *s, hsy_factor factors[4]);

#endif
