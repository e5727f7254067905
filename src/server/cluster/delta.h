/*
 * delta.h - what a batch adds to a small tally, as bytes of a row.
 *
 * Of each word that is not 0, ascending: how many words stand between it and
 * the one before, and what is added to it, x as 2x or -x as 2x - 1. Both are in
 * groups of seven bits, the low first, of which all but the last have the high
 * bit, and no more of them than are needed.
 *
 * A database does not overwrite what it deletes, and its log and archives keep
 * it: the sum of many reports says less than each of them, and is shorter.
 */
#ifndef SERVER_CLUSTER_DELTA_H
#define SERVER_CLUSTER_DELTA_H

#include "server/engine/fold.h"

#define DELTA_WORDS                                                            \
    4096u /* of the largest tally; more take too long to sum                   \
           */

/* Write a number so, and on: at most ten bytes. */
uint8_t *delta_number(uint8_t *p, uint64_t x);

size_t delta_size(const int64_t *words, size_t n);
void delta_write(uint8_t *to, const int64_t *words, size_t n);

/* Add it to words. HSY_E_DAMAGED, HSY_E_OVERFLOW: some of it may have been. */
hsy_status delta_add(int64_t *words, size_t n, const uint8_t *bytes, size_t len,
                     hsy_error *err);

/* Put their sum in the place of a batch's reports (STORE_REPORTS) if it is
 * shorter; false: they are as they were. */
bool delta_sum(struct fold_space *space, const struct roster_entry *is,
               uint8_t *bytes, size_t *len);

#endif
