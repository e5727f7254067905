/* channel.c - coins, counts and rates of the binary channel. */
#include "channel.h"

#include "ct.h"
#include "draw.h"
#include "exp.h"

void hsy_channel_resolve(hsy_scheme *s)
{
    s->coin = hsy_prob_base(s->total);
    s->report_bits = 1;
    s->report_bytes = 1;
    s->cells = 1;
}

bool hsy_channel_by_epsilon(hsy_scheme *s, uint64_t limit)
{
    uint64_t half_nano = 2 * s->nano_epsilon;
    unsigned bits = hsy_exp_bits(half_nano);
    unsigned shift = bits + 48 <= 63 ? 48 : 63 - bits;

    for (;; shift--) {
        s->own = hsy_exp_weight(half_nano, shift);
        s->other = (uint64_t)1 << shift;
        s->total = s->own + s->other; /* at most 2^63 + 2^48 */
        if (s->total >> 63 == 0 && s->total <= limit)
            return true;
        if (shift == 0)
            return false;
    }
}

/* All ones if the word means 1. */
static uint64_t channel_event(const hsy_scheme *s, uint64_t word, uint64_t bit)
{
    uint64_t edge = ct_select(0 - bit, s->own, s->other);

    return ct_less(word, s->coin.unit * edge);
}

hsy_status hsy_channel_draw(const hsy_scheme *s, uint64_t *out, uint64_t bit,
                            hsy_rng *rng)
{
    uint64_t word;
    hsy_status st = hsy_prob_word(&word, &s->coin, rng);

    if (st == HSY_OK)
        *out = channel_event(s, word, bit) & 1;
    bytes_wipe(&word, sizeof word);
    return st;
}

hsy_status hsy_channel_fill(const hsy_scheme *s, uint8_t *out,
                            const uint8_t *bits, size_t n, uint64_t *coins,
                            hsy_rng *rng)
{
    uint64_t refused = 0;
    hsy_status st = draw_words(coins, n, rng);

    if (st != HSY_OK)
        return st;
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)(channel_event(s, coins[i], bits[i]) & 1);
        refused |= ct_less(s->coin.last, coins[i]);
    }
    for (size_t i = 0; i < n && refused != 0 && st == HSY_OK; i++) {
        uint64_t bit = 0;

        if (coins[i] <= s->coin.last)
            continue;
        st = hsy_channel_draw(s, &bit, bits[i], rng);
        out[i] = (uint8_t)bit;
    }
    return st;
}

size_t hsy_channel_check(const hsy_scheme *s, const uint8_t *reports, size_t n)
{
    size_t i = 0;

    (void)s;
    while (i < n && reports[i] <= 1)
        i++;
    return i;
}

void hsy_channel_tally(const hsy_scheme *s, hsy_tally *t,
                       const uint8_t *reports, size_t n)
{
    int64_t ones = 0;

    (void)s;
    for (size_t i = 0; i < n; i++)
        ones += reports[i];
    t->cells[0] += ones;
    t->strata[0] += n;
}

void hsy_channel_support(const hsy_scheme *s, struct mech_support *out)
{
    double total = (double)s->total;
    bool direct = s->own > s->other;
    uint64_t apart = direct ? s->own - s->other : s->other - s->own;

    out->p = (double)s->own / total;
    out->not_p = (double)(s->total - s->own) / total;
    out->q = (double)s->other / total;
    out->not_q = (double)(s->total - s->other) / total;
    out->gap = (direct ? 1 : -1) * ((double)apart / total);
}
