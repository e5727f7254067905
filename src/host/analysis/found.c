/* found.c - the frequent strings of a tally, each with its error. */
#include "host/analysis/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOUND_MISS 0.05 /* chance that a stage overlooks what is detectable */

/* ---- Rows ---------------------------------------------------------------- */

/* The whole symbols of a prefix, and the bits after them. */
static void found_name(struct analysis_found *row, const hsy_scheme *s,
                       uint32_t bits, uint32_t all)
{
    uint8_t bytes[HSY_SPELL_BITS] = {0};
    const uint32_t symbol = hsy_symbol_bits(s), whole = bits / symbol;
    size_t len = hsy_code_string(s, bytes, row->found.code);

    if (bits != all)
        len = whole; /* what is open may be more than zeros */
    memcpy(row->name, bytes, len);
    if (bits != all && bits % symbol != 0) {
        row->name[len++] = '+';
        for (uint32_t b = symbol * whole; b < bits; b++)
            row->name[len++] =
                (char)('0' + hsy_code_bit(s, row->found.code, b));
    }
    row->name_len = len;
}

/* Add what a stage has found; there is room for it. */
static hsy_status found_keep(struct analysis_search *out,
                             const hsy_analysis_tally *t,
                             const struct analysis_wanted *w,
                             const hsy_candidate *found, size_t count,
                             size_t stage, hsy_error *err)
{
    hsy_confidence how = w->how;

    if (count != 0) /* else the plan's, of which not all can be spelled */
        out->candidates = found[0].of;
    how.comparisons = w->simultaneous ? out->candidates : 1;
    if (!w->simultaneous)
        how.level = hsy_selected_level(how.level, count, out->candidates);
    out->level = how.level;
    for (size_t i = 0; i < count; i++) {
        struct analysis_found *row = &out->rows[out->count];
        hsy_status st;

        *row = (struct analysis_found){
            .stage = stage, .found = found[i], .level = how.level};
        found_name(row, t->scheme, out->stage[stage].bits,
                   (uint32_t)t->info->param[HSY_PARAM_BITS]);
        st = hsy_estimate_point(&row->est, &found[i].point, &how, err);
        if (st != HSY_OK)
            return st;
        out->count++;
    }
    return HSY_OK;
}

/* What is not among the strings that were found. */
static hsy_status found_rest(struct analysis_search *out,
                             const hsy_analysis_tally *t,
                             const struct analysis_wanted *w,
                             const hsy_candidate *found, size_t count,
                             hsy_error *err)
{
    hsy_selection from = {.of = out->candidates, .passed = -INFINITY};
    hsy_confidence how = w->how;
    hsy_evidence *points = calloc(count + 1, sizeof *points);
    hsy_status st;

    how.comparisons = 1;
    if (points == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < count; i++) {
        points[i] = found[i].point;
        from.passed = fmax(from.passed, found[i].passed);
    }
    st = hsy_estimate_rest(t->scheme, &out->rest, points, count, &from, &how,
                           err);
    free(points);
    return st;
}

/* Both, of the strings themselves. */
static hsy_status found_strings(struct analysis_search *out,
                                const hsy_analysis_tally *t,
                                const struct analysis_wanted *w,
                                const hsy_candidate *found, size_t count,
                                size_t stage, hsy_error *err)
{
    hsy_status st = found_keep(out, t, w, found, count, stage, err);

    out->found = count;
    return st == HSY_OK ? found_rest(out, t, w, found, count, err) : st;
}

/* ---- Prefixes: pem ------------------------------------------------------- */

static hsy_status found_stages(struct analysis_search *out,
                               const hsy_analysis_tally *t,
                               const struct analysis_wanted *w,
                               hsy_candidate *found, void *scratch,
                               hsy_error *err)
{
    hsy_found so_far = {found, 0};

    for (size_t i = 0; i < out->stages; i++) {
        const bool last = i + 1 == out->stages;
        hsy_stage stage = out->stage[i];
        hsy_status st;

        stage.significant = w->search.significant || (last && w->significant);
        out->candidates = (i == 0 ? 1 : so_far.count) << stage.step;
        st = hsy_search_stage(t->scheme, &so_far, t->tally, &stage, scratch,
                              err);
        if (w->tick != NULL)
            w->tick(w->ctx, i + 1, out->stages);
        if (st == HSY_E_EMPTY && err != NULL) {
            err->unit = HSY_UNIT_GROUP;
            err->at = i + 1;
        }
        if (st == HSY_OK && last)
            return found_strings(out, t, w, found, so_far.count, i, err);
        if (st == HSY_OK && w->all_stages)
            st = found_keep(out, t, w, found, so_far.count, i, err);
        if (st != HSY_OK)
            return st;
    }
    return HSY_OK;
}

