/*
 * spread.h - a public bijection of 0 .. d-1 that parts neighbours, and exact
 * quotients by public divisors; the time does not depend on the operand.
 *
 * x -> a x mod d, a next to d divided by the golden ratio and prime to d: the
 * images of any run or arithmetic progression of short step lie evenly
 * (three-distance theorem), so blocks of consecutive images get equal shares
 * of neighbouring values.
 */
#ifndef LIB_SCHEME_SPREAD_H
#define LIB_SCHEME_SPREAD_H

#include "lib/bits/ct.h"
#include "lib/bits/u128.h"

/* Quotients by a divisor of 1 .. 2^31. */
struct spread_divisor {
    uint64_t by;
    uint64_t inverse; /* floor((2^64 - 1) / by) */
};

struct spread {
    struct spread_divisor domain;
    uint64_t factor;
};

static inline struct spread_divisor spread_divisor_of(uint64_t by)
{
    return (struct spread_divisor){by, UINT64_MAX / by};
}

/* n / by, and the remainder; n < 2^63. The estimate is never above, and short
 * by one at most: inverse >= 2^64 / by - 1, so n inverse / 2^64 > n / by - 1/2.
 */
static inline uint64_t spread_divide(const struct spread_divisor *d, uint64_t n,
                                     uint64_t *rest)
{
    uint64_t quotient = (uint64_t)((hsy_u128)n * d->inverse >> 64);
    uint64_t left = n - quotient * d->by;
    uint64_t short_by_one = ct_hide(~ct_less(left, d->by));

    *rest = left - (short_by_one & d->by);
    return quotient - short_by_one; /* minus all ones is one more */
}

static inline uint64_t spread_common(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* 2 <= d < 2^31. */
static inline struct spread spread_of(uint64_t d)
{
    /* floor(2^32 / golden ratio) */
    uint64_t factor = (d * 2654435769u >> 32) | 1;

    while (spread_common(factor, d) != 1)
        factor++;
    return (struct spread){spread_divisor_of(d), factor % d};
}

static inline uint64_t spread_at(const struct spread *s, uint64_t x)
{
    uint64_t rest;

    spread_divide(&s->domain, s->factor * x, &rest);
    return rest;
}

#endif
