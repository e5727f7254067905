/*
 * stage.c - one stage of an interactive search for frequent strings [WLJ19].
 *
 * A string is spelled in M bits (spell.h). Stage i asks for its first L = i b
 * bits. The candidates are the prefixes that survived stage i - 1, which are
 * public, each with all 2^b continuations; every other string is the one value
 * "other":
 *
 *     D_i = C_(i-1) x {0,1}^b,   C_0 = {nothing},   d = |D_i| + 1.
 *
 * Which of the d values a string is, is asked by a frequency oracle at the full
 * epsilon. Every person answers one stage in their life: that of their batch,
 * drawn from coins that know no truth, with chances in the proportion of the
 * batches' sizes.
 *
 * Privacy. The value is a function of the truth and of public numbers, and its
 * answer keeps epsilon.                      docs/mechanisms/stage.md, Thm 1
 *
 * The survivors are the scheme's labels: lower-case hexadecimal digits, the
 * first bit highest, zeros after the last; all of one length, in ascending
 * order. The oracle is what the spec names; if it names none, grr where its
 * variance is the least, which is up to d - 2 <= 3 e^epsilon, else pgr. These
 * rules are part of the format.
 *
 * Report: the oracle's, and zeros up to the length that it has with `most`
 * candidates: all stages of a search have reports of one length.
 */
#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/core/fail.h"
#include "lib/family/lh.h"
#include "lib/scheme/sampled.h"
#include "lib/scheme/scheme.h"
#include "lib/scheme/spell.h"

#include <string.h>

#define STAGE_BITS 48u
#define STAGE_STEP 8u
#define STAGE_STEP_MAX 20u
#define STAGE_MOST_MAX ((uint64_t)1 << STAGE_STEP_MAX)
#define STAGE_SURVIVORS 32u /* of the default most */

/* ---- What a spec comes to ------------------------------------------------ */

struct stage_plan {
    uint64_t bits, step, length, most, sizes;
    uint64_t survivors; /* at the first stage 1: nothing */
};

/* Of parameters that need not be sound: something to go on with. Those of a
 * resolved scheme come out as they are. */
static struct stage_plan stage_plan(const uint64_t *param, uint32_t d)
{
    struct stage_plan p;

    p.bits = sampled_within(sampled_given(param[HSY_PARAM_BITS], STAGE_BITS), 2,
                            HSY_SPELL_BITS);
    p.step = sampled_within(sampled_given(param[HSY_PARAM_STEP], STAGE_STEP), 1,
                            p.bits < STAGE_STEP_MAX ? p.bits : STAGE_STEP_MAX);
    p.length = sampled_within(
        sampled_given(param[HSY_PARAM_PREFIX_BITS], p.step), p.step, p.bits);
    p.most = sampled_within(sampled_given(param[HSY_PARAM_MAX_CANDIDATES],
                                          STAGE_SURVIVORS << p.step),
                            (uint64_t)1 << p.step, STAGE_MOST_MAX);
    p.sizes = sampled_within(param[HSY_PARAM_SIZES], HSY_SIZES_EQUAL,
                             HSY_SIZES_DIMINISHING);
    p.survivors = sampled_within(d, 1, p.most >> p.step);
    return p;
}

/* ---- The oracle ---------------------------------------------------------- */

/* Of so many candidates and "other". */
static void stage_oracle(hsy_spec *sub, const hsy_spec *spec,
                         uint64_t candidates)
{
    const uint64_t nano = spec->nano_epsilon;
    const bool direct = nano >= HSY_EPSILON_MIN && nano <= HSY_EPSILON_MAX &&
                        hsy_lh_direct(candidates + 1, nano);

    *sub = (hsy_spec){
        .size = sizeof *sub,
        .kind = HSY_KIND_VALUES,
        .d = (uint32_t)candidates + 1,
        .nano_epsilon = nano,
        .mechanism = spec->oracle != NULL ? spec->oracle
                     : direct             ? "grr"
                                          : "pgr",
    };
}

static size_t stage_parts(const hsy_spec *spec)
{
    (void)spec;
    return 1;
}

static void stage_part(hsy_spec *sub, const hsy_spec *spec, size_t i)
{
    const struct stage_plan p = stage_plan(spec->param, spec->d);

    (void)i;
    stage_oracle(sub, spec, p.survivors << p.step);
}

/* ---- The survivors ------------------------------------------------------- */

static int stage_digit(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'W' : -1;
}

/* Whether a label is a prefix of so many bits. */
static bool stage_is_prefix(const uint8_t *hex, size_t len, uint64_t length)
{
    if (len != (length + 3) / 4)
        return false;
    for (size_t i = 0; i < len; i++)
        if (stage_digit(hex[i]) < 0)
            return false;
    return length % 4 == 0 ||
           (stage_digit(hex[len - 1]) & ((1 << (4 - length % 4)) - 1)) == 0;
}

