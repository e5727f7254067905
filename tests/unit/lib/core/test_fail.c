/* test_fail.c - statuses have words, errors have all their fields. */
#include "lib/core/fail.h"
#include "tap.h"

#include <string.h>

static bool is_error(const hsy_error *err, uint64_t line, uint64_t limit)
{
    return err->status == HSY_E_RANGE && strcmp(err->msg, "too many") == 0 &&
           strcmp(hsy_field_name(err->field), "d") == 0 && err->at == line &&
           err->limit == limit;
}

static void errors_are_filled_in(void)
{
    hsy_error err = {HSY_OK, "old", "old", 7, 8};

    ok(hsy_fail(&err, HSY_E_RANGE, "d", "too many") == HSY_E_RANGE &&
           is_error(&err, 0, 0),
       "an error replaces what was there");
    ok(hsy_fail_limit(&err, HSY_E_RANGE, "d", "too many", 5) == HSY_E_RANGE &&
           is_error(&err, 0, 5),
       "an error with a limit");
    ok(hsy_fail_line(&err, HSY_E_RANGE, "d", "too many", 9) == HSY_E_RANGE &&
           is_error(&err, 9, 0),
       "an error with a line");
    ok(hsy_fail(NULL, HSY_E_IO, NULL, "x") == HSY_E_IO &&
           hsy_fail_limit(NULL, HSY_E_IO, NULL, "x", 1) == HSY_E_IO &&
           hsy_fail_line(NULL, HSY_E_IO, NULL, "x", 1) == HSY_E_IO,
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

int main(void)
{
    errors_are_filled_in();
    statuses_have_words();
    return tap_done();
}
