/*
 * puzzle.c - Apple's sequence fragment puzzle: from a tally of sfp to frequent
 * words.
 *
 * For each offset every pair of a puzzle piece and a fragment is estimated, and
 * those that are frequent go on; pairs of one piece are joined to words
 * (puzzle_join.c); the sketch of words says how frequent these are. That sketch
 * has coins of its own, so what the fragments have picked by luck is judged
 * afresh.
 *
 * With C candidates of which nobody has any, the largest estimate passes z
 * standard errors with chance at most C P[N(0,1) > z] = alpha (Bonferroni).
 */
#include "lib/discover/internal.h"

#include <stdlib.h>

#define PUZZLE_THRESHOLD 20u /* pairs of an offset with `all` [Apple17] */

/* ---- What is wanted ------------------------------------------------------ */

/* how with its choices made. */
static hsy_status puzzle_settle(hsy_puzzle *out, const hsy_puzzle *how,
                                hsy_error *err)
{
    if (how->size != sizeof *how)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_SIZE,
                              "the search is of another version", sizeof *how);
    *out = *how;
    out->alpha = how->alpha == 0 ? SEARCH_ALPHA : how->alpha;
    if (how->max_candidates == 0)
        out->max_candidates = HSY_SEARCH_CANDIDATES;
    if (how->threshold == 0)
        out->threshold = how->all ? PUZZLE_THRESHOLD : HSY_PUZZLE_PAIRS_MAX;
    if (out->top > HSY_SEARCH_CANDIDATES_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_TOP, "too many words",
                              HSY_SEARCH_CANDIDATES_MAX);
    if (out->threshold > HSY_PUZZLE_PAIRS_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_THRESHOLD,
                              "too many pairs of an offset",
                              HSY_PUZZLE_PAIRS_MAX);
    return hsy_search_check(out->alpha, out->max_candidates, err);
}

static hsy_stage puzzle_stage(const hsy_scheme *part, uint64_t bits,
                              uint64_t candidates, uint64_t keep,
                              const hsy_puzzle *wanted)
{
    hsy_stage stage = {.bits = (uint32_t)bits,
                       .step = (uint32_t)bits,
                       .candidates = candidates,
                       .keep = keep < candidates ? keep : candidates,
                       .width = 1,
                       .significant = !wanted->all,
                       .alpha = wanted->alpha};
    hsy_scheme_info info;

    hsy_scheme_describe(part, &info);
    stage.oracle = info.mechanism;
    stage.v0 = info.v0;
    stage.z = -hsy_normal_quantile(wanted->alpha / (double)candidates);
    return stage;
}

hsy_status hsy_puzzle_plan_make(const hsy_scheme *s, hsy_puzzle_plan *plan,
                                const hsy_puzzle *how, hsy_error *err)
{
    struct puzzle_spelling spelling;
    hsy_puzzle wanted = {0};
    hsy_scheme_info info;
    uint64_t pairs;
    hsy_status st = puzzle_settle(&wanted, how, err);

    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(s, &info);
    if (info.analysis != HSY_ANALYSIS_PUZZLE)
        return hsy_fail_limit(err, HSY_E_UNKNOWN, HSY_FIELD_MECHANISM,
                              "a puzzle is made of reports of sfp", 0);
    hsy_puzzle_spelling(&spelling, s);
    pairs = spelling.fragments << spelling.piece; /* at most 2^32 */
    if (pairs > wanted.max_candidates)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_PAIRS,
                              "an offset has more pairs than are allowed",
                              pairs);
    plan->fragments = spelling.offsets;
    plan->offset = puzzle_stage(hsy_scheme_part(s, 0), spelling.step, pairs,
                                wanted.threshold, &wanted);
    plan->word = puzzle_stage(
        hsy_scheme_part(s, spelling.offsets), info.param[HSY_PARAM_BITS],
        wanted.max_candidates,
        wanted.top == 0 ? wanted.max_candidates : wanted.top, &wanted);
    plan->word.width = hsy_codes_per_truth(s);
    return HSY_OK;
}

/* ---- Memory -------------------------------------------------------------- */

/* A search in the caller's memory. What is estimated, pairs of an offset or
 * words, takes turns. */
struct puzzle_work {
    const hsy_scheme *s;
    const hsy_tally *t;
    const hsy_puzzle_plan *plan;
    struct puzzle_pair *pairs; /* of all offsets */
    size_t first[HSY_STAGES_MAX + 1];
    uint64_t *ways;

    uint64_t *codes;      /* of words */
    hsy_evidence *points; /* of pairs, or of words */
    uint64_t *names;      /* of pairs: piece and fragment */
    uint64_t *own;        /* their codes under the part */
    hsy_candidate *kept;  /* of an offset */
    void *scratch;
};

static size_t puzzle_most(const hsy_puzzle_plan *plan)
{
    return (size_t)(plan->offset.candidates > plan->word.candidates
                        ? plan->offset.candidates
                        : plan->word.candidates);
}

size_t hsy_puzzle_memory(const hsy_scheme *s, const hsy_puzzle_plan *plan)
{
    const size_t pairs = (size_t)plan->offset.candidates;
    const size_t words = (size_t)plan->word.candidates;
    const size_t keep = (size_t)plan->offset.keep;
    const size_t a = hsy_evidence_scratch(hsy_scheme_part(s, 0), pairs);
    const size_t b = hsy_evidence_scratch(s, words);

    return puzzle_most(plan) * sizeof(hsy_evidence) +
           keep * sizeof(hsy_candidate) +
           plan->fragments * keep *
               (sizeof(uint64_t) + sizeof(struct puzzle_pair)) +
           (words * plan->word.width + 2 * pairs) * sizeof(uint64_t) +
           (a > b ? a : b);
}

