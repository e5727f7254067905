/*
 * associate.c - the joint distribution of several variables, by EM.
 *
 * Each person sends a report of every variable; L[cell] is the product of the
 * variables' likelihoods. The mean log-likelihood of shares pi is concave, and
 *     D[cell] = mean over reports of L[cell] / (L . pi)
 * is its gradient. EM multiplies pi by D; at the maximum D <= 1, with equality
 * where pi > 0, and n (max D - 1) bounds what is missing from the maximum
 * [Lindsay83]: iterations stop when that is below ASSOCIATE_GAP. Two EM steps
 * are extrapolated as in SQUAREM [VaradhanRoland08], else they number
 * thousands.
 */
#include "hearsay.h"
#include "lib/core/fail.h"

#include <math.h>
#include <string.h>

#define ASSOCIATE_GAP 1e-6
#define ASSOCIATE_STEPS 20000u
#define ASSOCIATE_STILL 1e-10 /* a step of marginals that counts as none */

struct associate_work {
    const hsy_association *a;
    size_t cells;
    double *cell;                /* L of one report */
    double *pi[4];               /* shares, and steps from them */
    double *gradient;            /* D */
    double *information;         /* cells squared */
    double *marginal, *expected; /* of all variables, one after the other */
};

/* ---- Memory and limits --------------------------------------------------- */

static size_t associate_cells(const hsy_association *a)
{
    size_t cells = 1;

    for (uint32_t v = 0; v < a->variables; v++) {
        if (a->categories[v] < 2 ||
            a->categories[v] > HSY_ASSOCIATE_CELLS / cells)
            return 0;
        cells *= a->categories[v];
    }
    return cells;
}

static hsy_status associate_check(const hsy_association *a, hsy_error *err)
{
    if (a->size != sizeof *a)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_SIZE,
                        "must be sizeof(hsy_association)");
    if (a->variables < 2 || a->variables > HSY_ASSOCIATE_VARIABLES)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_VARIABLES,
                              "must be 2 to the limit",
                              HSY_ASSOCIATE_VARIABLES);
    if (associate_cells(a) == 0)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_CATEGORIES,
                              "two or more for each variable, and no more "
                              "cells of the table than the limit",
                              HSY_ASSOCIATE_CELLS);
    if (a->n == 0)
        return hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_N, "there are no reports");
    return HSY_OK;
}

static size_t associate_marginals(const hsy_association *a)
{
    size_t all = 0;

    for (uint32_t v = 0; v < a->variables; v++)
        all += a->categories[v];
    return all;
}

static void associate_layout(struct associate_work *w, double *memory)
{
    const size_t cells = w->cells, marginals = associate_marginals(w->a);

    w->cell = memory;
    for (int i = 0; i < 4; i++)
        w->pi[i] = memory + (size_t)(i + 1) * cells;
    w->gradient = memory + 5 * cells;
    w->information = memory + 6 * cells;
    w->marginal = w->information + cells * cells;
    w->expected = w->marginal + 3 * marginals;
}

size_t hsy_associate_scratch(const hsy_association *a)
{
    const hsy_association some = {.size = a->size, .n = 1};
    hsy_association shape = *a;
    size_t cells;

    shape.n = some.n;
    if (associate_check(&shape, NULL) != HSY_OK)
        return 0;
    cells = associate_cells(a);
    return (cells * (cells + 6) + 4 * associate_marginals(a)) * sizeof(double);
}

/* ---- One report ---------------------------------------------------------- */

/* The outer product of the variables' rows, the last running fastest. */
static void associate_outer(double *cell, const hsy_association *a, size_t i)
{
    size_t have = 1;

    cell[0] = 1;
    for (uint32_t v = 0; v < a->variables; v++) {
        const size_t r = a->categories[v];
        const double *row = a->rows[v] + i * r;

        /* From the end on: what is read is not yet overwritten. */
        for (size_t at = have; at-- > 0;) {
            const double factor = cell[at];

            for (size_t j = 0; j < r; j++)
                cell[at * r + j] = factor * row[j];
        }
        have *= r;
    }
}

