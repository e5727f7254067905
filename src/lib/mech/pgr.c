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

const struct hsy_mechanism hsy_mech_pgr = {
    .row = {.name = "pgr",
            .aliases = "projective,projective-geometry",
            .title = "projective geometry response: a point near the value's",
            .id = 10,
            .kinds = 1u << HSY_KIND_VALUES | 1u << HSY_KIND_BINS,
            .analysis = HSY_ANALYSIS_POINTS},
    .favours = MECH_FAVOURS_POINTS,
    .errors = MECH_ERRORS_DESIGN,
    .params = 1u << HSY_PARAM_Q | 1u << HSY_PARAM_T,
    .resolve = pgr_resolve,
    .support = hsy_projective_support,
    PROJECTIVE_FUNCTIONS,
};
