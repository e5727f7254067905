/*
 * batches.c - prefix extending in batches: what one stage has found.
 *
 * The stages of search.c, each with people and a tally of its own: batch i is
 * asked about the prefixes that survived batch i-1 and their continuations. So
 * a report says more about fewer candidates, and the noise of a stage again has
 * nothing to do with how its candidates were chosen.
 */
#include "lib/discover/internal.h"

#include "lib/bits/hex.h"

#include <string.h>

/* How many go on from here: as wanted, and as the next stage has room for. */
static uint64_t batches_keep(const hsy_scheme_info *info,
                             const hsy_search *wanted, const hsy_stage *stage)
{
    const bool last = stage->bits == info->param[HSY_PARAM_BITS];
    uint64_t most = last ? wanted->top : wanted->top * wanted->keep;

    if (!last && most > info->param[HSY_PARAM_MAX_CANDIDATES] >> stage->step)
        most = info->param[HSY_PARAM_MAX_CANDIDATES] >> stage->step;
    return most < stage->candidates ? most : stage->candidates;
}

hsy_status hsy_stage_plan(const hsy_scheme *s, hsy_stage *stage,
                          const hsy_search *how, hsy_error *err)
{
    hsy_search wanted;
    hsy_scheme_info info, own;
    hsy_stage made;
    hsy_status st = hsy_search_settle(&wanted, how, err);

    if (st != HSY_OK)
        return st;
    if (hsy_stage_number(s) == 0)
        return hsy_fail_limit(err, HSY_E_UNKNOWN, HSY_FIELD_MECHANISM,
                              "a stage of a search has the mechanism stage", 0);
    hsy_scheme_describe(s, &info);
    hsy_scheme_describe(hsy_scheme_part(s, 0), &own);
    made = (hsy_stage){
        .oracle = own.mechanism,
        .bits = (uint32_t)info.param[HSY_PARAM_PREFIX_BITS],
        .step = (uint32_t)info.param[HSY_PARAM_STEP],
        .candidates = own.d - 1,
        .v0 = own.v0,
        .v1 = own.v1,
        .q = own.q,
        .width = hsy_codes_per_truth(s),
        .significant = wanted.significant,
        .alpha = wanted.alpha,
    };
    if (hsy_stage_number(s) == hsy_stage_count(s) && how->top > made.candidates)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_TOP,
                              "more strings than there are candidates",
                              made.candidates);
    made.keep = batches_keep(&info, &wanted, &made);
    made.z = -hsy_normal_quantile(wanted.alpha / (double)made.candidates);
    *stage = made;
    return HSY_OK;
}

/* The memory of a stage, in the caller's scratch. */
struct batches_work {
    hsy_evidence *points;
    hsy_candidate *before; /* what the stage begins with */
    uint64_t *codes;
    void *scratch;
};

static struct batches_work batches_open(const hsy_scheme *s,
                                        const hsy_stage *stage, void *scratch)
{
    struct batches_work w = {.points = scratch};

    w.before = (hsy_candidate *)(w.points + stage->candidates);
    w.codes = (uint64_t *)(w.before + hsy_stage_prefixes(s, NULL));
    w.scratch = w.codes + stage->candidates * stage->width;
    return w;
}

size_t hsy_stage_scratch(const hsy_scheme *s, const hsy_stage *stage)
{
    const size_t n = (size_t)stage->candidates;

    return n * (sizeof(hsy_evidence) + stage->width * sizeof(uint64_t)) +
           hsy_stage_prefixes(s, NULL) * sizeof(hsy_candidate) +
           hsy_evidence_scratch(s, n);
}

/* All candidates that a string can have. */
static size_t batches_candidates(const struct batches_work *w,
                                 const hsy_scheme *s, const hsy_stage *stage)
{
    const size_t prefixes = hsy_stage_prefixes(s, w->codes);

    for (size_t k = 0; k < prefixes; k++) {
        w->before[k] = (hsy_candidate){.significant = false};
        memcpy(w->before[k].code, w->codes + k * stage->width,
               stage->width * sizeof *w->codes);
    }
    return hsy_search_extend(s, w->codes, stage,
                             &(hsy_found){w->before, prefixes});
}

hsy_status hsy_stage_survivors(const hsy_scheme *s, hsy_found *found,
                               const hsy_tally *t, const hsy_stage *stage,
                               void *scratch, hsy_error *err)
{
    const struct batches_work w = batches_open(s, stage, scratch);
    hsy_status st;
    size_t n;

    if (hsy_tally_reports(t) == 0)
        return hsy_fail_limit(
            err, HSY_E_EMPTY, HSY_FIELD_TALLY,
            "the stage has no reports: more people are needed", 0);
    n = batches_candidates(&w, s, stage);
    st = hsy_evidence_of(s, w.points, t, w.codes, n, w.scratch, err);
    if (st == HSY_OK)
        found->count =
            hsy_search_select(stage, found->list, w.codes, w.points, n);
    return st;
}

size_t hsy_stage_label(const hsy_scheme *s, char label[HSY_STAGE_LABEL],
                       const uint64_t *codes)
{
    hsy_scheme_info info;
    uint32_t length;

    hsy_scheme_describe(s, &info);
    length = (uint32_t)info.param[HSY_PARAM_PREFIX_BITS];
    for (uint32_t i = 0; 4 * i < length; i++) {
        unsigned digit = 0;

        for (uint32_t b = 4 * i; b < 4 * i + 4; b++)
            digit = digit << 1 | (b < length ? hsy_code_bit(s, codes, b) : 0);
        label[i] = hex_digit(digit);
    }
    label[(length + 3) / 4] = '\0';
    return (length + 3) / 4;
}