/* The labels have passed scheme.c: each has its length before it. */
static hsy_status stage_check_survivors(const hsy_spec *spec, uint64_t length,
                                        hsy_error *err)
{
    const size_t len = (size_t)((length + 3) / 4);
    const uint8_t *at = spec->labels;

    for (uint32_t i = 0; i < spec->d; i++, at += 4 + len) {
        if (!stage_is_prefix(at + 4, bytes_get32(at), length))
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_PREFIXES,
                               "a prefix of the stage before, in lower-case "
                               "hexadecimal digits: prefix-bits - step of "
                               "them, and zeros "
                               "up to a whole digit",
                               HSY_UNIT_PREFIX, i + 1);
        if (i > 0 && memcmp(at - len, at + 4, len) >= 0)
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_PREFIXES,
                               "prefixes are in ascending order, each once",
                               HSY_UNIT_PREFIX, i + 1);
    }
    return HSY_OK;
}

/* The bits of a label, as hsy_spell_prefix would give them. */
static void stage_read(uint64_t *words, const uint8_t *hex, uint64_t length)
{
    memset(words, 0, spell_words(length) * sizeof *words);
    for (uint64_t b = 0; b < length; b++) {
        const unsigned digit = (unsigned)stage_digit(hex[b / 4]);

        words[b / 64] = words[b / 64] << 1 | (digit >> (3 - b % 4) & 1);
    }
}

/* ---- From a string to its value ------------------------------------------ */

/* Every survivor is looked at; which one it is does not show. */
static uint64_t stage_code(const hsy_scheme *s, const uint64_t *codes, size_t i)
{
    const uint64_t bits = s->param[HSY_PARAM_BITS];
    const uint64_t step = s->param[HSY_PARAM_STEP];
    const uint64_t length = s->param[HSY_PARAM_PREFIX_BITS];
    const size_t words = spell_words(length - step);
    const uint64_t *own = hsy_sampled_rest(s);
    uint64_t prefix[HSY_SPELL_WORDS], value, more;

    (void)i;
    hsy_spell_prefix(prefix, codes, bits, length);
    more = hsy_spell_last(prefix, length, step);
    if (length == step) /* nothing before it: every string is listed */
        value = more;
    else {
        hsy_spell_prefix(prefix, codes, bits, length - step);
        value = (uint64_t)s->d << step;
        for (uint64_t k = 0; k < s->d; k++, own += words) {
            uint64_t same = UINT64_MAX;

            for (size_t w = 0; w < words; w++)
                same &= ct_equal(prefix[w], own[w]);
            value = ct_select(same, k << step | more, value);
        }
    }
    bytes_wipe(prefix, sizeof prefix);
    return value;
}

const struct mech_parts hsy_mech_stage_parts = {.parts = stage_parts,
                                                .part = stage_part,
                                                .code = stage_code,
                                                .whole = true,
                                                .staged = &hsy_stages};

/* ---- Resolving ----------------------------------------------------------- */

static hsy_status stage_check_step(const hsy_spec *spec,
                                   const struct stage_plan *p, hsy_error *err)
{
    const uint64_t *given = spec->param;

    if (given[HSY_PARAM_BITS] != 0 && given[HSY_PARAM_BITS] != p->bits)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_BITS,
                               "a string is spelled in 2 to 512 bits",
                               HSY_SPELL_BITS);
    if ((given[HSY_PARAM_STEP] != 0 && given[HSY_PARAM_STEP] != p->step) ||
        p->bits % p->step != 0)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_STEP,
                              "a step divides the bits of a string, and has "
                              "at most 20",
                              STAGE_STEP_MAX);
    if (p->bits / p->step > HSY_STAGES_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_STEP,
                              "too many stages: choose a longer step",
                              HSY_STAGES_MAX);
    return HSY_OK;
}

/* The parameters that are given are ones that stage_plan leaves as they are. */
static hsy_status stage_check_spec(const hsy_spec *spec,
                                   const struct stage_plan *p, hsy_error *err)
{
    const uint64_t *given = spec->param;
    hsy_status st = stage_check_step(spec, p, err);

    if (st != HSY_OK)
        return st;
    if ((given[HSY_PARAM_PREFIX_BITS] != 0 &&
         given[HSY_PARAM_PREFIX_BITS] != p->length) ||
        p->length % p->step != 0)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_PREFIX_BITS,
                              "the prefixes of a stage have a whole number of "
                              "steps, at most all bits",
                              p->bits);
    if (given[HSY_PARAM_SIZES] != 0 && given[HSY_PARAM_SIZES] != p->sizes)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_SIZES,
                               "batches of equal (1), rising (2) or "
                               "diminishing (3) sizes",
                               HSY_SIZES_DIMINISHING);
    if (given[HSY_PARAM_MAX_CANDIDATES] != 0 &&
        given[HSY_PARAM_MAX_CANDIDATES] != p->most)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_MAX_CANDIDATES,
                              "room for all continuations of one prefix, and "
                              "at most 2^20 candidates",
                              STAGE_MOST_MAX);
    if ((p->length == p->step) != (spec->d == 0))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_PREFIXES,
                        "the first stage has none, every other one those that "
                        "survived the stage before");
    if (spec->d > p->survivors)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_PREFIXES,
                              "with all their continuations they are more "
                              "candidates than max-candidates",
                              p->most >> p->step);
    return stage_check_survivors(spec, p->length - p->step, err);
}

