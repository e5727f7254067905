/* channel.c - coins, counts and rates of the binary channel. */
#include "lib/family/channel.h"

#include "lib/bits/ct.h"
#include "lib/bits/draw.h"
#include "lib/core/exp.h"
#include "lib/scheme/report.h"

void hsy_channel_resolve(hsy_scheme *s)
{
    s->law = LAW_BITS;
    s->coin = hsy_prob_base(s->total);
    s->report_bits = 1;
    s->report_bytes = 1;
    s->cells = 1;
}

void hsy_channel_by_epsilon(hsy_scheme *s)
{
    uint64_t half_nano = 2 * s->nano_epsilon;
    unsigned shift = hsy_exp_shift(half_nano);

    s->bits.own = hsy_exp_weight(half_nano, shift);
    s->bits.other = (uint64_t)1 << shift;
    s->total =
        s->bits.own + s->bits.other; /* below 2^48: epsilon is at most 32 */
}

/* What the word answers to bit. */
static uint64_t channel_answer(const hsy_scheme *s, uint64_t word, uint64_t bit)
{
    uint64_t one = ct_select(0 - bit, s->bits.own, s->bits.other);

    return prob_event(word, &s->coin, one) & 1;
}

static hsy_status channel_draw(const hsy_scheme *s, uint64_t *out, uint64_t bit,
                               hsy_rng *rng)
{
    uint64_t word;
    hsy_status st = hsy_prob_word(&word, &s->coin, rng);

    if (st == HSY_OK)
        *out = channel_answer(s, word, bit);
    bytes_wipe(&word, sizeof word);
    return st;
}

/* out[i] from bits[i]. */
static hsy_status channel_fill(const hsy_scheme *s, uint8_t *out,
                               const uint8_t *bits, size_t n, uint64_t *coins,
                               hsy_rng *rng)
{
    uint64_t refused = 0;
    hsy_status st = draw_words(coins, n, rng);

    if (st != HSY_OK)
        return st;
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)channel_answer(s, coins[i], bits[i]);
        refused |= ct_less(s->coin.last, coins[i]);
    }
    refused = ct_public(refused);
    for (size_t i = 0; i < n && refused != 0 && st == HSY_OK; i++) {
        uint64_t bit = 0;

        if (ct_public(ct_less(s->coin.last, coins[i])) == 0)
            continue;
        st = channel_draw(s, &bit, bits[i], rng);
        out[i] = (uint8_t)bit;
    }
    return st;
}

hsy_status hsy_channel_randomize(const hsy_scheme *s, uint8_t *reports,
                                 const uint64_t *codes, size_t n,
                                 hsy_coins *coins, channel_asker *ask,
                                 unsigned at)
{
    const size_t bytes = s->report_bytes,
                 used = n < CHANNEL_BLOCK ? n : CHANNEL_BLOCK;
    struct channel_block b;
    hsy_status st = HSY_OK;

    for (size_t done = 0; done < n && st == HSY_OK; done += CHANNEL_BLOCK) {
        size_t m = n - done < CHANNEL_BLOCK ? n - done : CHANNEL_BLOCK;
        uint8_t *to = reports + done * bytes;
        const bool bare = s->report_bits == 1;

        st = ask(s, &b, codes + done, m, coins);
        if (st == HSY_OK)
            st = channel_fill(s, bare ? to : b.out, b.bits, m, b.words,
                              &coins->secret);
        for (size_t i = 0; i < m && !bare && st == HSY_OK; i++)
            report_put(to + i * bytes, bytes,
                       b.rest[i] | (uint64_t)b.out[i] << at);
    }
    if (n == 1) {
        b.bits[0] = b.out[0] = 0;
        bytes_wipe(b.words, sizeof *b.words);
    } else {
        bytes_wipe(b.words, used * sizeof *b.words);
        bytes_wipe(b.bits, used);
        bytes_wipe(b.out, used);
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
    hsy_support_of(out, s->bits.own, s->bits.other, s->total);
}

struct permanent_part hsy_channel_part(const hsy_scheme *s)
{
    (void)s;
    return (struct permanent_part){.first = 0, .count = 1, .differ = 1};
}

size_t hsy_channel_law_worst(const hsy_scheme *s, hsy_factor factors[4])
{
    factors[0] = (hsy_factor){s->bits.own, s->bits.other};
    return 1;
}
