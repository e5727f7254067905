/* numbers.c - numbers as people write them: counts, sizes, lengths of time,
 * shares. */
#include "host/yaml/yaml.h"

#include <string.h>

bool yaml_count(uint64_t *out, const char *text)
{
    int64_t number;

    if (text[0] == '-' || strchr(text, '.') != NULL ||
        hsy_decimal_parse(&number, text, strlen(text), 0) != HSY_OK)
        return false;
    *out = (uint64_t)number;
    return true;
}

bool yaml_size(uint64_t *out, const char *text)
{
    static const char units[] = "KMGT";
    size_t len = strlen(text);
    const char *unit = len > 1 ? strchr(units, text[len - 1]) : NULL;
    const unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    char digits[24] = "";

    len -= unit != NULL;
    if (len >= sizeof digits)
        return false;
    memcpy(digits, text, len);
    if (!yaml_count(out, digits) || *out > UINT64_MAX >> shift)
        return false;
    *out <<= shift;
    return true;
}

/* ---- Lengths of time ----------------------------------------------------- */

/* Digits and a unit, with or without a space; the place of the unit in a list
 * ended by NULL. */
static bool numbers_measure(uint64_t *n, size_t *unit, const char *text,
                            const char *const *units)
{
    const char *rest = text + strspn(text, "0123456789");
    char digits[10] = "";

    if (rest == text || (size_t)(rest - text) >= sizeof digits)
        return false;
    memcpy(digits, text, (size_t)(rest - text));
    rest += *rest == ' ';
    for (*unit = 0; units[*unit] != NULL; ++*unit)
        if (strcmp(rest, units[*unit]) == 0)
            return yaml_count(n, digits);
    return false;
}

bool yaml_seconds(uint64_t *out, const char *text)
{
    static const char *const units[] = {"s", "m", "h", "d", NULL};
    static const uint32_t seconds[] = {1, 60, 3600, 86400};
    size_t unit;

    if (!numbers_measure(out, &unit, text, units))
        return false;
    *out *= seconds[unit];
    return true;
}

/* A word, or a number of days or weeks. */
bool yaml_days(uint64_t *out, const char *text)
{
    static const struct numbers_word {
        const char *word;
        uint32_t days;
    } words[] = {{"daily", 1}, {"day", 1}, {"weekly", 7}, {"week", 7}};
    static const char *const units[] = {"d",    "day",   "days", "w",
                                        "week", "weeks", NULL};
    size_t unit;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i].word) == 0) {
            *out = words[i].days;
            return true;
        }
    if (!numbers_measure(out, &unit, text, units) || *out == 0)
        return false;
    *out *= unit < 3 ? 1 : 7;
    return true;
}
