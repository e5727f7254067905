/* fit.c - weighted least squares of de-noised bits on candidates. */
#include "lib/rappor/internal.h"

#include <math.h>
#include <string.h>

/* Standard deviations by which scatter may pass its mean unheeded. */
#define FIT_SCATTER 1.0

/* ---- Matrices ------------------------------------------------------------ */

/* Four sums at a time: additions need not wait for each other. */
static double fit_dot(const double *a, const double *b, size_t n)
{
    double sum[4] = {0};
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        sum[0] += a[i] * b[i];
        sum[1] += a[i + 1] * b[i + 1];
        sum[2] += a[i + 2] * b[i + 2];
        sum[3] += a[i + 3] * b[i + 3];
    }
    for (; i < n; i++)
        sum[0] += a[i] * b[i];
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

/*
 * Row i of the Cholesky factor of gram into the lower triangle of `factor`,
 * rows above being there. False if the column depends on those before it.
 */
static bool fit_factor_row(double *factor, const double *gram, size_t stride,
                           size_t i)
{
    double *row = factor + i * stride;
    double pivot;

    for (size_t j = 0; j < i; j++) {
        const double *other = factor + j * stride;

        row[j] = (gram[i * stride + j] - fit_dot(row, other, j)) / other[j];
    }
    pivot = gram[i * stride + i] - fit_dot(row, row, i);
    if (!(pivot > RAPPOR_PIVOT_LEAST * gram[i * stride + i]))
        return false;
    row[i] = sqrt(pivot);
    return true;
}

/* The lower triangle L becomes its inverse, which is put into the upper one's
 * place, transposed: row j then holds column j of L^-1 from the diagonal on. */
static void fit_invert_factor(double *factor, size_t stride, size_t order)
{
    for (size_t j = 0; j < order; j++) {
        double *column = factor + j * stride;
        const double first = 1 / column[j];

        for (size_t i = j + 1; i < order; i++) {
            const double *row = factor + i * stride;
            double sum = row[j] * first;

            sum += fit_dot(row + j + 1, column + j + 1, i - j - 1);
            column[i] = -sum / row[i];
        }
        /* Rows below still need their own diagonal, not this one. */
        column[j] = first;
    }
}

/* (L L')^-1 = L^-T L^-1, whole, from the rows that the above left. */
static void fit_invert(double *inverse, size_t stride, size_t order)
{
    for (size_t i = 0; i < order; i++) {
        for (size_t j = i; j < order; j++) {
            const double x = fit_dot(inverse + i * stride + j,
                                     inverse + j * stride + j, order - j);

            /* The place (j, i) below the diagonal is free by now. */
            inverse[j * stride + i] = x;
        }
    }
}

static void fit_mirror(double *matrix, size_t stride, size_t order)
{
    for (size_t i = 0; i < order; i++) {
        for (size_t j = i + 1; j < order; j++)
            matrix[i * stride + j] = matrix[j * stride + i];
    }
}

/* ---- Rows ---------------------------------------------------------------- */

/* The columns that set each bit of a cohort: items[heads[b] .. heads[b + 1]).
 */
static void fit_lists(struct rappor_fit *f, const struct rappor_design *d,
                      uint32_t cohort)
{
    memset(f->heads, 0, (d->k + 2) * sizeof *f->heads);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < f->columns; i++) {
            const uint16_t *bits =
                d->bits + ((size_t)f->column[i] * d->live + cohort) * d->h;

            for (uint32_t t = 0; t < d->h; t++) {
                if (bits[t] == d->k)
                    continue;
                if (pass == 0)
                    f->heads[bits[t] + 2]++;
                else
                    f->items[f->heads[bits[t] + 1]++] = (uint32_t)i;
            }
        }
        for (uint32_t b = 0; pass == 0 && b < d->k; b++)
            f->heads[b + 2] += f->heads[b + 1];
    }
}

static void fit_add_bit(struct rappor_fit *f, uint32_t bit, double w, double y)
{
    const size_t last = f->columns;

    for (uint32_t i = f->heads[bit]; i < f->heads[bit + 1]; i++) {
        double *row = f->gram + f->items[i] * f->stride;

        for (uint32_t j = f->heads[bit]; j < f->heads[bit + 1]; j++)
            row[f->items[j]] += w;
        row[last] += w;
        f->moment[f->items[i]] += w * y;
    }
}

static void fit_gram(struct rappor_fit *f, const struct rappor_design *d)
{
    const size_t last = f->columns;

    memset(f->gram, 0, (last + 1) * f->stride * sizeof *f->gram);
    memset(f->moment, 0, (last + 1) * sizeof *f->moment);
    for (uint32_t c = 0; c < d->live; c++) {
        const size_t at = (size_t)c * (d->k + 1);

        fit_lists(f, d, c);
        for (uint32_t b = 0; b < d->k; b++)
            fit_add_bit(f, b, d->w[at + b], d->y[at + b]);
    }
    for (size_t i = 0; i < last; i++)
        f->gram[last * f->stride + i] = f->gram[i * f->stride + last];
    f->gram[last * f->stride + last] = d->total_w;
    f->moment[last] = d->total_wy;
}

/* ---- The fit ------------------------------------------------------------- */

