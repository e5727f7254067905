/* plot_text.c - text that grows, and text as XML has it. */
#include "plot_parts.h"

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

/* The code point that a text begins with and the bytes it takes: U+FFFD and
 * one byte for what is no UTF-8 [RFC 3629] or no character of XML. */
static uint32_t text_point(const uint8_t *p, size_t *n)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    uint32_t c = len == 1 ? p[0] : p[0] & (0x7fu >> len);

    *n = 1;
    if ((p[0] >= 0x80 && p[0] < 0xc0) || p[0] >= 0xf8)
        return 0xfffd;
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80) /* the final NUL included */
            return 0xfffd;
        c = c << 6 | (p[i] & 0x3fu);
    }
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ||
        c == 0xfffe || c == 0xffff || c == 0x7f || (c < 0x20 && c != '\t'))
        return 0xfffd;
    *n = len;
    return c;
}

/* One code point of the text; the bytes it took. */
static size_t text_put(struct plot_text *t, const char *text, uint32_t *c)
{
    size_t n;

    *c = text_point((const uint8_t *)text, &n);
    if (*c == 0xfffd)
        plot_put(t, "\xef\xbf\xbd");
    else if (*c < 0x80 && strchr("<>&\"'", (int)*c) != NULL)
        plot_put(t, "&#%u;", (unsigned)*c);
    else
        plot_put(t, "%.*s", (int)n, text);
    return n;
}

void plot_put_escaped(struct plot_text *t, const char *text)
{
    uint32_t c;

    while (*text != '\0')
        text += text_put(t, text, &c);
}

/* Scripts from Hangul on have characters about twice as wide as Latin ones. */
static size_t text_columns(const char *text)
{
    size_t columns = 0, n;

    for (; *text != '\0'; text += n)
        columns += text_point((const uint8_t *)text, &n) >= 0x1100 ? 2 : 1;
    return columns;
}

void plot_put_cut(struct plot_text *t, const char *text, size_t columns)
{
    const bool whole = text_columns(text) <= columns;
    size_t used = whole ? 0 : 1; /* the ellipsis */

    while (*text != '\0') {
        size_t n;
        uint32_t c = text_point((const uint8_t *)text, &n);

        used += c >= 0x1100 ? 2 : 1;
        if (used > columns)
            break;
        text += text_put(t, text, &c);
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
