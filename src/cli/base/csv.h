/* csv.h - records of CSV [RFC 4180], a line each. */
#ifndef CLI_BASE_CSV_H
#define CLI_BASE_CSV_H

#include "cli/base/base.h"

/* Begin with all of a line and more set. */
struct csv_record {
    const uint8_t *at, *end;
    bool more; /* a comma stood behind the last field */
};

/* Bytes of the room for a field. */
#define CSV_FIELD_ROOM (LINES_LONGEST + HSY_STRING_MAX + 8)

/* The next field into out, whose text is in room and lasts until the next;
 * false if a quote is out of place, as csv_quote says. */
bool csv_field(struct csv_record *r, struct line *out, uint8_t *room);

extern const char csv_quote[];

#endif
