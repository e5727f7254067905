/* csv.h - records of CSV [RFC 4180], a line each. */
#ifndef CLI_BASE_CSV_H
#define CLI_BASE_CSV_H

#include "cli/base/base.h"

/* Begin with all of a line and more set. */
struct cli_record {
    const uint8_t *at, *end;
    bool more; /* a comma stood behind the last field */
};

/* Bytes of the room for a field. */
#define CLI_FIELD_ROOM (CLI_LINE_MAX + HSY_STRING_MAX + 8)

/* The next field into out, whose text is in room and lasts until the next;
 * false if a quote is out of place, as cli_csv_quote says. */
bool cli_record_field(struct cli_record *r, struct cli_line *out,
                      uint8_t *room);

extern const char cli_csv_quote[];

#endif
