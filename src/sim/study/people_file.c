/* people_file.c - a population from a file, one truth a line. */
#include "sim/study/study.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "host/base/lines.h"

#include <stdlib.h>
#include <string.h>

/* A file's truths: numbers, or lines that become numbers by spelling or by
 * sorting. */
struct file_truths {
    struct study_file *out;
    const hsy_spec *spec;
    const hsy_scheme *spelling; /* of strings; NULL: they are none */
    bool whole;                 /* numbers are integers */
    enum study_wrong outside;   /* what is wrong with other numbers */
    int64_t *numbers;
    char *text;
    size_t n, room, len, text_room;
};

static hsy_status file_bad(struct file_truths *f, enum study_wrong wrong,
                           uint64_t line, hsy_error *err)
{
    static const struct {
        hsy_status status;
        const char *msg;
    } bad[] = {
        [STUDY_WRONG_DECIMAL] = {HSY_E_FORMAT, "not a decimal number"},
        [STUDY_WRONG_INTEGER] = {HSY_E_FORMAT, "not an integer"},
        [STUDY_WRONG_VALUE] = {HSY_E_FORMAT, "not an integer"},
        [STUDY_WRONG_DOMAIN] = {HSY_E_RANGE, "not one of the values"},
        [STUDY_WRONG_RANGE] = {HSY_E_RANGE, "outside the range"},
        [STUDY_WRONG_BITS] = {HSY_E_RANGE, "has more bits than are asked for"},
        [STUDY_WRONG_LENGTH] = {HSY_E_RANGE, "longer than its spelling"},
        [STUDY_WRONG_ALIKE] = {HSY_E_RANGE, "all lines are alike: there is "
                                            "nothing to ask"},
        [STUDY_WRONG_MANY] = {HSY_E_RANGE, "too many different lines"},
    };

    f->out->wrong = wrong;
    return host_fail_at(err, bad[wrong].status, HSY_FIELD_NONE, bad[wrong].msg,
                        HSY_UNIT_LINE, line);
}

/* A number of the question; no message repeats what stands there. */
static hsy_status file_number(struct file_truths *f, int64_t *out,
                              const struct line *line, uint64_t number,
                              hsy_error *err)
{
    const hsy_spec *spec = f->spec;
    const bool values = spec->kind == HSY_KIND_VALUES;
    const hsy_status st = hsy_decimal_parse(
        out, (const char *)line->text, line->len, values ? 0 : spec->scale);

    if (st == HSY_E_FORMAT ||
        (f->whole && memchr(line->text, '.', line->len) != NULL))
        return file_bad(f,
                        !f->whole ? STUDY_WRONG_DECIMAL
                        : values  ? STUDY_WRONG_VALUE
                                  : STUDY_WRONG_INTEGER,
                        number, err);
    if (st != HSY_OK || *out < (values ? 0 : spec->lo) ||
        *out > (values ? (int64_t)spec->d - 1 : spec->hi))
        return file_bad(f, f->outside, number, err);
    return HSY_OK;
}

static hsy_status file_string(struct file_truths *f, int64_t *out,
                              const struct line *line, uint64_t number,
                              hsy_error *err)
{
    const hsy_truth truth = {.type = HSY_TRUTH_BYTES,
                             .u.bytes = {line->text, line->len, 0}};
    uint64_t code = 0;
    hsy_error why = {0};

    if (line->len > f->spec->param[HSY_PARAM_BITS] / 8)
        return file_bad(f, STUDY_WRONG_LENGTH, number, err);
    if (hsy_truth_code(f->spelling, &code, &truth, &why) != HSY_OK)
        return host_fail_at(err, why.status, HSY_FIELD_NONE, why.msg,
                            HSY_UNIT_LINE, number);
    *out = (int64_t)code;
    return HSY_OK;
}

/* A line that is a value of its own: where it begins, for now. */
static hsy_status file_text(struct file_truths *f, int64_t *out,
                            const struct line *line, uint64_t number,
                            hsy_error *err)
{
    if (line->len == 0)
        return host_fail_at(err, HSY_E_FORMAT, HSY_FIELD_NONE, "empty",
                            HSY_UNIT_LINE, number);
    if (!grow_room(&f->text, &f->text_room, f->len + line->len + 1, 1))
        return host_nomem(err);
    memcpy(f->text + f->len, line->text, line->len);
    *out = (int64_t)f->len;
    f->len += line->len;
    f->text[f->len++] = '\0';
    return HSY_OK;
}

static hsy_status file_take(void *ctx, const struct line *line, uint64_t number,
                            hsy_error *err)
{
    struct file_truths *f = ctx;
    int64_t *out;

    if (!grow_room(&f->numbers, &f->room, f->n + 1, sizeof *f->numbers))
        return host_nomem(err);
    out = &f->numbers[f->n++];
    if (f->spelling != NULL)
        return file_string(f, out, line, number, err);
    if (f->spec->d != 0 || f->spec->kind != HSY_KIND_VALUES)
        return file_number(f, out, line, number, err);
    return file_text(f, out, line, number, err);
}

