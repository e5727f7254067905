/*
 * unary.h - vectors of noisy bits, for unary encoding and for what holds one:
 * a bit for each value, or for each cell of a sketch's row.
 *
 * A report begins with the vector, bit v at bit v mod 8 of byte v / 8. Of the
 * scheme, own, other and digits must be resolved.
 */
#ifndef LIB_FAMILY_UNARY_H
#define LIB_FAMILY_UNARY_H

#include "lib/scheme/scheme.h"

static inline uint32_t unary_bits(const hsy_scheme *s)
{
    uint64_t width = s->param[HSY_PARAM_WIDTH];

    return width != 0 ? (uint32_t)width : s->d;
}

/* own, other and digits of symmetric bits: epsilon / 2 each. */
void hsy_unary_symmetric(hsy_scheme *s);

/* n vectors, report_bytes apart, whose true bits are codes; the spare bits of
 * the last byte are zero, bytes after it are left alone. Constant shape. */
hsy_status hsy_unary_fill(const hsy_scheme *s, uint8_t *reports,
                          const uint64_t *codes, size_t n, hsy_rng *rng);

/* The same law, for simulation only. */
hsy_status hsy_unary_sparse(const hsy_scheme *s, uint8_t *reports,
                            const uint64_t *codes, size_t n,
                            hsy_stream *secret);

/* P[vector | true bit], a factor for each bit; and the largest ratio. */
size_t hsy_unary_law(const hsy_scheme *s, hsy_factor *factors, uint64_t code,
                     const uint8_t *report);
size_t hsy_unary_law_worst(const hsy_scheme *s, hsy_factor factors[4]);

/* Steps of adding n vectors of d bits, and of estimating from the sums. */
double hsy_unary_steps(const hsy_scheme *s, double n);

#endif
