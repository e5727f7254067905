/* test_fail.c - statuses have words, errors have all their fields. */
#include "lib/core/fail.h"
#include "tap.h"

#include <string.h>

static bool is_error(const hsy_error *err, uint64_t line, uint64_t limit)
{
    return err->status == HSY_E_RANGE && strcmp(err->msg, "too many") == 0 &&
           strcmp(hsy_field_name(err->field), "k") == 0 && err->at == line &&
           err->limit == limit;
}

static void errors_are_filled_in(void)
{
    hsy_error err = {.msg = "old", .field = HSY_FIELD_K, .at = 7, .limit = 8};

    ok(hsy_fail(&err, HSY_E_RANGE, HSY_FIELD_K, "too many") == HSY_E_RANGE &&
           is_error(&err, 0, 0),
       "an error replaces what was there");
    ok(hsy_fail_limit(&err, HSY_E_RANGE, HSY_FIELD_K, "too many", 5) ==
               HSY_E_RANGE &&
           is_error(&err, 0, 5),
       "an error with a limit");
    ok(hsy_fail_at(&err, HSY_E_RANGE, HSY_FIELD_K, "too many", HSY_UNIT_LINE,
                   9) == HSY_E_RANGE &&
           is_error(&err, 9, 0),
       "an error with a line");
    ok(hsy_fail(NULL, HSY_E_IO, HSY_FIELD_NONE, "x") == HSY_E_IO &&
           hsy_fail_limit(NULL, HSY_E_IO, HSY_FIELD_NONE, "x", 1) == HSY_E_IO &&
           hsy_fail_at(NULL, HSY_E_IO, HSY_FIELD_NONE, "x", HSY_UNIT_LINE, 1) ==
               HSY_E_IO,
       "nobody has to ask for the reason");
}

static void statuses_have_words(void)
{
    const char *words[HSY_E_VERSION + 1];
    const char *unknown = hsy_strstatus((hsy_status)1000);
    size_t same = 0;

    for (int i = 0; i <= HSY_E_VERSION; i++)
        words[i] = hsy_strstatus((hsy_status)i);
    for (int i = 0; i <= HSY_E_VERSION; i++) {
        same += words[i][0] == '\0' || strcmp(words[i], unknown) == 0;
        for (int j = 0; j < i; j++)
            same += strcmp(words[i], words[j]) == 0;
    }
    ok(same == 0, "every status has words of its own");
    ok(unknown[0] != '\0', "a number that is no status has words too");
}

/* Names are found again, and every parameter has one. */
static void fields_have_names(void)
{
    bool good = hsy_field_find("no such field") == HSY_FIELD_NONE &&
                hsy_field_name(HSY_FIELDS_END)[0] == '\0' &&
                hsy_unit_name(HSY_UNIT_NONE)[0] == '\0' &&
                hsy_unit_name(1000)[0] == '\0';

    for (uint32_t f = 1; f < HSY_FIELDS_END; f++)
        good &= hsy_field_find(hsy_field_name(f)) == f;
    for (size_t i = 0; i < HSY_PARAMS; i++)
        good &= hsy_param_name(i) == NULL ||
                hsy_field_find(hsy_param_name(i)) != HSY_FIELD_NONE;
    for (uint32_t u = 1; u <= HSY_UNIT_GROUP; u++)
        good &= hsy_unit_name(u)[0] != '\0';
    ok(good, "fields and units have names, each field its own");
}

int main(void)
{
    errors_are_filled_in();
    fields_have_names();
    statuses_have_words();
    return tap_done();
}
