/*
 * pgr.c - projective geometry response [FNNT22].
 *
 * Values are points of the projective space of t coordinates over the field of
 * prime order q. Report a point: one orthogonal to the value's with weight
 * rho = A / 2^shift, any other with weight 1: the two-level law with
 * K = (q^t - 1)/(q - 1) outputs, (q^(t-1) - 1)/(q - 1) of them own, and
 * (q^(t-2) - 1)/(q - 1) common to any two values.
 *
 * Privacy. For every report y and any two truths,
 *     P[y | x] / P[y | x'] <= A / 2^shift <= e^epsilon,
 * the last step because A is rounded down.    docs/mechanisms/pgr.md, Thm 1
 *
 * Report: the point's number, ceil(log2 K) bits.
 */
#include "lib/family/projective.h"
#include "lib/family/twolevel.h"

static hsy_status pgr_resolve(hsy_scheme *s, const hsy_spec *spec,
                              hsy_error *err)
{
    return hsy_projective_resolve(s, spec, false, err);
}

const struct mech_client hsy_mech_pgr_client = {
    .resolve = pgr_resolve,
    .randomize = hsy_projective_randomize,
};

const struct mech_estimate hsy_mech_pgr_estimate = {
    .errors = MECH_ERRORS_DESIGN,
    .points = hsy_projective_points,
    .points_scratch = hsy_projective_points_scratch,
    .support = hsy_projective_support,
    .steps = hsy_projective_steps,
};

const struct mech_law hsy_mech_pgr_law = {
    .favours = MECH_FAVOURS_POINTS,
    .factors = 1,
    .of_code = hsy_projective_law,
    .worst = hsy_twolevel_law_worst,
};
