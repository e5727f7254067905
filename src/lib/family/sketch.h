/*
 * sketch.h - what the two count-mean sketches share: k rows of m cells.
 *
 * Row j has a public hash function h_j of the pool (pool.h), from any code to
 * [0, m). A person draws a public row and tells, with noise, h_j(truth). Under
 * a random hash the support of a value follows the pure law (theory 0.1):
 * its own reports by p, others by q, which holds the 1/m that collide.
 */
#ifndef LIB_FAMILY_SKETCH_H
#define LIB_FAMILY_SKETCH_H

#include "lib/kernels/pool.h"
#include "lib/scheme/scheme.h"

static inline uint32_t sketch_rows(const hsy_scheme *s)
{
    return (uint32_t)s->param[HSY_PARAM_HASHES];
}

static inline uint32_t sketch_width(const hsy_scheme *s)
{
    return (uint32_t)s->param[HSY_PARAM_WIDTH];
}

/* What is hashed: a string's code is scattered already. */
static inline uint64_t sketch_code(const hsy_scheme *s, uint64_t code)
{
    return s->kind == HSY_KIND_STRINGS ? code : pool_scatter(code);
}

static inline struct pool_hash sketch_function(const hsy_scheme *s, uint32_t j)
{
    return hsy_pool_at(s->param[HSY_PARAM_POOL_SEED], j);
}

/* h_j(code). Constant time in code; j is public. */
static inline uint32_t sketch_cell(const hsy_scheme *s, uint32_t j,
                                   uint64_t code)
{
    struct pool_hash h = sketch_function(s, j);

    return pool_reduce(pool_wide(&h, sketch_code(s, code)), sketch_width(s));
}

#define SKETCH_WIDTH_MAX (1u << 20)

/* Rows, width and pool of s from the spec, and its cells. */
hsy_status hsy_sketch_resolve(hsy_scheme *s, const hsy_spec *spec,
                              hsy_error *err);

/* v0 and v1 over random hashes; what k rows collide alike is not in it. */
void hsy_sketch_variance(const hsy_scheme *s, double v[2]);

/* kappa = 1 / ((m - 1) k): over random hashes the variance of the collisions of
 * a value with people who all hold one other. */
double hsy_sketch_kappa(const hsy_scheme *s);

/*
 * Points from the support that the table gives: row after row of m numbers,
 * whose sum over rows of the one at h_j(v), times scale, plus base, is the
 * support of v. transform: they are the Walsh-Hadamard transforms of the cells.
 * Less q times its row's reports, over gap, a number has the mean of the row's
 * people in the cell, and the squares of all m of a row `noise` times these
 * people more. strata: reports of each row, NULL if they are not known.
 */
struct sketch_reading {
    bool transform;
    double scale, base;
    double q, gap, noise;
    const uint64_t *strata;
};

void hsy_sketch_points(const hsy_scheme *s, hsy_evidence *points,
                       const hsy_tally *t, const uint64_t *codes, size_t count,
                       void *scratch, const struct sketch_reading *reading);
size_t hsy_sketch_points_scratch(const hsy_scheme *s, size_t count);

#endif
