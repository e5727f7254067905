/*
 * table.h - rows as an aligned table, as CSV [RFC 4180] or as JSON [RFC 8259],
 * written to a stream. Whether they were written the stream says.
 */
#ifndef HOST_BASE_TABLE_H
#define HOST_BASE_TABLE_H

#include "hearsay.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum table_format { TABLE_ALIGNED = 0, TABLE_CSV = 1, TABLE_JSON = 2 };

/* ---- Cells --------------------------------------------------------------- */

enum table_type {
    CELL_NONE = 0, /* nothing: "-" in a table, empty in csv, null in json */
    CELL_TEXT,
    CELL_HEX,    /* the bytes of the text as hexadecimal digits */
    CELL_NUMBER, /* every digit a double has, in csv and json */
    CELL_COUNT,
    CELL_BOOL,
    CELL_PAIR,    /* [number, high]; json only */
    CELL_ESTIMATE /* {estimate, stderr, low, high}; json only */
};

struct table_cell {
    enum table_type type;
    const char *text; /* UTF-8 or not, not necessarily ended by NUL */
    size_t len;
    double number; /* NaN and infinities are printed as CELL_NONE */
    double high;   /* of a pair */
    hsy_estimate estimate;
    uint64_t count;
    bool truth;
    char shown[48]; /* for tables, instead of the above, unless empty */
};

struct table_cell cell_text(const char *text); /* NULL: CELL_NONE */
struct table_cell cell_bytes(const char *text, size_t len);
struct table_cell cell_number(double number);
struct table_cell cell_pair(double low, double high); /* none if either is */
struct table_cell cell_estimate(const hsy_estimate *estimate);
struct table_cell cell_count(uint64_t count);
struct table_cell cell_bool(bool truth);

/* A number that a table shows as x in this format, of one double. */
struct table_cell cell_shown(double number, double x, const char *format)
    __attribute__((format(printf, 3, 0)));

/* Let a table show x >= 0 in three digits: "26.4 GB", "910 k reports". */
void cell_rough(struct table_cell *c, double x, const char *unit);

/* A cell as a member of JSON. */
struct put;
void cell_put(struct put *p, const char *name, const struct table_cell *c);

/* ---- Tables -------------------------------------------------------------- */

struct table_column {
    const char *name;  /* csv header, json key */
    const char *title; /* table header; NULL: the name; "": not in tables */
};

/* Rows come from a callback, so that a table takes no memory of its own; it is
 * asked twice for each cell of a table. */
struct table {
    const struct table_column *columns;
    size_t ncolumns;
    size_t nrows;
    void (*cell)(const void *ctx, size_t row, size_t column,
                 struct table_cell *out);
    const void *ctx;
};

struct table_field {
    const char *name;
    struct table_cell cell;
};

/* Fields that are added one by one; those beyond the room are left out. */
#define TABLE_FIELDS 24u

struct table_fields {
    struct table_field list[TABLE_FIELDS];
    size_t n;
};

void table_add(struct table_fields *f, const char *name,
               struct table_cell cell);

/* Table: aligned columns with a header. Csv: a header and rows. Json: one
 * object, the fields and then the rows as an array of objects called rows_name;
 * if that is NULL, the members of the only row. */
void table_print(FILE *to, enum table_format format, const struct table *table,
                 const struct table_field *fields, size_t nfields,
                 const char *rows_name);

/* Rows as csv, each ended by the fields, whose names end the header. */
void table_csv(FILE *to, const struct table *table,
               const struct table_field *said, size_t nsaid);

/* table_print; rows of csv end with those of the fields that `said` names, NULL
 * behind them, where there are such. */
void table_print_said(FILE *to, enum table_format format,
                      const struct table *table,
                      const struct table_field *fields, size_t nfields,
                      const char *rows_name, const char *const *said);

/* Up to 32 fields as the only row, in json as one flat object. Those of
 * CELL_NONE are left out. */
void table_print_flat(FILE *to, enum table_format format,
                      const struct table_field *fields, size_t nfields);

/* ---- Beside tables ------------------------------------------------------- */

/* A paragraph, its lines broken at spaces. */
void table_paragraph(FILE *to, const char *text);

/* The same from a format, of at most 1023 bytes. */
void table_say(FILE *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
