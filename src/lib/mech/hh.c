/*
 * hh.c - hierarchical histogram: ranges from a tree of bins [CKS19].
 *
 * The d bins are the leaves of a tree in which a node has B children (fanout).
 * Level l of h, from 1 below the root to h at the leaves, has ceil(d / B^(h-l))
 * nodes. A report answers one level, drawn from the published coins: which node
 * of that level the truth lies in, by a frequency oracle at the full epsilon.
 *
 * Privacy: that of the engine (sampled.h): the level says nothing of the truth
 * and each oracle keeps epsilon.                 docs/mechanisms/hh.md, Thm 1
 *
 * A level of m nodes is asked by grr where its variance is the least, which is
 * up to m - 2 <= 3 e^epsilon, else by olh. This rule is part of the format.
 */
#include "lib/core/fail.h"
#include "lib/family/lh.h"
#include "lib/family/tree.h"
#include "lib/scheme/sampled.h"

#define HH_FANOUT_MAX 1024u
#define HH_POOL_BITS 12 /* public hash functions of a level */

/* h with B^(h-1) < d <= B^h. */
static unsigned hh_levels(uint64_t d, uint64_t fanout)
{
    unsigned levels = 1;

    for (uint64_t reach = fanout; reach < d; reach *= fanout)
        levels++;
    return levels;
}

/*
 * 4 or 8, whichever makes (B + 1) h^2 smaller: what the variance of a range is
 * proportional to, once consistent [CKS19]; its best B, where B ln B = 2B + 2,
 * is 9.19, and it is flat around there.
 */
static uint64_t hh_best_fanout(uint64_t d)
{
    unsigned four = hh_levels(d, 4), eight = hh_levels(d, 8);

    return 9 * eight * eight < 5 * four * four ? 8 : 4;
}

/* Of a spec that need not be sound: something to go on with. */
static uint64_t hh_fanout(const hsy_spec *spec)
{
    uint64_t fanout = spec->param[HSY_PARAM_FANOUT];

    if (fanout == 0)
        return hh_best_fanout(spec->d);
    return fanout < 2 ? 2 : fanout < HH_FANOUT_MAX ? fanout : HH_FANOUT_MAX;
}

static size_t hh_parts(const hsy_spec *spec)
{
    return hh_levels(spec->d, hh_fanout(spec));
}

/* Leaves below a node of part i, that is of level i + 1. */
static uint64_t hh_leaves(size_t parts, uint64_t fanout, size_t i)
{
    uint64_t leaves = 1;

    for (size_t k = i + 1; k < parts; k++)
        leaves *= fanout;
    return leaves;
}

static void hh_part(hsy_spec *sub, const hsy_spec *spec, size_t i)
{
    uint64_t leaves = hh_leaves(hh_parts(spec), hh_fanout(spec), i);

    sub->kind = HSY_KIND_VALUES;
    sub->nano_epsilon = spec->nano_epsilon;
    sub->d = (uint32_t)((spec->d + leaves - 1) / leaves);
    sub->mechanism = "grr";
    if (spec->nano_epsilon < HSY_EPSILON_MIN ||
        spec->nano_epsilon > HSY_EPSILON_MAX || /* which init refuses */
        hsy_lh_direct(sub->d, spec->nano_epsilon))
        return;
    sub->mechanism = "olh";
    sub->param[HSY_PARAM_POOL_BITS] = HH_POOL_BITS;
    sub->param[HSY_PARAM_POOL_SEED] = i + 1;
}

/*
 * floor(code / k) without dividing what is secret. With m = ceil(2^44 / k) the
 * product code m / 2^44 exceeds code / k by code (m k - 2^44) / (k 2^44), which
 * is below 1 / k as code < 2^22 and m k - 2^44 < k <= 2^22.
 */
static uint64_t hh_code(const hsy_scheme *s, const uint64_t *codes, size_t i)
{
    const uint64_t one = (uint64_t)1 << 44;
    uint64_t k = hh_leaves(s->parts.count, s->param[HSY_PARAM_FANOUT], i);

    return (uint64_t)((hsy_u128)codes[0] * ((one + k - 1) / k) >> 44);
}

const struct mech_parts hsy_mech_hh_parts = {
    .parts = hh_parts, .part = hh_part, .code = hh_code};

static hsy_status hh_resolve(hsy_scheme *s, const hsy_spec *spec,
                             hsy_error *err)
{
    uint64_t fanout = spec->param[HSY_PARAM_FANOUT];

    if (fanout == 1)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_FANOUT,
                               "a node has at least 2 children", 2);
    if (fanout > HH_FANOUT_MAX)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_FANOUT,
                               "a node has at most 1024 children",
                               HH_FANOUT_MAX);
    s->param[HSY_PARAM_FANOUT] = hh_fanout(spec);
    return hsy_sampled_resolve(s, spec, err);
}

const struct mech_client hsy_mech_hh_client = {
    .resolve = hh_resolve,
    .randomize = hsy_sampled_randomize,
    .settle = hsy_sampled_settle,
};

const struct mech_estimate hsy_mech_hh_estimate = {
    .errors = MECH_ERRORS_TOGETHER,
    .points = hsy_tree_points,
    .points_scratch = hsy_tree_points_scratch,
    .variance = hsy_tree_points_variance,
};
