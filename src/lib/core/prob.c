/* prob.c - exact coins and uniform numbers, each try one eight-byte draw. */
#include "lib/core/prob.h"

#include "lib/bits/bytes.h"
#include "lib/bits/u128.h"

/*
 * c = floor(2^64 / b) from 2^64 - 1 = quotient b + rest: one more if rest is
 * b - 1. A coin needs only c b <= 2^64, so b = 1, whose c would be 2^64 itself,
 * takes 2^64 - 1. If c b is 2^64, last wraps to 2^64 - 1 as it should.
 */
struct prob_base hsy_prob_base(uint64_t b)
{
    struct prob_base base;

    base.unit = UINT64_MAX / b + (UINT64_MAX % b == b - 1);
    if (b == 1)
        base.unit = UINT64_MAX;
    base.last = base.unit * b - 1;
    return base;
}

static hsy_status prob_draw(uint64_t *word, hsy_rng *rng)
{
    uint8_t buf[8];
    hsy_status st = rng->fill(rng->ctx, buf, sizeof buf);

    if (st == HSY_OK)
        *word = bytes_get64(buf);
    bytes_wipe(buf, sizeof buf);
    return st;
}

/* What is rejected says nothing of what is taken: words are independent. */
hsy_status hsy_prob_word(uint64_t *word, const struct prob_base *base,
                         hsy_rng *rng)
{
    uint64_t draw = 0;
    hsy_status st;

    do
        st = prob_draw(&draw, rng);
    while (st == HSY_OK && ct_public(ct_less(base->last, draw)) != 0);
    if (st == HSY_OK)
        *word = draw;
    bytes_wipe(&draw, sizeof draw);
    return st;
}

uint64_t hsy_prob_excess(uint64_t bound)
{
    return (0 - bound) % bound;
}

/*
 * Of the products draw * bound, floor(2^64 / bound) * bound have a lower half
 * from excess on, equally many for each upper half [Lemire19, Alg. 5].
 */
hsy_status hsy_prob_below(uint64_t *out, uint64_t bound, uint64_t excess,
                          hsy_rng *rng)
{
    uint64_t draw = 0;
    hsy_status st;

    do
        st = prob_draw(&draw, rng);
    while (st == HSY_OK && ct_public(ct_less(draw * bound, excess)) != 0);
    if (st == HSY_OK)
        *out = (uint64_t)((hsy_u128)draw * bound >> 64);
    bytes_wipe(&draw, sizeof draw);
    return st;
}
