/*
 * pem.c - prefix extending: frequent strings that nobody listed [WLJ19].
 *
 * A string is spelled in M bits (spell.h), first symbol first. J groups have
 * the prefixes of s_j = min(M, first + j step) bits, j = 1 .. J, s_J = M. A
 * report answers one group, drawn from the published coins: what the truth's
 * prefix is, by a frequency oracle at the full epsilon. Who searches
 * (src/discover) extends the prefixes that are frequent in group j-1 and asks
 * group j.
 *
 * Privacy: that of the engine (sampled.h): the group says nothing of the truth
 * and each oracle keeps epsilon.                docs/mechanisms/pem.md, Thm 1
 *
 * A group of 2^s prefixes is asked by grr where its variance is the least,
 * which is up to 2^s - 2 <= 3 e^epsilon, else by olh: of the prefix, scattered,
 * as an open string. All hash tables together have at most 2^26 cells. These
 * rules are part of the format.
 */
#include "fail.h"
#include "lh.h"
#include "sampled.h"
#include "spell.h"

#define PEM_BITS 48u
#define PEM_FIRST 4u   /* bits of the first prefix, at least */
#define PEM_STEP 8u    /* bits of a step */
#define PEM_DIRECT 22u /* HSY_VALUES_MAX is 2^22 */
#define PEM_REACH 24u  /* bits of the first group: all of them are searched */
#define PEM_CELLS ((uint64_t)1 << 26)
#define PEM_POOL_LEAST 10u
#define PEM_SEED_MAX ((uint64_t)1 << 40)

/* What a spec comes to. */
struct pem_plan {
    uint64_t bits, first, step;
    uint64_t pool_bits, g; /* of the groups that are hashed */
    size_t parts;
};

static uint64_t pem_within(uint64_t x, uint64_t low, uint64_t high)
{
    return x < low ? low : x < high ? x : high;
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
    const uint64_t best =
        pem_epsilon(nano_epsilon) ? hsy_lh_best_range(nano_epsilon) : 2;

    plan->pool_bits = pem_within(pool_bits, 1, HSY_POOL_BITS_MAX);
    if (pool_bits == 0) {
        plan->pool_bits = HSY_POOL_BITS_DEFAULT;
        while (plan->pool_bits > PEM_POOL_LEAST &&
               best > room >> plan->pool_bits)
            plan->pool_bits--;
    }
    plan->g = pem_within(best, 2, room >> plan->pool_bits);
}

/* Of parameters that need not be sound: something to go on with. Those of a
 * resolved scheme come out as they are. */
static struct pem_plan pem_plan(const uint64_t *param, uint64_t nano_epsilon)
{
    struct pem_plan plan = {.bits = param[HSY_PARAM_BITS],
                            .first = param[HSY_PARAM_W],
                            .step = param[HSY_PARAM_STEP]};

    plan.bits =
        plan.bits == 0 ? PEM_BITS : pem_within(plan.bits, 2, HSY_SPELL_BITS);
    plan.step =
        pem_within(plan.step == 0 ? PEM_STEP : plan.step, 1, plan.bits - 1);
    plan.first = plan.first == 0 ? pem_first(plan.bits, plan.step)
                                 : pem_within(plan.first, 1, plan.bits - 1);
    plan.parts = (size_t)((plan.bits - plan.first + plan.step - 1) / plan.step);
    pem_hashes(&plan, param[HSY_PARAM_POOL_BITS], nano_epsilon);
    return plan;
}

/* Bits of the prefixes of part i, that is of group i + 1. */
static uint32_t pem_length(const uint64_t *param, size_t i)
{
    const uint64_t bits = param[HSY_PARAM_BITS];
    const uint64_t reach = param[HSY_PARAM_W] + (i + 1) * param[HSY_PARAM_STEP];

    return (uint32_t)(reach < bits ? reach : bits);
}

static size_t pem_parts(const hsy_spec *spec)
{
    return pem_plan(spec->param, spec->nano_epsilon).parts;
}

/* Whether prefixes of so many bits are asked by grr. */
static bool pem_direct(uint32_t length, uint64_t nano_epsilon)
{
    return length <= PEM_DIRECT && pem_epsilon(nano_epsilon) &&
           hsy_lh_direct((uint64_t)1 << length, nano_epsilon);
}

