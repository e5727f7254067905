/* prob.c - exact coins and uniform numbers, each try one eight-byte draw. */
#include "prob.h"

#include "bytes.h"
#include "ct.h"

__extension__ typedef unsigned __int128 prob_u128;

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
    uint64_t draw;

    do {
        hsy_status st = prob_draw(&draw, rng);

        if (st != HSY_OK)
            return st;
    } while (draw > base->last);
    *word = draw;
    return HSY_OK;
}

/* word < c a, written as a > 0 and word <= c a - 1 because c a may be 2^64. */
hsy_status hsy_prob_event(uint64_t *mask, const struct prob_base *base,
                          uint64_t a, hsy_rng *rng)
{
    uint64_t word;
    hsy_status st = hsy_prob_word(&word, base, rng);

    if (st != HSY_OK)
        return st;
    *mask = ~ct_less(base->unit * a - 1, word) & ~ct_equal(a, 0);
    return HSY_OK;
}

uint64_t hsy_prob_excess(uint64_t bound)
{
    return (0 - bound) % bound;
}

/*
 * Of the products word * bound, floor(2^64 / bound) * bound have a lower half
 * from excess on, equally many for each upper half [Lemire19, Alg. 5].
 */
hsy_status hsy_prob_below(uint64_t *out, uint64_t bound, uint64_t excess,
                          hsy_rng *rng)
{
    prob_u128 product;

    do {
        uint64_t word;
        hsy_status st = prob_draw(&word, rng);

        if (st != HSY_OK)
            return st;
        product = (prob_u128)word * bound;
    } while ((uint64_t)product < excess);
    *out = (uint64_t)(product >> 64);
    return HSY_OK;
}
