/* lh.h - what the two halves of local hashing share: lh.c, lh_points.c. */
#ifndef LIB_FAMILY_LH_H
#define LIB_FAMILY_LH_H

#include "lib/kernels/pool.h"
#include "lib/scheme/scheme.h"

static inline uint32_t lh_range(const hsy_scheme *s)
{
    return (uint32_t)s->param[HSY_PARAM_G];
}

static inline uint32_t lh_pool_bits(const hsy_scheme *s)
{
    return (uint32_t)s->param[HSY_PARAM_POOL_BITS];
}

static inline size_t lh_pool(const hsy_scheme *s)
{
    return (size_t)1 << lh_pool_bits(s);
}

/* Function number j of the scheme's pool. */
static inline struct pool_hash lh_function(const hsy_scheme *s, size_t j)
{
    return hsy_pool_at(s->param[HSY_PARAM_POOL_SEED], (uint32_t)j);
}

/* Whether all codes are small enough for the narrow hash family. */
static inline bool lh_narrow(const hsy_scheme *s)
{
    return s->kind != HSY_KIND_STRINGS && s->d <= HSY_POOL_NARROW;
}

static inline uint32_t lh_hash(const hsy_scheme *s, const struct pool_hash *h,
                               uint64_t code)
{
    return pool_reduce(lh_narrow(s) ? pool_narrow(h, code) : pool_wide(h, code),
                       lh_range(s));
}

/* The g with the least variance at share 0. */
uint64_t hsy_lh_best_range(uint64_t nano_epsilon);

/* Whether m < 2^23 values are better asked by grr, whose variance is the least
 * up to m - 2 <= 3 e^epsilon. epsilon is in its range. */
bool hsy_lh_direct(uint64_t m, uint64_t nano_epsilon);

void hsy_lh_support(const hsy_scheme *s, struct mech_support *out);
void hsy_lh_points(const hsy_scheme *s, hsy_evidence *points,
                   const hsy_tally *t, const uint64_t *codes, size_t count,
                   void *scratch);
size_t hsy_lh_points_scratch(const hsy_scheme *s, size_t count);

#endif
