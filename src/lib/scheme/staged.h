/*
 * staged.h - mechanisms that ask one question in stages, of other people each.
 *
 * The stages of one search belong together: they differ in what is public (the
 * number of the stage, its candidates) and in nothing else, so that they are
 * one release and one charge (device/release.c). A person is put into one batch
 * by coins that know no truth, and answers the stage of that batch alone.
 */
#ifndef LIB_SCHEME_STAGED_H
#define LIB_SCHEME_STAGED_H

#include "lib/scheme/sampled.h"

struct mech_staged {
    /* The digest of all that the stages of one search share. No scheme has it.
     */
    void (*family)(const hsy_scheme *s, uint8_t digest[HSY_DIGEST]);

    /* Which stage this is, from 1 on. */
    uint32_t (*number)(const hsy_scheme *s);

    /* Whether this stage is that of the batch which the coins draw. The draw
     * is a function of the family and the coins alone. */
    hsy_status (*mine)(const hsy_scheme *s, bool *mine, hsy_rng *rng);
};

/* Of the mechanism stage (lib/mech/stage_plan.c). */
extern const struct mech_staged hsy_stages;

/* NULL: not asked in stages. */
static inline const struct mech_staged *
mech_staged(const struct hsy_mechanism *mech)
{
    return mech->parts != NULL ? mech->parts->staged : NULL;
}

#endif