static void pem_part(hsy_spec *sub, const hsy_spec *spec, size_t i)
{
    const struct pem_plan plan = pem_plan(spec->param, spec->nano_epsilon);
    const uint64_t param[HSY_PARAMS] = {[HSY_PARAM_BITS] = plan.bits,
                                        [HSY_PARAM_W] = plan.first,
                                        [HSY_PARAM_STEP] = plan.step};
    const uint32_t length = pem_length(param, i);

    sub->nano_epsilon = spec->nano_epsilon;
    if (pem_direct(length, spec->nano_epsilon)) {
        sub->kind = HSY_KIND_VALUES;
        sub->d = (uint32_t)1 << length;
        sub->mechanism = "grr";
        return;
    }
    sub->kind = HSY_KIND_STRINGS;
    sub->mechanism = "olh";
    sub->param[HSY_PARAM_G] = plan.g;
    sub->param[HSY_PARAM_POOL_BITS] = plan.pool_bits;
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

static const struct mech_sampled pem_sampled = {
    .parts = pem_parts, .part = pem_part, .code = pem_code};

/* The parameters that are given are ones that pem_plan leaves as they are. */
static hsy_status pem_check(const hsy_spec *spec, const struct pem_plan *plan,
                            hsy_error *err)
{
    const uint64_t *given = spec->param;

    if (given[HSY_PARAM_BITS] != 0 && given[HSY_PARAM_BITS] != plan->bits)
        return hsy_fail_limit(err, HSY_E_RANGE, "bits",
                              "a string is spelled in 2 to 512 bits",
                              HSY_SPELL_BITS);
    if (given[HSY_PARAM_STEP] != 0 && given[HSY_PARAM_STEP] != plan->step)
        return hsy_fail_limit(err, HSY_E_RANGE, "step",
                              "a step has fewer bits than a string",
                              plan->bits - 1);
    if (given[HSY_PARAM_W] != 0 && given[HSY_PARAM_W] != plan->first)
        return hsy_fail_limit(err, HSY_E_RANGE, "w",
                              "the first prefix has fewer bits than a string",
                              plan->bits - 1);
    if (plan->first + plan->step > PEM_REACH)
        return hsy_fail_limit(err, HSY_E_RANGE,
                              given[HSY_PARAM_W] != 0 ? "w" : "step",
                              "w and step are at most 24 bits together: a "
                              "search looks at every prefix of as many",
                              PEM_REACH);
    if (given[HSY_PARAM_POOL_BITS] > HSY_POOL_BITS_MAX ||
        PEM_CELLS / plan->parts >> plan->pool_bits < 2)
        return hsy_fail_limit(err, HSY_E_RANGE, "pool-bits",
                              "all groups' seeds are at most 2^25, those of a "
                              "group at most 2^24",
                              HSY_POOL_BITS_MAX);
    if (given[HSY_PARAM_POOL_SEED] >= PEM_SEED_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, "pool-seed",
                              "the seed of all groups is below 2^40",
                              PEM_SEED_MAX);
    return HSY_OK;
}

static hsy_status pem_resolve(hsy_scheme *s, const hsy_spec *spec,
                              hsy_error *err)
{
    const struct pem_plan plan = pem_plan(spec->param, spec->nano_epsilon);
    hsy_status st = pem_check(spec, &plan, err);

    if (st != HSY_OK)
        return st;
    s->param[HSY_PARAM_BITS] = plan.bits;
    s->param[HSY_PARAM_W] = plan.first;
    s->param[HSY_PARAM_STEP] = plan.step;
    s->param[HSY_PARAM_POOL_BITS] = plan.pool_bits;
    s->param[HSY_PARAM_POOL_SEED] = spec->param[HSY_PARAM_POOL_SEED];
    return hsy_sampled_resolve(s, spec, &pem_sampled, err);
}

static size_t pem_tail_size(const hsy_spec *spec)
{
    return hsy_sampled_size(spec, &pem_sampled);
}

/* ---- Whole strings: from the last group alone ---------------------------- */

static size_t pem_last(const hsy_scheme *s)
{
    return hsy_scheme_parts(s) - 1;
}

static size_t pem_points_scratch(const hsy_scheme *s, size_t count)
{
    return count * sizeof(uint64_t) +
           hsy_points_scratch(hsy_scheme_part(s, pem_last(s)), count);
}

/*
 * Of all n reports `asked` are of the last group, a sample without replacement,
 * whose variance f (1-f) (n - asked) / (asked (n - 1)) comes on top. If that is
 * empty there is no estimate: n is 0.
 */
static void pem_points(const hsy_scheme *s, hsy_point *points,
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
        own[i] = pem_code(s, codes + i * hsy_code_width(s), last);
        points[i] = (hsy_point){0};
    }
    if (view.strata[0] == 0)
        return;
    part->mech->points(part, points, &view, own, count, own + count);
    for (size_t i = 0; i < count; i++)
        points[i].spread = n > 1 ? (n - points[i].n) / (n - 1) : 0;
}

/* Groups of one size. */
static void pem_variance(const hsy_scheme *s, double v[2])
{
    const double parts = (double)hsy_scheme_parts(s);

    hsy_mech_variance(hsy_scheme_part(s, pem_last(s)), v);
    v[0] *= parts;
    v[1] *= parts;
}

/* One candidate is hashed with every seed of the last group. */
static double pem_steps(const hsy_scheme *s, double n)
{
    (void)n;
    return (double)((uint64_t)1 << s->param[HSY_PARAM_POOL_BITS]);
}

const struct hsy_mechanism hsy_mech_pem = {
    .row = {.name = "pem",
            .aliases = "prefix,prefix-extending,discovery",
            .title = "prefix extending: frequent strings that nobody listed",
            .id = 27,
            .kinds = 1u << HSY_KIND_STRINGS},
    .params = 1u << HSY_PARAM_BITS | 1u << HSY_PARAM_W | 1u << HSY_PARAM_STEP |
              1u << HSY_PARAM_POOL_BITS | 1u << HSY_PARAM_POOL_SEED,
    .spell = hsy_spell,
    .resolve = pem_resolve,
    .randomize = hsy_sampled_randomize,
    .randomize_batch = hsy_sampled_batch,
    .check = hsy_sampled_check,
    .tally = hsy_sampled_tally,
    .points = pem_points,
    .points_scratch = pem_points_scratch,
    .variance = pem_variance,
    .steps = pem_steps,
    .tail_size = pem_tail_size,
    .settle = hsy_sampled_settle,
    .sampled = &pem_sampled,
    .law = hsy_sampled_law,
    .law_codes = hsy_sampled_law_codes,
    .law_worst = hsy_sampled_law_worst,
};

#undef PEM_BITS
#undef PEM_FIRST
#undef PEM_STEP
#undef PEM_DIRECT
#undef PEM_REACH
#undef PEM_CELLS
#undef PEM_POOL_LEAST
#undef PEM_SEED_MAX
