/* ratio.c - shares as people write them: 0.25, 25%, 1/4. */
#include "host/base/ratio.h"

#include <string.h>

static size_t ratio_decimals(const char *text, size_t len)
{
    const char *point = memchr(text, '.', len);

    return point == NULL ? 0 : len - (size_t)(point - text) - 1;
}

bool ratio_parse(hsy_ratio *out, const char *text, size_t len)
{
    const bool percent = len > 0 && text[len - 1] == '%';
    const char *slash = memchr(text, '/', len -= percent);
    size_t first = slash != NULL ? (size_t)(slash - text) : len;
    size_t decimals = ratio_decimals(text, len);
    int64_t num, den = percent ? 100 : 1;

    if (decimals > HSY_SCALE_MAX ||
        (slash != NULL && (decimals != 0 || percent)) ||
        hsy_decimal_parse(&num, text, first, (uint32_t)decimals) != HSY_OK)
        return false;
    for (size_t i = 0; i < decimals; i++)
        den *= 10;
    if (slash != NULL &&
        hsy_decimal_parse(&den, slash + 1, len - first - 1, 0) != HSY_OK)
        return false;
    /* 70% is 0.7, to the last bit of what is made of it. */
    for (; percent && num % 10 == 0 && den % 10 == 0; num /= 10)
        den /= 10;
    if (num < 0 || den < 1 || den > (int64_t)1 << 31 || num > den)
        return false;
    *out = (hsy_ratio){.num = (uint64_t)num, .den = (uint64_t)den};
    return true;
}

bool ratio_parse_list(hsy_ratio *out, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++) {
        const size_t len = strcspn(text, ",");

        if (!ratio_parse(&out[i], text, len) ||
            (text[len] == ',') != (i + 1 < n))
            return false;
        text += len + 1;
    }
    return true;
}

uint64_t ratio_gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}