static double associate_dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static hsy_status associate_check_rows(const hsy_association *a, hsy_error *err)
{
    for (uint32_t v = 0; v < a->variables; v++) {
        for (size_t i = 0; i < a->n; i++) {
            const double *row = a->rows[v] + i * a->categories[v];
            double most = 0;

            for (uint32_t j = 0; j < a->categories[v]; j++) {
                if (!(row[j] >= 0 && row[j] <= 1e30))
                    return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_ROWS,
                                       "a likelihood is not a number from 0 "
                                       "to 1e30",
                                       HSY_UNIT_REPORT, i + 1);
                most = fmax(most, row[j]);
            }
            if (most < 1e-30)
                return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_ROWS,
                                   "no category can give this report",
                                   HSY_UNIT_REPORT, i + 1);
        }
    }
    return HSY_OK;
}

/* ---- The joint distribution ---------------------------------------------- */

/* D at pi. */
static void associate_gradient(struct associate_work *w, const double *pi)
{
    const size_t cells = w->cells;

    memset(w->gradient, 0, cells * sizeof *w->gradient);
    for (size_t i = 0; i < w->a->n; i++) {
        double weight;

        associate_outer(w->cell, w->a, i);
        weight = 1 / associate_dot(w->cell, pi, cells);
        for (size_t j = 0; j < cells; j++)
            w->gradient[j] += weight * w->cell[j];
    }
    for (size_t j = 0; j < cells; j++)
        w->gradient[j] /= (double)w->a->n;
}

/* An EM step, and the bound on what is missing from the maximum before it. */
static double associate_step(struct associate_work *w, double *to,
                             const double *from)
{
    double most = 0;

    associate_gradient(w, from);
    for (size_t j = 0; j < w->cells; j++) {
        to[j] = from[j] * w->gradient[j];
        most = fmax(most, w->gradient[j]);
    }
    return (double)w->a->n * (most - 1);
}

/*
 * From two EM steps p, q, r extrapolate: p + 2 s (q - p) + s^2 (r - 2 q + p),
 * s the ratio of lengths. Wherever that leaves the open simplex the plain
 * second step stands in for it, so a share is never 0 before its time.
 */
static void associate_leap(double *out, const double *p, const double *q,
                           const double *r, size_t cells)
{
    double first = 0, second = 0, s, sum = 0;
    bool inside = true;

    for (size_t j = 0; j < cells; j++) {
        const double d = q[j] - p[j], e = r[j] - 2 * q[j] + p[j];

        first += d * d;
        second += e * e;
    }
    s = second > 0 ? fmax(1, sqrt(first / second)) : 1;
    for (size_t j = 0; j < cells; j++) {
        out[j] =
            p[j] + 2 * s * (q[j] - p[j]) + s * s * (r[j] - 2 * q[j] + p[j]);
        inside = inside && out[j] > r[j] / 100;
        sum += out[j];
    }
    for (size_t j = 0; j < cells; j++)
        out[j] = inside ? out[j] / sum : r[j];
}

/* Ends in w->pi[0]. A leap that lost ground (a larger gap) is taken back. */
static double associate_solve(struct associate_work *w, uint32_t *iterations)
{
    double gap = INFINITY, before = INFINITY;

    for (size_t j = 0; j < w->cells; j++)
        w->pi[0][j] = 1 / (double)w->cells;
    for (*iterations = 0; *iterations < ASSOCIATE_STEPS; *iterations += 2) {
        gap = associate_step(w, w->pi[1], w->pi[0]);
        if (gap < ASSOCIATE_GAP)
            break;
        if (gap > 4 * before) {
            memcpy(w->pi[0], w->pi[3], w->cells * sizeof(double));
            before = INFINITY;
            continue;
        }
        before = gap;
        associate_step(w, w->pi[2], w->pi[1]);
        memcpy(w->pi[3], w->pi[2], w->cells * sizeof(double));
        associate_leap(w->pi[0], w->pi[0], w->pi[1], w->pi[2], w->cells);
    }
    return gap;
}

