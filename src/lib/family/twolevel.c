/* twolevel.c - weights, coins and blocks of the two-level engine. */
#include "lib/family/twolevel.h"

#include "lib/bits/ct.h"
#include "lib/bits/draw.h"
#include "lib/core/exp.h"
#include "lib/scheme/report.h"

void hsy_twolevel_resolve(hsy_scheme *s, uint64_t outputs, uint64_t set)
{
    uint64_t half_nano = 2 * s->nano_epsilon;
    unsigned shift = hsy_exp_shift(half_nano);

    /* outputs < 2^32, shift <= 44, weight < 2^92 / 2^44: sums within 128 bits.
     * With 2^22 outputs the shift comes down to 40. */
    for (;; shift--) {
        hsy_u128 total = (hsy_u128)(outputs - set) << shift;

        s->two.weight = hsy_exp_weight(half_nano, shift);
        total += (hsy_u128)set * s->two.weight;
        if (total >> 63 == 0) {
            s->total = (uint64_t)total;
            break;
        }
    }
    s->law = LAW_TWO_LEVEL;
    s->two.shift = shift;
    s->coin = hsy_prob_base(s->total);
    s->two.choice.last = s->coin.last;
    /* At most unit * total <= 2^64, and less since weight > 2^shift. */
    s->two.choice.blanket = s->coin.unit * (outputs << shift);
    s->two.choice.bound = outputs;
    s->two.choice.excess = hsy_prob_excess(outputs);
}

hsy_status hsy_twolevel_draw(const hsy_scheme *s, uint32_t *out, uint32_t own,
                             hsy_rng *rng)
{
    uint64_t coin, uniform;
    hsy_status st = hsy_prob_word(&coin, &s->coin, rng);

    if (st != HSY_OK)
        return st;
    st = hsy_prob_below(&uniform, s->two.choice.bound, s->two.choice.excess,
                        rng);
    if (st == HSY_OK)
        *out = (uint32_t)ct_select(ct_less(coin, s->two.choice.blanket),
                                   uniform, own);
    bytes_wipe(&coin, sizeof coin);
    bytes_wipe(&uniform, sizeof uniform);
    return st;
}

hsy_status hsy_twolevel_fill(const hsy_scheme *s, struct twolevel_block *block,
                             size_t n, hsy_rng *rng)
{
    size_t again;
    hsy_status st = draw_words(block->coins, 2 * n, rng);

    if (st != HSY_OK)
        return st;
    again = s->kernels->blanket_choices(block->out, block->redo, block->own,
                                        block->coins, n, &s->two.choice);

    /* Words out of bounds say nothing about the truth: whether a word is taken
     * does not depend on it. */
    for (size_t i = 0; i < again && st == HSY_OK; i++) {
        uint32_t at = block->redo[i];

        st = hsy_twolevel_draw(s, &block->out[at], block->own[at], rng);
    }
    return st;
}

void hsy_twolevel_wipe(struct twolevel_block *block, size_t n)
{
    if (n == 1) { /* no loops for one report */
        block->own[0] = block->out[0] = block->redo[0] = 0;
        bytes_wipe(block->coins, 2 * sizeof *block->coins);
        return;
    }
    n = n < TWOLEVEL_BLOCK ? n : TWOLEVEL_BLOCK;
    bytes_wipe(block->own, n * sizeof *block->own);
    bytes_wipe(block->out, n * sizeof *block->out);
    bytes_wipe(block->redo, n * sizeof *block->redo);
    bytes_wipe(block->coins, 2 * n * sizeof *block->coins);
}

/* One report has its coin and its uniform value drawn one after the other. */
hsy_status hsy_twolevel_randomize(const hsy_scheme *s, uint8_t *reports,
                                  const uint64_t *codes, size_t n,
                                  hsy_coins *coins, twolevel_owner *own,
                                  unsigned at)
{
    const size_t bytes = s->report_bytes;
    struct twolevel_block block;
    hsy_status st = HSY_OK;

    for (size_t done = 0; done < n && st == HSY_OK; done += TWOLEVEL_BLOCK) {
        size_t m = n - done < TWOLEVEL_BLOCK ? n - done : TWOLEVEL_BLOCK;
        uint8_t *to = reports + done * bytes;

        st = own(s, &block, codes + done, m, coins);
        if (st == HSY_OK)
            st = n == 1 ? hsy_twolevel_draw(s, block.out, block.own[0],
                                            &coins->secret)
                        : hsy_twolevel_fill(s, &block, m, &coins->secret);
        if (st == HSY_OK && at == 0)
            report_put_all(to, bytes, block.out, m);
        for (size_t i = 0; i < m && at != 0 && st == HSY_OK; i++)
            report_put(to + i * bytes, bytes,
                       block.rest[i] | (uint64_t)block.out[i] << at);
    }
    hsy_twolevel_wipe(&block, n);
    return st;
}

size_t hsy_twolevel_law_worst(const hsy_scheme *s, hsy_factor factors[4])
{
    factors[0] = (hsy_factor){twolevel_own(s), twolevel_other(s)};
    return 1;
}
