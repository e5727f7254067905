/*
 * exp.c - e^x in 128-bit integers, from below, with a proved bound.
 *
 * x = h / (2 * 10^9) for an integer h, 0 <= x <= 44. Put r = x / 64, at most
 * 0.6875. The Taylor series gives e^r, six squarings give e^x. There is no
 * table and no libm: every platform agrees to the last bit.
 *
 * Lemma 1. exp_float returns m and k with 2^127 <= m < 2^128, k <= 63 and
 *     e^x (1 - 2^-115) < m 2^(k - 127) <= e^x.
 *
 * Proof. Every step rounds down and all quantities are positive, so the right
 * side holds. For the left side count what is lost, in units u = 2^-127.
 *
 * (a) The exact terms are t_0 = 1, t_j = t_(j-1) r / j. The computed ones are
 * T_0 = 1 / u without loss and T_j = floor(T_(j-1) R u / j), where
 * R = floor(r / u) (a floor of a floor is one floor). Let T_j u lose d_j
 * units against t_j. T_1 = R, so d_1 < 1. As t_(j-1) <= 1 and r <= 0.6875,
 *     d_j < (0.6875 d_(j-1) + 1) / j + 1,
 * so d_2 < 1.85 and, by induction, d_j < (1.375 + 1) / 3 + 1 < 2 for j >= 3.
 *
 * (b) The series stops after j = 31. The rest is below 2 t_32, and t_32 <=
 * 0.6875^32 / 32! < 2^-134: less than one unit. The sum therefore loses less
 * than 1 + 30 * 2 + 1 < 63 units, and relative to e^r >= 1 less than 63 u. It
 * fits 128 bits because e^0.6875 < 2.
 *
 * (c) If m has lost the relative part a, then m^2 has lost less than 2 a, and
 * cutting it to 128 bits, the first of them set, less than another u. Six
 * times over: 64 * 63 u + 63 u = 4095 u < 2^-115.
 *
 * k <= 63 because e^44 < 2^64.                                          QED
 */
#include "lib/core/exp.h"

#include "hearsay.h"

#include "lib/bits/u128.h"

enum { EXP_TERMS = 31, EXP_SQUARINGS = 6, EXP_WEIGHT_BITS = 45 };

/* m 2^(k - 127), the top bit of m set. */
struct exp_float {
    hsy_u128 m;
    unsigned k;
};

/* floor(a b / 2^128), and the lower half of the product in *low. */
static hsy_u128 exp_multiply(hsy_u128 a, hsy_u128 b, hsy_u128 *low)
{
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64);
    uint64_t b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    hsy_u128 p0 = (hsy_u128)a0 * b0;
    hsy_u128 p1 = (hsy_u128)a1 * b0 + (p0 >> 64);
    hsy_u128 p2 = (hsy_u128)a0 * b1 + (uint64_t)p1;

    *low = p2 << 64 | (uint64_t)p0;
    return (hsy_u128)a1 * b1 + (p1 >> 64) + (p2 >> 64);
}

/* floor(n / by), digit by digit in base 2^32: what a compiler makes of a
 * 128-bit division is a call into its own library. */
static hsy_u128 exp_divide(hsy_u128 n, uint32_t by)
{
    hsy_u128 quotient = 0;
    uint64_t rest = 0;

    for (int shift = 96; shift >= 0; shift -= 32) {
        rest = rest << 32 | (uint32_t)(n >> shift);
        quotient = quotient << 32 | rest / by;
        rest %= by;
    }
    return quotient;
}

/* R = floor(2^127 r) = floor(h 2^111 / 5^9), as 64 * 2 * 10^9 = 2^16 5^9. The
 * quotient is below 2^127, its remainders below 2^21. */
static hsy_u128 exp_reduced(uint64_t half_nano)
{
    const uint32_t by = 1953125; /* 5^9 */
    uint64_t top = half_nano << 15;
    hsy_u128 quotient = top / by;
    uint64_t rest = top % by;

    for (int i = 0; i < 3; i++) {
        rest <<= 32;
        quotient = quotient << 32 | rest / by;
        rest %= by;
    }
    return quotient;
}

static void exp_square(struct exp_float *f)
{
    hsy_u128 low;
    hsy_u128 high = exp_multiply(f->m, f->m, &low);
    unsigned carry = (unsigned)(high >> 127);

    /* (2^127 .. 2^128)^2 has 255 or 256 bits: bring the first one to the top.
     */
    f->m = carry ? high : (high << 1 | low >> 127);
    f->k = 2 * f->k + carry;
}

