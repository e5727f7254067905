/* svg_text.c - text as XML has it. */
#define _GNU_SOURCE /* strnlen */
#include "host/plot/internal.h"

#include "host/base/written.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One character of the text as it may be shown; the bytes it took. */
static size_t text_put(FILE *t, const char *text)
{
    struct written_piece piece;
    const size_t n = written_take(&piece, text, strnlen(text, 4));

    if (piece.len == 1 && strchr("<>&\"'", piece.bytes[0]) != NULL)
        fprintf(t, "&#%u;", (unsigned)piece.bytes[0]);
    else
        fputs(piece.bytes, t);
    return n;
}

void plot_put_escaped(FILE *t, const char *text)
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

void plot_put_cut(FILE *t, const char *text, size_t columns)
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
        fputs("\xe2\x80\xa6", t);
}

void plot_more(char *text, size_t room, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, room - used, format, args);
    va_end(args);
}
