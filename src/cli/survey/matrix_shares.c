/* matrix_shares.c - answers through a matrix of one's own: H, its inverse, the
 * shares and how they vary together. */
#include "cli/survey/internal.h"

#include "host/plot/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MATRIX_COLUMNS (8u + 3 * HSY_MATRIX_MAX)

struct matrix_run {
    const struct survey_options *how;
    struct labels labels; /* none, or d of them */
    struct survey_data data;
    size_t d;
    double n, condition, epsilon;
    double h[HSY_MATRIX_MAX * HSY_MATRIX_MAX];
    double inverse[HSY_MATRIX_MAX * HSY_MATRIX_MAX];
    hsy_survey_shares shares;
    int decimals;
};

/* ---- Reading ------------------------------------------------------------- */

static uint64_t matrix_get(const uint8_t *at)
{
    uint64_t x = 0;

    for (size_t i = 8; i-- > 0;)
        x = x << 8 | at[i];
    return x;
}

static int matrix_channel(struct matrix_run *m)
{
    struct matrix_file file = {0};
    hsy_error err = {0};
    int failed = cli_matrix_read(&file, m->how->matrix);

    if (failed)
        return failed;
    m->d = file.d;
    for (size_t i = 0; i < m->d * m->d; i++)
        m->h[i] = (double)matrix_get(file.bytes + 8 + 8 * i) /
                  (double)matrix_get(file.bytes);
    free(file.bytes);
    if (hsy_survey_invert(m->inverse, &m->condition, m->h, m->d, &err) !=
        HSY_OK)
        return cli_fail_at(m->how->matrix, "column", &err);
    m->epsilon = hsy_survey_states_epsilon(m->h, m->d);
    return 0;
}

static int matrix_labels(struct matrix_run *m)
{
    const char *path = m->how->values_file;
    hsy_error err = {0};
    int failed;

    if (path == NULL)
        return 0;
    failed = cli_labels_read(&m->labels, path);
    if (failed)
        return failed;
    if (m->labels.d != m->d)
        return cli_fail("--values-file %s: %" PRIu32
                        " values, where the matrix has %zu lines",
                        path, m->labels.d, m->d);
    if (labels_index(&m->labels, &err) != HSY_OK)
        return cli_fail_line(path, &err);
    return 0;
}

