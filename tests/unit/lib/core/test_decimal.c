/* test_decimal.c - decimal text in, integers out, and nothing else accepted. */
#include "hearsay.h"
#include "tap.h"

#include <string.h>

static void numbers(void)
{
    static const struct {
        const char *text;
        uint32_t scale;
        hsy_status status;
        int64_t number;
    } rows[] = {
        {"0", 0, HSY_OK, 0},
        {"-0", 3, HSY_OK, 0},
        {"7", 2, HSY_OK, 700},
        {"007.50", 1, HSY_OK, 75},
        {"-12.345", 3, HSY_OK, -12345},
        {"0.4999999", 0, HSY_OK, 0},
        {"0.5", 0, HSY_OK, 1},
        {"-0.5", 0, HSY_OK, -1},
        {"-0.4", 0, HSY_OK, 0},
        {"2.5", 0, HSY_OK, 3},
        {"1.005", 2, HSY_OK, 101},
        {"-1.00499999999999999999999999", 2, HSY_OK, -100},
        {"9.999", 2, HSY_OK, 1000},
        {".5", 1, HSY_OK, 5},
        {"-.25", 2, HSY_OK, -25},
        {"1.000000000", 9, HSY_OK, 1000000000},
        {"9223372036854775807", 0, HSY_OK, INT64_MAX},
        {"-9223372036854775808", 0, HSY_OK, INT64_MIN},
        {"9223372036.854775807", 9, HSY_OK, INT64_MAX},
        {"-9223372036.8547758084", 9, HSY_OK, INT64_MIN},
        {"9223372036854775808", 0, HSY_E_RANGE, 0},
        {"-9223372036854775809", 0, HSY_E_RANGE, 0},
        {"9223372036854775807.5", 0, HSY_E_RANGE, 0},
        {"-9223372036854775808.5", 0, HSY_E_RANGE, 0},
        {"9223372037", 9, HSY_E_RANGE, 0},
        {"9223372036.854775808", 9, HSY_E_RANGE, 0},
        {"99999999999999999999999999", 0, HSY_E_RANGE, 0},
        {"1", 10, HSY_E_RANGE, 0},
        {"", 0, HSY_E_FORMAT, 0},
        {"-", 0, HSY_E_FORMAT, 0},
        {"+1", 0, HSY_E_FORMAT, 0},
        {"--1", 0, HSY_E_FORMAT, 0},
        {"-.", 0, HSY_E_FORMAT, 0},
        {".x", 0, HSY_E_FORMAT, 0},
        {"5.", 0, HSY_E_FORMAT, 0},
        {".", 0, HSY_E_FORMAT, 0},
        {"1..2", 0, HSY_E_FORMAT, 0},
        {"1.2.3", 0, HSY_E_FORMAT, 0},
        {"1,5", 0, HSY_E_FORMAT, 0},
        {" 1", 0, HSY_E_FORMAT, 0},
        {"1 ", 0, HSY_E_FORMAT, 0},
        {"1e3", 0, HSY_E_FORMAT, 0},
        {"0x10", 0, HSY_E_FORMAT, 0},
        {"nan", 0, HSY_E_FORMAT, 0},
        {"inf", 0, HSY_E_FORMAT, 0},
        {"99999999999999999999999999x", 0, HSY_E_FORMAT, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t number = 42;
        hsy_status st = hsy_decimal_parse(&number, rows[i].text,
                                          strlen(rows[i].text), rows[i].scale);

        ok(st == rows[i].status && number == (st ? 42 : rows[i].number),
           "'%s' with %u decimals: %s", rows[i].text, rows[i].scale,
           hsy_strstatus(rows[i].status));
    }
}

static void epsilons(void)
{
    static const struct {
        const char *text;
        hsy_status status;
        uint64_t nano;
    } rows[] = {
        {"1", HSY_OK, 1000000000},
        {"0.5", HSY_OK, 500000000},
        {".5", HSY_OK, 500000000},
        {"0.1", HSY_OK, 100000000},
        {"1.9999999999999", HSY_OK, 1999999999},
        {"0.000001", HSY_OK, 1000},
        {"32", HSY_OK, 32000000000},
        {"32.0000000009", HSY_OK, 32000000000},
        {"ln2", HSY_OK, 693147180},
        {"ln3", HSY_OK, 1098612288},
        {"ln78962960182680", HSY_OK, 31999999999},
        {"0", HSY_E_RANGE, 0},
        {"0.0000009999", HSY_E_RANGE, 0},
        {"32.000000001", HSY_E_RANGE, 0},
        {"100000000000000000000000", HSY_E_RANGE, 0},
        {"-1", HSY_E_RANGE, 0},
        {"-0", HSY_E_RANGE, 0},
        {"-99999999999999999999999", HSY_E_RANGE, 0},
        {"ln1", HSY_E_RANGE, 0},
        {"ln0", HSY_E_RANGE, 0},
        {"ln80000000000000", HSY_E_RANGE, 0},
        {"ln18446744073709551615", HSY_E_RANGE, 0},
        {"ln99999999999999999999999", HSY_E_RANGE, 0},
        {"ln", HSY_E_FORMAT, 0},
        {"ln 3", HSY_E_FORMAT, 0},
        {"ln(3)", HSY_E_FORMAT, 0},
        {"ln3.5", HSY_E_FORMAT, 0},
        {"ln-3", HSY_E_FORMAT, 0},
        {"-ln3", HSY_E_FORMAT, 0},
        {"LN3", HSY_E_FORMAT, 0},
        {"l", HSY_E_FORMAT, 0},
        {"l3", HSY_E_FORMAT, 0},
        {"", HSY_E_FORMAT, 0},
        {"-", HSY_E_FORMAT, 0},
        {"+1", HSY_E_FORMAT, 0},
        {"1e3", HSY_E_FORMAT, 0},
        {"nan", HSY_E_FORMAT, 0},
        {"NaN", HSY_E_FORMAT, 0},
        {"inf", HSY_E_FORMAT, 0},
        {"-inf", HSY_E_FORMAT, 0},
        {"1.", HSY_E_FORMAT, 0},
        {"1 ", HSY_E_FORMAT, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t nano = 42;
        hsy_status st =
            hsy_epsilon_parse(&nano, rows[i].text, strlen(rows[i].text));

        ok(eq_u64(st, rows[i].status) && eq_u64(nano, (st ? 42 : rows[i].nano)),
           "epsilon '%s': %s", rows[i].text, hsy_strstatus(rows[i].status));
    }
}

static void length_counts(void)
{
    int64_t number = 42;

    ok(eq_status(hsy_decimal_parse(&number, "123456", 3, 0), HSY_OK) &&
           eq_int(number, 123),
       "only len bytes are read");
    is_status(hsy_decimal_parse(&number, "1\0002", 3, 0), HSY_E_FORMAT,
              "a NUL byte is not the end");
}

int main(void)
{
    numbers();
    epsilons();
    length_counts();
    return tap_done();
}
