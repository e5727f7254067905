/* hex.h - bytes as hexadecimal digits, two each. */
#ifndef LIB_BITS_HEX_H
#define LIB_BITS_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The digit of x < 16. Neither branch nor address depends on x: keys are
 * written this way too. */
static inline char hex_digit(unsigned x)
{
    return (char)('0' + x + (((9 - x) >> 8) & ('a' - '0' - 10)));
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

/* The value of a digit in either case, 16 for anything else. */
static inline unsigned hex_value(char c)
{
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                  : 16;
}

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

/* The same of digits as hex_put writes them, for there is one way only. */
static inline bool hex_get(uint8_t *out, size_t n, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] >= 'A' && text[i] <= 'F')
            return false;
    return hex_any(out, n, text, len);
}

#endif
