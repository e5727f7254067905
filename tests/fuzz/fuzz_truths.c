/*
 * fuzz_truths.c - truths, one a line, of every kind: lines come out as they
 * went in, and what is accepted is the code of its line.
 */
#define _GNU_SOURCE

#include "cli/base/base.h"
#include "fuzz_cli.h"

#define TRUTHS_ARGS 8u
#define TRUTHS_LINES 64u
#define TRUTHS_TEXT (1u << 20)
#define TRUTHS_CODED 128u /* of so many lines the codes are tried */

static char *const truths_asked[][TRUTHS_ARGS] = {
    {"fuzz", "--epsilon=1", "--yes-no"},
    {"fuzz", "--epsilon=1", "--values", "a,bb,ccc,eight by,eight bytes"},
    {"fuzz", "--epsilon=1", "--values", "a,bb,ccc,eight by,eight bytes",
     "--other"},
    {"fuzz", "--epsilon=1", "--domain", "1000"},
    {"fuzz", "--epsilon=1", "--range", "-10.5:20"},
    {"fuzz", "--epsilon=1", "--range", "-10.5:20", "--clip"},
    {"fuzz", "--epsilon=1", "--range", "0:100", "--bins", "7"},
    {"fuzz", "--epsilon=1", "--strings"}};

#define TRUTHS_KINDS (sizeof truths_asked / sizeof truths_asked[0])

static struct cli_spec truths_specs[TRUTHS_KINDS];
static hsy_scheme *truths_schemes[TRUTHS_KINDS];

static void truths_ask(size_t kind)
{
    int argc = 0;
    bool asked;
    char *argv[TRUTHS_ARGS];

    memcpy(argv, truths_asked[kind], sizeof argv);
    while (argv[argc] != NULL)
        argc++;
    fuzz_expect(fuzz_ask(&truths_specs[kind], argc, argv, &asked) == 0 &&
                    cli_scheme_new(&truths_schemes[kind],
                                   &truths_specs[kind].spec) == 0,
                "the questions are questions");
}

/* ---- Lines --------------------------------------------------------------- */

/* The input, and how far the lines have come. */
struct truths_text {
    const uint8_t *bytes;
    size_t len, at;
};

/* The next line, found byte by byte. */
static struct line truths_line(struct truths_text *t)
{
    struct line line = {.text = t->bytes + t->at};

    while (t->at < t->len && t->bytes[t->at] != '\n') {
        line.len++;
        t->at++;
    }
    if (t->at < t->len)
        t->at++;
    if (line.len > 0 && line.text[line.len - 1] == '\r')
        line.len--;
    return line;
}

static void truths_same(struct truths_text *t, const struct line *lines,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct line line = truths_line(t);

        fuzz_expect(line.len == lines[i].len &&
                        memcmp(line.text, lines[i].text, line.len) == 0,
                    "a line comes out as it went in");
    }
}

/* That line number `line` is the first that is too long. */
static void truths_too_long(struct truths_text *t, uint64_t line)
{
    struct line next = {0};

    t->at = 0;
    for (uint64_t i = 1; i < line; i++)
        fuzz_expect(truths_line(t).len <= LINES_LONGEST,
                    "no line before it is too long");
    next = truths_line(t);
    fuzz_expect(next.len > LINES_LONGEST, "a line that is refused is too long");
}

/* ---- Codes --------------------------------------------------------------- */

static void truths_value(const struct cli_spec *spec, const struct line *line,
                         uint64_t code)
{
    size_t len;
    const char *label = labels_at(&spec->labels, (uint32_t)code, &len);
    bool own = len == line->len && memcmp(label, line->text, len) == 0;

    fuzz_expect(own || (spec->other && code == spec->other_place),
                "the code of a value is its place, or that of the others");
}

static void truths_integer(const struct line *line, uint64_t code)
{
    char text[24];
    size_t len =
        (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)code);
    size_t zeros = 0;

    while (zeros + 1 < line->len && line->text[zeros] == '0')
        zeros++;
    fuzz_expect(line->len - zeros == len &&
                    memcmp(line->text + zeros, text, len) == 0,
                "the code of an integer is the integer");
}

static void truths_code(size_t kind, const struct line *lines, size_t n)
{
    const struct cli_spec *spec = &truths_specs[kind];
    const struct coder coder = cli_coder(spec, truths_schemes[kind]);
    uint64_t codes[TRUTHS_LINES], count = hsy_code_count(coder.scheme);
    struct truth_wrong wrong = {0};
    size_t good = code_lines(&coder, codes, lines, n, &wrong);

    fuzz_expect(good <= n && (good == n || cli_truth_said(&wrong) != NULL),
                "what is refused has a reason");
    for (size_t i = 0; i < good; i++) {
        fuzz_expect(lines[i].len != 0, "an empty line is no truth");
        fuzz_expect(count == 0 || codes[i] < count,
                    "a code is one of the scheme's");
        if (spec->spec.labels != NULL)
            truths_value(spec, &lines[i], codes[i]);
        else if (spec->spec.kind == HSY_KIND_VALUES)
            truths_integer(&lines[i], codes[i]);
    }
}

/* ---- Both ---------------------------------------------------------------- */

static void truths_read(size_t kind, size_t most, struct truths_text *t)
{
    struct line lines[TRUTHS_LINES];
    struct lines r;
    hsy_error err = {0};
    hsy_status st;
    size_t n = 0;

    fuzz_expect(lines_open(&r, fuzz_fd(t->bytes, t->len)) == HSY_OK,
                "there is memory");
    while ((st = lines_next(&r, lines, most, &n, &err)) == HSY_OK && n != 0) {
        fuzz_expect(n <= most, "no more lines than were asked for");
        truths_same(t, lines, n);
        if (r.number <= TRUTHS_CODED)
            truths_code(kind, lines, n);
    }
    if (st == HSY_OK)
        fuzz_expect(t->at == t->len, "no line is left");
    else
        truths_too_long(t, err.at);
    lines_close(&r);
}

/* The first byte is the kind, the second how many lines to read at once, the
 * third whether the rest stands there often: so lines cross the ends of reads.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t text[TRUTHS_TEXT];
    struct truths_text t = {.bytes = text};
    size_t kind, times;

    if (len < 3)
        return 0;
    kind = data[0] % TRUTHS_KINDS;
    times = data[2] == 255 ? 255 : 1;
    while (times-- > 0 && len - 3 <= TRUTHS_TEXT - t.len) {
        memcpy(text + t.len, data + 3, len - 3);
        t.len += len - 3;
    }
    if (truths_schemes[kind] == NULL)
        truths_ask(kind);
    truths_read(kind, 1 + data[1] % TRUTHS_LINES, &t);
    return 0;
}
