/* svg_text.c - text that grows, and text as XML has it. */
#define _GNU_SOURCE /* strnlen */
#include "host/plot/internal.h"

#include "host/base/written.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for n more bytes and a NUL. */
static bool text_grow(struct plot_text *t, size_t n)
{
    size_t room = t->room;
    char *bytes;

    while (!t->failed && room - t->len <= n)
        room = 2 * room + 4096;
    if (t->failed || room == t->room)
        return !t->failed;
    bytes = realloc(t->bytes, room);
    if (bytes == NULL) {
        t->failed = true;
        return false;
    }
    t->bytes = bytes;
    t->room = room;
    return true;
}

void plot_put(struct plot_text *t, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || !text_grow(t, (size_t)n)) {
        t->failed = true;
        return;
    }
    va_start(args, format);
    vsnprintf(t->bytes + t->len, t->room - t->len, format, args);
    va_end(args);
    t->len += (size_t)n;
}

/* One character of the text as it may be shown; the bytes it took. */
static size_t text_put(struct plot_text *t, const char *text)
{
    struct written_piece piece;
    const size_t n = written_take(&piece, text, strnlen(text, 4));

    if (piece.len == 1 && strchr("<>&\"'", piece.bytes[0]) != NULL)
        plot_put(t, "&#%u;", (unsigned)piece.bytes[0]);
    else
        plot_put(t, "%s", piece.bytes);
    return n;
}

void plot_put_escaped(struct plot_text *t, const char *text)
{
    while (*text != '\0')
        text += text_put(t, text);
}

/* Scripts from Hangul on have characters about twice as wide as Latin ones. */
static size_t text_columns(const char *text, size_t *n)
{
    struct written_piece piece;

    *n = written_take(&piece, text, strnlen(text, 4));
    if (piece.point == 0)
        return piece.len;
    return piece.point >= 0x1100 ? 2 : 1;
}

size_t plot_columns(const char *text, size_t most)
{
    size_t used = 0, n;

    for (; *text != '\0' && used <= most; text += n)
        used += text_columns(text, &n);
    return used <= most ? used : most;
}

void plot_put_cut(struct plot_text *t, const char *text, size_t columns)
{
    const bool whole = plot_columns(text, columns + 1) <= columns;
    size_t used = whole ? 0 : 1, n; /* the ellipsis */

    while (*text != '\0') {
        used += text_columns(text, &n);
        if (used > columns)
            break;
        text += text_put(t, text);
    }
    if (!whole)
        plot_put(t, "\xe2\x80\xa6");
}

void plot_more(char *text, size_t room, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, room - used, format, args);
    va_end(args);
}
