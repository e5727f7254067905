/*
 * rappor_associate.c - the joint distribution of several RAPPOR variables.
 *
 * Of strings outside the list only the bits are known, and those depend on the
 * shares of the listed ones, which are estimates: the covariance has what a
 * standard error of each would change (docs/rappor-decode.md).
 */
#include "lib/core/fail.h"
#include "lib/rappor/internal.h"

#include <string.h>

struct pairs_work {
    const hsy_rappor_reports *r;
    hsy_association a;
    size_t cells;
    double *rows[HSY_ASSOCIATE_VARIABLES];
    double *shifted;        /* rows of one variable */
    double *other, *listed; /* of one variable */
    double *change;
    double *solve; /* hsy_associate's own */
};

/* ---- Memory -------------------------------------------------------------- */

static uint32_t pairs_categories(const hsy_rappor_variable *v)
{
    return (uint32_t)v->data.candidates + (v->rest != HSY_RAPPOR_REST_NONE);
}

static hsy_status pairs_check_variable(const hsy_rappor_variable *v,
                                       hsy_error *err)
{
    if (v->data.candidates > HSY_ASSOCIATE_CELLS)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_CANDIDATES,
                              "too many categories for a table",
                              HSY_ASSOCIATE_CELLS);
    if (v->rest > HSY_RAPPOR_REST_NO_BIT)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_REST, "no such rest");
    return hsy_rappor_check(&v->data, true, err);
}

static hsy_status pairs_check(const hsy_rappor_reports *r, hsy_error *err)
{
    size_t cells = 1;

    if (r->size != sizeof *r)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_SIZE,
                        "must be sizeof(hsy_rappor_reports)");
    if (r->variables < 2 || r->variables > HSY_ASSOCIATE_VARIABLES)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_VARIABLES,
                              "must be 2 to the limit",
                              HSY_ASSOCIATE_VARIABLES);
    for (uint32_t i = 0; i < r->variables; i++) {
        hsy_status st = pairs_check_variable(&r->variable[i], err);

        if (st != HSY_OK)
            return st;
        cells *= pairs_categories(&r->variable[i]);
        if (cells > HSY_ASSOCIATE_CELLS)
            return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_CANDIDATES,
                                  "too many cells of the table",
                                  HSY_ASSOCIATE_CELLS);
    }
    return HSY_OK;
}

/* Parts of the scratch memory, in doubles; with memory NULL only their sum. */
static size_t pairs_layout(struct pairs_work *w, double *memory)
{
    const hsy_rappor_reports *r = w->r;
    size_t widest = 0, bits = 0, at = 0;

    w->a = (hsy_association){
        .size = sizeof w->a, .n = r->n, .variables = r->variables};
    w->cells = 1;
    for (uint32_t i = 0; i < r->variables; i++) {
        const hsy_rappor_variable *v = &r->variable[i];
        const size_t each = pairs_categories(v);

        w->a.categories[i] = (uint32_t)each;
        w->rows[i] = memory != NULL ? memory + at : NULL;
        w->a.rows[i] = w->rows[i];
        w->cells *= each;
        at += r->n * each;
        widest = each > widest ? each : widest;
        if ((size_t)v->data.m * v->data.k > bits)
            bits = (size_t)v->data.m * v->data.k;
    }
    if (memory != NULL) {
        w->shifted = memory + at;
        w->other = w->shifted + r->n * widest;
        w->listed = w->other + 2 * bits;
        w->change = w->listed + widest;
        w->solve = w->change + w->cells;
    }
    return at + (r->n + 1) * widest + 2 * bits + w->cells;
}

size_t hsy_rappor_associate_scratch(const hsy_rappor_reports *r)
{
    struct pairs_work w = {.r = r};
    size_t own, solve;

    if (pairs_check(r, NULL) != HSY_OK)
        return 0;
    own = pairs_layout(&w, NULL) * sizeof(double);
    solve = hsy_associate_scratch(&w.a);
    return solve != 0 ? own + solve : 0;
}