/* What the oracle does not take is the fault of who named it. */
static hsy_status stage_refused(const hsy_spec *spec, hsy_status st,
                                hsy_error *err)
{
    return spec->oracle == NULL || err == NULL
               ? st
               : hsy_fail(err, st, HSY_FIELD_ORACLE, err->msg);
}

/* The oracle of this stage, in a report as long as that of any. */
static hsy_status stage_take(hsy_scheme *s, const hsy_spec *spec,
                             const struct stage_plan *p, hsy_error *err)
{
    hsy_scheme part, most;
    hsy_spec sub;
    hsy_status st;

    stage_oracle(&sub, spec, p->most);
    st = hsy_scheme_head(&most, NULL, &sub, err);
    stage_part(&sub, spec, 0);
    if (st == HSY_OK)
        st = hsy_scheme_head(&part, NULL, &sub, err);
    if (st == HSY_OK)
        st = hsy_mech_reports(&part, err);
    if (st != HSY_OK)
        return stage_refused(spec, st, err);
    if (part.report_bits > most.report_bits)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_MAX_CANDIDATES,
                              "this stage's reports are longer than those of "
                              "the largest one: choose another max-candidates",
                              most.report_bits);
    s->law = LAW_PARTS;
    s->parts.count = 1;
    s->parts.digest = bytes_get64(part.digest);
    s->report_bits = most.report_bits;
    s->report_bytes = most.report_bytes;
    s->cells = part.cells;
    s->strata = part.strata;
    s->weights = part.weights;
    return HSY_OK;
}

static hsy_status stage_resolve(hsy_scheme *s, const hsy_spec *spec,
                                hsy_error *err)
{
    const struct stage_plan p = stage_plan(spec->param, spec->d);
    hsy_status st = stage_check_spec(spec, &p, err);

    if (st != HSY_OK)
        return st;
    s->param[HSY_PARAM_BITS] = p.bits;
    s->param[HSY_PARAM_STEP] = p.step;
    s->param[HSY_PARAM_PREFIX_BITS] = p.length;
    s->param[HSY_PARAM_MAX_CANDIDATES] = p.most;
    s->param[HSY_PARAM_SIZES] = p.sizes;
    return stage_take(s, spec, &p, err);
}

/* The part, and the survivors' bits after it. */
static size_t stage_tail_size(const hsy_spec *spec)
{
    const size_t most = spec->labels_len / 5; /* a length, and a digit */
    const size_t survivors = spec->d < most ? spec->d : most;

    return hsy_sampled_size(spec, &hsy_mech_stage_parts) +
           survivors * HSY_SPELL_WORDS * sizeof(uint64_t);
}

static void stage_settle(hsy_scheme *s, const hsy_spec *spec)
{
    const uint64_t length =
        s->param[HSY_PARAM_PREFIX_BITS] - s->param[HSY_PARAM_STEP];
    const size_t words = spell_words(length);
    const uint8_t *at = spec->labels;
    uint64_t *own;

    hsy_sampled_settle(s, spec);
    own = hsy_sampled_rest(s);
    for (uint32_t i = 0; i < s->d; i++, at += 4 + (length + 3) / 4)
        stage_read(own + i * words, at + 4, length);
}

static const hsy_scheme *stage_own(const hsy_scheme *s)
{
    return hsy_scheme_part(s, 0);
}

/* ---- Estimates ----------------------------------------------------------- */

static size_t stage_points_scratch(const hsy_scheme *s, size_t count)
{
    return count * sizeof(uint64_t) + hsy_evidence_scratch(stage_own(s), count);
}

/* A string whose prefix is no candidate has no estimate: n is 0. */
static void stage_points(const hsy_scheme *s, hsy_evidence *points,
                         const hsy_tally *t, const uint64_t *codes,
                         size_t count, void *scratch)
{
    const hsy_scheme *part = stage_own(s);
    const size_t width = hsy_codes_per_truth(s);
    uint64_t *own = scratch;

    for (size_t i = 0; i < count; i++)
        own[i] = stage_code(s, codes + i * width, 0);
    part->mech->estimate->points(part, points, t, own, count, own + count);
    for (size_t i = 0; i < count; i++)
        if (own[i] == part->d - 1)
            points[i] = (hsy_evidence){0};
}

static void stage_variance(const hsy_scheme *s, double v[2])
{
    hsy_mech_variance(stage_own(s), v);
}

static double stage_steps(const hsy_scheme *s, double n)
{
    (void)n;
    return (double)s->cells; /* of one candidate; the part may not stand yet */
}

const struct mech_client hsy_mech_stage_client = {
    .resolve = stage_resolve,
    .spell = hsy_spell,
    .randomize = hsy_whole_randomize,
    .tail_size = stage_tail_size,
    .settle = stage_settle,
};

const struct mech_estimate hsy_mech_stage_estimate = {
    .points = stage_points,
    .points_scratch = stage_points_scratch,
    .variance = stage_variance,
    .steps = stage_steps,
};
