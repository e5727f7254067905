/*
 * twolevel.h - the engine of all two-level mechanisms (theory 0.2, 11.1).
 *
 * There are K outputs; a truth makes s of them its own. Each own output has
 * weight rho = A / 2^shift <= e^epsilon, the others 1. In blanket form:
 *
 *     with probability K 2^shift / total   uniform over all K outputs,
 *     else                                 uniform over the own outputs,
 *     total = (K - s) 2^shift + s A.
 *
 * So P[y] is A / total for an own output and 2^shift / total for any other:
 * 2^shift / total from the blanket, and (A - 2^shift) s / total spread over s.
 * It is exact, for the coin and the uniform values are (prob.h). All are drawn
 * every time and the output is chosen by a mask. Which own output it would be
 * is drawn by the mechanism.
 */
#ifndef LIB_FAMILY_TWOLEVEL_H
#define LIB_FAMILY_TWOLEVEL_H

#include "lib/scheme/scheme.h"

#define TWOLEVEL_BLOCK 256 /* reports whose coins are drawn at once */

/* Room for one block; holds truths and coins, so wipe it. */
struct twolevel_block {
    uint32_t own[TWOLEVEL_BLOCK];
    uint32_t out[TWOLEVEL_BLOCK];
    uint32_t redo[TWOLEVEL_BLOCK];
    uint64_t coins[2 * TWOLEVEL_BLOCK];
    uint32_t rest[TWOLEVEL_BLOCK]; /* of reports, besides the output; public */
};

/* weight, shift, total, coin and choice of s for K outputs, 2 <= K < 2^32,
 * `set` of them (1 .. K-1) a truth's own, with the shift of hsy_exp_shift, or
 * less where total would pass 2^63. */
void hsy_twolevel_resolve(hsy_scheme *s, uint64_t outputs, uint64_t set);

/* One output. */
hsy_status hsy_twolevel_draw(const hsy_scheme *s, uint32_t *out, uint32_t own,
                             hsy_rng *rng);

/* block->out from the first n of block->own, n <= TWOLEVEL_BLOCK. */
hsy_status hsy_twolevel_fill(const hsy_scheme *s, struct twolevel_block *block,
                             size_t n, hsy_rng *rng);

/* Wipe what n reports have used. */
void hsy_twolevel_wipe(struct twolevel_block *block, size_t n);

/* Which own output it would be, of n <= TWOLEVEL_BLOCK truths, and the rest of
 * their reports, if a report is more than the output. coins is free. */
typedef hsy_status twolevel_owner(const hsy_scheme *s,
                                  struct twolevel_block *block,
                                  const uint64_t *codes, size_t n,
                                  hsy_coins *coins);

/* randomize of a mechanism: the output at place `at` of the rest, 0: alone. */
hsy_status hsy_twolevel_randomize(const hsy_scheme *s, uint8_t *reports,
                                  const uint64_t *codes, size_t n,
                                  hsy_coins *coins, twolevel_owner *own,
                                  unsigned at);

/* P[output] over s->total: an own one, any other. */
static inline uint64_t twolevel_own(const hsy_scheme *s)
{
    return s->two.weight;
}

static inline uint64_t twolevel_other(const hsy_scheme *s)
{
    return (uint64_t)1 << s->two.shift;
}

/* Their ratio, which is the largest of two truths. */
size_t hsy_twolevel_law_worst(const hsy_scheme *s, hsy_factor factors[4]);

#endif
