/* attributes.h - several attributes on the command line. */
#ifndef CLI_BASE_ATTRIBUTES_H
#define CLI_BASE_ATTRIBUTES_H

#include "cli/base/base.h"
#include "host/format/records.h"

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
    struct records records;
};

/* Take --attribute into a struct cli_spec; false after a complaint. */
bool cli_tuple_add(struct cli_parser *p, void *spec);

/* Resolve all attributes and fill in c->spec. 0, or the exit code after a
 * message. */
int cli_tuple_finish(struct cli_spec *c, struct cli_parser *p);
void cli_tuple_free(struct cli_tuple *t);

#endif