static hsy_status found_prefixes(struct analysis_search *out,
                                 const hsy_analysis_tally *t,
                                 const struct analysis_wanted *w,
                                 hsy_error *err)
{
    hsy_candidate *found;
    void *scratch;
    size_t most = 0, room = 0;
    hsy_status st =
        hsy_search_plan(t->scheme, out->stage, &out->stages, &w->search, err);

    if (st != HSY_OK)
        return st;
    for (size_t i = 0; i < out->stages; i++) {
        const size_t rows = (size_t)out->stage[i].most;

        room = w->all_stages ? room + rows : rows;
        most = rows > most ? rows : most;
    }
    out->rows = malloc(room * sizeof *out->rows);
    found = malloc(most * sizeof *found);
    scratch = malloc(hsy_search_scratch(t->scheme, out->stage, out->stages));
    st = out->rows == NULL || found == NULL || scratch == NULL
             ? host_nomem(err)
             : found_stages(out, t, w, found, scratch, err);
    free(found);
    free(scratch);
    return st;
}

/* ---- One stage of a search in batches ------------------------------------ */

hsy_status analysis_survivors(hsy_stage *stage, hsy_candidate **found,
                              size_t *count, const hsy_analysis_tally *t,
                              const hsy_search *search, hsy_error *err)
{
    hsy_status st = hsy_stage_plan(t->scheme, stage, search, err);
    hsy_found made;
    void *scratch;

    if (st != HSY_OK)
        return st;
    made = (hsy_found){malloc((size_t)stage->keep * sizeof *made.list), 0};
    scratch = malloc(hsy_stage_scratch(t->scheme, stage));
    st = made.list == NULL || scratch == NULL
             ? host_nomem(err)
             : hsy_stage_survivors(t->scheme, &made, t->tally, stage, scratch,
                                   err);
    free(scratch);
    if (st != HSY_OK) {
        free(made.list);
        return st;
    }
    *found = made.list;
    *count = made.count;
    return HSY_OK;
}

static hsy_status found_batch(struct analysis_search *out,
                              const hsy_analysis_tally *t,
                              const struct analysis_wanted *w, hsy_error *err)
{
    hsy_search search = w->search;
    hsy_candidate *found = NULL;
    size_t count = 0;
    hsy_status st;

    search.significant = out->significant;
    st = analysis_survivors(&out->stage[0], &found, &count, t, &search, err);
    if (st != HSY_OK)
        return st;
    out->stages = 1;
    out->number = hsy_stage_number(t->scheme);
    out->candidates = out->stage[0].candidates;
    out->rows = malloc((count + 1) * sizeof *out->rows);
    st = out->rows == NULL ? host_nomem(err)
                           : found_strings(out, t, w, found, count, 0, err);
    free(found);
    return st;
}

/* ---- The fragment puzzle: sfp -------------------------------------------- */

static hsy_status found_join(struct analysis_search *out,
                             const hsy_analysis_tally *t,
                             const struct analysis_wanted *w,
                             const hsy_puzzle_plan *plan, hsy_error *err)
{
    hsy_found found = {malloc((size_t)plan->word.keep * sizeof *found.list), 0};
    void *memory = malloc(hsy_puzzle_memory(t->scheme, plan));
    hsy_puzzle_trace trace = {0};
    hsy_status st = found.list == NULL || memory == NULL
                        ? host_nomem(err)
                        : hsy_puzzle_search(t->scheme, &found, &trace, t->tally,
                                            plan, memory, err);

    if (st == HSY_OK) {
        out->candidates = trace.candidates;
        out->rows = malloc((found.count + 1) * sizeof *out->rows);
        st = out->rows == NULL
                 ? host_nomem(err)
                 : found_strings(out, t, w, found.list, found.count,
                                 plan->fragments, err);
    }
    free(found.list);
    free(memory);
    return st;
}