static hsy_status file_lines(struct file_truths *f, int fd, hsy_error *err)
{
    const hsy_status st = lines_each(fd, false, file_take, f, err);

    if (st == HSY_OK && f->n == 0)
        return host_fail(err, HSY_E_EMPTY, HSY_FIELD_NONE, "has no lines");
    return st;
}

static int file_compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int file_compare_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines to their places among the different ones, sorted; how many. 0: out of
 * memory. */
static size_t file_places(struct file_truths *f)
{
    const char **lines = calloc(f->n, sizeof *lines);
    size_t place = 0;

    if (lines == NULL)
        return 0;
    for (size_t i = 0; i < f->n; i++)
        lines[i] = f->text + f->numbers[i];
    qsort(lines, f->n, sizeof *lines, file_compare_text);
    for (size_t i = 0; i < f->n; i++) {
        place += i > 0 && strcmp(lines[i - 1], lines[i]) != 0;
        f->numbers[i] = (int64_t)place;
    }
    free(lines);
    return place + 1;
}

/* Sorted numbers to different ones and their counts. */
static hsy_status file_count(struct file_truths *f, hsy_error *err)
{
    uint64_t *counts = calloc(f->n, sizeof *counts);
    size_t n = 0;
    hsy_status st;

    if (counts == NULL)
        return host_nomem(err);
    qsort(f->numbers, f->n, sizeof *f->numbers, file_compare);
    for (size_t i = 0; i < f->n; i++) {
        if (i > 0 && f->numbers[i] == f->numbers[n - 1]) {
            counts[n - 1]++;
            continue;
        }
        f->numbers[n] = f->numbers[i];
        counts[n++] = 1;
    }
    f->out->wrong = STUDY_WRONG_PEOPLE;
    st = study_people_counted(&f->out->people, f->numbers, counts, n, err);
    free(counts);
    return st;
}

/* The different lines as the values that are asked about. */
static hsy_status file_values(struct file_truths *f, hsy_spec *question,
                              hsy_error *err)
{
    const size_t d = file_places(f);

    if (d == 0)
        return host_nomem(err);
    if (d < 2)
        return file_bad(f, STUDY_WRONG_ALIKE, 0, err);
    if (d > HSY_VALUES_MAX)
        return file_bad(f, STUDY_WRONG_MANY, 0, err);
    question->d = (uint32_t)d;
    return HSY_OK;
}

hsy_status study_file_read(struct study_file *file, hsy_spec *question, int fd,
                           hsy_error *err)
{
    const bool values = question->kind == HSY_KIND_VALUES;
    struct file_truths f = {.out = file,
                            .spec = question,
                            .whole = values,
                            .outside = values ? STUDY_WRONG_DOMAIN
                                              : STUDY_WRONG_RANGE};
    hsy_status st;

    *file = (struct study_file){0};
    st = file_lines(&f, fd, err);
    file->users = f.n;
    if (st == HSY_OK && values && question->d == 0)
        st = file_values(&f, question, err);
    if (st == HSY_OK)
        st = file_count(&f, err);
    free(f.numbers);
    free(f.text);
    return st;
}

/* How strings are spelled; the caller frees *out. */
static hsy_status file_spelling(hsy_scheme **out, struct study_file *file,
                                const hsy_spec *spec, hsy_error *err)
{
    const hsy_status st = scheme_open(out, spec, err);

    if (st != HSY_OK && st != HSY_E_NOMEM)
        file->wrong = STUDY_WRONG_SCHEME;
    return st;
}

hsy_status study_file_strings(struct study_file *file, uint64_t bits,
                              bool integers, int fd, hsy_error *err)
{
    hsy_spec spec = {.size = sizeof spec,
                     .kind = HSY_KIND_STRINGS,
                     .mechanism = "pem",
                     .nano_epsilon = HSY_NANO,
                     .param = {[HSY_PARAM_BITS] = bits}};
    struct file_truths f = {
        .out = file, .spec = &spec, .whole = true, .outside = STUDY_WRONG_BITS};
    hsy_scheme *spelling = NULL;
    hsy_status st = HSY_OK;

    *file = (struct study_file){0};
    if (!integers)
        st = file_spelling(&spelling, file, &spec, err);
    f.spelling = spelling;
    spec.hi = bits < 63 ? ((int64_t)1 << bits) - 1 : INT64_MAX;
    if (st == HSY_OK)
        st = file_lines(&f, fd, err);
    if (st == HSY_OK)
        st = file_count(&f, err);
    file->users = f.n;
    free(spelling);
    free(f.numbers);
    return st;
}
