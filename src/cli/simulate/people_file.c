/* people_file.c - a population from a file, one truth a line. */
#include "cli/simulate/simulate_study.h"

#include <stdlib.h>
#include <string.h>

#define FILE_LINES 1024u /* read at a time */

/* A file's truths: numbers, or lines that become numbers by spelling or by
 * sorting. */
struct file_truths {
    const hsy_spec *spec;
    const hsy_scheme *spelling; /* of strings; NULL: they are none */
    bool whole;                 /* numbers are integers */
    const char *outside;        /* what is wrong with other numbers */
    int64_t *numbers;
    char *text;
    size_t n, room, len, text_room;
};

static bool file_grow(void **memory, size_t *room, size_t need, size_t each)
{
    size_t more = *room > 0 ? *room : 1024;
    void *grown;

    while (more < need)
        more *= 2;
    if (more == *room)
        return true;
    grown = realloc(*memory, more * each);
    if (grown == NULL)
        return false;
    *memory = grown;
    *room = more;
    return true;
}

static hsy_status file_bad(hsy_error *err, hsy_status st, const char *msg,
                           uint64_t line)
{
    *err = (hsy_error){.status = st, .msg = msg, .line = line};
    return st;
}

/* A number of the question; no message repeats what stands there. */
static hsy_status file_number(int64_t *out, const struct file_truths *f,
                              const struct line *line, uint64_t number,
                              hsy_error *err)
{
    const hsy_spec *spec = f->spec;
    const bool values = spec->kind == HSY_KIND_VALUES;
    const hsy_status st = hsy_decimal_parse(
        out, (const char *)line->text, line->len, values ? 0 : spec->scale);

    if (st == HSY_E_FORMAT ||
        (f->whole && memchr(line->text, '.', line->len) != NULL))
        return file_bad(err, HSY_E_FORMAT,
                        !f->whole ? "not a decimal number"
                        : values
                            ? "not an integer; where lines are values of their "
                              "own, leave out --domain"
                            : "not an integer",
                        number);
    if (st != HSY_OK || *out < (values ? 0 : spec->lo) ||
        *out > (values ? (int64_t)spec->d - 1 : spec->hi))
        return file_bad(err, HSY_E_RANGE, f->outside, number);
    return HSY_OK;
}

static hsy_status file_string(int64_t *out, const struct file_truths *f,
                              const struct line *line, uint64_t number,
                              hsy_error *err)
{
    const hsy_truth truth = {.type = HSY_TRUTH_BYTES,
                             .u.bytes = {line->text, line->len, 0}};
    uint64_t code = 0;
    hsy_error why = {0};

    if (line->len > f->spec->param[HSY_PARAM_BITS] / 8)
        return file_bad(err, HSY_E_RANGE,
                        "longer than its spelling: a byte takes 8 bits; raise "
                        "--bits, at most to 64",
                        number);
    if (hsy_truth_code(f->spelling, &code, &truth, &why) != HSY_OK)
        return file_bad(err, why.status, why.msg, number);
    *out = (int64_t)code;
    return HSY_OK;
}

static hsy_status file_take(struct file_truths *f, const struct line *line,
                            uint64_t number, hsy_error *err)
{
    const hsy_spec *spec = f->spec;
    void *numbers = f->numbers;
    size_t room = f->room;

    if (!file_grow(&numbers, &room, f->n + 1, sizeof *f->numbers))
        return file_bad(err, HSY_E_NOMEM, "out of memory", 0);
    f->numbers = numbers;
    f->room = room;
    if (f->spelling != NULL)
        return file_string(&f->numbers[f->n++], f, line, number, err);
    if (spec->d != 0 || spec->kind != HSY_KIND_VALUES)
        return file_number(&f->numbers[f->n++], f, line, number, err);
    if (line->len == 0)
        return file_bad(err, HSY_E_FORMAT, "empty", number);
    numbers = f->text;
    if (!file_grow(&numbers, &f->text_room, f->len + line->len + 1, 1))
        return file_bad(err, HSY_E_NOMEM, "out of memory", 0);
    f->text = numbers;
    memcpy(f->text + f->len, line->text, line->len);
    f->numbers[f->n++] = (int64_t)f->len; /* where it begins, for now */
    f->len += line->len;
    f->text[f->len++] = '\0';
    return HSY_OK;
}

