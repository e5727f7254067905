/* csv.c - records of CSV [RFC 4180], a line each. */
#include "host/base/csv.h"

#include <string.h>

const char csv_quote[] =
    "a quote is out of place; a field with a quote or a comma stands in "
    "quotes, \"\" being a quote, and ends on its line";

uint8_t csv_separator(const struct line *first)
{
    size_t commas = 0, semicolons = 0;
    bool quoted = false;

    for (size_t i = 0; i < first->len; i++) {
        quoted ^= first->text[i] == '"';
        commas += !quoted && first->text[i] == ',';
        semicolons += !quoted && first->text[i] == ';';
    }
    return semicolons > commas ? ';' : ',';
}

bool csv_take(struct csv_record *r, uint8_t *room, size_t *len)
{
    const uint8_t *p = r->at;
    size_t n = 0;

    if (p < r->end && *p == '"') {
        for (p++; p < r->end && (*p != '"' || (p + 1 < r->end && p[1] == '"'));
             p++) {
            p += *p == '"';
            room[n++] = *p;
        }
        if (p == r->end || (++p < r->end && *p != r->separator))
            return false;
    } else {
        for (; p < r->end && *p != r->separator; p++) {
            if (*p == '"')
                return false;
            room[n++] = *p;
        }
    }
    r->more = p < r->end;
    r->at = p + r->more;
    *len = n;
    return true;
}

bool csv_field(struct csv_record *r, struct line *out, uint8_t *room)
{
    size_t len;

    if (!csv_take(r, room, &len))
        return false;
    memset(room + len, 0, CSV_SPARE);
    *out = (struct line){room, len};
    return true;
}
