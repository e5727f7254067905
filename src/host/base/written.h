/* written.h - texts in memory; numbers and texts as JSON [RFC 8259] and CSV
 * [RFC 4180]. */
#ifndef HOST_BASE_WRITTEN_H
#define HOST_BASE_WRITTEN_H

#include "hearsay.h"

#include <stdio.h>

/* A text that is written in memory. */
struct written {
    FILE *to;
    char *text;
    size_t len;
};

/* False: out of memory. Close it either way. */
bool written_open(struct written *w);

/* The whole text, the caller's to free; HSY_E_NOMEM. */
hsy_status written_close(struct written *w, char **text, size_t *len,
                         hsy_error *err);

#define WRITTEN_NUMBER 32
#define WRITTEN_PIECE 12

/*
 * A character of a text as people may be shown it. Words come from strangers,
 * and labels from elsewhere: a character that nobody sees, or that turns the
 * direction of writing, is shown by its number, as \\u{202e}; a byte that is no
 * UTF-8 as \\xff. Tables, CSV and drawings all take it from here.
 */
struct written_piece {
    char bytes[WRITTEN_PIECE]; /* NUL-ended */
    size_t len;
    uint32_t point; /* the character, where it is shown as it is; else 0 */
};

/* The first character of text[0..left), left > 0; returns the bytes that it
 * takes there. */
size_t written_take(struct written_piece *out, const char *text, size_t left);

/* The beginning of a text of any bytes that way, as a name: without a NUL but
 * for its last. */
void written_name(char *name, size_t size, const char *text, size_t len);

/* The fewest digits, from 15 on, that read back as the same double, which is
 * finite. */
void written_number(char text[WRITTEN_NUMBER], double x);

/* Nano-epsilon as a decimal: exact, without zeros at the end. */
void written_nano(char text[WRITTEN_NUMBER], uint64_t nano);

/* A text in quotes; what nobody sees as \\u and its number. Bytes that are no
 * UTF-8 become U+FFFD: json has no other bytes. */
void written_json(FILE *to, const char *text, size_t len);

/* The same for machines, of UTF-8: what json demands is escaped, nothing else.
 */
void written_json_exact(FILE *to, const char *text, size_t len);

/* Whether json can hold a text as it is. */
bool written_utf8(const char *text, size_t len);

/* Bytes as hexadecimal digits. */
void written_hex(FILE *to, const void *bytes, size_t n);

/* A field, in quotes where it needs them. Hidden characters beyond ASCII are
 * shown by their numbers, and bytes that are not UTF-8 as \xNN; what a
 * spreadsheet would take for a formula begins with an apostrophe. */
void written_csv(FILE *to, const char *text, size_t len);

#endif
