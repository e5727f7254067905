/*
 * output.h - an output that is whole or not there.
 *
 * A named file is written beside its place and renamed on commit, so a failure
 * leaves nothing half-written; where the file system knows files without a
 * name, neither does a process that is killed. Standard output is written
 * through a buffer.
 */
#ifndef HOST_BASE_OUTPUT_H
#define HOST_BASE_OUTPUT_H

#include "hearsay.h"

struct output;

/* path NULL: standard output. HSY_E_IO with errno set, or HSY_E_NOMEM. */
hsy_status output_open(struct output **out, const char *path);

/* An output into memory. HSY_E_NOMEM. */
hsy_status output_memory(struct output **out);

/* All that was written into memory, the caller's to free. Frees out either way.
 * HSY_E_NOMEM. */
hsy_status output_take(struct output *out, uint8_t **bytes, size_t *len);

/* Buffered; an error is remembered and returned again by commit. */
hsy_status output_write(struct output *out, const void *data, size_t len);

/* Flush, sync and rename a file; flush standard output. Frees out either way.
 * HSY_E_IO with errno set if anything was lost. */
hsy_status output_commit(struct output *out);

/* Drop what was not committed and free. NULL is allowed. */
void output_abort(struct output *out);

#endif
