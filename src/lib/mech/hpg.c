/*
 * hpg.c - hybrid projective geometry response [FNNT22].
 *
 * h blocks, each a projective geometry; a public permutation spreads the values
 * over them (spread.h). Report a point of any block: one of the value's own
 * block and orthogonal to it with weight rho = A / 2^shift, any other with
 * weight 1. Blocks make a set's share of all outputs as small as a large
 * epsilon wants it, and leave q, hence the work of decoding, small.
 *
 * Privacy. As for pgr: the two-level law.       docs/mechanisms/hpg.md, Thm 1
 *
 * Report: block times points of a block plus point, ceil(log2 K) bits.
 */
#include "lib/family/projective.h"
#include "lib/family/twolevel.h"

static hsy_status hpg_resolve(hsy_scheme *s, const hsy_spec *spec,
                              hsy_error *err)
{
    return hsy_projective_resolve(s, spec, true, err);
}

/* At share 0 the others are spread evenly; at share 1 all hold the value. */
static void hpg_variance(const hsy_scheme *s, double v[2])
{
    struct projective_sizes sizes = hsy_projective_resolved(s);
    double h = (double)s->param[HSY_PARAM_BLOCKS];
    struct projective_variance by =
        hsy_projective_variance(&sizes, h, hsy_projective_rho(s));

    v[0] = by.same / h + by.other * ((h - 1) / h);
    v[1] = by.own;
}

const struct mech_client hsy_mech_hpg_client = {
    .resolve = hpg_resolve,
    .randomize = hsy_projective_randomize,
};

const struct mech_estimate hsy_mech_hpg_estimate = {
    .errors = MECH_ERRORS_DESIGN,
    .points = hsy_projective_points,
    .points_scratch = hsy_projective_points_scratch,
    .variance = hpg_variance,
    .reach = hsy_projective_reach,
    .steps = hsy_projective_steps,
};

const struct mech_law hsy_mech_hpg_law = {
    .factors = 1,
    .of_code = hsy_projective_law,
    .worst = hsy_twolevel_law_worst,
};
