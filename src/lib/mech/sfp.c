/*
 * sfp.c - Apple's sequence fragment puzzle [Apple17]: frequent words that
 * nobody listed, from fragments that carry a hash of their word.
 *
 * A word is spelled in M bits (spell.h). A report answers two questions about
 * it, each by a count-mean sketch (cms.c, hcms.c):
 *     at epsilon_fragment: (piece, fragment), where fragment is some bits of
 *         the word from one of F offsets on, drawn from the published coins,
 *         and the puzzle piece is a public hash of the whole word;
 *     at epsilon_word: the word.
 * Who searches (src/lib/discover/puzzle.c) joins frequent fragments of one
 * piece and asks the second sketch how many people hold what comes out.
 *
 * Privacy. Both answers are about one truth, so their ratios multiply:
 * epsilon_fragment + epsilon_word = epsilon, exactly, in nano-epsilon
 * (sampled.h).                                  docs/mechanisms/sfp.md, Thm 1
 *
 * Parts 0 .. F-1 are the offsets, part F is the word. Offsets, the piece and
 * how a pair is hashed are part of the format.
 */
#include "lib/mech/sfp.h"
#include "lib/bits/bytes.h"
#include "lib/core/fail.h"
#include "lib/kernels/pool.h"
#include "lib/scheme/sampled.h"
#include "lib/scheme/spell.h"

#define SFP_SYMBOLS 10u /* of a word */
#define SFP_STEP 2u     /* of them in a fragment, or one */
#define SFP_PAIRS 18u   /* bits of a pair up to which it is two */
#define SFP_PIECE 8u    /* bits of a puzzle piece */
#define SFP_PIECE_MAX 16u
#define SFP_PAIR_MAX 32u /* bits of a piece and a fragment */
#define SFP_FRAGMENTS_MAX 64u
#define SFP_ROWS 256u
#define SFP_WIDTH 1024u
#define SFP_CELLS ((uint64_t)1 << 26)
#define SFP_WORD_SHARE                                                         \
    ((uint64_t)1 << 14) /* a quarter for the word: 2 of 8                      \
                         */
#define SFP_WHOLE ((uint64_t)1 << 16)
#define SFP_SEED_MAX ((uint64_t)1 << 40)

/* What a spec comes to. */
struct sfp_plan {
    uint32_t symbol; /* bits of one */
    uint64_t bits, fragment, piece, fragments, rows, width, word_share;
};

/* Of a spec that need not be sound: something to go on with. One of a resolved
 * scheme comes out as it is. */
static struct sfp_plan sfp_plan(const hsy_spec *spec)
{
    const uint64_t *param = spec->param;
    struct sfp_plan plan = {.symbol = hsy_spell_symbol(spec->alphabet)};
    uint64_t symbols, wide;

    symbols = sampled_given(param[HSY_PARAM_BITS] / plan.symbol, SFP_SYMBOLS);
    symbols = sampled_within(symbols, 1, HSY_SPELL_BITS / plan.symbol);
    plan.piece =
        sampled_within(sampled_given(param[HSY_PARAM_PIECE_BITS], SFP_PIECE), 1,
                       SFP_PIECE_MAX);
    wide = plan.piece + SFP_STEP * plan.symbol <= SFP_PAIRS ? SFP_STEP : 1;
    wide = sampled_given(param[HSY_PARAM_FRAGMENT_BITS] / plan.symbol, wide);
    wide = sampled_within(wide, 1, symbols);
    plan.bits = symbols * plan.symbol;
    plan.fragment = wide * plan.symbol;
    plan.fragments = sampled_within(
        sampled_given(param[HSY_PARAM_FRAGMENTS], (symbols + wide - 1) / wide),
        1, SFP_FRAGMENTS_MAX);
    plan.rows = sampled_given(param[HSY_PARAM_HASHES], SFP_ROWS);
    plan.width = sampled_given(param[HSY_PARAM_WIDTH], SFP_WIDTH);
    plan.word_share = sampled_within(
        sampled_given(param[HSY_PARAM_WORD_SHARE], SFP_WORD_SHARE), 1,
        SFP_WHOLE - 1);
    return plan;
}

/* The word's share of epsilon, rounded down; the fragment has all the rest. */
static uint64_t sfp_word_epsilon(const struct sfp_plan *plan,
                                 uint64_t nano_epsilon)
{
    return (uint64_t)((hsy_u128)nano_epsilon * plan->word_share / SFP_WHOLE);
}

static size_t sfp_parts(const hsy_spec *spec)
{
    return (size_t)sfp_plan(spec).fragments + 1;
}

