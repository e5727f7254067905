/* input.c - a descriptor read through a growing buffer. */
#include "host/base/files.h"
#include "host/format/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONTAINER_INPUT_START 65536u

hsy_status container_input_open(struct container_input *in, int fd)
{
    in->fd = fd;
    in->ended = false;
    in->begin = in->end = 0;
    in->capacity = CONTAINER_INPUT_START;
    in->bytes = malloc(in->capacity);
    return in->bytes == NULL ? HSY_E_NOMEM : HSY_OK;
}

/* Nothing comes after them, so there is nothing to read. */
hsy_status container_input_bytes(struct container_input *in,
                                 const uint8_t *bytes, size_t len)
{
    *in = (struct container_input){
        .fd = -1, .ended = true, .capacity = len + 1, .end = len};
    in->bytes = malloc(in->capacity);
    if (in->bytes == NULL)
        return HSY_E_NOMEM;
    if (len != 0)
        memcpy(in->bytes, bytes, len);
    return HSY_OK;
}

void container_input_close(struct container_input *in)
{
    free(in->bytes);
    in->bytes = NULL;
}

/* Free space at the end: move what is left to the front, or grow. */
static hsy_status container_input_room(struct container_input *in)
{
    uint8_t *more;

    if (in->begin != 0) {
        memmove(in->bytes, in->bytes + in->begin, in->end - in->begin);
        in->end -= in->begin;
        in->begin = 0;
    }
    if (in->end < in->capacity)
        return HSY_OK;
    more = realloc(in->bytes, 2 * in->capacity);
    if (more == NULL)
        return HSY_E_NOMEM;
    in->bytes = more;
    in->capacity *= 2;
    return HSY_OK;
}

/* Some more bytes, or in->ended. */
static hsy_status container_input_more(struct container_input *in)
{
    ssize_t got;

    if (in->end == in->capacity) {
        hsy_status st = container_input_room(in);

        if (st != HSY_OK)
            return st;
    }
    do
        got = read(in->fd, in->bytes + in->end, in->capacity - in->end);
    while (got == -1 && retry_read(in->fd));
    if (got == -1)
        return HSY_E_IO;
    in->ended = got == 0;
    in->end += (size_t)got;
    return HSY_OK;
}

hsy_status container_input_need(struct container_input *in, size_t n)
{
    while (in->end - in->begin < n) {
        hsy_status st = in->ended ? HSY_E_END : container_input_more(in);

        if (st != HSY_OK)
            return st;
    }
    return HSY_OK;
}

hsy_status container_input_line(struct container_input *in, size_t max,
                                size_t *len)
{
    size_t seen = 0;

    for (;;) {
        size_t have = in->end - in->begin;
        size_t look = have < max ? have : max;
        const uint8_t *from = in->bytes + in->begin + seen;
        const uint8_t *newline = memchr(from, '\n', look - seen);
        hsy_status st;

        if (newline != NULL) {
            *len = seen + (size_t)(newline - from) + 1;
            return HSY_OK;
        }
        if (have >= max)
            return HSY_E_RANGE;
        seen = look;
        st = container_input_need(in, have + 1);
        if (st != HSY_OK)
            return st;
    }
}

const uint8_t *container_input_take(struct container_input *in, size_t n)
{
    const uint8_t *taken = in->bytes + in->begin;

    in->begin += n;
    return taken;
}