/* ---- Independence -------------------------------------------------------- */

static double associate_likelihood(struct associate_work *w, const double *pi)
{
    double sum = 0;

    for (size_t i = 0; i < w->a->n; i++) {
        associate_outer(w->cell, w->a, i);
        sum += log(associate_dot(w->cell, pi, w->cells));
    }
    return sum;
}

/* The category of variable v in a cell. */
static size_t associate_category(const hsy_association *a, size_t cell,
                                 uint32_t v)
{
    for (uint32_t u = a->variables - 1; u > v; u--)
        cell /= a->categories[u];
    return cell % a->categories[v];
}

static void associate_marginal(const struct associate_work *w, double *marginal,
                               const double *pi)
{
    size_t at = 0;

    memset(marginal, 0, associate_marginals(w->a) * sizeof *marginal);
    for (uint32_t v = 0; v < w->a->variables; v++) {
        for (size_t j = 0; j < w->cells; j++)
            marginal[at + associate_category(w->a, j, v)] += pi[j];
        at += w->a->categories[v];
    }
}

static void associate_product(const struct associate_work *w, double *pi,
                              const double *marginal)
{
    for (size_t j = 0; j < w->cells; j++) {
        size_t at = 0;

        pi[j] = 1;
        for (uint32_t v = 0; v < w->a->variables; v++) {
            pi[j] *= marginal[at + associate_category(w->a, j, v)];
            at += w->a->categories[v];
        }
    }
}

/* EM among the independent joints: after a step only its marginals are kept.
 * Begins at the marginals of pi[0]; ends in pi[1]. */
static void associate_independent(struct associate_work *w)
{
    const size_t all = associate_marginals(w->a);
    double change = 1;

    associate_marginal(w, w->marginal, w->pi[0]);
    for (uint32_t i = 0; i < ASSOCIATE_STEPS && change > ASSOCIATE_STILL; i++) {
        associate_product(w, w->pi[1], w->marginal);
        associate_step(w, w->pi[2], w->pi[1]);
        associate_marginal(w, w->expected, w->pi[2]);
        change = 0;
        for (size_t j = 0; j < all; j++)
            change = fmax(change, fabs(w->expected[j] - w->marginal[j]));
        memcpy(w->marginal, w->expected, all * sizeof *w->marginal);
    }
    associate_product(w, w->pi[1], w->marginal);
}

static void associate_test(struct associate_work *w,
                           hsy_association_result *out)
{
    double full = associate_likelihood(w, w->pi[0]);

    associate_independent(w);
    out->chi2 = fmax(0, 2 * (full - associate_likelihood(w, w->pi[1])));
    out->freedom = (double)w->cells - 1;
    for (uint32_t v = 0; v < w->a->variables; v++)
        out->freedom -= w->a->categories[v] - 1.0;
    out->p_value = hsy_chi2_upper(out->chi2, out->freedom);
}

/* ---- Standard errors ----------------------------------------------------- */

/* sum of L L' / (L . pi)^2, lower triangle. */
static void associate_information(struct associate_work *w, const double *pi)
{
    const size_t cells = w->cells;

    memset(w->information, 0, cells * cells * sizeof *w->information);
    for (size_t i = 0; i < w->a->n; i++) {
        double weight;

        associate_outer(w->cell, w->a, i);
        weight = 1 / associate_dot(w->cell, pi, cells);
        for (size_t j = 0; j < cells; j++)
            w->cell[j] *= weight;
        for (size_t j = 0; j < cells; j++) {
            for (size_t t = 0; t <= j; t++)
                w->information[j * cells + t] += w->cell[j] * w->cell[t];
        }
    }
}

