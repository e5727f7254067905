/*
 * rappor.h - RAPPOR's parameters, and its two steps apart.
 *
 * A device that keeps the permanent step opens its coins by (source, scheme,
 * truth) and those of the instantaneous step anew for each report; a one-shot
 * report runs both from one source.
 */
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

/* The positions of a code in a cohort, ascending. Constant time in code. */
void hsy_rappor_place(const hsy_scheme *s, uint32_t *positions, uint64_t code,
                      uint32_t cohort);

/* Both steps on lanes of bits: Bloom filters become permanent answers, those
 * become reports. Constant time; the coins depend on words alone. */
hsy_status hsy_rappor_permanent(const hsy_scheme *s, uint64_t *lanes,
                                size_t words, hsy_rng *rng);
hsy_status hsy_rappor_instant(const hsy_scheme *s, uint64_t *lanes,
                              size_t words, hsy_rng *rng);

#endif
