/* bernoulli_bits.h - what the versions of the early-exit generator share. */
#ifndef LIB_KERNELS_BERNOULLI_BITS_H
#define LIB_KERNELS_BERNOULLI_BITS_H

#include "hearsay.h"

#define HSY_SPARSE_DIGITS 8 /* drawn for every lane */

/*
 * Compare lanes with the leading digits of threshold: planes are
 * HSY_SPARSE_DIGITS arrays of `words` words, most significant digit first.
 * Sets bits of lanes that are below, and bits of open that are equal so far.
 */
typedef void hsy_sparse_head(uint64_t *lanes, uint64_t *open,
                             const uint64_t *planes, size_t words,
                             uint64_t threshold);

/* The whole generator around a version of its first step. */
void hsy_sparse_run(uint64_t *lanes, size_t words, uint64_t threshold,
                    hsy_stream *st, hsy_sparse_head *head);

#endif
