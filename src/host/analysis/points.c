/* points.c - each value by itself: evidence becomes rows, of one tally or of
 * the difference of two. */
#include "host/analysis/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Evidence ------------------------------------------------------------ */

void analysis_evidence_clear(struct analysis_evidence *e)
{
    free(e->points);
    free(e->bounds);
    *e = (struct analysis_evidence){0};
}

/* Points of what is asked, and what liars can do to them where that has a
 * bound. A yes/no question has two: yes, then no. */
static hsy_status points_weigh(struct analysis_evidence *e,
                               const struct analysis_job *j,
                               const hsy_analysis_tally *t, hsy_error *err)
{
    static const uint64_t both[] = {1, 0}; /* yes, no */
    const bool yes_no = t->info->kind == HSY_KIND_YES_NO;
    const uint64_t *codes = yes_no           ? both
                            : j->asked.whole ? NULL
                                             : j->asked.codes;
    hsy_status st;

    if (e->points != NULL)
        return HSY_OK; /* it was weighed before */
    e->count = j->asked.whole ? t->info->d : j->asked.count;
    e->complete = codes == NULL || yes_no;
    st = analysis_points(&e->points, t, codes, e->count, err);
    if (st == HSY_OK && j->request->lying > 0)
        st = analysis_bounds(&e->bounds, t, e->points, e->count,
                             j->request->lying, err);
    return st == HSY_E_UNKNOWN ? HSY_OK : st;
}

static struct analysis_known points_known(const struct analysis_evidence *e,
                                          size_t i, bool bounds, double shared)
{
    return (struct analysis_known){&e->points[i], bounds ? &e->bounds[i] : NULL,
                                   shared};
}

/* ---- Rows ---------------------------------------------------------------- */

double analysis_job_level(const struct analysis_job *j, size_t of)
{
    const hsy_analysis_request *q = j->request;

    return q->top != 0 && !q->simultaneous
               ? analysis_level(&j->out->info, j->out->how.level, q->top, of)
               : j->out->how.level;
}

static hsy_status points_rows(struct analysis_job *j, const hsy_confidence *how,
                              hsy_error *err)
{
    hsy_analysis_result *out = j->out;
    const bool two = out->compared;
    const bool bounds =
        j->own->bounds != NULL && (!two || j->its->bounds != NULL);

    out->count = j->asked.count;
    out->rows = calloc(out->count + 1, sizeof *out->rows);
    if (out->rows == NULL)
        return host_nomem(err);
    if (bounds) {
        out->lying = j->request->lying;
        out->columns |=
            1u << HSY_COLUMN_LOW_LYING | 1u << HSY_COLUMN_HIGH_LYING;
    }
    for (size_t i = 0; i < out->count; i++) {
        const size_t at = analysis_place(&j->asked, i);
        const struct analysis_known own =
            points_known(j->own, at, bounds, j->shared);
        const struct analysis_known its =
            two ? points_known(j->its, at, bounds, j->shared) : own;
        hsy_status st;

        out->rows[i].place = (uint32_t)i;
        st = analysis_row(&out->rows[i], &out->lies, &out->info, &own,
                          two ? &its : NULL, how, err);
        if (st != HSY_OK)
            return st;
    }
    return HSY_OK;
}

/* ---- Post-processing ----------------------------------------------------- */

/* One point stands for both answers; only base-cut judges each by itself. */
static hsy_status points_post_yes_no(double out[2],
                                     const hsy_evidence points[2],
                                     hsy_post method, hsy_error *err)
{
    double scratch;
    hsy_status st =
        hsy_post_process(&out[0], &points[0], 1, method, &scratch, err);

    out[1] = 1 - out[0];
    if (st == HSY_OK && method == HSY_POST_BASE_CUT)
        st = hsy_post_process(&out[1], &points[1], 1, method, &scratch, err);
    return st;
}

static hsy_status points_post_all(double *out, const struct analysis_job *j,
                                  hsy_error *err)
{
    const struct analysis_evidence *e = j->own;
    const hsy_post method = j->request->post;
    double *scratch;
    hsy_status st;

    if (j->out->info.kind == HSY_KIND_YES_NO)
        return points_post_yes_no(out, e->points, method, err);
    scratch = malloc((e->count + 1) * sizeof *scratch);
    st = scratch == NULL
             ? host_nomem(err)
             : hsy_post_process(out, e->points, e->count, method, scratch, err);
    free(scratch);
    return st;
}

/* By the tally's own likelihood codes are in order: no, then yes. */
static hsy_status points_post(struct analysis_job *j, hsy_error *err)
{
    hsy_analysis_result *out = j->out;
    const bool em = j->request->post == HSY_POST_EM;
    const bool turned = em && out->info.kind == HSY_KIND_YES_NO;
    double *shares = NULL;
    hsy_status st;

    if (j->request->post == HSY_POST_NONE)
        return HSY_OK;
    if (em) {
        st = analysis_density_post(&shares, j, err);
    } else {
        shares = malloc((j->own->count + 1) * sizeof *shares);
        st = shares == NULL ? host_nomem(err) : points_post_all(shares, j, err);
    }
    for (size_t i = 0; st == HSY_OK && i < out->count; i++)
        out->rows[i].post =
            shares[turned ? 1 - i : analysis_place(&j->asked, i)];
    free(shares);
    out->columns |= 1u << HSY_COLUMN_POST;
    return st;
}

/* ---- The largest --------------------------------------------------------- */

