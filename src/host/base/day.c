/* day.c - days since 1970 as people write them. */
#include "host/base/day.h"

#include "hearsay.h"
#include "host/base/digits.h"

#include <string.h>

#define DAY_NOON 43200u
#define DAY_LAST 2932897u /* the day after 9999-12-31 */

/* n decimal digits. */
static bool day_number(uint32_t *out, const char *digits, size_t n)
{
    uint64_t x;

    if (!digits_parse(&x, digits, n, UINT32_MAX))
        return false;
    *out = (uint32_t)x;
    return true;
}

static bool day_leap(uint32_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static uint32_t day_month(uint32_t year, uint32_t month)
{
    static const uint8_t lengths[12] = {31, 28, 31, 30, 31, 30,
                                        31, 31, 30, 31, 30, 31};

    return month == 2 && day_leap(year) ? 29u : lengths[month - 1];
}

/* Days of the years from 1 up to this one, without it. */
static uint32_t day_before(uint32_t year)
{
    uint32_t y = year - 1;

    return 365 * y + y / 4 - y / 100 + y / 400;
}

bool day_parse(uint32_t *day, const char *text)
{
    uint32_t y, m, d, days;

    if (strlen(text) != 10 || text[4] != '-' || text[7] != '-' ||
        !day_number(&y, text, 4) || !day_number(&m, text + 5, 2) ||
        !day_number(&d, text + 8, 2) || y < 1970 || m < 1 || m > 12)
        return false;
    if (d < 1 || d > day_month(y, m))
        return false;
    days = day_before(y) - day_before(1970);
    for (uint32_t i = 1; i < m; i++)
        days += day_month(y, i);
    *day = days + d - 1;
    return true;
}

/* HH:MM or HH:MM:SS, then Z. */
static bool day_clock(uint32_t *seconds, const char *text)
{
    const bool whole = strlen(text) == 9;
    uint32_t h, m, s = 0;

    if ((!whole && strlen(text) != 6) || text[2] != ':' ||
        text[whole ? 8 : 5] != 'Z' || !day_number(&h, text, 2) ||
        !day_number(&m, text + 3, 2) || h > 23 || m > 59)
        return false;
    if (whole && (text[5] != ':' || !day_number(&s, text + 6, 2) || s > 59))
        return false;
    *seconds = 3600 * h + 60 * m + s;
    return true;
}

bool day_moment(uint64_t *seconds, const char *text)
{
    char date[11] = "";
    uint32_t day, clock = DAY_NOON;
    int64_t count;

    if (strspn(text, "0123456789") == strlen(text)) {
        if (hsy_decimal_parse(&count, text, strlen(text), 0) != HSY_OK ||
            (uint64_t)count / DAY_SECONDS >= DAY_LAST)
            return false;
        *seconds = (uint64_t)count;
        return true;
    }
    if (strlen(text) < 10)
        return false;
    memcpy(date, text, 10);
    if (!day_parse(&day, date) ||
        (text[10] != '\0' &&
         (text[10] != 'T' || !day_clock(&clock, text + 11))))
        return false;
    *seconds = (uint64_t)day * DAY_SECONDS + clock;
    return true;
}
