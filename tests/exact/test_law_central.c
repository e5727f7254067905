/*
 * test_law_central.c - a curator's noise, coin by coin: every way in which the
 * coins can fall is walked, so the law of the coin of e^-x is the exact one.
 */
#include "lib/infer/infer.h"
#include "lib/mech/central.h"
#include "rig/tape.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

#define FACES 12u /* equally likely words: exact where a bound divides it */
#define DEPTH 9u

/* How often the coin ends within so many draws, counted in FACES^-depth. */
struct count {
    uint64_t yes, no, open;
};

static uint64_t word_of(unsigned face)
{
    return (uint64_t)((((hsy_u128)(2 * face + 1)) << 63) / FACES);
}

/* Walk all words from `depth` on; a coin that runs out of them is open. */
static void walk(struct count *c, uint64_t num, uint64_t den, uint64_t *words,
                 unsigned depth, unsigned most)
{
    struct tape tape = {words, depth * sizeof *words};
    hsy_rng rng = {tape_fill, &tape};
    uint64_t weight = 1;
    bool yes = false;
    hsy_status st = hsy_central_coin(&yes, num, den, &rng);

    for (unsigned i = depth; i < most; i++)
        weight *= FACES;
    if (st == HSY_OK && yes)
        c->yes += weight;
    else if (st == HSY_OK)
        c->no += weight;
    else if (depth == most)
        c->open += weight;
    else
        for (unsigned face = 0; face < FACES; face++) {
            words[depth] = word_of(face);
            walk(c, num, den, words, depth + 1, most);
        }
}

/*
 * The coin ends at turn k with chance x^(k-1)/(k-1)! - x^k/k!, whole numbers of
 * FACES^-most for k <= 4, as 2, 3, 4 and den divide FACES. Turn 1 is a draw,
 * each later one two, or one if it ends there by the first.
 */
static void coin(uint64_t num, uint64_t den, unsigned turns)
{
    struct count c = {0};
    uint64_t words[DEPTH], unit = 1, yes = 0, no = 0, past, before;
    unsigned most = 2 * turns - 1;

    for (unsigned i = 0; i < most; i++)
        unit *= FACES;
    walk(&c, num, den, words, 0, most);
    past = unit;
    for (unsigned k = 1; k <= turns; k++) {
        before = past;
        past = past / den * num / k;
        *(k % 2 == 1 ? &yes : &no) += before - past;
    }
    /* A turn more may end by its first draw, which is not made: all of what
     * gets past the last turn is open. */
    ok(eq_u64(c.yes, yes) && eq_u64(c.no, no) && eq_u64(c.open, past),
       "e^-%u/%u: %u turns of the coin have exactly their chances",
       (unsigned)num, (unsigned)den, turns);
    ok((double)yes / (double)unit <= exp(-(double)num / (double)den) &&
           (double)(yes + past) / (double)unit >=
               exp(-(double)num / (double)den),
       "and e^-x lies in what they leave open");
}

/* A source that always says the same word. */
static hsy_status stuck_fill(void *ctx, void *buf, size_t len)
{
    memcpy(buf, ctx, len);
    return HSY_OK;
}

static void broken(void)
{
    uint64_t small = (uint64_t)1 << 40, large = UINT64_MAX;
    hsy_rng low = {stuck_fill, &small}, high = {stuck_fill, &large};
    int64_t noise = 7;
    bool yes;

    is_status(hsy_central_coin(&yes, 1, 1, &low), HSY_E_ENTROPY,
              "a coin that never falls is a broken source");
    is_status(hsy_central_noise(&noise, 1, 1, &low), HSY_E_ENTROPY,
              "and so is one that never ends the noise");
    ok(eq_status(hsy_central_noise(&noise, 1, 1, &high), HSY_OK) &&
           eq_int(noise, 0),
       "words of ones give no noise, once");
    for (size_t left = 0; left < 5; left++) {
        static const uint64_t zeros[8];
        struct tape tape = {zeros, left * 8};
        hsy_rng rng = {tape_fill, &tape};

        is_status(hsy_central_noise(&noise, 1, 1, &rng), HSY_E_ENTROPY,
                  "a source that fails after %zu words fails the noise", left);
    }
}

