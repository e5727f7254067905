/*
 * hr.c - Hadamard response [ASZ19] with B blocks of b outputs.
 *
 * A value stands in one block at an index i from 1 to b-1 (hadamard.h); its own
 * outputs are the b/2 places u of that block with an even number of ones in
 * i & u. Two-level law: weight rho = A / 2^shift for these, 1 for the rest of
 * the K = B b outputs. Counted in units of b/2 that is the law of 2B outputs of
 * which one is the truth's own, so that
 *
 *     P[y | x] = (A or 2^shift) / (total b/2),  total = (2B - 1) 2^shift + A.
 *
 * Privacy. For every report y and any two truths,
 *     P[y | x] / P[y | x'] <= A / 2^shift <= e^epsilon,
 * the last step because A is rounded down.     docs/mechanisms/hr.md, Thm 1
 *
 * Report: block * b + u, log2 K bits.
 */
#include "lib/mech/hr.h"

#include "lib/bits/bytes.h"
#include "lib/bits/draw.h"
#include "lib/core/exp.h"
#include "lib/core/fail.h"
#include "lib/family/twolevel.h"
#include "lib/scheme/report.h"

#define HR_BLOCK 256 /* reports whose coins are drawn at once */

/*
 * The power of two B that minimizes the variance at share 0 of balanced blocks,
 * (4 B + 4 u + u^2 / B) / u^2 with u = E - 1 [theory 3.5]: twice as many
 * are better as long as 8 B^2 < u^2. More than there are values gain nothing.
 */
static uint64_t hr_best_blocks(const hsy_scheme *s, uint64_t most)
{
    uint64_t half_nano = 2 * s->nano_epsilon, blocks = 1;
    unsigned shift = hsy_exp_shift(half_nano);
    uint64_t u = hsy_exp_weight(half_nano, shift) - ((uint64_t)1 << shift);
    hsy_u128 square = (hsy_u128)u * u;

    /* u < 2^47 where shift is 0, and shift <= 44: both sides are below 2^128,
     * for 8 B^2 2^(2 shift) is at most 8 u^2 when it is looked at. */
    while (blocks < most &&
           (hsy_u128)(8 * blocks * blocks) << 2 * shift < square)
        blocks *= 2;
    return blocks;
}

static hsy_status hr_resolve_blocks(hsy_scheme *s, uint64_t blocks,
                                    hsy_error *err)
{
    uint64_t most = (uint64_t)1 << report_bits_of(s->d);

    if (blocks == 0)
        blocks = hr_best_blocks(s, most);
    if ((blocks & (blocks - 1)) != 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_BLOCKS,
                        "must be a power of two");
    if (blocks > most)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_BLOCKS,
                              "no more blocks than values, rounded up to a "
                              "power of two",
                              most);
    s->param[HSY_PARAM_BLOCKS] = blocks;
    return HSY_OK;
}

/* log2 of the least block size b with B (b - 1) >= d. */
static uint32_t hr_index_bits(uint64_t blocks, uint32_t d)
{
    uint32_t bits = 1;

    while (blocks * (((uint64_t)1 << bits) - 1) < d)
        bits++;
    return bits;
}

static hsy_status hr_resolve(hsy_scheme *s, const hsy_spec *spec,
                             hsy_error *err)
{
    hsy_status st = hr_resolve_blocks(s, spec->param[HSY_PARAM_BLOCKS], err);
    uint64_t blocks = s->param[HSY_PARAM_BLOCKS];
    uint32_t index_bits;

    if (st != HSY_OK)
        return st;
    s->param[HSY_PARAM_POOL_SEED] = spec->param[HSY_PARAM_POOL_SEED];
    hsy_twolevel_resolve(s, 2 * blocks, 1);
    index_bits = hr_index_bits(blocks, s->d);
    s->cells = (size_t)blocks << index_bits;
    s->report_bits = report_bits_of(s->cells);
    s->report_bytes = report_bytes_of(s->report_bits);
    return HSY_OK;
}

