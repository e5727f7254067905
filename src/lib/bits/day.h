/* day.h - days since 1970 as dates. */
#ifndef LIB_BITS_DAY_H
#define LIB_BITS_DAY_H

#include <stddef.h>
#include <stdint.h>

#define DAY_SECONDS 86400u
#define DAY_TEXT 16 /* bytes of a date, the end of the string included */

/* The decimal digits of x, before end; where they begin. */
static inline char *day_digits(char *end, uint64_t x)
{
    do {
        *--end = (char)('0' + x % 10);
        x /= 10;
    } while (x != 0);
    return end;
}

/* Two of them. */
static inline char *day_two(char *end, uint64_t x)
{
    *--end = (char)('0' + x % 10);
    *--end = (char)('0' + x / 10);
    return end;
}

/* A day as 2026-02-16: in years that begin in March a leap day comes last. */
static inline void day_text(char text[DAY_TEXT], uint32_t day)
{
    const uint64_t z = (uint64_t)day + 719468;
    const uint64_t era = z / 146097, doe = z % 146097;
    const uint64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    const uint64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    const uint64_t march = (5 * doy + 2) / 153;
    const uint64_t month = march < 10 ? march + 3 : march - 9;
    char made[DAY_TEXT], *at = made + DAY_TEXT;

    *--at = '\0';
    at = day_two(at, doy - (153 * march + 2) / 5 + 1);
    *--at = '-';
    at = day_two(at, month);
    *--at = '-';
    at = day_digits(at, yoe + 400 * era + (month <= 2));
    for (size_t i = 0; at + i < made + DAY_TEXT; i++)
        text[i] = at[i];
}

#endif
