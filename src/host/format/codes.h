/* codes.h - from lines of text to the codes of truths. */
#ifndef HOST_FORMAT_CODES_H
#define HOST_FORMAT_CODES_H

#include "hearsay.h"
#include "host/base/labels.h"
#include "host/base/lines.h"

/* What is asked. All of it is the caller's. */
struct coder {
    const hsy_scheme *scheme; /* not needed for yes/no and lists */
    const hsy_spec *spec;
    const struct labels *labels; /* indexed; d is 0 if values have no names */
    bool other;                  /* what is not listed is ... */
    uint32_t other_place;        /* ... this value, of strings "other" */
    bool clip; /* a number outside the range is moved to its nearer end */
};

/* What is wrong with a truth, or with a record of several. */
enum truth_trouble {
    TRUTH_EMPTY = 1,
    TRUTH_NOT_YES_NO,
    TRUTH_NOT_LISTED,
    TRUTH_NOT_BELOW, /* not an integer from 0 to d - 1 */
    TRUTH_NOT_DECIMAL,
    TRUTH_OUTSIDE, /* of the range */
    TRUTH_REFUSED, /* a string, as msg says */
    TRUTH_QUOTE,   /* out of place, as csv_quote says */
    TRUTH_UNKNOWN, /* a column of the header that is not wanted */
    TRUTH_TWICE,   /* this column */
    TRUTH_LACKING, /* this column */
    TRUTH_ABSENT,  /* a field is empty, and may not be */
    TRUTH_FIELDS,  /* not as many as the header has */
    TRUTH_GAP      /* an empty line that is not at the end */
};

/* Never its value. */
struct truth_wrong {
    enum truth_trouble trouble;
    const char *msg;    /* TRUTH_REFUSED */
    uint32_t field;     /* the same: what would take it, an hsy_field */
    const char *column; /* as it was asked for; NULL: the whole record */
    size_t place; /* of a field that is not wanted, or may be the one lacking,
                     from 1; 0: none. Not its text: without a header that is a
                     truth */
    const char *meant; /* TRUTH_UNKNOWN: the column that is nearly called so */
};

/* Code n lines, hsy_codes_per_truth codes each. How many from the first on are
 * in the domain; if that is less than n, *wrong tells of the next one. */
size_t code_lines(const struct coder *coder, uint64_t *codes,
                  const struct line *lines, size_t n,
                  struct truth_wrong *wrong);

#endif
