/* hex.h - bytes as hexadecimal digits, two each. */
#ifndef LIB_BITS_HEX_H
#define LIB_BITS_HEX_H

/* The digit of x < 16. Neither branch nor address depends on x: keys are
 * written this way too. */
static inline char hex_digit(unsigned x)
{
    return (char)('0' + x + (((9 - x) >> 8) & ('a' - '0' - 10)));
}

/* The value of a digit in either case, 16 for anything else. */
static inline unsigned hex_value(char c)
{
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                  : 16;
}

#endif
