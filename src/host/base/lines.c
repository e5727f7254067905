/*
 * lines.c - lines at the speed of memory.
 *
 * Large reads into one buffer; line ends are found 64 bytes at a time, as the
 * set bits of a mask.
 */
#define _DEFAULT_SOURCE
#include "host/base/lines.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define LINES_READ (256u << 10)
#define LINES_SPARE                                                            \
    HSY_STRING_MAX /* as struct line promises; a mask takes 64 */
#define LINES_ROOM (LINES_READ + LINES_LONGEST + 2)

hsy_status lines_open(struct lines *r, int fd)
{
    *r = (struct lines){.fd = fd};
    r->buffer = calloc(1, LINES_ROOM + LINES_SPARE);
    return r->buffer != NULL ? HSY_OK : HSY_E_NOMEM;
}

void lines_close(struct lines *r)
{
    if (r->buffer != NULL)
        explicit_bzero(r->buffer, LINES_ROOM + LINES_SPARE);
    free(r->buffer);
    *r = (struct lines){.fd = -1};
}

/* Bit i is set where p[i] is a newline, for i < 64. */
static uint64_t lines_mask(const uint8_t *p)
{
    uint64_t mask = 0;

#if defined(__SSE2__)
    const __m128i newline = _mm_set1_epi8('\n');

    for (int i = 0; i < 4; i++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(p + 16 * i));
        int found = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, newline));

        mask |= (uint64_t)(uint32_t)found << (16 * i);
    }
#else
    for (int i = 0; i < 64; i++)
        mask |= (uint64_t)(p[i] == '\n') << i;
#endif
    return mask;
}

static struct line lines_trim(const uint8_t *text, size_t len)
{
    if (len > 0 && text[len - 1] == '\r')
        len--;
    return (struct line){.text = text, .len = len};
}

/* Whole lines that are in the buffer already, up to max. */
static size_t lines_split(struct lines *r, struct line *lines, size_t max)
{
    size_t begin = r->begin, n = 0;

    for (size_t at = begin; at < r->end; at += 64) {
        uint64_t mask = lines_mask(r->buffer + at);

        if (r->end - at < 64)
            mask &= ((uint64_t)1 << (r->end - at)) - 1;
        for (; mask != 0; mask &= mask - 1) {
            size_t end = at + (size_t)__builtin_ctzll(mask);

            lines[n++] = lines_trim(r->buffer + begin, end - begin);
            begin = end + 1;
            if (n == max)
                goto full;
        }
    }
full:
    r->begin = begin;
    return n;
}

/* Read more behind what is left of the last line. */
static hsy_status lines_refill(struct lines *r)
{
    ssize_t got;

    memmove(r->buffer, r->buffer + r->begin, r->end - r->begin);
    r->end -= r->begin;
    r->begin = 0;
    do
        got = read(r->fd, r->buffer + r->end, LINES_ROOM - r->end);
    while (got == -1 && retry_read(r->fd));
    if (got == -1)
        return HSY_E_IO;
    r->end += (size_t)got;
    r->ended = got == 0;
    return HSY_OK;
}

/* The last line may lack its end. */
static size_t lines_last(struct lines *r, struct line *lines)
{
    size_t len = r->end - r->begin;

    if (len == 0)
        return 0;
    lines[0] = lines_trim(r->buffer + r->begin, len);
    r->begin = r->end;
    return 1;
}

static bool lines_fit(const struct line *lines, size_t n, size_t *bad)
{
    for (size_t i = 0; i < n; i++) {
        if (lines[i].len > LINES_LONGEST) {
            *bad = i;
            return false;
        }
    }
    return true;
}

/* Whether the first line begins with a byte-order mark that is not taken off.
 */
static bool lines_mark(struct line *first, bool take_off)
{
    if (first->len < 3 || memcmp(first->text, "\xef\xbb\xbf", 3) != 0)
        return false;
    if (take_off) {
        first->text += 3;
        first->len -= 3;
    }
    return !take_off;
}

hsy_status lines_next(struct lines *r, struct line *lines, size_t max,
                      size_t *count, hsy_error *err)
{
    size_t n = lines_split(r, lines, max), bad = 0;

    while (n == 0 && !r->ended && r->end - r->begin <= LINES_LONGEST + 1) {
        hsy_status st = lines_refill(r);

        if (st != HSY_OK)
            return host_fail(err, st, HSY_FIELD_NONE, strerror(errno));
        n = lines_split(r, lines, max);
    }
    if (n == 0)
        n = lines_last(r, lines);
    if (r->number == 0 && n != 0 && lines_mark(&lines[0], r->marked))
        return host_fail_at(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                            "begins with a byte-order mark; save it as "
                            "UTF-8 without one",
                            HSY_UNIT_LINE, 1);
    if (!lines_fit(lines, n, &bad))
        return host_fail_at(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                            "longer than 65536 bytes", HSY_UNIT_LINE,
                            r->number + bad + 1);
    r->number += n;
    *count = n;
    return HSY_OK;
}

hsy_status lines_each(int fd, bool marked,
                      hsy_status (*take)(void *ctx, const struct line *line,
                                         uint64_t number, hsy_error *err),
                      void *ctx, hsy_error *err)
{
    struct lines lines;
    struct line line;
    size_t count = 1;
    hsy_status st = lines_open(&lines, fd);

    if (st != HSY_OK)
        return host_nomem(err);
    lines.marked = marked;
    while (st == HSY_OK && count != 0) {
        st = lines_next(&lines, &line, 1, &count, err);
        if (st == HSY_OK && count != 0)
            st = take(ctx, &line, lines.number, err);
    }
    lines_close(&lines);
    return st;
}
