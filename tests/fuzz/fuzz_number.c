/* fuzz_number.c - decimals and epsilons as text. */
#define _GNU_SOURCE

#include "fuzz.h"

/* number in units of 10^-scale as text, and its length. */
static int number_text(char text[32], int64_t number, uint32_t scale)
{
    uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    uint64_t unit = 1;

    for (uint32_t i = 0; i < scale; i++)
        unit *= 10;
    if (scale == 0)
        return snprintf(text, 32, "%s%llu", number < 0 ? "-" : "",
                        (unsigned long long)size);
    return snprintf(text, 32, "%s%llu.%0*llu", number < 0 ? "-" : "",
                    (unsigned long long)(size / unit), (int)scale,
                    (unsigned long long)(size % unit));
}

static void decimal_parses(const char *text, size_t len, uint32_t scale)
{
    char again[32];
    int64_t number, same;
    int n;

    if (hsy_decimal_parse(&number, text, len, scale) != HSY_OK)
        return;
    n = number_text(again, number, scale);
    fuzz_expect(hsy_decimal_parse(&same, again, (size_t)n, scale) == HSY_OK &&
                    same == number,
                "a number's own digits give the number");
}

static void epsilon_parses(const char *text, size_t len)
{
    uint64_t nano;
    char again[32];
    int64_t same;
    int n;

    if (hsy_epsilon_parse(&nano, text, len) != HSY_OK)
        return;
    fuzz_expect(nano >= HSY_EPSILON_MIN && nano <= HSY_EPSILON_MAX,
                "an epsilon is in its range");
    n = number_text(again, (int64_t)nano, 9);
    fuzz_expect(hsy_decimal_parse(&same, again, (size_t)n, 9) == HSY_OK &&
                    same == (int64_t)nano,
                "an epsilon is a number of nano-epsilon");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = malloc(len + 1);

    if (text == NULL || len == 0) {
        free(text);
        return 0;
    }
    /* The first byte says how many decimals; a copy, so that a sanitizer sees
     * a step past the text's end. */
    memcpy(text, data + 1, len - 1);
    decimal_parses(text, len - 1, data[0] % (HSY_SCALE_MAX + 1));
    epsilon_parses(text, len - 1);
    free(text);
    return 0;
}
