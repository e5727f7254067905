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

struct tape_word {
    uint64_t first; /* drawn as a whole, or the source fails */
    bool used;
    hsy_stream rest;
};

static inline hsy_status tape_word_fill(void *ctx, void *buf, size_t len)
{
    struct tape_word *w = ctx;
    hsy_rng rng = hsy_stream_rng(&w->rest);

    if (w->used)
        return rng.fill(rng.ctx, buf, len);
    if (len != 8)
        return HSY_E_ENTROPY;
    w->used = true;
    for (size_t i = 0; i < 8; i++)
        ((uint8_t *)buf)[i] = (uint8_t)(w->first >> 8 * i);
    return HSY_OK;
}

#endif
