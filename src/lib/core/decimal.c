/* decimal.c - decimal text to integers, without floating point or locale. */
#include "hearsay.h"
#include "lib/core/exp.h"

enum decimal_rounding { DECIMAL_DOWN, DECIMAL_HALF_UP };

/* How many digits text begins with. */
static size_t decimal_span(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && text[n] >= '0' && text[n] <= '9')
        n++;
    return n;
}

/* Append n digits to *value; false if it passes limit. */
static bool decimal_append(uint64_t *value, const char *digits, size_t n,
                           uint64_t limit)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t digit = (uint64_t)(digits[i] - '0');

        if (*value > (limit - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return true;
}

/*
 * Parses "digits", "digits.digits" or ".digits" in units of 10^-scale. A
 * remainder is cut or rounded by its first digit, which alone tells whether it
 * is half or more.
 */
static hsy_status decimal_magnitude(uint64_t *value, const char *text,
                                    size_t len, uint32_t scale, uint64_t limit,
                                    enum decimal_rounding rounding)
{
    size_t whole = decimal_span(text, len);
    const char *part = whole < len ? text + whole + 1 : text + len;
    size_t part_len = whole < len ? len - whole - 1 : 0;
    size_t kept = part_len < scale ? part_len : scale;
    uint64_t v = 0;

    if (len == 0 || (whole < len && text[whole] != '.') ||
        (whole < len && part_len == 0) ||
        decimal_span(part, part_len) != part_len)
        return HSY_E_FORMAT;
    if (!decimal_append(&v, text, whole, limit) ||
        !decimal_append(&v, part, kept, limit))
        return HSY_E_RANGE;
    for (size_t i = kept; i < scale; i++)
        if (!decimal_append(&v, "0", 1, limit))
            return HSY_E_RANGE;
    if (rounding == DECIMAL_HALF_UP && kept < part_len && part[kept] >= '5') {
        if (v == limit)
            return HSY_E_RANGE;
        v++;
    }
    *value = v;
    return HSY_OK;
}

hsy_status hsy_decimal_parse(int64_t *number, const char *text, size_t len,
                             uint32_t scale)
{
    bool negative = len > 0 && text[0] == '-';
    uint64_t limit = (uint64_t)INT64_MAX + negative, v;
    hsy_status st;

    if (scale > HSY_SCALE_MAX)
        return HSY_E_RANGE;
    st = decimal_magnitude(&v, text + negative, len - negative, scale, limit,
                           DECIMAL_HALF_UP);
    if (st != HSY_OK)
        return st;
    /* -2^63 has no positive twin: negate one less. */
    *number = negative && v > 0 ? -(int64_t)(v - 1) - 1 : (int64_t)v;
    return HSY_OK;
}

/* The largest nano-epsilon whose e^epsilon is at most n for certain; past the
 * limit, one more than the limit. */
static uint64_t decimal_log(uint64_t n)
{
    uint64_t low = 0, high = (uint64_t)HSY_EPSILON_MAX + 1;

    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;

        if (hsy_exp_within(2 * middle, n))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static hsy_status decimal_logarithm(uint64_t *nano, const char *text,
                                    size_t len)
{
    uint64_t n = 0;

    if (len == 0 || decimal_span(text, len) != len)
        return HSY_E_FORMAT;
    if (!decimal_append(&n, text, len, UINT64_MAX) || n == 0)
        return HSY_E_RANGE;
    *nano = decimal_log(n);
    return HSY_OK;
}

hsy_status hsy_epsilon_parse(uint64_t *nano_epsilon, const char *text,
                             size_t len)
{
    uint64_t nano, checked = 0;
    hsy_status st;

    if (len >= 2 && text[0] == 'l' && text[1] == 'n') {
        st = decimal_logarithm(&nano, text + 2, len - 2);
    } else if (len > 0 && text[0] == '-') {
        /* A negative epsilon is a number, only not one of ours. */
        st = decimal_magnitude(&checked, text + 1, len - 1, 0, UINT64_MAX,
                               DECIMAL_DOWN);
        return st == HSY_OK ? HSY_E_RANGE : st;
    } else {
        st = decimal_magnitude(&nano, text, len, 9, UINT64_MAX, DECIMAL_DOWN);
    }
    if (st != HSY_OK)
        return st;
    if (nano < HSY_EPSILON_MIN || nano > HSY_EPSILON_MAX)
        return HSY_E_RANGE;
    *nano_epsilon = nano;
    return HSY_OK;
}
