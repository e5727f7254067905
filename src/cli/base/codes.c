/* codes.c - from lines of text to the codes of truths. */
#define _DEFAULT_SOURCE
#include "cli/base/codes.h"

#include <string.h>
#include <strings.h>

/* yes, true, 1 and no, false, 0, in any case. */
static size_t codes_yes_no(const struct cli_coder *coder, uint64_t *codes,
                           const struct line *lines, size_t n, const char **why)
{
    static const struct {
        const char *word;
        size_t len;
        uint64_t code;
    } words[] = {{"yes", 3, 1}, {"no", 2, 0},   {"1", 1, 1},
                 {"0", 1, 0},   {"true", 4, 1}, {"false", 5, 0}};

    (void)coder;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;

        while (k < 6 && (lines[i].len != words[k].len ||
                         strncasecmp((const char *)lines[i].text, words[k].word,
                                     words[k].len) != 0))
            k++;
        if (k == 6) {
            *why = "neither yes nor no (yes/no, true/false, 1/0)";
            return i;
        }
        codes[i] = words[k].code;
    }
    return n;
}

static size_t codes_labels(const struct cli_coder *coder, uint64_t *codes,
                           const struct line *lines, size_t n, const char **why)
{
    const struct cli_spec *c = coder->spec;
    const struct labels *labels = &c->labels;

    for (size_t i = 0; i < n; i++) {
        uint32_t place = labels_find(labels, lines[i].text, lines[i].len);

        if (place == labels->d) {
            if (!c->other) {
                *why = "not one of the values; add it to the list, or count "
                       "what is not in the list as \"other\" with --other";
                return i;
            }
            place = c->other_place;
        }
        codes[i] = place;
    }
    return n;
}

static size_t codes_domain(const struct cli_coder *coder, uint64_t *codes,
                           const struct line *lines, size_t n, const char **why)
{
    const uint32_t d = coder->spec->spec.d;

    for (size_t i = 0; i < n; i++) {
        const struct line *line = &lines[i];
        uint64_t x = 0;
        bool good = line->len >= 1 && line->len <= 10;

        for (size_t k = 0; good && k < line->len; k++) {
            unsigned digit = (unsigned)line->text[k] - '0';

            good = digit <= 9;
            x = x * 10 + digit;
        }
        if (!good || x >= d) {
            *why = "not an integer from 0 to D-1, where D is what --domain "
                   "says";
            return i;
        }
        codes[i] = x;
    }
    return n;
}

static size_t codes_values(const struct cli_coder *coder, uint64_t *codes,
                           const struct line *lines, size_t n, const char **why)
{
    return coder->spec->labels.d != 0
               ? codes_labels(coder, codes, lines, n, why)
               : codes_domain(coder, codes, lines, n, why);
}

/* A number outside the range is moved to its nearer end with --clip. */
static hsy_status codes_number(const struct cli_coder *coder, int64_t *number,
                               const struct line *line)
{
    const hsy_spec *spec = &coder->spec->spec;
    hsy_status st = hsy_decimal_parse(number, (const char *)line->text,
                                      line->len, spec->scale);

    if (!coder->spec->clip)
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

static size_t codes_numbers(const struct cli_coder *coder, uint64_t *codes,
                            const struct line *lines, size_t n,
                            const char **why)
{
    hsy_truth truth = {.type = HSY_TRUTH_NUMBER};

    for (size_t i = 0; i < n; i++) {
        hsy_status st = codes_number(coder, &truth.u.number, &lines[i]);

        if (st == HSY_E_FORMAT) {
            *why = "not a decimal number (a digit first, as in 0.5 or -0.5; no "
                   "exponent, no spaces)";
            return i;
        }
        if (st == HSY_OK)
            st = hsy_truth_code(coder->scheme, &codes[i], &truth, NULL);
        if (st != HSY_OK) {
            *why = "outside the range; --clip moves such numbers to the "
                   "nearer end";
            return i;
        }
    }
    return n;
}

static hsy_status codes_string(const struct cli_coder *coder, uint64_t *code,
                               const void *text, size_t len, size_t room,
                               hsy_error *err)
{
    hsy_truth truth = {.type = HSY_TRUTH_BYTES};

    truth.u.bytes.data = text;
    truth.u.bytes.len = len;
    truth.u.bytes.room = room;
    return hsy_truth_code(coder->scheme, code, &truth, err);
}

/* A string that cannot be coded is the string "other" with --other. */
static size_t codes_strings(const struct cli_coder *coder, uint64_t *codes,
                            const struct line *lines, size_t n,
                            const char **why)
{
    const size_t width = hsy_codes_per_truth(coder->scheme);

    for (size_t i = 0; i < n; i++) {
        uint64_t *own = codes + i * width;
        hsy_error err = {0};
        hsy_status st = codes_string(coder, own, lines[i].text, lines[i].len,
                                     HSY_STRING_MAX, &err);

        if (st != HSY_OK && coder->spec->other)
            st = codes_string(coder, own, "other", 5, 0, &err);
        if (st != HSY_OK) {
            *why = err.msg;
            return i;
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
    const struct cli_coder *coder, uint64_t *codes, const struct line *lines,
    size_t n, const char **why) = {[HSY_KIND_YES_NO] = codes_yes_no,
                                   [HSY_KIND_VALUES] = codes_values,
                                   [HSY_KIND_NUMBER] = codes_numbers,
                                   [HSY_KIND_BINS] = codes_numbers,
                                   [HSY_KIND_STRINGS] = codes_strings};

size_t cli_code_lines(const struct cli_coder *coder, uint64_t *codes,
                      const struct line *lines, size_t n, const char **why)
{
    size_t filled = codes_first_empty(lines, n);
    size_t coded =
        codes_by_kind[coder->spec->spec.kind](coder, codes, lines, filled, why);

    if (coded == filled && filled < n)
        *why = "empty; write one truth a line";
    return coded;
}
