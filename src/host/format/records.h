/* records.h - several attributes: columns of a table in CSV. */
#ifndef HOST_FORMAT_RECORDS_H
#define HOST_FORMAT_RECORDS_H

#include "host/format/codes.h"

struct record_column {
    const char *name;
    size_t name_len;
    bool none; /* an empty field is the value "none" */
    uint32_t none_place;
    struct coder coder;
};

/* Zero it, and fill in the columns and their number. */
struct records {
    struct record_column columns[HSY_ATTRIBUTES_MAX];
    size_t count;
    uint8_t place[HSY_ATTRIBUTES_MAX]; /* which column a field belongs to */
    bool headed;                       /* the header has been read */
    uint8_t *field; /* one field, a truth, and as many bytes as a coder reads;
                       wiped when freed */
};

/* Room for a field: HSY_E_NOMEM. */
hsy_status records_open(struct records *r, hsy_error *err);
void records_close(struct records *r);

/* The header: every attribute once, in any order, and nothing else. */
bool records_header(struct records *r, const struct line *line,
                    struct truth_wrong *wrong);

/* The codes of one record, r->count of them. */
bool records_codes(struct records *r, uint64_t *codes, const struct line *line,
                   struct truth_wrong *wrong);

#endif
