/* tape.c - see tape.h. */

#include "rig/tape.h"

hsy_status tape_fill(void *ctx, void *buf, size_t len)
{
    struct tape *t = ctx;

    if (t->left < len)
        return HSY_E_ENTROPY;
    memcpy(buf, t->bytes, len);
    t->bytes = (const uint8_t *)t->bytes + len;
    t->left -= len;
    return HSY_OK;
}

hsy_status tape_word_fill(void *ctx, void *buf, size_t len)
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
