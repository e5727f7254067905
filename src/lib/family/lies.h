/* lies.h - how a device lies that wants some values to come out large. */
#ifndef LIB_FAMILY_LIES_H
#define LIB_FAMILY_LIES_H

#include "lib/scheme/scheme.h"

/*
 * One kind of reports. A report supports a set of values; whoever lies chooses
 * it. Coins need not be secret. Nothing here stands between a truth and its
 * report: it is what poison.c plays against a collector.
 */
struct mech_lies {
    /* The share of all reports that support a value. */
    hsy_ratio (*share)(const hsy_scheme *s);

    /* n reports, any with the same chance. */
    hsy_status (*any)(const hsy_scheme *s, uint8_t *reports, size_t n,
                      hsy_rng *rng);

    /* How many of r different targets a report supports at most, 1 <= r <=
     * HSY_TARGETS_MAX, and n reports that do. */
    size_t (*most)(const hsy_scheme *s, const uint64_t *targets, size_t r);
    hsy_status (*best)(const hsy_scheme *s, uint8_t *reports, size_t n,
                       const uint64_t *targets, size_t r, hsy_rng *rng);
};

extern const struct mech_lies hsy_lies_output; /* a value: grr */
extern const struct mech_lies hsy_lies_bits;   /* a bit a value: sue, oue */
extern const struct mech_lies hsy_lies_set;    /* w values: ss */
extern const struct mech_lies hsy_lies_hash;   /* a seed and a hash: olh, blh */

#endif