static void puzzle_open(struct puzzle_work *w, void *memory)
{
    const hsy_puzzle_plan *plan = w->plan;
    const size_t all = plan->fragments * (size_t)plan->offset.keep;

    w->points = memory;
    w->kept = (hsy_candidate *)(w->points + puzzle_most(plan));
    w->ways = (uint64_t *)(w->kept + plan->offset.keep);
    w->pairs = (struct puzzle_pair *)(w->ways + all);
    w->codes = (uint64_t *)(w->pairs + all);
    w->names = w->codes + plan->word.candidates * plan->word.width;
    w->own = w->names + plan->offset.candidates;
    w->scratch = w->own + plan->offset.candidates;
}

/* ---- One offset ---------------------------------------------------------- */

static int puzzle_order(const void *a, const void *b)
{
    const struct puzzle_pair *x = a, *y = b;

    if (x->piece != y->piece)
        return x->piece < y->piece ? -1 : 1;
    return x->fragment < y->fragment ? -1 : x->fragment > y->fragment;
}

/* All pairs, by piece and fragment. */
static void puzzle_list(struct puzzle_work *w,
                        const struct puzzle_spelling *spelling)
{
    size_t at = 0;

    for (uint32_t piece = 0; piece >> spelling->piece == 0; piece++)
        for (uint64_t f = 0; f >> spelling->step == 0; f++) {
            if (!hsy_puzzle_can(spelling, (uint32_t)f))
                continue;
            w->names[at] = (uint64_t)piece << 32 | f;
            w->own[at++] = hsy_puzzle_pair(w->s, piece, (uint32_t)f);
        }
}

/* The pairs of offset i that go on, behind those of the offsets before. */
static hsy_status puzzle_offset(struct puzzle_work *w, size_t i, hsy_error *err)
{
    const hsy_stage *stage = &w->plan->offset;
    struct puzzle_pair *pairs = w->pairs + w->first[i];
    hsy_tally group;
    size_t count;
    hsy_status st;

    hsy_tally_part(&group, w->t, w->s, i);
    if (hsy_tally_reports(&group) == 0)
        return hsy_fail_limit(
            err, HSY_E_EMPTY, HSY_FIELD_GROUP,
            "an offset has no reports: more people are needed", i + 1);
    st = hsy_evidence_of(hsy_scheme_part(w->s, i), w->points, &group, w->own,
                         (size_t)stage->candidates, w->scratch, err);
    if (st != HSY_OK)
        return st;
    count = hsy_search_select(stage, w->kept, w->names, w->points,
                              (size_t)stage->candidates);
    for (size_t k = 0; k < count; k++)
        pairs[k] = (struct puzzle_pair){(uint32_t)(w->kept[k].code[0] >> 32),
                                        (uint32_t)w->kept[k].code[0]};
    qsort(pairs, count, sizeof *pairs, puzzle_order);
    w->first[i + 1] = w->first[i] + count;
    return HSY_OK;
}

/* Every report answers both questions. */
static hsy_status puzzle_sound(const struct puzzle_work *w, hsy_error *err)
{
    hsy_tally words;

    hsy_tally_part(&words, w->t, w->s, w->plan->fragments);
    if (hsy_tally_reports(&words) != hsy_tally_reports(w->t))
        return hsy_fail_limit(err, HSY_E_FORMAT, HSY_FIELD_STRATA,
                              "not as many words as fragments", 0);
    return HSY_OK;
}

/* ---- The search ---------------------------------------------------------- */

/* The words that were joined, as they stand in w->codes. */
static hsy_status puzzle_words(struct puzzle_work *w, hsy_found *found,
                               size_t joined, hsy_error *err)
{
    hsy_status st;

    found->count = 0;
    if (joined == 0)
        return HSY_OK;
    st = hsy_evidence_of(w->s, w->points, w->t, w->codes, joined, w->scratch,
                         err);
    if (st == HSY_OK)
        found->count = hsy_search_select(&w->plan->word, found->list, w->codes,
                                         w->points, joined);
    return st;
}

hsy_status hsy_puzzle_search(const hsy_scheme *s, hsy_found *found,
                             hsy_puzzle_trace *trace, const hsy_tally *t,
                             const hsy_puzzle_plan *plan, void *memory,
                             hsy_error *err)
{
    struct puzzle_work w = {.s = s, .t = t, .plan = plan};
    struct puzzle_spelling spelling;
    hsy_puzzle_trace seen = {0};
    size_t joined = 0;
    hsy_status st = puzzle_sound(&w, err);

    if (st != HSY_OK)
        return st;
    hsy_puzzle_spelling(&spelling, s);
    puzzle_open(&w, memory);
    puzzle_list(&w, &spelling);
    for (size_t i = 0; i < plan->fragments && st == HSY_OK; i++)
        st = puzzle_offset(&w, i, err);
    if (st == HSY_OK)
        st = hsy_puzzle_join(s, w.codes, &joined, &seen, w.pairs, w.first,
                             plan->word.candidates, w.ways, err);
    if (st == HSY_OK)
        st = puzzle_words(&w, found, joined, err);
    if (st == HSY_OK)
        *trace = seen;
    return st;
}