bool hsy_rappor_fit(struct rappor_fit *f, const struct rappor_design *d,
                    size_t *dependent)
{
    fit_gram(f, d);
    f->intercept = false;
    for (size_t i = 0; i <= f->columns; i++) {
        if (fit_factor_row(f->inverse, f->gram, f->stride, i)) {
            f->intercept = i == f->columns;
        } else if (i < f->columns) {
            *dependent = f->column[i];
            return false;
        }
    }
    f->order = f->columns + f->intercept;
    fit_invert_factor(f->inverse, f->stride, f->order);
    fit_invert(f->inverse, f->stride, f->order);
    fit_mirror(f->inverse, f->stride, f->order);
    for (size_t i = 0; i < f->order; i++)
        f->coef[i] = fit_dot(f->inverse + i * f->stride, f->moment, f->order);
    return true;
}

double hsy_rappor_residual(double *residual, const struct rappor_design *d,
                           const struct rappor_fit *f)
{
    const double base = f->intercept ? f->coef[f->columns] : 0;
    double squares = 0;

    for (size_t i = 0; i < d->rows; i++)
        residual[i] = d->y[i] - base;
    for (size_t i = 0; i < f->columns; i++) {
        const uint16_t *bits = d->bits + (size_t)f->column[i] * d->live * d->h;

        for (size_t t = 0; t < (size_t)d->live * d->h; t++)
            residual[t / d->h * (d->k + 1) + bits[t]] -= f->coef[i];
    }
    for (size_t i = 0; i < d->rows; i++) {
        squares += d->w[i] * residual[i] * residual[i];
        residual[i] *= d->w[i];
    }
    return squares;
}

/* Residuals are w (y - fit): around their own mean, which is the candidate's
 * share, if it is there. */
static double fit_scatter(const struct rappor_design *d, size_t j,
                          const double *residual, double *bits)
{
    const uint16_t *bit = d->bits + j * d->live * d->h;
    double squares = 0, sum = 0;

    *bits = 0;
    for (size_t t = 0; t < (size_t)d->live * d->h; t++) {
        const size_t at = t / d->h * (d->k + 1) + bit[t];

        if (d->w[at] == 0)
            continue;
        squares += residual[at] * residual[at] / d->w[at];
        sum += residual[at];
        *bits += 1;
    }
    return squares - sum * sum / d->norm[j];
}

void hsy_rappor_local(double *phi, const struct rappor_design *d,
                      const double *residual, double all)
{
    for (size_t j = 0; j < d->candidates; j++) {
        double bits;
        const double squares = fit_scatter(d, j, residual, &bits);
        const double allowed = bits - 1 + FIT_SCATTER * sqrt(2 * bits);

        phi[j] = fmax(all, squares / allowed);
    }
}

/* The weight a of one bit in the coefficient of column i. */
static double fit_weight(const struct rappor_fit *f, uint32_t bit, size_t i,
                         double w)
{
    const double *row = f->inverse + i * f->stride;
    double sum = f->intercept ? row[f->columns] : 0;

    for (uint32_t j = f->heads[bit]; j < f->heads[bit + 1]; j++)
        sum += row[f->items[j]];
    return w * sum;
}

void hsy_rappor_fit_own(struct rappor_fit *f, const struct rappor_design *d,
                        hsy_target target)
{
    memset(f->own, 0, f->columns * sizeof *f->own);
    for (uint32_t c = 0; c < d->live; c++) {
        const double *w = d->w + (size_t)c * (d->k + 1);
        const double part = target == HSY_PEOPLE ? d->n[c] / d->reports : 0;

        fit_lists(f, d, c);
        memset(f->sums, 0, 2 * f->columns * sizeof *f->sums);
        for (uint32_t b = 0; b < d->k; b++) {
            for (uint32_t t = f->heads[b]; t < f->heads[b + 1]; t++) {
                const size_t i = f->items[t];
                const double a = fit_weight(f, b, i, w[b]);

                f->sums[2 * i] += a;
                f->sums[2 * i + 1] += a * a;
            }
        }
        for (size_t i = 0; i < f->columns; i++) {
            const double off = f->sums[2 * i] - part;

            f->own[i] += (off * off - f->sums[2 * i + 1]) / d->n[c];
        }
    }
}

/* ---- Non-negative least squares ------------------------------------------ */

#define FIT_NNLS_SWEEPS 10000
#define FIT_NNLS_STEP 1e-12

/* By coordinates: convex, so that each step descends and the limit is the
 * minimum. The intercept is not negative either. */
void hsy_rappor_nnls(double *x, const struct rappor_fit *f, double *score)
{
    double change = 1;

    memset(x, 0, f->order * sizeof *x);
    memcpy(score, f->moment, f->order * sizeof *score);
    for (int sweep = 0; sweep < FIT_NNLS_SWEEPS && change > FIT_NNLS_STEP;
         sweep++) {
        change = 0;
        for (size_t j = 0; j < f->order; j++) {
            const double *row = f->gram + j * f->stride;
            const double now = fmax(0, x[j] + score[j] / row[j]);
            const double step = now - x[j];

            if (step == 0)
                continue;
            x[j] = now;
            change = fmax(change, fabs(step));
            for (size_t i = 0; i < f->order; i++)
                score[i] -= step * row[i];
        }
    }
}
