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

const struct hsy_mechanism hsy_mech_hpg = {
    .row = {.name = "hpg",
            .aliases = "hybrid-projective",
            .title = "hybrid projective geometry response: a block and a point",
            .id = 11,
            .kinds = 1u << HSY_KIND_VALUES | 1u << HSY_KIND_BINS,
            .analysis = HSY_ANALYSIS_POINTS},
    .errors = MECH_ERRORS_DESIGN,
    .params = 1u << HSY_PARAM_Q | 1u << HSY_PARAM_T | 1u << HSY_PARAM_BLOCKS,
    .resolve = hpg_resolve,
    .variance = hpg_variance,
    .reach = hsy_projective_reach,
    PROJECTIVE_FUNCTIONS,
};
