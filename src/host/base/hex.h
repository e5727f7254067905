/* hex.h - hexadecimal digits in files. */
#ifndef HOST_BASE_HEX_H
#define HOST_BASE_HEX_H

#include "lib/bits/hex.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* n bytes from just 2n digits; false: it is not that. */
static inline bool hex_any(uint8_t *out, size_t n, const char *text, size_t len)
{
    if (len != 2 * n)
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned high = hex_value(text[2 * i]);
        unsigned low = hex_value(text[2 * i + 1]);

        if (high > 15 || low > 15)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* 2n digits and the end of the string. */
static inline void hex_put(char *text, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = hex_digit(bytes[i] >> 4u);
        text[2 * i + 1] = hex_digit(bytes[i] & 15u);
    }
    text[2 * n] = '\0';
}

/* The same of digits as hex_put writes them, for there is one way only. */
static inline bool hex_get(uint8_t *out, size_t n, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] >= 'A' && text[i] <= 'F')
            return false;
    return hex_any(out, n, text, len);
}

/* n bytes of digits, then nothing but the line's end. */
static inline bool hex_line(uint8_t *out, size_t n, const char *text,
                            size_t len)
{
    while (len > 2 * n && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        len--;
    return hex_any(out, n, text, len);
}

#endif