/* Cholesky in place; false if the matrix is singular. */
static bool associate_factor(double *m, size_t order)
{
    for (size_t i = 0; i < order; i++) {
        double *row = m + i * order;
        const double diagonal = row[i];

        for (size_t j = 0; j < i; j++)
            row[j] = (row[j] - associate_dot(row, m + j * order, j)) /
                     m[j * order + j];
        row[i] -= associate_dot(row, row, i);
        if (!(row[i] > 1e-11 * diagonal))
            return false;
        row[i] = sqrt(row[i]);
    }
    return true;
}

/* x becomes (L L')^-1 x. */
static void associate_divide(const double *m, double *x, size_t order)
{
    for (size_t i = 0; i < order; i++)
        x[i] = (x[i] - associate_dot(m + i * order, x, i)) / m[i * order + i];
    for (size_t i = order; i-- > 0;) {
        x[i] /= m[i * order + i];
        for (size_t j = 0; j < i; j++)
            x[j] -= x[i] * m[i * order + j];
    }
}

/*
 * The covariance of shares that make 1: with J the information,
 *     J^-1 - J^-1 1 1' J^-1 / (1' J^-1 1).
 */
static bool associate_covariance(struct associate_work *w, double *covariance)
{
    const size_t cells = w->cells;
    double *ones = w->pi[2], sum = 0;

    associate_information(w, w->pi[0]);
    if (!associate_factor(w->information, cells))
        return false;
    for (size_t j = 0; j < cells; j++)
        ones[j] = 1;
    associate_divide(w->information, ones, cells);
    for (size_t j = 0; j < cells; j++)
        sum += ones[j];
    for (size_t j = 0; j < cells; j++) {
        double *row = covariance + j * cells;

        memset(row, 0, cells * sizeof *row);
        row[j] = 1;
        associate_divide(w->information, row, cells);
        for (size_t t = 0; t < cells; t++)
            row[t] -= ones[j] * ones[t] / sum;
    }
    return true;
}

hsy_status hsy_associate(const hsy_association *a, double *share,
                         double *covariance, hsy_association_result *result,
                         void *scratch, hsy_error *err)
{
    struct associate_work w = {.a = a};
    hsy_association_result out = {0};
    hsy_status st = associate_check(a, err);

    if (st == HSY_OK)
        st = associate_check_rows(a, err);
    if (st != HSY_OK)
        return st;
    out.cells = w.cells = associate_cells(a);
    associate_layout(&w, scratch);
    out.gap = associate_solve(&w, &out.iterations);
    if (!(out.gap < 1e-3))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ROWS,
                        "the likelihood is too flat: ask for fewer categories "
                        "or collect more reports");
    memcpy(share, w.pi[0], w.cells * sizeof *share);
    associate_test(&w, &out);
    if (!associate_covariance(&w, covariance))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ROWS,
                        "the reports cannot tell some cells of the table "
                        "apart: ask for fewer categories");
    *result = out;
    return HSY_OK;
}

/* ---- Rows that are not known to the digit -------------------------------- */

/* sum of L / (L . pi) of the rows of a, times sign, added to slope. */
static void associate_slope(double *slope, double *cell,
                            const hsy_association *a, const double *share,
                            size_t cells, double sign)
{
    for (size_t i = 0; i < a->n; i++) {
        double weight;

        associate_outer(cell, a, i);
        weight = sign / associate_dot(cell, share, cells);
        for (size_t j = 0; j < cells; j++)
            slope[j] += weight * cell[j];
    }
}

/* The covariance is the inverse of minus the second derivative, so it times
 * the change of the first is Newton's step to the other maximum. */
void hsy_associate_shift(const hsy_association *a, double *change,
                         const double *share, const double *covariance,
                         const hsy_association *other, void *scratch)
{
    const size_t cells = associate_cells(a);
    double *slope = scratch, *cell = slope + cells;

    memset(slope, 0, cells * sizeof *slope);
    associate_slope(slope, cell, other, share, cells, 1);
    associate_slope(slope, cell, a, share, cells, -1);
    for (size_t j = 0; j < cells; j++)
        change[j] = associate_dot(covariance + j * cells, slope, cells);
}
