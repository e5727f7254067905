/* question.h - what is asked, as people write it: lists of values, ranges. */
#ifndef HOST_FORMAT_QUESTION_H
#define HOST_FORMAT_QUESTION_H

#include "host/base/labels.h"

/* One record of CSV [RFC 4180], a value a field, indexed. HSY_E_EMPTY;
 * HSY_E_FORMAT for a quote out of place, and HSY_E_RANGE for a value that is
 * none or is there twice, which one in err->at; HSY_E_NOMEM. */
hsy_status question_values(struct labels *l, const char *text, hsy_error *err);

/* LO:HI as lo, hi and scale, in the finest units that leave room: their
 * difference stays below 2^62. HSY_E_FORMAT without a colon; else HSY_E_RANGE
 * with what is wrong. */
hsy_status question_range(hsy_spec *spec, const char *text, hsy_error *err);

#endif
