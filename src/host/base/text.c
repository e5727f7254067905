/* text.c - numbers as people write them, and the word that was meant. */
#include "host/base/text.h"

#include "host/base/ratio.h"

#include "hearsay.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_NAME_MAX 24u
#define TEXT_SHARE_MAX 32u /* characters of a share */

/* Levenshtein distance of two short strings, at most 99. */
static unsigned text_distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b);
    unsigned row[TEXT_NAME_MAX + 1];

    if (la > TEXT_NAME_MAX || lb > TEXT_NAME_MAX)
        return 99;
    for (unsigned j = 0; j <= lb; j++)
        row[j] = j;
    for (unsigned i = 1; i <= la; i++) {
        unsigned corner = row[0];

        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            unsigned best = corner + (a[i - 1] != b[j - 1]);

            corner = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[lb];
}

const char *text_nearest(const char *text, const char *const *names)
{
    const char *nearest = NULL;
    unsigned least = 3; /* two slips of the finger, no more */

    for (; *names != NULL; names++) {
        unsigned distance = text_distance(text, *names);

        if (distance < least && distance < strlen(*names)) {
            least = distance;
            nearest = *names;
        }
    }
    return nearest;
}

bool text_number(double *out, const char *text)
{
    char *end;

    if (*text == '\0' || strchr(".0123456789", *text) == NULL ||
        strpbrk(text, "xX") != NULL)
        return false;
    *out = strtod(text, &end);
    return *end == '\0';
}

bool text_part(double *out, const char *value, size_t len)
{
    const bool percent = len > 0 && value[len - 1] == '%';
    char text[TEXT_SHARE_MAX];
    int64_t rounded;
    hsy_ratio ratio;

    if (ratio_parse(&ratio, value, len) && memchr(value, '/', len) != NULL) {
        *out = (double)ratio.num / (double)ratio.den;
        return true;
    }
    if (percent)
        len--;
    if (len >= sizeof text || (len > 0 && value[0] == '-') ||
        hsy_decimal_parse(&rounded, value, len, 0) != HSY_OK)
        return false;
    memcpy(text, value, len);
    text[len] = '\0';
    *out = strtod(text, NULL) / (percent ? 100 : 1);
    return *out <= 1;
}

bool text_share(double *out, const char *value, size_t len)
{
    return text_part(out, value, len) && *out > 0 && *out < 1;
}
