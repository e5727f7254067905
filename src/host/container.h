/*
 * container.h - report streams and tally files, on descriptors.
 *
 * Both are a prefix and records (docs/formats.md); the JSON twin of a report
 * stream reads the same. A reader yields them one by one in bounded memory.
 */
#ifndef CONTAINER_H
#define CONTAINER_H

#include "hearsay.h"
#include "output.h"

enum container_item_type {
    CONTAINER_PREFIX = 1, /* a file begins: prefix, wire, labels are set */
    CONTAINER_RECORD = 2  /* record and payload are set, checksums hold */
};

struct container_item {
    enum container_item_type type;
    hsy_prefix prefix;
    const uint8_t *wire; /* HSY_SCHEME_WIRE bytes */
    const uint8_t *labels;
    hsy_record record;
    const uint8_t *payload;
};

struct container_reader;

/* Read from fd, which stays the caller's. NULL: out of memory. */
struct container_reader *container_open(int fd);

/*
 * The next item; what it points to lasts until the next call. HSY_E_END at the
 * end of the input, if the last file in it was complete; an empty input is
 * malformed. HSY_E_FORMAT (err says where: line is the record's number in its
 * file, 0 for the prefix, or the line of JSON), HSY_E_IO with errno set,
 * HSY_E_NOMEM. END records are checked against what came before and are
 * yielded too.
 */
hsy_status container_next(struct container_reader *r,
                          struct container_item *item, hsy_error *err);

/* NULL is allowed. */
void container_close(struct container_reader *r);

/* Write a prefix with its scheme and labels (NULL if labels_len is 0).
 * HSY_E_RANGE: those are not the scheme's. */
hsy_status container_put_prefix(struct output *out, const hsy_scheme *s,
                                const uint8_t *labels, size_t labels_len,
                                hsy_content content);

/* n packed reports, cut into records as needed. */
hsy_status container_put_reports(struct output *out, const hsy_scheme *s,
                                 const uint8_t *packed, size_t n);
hsy_status container_put_end(struct output *out, uint64_t reports);

/* A whole tally file. */
hsy_status container_put_tally(struct output *out, const hsy_scheme *s,
                               const uint8_t *labels, size_t labels_len,
                               const hsy_tally *t);

/* Add one record of a tally file to t, a tally of the same scheme; an END adds
 * nothing. All or nothing: HSY_E_FORMAT, HSY_E_OVERFLOW. */
hsy_status container_add_record(hsy_tally *t, const hsy_record *record,
                                const uint8_t *payload, hsy_error *err);

/* The readable twin: a header line, then a line a report. The head fails with
 * HSY_E_RANGE, and writes nothing, if a label is not UTF-8 or the line would
 * pass 16 MiB. */
hsy_status container_put_json_head(struct output *out, const hsy_scheme *s,
                                   const uint8_t *labels, size_t labels_len);
hsy_status container_put_json_reports(struct output *out, const hsy_scheme *s,
                                      const uint8_t *reports, size_t n);
hsy_status container_put_json_end(struct output *out, uint64_t reports);

#endif