static void sfp_part(hsy_spec *sub, const hsy_spec *spec, size_t i)
{
    const struct sfp_plan plan = sfp_plan(spec);
    const uint64_t word = sfp_word_epsilon(&plan, spec->nano_epsilon);

    sub->kind = HSY_KIND_STRINGS;
    sub->mechanism = spec->oracle != NULL ? spec->oracle : "cms";
    sub->nano_epsilon = i == plan.fragments ? word : spec->nano_epsilon - word;
    sub->param[HSY_PARAM_HASHES] = plan.rows;
    sub->param[HSY_PARAM_WIDTH] = plan.width;
    sub->param[HSY_PARAM_POOL_SEED] =
        (spec->param[HSY_PARAM_POOL_SEED] % SFP_SEED_MAX << 8) + i + 1;
}

/* ---- Pieces and fragments ------------------------------------------------ */

/* The offsets divide what is left of a fragment evenly, in whole symbols: step
 * after step where steps divide the word, else overlapping. */
uint32_t hsy_puzzle_offset(const hsy_scheme *s, size_t i)
{
    const uint32_t symbol = hsy_spell_symbol(s->alphabet);
    const uint64_t left =
        (s->param[HSY_PARAM_BITS] - s->param[HSY_PARAM_FRAGMENT_BITS]) / symbol;
    const uint64_t last = s->param[HSY_PARAM_FRAGMENTS] - 1;

    return last == 0 ? 0 : (uint32_t)(i * left / last * symbol);
}

/* Some more mixing, so that the piece has nothing to do with the cells that
 * the word's hash has in its sketch. */
uint32_t hsy_puzzle_piece(const hsy_scheme *s, const uint64_t *codes)
{
    const uint64_t hash = hsy_spell_hash(codes, s->param[HSY_PARAM_BITS]);

    return (uint32_t)(pool_scatter(hash + s->param[HSY_PARAM_POOL_SEED]) >>
                      (64 - s->param[HSY_PARAM_PIECE_BITS]));
}

uint32_t hsy_puzzle_fragment(const hsy_scheme *s, const uint64_t *codes,
                             size_t i)
{
    const uint64_t step = s->param[HSY_PARAM_FRAGMENT_BITS];
    const uint64_t end = hsy_puzzle_offset(s, i) + step;
    uint64_t prefix[HSY_SPELL_WORDS], bits;

    hsy_spell_prefix(prefix, codes, s->param[HSY_PARAM_BITS], end);
    bits = hsy_spell_last(prefix, end, step);
    bytes_wipe(prefix, sizeof prefix);
    return (uint32_t)bits;
}

/* Scattered: pairs in order are neighbours (pool.h). */
uint64_t hsy_puzzle_pair(const hsy_scheme *s, uint32_t piece, uint32_t fragment)
{
    return pool_scatter((uint64_t)piece << s->param[HSY_PARAM_FRAGMENT_BITS] |
                        fragment);
}

static uint64_t sfp_code(const hsy_scheme *s, const uint64_t *codes, size_t i)
{
    if (i == s->param[HSY_PARAM_FRAGMENTS])
        return hsy_spell_hash(codes, s->param[HSY_PARAM_BITS]);
    return hsy_puzzle_pair(s, hsy_puzzle_piece(s, codes),
                           hsy_puzzle_fragment(s, codes, i));
}

const struct mech_parts hsy_mech_sfp_parts = {
    .parts = sfp_parts, .part = sfp_part, .code = sfp_code, .beside = true};

/* ---- Resolving ----------------------------------------------------------- */

/* The word and its fragments are whole symbols, and cover each other. */
static hsy_status sfp_check_spelling(const hsy_spec *spec,
                                     const struct sfp_plan *plan,
                                     hsy_error *err)
{
    const uint64_t *given = spec->param;
    const uint64_t most = HSY_SPELL_BITS / plan->symbol * plan->symbol;

    if (given[HSY_PARAM_BITS] != 0 && given[HSY_PARAM_BITS] != plan->bits)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_BITS,
                              "a word is whole symbols, of 8 bits or as many "
                              "as the alphabet takes, at most 512 bits",
                              most);
    if (given[HSY_PARAM_FRAGMENT_BITS] != 0 &&
        given[HSY_PARAM_FRAGMENT_BITS] != plan->fragment)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_FRAGMENT_BITS,
                              "a fragment is whole symbols, no more than a "
                              "word has",
                              plan->bits);
    if (given[HSY_PARAM_PIECE_BITS] != 0 &&
        given[HSY_PARAM_PIECE_BITS] != plan->piece)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_PIECE_BITS,
                               "a puzzle piece has 1 to 16 bits",
                               SFP_PIECE_MAX);
    if (plan->piece + plan->fragment > SFP_PAIR_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_FRAGMENT_BITS,
                              "a fragment and its piece have at most 32 bits: "
                              "a search looks at every pair",
                              SFP_PAIR_MAX - plan->piece);
    if ((given[HSY_PARAM_FRAGMENTS] != 0 &&
         given[HSY_PARAM_FRAGMENTS] != plan->fragments) ||
        plan->fragments * plan->fragment < plan->bits)
        return hsy_fail_stated(
            err, HSY_E_RANGE,
            given[HSY_PARAM_FRAGMENTS] != 0 ? HSY_FIELD_FRAGMENTS
                                            : HSY_FIELD_FRAGMENT_BITS,
            "at most 64 fragments, as many as cover the word",
            SFP_FRAGMENTS_MAX);
    return HSY_OK;
}

