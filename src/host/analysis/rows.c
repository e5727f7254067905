/* rows.c - points of a tally become rows of estimates. */
#include "host/analysis/analysis.h"

#include <math.h>
#include <stdlib.h>

void analysis_view(hsy_tally *t, const hsy_scheme_info *info, int64_t *words)
{
    uint64_t *strata = (uint64_t *)words + info->cells;

    *t = (hsy_tally){.cells = words,
                     .strata = strata,
                     .weights =
                         info->weights == 0 ? NULL : strata + info->strata,
                     .ncells = info->cells,
                     .nstrata = info->strata,
                     .nweights = info->weights,
                     .central = info->central,
                     .answers = info->answers};
}

/* ---- Evidence ------------------------------------------------------------ */

hsy_status analysis_points(hsy_evidence **points, const hsy_analysis_tally *t,
                           const uint64_t *codes, size_t count, hsy_error *err)
{
    void *scratch = malloc(hsy_evidence_scratch(t->scheme, count) + 1);
    hsy_evidence *made = malloc(count * sizeof *made + 1);
    hsy_status st = HSY_E_NOMEM;

    if (scratch != NULL && made != NULL)
        st = hsy_evidence_of(t->scheme, made, t->tally, codes, count, scratch,
                             err);
    if (st == HSY_OK && t->attended != NULL)
        st = hsy_evidence_attend(made, count, t->scheme, t->permanent,
                                 t->attended, err);
    free(scratch);
    if (st == HSY_OK)
        *points = made;
    else
        free(made);
    return st;
}

hsy_status analysis_bounds(hsy_poison_bound **bounds,
                           const hsy_analysis_tally *t,
                           const hsy_evidence *points, size_t count,
                           double lying, hsy_error *err)
{
    hsy_poison_bound *made = malloc(count * sizeof *made + 1);
    hsy_status st = HSY_E_NOMEM;

    if (made != NULL)
        st = hsy_poison_bounds(t->scheme, made, points, count,
                               hsy_tally_reports(t->tally), lying, err);
    if (st == HSY_OK)
        *bounds = made;
    else
        free(made);
    return st;
}

/* ---- Rows ---------------------------------------------------------------- */

double analysis_unit(const hsy_scheme_info *info)
{
    if (info->kind != HSY_KIND_NUMBER)
        return 1;
    return analysis_number((double)info->hi - (double)info->lo, info->scale);
}

void analysis_rescale(const hsy_scheme_info *info, hsy_estimate *est,
                      bool difference)
{
    const double width = analysis_unit(info);
    const double zero =
        difference ? 0 : analysis_number((double)info->lo, info->scale);

    est->value = zero + width * est->value;
    est->sd *= width;
    est->low = zero + width * est->low;
    est->high = zero + width * est->high;
}

/* The interval beside its own, for what devices may have lied. Up for one tally
 * is down for the other, if that is taken off. */
static hsy_poison_bound rows_widen(hsy_analysis_row *row,
                                   const hsy_poison_bound *own,
                                   const hsy_poison_bound *other,
                                   const hsy_confidence *how)
{
    const bool inside = other == NULL && (how->interval == HSY_EXACT ||
                                          how->interval == HSY_LIKELIHOOD);
    hsy_poison_bound by = *own;

    if (other != NULL) {
        by.up += other->down;
        by.down += other->up;
    }
    row->low_lying = row->est.low - by.up;
    row->high_lying = row->est.high + by.down;
    if (inside) {
        row->low_lying = fmax(row->low_lying, 0);
        row->high_lying = fmin(row->high_lying, 1);
    }
    return by;
}

/* A mean in the units of its range. */
static void rows_rescale(hsy_analysis_row *row, const hsy_scheme_info *info,
                         bool difference)
{
    hsy_estimate wide = {.low = row->low_lying, .high = row->high_lying};

    analysis_rescale(info, &row->est, difference);
    analysis_rescale(info, &wide, difference);
    row->low_lying = wide.low;
    row->high_lying = wide.high;
}

hsy_status analysis_row(hsy_analysis_row *row, hsy_poison_bound *lying,
                        const hsy_scheme_info *info,
                        const struct analysis_known *own,
                        const struct analysis_known *other,
                        const hsy_confidence *how, hsy_error *err)
{
    const double unit = analysis_unit(info);
    hsy_status st;

    if (other != NULL)
        st = hsy_estimate_paired(&row->est, &row->p_value, own->point,
                                 other->point, own->shared, how, err);
    else
        st = hsy_estimate_point(&row->est, own->point, how, err);
    if (st != HSY_OK)
        return st;
    if (own->bound != NULL) {
        const hsy_poison_bound by = rows_widen(
            row, own->bound, other != NULL ? other->bound : NULL, how);

        lying->up = fmax(lying->up, unit * by.up);
        lying->down = fmax(lying->down, unit * by.down);
    }
    row->mean = info->kind == HSY_KIND_NUMBER;
    if (row->mean)
        rows_rescale(row, info, other != NULL);
    return HSY_OK;
}