static int matrix_estimate(struct matrix_run *m)
{
    double counts[HSY_MATRIX_MAX], least = HUGE_VAL;
    hsy_error err = {0};

    for (size_t i = 0; i < m->d; i++) {
        counts[i] = (double)m->data.states[i];
        m->n += counts[i];
    }
    if (hsy_survey_states(&m->shares, m->h, counts, m->d, &err) != HSY_OK)
        return cli_fail_error("--counts", &err);
    for (size_t i = 0; i < m->d; i++)
        least = fmin(least, sqrt(m->shares.covariance[i * m->d + i]));
    m->decimals = survey_decimals(least);
    if (!m->shares.likely)
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

static double matrix_figure(const struct matrix_run *m, size_t i, int id)
{
    const double z = -hsy_normal_quantile((1 - m->how->level) / 2);
    const double share = m->shares.share[i];
    const double sd = sqrt(m->shares.covariance[i * m->d + i]);
    const double figures[] = {[MATRIX_SHARE] = share,
                              [MATRIX_SD] = sd,
                              [MATRIX_MLE] = m->shares.mle[i],
                              [MATRIX_LOW] = fmin(fmax(share - z * sd, 0), 1),
                              [MATRIX_HIGH] = fmin(fmax(share + z * sd, 0), 1)};

    return figures[id];
}

static struct cli_cell matrix_value(const struct matrix_run *m, size_t i)
{
    struct cli_cell c = cli_count(i);

    if (m->labels.d == 0)
        return c;
    c.type = CLI_TEXT;
    c.text = labels_at(&m->labels, (uint32_t)i, &c.len);
    return c;
}

static void matrix_cell(const void *ctx, size_t row, size_t column,
                        struct cli_cell *out)
{
    const struct matrix_run *m = ctx;
    const double *const squares[] = {m->h, m->inverse, m->shares.covariance};

    if (column == MATRIX_VALUE) {
        *out = matrix_value(m, row);
    } else if (column == MATRIX_COUNT) {
        *out = cli_count(m->data.states[row]);
    } else if (column < MATRIX_FIXED) {
        *out = cli_number(matrix_figure(m, row, (int)column));
        survey_percent(out->shown, out->number, m->decimals);
    } else {
        const size_t i = column - MATRIX_FIXED;

        *out = cli_number(squares[i / m->d][row * m->d + i % m->d]);
    }
}

static const struct cli_column matrix_columns[MATRIX_FIXED] = {
    {"value", NULL},          {"count", "answers"},   {"estimate", "share"},
    {"stderr", "std. error"}, {"mle", "most likely"}, {"wald_low", "from"},
    {"wald_high", "to"}};

/* ---- Printing ------------------------------------------------------------ */

static void matrix_machine(const struct matrix_run *m)
{
    static const char *const names[] = {"h", "inverse", "covariance"};
    struct cli_column columns[MATRIX_COLUMNS];
    char text[3 * HSY_MATRIX_MAX][24];
    const struct cli_table table = {columns, MATRIX_FIXED + 3 * m->d, m->d,
                                    matrix_cell, m};
    const struct cli_field fields[] = {
        {"design", cli_text("matrix")},
        {"epsilon", cli_number(m->epsilon)},
        {"unbounded", cli_bool(isinf(m->epsilon))},
        {"condition", cli_number(m->condition)},
        {"level", cli_number(m->how->level)},
        {"n", cli_number(m->n)}};

    memcpy(columns, matrix_columns, sizeof matrix_columns);
    for (size_t i = 0; i < 3 * m->d; i++) {
        snprintf(text[i], sizeof text[i], "%s_%zu", names[i / m->d], i % m->d);
        columns[MATRIX_FIXED + i] = (struct cli_column){text[i], NULL};
    }
    cli_print(m->how->format, &table, fields, sizeof fields / sizeof fields[0],
              "states");
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

/* Which answer rules out which truth. */
static void matrix_proof(const struct matrix_run *m)
{
    for (size_t y = 0; y < m->d; y++) {
        size_t none = m->d;
        double sum = 0;

        for (size_t x = 0; x < m->d; x++) {
            sum += m->h[y * m->d + x];
            none = m->h[y * m->d + x] == 0 ? x : none;
        }
        if (none < m->d && sum > 0) {
            printf("Epsilon is infinite: answer %zu rules truth %zu out "
                   "(counted from 0).\n",
                   y, none);
            return;
        }
    }
}

static void matrix_table(const struct matrix_run *m)
{
    const struct cli_table table = {matrix_columns, MATRIX_FIXED, m->d,
                                    matrix_cell, m};

    printf("Design: a matrix of %zu states, condition number %.4g\n", m->d,
           m->condition);
    if (isinf(m->epsilon))
        matrix_proof(m);
    else
        printf("Epsilon %.4g: an answer changes the odds of two truths at most "
               "%.3g times.\n",
               m->epsilon, exp(m->epsilon));
    printf("\n%.0f answers; %.6g %% intervals (Wald)\n\n", m->n,
           100 * m->how->level);
    cli_print(CLI_TABLE, &table, NULL, 0, NULL);
    matrix_square("H: a line for each answer, a column for each truth", m->h,
                  m->d);
    matrix_square("its inverse", m->inverse, m->d);
    matrix_square("covariances of the shares", m->shares.covariance, m->d);
}

static hsy_status matrix_plot(char **svg, size_t *len,
                              const struct matrix_run *m, hsy_error *err)
{
    struct plot_named named[HSY_MATRIX_MAX];
    char names[HSY_MATRIX_MAX][64], note[80];
    const struct plot_list list = {
        .title = "Shares behind the answers",
        .about = "The most likely share of each truth with its Wald interval.",
        .note = note,
        .label = "share",
        .named = named,
        .n = m->d};

    for (size_t i = 0; i < m->d; i++) {
        const struct cli_cell c = matrix_value(m, i);

        if (c.type == CLI_TEXT)
            snprintf(names[i], sizeof names[i], "%.*s",
                     (int)(c.len < 63 ? c.len : 63), c.text);
        else
            snprintf(names[i], sizeof names[i], "%zu", i);
        named[i] = (struct plot_named){names[i], m->shares.mle[i],
                                       matrix_figure(m, i, MATRIX_LOW),
                                       matrix_figure(m, i, MATRIX_HIGH)};
    }
    snprintf(note, sizeof note, "%.0f answers, %.6g %% intervals", m->n,
             100 * m->how->level);
    return plot_list_svg(svg, len, &list, err);
}

/* ---- All of it ----------------------------------------------------------- */

static int matrix_run(struct matrix_run *m, struct cli_parser *p)
{
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    hsy_status made;
    int failed = matrix_channel(m);

    if (!failed)
        failed = matrix_labels(m);
    if (!failed)
        failed =
            survey_states_read(&m->data, m->how, p, (uint32_t)m->d, &m->labels);
    if (!failed)
        failed = matrix_estimate(m);
    if (!failed && m->how->plot != NULL) {
        made = matrix_plot(&svg, &len, m, &err);
        failed = cli_write_figure(m->how->plot, made, svg, len, &err);
    }
    if (failed)
        return failed;
    if (m->how->format == CLI_TABLE)
        matrix_table(m);
    else
        matrix_machine(m);
    return cli_finish();
}

int survey_states(const struct survey_options *o, struct cli_parser *p)
{
    struct matrix_run *m = calloc(1, sizeof *m);
    int failed;

    if (m == NULL)
        return cli_fail_nomem();
    m->how = o;
    failed = matrix_run(m, p);
    survey_data_clear(&m->data);
    labels_clear(&m->labels);
    free(m);
    return failed;
}

#undef MATRIX_COLUMNS
