/* permanent.h - what a permanent answer must know of its mechanism
 * (permanent.c). */
#ifndef LIB_SCHEME_PERMANENT_H
#define LIB_SCHEME_PERMANENT_H

#include "lib/scheme/scheme.h"

/* What the step of one report does to a permanent answer. */
enum permanent_step {
    PERMANENT_OUTPUT, /* takes another output at times, any of all */
    PERMANENT_FLIP,   /* flips bits, each alike */
    PERMANENT_INSTANT /* RAPPOR's second step, which stands in the scheme */
};

/* The part of an answer that carries noise. */
struct permanent_part {
    uint32_t first;  /* its lowest bit */
    uint32_t count;  /* outputs, or bits */
    uint32_t differ; /* bits in which the answers to two keys have another law,
                        at most */
};

struct mech_permanent {
    enum permanent_step step;
    struct permanent_part (*part)(const hsy_scheme *s);

    /* The key of a code in the domain, in constant time; NULL: the code. */
    hsy_status (*key)(const hsy_permanent *c, uint64_t *key, uint64_t code,
                      hsy_coins *own);

    /* How many keys there are; NULL: as many as codes. */
    uint64_t (*keys)(const hsy_permanent *c);

    /* The permanent answer of a key below keys, in constant time; NULL: what
     * randomize makes of the key as a code. */
    hsy_status (*permanent)(const hsy_permanent *c, uint8_t *answer,
                            uint64_t key, hsy_coins *coins);

    /* PERMANENT_INSTANT: that step, on lanes of bits, in constant time. */
    hsy_status (*instant)(const hsy_scheme *s, uint64_t *lanes, size_t words,
                          hsy_rng *rng);
};

/* How many keys there can be, 0 if more than 2^63. */
uint64_t hsy_permanent_keys(const hsy_permanent *c);

#endif
