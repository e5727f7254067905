/*
 * mean.h - what the mechanisms for the mean of a number share: rounding to a
 * grid, and the evidence of a tally whose cells count outputs.
 *
 * A truth x, a share of the range, is rounded at random to one of the grid
 * points 0, 1, .., R (docs/mechanisms/dwm.md, Lemma 2), and the estimate from
 * one report has, with rounded truths s, the second moment
 *
 *     E[(estimate - 1/2)^2] = end + 1/4 - curve h_R,
 *     h_R = mean of (s/R) (1 - s/R),
 *
 * so that n times its variance is end + h - curve h_R, h = mean of x (1 - x).
 */
#ifndef LIB_FAMILY_MEAN_H
#define LIB_FAMILY_MEAN_H

#include "lib/bits/ct.h"
#include "lib/scheme/scheme.h"

#define MEAN_BLOCK 256 /* reports whose coins are drawn at once */

static inline uint64_t mean_width(const hsy_scheme *s)
{
    return (uint64_t)s->hi - (uint64_t)s->lo;
}

/* out[i] uniform below bound, n <= MEAN_BLOCK. */
hsy_status hsy_mean_below(uint64_t *out, size_t n, uint64_t bound,
                          hsy_rng *rng);

/* The grid: R steps of a width, and what it takes to divide by the width. */
struct mean_grid {
    uint64_t width;
    uint64_t inverse; /* nearly 2^64 / (width / 2^cut) */
    uint32_t R;
    unsigned cut;
};

/* 1 <= width < 2^63, 1 <= R < 2^10. */
struct mean_grid hsy_mean_grid(uint64_t width, uint32_t R);

/*
 * floor((code R + u) / width) without a division: with u uniform below width it
 * is code R / width rounded to a neighbour, exactly unbiased. code <= width,
 * u < width. The product falls short of the quotient by less than 2^-20
 * (hsy_mean_grid), so its floor by at most 1; what is then left is below
 * 2 width < 2^64.
 */
static inline uint64_t mean_round(uint64_t code, uint64_t u,
                                  const struct mean_grid *g)
{
    hsy_u128 x = (hsy_u128)code * g->R + u;
    uint64_t step =
        (uint64_t)((hsy_u128)(uint64_t)(x >> g->cut) * g->inverse >> 64);

    return step + 1 + ct_less((uint64_t)x - step * g->width, g->width);
}

/* code R = floor * width + rest, of a code that is no secret: a law's. */
struct mean_place {
    uint64_t floor, rest;
};
struct mean_place hsy_mean_place(uint64_t code, uint64_t width, uint32_t R);

/* P = ((width - rest) at + rest next) / (width total) as factors; their
 * number, at most 2. Exact while width max(at, next) < 2^64, else to 63 binary
 * digits. */
size_t hsy_mean_law(hsy_factor *factors, uint64_t width, uint64_t rest,
                    uint64_t at, uint64_t next, uint64_t total);

/* What a tally says. */
struct mean_evidence {
    double n, value;
    double end, curve; /* as above, over all reports */
    double rounded;    /* h_R as estimated, however far off */
    double R;
};

void hsy_mean_point(hsy_evidence *point, const struct mean_evidence *e);

#endif