hsy_status analysis_density(hsy_analysis_row **rows, size_t *count,
                            hsy_density_fit *fit, const hsy_analysis_tally *t,
                            const hsy_density_how *how, hsy_error *err)
{
    const bool yes_no = t->info->kind == HSY_KIND_YES_NO;
    const uint32_t d = t->info->d;
    void *scratch = malloc(hsy_density_estimate_scratch(t->scheme) + 1);
    hsy_estimate *bins = calloc((size_t)d + 1, sizeof *bins);
    hsy_analysis_row *made = calloc((size_t)d + 1, sizeof *made);
    hsy_status st = HSY_E_NOMEM;

    if (scratch != NULL && bins != NULL && made != NULL)
        st = hsy_density_estimate(t->scheme, bins, fit, t->tally, how, scratch,
                                  err);
    for (uint32_t i = 0; st == HSY_OK && i < d; i++) {
        made[i].est = bins[yes_no ? 1 - i : i]; /* yes is code 1 */
        made[i].place = i;
    }
    free(scratch);
    free(bins);
    if (st == HSY_OK) {
        *rows = made;
        *count = d;
    } else {
        free(made);
    }
    return st;
}

/* ---- The largest --------------------------------------------------------- */

/* Larger first; of equals the one that stands first. */
static int rows_order(const hsy_analysis_row *x, double size_x,
                      const hsy_analysis_row *y, double size_y)
{
    if (size_x != size_y)
        return size_x > size_y ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

int analysis_order_value(const void *a, const void *b)
{
    const hsy_analysis_row *x = a, *y = b;

    return rows_order(x, x->est.value, y, y->est.value);
}

int analysis_order_change(const void *a, const void *b)
{
    const hsy_analysis_row *x = a, *y = b;

    return rows_order(x, fabs(x->est.value), y, fabs(y->est.value));
}

void analysis_top(hsy_analysis_row *rows, size_t *count, uint64_t top,
                  bool difference)
{
    qsort(rows, *count, sizeof *rows,
          difference ? analysis_order_change : analysis_order_value);
    if (*count > top)
        *count = (size_t)top;
}

/* ---- What is not shown --------------------------------------------------- */

double analysis_level(const hsy_scheme_info *info, double level, uint64_t top,
                      size_t of)
{
    return info->kind == HSY_KIND_YES_NO ? level
                                         : hsy_selected_level(level, top, of);
}

hsy_selection analysis_selection(const hsy_scheme_info *info,
                                 const hsy_analysis_row *rows, size_t count,
                                 size_t total)
{
    const bool cut = count < total && info->kind != HSY_KIND_YES_NO;

    return (hsy_selection){.of = total,
                           .passed = cut ? rows[count].est.value : -INFINITY};
}

/* With how the shares vary together, where that is to be measured. */
static hsy_status rows_rest(hsy_estimate *rest, const hsy_analysis_tally *t,
                            const uint64_t *codes, const hsy_evidence *points,
                            size_t count, hsy_selection from,
                            const hsy_confidence *how, hsy_error *err)
{
    const size_t size = hsy_selection_scratch(t->scheme, count);
    void *scratch = malloc(size + 1);
    hsy_status st = HSY_E_NOMEM;

    if (scratch != NULL)
        st = hsy_selection_measure(t->scheme, &from, t->tally, codes, count,
                                   scratch, err);
    if (st == HSY_OK)
        st = hsy_estimate_rest(t->scheme, rest, points, count, &from, how, err);
    free(scratch);
    return st;
}

hsy_status analysis_rest(hsy_estimate *rest, const hsy_analysis_tally *t,
                         const uint64_t *codes,
                         const struct analysis_known *known, size_t count,
                         const hsy_selection *from, const hsy_confidence *how,
                         hsy_error *err)
{
    hsy_evidence *points = calloc(count + 1, sizeof *points);
    hsy_status st;

    if (points == NULL)
        return HSY_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        points[i] = *known[i].point;
    st = rows_rest(rest, t, codes, points, count, *from, how, err);
    free(points);
    return st;
}

hsy_estimate analysis_at_level(const hsy_estimate *est, double from, double to)
{
    const double ratio =
        hsy_normal_quantile((1 - to) / 2) / hsy_normal_quantile((1 - from) / 2);
    hsy_estimate out = *est;

    if (to == from)
        return out;
    out.low = est->value - ratio * (est->value - est->low);
    out.high = est->value + ratio * (est->high - est->value);
    return out;
}

/* ---- Signs --------------------------------------------------------------- */

/* Whether any part of the scheme has reports that show liars. */
static bool rows_show_liars(const hsy_scheme *s)
{
    for (size_t i = 0; i < hsy_scheme_parts(s); i++) {
        hsy_scheme_info info;

        hsy_scheme_describe(hsy_scheme_part(s, i), &info);
        if (info.weights > 0 || info.param[HSY_PARAM_G] != 0)
            return true;
    }
    return false;
}

double analysis_lying_p(const hsy_analysis_tally *t)
{
    hsy_plausibility p;

    if (!rows_show_liars(t->scheme))
        return NAN;
    hsy_plausible(t->scheme, &p, t->tally, NULL, 0, false);
    return fmin(p.weights_p, p.seeds_p);
}