static hsy_status sfp_check(const hsy_spec *spec, const struct sfp_plan *plan,
                            hsy_error *err)
{
    const uint64_t word = sfp_word_epsilon(plan, spec->nano_epsilon);
    const uint64_t room = SFP_CELLS / (plan->fragments + 1);

    if (spec->oracle != NULL &&
        hsy_mech_named(spec->oracle) != hsy_mech_named("cms") &&
        hsy_mech_named(spec->oracle) != hsy_mech_named("hcms"))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ORACLE,
                        "fragments and words are asked by cms or hcms");
    if (spec->param[HSY_PARAM_WORD_SHARE] >= SFP_WHOLE)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_WORD_SHARE,
                              "the word's share of epsilon is below 65536, in "
                              "2^-16",
                              SFP_WHOLE - 1);
    if (word < HSY_EPSILON_MIN || spec->nano_epsilon - word < HSY_EPSILON_MIN)
        return hsy_fail_kind(err, HSY_E_RANGE, HSY_FIELD_WORD_SHARE,
                             "the word and the fragment have at least "
                             "0.000001 of epsilon each",
                             HSY_LIMIT_NANO, HSY_EPSILON_MIN);
    if (plan->rows > room || plan->width > room / plan->rows)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_WIDTH,
                              "all sketches together have at most 2^26 cells, "
                              "hashes times width each",
                              room);
    if (spec->param[HSY_PARAM_POOL_SEED] >= SFP_SEED_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_POOL_SEED,
                              "the seed of all sketches is below 2^40",
                              SFP_SEED_MAX);
    return sfp_check_spelling(spec, plan, err);
}

static hsy_status sfp_resolve(hsy_scheme *s, const hsy_spec *spec,
                              hsy_error *err)
{
    const struct sfp_plan plan = sfp_plan(spec);
    hsy_status st = sfp_check(spec, &plan, err);

    if (st != HSY_OK)
        return st;
    s->param[HSY_PARAM_BITS] = plan.bits;
    s->param[HSY_PARAM_FRAGMENT_BITS] = plan.fragment;
    s->param[HSY_PARAM_PIECE_BITS] = plan.piece;
    s->param[HSY_PARAM_FRAGMENTS] = plan.fragments;
    s->param[HSY_PARAM_HASHES] = plan.rows;
    s->param[HSY_PARAM_WIDTH] = plan.width;
    s->param[HSY_PARAM_WORD_SHARE] = plan.word_share;
    s->param[HSY_PARAM_POOL_SEED] = spec->param[HSY_PARAM_POOL_SEED];
    return hsy_sampled_resolve(s, spec, err);
}

/* ---- Whole words: from the sketch that everybody answers ----------------- */

static const hsy_scheme *sfp_word(const hsy_scheme *s)
{
    return hsy_scheme_part(s, (size_t)s->param[HSY_PARAM_FRAGMENTS]);
}

static size_t sfp_points_scratch(const hsy_scheme *s, size_t count)
{
    return count * sizeof(uint64_t) + hsy_evidence_scratch(sfp_word(s), count);
}

static void sfp_points(const hsy_scheme *s, hsy_evidence *points,
                       const hsy_tally *t, const uint64_t *codes, size_t count,
                       void *scratch)
{
    const size_t last = (size_t)s->param[HSY_PARAM_FRAGMENTS];
    const size_t width = hsy_codes_per_truth(s);
    uint64_t *own = scratch;
    hsy_tally view;

    hsy_tally_part(&view, t, s, last);
    for (size_t i = 0; i < count; i++)
        own[i] = sfp_code(s, codes + i * width, last);
    sfp_word(s)->mech->estimate->points(sfp_word(s), points, &view, own, count,
                                        own + count);
}

static void sfp_variance(const hsy_scheme *s, double v[2])
{
    hsy_mech_variance(sfp_word(s), v);
}

/* One word is looked up in every row. */
static double sfp_steps(const hsy_scheme *s, double n)
{
    (void)n;
    return (double)s->param[HSY_PARAM_HASHES];
}

const struct mech_client hsy_mech_sfp_client = {
    .resolve = sfp_resolve,
    .spell = hsy_spell,
    .randomize = hsy_sampled_randomize,
    .settle = hsy_sampled_settle,
};

const struct mech_counting hsy_mech_sfp_counting = {
    .simulate_batch = hsy_sampled_simulate,
    .check = hsy_sampled_check,
    .tally = hsy_sampled_tally,
};

const struct mech_estimate hsy_mech_sfp_estimate = {
    .points = sfp_points,
    .points_scratch = sfp_points_scratch,
    .variance = sfp_variance,
    .steps = sfp_steps,
};
