/*
 * pem.c - prefix extending: frequent strings that nobody listed [WLJ19].
 *
 * A string is spelled in M bits (spell.h), first symbol first. J groups have
 * the prefixes of s_j = min(M, first + j step) bits, j = 1 .. J, s_J = M. A
 * report answers one group, drawn from the published coins: what the truth's
 * prefix is, by a frequency oracle at the full epsilon. Who searches
 * (src/lib/discover) extends the prefixes that are frequent in group j-1 and
 * asks group j.
 *
 * Privacy: that of the engine (sampled.h): the group says nothing of the truth
 * and each oracle keeps epsilon.                docs/mechanisms/pem.md, Thm 1
 *
 * The spec names the oracle of all groups. If it names none, a group of 2^s
 * prefixes is asked by grr where its variance is the least, which is up to
 * 2^s - 2 <= 3 e^epsilon, else by olh. Oracles that hash take the prefix,
 * scattered, as an open string; the others take it as one of 2^s values. All
 * hash tables together have at most 2^26 cells. These rules are part of the
 * format.
 */
#include "lib/core/fail.h"
#include "lib/family/lh.h"
#include "lib/scheme/sampled.h"
#include "lib/scheme/scheme.h"
#include "lib/scheme/spell.h"

#define PEM_BITS 48u
#define PEM_FIRST 4u   /* bits of the first prefix, at least */
#define PEM_STEP 8u    /* bits of a step */
#define PEM_DIRECT 22u /* HSY_VALUES_MAX is 2^22 */
#define PEM_REACH 24u  /* bits of the first group: all of them are searched */
#define PEM_CELLS ((uint64_t)1 << 26)
#define PEM_POOL_LEAST 10u
#define PEM_SEED_MAX ((uint64_t)1 << 40)
#define PEM_WIDTH 1024u                      /* of a sketch, and most rows */
#define PEM_ROWS 16u                         /* at least */
#define PEM_SKETCH_CELLS ((uint64_t)1 << 22) /* of all groups, by default */

/* The mechanisms that can answer for candidates. */
enum pem_how {
    PEM_RULE,   /* no name: as said above */
    PEM_LISTED, /* all prefixes are its values */
    PEM_POOL,   /* hash functions of a pool */
    PEM_BINARY, /* the same, to two values */
    PEM_SKETCH, /* rows of cells */
    PEM_UNFIT
};

static const struct pem_oracle {
    const char *name;
    enum pem_how how;
} pem_oracles[] = {
    {"grr", PEM_LISTED}, {"ss", PEM_LISTED},   {"pgr", PEM_LISTED},
    {"hpg", PEM_LISTED}, {"hr", PEM_LISTED},   {"sue", PEM_LISTED},
    {"oue", PEM_LISTED}, {"olh", PEM_POOL},    {"blh", PEM_BINARY},
    {"cms", PEM_SKETCH}, {"hcms", PEM_SKETCH},
};

#define PEM_ORACLES (sizeof pem_oracles / sizeof pem_oracles[0])

/* What a spec comes to. */
struct pem_plan {
    uint64_t bits, first, step;
    enum pem_how how;
    uint64_t pool_bits, g;  /* of the groups that are hashed */
    uint64_t hashes, width; /* of those that are sketched */
    size_t parts;
};

static enum pem_how pem_how(const char *name)
{
    if (name == NULL)
        return PEM_RULE;
    for (size_t i = 0; i < PEM_ORACLES; i++)
        if (hsy_mech_named(name) == hsy_mech_named(pem_oracles[i].name))
            return pem_oracles[i].how;
    return PEM_UNFIT;
}

static bool pem_pools(enum pem_how how)
{
    return how == PEM_RULE || how == PEM_POOL || how == PEM_BINARY;
}

/* As few bits as leave a whole number of steps, at least PEM_FIRST; where that
 * is too many to search, PEM_FIRST. One step may be all there is. */
static uint64_t pem_first(uint64_t bits, uint64_t step)
{
    uint64_t first;

    if (bits - step <= PEM_FIRST)
        return bits - step;
    first = PEM_FIRST + (bits - PEM_FIRST) % step;
    return first + step <= PEM_REACH ? first : PEM_FIRST;
}

static bool pem_epsilon(uint64_t nano_epsilon)
{
    return nano_epsilon >= HSY_EPSILON_MIN && nano_epsilon <= HSY_EPSILON_MAX;
}

/* The default pool, or the largest with which the best g has room for its
 * cells; and g, the best or as much as there is room for. */
