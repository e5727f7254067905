/* matrix_rows.c - shares behind a matrix of one's own, H, its inverse and how
 * the shares vary together: as a table, csv or json. */
#include "host/survey/internal.h"

#include <math.h>
#include <string.h>

#define MATRIX_COLUMNS (8u + 3 * HSY_MATRIX_MAX)

struct matrix_shown {
    FILE *to;
    const struct survey_matrix *m;
    const struct labels *labels; /* none, or d of them */
    double level;
    int decimals;
};

/* ---- Cells --------------------------------------------------------------- */

enum {
    MATRIX_VALUE,
    MATRIX_COUNT,
    MATRIX_SHARE,
    MATRIX_SD,
    MATRIX_MLE,
    MATRIX_LOW,
    MATRIX_HIGH,
    MATRIX_FIXED
};

static double matrix_figure(const struct matrix_shown *x, size_t i, int id)
{
    double ends[2];

    survey_matrix_wald(ends, x->m, i, x->level);
    return id == MATRIX_SHARE ? x->m->shares.share[i]
           : id == MATRIX_SD  ? survey_matrix_sd(x->m, i)
           : id == MATRIX_MLE ? x->m->shares.mle[i]
                              : ends[id == MATRIX_HIGH];
}

static struct table_cell matrix_value(const struct matrix_shown *x, size_t i)
{
    const char *name;
    size_t len;

    if (x->labels->d == 0)
        return cell_count(i);
    name = labels_at(x->labels, (uint32_t)i, &len);
    return cell_bytes(name, len);
}

static void matrix_cell(const void *ctx, size_t row, size_t column,
                        struct table_cell *out)
{
    const struct matrix_shown *x = ctx;
    const struct survey_matrix *m = x->m;
    const double *const squares[] = {m->h, m->inverse, m->shares.covariance};

    if (column == MATRIX_VALUE) {
        *out = matrix_value(x, row);
    } else if (column == MATRIX_COUNT) {
        *out = cell_count(m->counts[row]);
    } else if (column < MATRIX_FIXED) {
        *out = cell_number(matrix_figure(x, row, (int)column));
        survey_percent(out->shown, out->number, x->decimals);
    } else {
        const size_t i = column - MATRIX_FIXED;

        *out = cell_number(squares[i / m->d][row * m->d + i % m->d]);
    }
}

static const struct table_column matrix_columns[MATRIX_FIXED] = {
    {"value", NULL},          {"count", "answers"},   {"estimate", "share"},
    {"stderr", "std. error"}, {"mle", "most likely"}, {"wald_low", "from"},
    {"wald_high", "to"}};

/* ---- Printing ------------------------------------------------------------ */

static void matrix_machine(const struct matrix_shown *x,
                           enum table_format format)
{
    const struct survey_matrix *m = x->m;
    static const char *const names[] = {"h", "inverse", "covariance"};
    struct table_column columns[MATRIX_COLUMNS];
    char text[3 * HSY_MATRIX_MAX][24];
    const struct table table = {columns, MATRIX_FIXED + 3 * m->d, m->d,
                                matrix_cell, x};
    struct table_field fields[8] = {{"design", cell_text("matrix")},
                                    {"epsilon", cell_number(m->epsilon)},
                                    {"unbounded", cell_bool(isinf(m->epsilon))},
                                    {"condition", cell_number(m->condition)},
                                    {"level", cell_number(x->level)},
                                    {"n", cell_number(m->n)}};
    const size_t n = 6 + survey_silent_fields(fields + 6, &m->silent);

    memcpy(columns, matrix_columns, sizeof matrix_columns);
    for (size_t i = 0; i < 3 * m->d; i++) {
        snprintf(text[i], sizeof text[i], "%s_%zu", names[i / m->d], i % m->d);
        columns[MATRIX_FIXED + i] = (struct table_column){text[i], NULL};
    }
    table_print(x->to, format, &table, fields, n, "states");
}

static void matrix_square(const struct matrix_shown *x, const char *title,
                          const double *square, size_t d)
{
    fprintf(x->to, "\n%s\n", title);
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++)
            fprintf(x->to, " %12.5g", square[i * d + j] + 0.0);
        putc('\n', x->to);
    }
}

static void matrix_table(const struct matrix_shown *x)
{
    const struct survey_matrix *m = x->m;
    const struct table table = {matrix_columns, MATRIX_FIXED, m->d, matrix_cell,
                                x};
    size_t answer, truth;

    fprintf(x->to, "Design: a matrix of %zu states, condition number %.4g\n",
            m->d, m->condition);
    if (!isinf(m->epsilon))
        fprintf(
            x->to,
            "Epsilon %.4g: an answer changes the odds of two truths at most "
            "%.3g times.\n",
            m->epsilon, exp(m->epsilon));
    else if (survey_matrix_proof(&answer, &truth, m))
        fprintf(x->to,
                "Epsilon is infinite: answer %zu rules truth %zu out "
                "(counted from 0).\n",
                answer, truth);
    fprintf(x->to, "\n%.0f answers; %.6g %% intervals (Wald)\n\n", m->n,
            100 * x->level);
    table_print(x->to, TABLE_ALIGNED, &table, NULL, 0, NULL);
    matrix_square(x, "H: a line for each answer, a column for each truth", m->h,
                  m->d);
    matrix_square(x, "its inverse", m->inverse, m->d);
    matrix_square(x, "covariances of the shares", m->shares.covariance, m->d);
    survey_silent_print(x->to, &m->silent);
}

void survey_matrix_print(FILE *to, enum table_format format,
                         const struct survey_matrix *m,
                         const struct labels *labels, double level)
{
    struct matrix_shown x = {to, m, labels, level, 0};
    double least = HUGE_VAL;

    for (size_t i = 0; i < m->d; i++)
        least = fmin(least, survey_matrix_sd(m, i));
    x.decimals = survey_decimals(least);
    if (format == TABLE_ALIGNED)
        matrix_table(&x);
    else
        matrix_machine(&x, format);
}
