/* tape.h - a random source that plays given bytes, and fails past their end. */
#ifndef TAPE_H
#define TAPE_H

#include "hearsay.h"
#include <string.h>

struct tape {
    const void *bytes;
    size_t left;
};

static inline hsy_status tape_fill(void *ctx, void *buf, size_t len)
{
    struct tape *t = ctx;

    if (t->left < len)
        return HSY_E_ENTROPY;
    memcpy(buf, t->bytes, len);
    t->bytes = (const uint8_t *)t->bytes + len;
    t->left -= len;
    return HSY_OK;
}

#endif