static void pem_hashes(struct pem_plan *plan, uint64_t pool_bits,
                       uint64_t nano_epsilon)
{
    const uint64_t room = PEM_CELLS / plan->parts;
    const uint64_t best = plan->how != PEM_BINARY && pem_epsilon(nano_epsilon)
                              ? hsy_lh_best_range(nano_epsilon)
                              : 2;

    plan->pool_bits = sampled_within(pool_bits, 1, HSY_POOL_BITS_MAX);
    if (pool_bits == 0) {
        plan->pool_bits = HSY_POOL_BITS_DEFAULT;
        while (plan->pool_bits > PEM_POOL_LEAST &&
               best > room >> plan->pool_bits)
            plan->pool_bits--;
    }
    plan->g = sampled_within(best, 2, room >> plan->pool_bits);
}

/* As many rows as the counters have room for. */
static void pem_sketches(struct pem_plan *plan, const uint64_t *param)
{
    uint64_t rows = PEM_WIDTH;

    plan->width =
        param[HSY_PARAM_WIDTH] == 0 ? PEM_WIDTH : param[HSY_PARAM_WIDTH];
    while (rows > PEM_ROWS &&
           rows * plan->parts > PEM_SKETCH_CELLS / plan->width)
        rows /= 2;
    plan->hashes =
        param[HSY_PARAM_HASHES] == 0 ? rows : param[HSY_PARAM_HASHES];
}

/* Of a spec that need not be sound: something to go on with. Parameters of a
 * resolved scheme come out as they are. */
static struct pem_plan pem_plan(const hsy_spec *spec)
{
    const uint64_t *param = spec->param;
    struct pem_plan plan = {.bits = param[HSY_PARAM_BITS],
                            .first = param[HSY_PARAM_FIRST],
                            .step = param[HSY_PARAM_STEP],
                            .how = pem_how(spec->oracle)};

    plan.bits = plan.bits == 0 ? PEM_BITS
                               : sampled_within(plan.bits, 2, HSY_SPELL_BITS);
    plan.step =
        sampled_within(plan.step == 0 ? PEM_STEP : plan.step, 1, plan.bits - 1);
    plan.first = plan.first == 0 ? pem_first(plan.bits, plan.step)
                                 : sampled_within(plan.first, 1, plan.bits - 1);
    plan.parts = (size_t)((plan.bits - plan.first + plan.step - 1) / plan.step);
    if (pem_pools(plan.how))
        pem_hashes(&plan, param[HSY_PARAM_POOL_BITS], spec->nano_epsilon);
    if (plan.how == PEM_SKETCH)
        pem_sketches(&plan, param);
    return plan;
}

/* Bits of the prefixes of part i, that is of group i + 1. */
static uint32_t pem_length(const uint64_t *param, size_t i)
{
    const uint64_t bits = param[HSY_PARAM_BITS];
    const uint64_t reach =
        param[HSY_PARAM_FIRST] + (i + 1) * param[HSY_PARAM_STEP];

    return (uint32_t)(reach < bits ? reach : bits);
}

static size_t pem_parts(const hsy_spec *spec)
{
    return pem_plan(spec).parts;
}

/* Whether prefixes of so many bits are values, by the rule those for grr. */
static bool pem_listed(const struct pem_plan *plan, uint32_t length,
                       uint64_t nano_epsilon)
{
    if (plan->how != PEM_RULE)
        return plan->how == PEM_LISTED;
    return length <= PEM_DIRECT && pem_epsilon(nano_epsilon) &&
           hsy_lh_direct((uint64_t)1 << length, nano_epsilon);
}

static void pem_part(hsy_spec *sub, const hsy_spec *spec, size_t i)
{
    const struct pem_plan plan = pem_plan(spec);
    const uint64_t param[HSY_PARAMS] = {[HSY_PARAM_BITS] = plan.bits,
                                        [HSY_PARAM_FIRST] = plan.first,
                                        [HSY_PARAM_STEP] = plan.step};
    const uint32_t length = pem_length(param, i);
    const struct hsy_mechanism *mech;

    sub->nano_epsilon = spec->nano_epsilon;
    if (pem_listed(&plan, length, spec->nano_epsilon)) {
        sub->kind = HSY_KIND_VALUES;
        sub->d = (uint32_t)1
                 << (length < 31 ? length : 31); /* 2^31 do not do */
        sub->mechanism = plan.how == PEM_RULE ? "grr" : spec->oracle;
    } else {
        sub->kind = HSY_KIND_STRINGS;
        sub->mechanism = plan.how == PEM_RULE ? "olh" : spec->oracle;
        sub->param[HSY_PARAM_G] = plan.g;
        sub->param[HSY_PARAM_POOL_BITS] = plan.pool_bits;
        sub->param[HSY_PARAM_HASHES] = plan.hashes;
        sub->param[HSY_PARAM_WIDTH] = plan.width;
    }
    mech = hsy_mech_named(sub->mechanism);
    if (mech != NULL && (mech->params >> HSY_PARAM_POOL_SEED & 1) != 0)
        sub->param[HSY_PARAM_POOL_SEED] =
            (spec->param[HSY_PARAM_POOL_SEED] % PEM_SEED_MAX << 8) + i + 1;
}

