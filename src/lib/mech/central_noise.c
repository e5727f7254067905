/*
 * central_noise.c - exact discrete Laplace noise [CKS20, Algorithms 1 and 2].
 *
 * Coin. With x = num / den <= 1, the loop below gets past its k-th turn with
 * probability x / k, so P[it ends at a k beyond j] = x^j / j! and
 *     P[k is odd] = sum over i >= 0 of (-x)^i / i! = e^(-x).
 *
 * Noise. U uniform below t, taken with probability e^(-U/t), and V, the number
 * of coins of e^(-1) in a row, give X = U + t V with P[X = x] proportional to
 * e^(-x/t); then Y = floor(X / s) has P[Y = y] proportional to e^(-y s/t). A
 * sign by a fair coin, with minus zero drawn anew, makes it two-sided.
 *
 * Every draw is a uniform integer [Lemire19] and every comparison one of
 * integers: nothing is rounded. The loops end with probability 1. A source for
 * which one of them takes more turns than the bounds below, which happens to
 * an honest one with a chance below 2^-200, is taken for broken.
 */
#include "lib/mech/central.h"

#include "lib/bits/bytes.h"

#define CENTRAL_COIN_TURNS 64 /* 1 / 64! */
#define CENTRAL_ROW 500       /* e^-500 */
#define CENTRAL_TRIES 1000    /* fewer than 0.69 of them are rejected */

static hsy_status central_noise_below(uint64_t *out, uint64_t bound,
                                      hsy_rng *rng)
{
    return hsy_prob_below(out, bound, hsy_prob_excess(bound), rng);
}

/* *yes with probability a / b. */
static hsy_status central_noise_chance(bool *yes, uint64_t a, uint64_t b,
                                       hsy_rng *rng)
{
    uint64_t draw = 0;
    hsy_status st = central_noise_below(&draw, b, rng);

    *yes = draw < a;
    return st;
}

hsy_status hsy_central_coin(bool *yes, uint64_t num, uint64_t den, hsy_rng *rng)
{
    bool on = true;
    uint64_t k = 0;

    /* x / k as two coins, x and 1 / k: den k may not fit a word. */
    while (on) {
        hsy_status st = central_noise_chance(&on, num, den, rng);

        k++;
        if (st == HSY_OK && on && k > 1)
            st = central_noise_chance(&on, 1, k, rng);
        if (st == HSY_OK && k > CENTRAL_COIN_TURNS)
            st = HSY_E_ENTROPY;
        if (st != HSY_OK)
            return st;
    }
    *yes = k % 2 == 1;
    return HSY_OK;
}

/* How many coins of e^(-1) say yes in a row. */
static hsy_status central_noise_row(uint64_t *row, hsy_rng *rng)
{
    bool yes = true;

    for (*row = 0; *row < CENTRAL_ROW; ++*row) {
        hsy_status st = hsy_central_coin(&yes, 1, 1, rng);

        if (st != HSY_OK || !yes)
            return st;
    }
    return HSY_E_ENTROPY;
}

/* One try: *taken says whether there is a noise. */
static hsy_status central_noise_try(int64_t *noise, bool *taken, uint64_t s,
                                    uint64_t t, hsy_rng *rng)
{
    uint64_t u = 0, v = 0, size;
    bool minus = false;
    hsy_status st = central_noise_below(&u, t, rng);

    if (st == HSY_OK)
        st = hsy_central_coin(taken, u, t, rng);
    if (st != HSY_OK || !*taken)
        return st;
    st = central_noise_row(&v, rng);
    if (st == HSY_OK)
        st = central_noise_chance(&minus, 1, 2, rng);
    /* floor((u + t v) / s) in 128 bits; below 2^63, as t / s < 2^54 and v is
     * below 500. */
    size = (uint64_t)((u + (hsy_u128)t * v) / s);
    *taken = !(minus && size == 0);
    *noise = minus ? -(int64_t)size : (int64_t)size;
    bytes_wipe(&u, sizeof u);
    bytes_wipe(&v, sizeof v);
    bytes_wipe(&size, sizeof size);
    return st;
}

hsy_status hsy_central_noise(int64_t *noise, uint64_t s, uint64_t t,
                             hsy_rng *rng)
{
    for (int i = 0; i < CENTRAL_TRIES; i++) {
        bool taken = false;
        hsy_status st = central_noise_try(noise, &taken, s, t, rng);

        if (st != HSY_OK || taken)
            return st;
    }
    return HSY_E_ENTROPY;
}
