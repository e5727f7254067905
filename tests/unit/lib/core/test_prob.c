/* test_prob.c - exact coins: the counting argument, the edges, the failures. */
#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/core/prob.h"
#include "rig/tape.h"
#include "tap.h"

#include <gmp.h>

enum { WORDS = 8 };

/* A tape of 64-bit words, little-endian as the library reads them. */
struct words {
    uint8_t bytes[8 * WORDS];
    struct tape tape;
    hsy_rng rng;
};

static void words_load(struct words *w, const uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes_put64(w->bytes + 8 * i, words[i]);
    w->tape = (struct tape){w->bytes, 8 * n};
    w->rng = (hsy_rng){tape_fill, &w->tape};
}

/*
 * The rules of prob.h with words of 8 bits instead of 64, every word tried:
 * taken words and events are in the proportion a / b, for all a < b <= 128.
 */
static void coin_rule_is_exact(void)
{
    unsigned wrong = 0;

    for (unsigned b = 1; b <= 128; b++) {
        unsigned c = b == 1 ? 255 : 256 / b, last = c * b - 1;

        for (unsigned a = 0; a < b; a++) {
            unsigned taken = 0, events = 0;

            for (unsigned u = 0; u < 256; u++) {
                taken += u <= last;
                events += u <= last && u < c * a;
            }
            wrong += events * b != taken * a || taken < 128;
        }
    }
    is_u64(wrong, 0, "with 8-bit words every coin a/b is exact, by counting");
}

/* The same for the uniform numbers; excess one too small must be noticed. */
static unsigned uneven_bounds(unsigned lenient)
{
    unsigned uneven = 0;

    for (unsigned bound = 1; bound <= 255; bound++) {
        unsigned excess = (256 - bound) % bound, count[256] = {0};
        bool even = true;

        for (unsigned u = 0; u < 256; u++) {
            unsigned product = u * bound;

            if ((product & 255) + lenient >= excess)
                count[product >> 8]++;
        }
        for (unsigned i = 1; i < bound; i++)
            even = even && count[i] == count[0];
        uneven += !even;
    }
    return uneven;
}

static void uniform_rule_is_exact(void)
{
    is_u64(uneven_bounds(0), 0,
           "with 8-bit words every bound is uniform, by counting");
    ok(uneven_bounds(1) > 0, "control: a rejection bound off by one is uneven");
}

/* c b <= 2^64 < (c + 1) b and last = c b - 1, in integers of any size. */
static bool base_is_right(uint64_t b)
{
    struct prob_base base = hsy_prob_base(b);
    mpz_t top, c, last;
    bool right;

    mpz_inits(top, c, last, NULL);
    mpz_ui_pow_ui(top, 2, 64);
    mpz_fdiv_q_ui(c, top, b);
    if (b == 1)
        mpz_sub_ui(c, c, 1);
    mpz_mul_ui(last, c, b);
    mpz_sub_ui(last, last, 1);
    right = mpz_cmp_ui(c, base.unit) == 0 && mpz_cmp_ui(last, base.last) == 0;
    mpz_clears(top, c, last, NULL);
    return right;
}

static void bases(void)
{
    unsigned wrong = 0;

    for (uint64_t b = 1; b < 5000; b++)
        wrong += !base_is_right(b);
    for (unsigned k = 13; k < 64; k++)
        for (uint64_t off = 0; off < 5; off++) {
            uint64_t b = ((uint64_t)1 << k) + off - 2;

            if (b <= (uint64_t)1 << 63)
                wrong += !base_is_right(b);
        }
    is_u64(wrong, 0,
           "the unit is floor(2^64 / b), the last word taken c b - 1");
    ok(eq_u64(hsy_prob_base(1).last, UINT64_MAX - 1) &&
           eq_u64(hsy_prob_base(2).last, UINT64_MAX),
       "the smallest denominators do not wrap");
}

static bool event_at(uint64_t b, uint64_t a, uint64_t word)
{
    struct prob_base base = hsy_prob_base(b);
    uint64_t mask = prob_event(word, &base, a);

    if (mask != 0 && mask != UINT64_MAX)
        ok(false, "an event is a full mask: %llu", (unsigned long long)mask);
    return mask != 0;
}

/* The coin has one edge, at c a: the words around it stand for all 2^64. */
static void event_edges(void)
{
    static const uint64_t rows[][2] = {
        {1, 3},
        {2, 3},
        {1, (uint64_t)1 << 63},
        {((uint64_t)1 << 63) - 1, (uint64_t)1 << 63},
        {12345678901, 98765432109},
        {5, 1000000007},
    };
    unsigned wrong = 0;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t a = rows[i][0], b = rows[i][1];
        struct prob_base base = hsy_prob_base(b);
        uint64_t edge = base.unit * a;

        wrong += !event_at(b, a, 0) || !event_at(b, a, edge - 1);
        wrong += event_at(b, a, edge) || event_at(b, a, base.last);
    }
    is_u64(wrong, 0, "the event is below c a, and from there on it is not");
}