static hsy_status file_read(struct file_truths *f, int fd, hsy_error *err)
{
    static struct line lines[FILE_LINES];
    struct lines reader;
    hsy_status st = lines_open(&reader, fd);
    size_t n = 1;

    while (st == HSY_OK && n > 0) {
        const uint64_t before = reader.number;

        st = lines_next(&reader, lines, FILE_LINES, &n, err);
        for (size_t i = 0; st == HSY_OK && i < n; i++)
            st = file_take(f, &lines[i], before + i + 1, err);
    }
    lines_close(&reader);
    if (st == HSY_OK && f->n == 0)
        return file_bad(err, HSY_E_EMPTY, "has no lines", 0);
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
static int file_count(struct study_people *people, struct file_truths *f)
{
    uint64_t *counts = calloc(f->n, sizeof *counts);
    hsy_error err = {0};
    size_t n = 0;
    hsy_status st;

    if (counts == NULL)
        return cli_fail_nomem();
    qsort(f->numbers, f->n, sizeof *f->numbers, file_compare);
    for (size_t i = 0; i < f->n; i++) {
        if (i > 0 && f->numbers[i] == f->numbers[n - 1]) {
            counts[n - 1]++;
            continue;
        }
        f->numbers[n] = f->numbers[i];
        counts[n++] = 1;
    }
    st = study_people_counted(people, f->numbers, counts, n, &err);
    free(counts);
    return st == HSY_OK ? CLI_DONE : cli_fail_error("--data", &err);
}

static int file_settle(struct study_people *people, uint64_t *users,
                       hsy_spec *spec, struct file_truths *f, const char *path)
{
    *users = f->n;
    if (spec->d == 0 && spec->kind == HSY_KIND_VALUES) {
        const size_t d = file_places(f);

        if (d == 0)
            return cli_fail_nomem();
        if (d < 2)
            return cli_fail("%s: all lines are alike: there is nothing to ask",
                            path);
        if (d > HSY_VALUES_MAX)
            return cli_fail("%s: more than %u different lines", path,
                            HSY_VALUES_MAX);
        spec->d = (uint32_t)d;
    }
    return file_count(people, f);
}

/* All lines of a file. */
static int file_lines(struct file_truths *f, const char *path)
{
    hsy_error err = {0};
    const int fd = cli_open_input(path);
    int code = CLI_DONE;

    if (fd < 0)
        return CLI_FAILED;
    if (file_read(f, fd, &err) != HSY_OK)
        code = err.status == HSY_E_NOMEM
                   ? cli_fail_nomem()
                   : cli_fail_line(cli_input_name(path), &err);
    cli_close_input(fd);
    return code;
}

int simulate_file(struct study_people *people, uint64_t *users, hsy_spec *spec,
                  const char *path)
{
    const bool values = spec->kind == HSY_KIND_VALUES;
    struct file_truths f = {.spec = spec,
                            .whole = values,
                            .outside = values ? "not below --domain"
                                              : "outside --range"};
    int code = file_lines(&f, path);

    if (code == CLI_DONE)
        code = file_settle(people, users, spec, &f, path);
    free(f.numbers);
    free(f.text);
    return code;
}

int simulate_strings(struct study_people *people, uint64_t *users,
                     uint64_t bits, bool integers, const char *path)
{
    hsy_spec spec = {.size = sizeof spec,
                     .kind = HSY_KIND_STRINGS,
                     .mechanism = "pem",
                     .nano_epsilon = HSY_NANO,
                     .param = {[HSY_PARAM_BITS] = bits}};
    struct file_truths f = {
        .spec = &spec, .whole = true, .outside = "has more than --bits bits"};
    hsy_scheme *spelling = NULL;
    int code = integers ? CLI_DONE : cli_scheme_new(&spelling, &spec);

    f.spelling = spelling;
    spec.hi = bits < 63 ? ((int64_t)1 << bits) - 1 : INT64_MAX;
    if (code == CLI_DONE)
        code = file_lines(&f, path);
    if (code == CLI_DONE)
        code = file_count(people, &f);
    *users = f.n;
    free(spelling);
    free(f.numbers);
    return code;
}
