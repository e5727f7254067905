/*
 * selected_design.c - how much more a sum of selected shares varies than if
 * they were independent.
 *
 * Of hashes and geometries any two values are supported independently, three
 * need not be. Where a report is the number of a cell, cells can be drawn anew
 * from the counts and estimated like the real ones [ET93]. The variance of the
 * sum S over such replicates is that of noise and of sampling people, S
 * (1-S)/n; what is left of it is held against the sum of the shares' own
 * variances.
 */
#include "lib/core/fail.h"
#include "lib/infer/infer.h"
#include "lib/scheme/scheme.h"

#include <math.h>
#include <string.h>

#define DESIGN_REPLICATES 50u
#define DESIGN_CELLS ((size_t)1 << 18) /* more take too long */
#define DESIGN_LANE 0x64657369676eu    /* "design" */

struct design_room {
    double *chances, *counts;
    int64_t *words;
    hsy_evidence *points;
    void *scratch;
};

/* Lay it out in memory, which may be NULL: the bytes it takes. */
static size_t design_layout(struct design_room *room, uint8_t *memory,
                            const hsy_scheme *s, const hsy_scheme_info *info,
                            size_t count)
{
    const size_t sizes[] = {
        info->cells * sizeof(double), info->cells * sizeof(double),
        hsy_tally_words(s) * sizeof(int64_t), count * sizeof(hsy_evidence),
        hsy_evidence_scratch(s, count)};
    size_t at[5], used = 0;

    for (size_t i = 0; i < 5; i++) {
        at[i] = used;
        used += (sizes[i] + 63) / 64 * 64;
    }
    if (memory != NULL)
        *room = (struct design_room){(double *)(void *)(memory + at[0]),
                                     (double *)(void *)(memory + at[1]),
                                     (int64_t *)(void *)(memory + at[2]),
                                     (hsy_evidence *)(void *)(memory + at[3]),
                                     memory + at[4]};
    return used;
}

/* Whether every report is one cell, and its law is a hash's or a geometry's. */
static bool design_takes(const hsy_scheme *s)
{
    return s->mech->estimate->errors == MECH_ERRORS_DESIGN &&
           s->kind != HSY_KIND_STRINGS && s->cells <= DESIGN_CELLS;
}

size_t hsy_selection_scratch(const hsy_scheme *s, size_t count)
{
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    return design_takes(s) && count > 1
               ? design_layout(NULL, NULL, s, &info, count)
               : 0;
}

static double design_sum(const hsy_evidence *points, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += points[i].value;
    return sum;
}

/* What the shares' own variances, without sampling, come to. */
static double design_noise(const hsy_evidence *points, size_t count)
{
    double variance = 0;

    for (size_t i = 0; i < count; i++) {
        const double f = hsy_share_clip(points[i].value);
        const double noise = (1 - f) * points[i].v0 + f * points[i].v1;

        variance += noise / points[i].n + points[i].residual_variance;
    }
    return variance;
}

/* The share of each cell; false if reports are not one cell each. */
static bool design_chances(double *chances, const hsy_tally *t, double n)
{
    double all = 0;

    for (size_t c = 0; c < t->ncells; c++) {
        if (t->cells[c] < 0)
            return false;
        all += (double)t->cells[c];
        chances[c] = (double)t->cells[c] / n;
    }
    return all == n;
}

/* The sum of one replicate. */
static hsy_status design_replicate(double *sum, const struct design_room *room,
                                   const hsy_scheme *s, const hsy_tally *t,
                                   const uint64_t *codes, size_t count,
                                   hsy_stream *stream, hsy_error *err)
{
    hsy_tally drawn;
    hsy_status st;

    hsy_tally_init(&drawn, s, room->words);
    hsy_multinomial_draw(room->counts, room->chances, t->ncells,
                         hsy_tally_reports(t), stream);
    for (size_t c = 0; c < t->ncells; c++)
        drawn.cells[c] = (int64_t)room->counts[c];
    memcpy(drawn.strata, t->strata, t->nstrata * sizeof *t->strata);
    st = hsy_evidence_of(s, room->points, &drawn, codes, count, room->scratch,
                         err);
    if (st == HSY_OK)
        *sum = design_sum(room->points, count);
    return st;
}

hsy_status hsy_selection_measure(const hsy_scheme *s, hsy_selection *from,
                                 const hsy_tally *t, const uint64_t *codes,
                                 size_t count, void *scratch, hsy_error *err)
{
    const double n = (double)hsy_tally_reports(t);
    double all, f, own, off = 0, squares = 0, noise;
    struct design_room room;
    hsy_stream stream;
    hsy_scheme_info info;
    hsy_status st = HSY_OK;

    if (hsy_selection_scratch(s, count) == 0)
        return HSY_OK;
    if (n == 0)
        return hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_TALLY, "no data");
    hsy_scheme_describe(s, &info);
    design_layout(&room, scratch, s, &info, count);
    if (!design_chances(room.chances, t, n))
        return HSY_OK;
    st = hsy_evidence_of(s, room.points, t, codes, count, room.scratch, err);
    if (st != HSY_OK)
        return st;
    all = design_sum(room.points, count);
    own = design_noise(room.points, count);
    hsy_stream_seed(&stream, 0, DESIGN_LANE);
    for (unsigned r = 0; r < DESIGN_REPLICATES && st == HSY_OK; r++) {
        double sum = 0;

        st = design_replicate(&sum, &room, s, t, codes, count, &stream, err);
        off += sum - all;
        squares += (sum - all) * (sum - all);
    }
    hsy_stream_clear(&stream);
    if (st != HSY_OK)
        return st;
    f = hsy_share_clip(all);
    noise =
        (squares - off * off / DESIGN_REPLICATES) / (DESIGN_REPLICATES - 1) -
        f * (1 - f) / n;
    from->design = sqrt(fmax(1, noise / fmax(own, 1e-300)));
    return HSY_OK;
}
