/* csv.h - records of CSV [RFC 4180], a line each; some programs write
 * semicolons for commas. */
#ifndef HOST_BASE_CSV_H
#define HOST_BASE_CSV_H

#include "host/base/lines.h"

/* Begin with all of a line and more set. */
struct csv_record {
    const uint8_t *at, *end;
    bool more;         /* a separator stood behind the last field */
    uint8_t separator; /* a comma, or a semicolon */
};

/* What separates the names in a first line: a semicolon if, outside of quotes,
 * it has more of them than commas. */
uint8_t csv_separator(const struct line *first);

/* The next field, without its quotes, into room, which is as long as what is
 * left of the record, or is just that: a field may be undone in its place.
 * False if a quote is out of place, as csv_quote says. */
bool csv_take(struct csv_record *r, uint8_t *room, size_t *len);

/* Bytes of the room for a field of a line, and of those beyond it that a line
 * promises. */
#define CSV_SPARE (HSY_STRING_MAX + 8)
#define CSV_FIELD_ROOM (LINES_LONGEST + CSV_SPARE)

/* The next field as a line, whose text is in room and lasts until the next. */
bool csv_field(struct csv_record *r, struct line *out, uint8_t *room);

extern const char csv_quote[];

#endif
