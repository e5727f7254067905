/*
 * batch_rows.h - in which batches the reports of a tally came (docs/formats.md,
 * 1).
 *
 * A list beside a tally of a shuffled task: a row for each set of terms, in the
 * order of those, none twice. Two tallies' lists add up as their cells do. What
 * is not in a row came otherwise, or nobody knows how.
 */
#ifndef HOST_FORMAT_BATCH_ROWS_H
#define HOST_FORMAT_BATCH_ROWS_H

#include "hearsay.h"

/* Zero it to begin. */
struct batches {
    hsy_batches list[HSY_RECORD_BATCHES_MAX];
    size_t n;
};

/* Whether a row can be: batches, each of at least one report, and terms that a
 * task may have. */
bool batches_fit(const hsy_batches *row);

/* Whether the terms of a come before those of b. */
bool batches_before(const hsy_batches *a, const hsy_batches *b);

/* More batches, which fit. HSY_E_OVERFLOW: too many, or of more terms than
 * there is room for; nothing is changed. */
hsy_status batches_add(struct batches *b, const hsy_batches *more,
                       hsy_error *err);

/* Reports of all of them. */
uint64_t batches_reports(const struct batches *b);

/* A row as it stands in a file. */
#define BATCHES_WIRE 64u

void batches_put(uint8_t wire[BATCHES_WIRE], const hsy_batches *row);
hsy_batches batches_get(const uint8_t wire[BATCHES_WIRE]);

#endif
