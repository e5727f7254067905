/* csv.c - records of CSV [RFC 4180], a line each. */
#include "cli/base/csv.h"

#include <string.h>

const char csv_quote[] =
    "a quote is out of place; a field with a quote or a comma stands in "
    "quotes, \"\" being a quote, and ends on its line";

bool csv_field(struct csv_record *r, struct line *out, uint8_t *room)
{
    const uint8_t *p = r->at;
    size_t n = 0;

    if (p < r->end && *p == '"') {
        for (p++; p < r->end && (*p != '"' || (p + 1 < r->end && p[1] == '"'));
             p++) {
            p += *p == '"';
            room[n++] = *p;
        }
        if (p == r->end || (++p < r->end && *p != ','))
            return false;
    } else {
        for (; p < r->end && *p != ','; p++) {
            if (*p == '"')
                return false;
            room[n++] = *p;
        }
    }
    memset(room + n, 0, HSY_STRING_MAX + 8);
    r->more = p < r->end;
    r->at = p + r->more;
    *out = (struct line){room, n};
    return true;
}
