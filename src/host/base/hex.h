/* hex.h - hexadecimal digits in files. */
#ifndef HOST_BASE_HEX_H
#define HOST_BASE_HEX_H

#include "lib/bits/hex.h"

/* n bytes of digits, then nothing but the line's end. */
static inline bool hex_line(uint8_t *out, size_t n, const char *text,
                            size_t len)
{
    while (len > 2 * n && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        len--;
    return hex_any(out, n, text, len);
}

#endif