/* The prefix itself, or as an open string where it is hashed. */
static uint64_t pem_code(const hsy_scheme *s, const uint64_t *codes, size_t i)
{
    const uint64_t length = pem_length(s->param, i);
    uint64_t prefix[HSY_SPELL_WORDS];

    hsy_spell_prefix(prefix, codes, s->param[HSY_PARAM_BITS], length);
    return hsy_scheme_part(s, i)->kind == HSY_KIND_STRINGS
               ? hsy_spell_hash(prefix, length)
               : prefix[0];
}

const struct mech_parts hsy_mech_pem_parts = {
    .parts = pem_parts, .part = pem_part, .code = pem_code};

static hsy_status pem_check_pool(const hsy_spec *spec,
                                 const struct pem_plan *plan, hsy_error *err)
{
    const uint64_t bits = spec->param[HSY_PARAM_POOL_BITS];
    const bool pool = pem_pools(plan->how);

    if (bits != 0 && !pool)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_POOL_BITS,
                        "only the oracles olh and blh have a pool");
    if (pool && (bits > HSY_POOL_BITS_MAX ||
                 PEM_CELLS / plan->parts >> plan->pool_bits < 2))
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_POOL_BITS,
                              "all groups' seeds are at most 2^25, those of a "
                              "group at most 2^24",
                              HSY_POOL_BITS_MAX);
    if (spec->param[HSY_PARAM_POOL_SEED] >= PEM_SEED_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_POOL_SEED,
                              "the seed of all groups is below 2^40",
                              PEM_SEED_MAX);
    return HSY_OK;
}

static hsy_status pem_check_sketch(const hsy_spec *spec,
                                   const struct pem_plan *plan, hsy_error *err)
{
    const bool hashes = spec->param[HSY_PARAM_HASHES] != 0;

    if (plan->how != PEM_SKETCH &&
        (hashes || spec->param[HSY_PARAM_WIDTH] != 0))
        return hsy_fail(err, HSY_E_RANGE,
                        hashes ? HSY_FIELD_HASHES : HSY_FIELD_WIDTH,
                        "only the oracles cms and hcms have a sketch");
    if (plan->how == PEM_SKETCH &&
        plan->width > PEM_CELLS / plan->parts / plan->hashes)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_WIDTH,
                              "groups times hashes times width is at most 2^26",
                              PEM_CELLS / plan->parts / plan->hashes);
    return HSY_OK;
}

/* Of an oracle of listed values the longest prefixes are the most. */
static hsy_status pem_check_oracle(const hsy_spec *spec,
                                   const struct pem_plan *plan, hsy_error *err)
{
    hsy_spec last = {.size = sizeof last,
                     .kind = HSY_KIND_VALUES,
                     .nano_epsilon = spec->nano_epsilon,
                     .mechanism = spec->oracle};
    hsy_scheme part;

    if (plan->how == PEM_UNFIT)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ORACLE,
                        "it cannot answer for candidates: olh, blh, cms and "
                        "hcms do for any, grr, ss, pgr, hpg, hr, sue and oue "
                        "for prefixes of few bits");
    if (plan->how != PEM_LISTED)
        return HSY_OK;
    last.d = (uint32_t)1 << (plan->bits < 31 ? plan->bits : 31);
    if (hsy_scheme_head(&part, NULL, &last, NULL) != HSY_OK)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ORACLE,
                        "it does not know that many values: give strings "
                        "fewer bits, or take olh, blh, cms or hcms");
    return HSY_OK;
}

/* The parameters that are given are ones that pem_plan leaves as they are. */
static hsy_status pem_check(const hsy_spec *spec, const struct pem_plan *plan,
                            hsy_error *err)
{
    const uint64_t *given = spec->param;

    if (given[HSY_PARAM_BITS] != 0 && given[HSY_PARAM_BITS] != plan->bits)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_BITS,
                               "a string is spelled in 2 to 512 bits",
                               HSY_SPELL_BITS);
    if (given[HSY_PARAM_STEP] != 0 && given[HSY_PARAM_STEP] != plan->step)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_STEP,
                              "a step has fewer bits than a string",
                              plan->bits - 1);
    if (given[HSY_PARAM_FIRST] != 0 && given[HSY_PARAM_FIRST] != plan->first)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_FIRST,
                              "the first prefix has fewer bits than a string",
                              plan->bits - 1);
    if (plan->first + plan->step > PEM_REACH)
        return hsy_fail_stated(err, HSY_E_RANGE,
                               given[HSY_PARAM_FIRST] != 0 ? HSY_FIELD_FIRST
                                                           : HSY_FIELD_STEP,
                               "first and step are at most 24 bits together: a "
                               "search looks at every prefix of as many",
                               PEM_REACH);
    if (plan->parts > HSY_STAGES_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_STEP,
                              "there are at most 64 groups: take more bits a "
                              "step",
                              (plan->bits - plan->first + HSY_STAGES_MAX - 1) /
                                  HSY_STAGES_MAX);
    return HSY_OK;
}

