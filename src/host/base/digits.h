/* digits.h - whole numbers in decimal digits. */
#ifndef HOST_BASE_DIGITS_H
#define HOST_BASE_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* len digits and nothing else, at least one, as a number of at most `most`;
 * false: it is none. */
static inline bool digits_parse(uint64_t *out, const char *text, size_t len,
                                uint64_t most)
{
    uint64_t x = 0;

    for (size_t i = 0; i < len; i++) {
        const uint64_t digit = (uint64_t)(unsigned char)text[i] - '0';

        if (digit > 9 || digit > most || x > (most - digit) / 10)
            return false;
        x = 10 * x + digit;
    }
    *out = x;
    return len != 0;
}

#endif
