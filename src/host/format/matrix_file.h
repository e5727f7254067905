/* matrix_file.h - a channel's matrix from a file. */
#ifndef HOST_FORMAT_MATRIX_FILE_H
#define HOST_FORMAT_MATRIX_FILE_H

#include "hearsay.h"

/* In the library's encoding; bytes is owned. */
struct matrix_file {
    uint8_t *bytes;
    size_t len;
    uint32_t d;
};

/* Where it is wrong. */
struct matrix_wrong {
    size_t line, field;   /* from 1; field 0: the line, line 0: all of it */
    size_t lines, fields; /* of the file; of a line: those it has ... */
    size_t wanted;        /* ... and those that the first has */
};

/* Read a square of probabilities: one line an answer y, one field a truth x,
 * separated by commas, P(y|x) as a decimal or a fraction. HSY_E_FORMAT with
 * *wrong, or as lines_next if it is zero; HSY_E_NOMEM. */
hsy_status matrix_file_read(struct matrix_file *out, struct matrix_wrong *wrong,
                            int fd, hsy_error *err);

/* Append a list's labels, as a spec has them; they stay whose they are. */
hsy_status matrix_file_append(struct matrix_file *m, const uint8_t *labels,
                              size_t len, hsy_error *err);

#endif
