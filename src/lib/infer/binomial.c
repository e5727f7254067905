/*
 * binomial.c - binomial and multinomial counts in O(1) a count, for simulation
 * (theory 11.7). Doubles: nothing private depends on it.
 */
#include "lib/bits/bytes.h"
#include "lib/infer/infer.h"

#include <math.h>

#define BINOMIAL_SMALL                                                         \
    10.0 /* expected count below which inversion is faster                     \
          */

/* Uniform in [0, 1), 53 bits. A stream that was opened cannot fail. */
static double binomial_uniform(hsy_stream *st)
{
    hsy_rng rng = hsy_stream_rng(st);
    uint8_t word[8] = {0};

    (void)rng.fill(rng.ctx, word, sizeof word);
    return (double)(bytes_get64(word) >> 11) * 0x1p-53;
}

/* Walk up the distribution until it passes a uniform number. n p < 10 and
 * p <= 1/2, so the chance of 0 is above e^-14, and 110 is never passed except
 * by what rounding leaves over, which is drawn again. */
static double binomial_invert(double n, double p, hsy_stream *st)
{
    const double odds = p / (1 - p), none = exp(n * log1p(-p));

    for (;;) {
        double u = binomial_uniform(st), chance = none, k = 0;

        while (u >= chance && k < n && k < 110) {
            u -= chance;
            k++;
            chance *= (n - k + 1) / k * odds;
        }
        if (u < chance)
            return k;
    }
}

/* ln k! less Stirling's (k + 1/2) ln(k + 1) - (k + 1) + ln(2 pi) / 2. */
static double binomial_stirling(double k)
{
    static const double small[10] = {0.0810614667953272,  0.0413406959554092,
                                     0.0276779256849983,  0.0207906721037650,
                                     0.0166446911898211,  0.0138761288230707,
                                     0.0118967099458917,  0.0104112652619720,
                                     0.00925546218271273, 0.00833056343336287};
    const double next = 1 / (k + 1), square = next * next;

    if (k < 10)
        return small[(int)k];
    return (1.0 / 12 - (1.0 / 360 - square / 1260) * square) * next;
}

/* ln of P[k] / P[mode] of Bin(n, p), odds = p / (1 - p). In differences of
 * logarithms, so that nothing large cancels. */
static double binomial_log_ratio(double n, double odds, double mode, double k)
{
    return (mode + 0.5) * log((mode + 1) / (odds * (n - mode + 1))) +
           (n + 1) * log((n - mode + 1) / (n - k + 1)) +
           (k + 0.5) * log(odds * (n - k + 1) / (k + 1)) +
           binomial_stirling(mode) + binomial_stirling(n - mode) -
           binomial_stirling(k) - binomial_stirling(n - k);
}

/* Transformed rejection with squeeze [Hormann93, BTRS]; n p >= 10, p <= 1/2. */
static double binomial_reject(double n, double p, hsy_stream *st)
{
    const double sd = sqrt(n * p * (1 - p)), odds = p / (1 - p);
    const double b = 1.15 + 2.53 * sd, a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double center = n * p + 0.5, quick = 0.92 - 4.2 / b;
    const double alpha = (2.83 + 5.1 / b) * sd, mode = floor((n + 1) * p);

    for (;;) {
        const double u = binomial_uniform(st) - 0.5;
        const double v = binomial_uniform(st), us = 0.5 - fabs(u);
        const double k = floor((2 * a / us + b) * u + center);

        if (us >= 0.07 && v <= quick)
            return k;
        if (!(k >= 0 && k <= n))
            continue; /* us may be 0, and then k is infinite */
        if (log(v * alpha / (a / (us * us) + b)) <=
            binomial_log_ratio(n, odds, mode, k))
            return k;
    }
}

uint64_t hsy_binomial_draw(uint64_t n, double p, hsy_stream *st)
{
    const double all = (double)n, low = p <= 0.5 ? p : 1 - p;
    double k = 0;

    if (n == 0 || !(low > 0))
        return p > 0.5 ? n : 0;
    k = all * low < BINOMIAL_SMALL ? binomial_invert(all, low, st)
                                   : binomial_reject(all, low, st);
    return p <= 0.5 ? (uint64_t)k : n - (uint64_t)k;
}

/* One after the other, each from what is left. Rounding may leave a mass that
 * is a little off; the last place with any takes what remains. */
void hsy_multinomial_draw(double *counts, const double *chances, size_t count,
                          uint64_t n, hsy_stream *st)
{
    double mass = 0;
    size_t last = 0;

    for (size_t i = 0; i < count; i++) {
        mass += chances[i];
        last = chances[i] > 0 ? i : last;
        counts[i] = 0;
    }
    for (size_t i = 0; i < last && n > 0; i++) {
        const double share =
            chances[i] < mass ? chances[i] / mass : chances[i] > 0;
        const uint64_t k = hsy_binomial_draw(n, share, st);

        counts[i] = (double)k;
        mass -= chances[i];
        n -= k;
    }
    counts[last] += (double)n;
}
