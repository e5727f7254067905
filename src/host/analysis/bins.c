/* bins.c - a range in bins: its edges, names and quantiles. */
#include "host/analysis/analysis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *analysis_decimal(char text[ANALYSIS_DECIMAL], int64_t units,
                             uint32_t scale)
{
    uint64_t size = units < 0 ? 0 - (uint64_t)units : (uint64_t)units;
    char *at = text + ANALYSIS_DECIMAL - 1;

    *at = '\0';
    for (; scale > 0 && size % 10 == 0; scale--)
        size /= 10;
    for (uint32_t i = 0; i < scale; i++, size /= 10)
        *--at = (char)('0' + size % 10);
    if (scale > 0)
        *--at = '.';
    do
        *--at = (char)('0' + size % 10);
    while ((size /= 10) != 0);
    if (units < 0)
        *--at = '-';
    return at;
}

double analysis_number(double units, uint32_t scale)
{
    return units / pow(10, scale);
}

/* lo + ceil(i W / d). In two parts, as i W may take more than 64 bits. */
int64_t analysis_edge(const hsy_scheme_info *info, uint32_t i)
{
    uint64_t width = (uint64_t)info->hi - (uint64_t)info->lo, d = info->d;
    uint64_t steps = i * (width / d) + (i * (width % d) + d - 1) / d;

    return (int64_t)((uint64_t)info->lo + steps);
}

void analysis_bin(char text[ANALYSIS_BIN], const hsy_scheme_info *info,
                  uint32_t place)
{
    char from[ANALYSIS_DECIMAL], to[ANALYSIS_DECIMAL];

    snprintf(text, ANALYSIS_BIN, "%s..%s",
             analysis_decimal(from, analysis_edge(info, place), info->scale),
             analysis_decimal(to, analysis_edge(info, place + 1), info->scale));
}

hsy_status analysis_quantile(hsy_estimate *est, const hsy_scheme_info *info,
                             const hsy_ranges *r, double q,
                             const hsy_confidence *how, hsy_error *err)
{
    const double zero = analysis_number((double)info->lo, info->scale);
    const double width =
        analysis_number((double)info->hi - (double)info->lo, info->scale) /
        (double)info->d;
    hsy_status st = hsy_quantile(r, est, q, how, err);

    if (st != HSY_OK)
        return st;
    est->value = zero + width * est->value;
    est->low = zero + width * est->low;
    est->high = zero + width * est->high;
    est->sd *= width;
    return HSY_OK;
}

hsy_status analysis_edge_find(uint32_t *low, const hsy_scheme_info *info,
                              const char *text)
{
    uint32_t high = info->d;
    int64_t number;

    *low = 0;
    if (hsy_decimal_parse(&number, text, strlen(text), info->scale) != HSY_OK)
        return HSY_E_FORMAT;
    if (number < info->lo || number > info->hi)
        return HSY_E_RANGE;
    while (*low + 1 < high) { /* edge(low) <= number < edge(high), or the end */
        const uint32_t middle = *low + (high - *low) / 2;

        if (analysis_edge(info, middle) <= number)
            *low = middle;
        else
            high = middle;
    }
    if (number == info->hi)
        *low = info->d;
    return analysis_edge(info, *low) == number ? HSY_OK : HSY_E_MISMATCH;
}
