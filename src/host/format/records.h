/* records.h - columns of a table in CSV: several attributes, or one truth. */
#ifndef HOST_FORMAT_RECORDS_H
#define HOST_FORMAT_RECORDS_H

#include "host/base/csv.h"
#include "host/format/codes.h"

struct record_column {
    const char *name;
    size_t name_len;
    bool none; /* an empty field is the value "none" */
    uint32_t none_place;
    struct coder coder;
};

/* Columns of a table that are wanted, by the names in its first line. Zero it,
 * and fill in the columns and their number. */
struct records {
    struct record_column columns[HSY_ATTRIBUTES_MAX];
    size_t count;
    bool others;  /* the table may have further columns */
    bool headed;  /* the header has been read: */
    size_t width; /* it has so many fields, */
    uint8_t separator;
    size_t place[HSY_ATTRIBUTES_MAX];  /* and each column's is this, from 1, */
    uint8_t order[HSY_ATTRIBUTES_MAX]; /* in this order */
    uint8_t *field; /* one field, a truth, and as many bytes as a coder reads;
                       wiped when freed */
};

/* Room for a field: HSY_E_NOMEM. */
hsy_status records_open(struct records *r, hsy_error *err);
void records_close(struct records *r);

/* The header: every column once, in any order, and nothing else unless others
 * may be there. Commas or semicolons separate its names, and all fields. */
bool records_header(struct records *r, const struct line *line,
                    struct truth_wrong *wrong);

/* Which field of a line, from 1, is nearly called so; 0: none. Its text is in
 * r->field. */
size_t records_near(struct records *r, const struct line *line,
                    const char *name);

/* The fields of a line that are wanted, one by one. */
struct record_cursor {
    struct csv_record csv;
    size_t at;    /* fields read */
    size_t taken; /* of those that are wanted */
    struct line field;
};

struct record_cursor records_begin(const struct records *r,
                                   const struct line *line);

/* The next field and which column it is of; it lasts until the next. False at
 * the end: wrong->trouble is 0 if the line is as the header says. */
bool records_next(struct records *r, struct record_cursor *c, size_t *which,
                  struct truth_wrong *wrong);

/* Who separates by semicolons writes 1,25 for 1.25: undo it in a field. */
void records_decimal(const struct records *r, const struct line *field);

/* The codes of one record, r->count truths. */
bool records_codes(struct records *r, uint64_t *codes, const struct line *line,
                   struct truth_wrong *wrong);

#endif
