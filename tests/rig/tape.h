/* tape.h - random sources that play what they are given: bytes, failing past
 * their end, or one word before a stream. */
#ifndef TAPE_H
#define TAPE_H

#include "hearsay.h"

#include <stdbool.h>
#include <string.h>

struct tape {
    const void *bytes;
    size_t left;
};

hsy_status tape_fill(void *ctx, void *buf, size_t len);

struct tape_word {
    uint64_t first; /* drawn as a whole, or the source fails */
    bool used;
    hsy_stream rest;
};

hsy_status tape_word_fill(void *ctx, void *buf, size_t len);

#endif
