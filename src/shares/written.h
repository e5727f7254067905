/* written.h - numbers and texts as JSON [RFC 8259] and CSV [RFC 4180]. */
#ifndef WRITTEN_H
#define WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define WRITTEN_NUMBER 32

/* The fewest digits, from 15 on, that read back as the same double, which is
 * finite. */
void written_number(char text[WRITTEN_NUMBER], double x);

/* A text in quotes. Bytes that are no UTF-8 become U+FFFD: json has no other
 * bytes. */
void written_json(FILE *to, const char *text, size_t len);

/* Whether json can hold a text as it is. */
bool written_utf8(const char *text, size_t len);

/* A member NAME_hex after a comma: the bytes in hexadecimal digits. */
void written_json_hex(FILE *to, const char *name, const char *text, size_t len);

/* A field, in quotes where it needs them. */
void written_csv(FILE *to, const char *text, size_t len);

#endif