/* Two words, the first drawn until the coin takes it. */
static hsy_status hr_draw(const hsy_scheme *s, uint32_t *out, uint64_t code,
                          const struct kernel_hadamard *h, hsy_rng *rng)
{
    uint64_t coin, word;
    hsy_status st = hsy_prob_word(&coin, &s->coin, rng);

    if (st != HSY_OK)
        return st;
    st = draw_words(&word, 1, rng);
    if (st == HSY_OK)
        *out = hadamard_report(code, coin, word, h);
    bytes_wipe(&coin, sizeof coin);
    bytes_wipe(&word, sizeof word);
    return st;
}

/* Room for one block; holds coins, so wipe it. */
struct hr_block {
    uint32_t out[HR_BLOCK];
    uint32_t redo[HR_BLOCK];
    uint64_t coins[2 * HR_BLOCK];
};

static hsy_status hr_fill(const hsy_scheme *s, struct hr_block *block,
                          const uint64_t *codes, size_t n,
                          const struct kernel_hadamard *h, hsy_rng *rng)
{
    size_t again;
    hsy_status st = draw_words(block->coins, 2 * n, rng);

    if (st != HSY_OK)
        return st;
    again = s->kernels->hadamard(block->out, block->redo, codes, block->coins,
                                 n, h);
    for (size_t i = 0; i < again && st == HSY_OK; i++) {
        uint32_t at = block->redo[i];

        st = hr_draw(s, &block->out[at], codes[at], h, rng);
    }
    return st;
}

static hsy_status hr_randomize(const hsy_scheme *s, uint8_t *reports,
                               const uint64_t *codes, size_t n,
                               hsy_coins *coins)
{
    const struct kernel_hadamard h = hr_kernel(s);
    const size_t bytes = s->report_bytes, used = n < HR_BLOCK ? n : HR_BLOCK;
    struct hr_block block;
    hsy_status st = HSY_OK;

    for (size_t done = 0; done < n && st == HSY_OK; done += HR_BLOCK) {
        size_t m = n - done < HR_BLOCK ? n - done : HR_BLOCK;

        st = n == 1 ? hr_draw(s, block.out, codes[0], &h, &coins->secret)
                    : hr_fill(s, &block, codes + done, m, &h, &coins->secret);
        if (st == HSY_OK)
            report_put_all(reports + done * bytes, bytes, block.out, m);
    }
    bytes_wipe(block.out, used * sizeof *block.out);
    bytes_wipe(block.coins, 2 * used * sizeof *block.coins);
    return st;
}

/* An output is own if moving it among the item's own leaves it where it is. */
static size_t hr_law(const hsy_scheme *s, hsy_factor *factors, uint64_t code,
                     const uint8_t *report)
{
    const struct kernel_hadamard h = hr_kernel(s);
    uint64_t y = report_get(report, s->report_bytes);
    bool own = hadamard_own(hadamard_item(code, &h), y, h.index_bits) == y;

    factors[0].num = own ? twolevel_own(s) : twolevel_other(s);
    factors[0].den = s->total;
    factors[1].num = 1;
    factors[1].den = (uint64_t)1 << (h.index_bits - 1);
    return 2;
}

static const struct mech_channel hr_likelihood = {
    .forward = hsy_hr_forward,
    .backward = hsy_hr_backward,
    .scratch = hsy_hr_channel_scratch,
};

const struct mech_client hsy_mech_hr_client = {
    .resolve = hr_resolve,
    .randomize = hr_randomize,
};

const struct mech_counting hsy_mech_hr_counting = {
    .check = hsy_outputs_check,
    .tally = hsy_outputs_tally,
};

const struct mech_estimate hsy_mech_hr_estimate = {
    .errors = MECH_ERRORS_DESIGN,
    .points = hsy_hr_points,
    .points_scratch = hsy_hr_points_scratch,
    .support = hsy_hr_support,
    .variance = hsy_hr_variance,
    .reach = hsy_hr_reach,
    .steps = hsy_hr_steps,
    .channel = &hr_likelihood,
};

const struct mech_law hsy_mech_hr_law = {
    .favours = MECH_FAVOURS_HALF,
    .factors = 2,
    .of_code = hr_law,
    .worst = hsy_twolevel_law_worst,
};