/*
 * A try at rate 1 takes six words: U below 1; the coin of e^0, which says yes;
 * three for a coin of e^-1 that says no at its second turn, so that the noise
 * is 0; and its sign. Minus zero is drawn anew: kept, it would double the
 * chance of 0.
 */
static void minus_zero(void)
{
    const uint64_t low = (uint64_t)1 << 40, high = UINT64_MAX - low;
    const uint64_t words[12] = {low, low, low, low, high, low,   /* -0 */
                                low, low, low, low, high, high}; /* +0 */
    struct tape once = {words, 6 * sizeof *words}, plus = {words + 6, 48};
    struct tape both = {words, sizeof words};
    hsy_rng rng[3] = {
        {tape_fill, &once}, {tape_fill, &plus}, {tape_fill, &both}};
    int64_t noise = 7;

    ok(eq_status(hsy_central_noise(&noise, 1, 1, &rng[0]), HSY_E_ENTROPY) &&
           eq_u64(once.left, 0),
       "minus zero is no noise");
    ok(eq_status(hsy_central_noise(&noise, 1, 1, &rng[1]), HSY_OK) &&
           noise == 0 && plus.left == 0,
       "zero is one");
    noise = 7;
    ok(eq_status(hsy_central_noise(&noise, 1, 1, &rng[2]), HSY_OK) &&
           noise == 0 && both.left == 0,
       "after minus zero another one is drawn");
}

/* P(sum of k >= t) by adding up. */
static double tail_slowly(int t, unsigned k, double rate)
{
    enum { REACH = 120 };
    static double law[2 * REACH + 1], next[2 * REACH + 1];
    double r = exp(-rate), sum = 0;

    for (int x = -REACH; x <= REACH; x++)
        law[x + REACH] = x == 0;
    for (unsigned i = 0; i < k; i++) {
        for (int x = -REACH; x <= REACH; x++) {
            next[x + REACH] = 0;
            for (int y = -REACH; y <= REACH; y++)
                next[x + REACH] +=
                    law[y + REACH] * (1 - r) / (1 + r) * pow(r, abs(x - y));
        }
        memcpy(law, next, sizeof law);
    }
    for (int x = t; x <= REACH; x++)
        sum += law[x + REACH];
    return sum;
}

static void tails(void)
{
    static const double rates[] = {0.7, 1, 4};

    for (size_t i = 0; i < 3; i++)
        for (unsigned k = 1; k <= 3; k++) {
            bool same = true;

            for (int t = 1; t < 20; t += 6) {
                double want = tail_slowly(t, k, rates[i]);

                same &=
                    fabs(hsy_releases_tail(t, k, rates[i]) / want - 1) < 1e-9;
            }
            ok(same, "the tail of %u at rate %g is the sum of its chances", k,
               rates[i]);
        }
    ok(fabs(hsy_releases_tail(3, 1, 1) * (1 + exp(-1)) / exp(-3) - 1) < 1e-14,
       "of one it is r^t / (1 + r)");
    ok(fabs(1 - 2 * hsy_releases_tail(1, 1, 0.5) - 0.244918662403709129) <
               1e-15 &&
           fabs(1 - 2 * hsy_releases_tail(1, 1, 2) - 0.761594155955764888) <
               1e-15,
       "zero has the chance of the reference (theory 15.5)");
    /* At tiny rates it is that of continuous Laplace: of two, (1/2 + t/4)
     * e^-t. */
    ok(fabs(hsy_releases_tail(3e9, 2, 1e-9) / ((0.5 + 0.75) * exp(-3)) - 1) <
           1e-8,
       "at a tiny rate the tail is continuous Laplace's");
}

int main(void)
{
    coin(0, 1, 1);
    coin(1, 1, 4);
    coin(1, 2, 4);
    coin(3, 4, 4);
    coin(5, 12, 4);
    broken();
    minus_zero();
    tails();
    return tap_done();
}
