/*
 * shuffle_scheme.c - which bound of shuffling fits a scheme: the share of the
 * outputs that a truth favours, and the least that two truths share
 * (theory 0.2). Local hashing has pairs of values that rarely collide in
 * its pool, and Hadamard response pairs in different blocks: 0 is safe.
 */
#include "lib/account/internal.h"

#include "lib/core/fail.h"
#include "lib/scheme/scheme.h"

#include <math.h>

struct shuffled_shares {
    double inside, both;
};

static struct shuffled_shares shuffled_grr(const hsy_scheme_info *info)
{
    return (struct shuffled_shares){1.0 / info->d, 0};
}

static struct shuffled_shares shuffled_ss(const hsy_scheme_info *info)
{
    const double d = info->d, w = (double)info->param[HSY_PARAM_SUBSET];

    return (struct shuffled_shares){w / d, w / d * ((w - 1) / (d - 1))};
}

static struct shuffled_shares shuffled_hr(const hsy_scheme_info *info)
{
    const double blocks = (double)info->param[HSY_PARAM_BLOCKS];

    return (struct shuffled_shares){0.5 / blocks, blocks > 1 ? 0 : 0.25};
}

/* Points of a projective space, of a hyperplane, of two. */
static struct shuffled_shares shuffled_pgr(const hsy_scheme_info *info)
{
    const double q = (double)info->param[HSY_PARAM_Q];
    const double t = (double)info->param[HSY_PARAM_T];
    const double points = pow(q, t) - 1;

    return (struct shuffled_shares){(pow(q, t - 1) - 1) / points,
                                    (pow(q, t - 2) - 1) / points};
}

static struct shuffled_shares shuffled_hash(const hsy_scheme_info *info)
{
    return (struct shuffled_shares){1 / (double)info->param[HSY_PARAM_G], 0};
}

static struct shuffled_shares (*const shuffled_shares_of[])(
    const hsy_scheme_info *) = {
    [MECH_FAVOURS_VALUE] = shuffled_grr, [MECH_FAVOURS_SUBSET] = shuffled_ss,
    [MECH_FAVOURS_HALF] = shuffled_hr,   [MECH_FAVOURS_POINTS] = shuffled_pgr,
    [MECH_FAVOURS_HASH] = shuffled_hash,
};

static bool shuffled_symmetric(const hsy_scheme *s)
{
    return s->mech->law->favours == MECH_FAVOURS_BIT &&
           s->bits.own > s->bits.other &&
           s->bits.own + s->bits.other == s->total;
}

hsy_status hsy_shuffle_scheme(hsy_shuffle *out, const hsy_scheme *s, uint64_t n,
                              hsy_error *err)
{
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    if (info.central)
        return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_MECHANISM,
                        "a curator's release has no reports to shuffle");
    *out = (hsy_shuffle){
        .by = shuffled_symmetric(s) ? HSY_SHUFFLE_BINARY : HSY_SHUFFLE_ANY,
        .n = n,
        .epsilon_report = fmin(info.epsilon, info.epsilon_exact * (1 + 1e-15))};
    if (shuffled_shares_of[s->mech->law->favours] != NULL) {
        const struct shuffled_shares shares =
            shuffled_shares_of[s->mech->law->favours](&info);

        out->by = HSY_SHUFFLE_TWO_LEVEL;
        out->favoured = shares.inside;
        out->overlap = shares.both;
    }
    return HSY_OK;
}