static hsy_status found_puzzle(struct analysis_search *out,
                               const hsy_analysis_tally *t,
                               const struct analysis_wanted *w, hsy_error *err)
{
    const hsy_puzzle how = {.size = sizeof how,
                            .top = w->search.top,
                            .threshold = w->threshold,
                            .all = w->all,
                            .alpha = w->search.alpha,
                            .max_candidates = w->search.max_candidates};
    hsy_puzzle_plan plan;
    hsy_status st = hsy_puzzle_plan_make(t->scheme, &plan, &how, err);

    if (st != HSY_OK)
        return st;
    out->significant = !w->all;
    out->offsets = plan.fragments;
    out->stages = plan.fragments + 1;
    for (size_t i = 0; i < plan.fragments; i++)
        out->stage[i] = plan.offset;
    out->stage[plan.fragments] = plan.word;
    return found_join(out, t, w, &plan, err);
}

/* ---- By the mechanism's own search --------------------------------------- */

hsy_status analysis_search(struct analysis_search *out,
                           const hsy_analysis_tally *t,
                           const struct analysis_wanted *w, hsy_error *err)
{
    *out = (struct analysis_search){.significant =
                                        w->significant || w->search.significant,
                                    .level = w->how.level};
    switch (t->info->analysis) {
    case HSY_ANALYSIS_STAGE:
        return found_batch(out, t, w, err);
    case HSY_ANALYSIS_PUZZLE:
        return found_puzzle(out, t, w, err);
    default:
        return found_prefixes(out, t, w, err);
    }
}

void analysis_search_clear(struct analysis_search *s)
{
    free(s->rows);
    *s = (struct analysis_search){0};
}

size_t analysis_groups(const struct analysis_search *s)
{
    return s->offsets != 0 ? s->offsets : s->stages;
}

double analysis_reach(const struct analysis_search *s,
                      const hsy_analysis_tally *t, double miss)
{
    double reach = 0;

    for (size_t i = 0; i < s->stages; i++) {
        hsy_tally group;

        hsy_tally_part(&group, t->tally, t->scheme, i);
        reach = fmax(reach,
                     hsy_stage_share(&s->stage[i],
                                     (double)hsy_tally_reports(&group), miss));
    }
    return reach;
}

/* ---- As a result --------------------------------------------------------- */

static hsy_status found_rows(hsy_analysis_result *out,
                             const struct analysis_search *got, hsy_error *err)
{
    size_t bytes = 1;
    char *at;

    for (size_t i = 0; i < got->count; i++)
        bytes += got->rows[i].name_len;
    out->rows = calloc(got->count + 1, sizeof *out->rows);
    out->memory = at = malloc(bytes);
    if (out->rows == NULL || at == NULL)
        return host_nomem(err);
    out->count = got->count;
    for (size_t i = 0; i < got->count; i++) {
        const struct analysis_found *from = &got->rows[i];

        memcpy(at, from->name, from->name_len);
        out->rows[i] =
            (hsy_analysis_row){.value = {at, from->name_len},
                               .est = from->est,
                               .level = from->level,
                               .place = (uint32_t)i,
                               .significant = from->found.significant};
        at += from->name_len;
    }
    return HSY_OK;
}

static void found_head(hsy_analysis_result *out, const hsy_analysis_tally *t,
                       const struct analysis_search *got)
{
    out->columns |= 1u << HSY_COLUMN_LEVEL | 1u << HSY_COLUMN_SIGNIFICANT;
    out->selected = out->found = got->found;
    out->of = out->candidates = got->candidates;
    out->level_selected = got->level;
    out->has_rest = true;
    out->rest = got->rest;
    out->largest_first = true;
    out->groups = analysis_groups(got);
    out->detectable = analysis_reach(got, t, FOUND_MISS);
    out->significant = got->significant;
    out->stage = got->number;
    out->stages = got->number != 0 ? hsy_stage_count(t->scheme) : 0;
    out->bits = got->stage[0].bits;
}

hsy_status analysis_by_search(struct analysis_job *j, hsy_error *err)
{
    struct analysis_wanted wanted = {.search = j->request->search,
                                     .how = j->out->how,
                                     .significant = j->request->significant,
                                     .simultaneous = j->request->simultaneous};
    struct analysis_search got = {0};
    hsy_status st = analysis_no_difference(j, err);

    wanted.search.size = sizeof wanted.search;
    if (st == HSY_OK)
        st = analysis_search(&got, &j->t, &wanted, err);
    if (st == HSY_OK) {
        found_head(j->out, &j->t, &got);
        st = found_rows(j->out, &got, err);
    }
    analysis_search_clear(&got);
    return st;
}
