/* rappor.h - RAPPOR's parameters. */
#ifndef LIB_MECH_RAPPOR_H
#define LIB_MECH_RAPPOR_H

#include "lib/scheme/scheme.h"

#define RAPPOR_BITS_MOST 4096u
#define RAPPOR_HASHES_MOST 64u
#define RAPPOR_COHORTS_MOST (1u << 16)
#define RAPPOR_CELLS_MOST ((uint64_t)1 << 24) /* 128 MiB of counters */

static inline uint32_t rappor_bits(const hsy_scheme *s)
{
    return (uint32_t)s->param[HSY_PARAM_FILTER_BITS];
}

static inline uint32_t rappor_hashes(const hsy_scheme *s)
{
    return (uint32_t)s->param[HSY_PARAM_HASHES];
}

static inline uint32_t rappor_cohorts(const hsy_scheme *s)
{
    return (uint32_t)s->param[HSY_PARAM_COHORTS];
}

/* The probabilities of both steps from the spec: own, other, nano_epsilon and
 * s->rappor. bits, hashes and cohorts are resolved. */
hsy_status hsy_rappor_chances(hsy_scheme *s, const hsy_spec *spec,
                              hsy_error *err);

#endif
