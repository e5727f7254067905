/*
 * rappor_csv.h - lines of CSV [RFC 4180] from a file.
 *
 * Strict: no byte-order mark, no NUL, no empty line, no line end in quotes.
 */
#ifndef HOST_FORMAT_RAPPOR_CSV_H
#define HOST_FORMAT_RAPPOR_CSV_H

#include "hearsay.h"

struct rappor_csv {
    int fd;       /* -1: none */
    char *buffer; /* owned */
    size_t begin, end, room;
    bool ended;
    uint64_t line; /* of the last one read, from 1 */
    char **fields; /* owned array, into buffer; until the next line */
    size_t nfields, fields_room;
};

/* HSY_E_IO with errno set. "-" is the standard input. Close it in either case.
 */
hsy_status rappor_csv_open(struct rappor_csv *c, const char *path);
void rappor_csv_close(struct rappor_csv *c);

/* The next line, split. HSY_E_END, HSY_E_FORMAT with err->at, HSY_E_IO,
 * HSY_E_NOMEM. */
hsy_status rappor_csv_next(struct rappor_csv *c, hsy_error *err);

/* HSY_E_FORMAT about the line read last. */
hsy_status rappor_csv_bad(const struct rappor_csv *c, hsy_error *err,
                          uint32_t field, const char *msg);

/* A field as an unsigned decimal up to most; digits only. */
bool rappor_csv_count(const char *text, uint64_t most, uint64_t *out);

#endif
