/* entropy.h - kernel randomness with the system call as an argument. */
#ifndef HSY_ENTROPY_H
#define HSY_ENTROPY_H

#include "hearsay.h"

#include <sys/types.h>

/* As getrandom(2) without flags: how many bytes were written, or -1 and
 * errno. */
typedef ssize_t entropy_source(void *ctx, void *buf, size_t len);

/* Fill buf from the batch and, where it does not suffice, from source. On
 * HSY_E_ENTROPY buf is untouched. */
hsy_status hsy_entropy_fill_from(struct hsy_entropy_batch *batch, void *buf,
                                 size_t len, entropy_source *source, void *ctx);

#endif
