/*
 * matrix_file.c - a channel's matrix from a file.
 *
 * One line an answer y, one field a truth x, separated by commas: P(y|x) as a
 * decimal or a fraction. Each column adds up to 1, exactly.
 */
#include "cli/base/base.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct matrix_read {
    const char *name;
    hsy_ratio entry[HSY_MATRIX_MAX * HSY_MATRIX_MAX]; /* row by row */
    size_t rows, columns;
    uint64_t total; /* a multiple of all denominators */
};

uint64_t cli_gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Make total a multiple of den too. */
static bool matrix_denominator(struct matrix_read *m, uint64_t den)
{
    uint64_t more = den / cli_gcd(m->total, den);

    if (more > HSY_MATRIX_TOTAL / m->total)
        return false;
    m->total *= more;
    return true;
}

/* Field `column`, from 1, of the line read last. */
static int matrix_field(struct matrix_read *m, const char *text, size_t len,
                        size_t column)
{
    hsy_ratio *entry = &m->entry[m->rows * HSY_MATRIX_MAX + column - 1];
    size_t line = m->rows + 1;

    if (column > HSY_MATRIX_MAX || line > HSY_MATRIX_MAX)
        return cli_fail("%s: line %zu, field %zu: a matrix has at most %u "
                        "states",
                        m->name, line, column, HSY_MATRIX_MAX);
    if (!cli_parse_ratio(entry, text, len))
        return cli_fail("%s: line %zu, field %zu: not a probability as 0.25 or "
                        "1/4",
                        m->name, line, column);
    entry->den /= entry->num == 0 ? entry->den : 1;
    if (!matrix_denominator(m, entry->den))
        return cli_fail("%s: line %zu, field %zu: the fractions have no common "
                        "denominator up to 2^40",
                        m->name, line, column);
    return 0;
}

static int matrix_line(void *ctx, const struct line *line, uint64_t number)
{
    struct matrix_read *m = ctx;
    const char *text = (const char *)line->text;
    size_t at = 0, column = 0;
    int failed = 0;

    (void)number;
    while (!failed && at <= line->len) {
        const char *comma = memchr(text + at, ',', line->len - at);
        size_t end = comma != NULL ? (size_t)(comma - text) : line->len;

        failed = matrix_field(m, text + at, end - at, ++column);
        at = end + 1;
    }
    if (failed)
        return failed;
    if (m->rows > 0 && column != m->columns)
        return cli_fail("%s: line %zu: %zu fields, where the first line has "
                        "%zu",
                        m->name, m->rows + 1, column, m->columns);
    m->columns = column;
    m->rows++;
    return 0;
}

static int matrix_square(const struct matrix_read *m)
{
    if (m->rows == 0 || m->rows != m->columns)
        return cli_fail("%s: %zu lines of %zu fields: a matrix has a line for "
                        "each answer and a field for each truth, as many of "
                        "both",
                        m->name, m->rows, m->columns);
    return 0;
}

static void matrix_put(uint8_t *at, uint64_t x)
{
    for (size_t i = 0; i < 8; i++)
        at[i] = (uint8_t)(x >> 8 * i);
}

static int matrix_encode(struct matrix_file *out, const struct matrix_read *m)
{
    uint8_t *at;

    out->d = (uint32_t)m->rows;
    out->len = 8 + 8 * m->rows * m->rows;
    out->bytes = malloc(out->len);
    if (out->bytes == NULL)
        return cli_fail_nomem();
    matrix_put(out->bytes, m->total);
    at = out->bytes + 8;
    for (size_t y = 0; y < m->rows; y++)
        for (size_t x = 0; x < m->rows; x++, at += 8) {
            const hsy_ratio *r = &m->entry[y * HSY_MATRIX_MAX + x];

            matrix_put(at, r->num * (m->total / r->den));
        }
    return 0;
}

int cli_matrix_read(struct matrix_file *out, const char *path)
{
    struct matrix_read *m = calloc(1, sizeof *m);
    int fd, failed;

    if (m == NULL)
        return cli_fail_nomem();
    m->name = cli_input_name(path);
    m->total = 1;
    fd = cli_open_input(path);
    failed =
        fd == -1 ? CLI_FAILED : cli_lines_each(fd, m->name, matrix_line, m);
    if (fd != -1)
        cli_close_input(fd);
    if (!failed)
        failed = matrix_square(m);
    if (!failed)
        failed = matrix_encode(out, m);
    free(m);
    return failed;
}

/* The matrix with labels behind it, as a spec has them; labels is freed by
 * whoever owns it. */
int cli_matrix_append(struct matrix_file *m, const uint8_t *labels, size_t len)
{
    uint8_t *more;

    if (len == 0)
        return 0;
    more = realloc(m->bytes, m->len + len);
    if (more == NULL)
        return cli_fail_nomem();
    memcpy(more + m->len, labels, len);
    m->bytes = more;
    m->len += len;
    return 0;
}