static hsy_status pem_resolve(hsy_scheme *s, const hsy_spec *spec,
                              hsy_error *err)
{
    const struct pem_plan plan = pem_plan(spec);
    hsy_status st = pem_check(spec, &plan, err);

    if (st == HSY_OK)
        st = pem_check_oracle(spec, &plan, err);
    if (st == HSY_OK)
        st = pem_check_pool(spec, &plan, err);
    if (st == HSY_OK)
        st = pem_check_sketch(spec, &plan, err);
    if (st != HSY_OK)
        return st;
    s->param[HSY_PARAM_BITS] = plan.bits;
    s->param[HSY_PARAM_FIRST] = plan.first;
    s->param[HSY_PARAM_STEP] = plan.step;
    s->param[HSY_PARAM_POOL_BITS] = plan.pool_bits;
    s->param[HSY_PARAM_POOL_SEED] = spec->param[HSY_PARAM_POOL_SEED];
    s->param[HSY_PARAM_HASHES] = plan.hashes;
    s->param[HSY_PARAM_WIDTH] = plan.width;
    return hsy_sampled_resolve(s, spec, err);
}

/* ---- Whole strings: from the last group alone ---------------------------- */

static size_t pem_last(const hsy_scheme *s)
{
    return hsy_scheme_parts(s) - 1;
}

static size_t pem_points_scratch(const hsy_scheme *s, size_t count)
{
    return count * sizeof(uint64_t) +
           hsy_evidence_scratch(hsy_scheme_part(s, pem_last(s)), count);
}

/*
 * Of all n reports `asked` are of the last group, a sample without replacement,
 * whose variance f (1-f) (n - asked) / (asked (n - 1)) comes on top. If that is
 * empty there is no estimate: n is 0.
 */
static void pem_points(const hsy_scheme *s, hsy_evidence *points,
                       const hsy_tally *t, const uint64_t *codes, size_t count,
                       void *scratch)
{
    const size_t last = pem_last(s);
    const hsy_scheme *part = hsy_scheme_part(s, last);
    const double n = (double)hsy_tally_reports(t);
    uint64_t *own = scratch;
    hsy_tally view;

    hsy_tally_part(&view, t, s, last);
    for (size_t i = 0; i < count; i++) {
        own[i] = pem_code(s, codes + i * hsy_codes_per_truth(s), last);
        points[i] = (hsy_evidence){0};
    }
    if (hsy_tally_reports(&view) == 0)
        return;
    part->mech->estimate->points(part, points, &view, own, count, own + count);
    for (size_t i = 0; i < count; i++)
        points[i].binomial_variance = n > 1 ? (n - points[i].n) / (n - 1) : 0;
}

/* Groups of one size. */
static void pem_variance(const hsy_scheme *s, double v[2])
{
    const double parts = (double)hsy_scheme_parts(s);

    hsy_mech_variance(hsy_scheme_part(s, pem_last(s)), v);
    v[0] *= parts;
    v[1] *= parts;
}

/* One candidate is hashed with every seed or row of the last group. */
static double pem_steps(const hsy_scheme *s, double n)
{
    const uint64_t rows = s->param[HSY_PARAM_HASHES];

    (void)n;
    return rows != 0 ? (double)rows
                     : (double)((uint64_t)1 << s->param[HSY_PARAM_POOL_BITS]);
}

/* TreeHist [BNST17]: a bit a group from the first on, each prefix by one bit of
 * a Hadamard transform. */
static void pem_configure(hsy_spec *spec)
{
    if (!hsy_mech_listed(spec->mechanism, "treehist"))
        return;
    if (spec->param[HSY_PARAM_STEP] == 0)
        spec->param[HSY_PARAM_STEP] = 1;
    if (spec->param[HSY_PARAM_FIRST] == 0)
        spec->param[HSY_PARAM_FIRST] = 1;
    if (spec->oracle == NULL)
        spec->oracle = "hcms";
}

const struct mech_client hsy_mech_pem_client = {
    .configure = pem_configure,
    .resolve = pem_resolve,
    .spell = hsy_spell,
    .randomize = hsy_sampled_randomize,
    .settle = hsy_sampled_settle,
};

const struct mech_estimate hsy_mech_pem_estimate = {
    .points = pem_points,
    .points_scratch = pem_points_scratch,
    .variance = pem_variance,
    .steps = pem_steps,
};
