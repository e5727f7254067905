/* codes.c - from lines of text to the codes of truths. */
#define _DEFAULT_SOURCE
#include "host/format/codes.h"

#include "host/format/truth_words.h"

#include <strings.h>

/* What is wrong with line i. */
static size_t codes_wrong(struct truth_wrong *wrong, enum truth_trouble trouble,
                          size_t i)
{
    wrong->trouble = trouble;
    return i;
}

/* yes, true, 1 and no, false, 0, in any case. */
static size_t codes_yes_no(const struct coder *coder, uint64_t *codes,
                           const struct line *lines, size_t n,
                           struct truth_wrong *wrong)
{
    (void)coder;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;

        while (k < TRUTH_WORDS &&
               (lines[i].len != truth_words[k].len ||
                strncasecmp((const char *)lines[i].text, truth_words[k].word,
                            truth_words[k].len) != 0))
            k++;
        if (k == TRUTH_WORDS)
            return codes_wrong(wrong, TRUTH_NOT_YES_NO, i);
        codes[i] = truth_words[k].index;
    }
    return n;
}

static size_t codes_labels(const struct coder *coder, uint64_t *codes,
                           const struct line *lines, size_t n,
                           struct truth_wrong *wrong)
{
    const struct labels *labels = coder->labels;

    for (size_t i = 0; i < n; i++) {
        uint32_t place = labels_find(labels, lines[i].text, lines[i].len);

        if (place == labels->d) {
            if (!coder->other)
                return codes_wrong(wrong, TRUTH_NOT_LISTED, i);
            place = coder->other_place;
        }
        codes[i] = place;
    }
    return n;
}

static size_t codes_domain(const struct coder *coder, uint64_t *codes,
                           const struct line *lines, size_t n,
                           struct truth_wrong *wrong)
{
    const uint32_t d = coder->spec->d;

    for (size_t i = 0; i < n; i++) {
        uint64_t x;

        if (!truth_digits(&x, lines[i].text, lines[i].len) || x >= d)
            return codes_wrong(wrong, TRUTH_NOT_BELOW, i);
        codes[i] = x;
    }
    return n;
}

static size_t codes_values(const struct coder *coder, uint64_t *codes,
                           const struct line *lines, size_t n,
                           struct truth_wrong *wrong)
{
    return coder->labels->d != 0 ? codes_labels(coder, codes, lines, n, wrong)
                                 : codes_domain(coder, codes, lines, n, wrong);
}

/* A number outside the range is moved to its nearer end if it is clipped. */
static hsy_status codes_number(const struct coder *coder, int64_t *number,
                               const struct line *line)
{
    const hsy_spec *spec = coder->spec;
    hsy_status st = hsy_decimal_parse(number, (const char *)line->text,
                                      line->len, spec->scale);

    if (!coder->clip)
        return st;
    if (st == HSY_E_RANGE) {
        *number = line->text[0] == '-' ? spec->lo : spec->hi;
        st = HSY_OK;
    } else if (st == HSY_OK) {
        *number = *number < spec->lo ? spec->lo : *number;
        *number = *number > spec->hi ? spec->hi : *number;
    }
    return st;
}

static size_t codes_numbers(const struct coder *coder, uint64_t *codes,
                            const struct line *lines, size_t n,
                            struct truth_wrong *wrong)
{
    hsy_truth truth = {.type = HSY_TRUTH_NUMBER};

    for (size_t i = 0; i < n; i++) {
        hsy_status st = codes_number(coder, &truth.u.number, &lines[i]);

        if (st == HSY_E_FORMAT)
            return codes_wrong(wrong, TRUTH_NOT_DECIMAL, i);
        if (st == HSY_OK)
            st = hsy_truth_code(coder->scheme, &codes[i], &truth, NULL);
        if (st != HSY_OK)
            return codes_wrong(wrong, TRUTH_OUTSIDE, i);
    }
    return n;
}

static hsy_status codes_string(const struct coder *coder, uint64_t *code,
                               const void *text, size_t len, size_t room,
                               hsy_error *err)
{
    hsy_truth truth = {.type = HSY_TRUTH_BYTES};

    truth.u.bytes.data = text;
    truth.u.bytes.len = len;
    truth.u.bytes.room = room;
    return hsy_truth_code(coder->scheme, code, &truth, err);
}

/* A string that cannot be coded is the string "other" if there is one. */
static size_t codes_strings(const struct coder *coder, uint64_t *codes,
                            const struct line *lines, size_t n,
                            struct truth_wrong *wrong)
{
    const size_t width = hsy_codes_per_truth(coder->scheme);

    for (size_t i = 0; i < n; i++) {
        uint64_t *own = codes + i * width;
        hsy_error err = {0};
        hsy_status st = codes_string(coder, own, lines[i].text, lines[i].len,
                                     HSY_STRING_MAX, &err);

        if (st != HSY_OK && coder->other)
            st = codes_string(coder, own, "other", 5, 0, &err);
        if (st != HSY_OK) {
            wrong->msg = err.msg;
            wrong->field = err.field;
            return codes_wrong(wrong, TRUTH_REFUSED, i);
        }
    }
    return n;
}

/* The first empty line, n if there is none. */
static size_t codes_first_empty(const struct line *lines, size_t n)
{
    size_t i = 0;

    while (i < n && lines[i].len != 0)
        i++;
    return i;
}

static size_t (*const codes_by_kind[])(
    const struct coder *coder, uint64_t *codes, const struct line *lines,
    size_t n, struct truth_wrong *wrong) = {[HSY_KIND_YES_NO] = codes_yes_no,
                                            [HSY_KIND_VALUES] = codes_values,
                                            [HSY_KIND_NUMBER] = codes_numbers,
                                            [HSY_KIND_BINS] = codes_numbers,
                                            [HSY_KIND_STRINGS] = codes_strings};

size_t code_lines(const struct coder *coder, uint64_t *codes,
                  const struct line *lines, size_t n, struct truth_wrong *wrong)
{
    size_t filled = codes_first_empty(lines, n);
    size_t coded =
        codes_by_kind[coder->spec->kind](coder, codes, lines, filled, wrong);

    return coded == filled && filled < n
               ? codes_wrong(wrong, TRUTH_EMPTY, coded)
               : coded;
}
