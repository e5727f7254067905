/*
 * projective.h - what projective geometry response (pgr) and its hybrid (hpg)
 * share [FNNT22].
 *
 * There are h blocks (one for pgr) of b = (q^t - 1)/(q - 1) points each; a
 * value is a point of one block. Its own outputs are the points of the same
 * block that are orthogonal to it: the two-level law (twolevel.h) with K = h b
 * outputs, (q^(t-1) - 1)/(q - 1) of them own.
 */
#ifndef LIB_FAMILY_PROJECTIVE_H
#define LIB_FAMILY_PROJECTIVE_H

#include "lib/scheme/scheme.h"

#define PROJECTIVE_POINTS_MAX ((uint64_t)1 << 25) /* of all blocks together */
#define PROJECTIVE_T_MAX 25u                      /* 2^25 - 1 points of q = 2 */

/* The sizes that the law depends on. */
struct projective_sizes {
    uint64_t points; /* b */
    uint64_t set;    /* own outputs of a value */
    uint64_t meet;   /* those that two values of a block share */
};

/* ---- projective_sizes.c: parameters -------------------------------------- */

/* q, t in range; UINT64_MAX in points if there are more than 2^25. */
struct projective_sizes hsy_projective_sizes(uint64_t q, uint64_t t);
struct projective_sizes hsy_projective_resolved(const hsy_scheme *s);

/* n times the variance of the estimate, by what the person holds. */
struct projective_variance {
    double own;   /* the value itself */
    double same;  /* another value of its block */
    double other; /* a value of another block */
};

struct projective_variance
hsy_projective_variance(const struct projective_sizes *sizes, double blocks,
                        double rho);

/* rho = A / 2^shift of a resolved scheme. */
double hsy_projective_rho(const hsy_scheme *s);

/* Check q, t and blocks of the spec, choose those that are 0, and resolve:
 * s->param, the two-level law, report and tally. hybrid: blocks may be many,
 * q is small. */
hsy_status hsy_projective_resolve(hsy_scheme *s, const hsy_spec *spec,
                                  bool hybrid, hsy_error *err);

/* ---- projective.c: reports ----------------------------------------------- */

hsy_status hsy_projective_randomize(const hsy_scheme *s, uint8_t *reports,
                                    const uint64_t *codes, size_t n,
                                    hsy_coins *coins);
size_t hsy_projective_law(const hsy_scheme *s, hsy_factor *factors,
                          uint64_t code, const uint8_t *report);
double hsy_projective_steps(const hsy_scheme *s, double n);

/* Points of a block. */
static inline uint32_t projective_points_of(const struct projective *p)
{
    return p->geometry.points[p->geometry.t];
}

/* Where a value stands: its block, and the number of its point there. */
static inline uint32_t projective_place(const struct projective *p,
                                        uint64_t code, uint32_t *point)
{
    uint64_t block = 0, rest = code;

    if (p->blocks > 1)
        block = spread_divide(&p->room, spread_at(&p->spread, code), &rest);
    *point = (uint32_t)rest;
    return (uint32_t)block;
}

/* ---- projective_decode.c: sums over orthogonal points -------------------- */

/* 32-bit words that decoding a block of this geometry takes. */
size_t hsy_projective_decode_words(uint64_t q, uint32_t t);

/* sums[v] = sum of cells[u] >> shift & mask over the points u orthogonal to
 * item v, v < count, modulo 2^32. */
void hsy_projective_decode(const struct kernel_geometry *g,
                           const struct hsy_kernels *kernels, uint32_t *sums,
                           size_t count, const int64_t *cells, unsigned shift,
                           uint32_t mask, uint32_t *scratch);

/* ---- projective_points.c: evidence --------------------------------------- */

/* The pure law of one block. */
void hsy_projective_support(const hsy_scheme *s, struct mech_support *out);
void hsy_projective_points(const hsy_scheme *s, hsy_evidence *points,
                           const hsy_tally *t, const uint64_t *codes,
                           size_t count, void *scratch);
size_t hsy_projective_points_scratch(const hsy_scheme *s, size_t count);

/* Of more blocks than one. */
void hsy_projective_reach(const hsy_scheme *s, double reach[2]);

#endif