void analysis_cut(struct analysis_job *j)
{
    hsy_analysis_result *out = j->out;
    /* Yes and no are one share: each is all that the other leaves. */
    const bool both = out->info.kind == HSY_KIND_YES_NO;

    out->of = out->count;
    out->level_selected = analysis_job_level(j, out->of);
    out->largest_first = j->request->top != 0;
    if (out->largest_first)
        analysis_top(out->rows, &out->count,
                     both ? out->count : j->request->top, out->compared);
    out->selected = out->count;
    out->has_rest = out->count < out->of && !out->compared;
    if (out->count < out->of)
        out->columns |= 1u << HSY_COLUMN_LEVEL;
    for (size_t i = 0; i < out->count; i++)
        out->rows[i].level = out->level_selected;
}

/* What is not among the rows that are left. */
static hsy_status points_rest(struct analysis_job *j, hsy_error *err)
{
    hsy_analysis_result *out = j->out;
    const hsy_selection from =
        analysis_selection(&out->info, out->rows, out->count, out->of);
    struct analysis_known *known = calloc(out->count + 1, sizeof *known);
    uint64_t *codes = calloc(out->count + 1, sizeof *codes);
    hsy_status st = HSY_E_NOMEM;

    for (size_t i = 0; known != NULL && codes != NULL && i < out->count; i++) {
        const size_t place = out->rows[i].place;

        codes[i] = j->asked.codes != NULL ? j->asked.codes[place] : place;
        known[i] =
            points_known(j->own, analysis_place(&j->asked, place), false, 0);
    }
    if (known != NULL && codes != NULL)
        st = analysis_rest(&out->rest, &j->t, codes, known, out->count, &from,
                           &out->how, err);
    free(known);
    free(codes);
    return st == HSY_E_NOMEM ? host_nomem(err) : st;
}

/* ---- All of it ----------------------------------------------------------- */

const char *analysis_differ(const hsy_analysis_tally *a,
                            const hsy_analysis_tally *b)
{
    const hsy_scheme_info *x = a->info, *y = b->info;

    if (x->kind != y->kind)
        return "the kind of question";
    if (x->d != y->d)
        return "the number of values";
    if (x->lo != y->lo || x->hi != y->hi || x->scale != y->scale)
        return "the range";
    if (x->labels_len - x->labels_at != y->labels_len - y->labels_at ||
        (x->labels_len > x->labels_at && a->labels != NULL &&
         b->labels != NULL &&
         memcmp(a->labels + x->labels_at, b->labels + y->labels_at,
                x->labels_len - x->labels_at) != 0))
        return "the values";
    return NULL;
}

/* What two tallies of one task share of their kept noise. */
static hsy_status points_share(struct analysis_job *j, hsy_error *err)
{
    const hsy_analysis_tally *a = &j->t, *b = &j->against;
    hsy_status st;

    if (j->request->devices == 0)
        return HSY_OK;
    if (a->rounds == NULL || b->rounds == NULL)
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_DEVICES,
                         "goes with two tallies whose rounds are known");
    st = hsy_attend_both(&j->shared, &(hsy_rounds){a->rounds, a->nrounds},
                         &(hsy_rounds){b->rounds, b->nrounds},
                         j->request->devices, err);
    if (st != HSY_OK && err != NULL)
        err->field = HSY_FIELD_DEVICES;
    j->out->paired = j->shared > 0;
    return st;
}

static hsy_status points_compare(struct analysis_job *j, hsy_error *err)
{
    const char *what;
    hsy_status st;

    if (!j->out->compared)
        return HSY_OK;
    what = analysis_differ(&j->t, &j->against);
    if (what != NULL)
        return host_fail(err, HSY_E_MISMATCH, HOST_FIELD_DIFFERENCE, what);
    st = points_weigh(j->its, j, &j->against, err);
    if (st == HSY_OK)
        st = points_share(j, err);
    j->out->columns |= 1u << HSY_COLUMN_P_VALUE;
    return st;
}

static hsy_status points_doubt(struct analysis_job *j,
                               const hsy_confidence *how, hsy_error *err)
{
    const hsy_analysis_note whole = {.code = HSY_DOUBT_CANDIDATES};
    const hsy_post post = j->request->post;
    hsy_status st;

    if (j->request->bare)
        return HSY_OK;
    st = analysis_doubt(j, 0, err);
    if (st == HSY_OK && j->out->compared)
        return analysis_doubt(j, 1, err);
    if (st != HSY_OK || j->out->info.kind == HSY_KIND_NUMBER)
        return st;
    st = analysis_doubt_outside(j, (1 - how->level) / (double)how->comparisons,
                                err);
    if (st == HSY_OK)
        st = analysis_note_sum(j, err);
    if (st == HSY_OK)
        st = analysis_note_wide(j, err);
    if (st == HSY_OK && post != HSY_POST_NONE && !j->own->complete &&
        post != HSY_POST_BASE_CUT)
        st = analysis_note(j->out, &whole, err);
    return st;
}

hsy_status analysis_by_points(struct analysis_job *j, hsy_error *err)
{
    hsy_confidence how = j->out->how;
    hsy_status st = points_weigh(j->own, j, &j->t, err);

    if (st == HSY_OK)
        st = points_compare(j, err);
    if (st != HSY_OK)
        return st;
    if (j->request->simultaneous && j->out->info.kind != HSY_KIND_YES_NO)
        how.comparisons = j->asked.count;
    how.level = analysis_job_level(j, j->asked.count);
    st = points_rows(j, &how, err);
    if (st == HSY_OK)
        st = points_post(j, err);
    if (st == HSY_OK)
        st = points_doubt(j, &how, err);
    if (st != HSY_OK)
        return st;
    analysis_cut(j);
    if (j->out->has_rest)
        st = points_rest(j, err);
    return st == HSY_OK ? analysis_quantiles(j, err) : st;
}
