/* entropy.h - kernel randomness with the system call as an argument. */
#ifndef LIB_CORE_ENTROPY_H
#define LIB_CORE_ENTROPY_H

#include "hearsay.h"

#include <sys/types.h>

/* Up to here a draw is the kernel's own bytes. */
#define HSY_ENTROPY_BATCH 512u

/* As getrandom(2) without flags: how many bytes were written, or -1 and
 * errno. */
typedef ssize_t entropy_source(void *ctx, void *buf, size_t len);

/* Fill buf from source. On HSY_E_ENTROPY buf is untouched. */
hsy_status hsy_entropy_fill_from(void *buf, size_t len, entropy_source *source,
                                 void *ctx);

#endif