/* Lemma 1. */
static struct exp_float exp_float(uint64_t half_nano)
{
    hsy_u128 r = exp_reduced(half_nano), term = (hsy_u128)1 << 127, low;
    struct exp_float f = {term, 0};

    /* Terms after one that is 0 are 0. */
    for (uint32_t j = 1; j <= EXP_TERMS && term != 0; j++) {
        hsy_u128 high = exp_multiply(term, r, &low);

        term = exp_divide(high << 1 | low >> 127, j);
        f.m += term;
    }
    for (int i = 0; i < EXP_SQUARINGS; i++)
        exp_square(&f);
    return f;
}

/* By Lemma 1 this is the exact floor unless e^x 2^shift lies less than
 * 2^(63 - 115) = 2^-52 above an integer; then it may be one less. */
uint64_t hsy_exp_weight(uint64_t half_nano, unsigned shift)
{
    struct exp_float f = exp_float(half_nano);

    return (uint64_t)(f.m >> (127 - f.k - shift));
}

/* No h in the range brings e^x within 2^-40 of a power of two, relatively (the
 * vectors hold the neighbours of each k ln 2), so rounding changes no bits. */
unsigned hsy_exp_bits(uint64_t half_nano)
{
    return exp_float(half_nano).k + 1;
}

/* A weight A = floor(e^x 2^shift) of 45 bits loses less than 1 / A, 2^-44, of
 * itself; more bits would only make denominators larger, and words that
 * fall outside their multiples more frequent. */
unsigned hsy_exp_shift(uint64_t half_nano)
{
    unsigned bits = hsy_exp_bits(half_nano);

    return bits < EXP_WEIGHT_BITS ? EXP_WEIGHT_BITS - bits : 0;
}

/*
 * With d = e^x + 1 cut to units of 2^(k - 125), at most 2^-114 of it too
 * small, this is the ceiling of 2^64 / d: never below the exact ceiling, and
 * equal to it unless 2^64 / (e^x + 1) lies less than 2^(63 - 114) = 2^-51
 * below an integer; then it may be one more.
 */
uint64_t hsy_exp_flip(uint64_t half_nano)
{
    struct exp_float f = exp_float(half_nano);
    hsy_u128 d = (f.m >> 2) + ((hsy_u128)1 << (125 - f.k));
    hsy_u128 rest = (hsy_u128)1 << 125;
    uint64_t quotient = 0;

    /* 2^64 / d = 2^(64 + 125 - k) over d's integer: schoolbook division, a
     * bit a step. rest < d < 2^127 throughout, so doubling it is safe. */
    for (unsigned i = 0; i < 64 - f.k; i++) {
        rest <<= 1;
        quotient <<= 1;
        if (rest >= d) {
            rest -= d;
            quotient |= 1;
        }
    }
    return quotient + (rest != 0);
}

/* num <= floor(den m 2^(k - 127)), the product in 192 bits. */
bool hsy_exp_covers(uint64_t half_nano, uint64_t num, uint64_t den)
{
    struct exp_float f = exp_float(half_nano);
    hsy_u128 p0 = (hsy_u128)(uint64_t)f.m * den;
    hsy_u128 p1 = (f.m >> 64) * den + (p0 >> 64);

    return num <= p1 >> (63 - f.k);
}

/*
 * By Lemma 1, e^x < m (1 + 2^-114) 2^(k - 127) < (m + 2^14) 2^(k - 127), which
 * is less than v 2^(k - 113) with v = floor(m / 2^14) + 2. The line below asks
 * whether the ceiling of that is at most n.
 */
bool hsy_exp_within(uint64_t half_nano, uint64_t n)
{
    struct exp_float f = exp_float(half_nano);
    hsy_u128 v = (f.m >> 14) + 2;

    return ((v - 1) >> (113 - f.k)) + 1 <= n;
}

uint64_t hsy_exp_cover(uint64_t num, uint64_t den)
{
    uint64_t low = HSY_EPSILON_MIN, high = HSY_EPSILON_MAX;

    if (!hsy_exp_covers(2 * high, num, den))
        return 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (hsy_exp_covers(2 * middle, num, den))
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}
