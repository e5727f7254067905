/* truths.c - what is wrong with a truth in a file, and what to do about it. */
#include "cli/base/base.h"

#include "host/base/csv.h"
#include "host/format/randomizer.h"
#include "host/format/truth_words.h"

#include <inttypes.h>

struct coder cli_coder(const struct cli_spec *c, const hsy_scheme *scheme)
{
    return (struct coder){.scheme = scheme,
                          .spec = &c->spec,
                          .labels = &c->labels,
                          .other = c->other,
                          .other_place = c->other_place,
                          .clip = c->clip};
}

/* Why a string is refused, and by which options it is not. */
static const char *truths_string(const struct truth_wrong *wrong)
{
    return wrong->field == HSY_FIELD_BITS
               ? "the string is too long; allow more bits with --set bits=N, "
                 "or count such strings as \"other\" with --other"
           : wrong->field == HSY_FIELD_ALPHABET
               ? "the string has a byte outside the alphabet; add it to "
                 "--alphabet, or count such strings as \"other\" with --other"
               : wrong->msg;
}

const char *cli_truth_said(const struct truth_wrong *wrong)
{
    static const char *const said[] = {
        [TRUTH_EMPTY] = "empty; write one truth per line, and leave out people "
                        "without one",
        [TRUTH_NOT_YES_NO] = TRUTH_NOT_YES_NO_TEXT,
        [TRUTH_NOT_LISTED] = "not one of the values; add it to the list, or "
                             "count unlisted values as \"other\" with --other",
        [TRUTH_NOT_BELOW] = "not an integer from 0 to D-1, for --domain D",
        [TRUTH_NOT_DECIMAL] = TRUTH_NOT_DECIMAL_TEXT,
        [TRUTH_OUTSIDE] = "outside the range; use --clip to move such numbers "
                          "to its nearer end",
        [TRUTH_QUOTE] = csv_quote,
        [TRUTH_UNKNOWN] =
            "not a declared attribute; add --attribute NAME=KIND, or ignore "
            "such columns with --ignore-columns",
        [TRUTH_TWICE] = "the header has this column twice; remove one",
        [TRUTH_LACKING] = "the header has no column of this name",
        [TRUTH_ABSENT] = "empty; to allow empty fields, counted as \"none\", "
                         "declare NAME?=KIND",
        [TRUTH_FIELDS] = "the number of fields differs from the header's",
        [TRUTH_GAP] = "empty; only the last lines may be empty"};

    return wrong->trouble == TRUTH_REFUSED ? truths_string(wrong)
                                           : said[wrong->trouble];
}

int cli_fail_truth(const char *name, uint64_t line,
                   const struct truth_wrong *wrong)
{
    char where[32] = "", meant[CLI_MEANT] = "";

    if (wrong->column == NULL && wrong->place != 0)
        snprintf(where, sizeof where, ", column %zu", wrong->place);
    else if (wrong->place != 0)
        snprintf(meant, sizeof meant, "; did you mean column %zu?",
                 wrong->place);
    if (wrong->meant != NULL)
        snprintf(meant, sizeof meant, "; is it meant as '%s'?", wrong->meant);
    return cli_fail("%s: line %" PRIu64 "%s%s%s: %s%s", name, line, where,
                    wrong->column != NULL ? ", " : "",
                    wrong->column != NULL ? wrong->column : "",
                    cli_truth_said(wrong), meant);
}

int cli_fail_truths(const char *input, const char *output,
                    const struct randomized *done, const hsy_error *err)
{
    switch (done->trouble) {
    case RANDOMIZER_HEAD:
        return cli_fail_error("--json", err);
    case RANDOMIZER_LINES:
        return cli_fail_line(cli_input_name(input), err);
    case RANDOMIZER_TRUTH:
        return cli_fail_truth(cli_input_name(input), done->line, &done->wrong);
    case RANDOMIZER_COINS:
        return cli_fail_error(NULL, err);
    case RANDOMIZER_OUTPUT:
        return cli_fail_output(output);
    default:
        return cli_fail_nomem();
    }
}
