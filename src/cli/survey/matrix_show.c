/* matrix_show.c - answers through a matrix of one's own: H, its inverse, the
 * shares and how they vary together. */
#include "cli/survey/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MATRIX_COLUMNS (8u + 3 * HSY_MATRIX_MAX)

struct matrix_run {
    const struct survey_options *how;
    struct labels labels; /* none, or d of them */
    struct survey_data data;
    struct survey_matrix m;
    int decimals;
};

/* ---- Reading ------------------------------------------------------------- */

static int matrix_channel(struct matrix_run *x)
{
    struct matrix_file file = {0};
    hsy_error err = {0};
    hsy_status st;
    int failed = cli_matrix_read(&file, x->how->matrix);

    if (failed)
        return failed;
    st = survey_matrix_open(&x->m, &file, &err);
    free(file.bytes);
    return st == HSY_OK ? 0 : cli_fail_at(x->how->matrix, &err);
}

static int matrix_labels(struct matrix_run *x)
{
    const char *path = x->how->values_file;
    hsy_error err = {0};
    int failed;

    if (path == NULL)
        return 0;
    failed = cli_labels_read(&x->labels, path);
    if (failed)
        return failed;
    if (x->labels.d != x->m.d)
        return cli_fail("--values-file %s: %" PRIu32
                        " values, where the matrix has %zu lines",
                        path, x->labels.d, x->m.d);
    if (labels_index(&x->labels, &err) != HSY_OK)
        return cli_fail_line(path, &err);
    return 0;
}

static int matrix_estimate(struct matrix_run *x)
{
    double least = HUGE_VAL;
    hsy_error err = {0};

    if (survey_matrix_estimate(&x->m, x->data.states, &err) != HSY_OK)
        return cli_fail_error("--counts", &err);
    for (size_t i = 0; i < x->m.d; i++)
        least = fmin(least, survey_matrix_sd(&x->m, i));
    x->decimals = survey_decimals(least);
    if (!x->m.shares.likely)
        cli_note("warning: the most likely shares are not exact to 1e-12");
    return 0;
}

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

static double matrix_figure(const struct matrix_run *x, size_t i, int id)
{
    double ends[2];

    survey_matrix_wald(ends, &x->m, i, x->how->level);
    return id == MATRIX_SHARE ? x->m.shares.share[i]
           : id == MATRIX_SD  ? survey_matrix_sd(&x->m, i)
           : id == MATRIX_MLE ? x->m.shares.mle[i]
                              : ends[id == MATRIX_HIGH];
}

static struct table_cell matrix_value(const struct matrix_run *x, size_t i)
{
    struct table_cell c = cell_count(i);

    if (x->labels.d == 0)
        return c;
    c.type = CELL_TEXT;
    c.text = labels_at(&x->labels, (uint32_t)i, &c.len);
    return c;
}

static void matrix_cell(const void *ctx, size_t row, size_t column,
                        struct table_cell *out)
{
    const struct matrix_run *x = ctx;
    const struct survey_matrix *m = &x->m;
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

static void matrix_machine(const struct matrix_run *x)
{
    const struct survey_matrix *m = &x->m;
    static const char *const names[] = {"h", "inverse", "covariance"};
    struct table_column columns[MATRIX_COLUMNS];
    char text[3 * HSY_MATRIX_MAX][24];
    const struct table table = {columns, MATRIX_FIXED + 3 * m->d, m->d,
                                matrix_cell, x};
    const struct table_field fields[] = {
        {"design", cell_text("matrix")},
        {"epsilon", cell_number(m->epsilon)},
        {"unbounded", cell_bool(isinf(m->epsilon))},
        {"condition", cell_number(m->condition)},
        {"level", cell_number(x->how->level)},
        {"n", cell_number(m->n)}};

    memcpy(columns, matrix_columns, sizeof matrix_columns);
    for (size_t i = 0; i < 3 * m->d; i++) {
        snprintf(text[i], sizeof text[i], "%s_%zu", names[i / m->d], i % m->d);
        columns[MATRIX_FIXED + i] = (struct table_column){text[i], NULL};
    }
    table_print(stdout, x->how->format, &table, fields,
                sizeof fields / sizeof fields[0], "states");
}

static void matrix_square(const char *title, const double *square, size_t d)
{
    printf("\n%s\n", title);
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++)
            printf(" %12.5g", square[i * d + j] + 0.0);
        putchar('\n');
    }
}

static void matrix_table(const struct matrix_run *x)
{
    const struct survey_matrix *m = &x->m;
    const struct table table = {matrix_columns, MATRIX_FIXED, m->d, matrix_cell,
                                x};
    size_t answer, truth;

    printf("Design: a matrix of %zu states, condition number %.4g\n", m->d,
           m->condition);
    if (!isinf(m->epsilon))
        printf("Epsilon %.4g: an answer changes the odds of two truths at most "
               "%.3g times.\n",
               m->epsilon, exp(m->epsilon));
    else if (survey_matrix_proof(&answer, &truth, m))
        printf("Epsilon is infinite: answer %zu rules truth %zu out "
               "(counted from 0).\n",
               answer, truth);
    printf("\n%.0f answers; %.6g %% intervals (Wald)\n\n", m->n,
           100 * x->how->level);
    table_print(stdout, TABLE_ALIGNED, &table, NULL, 0, NULL);
    matrix_square("H: a line for each answer, a column for each truth", m->h,
                  m->d);
    matrix_square("its inverse", m->inverse, m->d);
    matrix_square("covariances of the shares", m->shares.covariance, m->d);
}

/* ---- All of it ----------------------------------------------------------- */

static int matrix_draw(const struct matrix_run *x)
{
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    const hsy_status made =
        survey_plot_matrix(&svg, &len, &x->m, &x->labels, x->how->level, &err);

    return cli_write_figure(x->how->plot, made, svg, len, &err);
}

static int matrix_run(struct matrix_run *x, struct cli_parser *p)
{
    int failed = matrix_channel(x);

    if (!failed)
        failed = matrix_labels(x);
    if (!failed)
        failed = survey_states_input(&x->data, x->how, p, (uint32_t)x->m.d,
                                     &x->labels);
    if (!failed)
        failed = matrix_estimate(x);
    if (!failed && x->how->plot != NULL)
        failed = matrix_draw(x);
    if (failed)
        return failed;
    if (x->how->format == TABLE_ALIGNED)
        matrix_table(x);
    else
        matrix_machine(x);
    return cli_finish();
}

int survey_states(const struct survey_options *o, struct cli_parser *p)
{
    struct matrix_run *x = calloc(1, sizeof *x);
    int failed;

    if (x == NULL)
        return cli_fail_nomem();
    x->how = o;
    failed = matrix_run(x, p);
    survey_data_clear(&x->data);
    labels_clear(&x->labels);
    free(x);
    return failed;
}

#undef MATRIX_COLUMNS
