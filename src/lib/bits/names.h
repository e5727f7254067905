/* names.h - names, lines of text and days, as heads and documents hold them. */
#ifndef LIB_BITS_NAMES_H
#define LIB_BITS_NAMES_H

#include "lib/bits/utf8.h"

#include <stdbool.h>
#include <string.h>

#define NAMES_DAYS 2932897u /* the day after 9999-12-31 */

/* 1 to max letters of a name, then its end. */
static inline bool names_ok(const char *name, size_t max)
{
    size_t len = 0;

    while (len <= max && name[len] != '\0') {
        char c = name[len++];

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '.' &&
            c != '_' && c != '-')
            return false;
    }
    return len >= 1 && len <= max;
}

/* One line of text that a person can read, 1 to max bytes: no control character
 * (C0, DEL, C1), no line or paragraph separator, and nothing that turns the
 * direction of writing, so that it reads as it was written. */
static inline bool names_line(const char *text, size_t len, size_t max)
{
    const uint8_t *p = (const uint8_t *)text;
    uint32_t c;

    if (len < 1 || len > max)
        return false;
    for (size_t at = 0, n; at < len; at += n) {
        n = utf8_one(&c, p + at, len - at);
        if (n == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0) ||
            (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
            return false;
    }
    return true;
}

/* How long a text is that ends within max bytes; max + 1 if it does not. */
static inline size_t names_length(const char *text, size_t max)
{
    size_t len = 0;

    while (len <= max && text[len] != '\0')
        len++;
    return len;
}

/* Into a place that is zero already. */
static inline void names_put(uint8_t *to, const char *name)
{
    memcpy(to, name, strlen(name));
}

/* Whether letters are followed by zeros up to the end; as text in name. */
static inline bool names_get(char *name, const uint8_t *from, size_t max)
{
    size_t len = 0;

    while (len < max && from[len] != 0)
        len++;
    memcpy(name, from, max);
    name[max] = '\0';
    while (len < max && from[len] == 0)
        len++;
    return len == max;
}

#endif
