/*
 * shown_bytes.h - a view of what is shown, as bytes of a row.
 *
 * A byte 1; the digest; then numbers in groups of seven bits, the low first, of
 * which all but the last have the high bit: generation, kept, gone, how many
 * epochs and how many blocks. Of each epoch: what it is beyond the one before;
 * reports, own, nulls; batches, least, reports of all and of its own. Of each
 * block: what its first day is beyond the last of the one before; what its last
 * is beyond its first; over.
 */
#ifndef SERVER_CLUSTER_SHOWN_BYTES_H
#define SERVER_CLUSTER_SHOWN_BYTES_H

#include "server/collector/shown/shown_keep.h"

/* *out is to be freed. */
hsy_status shown_bytes_write(uint8_t **out, size_t *len,
                             const struct shown_view *v, hsy_error *err);

/* Into a view without a version, to be cleared. HSY_E_DAMAGED: no view has such
 * bytes. */
hsy_status shown_bytes_read(struct shown_view *out, const uint8_t *bytes,
                            size_t len, hsy_error *err);

#endif
