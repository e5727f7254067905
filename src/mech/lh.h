/* lh.h - what the two halves of local hashing share: lh.c, lh_points.c. */
#ifndef HSY_LH_H
#define HSY_LH_H

#include "mech.h"
#include "pool.h"

/* Whether all codes are small enough for the narrow hash family. */
static inline bool lh_narrow(const hsy_scheme *s)
{
    return s->kind != HSY_KIND_STRINGS && s->d <= HSY_POOL_NARROW;
}

static inline uint32_t lh_hash(const hsy_scheme *s, const struct pool_hash *h,
                               uint64_t code)
{
    return pool_reduce(lh_narrow(s) ? pool_narrow(h, code) : pool_wide(h, code),
                       s->g);
}

static inline size_t lh_pool(const hsy_scheme *s)
{
    return (size_t)1 << s->pool_bits;
}

void hsy_lh_support(const hsy_scheme *s, struct mech_support *out);
void hsy_lh_points(const hsy_scheme *s, hsy_point *points, const hsy_tally *t,
                   const uint64_t *codes, size_t count, void *scratch);
size_t hsy_lh_points_scratch(const hsy_scheme *s, size_t count);

#endif
