/* records.h - several attributes: columns of a table in CSV. */
#ifndef CLI_BASE_RECORDS_H
#define CLI_BASE_RECORDS_H

#include "cli/base/base.h"

/* What --attribute NAME=KIND says of a column. Owns its memory. */
struct cli_column_spec {
    char *name;
    size_t name_len;
    char *kind; /* the text behind the =, cut up */
    bool none;  /* an empty field is the value "none" */
    uint32_t none_place;
    struct cli_spec spec;
    hsy_scheme *scheme;
};

/* All columns, in the order of the options. */
struct cli_tuple {
    struct cli_column_spec columns[HSY_ATTRIBUTES_MAX];
    size_t count;
    uint8_t *block; /* the attributes, encoded */
    size_t block_len;
    uint8_t place[HSY_ATTRIBUTES_MAX]; /* which column a field belongs to */
    bool headed;                       /* the header has been read */
    uint8_t *field; /* one field, a truth, and as many bytes as a coder reads;
                       wiped when freed */
};

/* Take --attribute; false after a complaint. */
bool cli_tuple_add(struct cli_spec *c, struct cli_parser *p);

/* Resolve all attributes and fill in c->spec. 0, or the exit code after a
 * message. */
int cli_tuple_finish(struct cli_spec *c, struct cli_parser *p);
void cli_tuple_free(struct cli_tuple *t);

/* What is wrong with a record: never its value. */
struct cli_tuple_why {
    const char *msg;
    const struct cli_column_spec *column; /* NULL: the whole record */
    size_t place; /* of a field without an attribute, from 1; 0: none. Not its
                     text: without a header that is a truth */
};

/* The header: every attribute once, in any order, and nothing else. False if
 * it is not, with why. */
bool cli_tuple_header(struct cli_tuple *t, const struct line *line,
                      struct cli_tuple_why *why);

/* The codes of one record, t->count of them. */
bool cli_tuple_codes(struct cli_tuple *t, uint64_t *codes,
                     const struct line *line, struct cli_tuple_why *why);

#endif
