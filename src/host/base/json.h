/*
 * json.h - JSON [RFC 8259] written into memory or to a stream, member by
 * member.
 *
 * A name is NULL inside an array. What fails is remembered and said at the end.
 */
#ifndef HOST_BASE_JSON_H
#define HOST_BASE_JSON_H

#include "hearsay.h"
#include "host/base/day.h"
#include "host/base/written.h"

struct put {
    FILE *to;
    struct written in; /* what is put into memory */
    bool comma;        /* something stands before the next member */
    bool tight;        /* no blanks */
    unsigned depth;    /* open objects and arrays */
    uint32_t lines;    /* bit i: what stands in the one at depth i has lines */
};

/* Begin the outermost object; put_close ends it. HSY_E_NOMEM. */
hsy_status put_open(struct put *p, hsy_error *err);

/* The same without blanks, for machines. */
hsy_status put_open_tight(struct put *p, hsy_error *err);

/* The text, to be freed, of *len bytes without the NUL after them. */
hsy_status put_close(struct put *p, char **text, size_t *len, hsy_error *err);
void put_abort(struct put *p);

/* The same to a stream, a line for each member of the outermost object: for
 * people. Whether it was written the stream says. */
void put_begin(struct put *p, FILE *to);
void put_finish(struct put *p);

void put_object(struct put *p, const char *name);
void put_array(struct put *p, const char *name);
void put_array_lines(struct put *p, const char *name); /* a line an element */
void put_end(struct put *p, char bracket);             /* '}' or ']' */

void put_text(struct put *p, const char *name, const char *text, size_t len);
void put_word(struct put *p, const char *name, const char *word); /* or NULL */
void put_number(struct put *p, const char *name, double x); /* NaN: null */
void put_estimate(struct put *p, const hsy_estimate *e);    /* its members */
void put_count(struct put *p, const char *name, uint64_t n);
void put_bool(struct put *p, const char *name, bool truth);
void put_null(struct put *p, const char *name);
void put_hex(struct put *p, const char *name, const uint8_t *bytes, size_t n);
void put_json(struct put *p, const char *name, const char *json, size_t len);

/* A day since 1970 as "2026-11-16". */
void put_day(struct put *p, const char *name, uint32_t day);

#endif
