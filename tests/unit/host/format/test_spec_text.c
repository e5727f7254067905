/* test_spec_text.c - lists of values and ranges as people write them. */
#include "host/format/spec_text.h"

#include "tap.h"

#include <string.h>

static void lists_are_csv(void)
{
    struct labels l = {0};
    hsy_error err = {0};
    size_t len = 0;

    is_status(spec_text_values(&l, "red,\"a, b\",\"say \"\"x\"\"\"", &err),
              HSY_OK, "a list");
    is_u64(l.d, 3, "of three values");
    ok(strncmp(labels_at(&l, 1, &len), "a, b", 4) == 0 && eq_u64(len, 4),
       "one with a comma in quotes");
    is_u64(labels_find(&l, (const uint8_t *)"red\0\0\0\0\0\0\0\0", 3), 0,
           "which are found");
    labels_clear(&l);
}

static void bad_lists_are_refused(void)
{
    static const struct {
        const char *text;
        hsy_status st;
        uint64_t at;
    } bad[] = {{"", HSY_E_EMPTY, 0},
               {"a,b\"c", HSY_E_FORMAT, 2},
               {"a,,b", HSY_E_RANGE, 2},
               {"a,b,a", HSY_E_RANGE, 3}};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct labels l = {0};
        hsy_error err = {0};

        ok(eq_status(spec_text_values(&l, bad[i].text, &err), bad[i].st) &&
               eq_u64(err.at, bad[i].at),
           "'%s' is refused", bad[i].text);
        labels_clear(&l);
    }
}

static void ranges_are_fine(void)
{
    hsy_spec spec = {0};
    hsy_error err = {0};

    ok(eq_status(spec_text_range(&spec, "-0.5:2", &err), HSY_OK) &&
           eq_u64(spec.scale, 9) && eq_int(spec.lo == -500000000, 1) &&
           eq_int(spec.hi == 2000000000, 1),
       "in the finest units");
    ok(eq_status(spec_text_range(&spec, "0:9000000000000.5", &err), HSY_OK) &&
           eq_u64(spec.scale, 5),
       "that leave room");
    is_status(spec_text_range(&spec, "5", &err), HSY_E_FORMAT, "two numbers");
}

static void bad_ranges_say_why(void)
{
    static const char *const bad[][2] = {
        {"0:0.1234567891", "at most 9 decimals"},
        {"a:b", "not two decimal numbers (no exponent): LO:HI"},
        {"0:99999999999999999999",
         "too large: in units of the last decimal, HI - LO must be below 2^62 "
         "(4.6e18) and either end below 2^63"},
        {"2:2", "LO must be below HI"}};
    hsy_spec spec = {0};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        hsy_error err = {0};

        ok(eq_status(spec_text_range(&spec, bad[i][0], &err), HSY_E_RANGE) &&
               eq_text(err.msg, bad[i][1]),
           "%s is refused", bad[i][0]);
    }
}

/* The same words are the same numbers, whoever reads them. */
static hsy_status take(hsy_spec *spec, uint32_t *given, const char *key,
                       const char *text, size_t at, hsy_error *err)
{
    const struct spec_said said = {key, strlen(key), text, at};

    return spec_text_take(spec, given, &said, err);
}

static void keys_are_taken(void)
{
    hsy_spec spec = {0}, single = {0};
    uint32_t given = 0;
    hsy_error err = {0};

    ok(eq_status(take(&spec, &given, "rappor", "0.25,1/2,0.750",
                      SPEC_TEXT_WHOLE, &err),
                 HSY_OK) &&
           eq_u64(spec.chance[0].den, 4) && eq_u64(spec.chance[2].num, 3),
       "probabilities are kept in lowest terms");
    ok(take(&single, &given, "rappor", "1/4", 0, &err) == HSY_OK &&
           take(&single, &given, "rappor", "0.5", 1, &err) == HSY_OK &&
           take(&single, &given, "rappor", "6/8", 2, &err) == HSY_OK &&
           eq_bytes(&single, &spec, sizeof spec),
       "one by one they make the same");
    is_status(take(&spec, &given, "coins", "1/2,1/2", SPEC_TEXT_WHOLE, &err),
              HSY_E_REFUSED, "a second design is refused");
    ok(eq_status(take(&spec, &given, "pool-seed", "0", SPEC_TEXT_WHOLE, &err),
                 HSY_OK) &&
           eq_status(
               take(&spec, &given, "pool-seed", "1", SPEC_TEXT_WHOLE, &err),
               HSY_E_REFUSED),
       "a parameter is taken once");
    ok(eq_status(take(&spec, &given, "g", "0", SPEC_TEXT_WHOLE, &err),
                 HSY_E_RANGE) &&
           eq_text(err.msg, "an integer from 1 to 2^53 - 1"),
       "0 is the mechanism's own choice, not a number to say");
    is_status(take(&spec, &given, "gg", "1", SPEC_TEXT_WHOLE, &err),
              HSY_E_UNKNOWN, "there are no other keys");
    ok(eq_status(take(&spec, &given, "epsilon", "ln3", SPEC_TEXT_WHOLE, &err),
                 HSY_OK) &&
           eq_u64(spec.nano_epsilon, 1098612288),
       "an epsilon may be a logarithm");
}

int main(void)
{
    lists_are_csv();
    bad_lists_are_refused();
    ranges_are_fine();
    bad_ranges_say_why();
    keys_are_taken();
    return tap_done();
}
