/*
 * stage_plan.c - the stages of one search: what they share, who is in which
 * batch, and what a stage begins with (stage.c asks one of them).
 */
#include "lib/mech/mechanisms.h"
#include "lib/scheme/sampled.h"
#include "lib/scheme/scheme.h"
#include "lib/scheme/spell.h"

#include <string.h>

uint32_t hsy_stage_number(const hsy_scheme *s)
{
    return s->mech != &hsy_mech_stage
               ? 0
               : (uint32_t)(s->param[HSY_PARAM_PREFIX_BITS] /
                            s->param[HSY_PARAM_STEP]);
}

uint32_t hsy_stage_count(const hsy_scheme *s)
{
    return s->mech != &hsy_mech_stage ? 0
                                      : (uint32_t)(s->param[HSY_PARAM_BITS] /
                                                   s->param[HSY_PARAM_STEP]);
}

/* The scheme without its number and candidates; a resolved one has
 * prefixes. */
static void stages_family(const hsy_scheme *s, uint8_t digest[HSY_DIGEST])
{
    hsy_scheme same = *s;

    same.param[HSY_PARAM_PREFIX_BITS] = 0;
    same.d = 0;
    same.labels_len = 0;
    memset(same.labels_digest, 0, sizeof same.labels_digest);
    same.parts.digest = 0;
    hsy_scheme_digest(&same);
    memcpy(digest, same.digest, HSY_DIGEST);
}

/* How many parts of the people are in batch i of J: one, or J - 1 to 3 (J - 1)
 * in even steps; and how many in all before batch i. */
static uint64_t stages_weight(const hsy_scheme *s, uint64_t i)
{
    const uint64_t sizes = s->param[HSY_PARAM_SIZES], last = hsy_stage_count(s);

    if (sizes == HSY_SIZES_EQUAL || last == 1)
        return 1;
    return last - 1 + 2 * (sizes == HSY_SIZES_RISING ? i - 1 : last - i);
}

static uint64_t stages_before(const hsy_scheme *s, uint64_t i)
{
    uint64_t before = 0;

    for (uint64_t k = 1; k < i; k++)
        before += stages_weight(s, k);
    return before;
}

uint64_t hsy_stage_weight(const hsy_scheme *s, uint32_t i)
{
    return i != 0 ? stages_weight(s, i)
                  : stages_before(s, (uint64_t)hsy_stage_count(s) + 1);
}

static hsy_status stages_mine(const hsy_scheme *s, bool *mine, hsy_rng *rng)
{
    const uint64_t all = hsy_stage_weight(s, 0);
    const uint64_t i = hsy_stage_number(s);
    uint64_t drawn = 0;
    hsy_status st = hsy_prob_below(&drawn, all, hsy_prob_excess(all), rng);

    *mine = drawn >= stages_before(s, i) && drawn < stages_before(s, i + 1);
    return st;
}

const struct mech_staged hsy_stages = {stages_family, hsy_stage_number,
                                       stages_mine};

/* The bits of a survivor as those of a string, zeros after them. */
static void stages_spread(uint64_t *codes, const uint64_t *own, uint64_t length,
                          uint64_t bits)
{
    const size_t words = spell_words(bits), kept = spell_words(length);

    for (size_t k = 0; k < words; k++)
        codes[k] = k < kept ? own[k] : 0;
    codes[kept - 1] <<= 64 * kept - length;
    codes[words - 1] >>= 64 * words - bits;
}

size_t hsy_stage_prefixes(const hsy_scheme *s, uint64_t *codes)
{
    const uint64_t bits = s->param[HSY_PARAM_BITS];
    const uint64_t length =
        s->param[HSY_PARAM_PREFIX_BITS] - s->param[HSY_PARAM_STEP];
    const size_t width = hsy_codes_per_truth(s), words = spell_words(length);

    if (length == 0 && codes != NULL)
        memset(codes, 0, width * sizeof *codes);
    for (size_t i = 0; i < s->d && codes != NULL; i++)
        stages_spread(codes + i * width,
                      (const uint64_t *)hsy_sampled_rest(s) + i * words, length,
                      bits);
    return length == 0 ? 1 : s->d;
}