/* ---- Rows ---------------------------------------------------------------- */

/* Rows of a variable, its listed strings having the shares in w->listed. */
static hsy_status pairs_rows(struct pairs_work *w, double *rows,
                             const hsy_rappor_variable *v, hsy_error *err)
{
    const hsy_rappor_reports *r = w->r;
    const double *other = v->rest == HSY_RAPPOR_REST_NONE ? NULL : w->other;
    hsy_status st = HSY_OK;

    if (v->rest == HSY_RAPPOR_REST_STRINGS)
        st = hsy_rappor_other(&v->data, w->other, w->listed, err);
    else
        memset(w->other, 0,
               2 * (size_t)v->data.m * v->data.k * sizeof *w->other);
    if (st != HSY_OK)
        return st;
    return hsy_rappor_likelihood(&v->data, rows, other, v->words, v->stride,
                                 r->cohorts, r->n, err);
}

static void pairs_list(struct pairs_work *w, const hsy_rappor_variable *v)
{
    if (v->rest == HSY_RAPPOR_REST_STRINGS)
        memcpy(w->listed, v->shares, v->data.candidates * sizeof *w->listed);
}

/* ---- Shares that are estimates ------------------------------------------- */

/* A step of a standard error either way that leaves shares what they are: not
 * negative, and less than 1 together. 0 if there is none. */
static double pairs_step(const hsy_rappor_variable *v, size_t s)
{
    double sum = 0;

    for (size_t i = 0; i < v->data.candidates; i++)
        sum += v->shares[i];
    if (sum + v->sd[s] < 1)
        return v->sd[s];
    return v->shares[s] < v->sd[s] ? -v->shares[s] : -v->sd[s];
}

/* Add to the covariance what the shares of variable i leave open. */
static hsy_status pairs_spread(struct pairs_work *w, uint32_t i,
                               const double *share, const double *fitted,
                               double *covariance, hsy_error *err)
{
    const hsy_rappor_variable *v = &w->r->variable[i];
    hsy_association other = w->a;
    hsy_status st = HSY_OK;

    other.rows[i] = w->shifted;
    pairs_list(w, v);
    for (size_t s = 0; s < v->data.candidates && st == HSY_OK; s++) {
        const double step = pairs_step(v, s);
        const double scale = step != 0 ? v->sd[s] / step : 0;

        w->listed[s] += step;
        st = pairs_rows(w, w->shifted, v, err);
        w->listed[s] -= step;
        if (st != HSY_OK)
            break;
        hsy_associate_shift(&w->a, w->change, share, fitted, &other, w->solve);
        for (size_t x = 0; x < w->cells * w->cells; x++)
            covariance[x] += scale * scale * w->change[x / w->cells] *
                             w->change[x % w->cells];
    }
    return st;
}

hsy_status hsy_rappor_associate(const hsy_rappor_reports *r, double *share,
                                double *covariance,
                                hsy_association_result *result, void *scratch,
                                hsy_error *err)
{
    struct pairs_work w = {.r = r};
    double *fitted;
    hsy_status st = pairs_check(r, err);

    if (st != HSY_OK)
        return st;
    pairs_layout(&w, scratch);
    for (uint32_t i = 0; i < r->variables && st == HSY_OK; i++) {
        pairs_list(&w, &r->variable[i]);
        st = pairs_rows(&w, w.rows[i], &r->variable[i], err);
    }
    if (st == HSY_OK)
        st = hsy_associate(&w.a, share, covariance, result, w.solve, err);
    if (st != HSY_OK)
        return st;
    /* The covariance of the fit is kept while more is added to the other. */
    fitted = w.solve + 2 * w.cells;
    memcpy(fitted, covariance, w.cells * w.cells * sizeof *fitted);
    for (uint32_t i = 0; i < r->variables && st == HSY_OK; i++) {
        if (r->variable[i].rest == HSY_RAPPOR_REST_STRINGS)
            st = pairs_spread(&w, i, share, fitted, covariance, err);
    }
    return st;
}
