/*
 * spec_text.h - a spec from texts: what is asked, and how.
 *
 * Command line and task file are both read by it, so that the same words make
 * the same scheme, and tallies of it merge.
 */
#ifndef HOST_FORMAT_SPEC_TEXT_H
#define HOST_FORMAT_SPEC_TEXT_H

#include "host/base/labels.h"

/* One record of CSV [RFC 4180], a value a field, indexed. HSY_E_EMPTY;
 * HSY_E_FORMAT for a quote out of place, and HSY_E_RANGE for a value that is
 * none or is there twice, which one in err->at; HSY_E_NOMEM. */
hsy_status spec_text_values(struct labels *l, const char *text, hsy_error *err);

/* LO:HI as lo, hi and scale, in the finest units that leave room: their
 * difference stays below 2^62. HSY_E_FORMAT without a colon; else HSY_E_RANGE
 * with what is wrong. */
hsy_status spec_text_range(hsy_spec *spec, const char *text, hsy_error *err);

/* A key of len bytes with its text. */
struct spec_said {
    const char *key;
    size_t len;
    const char *text;
    size_t at; /* which probability of the key it is, from 0 on */
};
#define SPEC_TEXT_WHOLE SIZE_MAX /* all of them, with commas between */

/*
 * Take what is said of epsilon, alphabet, a design (spinner, coins, channel,
 * rappor) or a parameter by its name. given: the parameters so far, a bit each.
 * HSY_E_UNKNOWN: no such key. Else err->msg says what is wrong, to be read
 * behind the key.
 */
hsy_status spec_text_take(hsy_spec *spec, uint32_t *given,
                          const struct spec_said *said, hsy_error *err);

/* The number of a parameter, HSY_PARAMS if there is none of this name. */
size_t spec_text_param(const char *key, size_t len);

/* Ask for the values of a list, which must last as long as the spec. */
void spec_text_labels(hsy_spec *spec, const struct labels *l);

#endif