static void event_extremes(void)
{
    static const uint64_t bs[] = {1, 2, 3, 1000, (uint64_t)1 << 63};
    unsigned wrong = 0;

    for (size_t i = 0; i < 5; i++) {
        uint64_t b = bs[i], last = hsy_prob_base(b).last;

        wrong += event_at(b, 0, 0) || event_at(b, 0, last);
        wrong += b > 1 && (!event_at(b, b - 1, 0) || event_at(b, b - 1, last));
    }
    is_u64(wrong, 0, "0/b never happens, (b - 1)/b but for the last words");
}

static void rejection(void)
{
    struct prob_base third = hsy_prob_base(3);
    const uint64_t tape[4] = {UINT64_MAX, UINT64_MAX, third.last, 7};
    struct words w;
    uint64_t word = 1;

    words_load(&w, tape, 4);
    ok(eq_status(hsy_prob_word(&word, &third, &w.rng), HSY_OK) &&
           eq_u64(word, third.last) && eq_u64(w.tape.left, 8),
       "a word beyond the last is drawn anew, the last one taken");
}

static void below_edges(void)
{
    /* 2^64 mod 3 = 1: of all words only 0 is rejected. */
    const uint64_t tape[4] = {0, 1, UINT64_MAX, UINT64_MAX / 3 + 1};
    const uint64_t want[3] = {0, 2, 1};
    struct words w;
    unsigned wrong = 0;

    words_load(&w, tape, 4);
    for (size_t i = 0; i < 3; i++) {
        uint64_t out = 99;

        wrong += hsy_prob_below(&out, 3, hsy_prob_excess(3), &w.rng) != HSY_OK;
        wrong += out != want[i];
    }
    ok(eq_u64(wrong, 0) && eq_u64(w.tape.left, 0),
       "below 3: the excess word is drawn anew, the ends fall where they must");
    ok(eq_u64(hsy_prob_excess(1), 0) && eq_u64(hsy_prob_excess(3), 1) &&
           eq_u64(hsy_prob_excess((uint64_t)1 << 63), 0) &&
           eq_u64(hsy_prob_excess(((uint64_t)1 << 63) + 1),
                  ((uint64_t)1 << 63) - 1) &&
           eq_u64(hsy_prob_excess(UINT64_MAX), 1),
       "the excess is 2^64 mod bound");
}

static void below_extremes(void)
{
    const uint64_t ends[2] = {1, UINT64_MAX};
    static const uint64_t bounds[] = {1, 2, 256, UINT64_MAX};
    unsigned wrong = 0;

    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 2; j++) {
            uint64_t b = bounds[i], out = 99;
            struct words w;

            words_load(&w, &ends[j], 1);
            wrong += hsy_prob_below(&out, b, hsy_prob_excess(b), &w.rng);
            wrong += out != (j == 0 ? 0 : b - 1);
        }
    is_u64(wrong, 0, "the smallest and the largest word give 0 and bound - 1");
}

/* No entropy, no outcome: at the first draw, and at a second one. */
static void failures(void)
{
    const struct prob_base third = hsy_prob_base(3);
    const uint64_t high[1] = {UINT64_MAX}, low[1] = {0};
    unsigned wrong = 0;

    for (size_t n = 0; n < 2; n++) {
        uint64_t out = 42;
        struct words w;

        words_load(&w, high, n);
        wrong += hsy_prob_word(&out, &third, &w.rng) != HSY_E_ENTROPY;
        words_load(&w, low, n);
        wrong += hsy_prob_below(&out, 3, 1, &w.rng) != HSY_E_ENTROPY;
        wrong += out != 42;
    }
    is_u64(wrong, 0, "a source that fails leaves the output untouched");
}

static void masks(void)
{
    static const uint64_t x[] = {
        0,         1, 2, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1,
        UINT64_MAX};
    unsigned wrong = 0;

    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 7; j++) {
            wrong += ct_less(x[i], x[j]) != (x[i] < x[j] ? UINT64_MAX : 0);
            wrong += ct_equal(x[i], x[j]) != (x[i] == x[j] ? UINT64_MAX : 0);
            wrong += ct_select(UINT64_MAX, x[i], x[j]) != x[i];
            wrong += ct_select(0, x[i], x[j]) != x[j];
        }
    is_u64(wrong, 0, "comparisons without branches agree with the plain ones");
}

int main(void)
{
    coin_rule_is_exact();
    uniform_rule_is_exact();
    bases();
    event_edges();
    event_extremes();
    rejection();
    below_edges();
    below_extremes();
    failures();
    masks();
    return tap_done();
}
