/*
 * format.h - report streams and tally files, on descriptors.
 *
 * Both are a prefix and records (docs/formats.md); the JSON twin of a report
 * stream reads the same. A reader yields them one by one in bounded memory.
 */
#ifndef HOST_FORMAT_FORMAT_H
#define HOST_FORMAT_FORMAT_H

#include "hearsay.h"
#include "host/base/output.h"
#include "host/format/batch_rows.h"
#include "host/format/rounds.h"

enum container_item_type {
    CONTAINER_PREFIX = 1, /* a file begins: prefix, scheme, labels are set */
    CONTAINER_RECORD = 2  /* record and payload are set, checksums hold */
};

struct container_item {
    enum container_item_type type;
    uint32_t unit; /* what line counts: HSY_UNIT_RECORD, or LINE of JSON */
    uint64_t line; /* in its file, from 1; 0: the prefix. Reports from JSON:
                    * the line of the first of them */
    hsy_file_header prefix;
    const hsy_scheme *scheme; /* until the next file begins */
    const uint8_t *labels;
    hsy_record record;
    const uint8_t *payload;
};

struct container_reader;

/* Read from fd, which stays the caller's. NULL: out of memory. */
struct container_reader *container_open(int fd);

/* The same from bytes in memory, which are copied. */
struct container_reader *container_open_bytes(const uint8_t *bytes, size_t len);

/*
 * The next item; what it points to lasts until the next call. HSY_E_END at the
 * end of the input, if the last file in it was complete; an empty input is
 * malformed. HSY_E_FORMAT, HSY_E_IO with errno set, HSY_E_NOMEM. END records
 * are checked against what came before and are yielded too.
 *
 * Whatever is returned, item->unit and item->line say where the reader is; on
 * failure err->at is the same number and the rest of item is zero. A message
 * reads "FILE: UNIT LINE: ...", without UNIT and LINE if that is 0.
 */
hsy_status container_next(struct container_reader *r,
                          struct container_item *item, hsy_error *err);

/* The scheme of the last item, the caller's from now on: to free, but not
 * before the next file begins or the reader is closed. */
hsy_scheme *container_keep_scheme(struct container_reader *r);

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

/* A whole tally file; rounds of its reports NULL or none: they are not known;
 * batches NULL or none: nothing says that it was shuffled. */
hsy_status container_put_tally(struct output *out, const hsy_scheme *s,
                               const uint8_t *labels, size_t labels_len,
                               const hsy_tally *t, const struct rounds *rounds,
                               const struct batches *batches);

/* Add one record of a tally file to t, a tally of the same scheme; ROUNDS,
 * BATCHES and END add nothing. All or nothing: HSY_E_FORMAT, HSY_E_OVERFLOW. */
hsy_status container_add_record(hsy_tally *t, const hsy_record *record,
                                const uint8_t *payload, hsy_error *err);

/* Add one to a list of rounds; others than ROUNDS add nothing. HSY_E_NOMEM,
 * HSY_E_OVERFLOW. */
hsy_status container_add_rounds(struct rounds *rounds, const hsy_record *record,
                                const uint8_t *payload, hsy_error *err);

/* The same to a list of batches. HSY_E_OVERFLOW. */
hsy_status container_add_batches(struct batches *batches,
                                 const hsy_record *record,
                                 const uint8_t *payload, hsy_error *err);

/* The readable twin: a header line, then a line a report. The head fails and
 * writes nothing with HSY_E_RANGE if a label is not UTF-8, the line would pass
 * 64 MiB, or the labels are not the scheme's, and with HSY_E_NOMEM: then err
 * says what, and the output is whole. HSY_E_IO as output_write; err is as it
 * was. */
hsy_status container_put_json_head(struct output *out, const hsy_scheme *s,
                                   const uint8_t *labels, size_t labels_len,
                                   hsy_error *err);
hsy_status container_put_json_reports(struct output *out, const hsy_scheme *s,
                                      const uint8_t *reports, size_t n);
hsy_status container_put_json_end(struct output *out, uint64_t reports);

#endif
