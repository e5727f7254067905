/* utf8.h - one character of UTF-8 at a time. */
#ifndef LIB_BITS_UTF8_H
#define LIB_BITS_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The length of the sequence that p[0..left) begins with, left > 0, and its
 * character; 0 if it is none: no overlong form, no surrogate, nothing above
 * U+10FFFF [RFC 3629]. */
static inline size_t utf8_one(uint32_t *c, const uint8_t *p, size_t left)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = p[0] < 0x80   ? 1
               : p[0] < 0xc0 ? 0
               : p[0] < 0xe0 ? 2
               : p[0] < 0xf0 ? 3
               : p[0] < 0xf8 ? 4
                             : 0;

    if (n == 0 || n > left)
        return 0;
    *c = n == 1 ? p[0] : p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        *c = *c << 6 | (p[i] & 0x3fu);
    }
    if (*c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000))
        return 0;
    return n;
}

#endif
