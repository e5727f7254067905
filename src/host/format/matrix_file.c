/* matrix_file.c - a channel's matrix from a file: each column adds up to 1,
 * exactly. */
#include "host/format/matrix_file.h"

#include "host/base/host_fail.h"
#include "host/base/lines.h"
#include "host/base/ratio.h"
#include "lib/bits/bytes.h"

#include <stdlib.h>
#include <string.h>

struct matrix_read {
    hsy_ratio entry[HSY_MATRIX_MAX * HSY_MATRIX_MAX]; /* row by row */
    size_t rows, columns;
    uint64_t total; /* a multiple of all denominators */
    struct matrix_wrong wrong;
};

/* Make total a multiple of den too. */
static bool matrix_denominator(struct matrix_read *m, uint64_t den)
{
    uint64_t more = den / ratio_gcd(m->total, den);

    if (more > HSY_MATRIX_TOTAL / m->total)
        return false;
    m->total *= more;
    return true;
}

/* Field `column`, from 1, of the line read last. */
static hsy_status matrix_field(struct matrix_read *m, const char *text,
                               size_t len, size_t column, hsy_error *err)
{
    hsy_ratio *entry = &m->entry[m->rows * HSY_MATRIX_MAX + column - 1];

    m->wrong = (struct matrix_wrong){.line = m->rows + 1, .field = column};
    if (column > HSY_MATRIX_MAX || m->rows >= HSY_MATRIX_MAX)
        return host_fail_limit(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                               "a matrix has no more states", HSY_MATRIX_MAX);
    if (!ratio_parse(entry, text, len))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         "not a probability as 0.25 or 1/4");
    entry->den /= entry->num == 0 ? entry->den : 1;
    if (!matrix_denominator(m, entry->den))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         "the fractions have no common denominator up to 2^40");
    return HSY_OK;
}

static hsy_status matrix_line(void *ctx, const struct line *line,
                              uint64_t number, hsy_error *err)
{
    struct matrix_read *m = ctx;
    const char *text = (const char *)line->text;
    size_t at = 0, column = 0;

    (void)number;
    while (at <= line->len) {
        const char *comma = memchr(text + at, ',', line->len - at);
        size_t end = comma != NULL ? (size_t)(comma - text) : line->len;
        hsy_status st = matrix_field(m, text + at, end - at, ++column, err);

        if (st != HSY_OK)
            return st;
        at = end + 1;
    }
    m->wrong = (struct matrix_wrong){
        .line = m->rows + 1, .fields = column, .wanted = m->columns};
    if (m->rows > 0 && column != m->columns)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         "not as many fields as the first line has");
    m->wrong = (struct matrix_wrong){0};
    m->columns = column;
    m->rows++;
    return HSY_OK;
}

static hsy_status matrix_square(struct matrix_read *m, hsy_error *err)
{
    if (m->rows != 0 && m->rows == m->columns)
        return HSY_OK;
    m->wrong = (struct matrix_wrong){.lines = m->rows, .fields = m->columns};
    return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                     "a matrix has a line for each answer and a field for each "
                     "truth, as many of both");
}

static hsy_status matrix_encode(struct matrix_file *out,
                                const struct matrix_read *m, hsy_error *err)
{
    uint8_t *at;

    out->d = (uint32_t)m->rows;
    out->len = 8 + 8 * m->rows * m->rows;
    out->bytes = malloc(out->len);
    if (out->bytes == NULL)
        return host_nomem(err);
    bytes_put64(out->bytes, m->total);
    at = out->bytes + 8;
    for (size_t y = 0; y < m->rows; y++)
        for (size_t x = 0; x < m->rows; x++, at += 8) {
            const hsy_ratio *r = &m->entry[y * HSY_MATRIX_MAX + x];

            bytes_put64(at, r->num * (m->total / r->den));
        }
    return HSY_OK;
}

hsy_status matrix_file_read(struct matrix_file *out, struct matrix_wrong *wrong,
                            int fd, hsy_error *err)
{
    struct matrix_read *m = calloc(1, sizeof *m);
    hsy_status st;

    *wrong = (struct matrix_wrong){0};
    if (m == NULL)
        return host_nomem(err);
    m->total = 1;
    st = lines_each(fd, false, matrix_line, m, err);
    if (st == HSY_OK)
        st = matrix_square(m, err);
    if (st == HSY_OK)
        st = matrix_encode(out, m, err);
    *wrong = m->wrong;
    free(m);
    return st;
}

hsy_status matrix_file_append(struct matrix_file *m, const uint8_t *labels,
                              size_t len, hsy_error *err)
{
    uint8_t *more;

    if (len == 0)
        return HSY_OK;
    more = realloc(m->bytes, m->len + len);
    if (more == NULL)
        return host_nomem(err);
    memcpy(more + m->len, labels, len);
    m->bytes = more;
    m->len += len;
    return HSY_OK;
}
