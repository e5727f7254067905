/* words.c - what the words of a task file mean: dates. */
#include "host/tasks/internal.h"

#include <string.h>

#define TEXT_DAY 86400u
#define TEXT_NOON 43200u
#define TEXT_DAYS 2932897u /* the day after 9999-12-31 */

/* ---- Dates --------------------------------------------------------------- */

static bool text_number(uint32_t *out, const char *digits, size_t n)
{
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return false;
        *out = *out * 10 + (uint32_t)(digits[i] - '0');
    }
    return true;
}

static bool text_leap(uint32_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static uint32_t text_month(uint32_t year, uint32_t month)
{
    static const uint8_t lengths[12] = {31, 28, 31, 30, 31, 30,
                                        31, 31, 30, 31, 30, 31};

    return month == 2 && text_leap(year) ? 29u : lengths[month - 1];
}

/* Days of the years from 1 up to this one, without it. */
static uint32_t text_days_before(uint32_t year)
{
    uint32_t y = year - 1;

    return 365 * y + y / 4 - y / 100 + y / 400;
}

bool tasks_date(uint32_t *day, const char *text)
{
    uint32_t y, m, d, days;

    if (strlen(text) != 10 || text[4] != '-' || text[7] != '-' ||
        !text_number(&y, text, 4) || !text_number(&m, text + 5, 2) ||
        !text_number(&d, text + 8, 2) || y < 1970 || m < 1 || m > 12)
        return false;
    if (d < 1 || d > text_month(y, m))
        return false;
    days = text_days_before(y) - text_days_before(1970);
    for (uint32_t i = 1; i < m; i++)
        days += text_month(y, i);
    *day = days + d - 1;
    return true;
}

/* HH:MM or HH:MM:SS, then Z. */
static bool text_clock(uint32_t *seconds, const char *text)
{
    const bool whole = strlen(text) == 9;
    uint32_t h, m, s = 0;

    if ((!whole && strlen(text) != 6) || text[2] != ':' ||
        text[whole ? 8 : 5] != 'Z' || !text_number(&h, text, 2) ||
        !text_number(&m, text + 3, 2) || h > 23 || m > 59)
        return false;
    if (whole && (text[5] != ':' || !text_number(&s, text + 6, 2) || s > 59))
        return false;
    *seconds = 3600 * h + 60 * m + s;
    return true;
}

bool tasks_time(uint64_t *seconds, const char *text)
{
    char date[11] = "";
    uint32_t day, clock = TEXT_NOON;
    uint64_t count;

    if (strspn(text, "0123456789") == strlen(text)) {
        if (!yaml_count(&count, text) || count / TEXT_DAY >= TEXT_DAYS)
            return false;
        *seconds = count;
        return true;
    }
    if (strlen(text) < 10)
        return false;
    memcpy(date, text, 10);
    if (!tasks_date(&day, date) ||
        (text[10] != '\0' &&
         (text[10] != 'T' || !text_clock(&clock, text + 11))))
        return false;
    *seconds = (uint64_t)day * TEXT_DAY + clock;
    return true;
}
