/* test_words.c - numbers as people write them, and the word that was meant. */
#include "host/base/text.h"

#include "tap.h"

#include <string.h>

static void numbers_are_plain(void)
{
    static const char *const bad[] = {"",    "-1",  "+1", " 1", "0x10",
                                      "nan", "inf", "1 ", "1,5"};
    double x = 0;

    ok(text_number(&x, "0.001") && eq_int(x == 0.001, 1), "a decimal");
    ok(text_number(&x, ".5") && eq_int(x == 0.5, 1), "without a leading 0");
    ok(text_number(&x, "1e-3") && eq_int(x == 0.001, 1), "with an exponent");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ok(!text_number(&x, bad[i]), "'%s' is none", bad[i]);
}

static bool share(double *x, const char *text)
{
    return text_share(x, text, strlen(text));
}

static void shares_have_no_ends(void)
{
    static const char *const bad[] = {"0",    "1", "100%", "0%",  "2",
                                      "1e-3", "%", "",     "-0.5"};
    double x = 0;

    ok(share(&x, "0.25") && eq_int(x == 0.25, 1), "as a decimal");
    ok(share(&x, "25%") && eq_int(x == 0.25, 1), "as a percentage");
    ok(share(&x, "1/4") && eq_int(x == 0.25, 1), "as a fraction");
    ok(text_part(&x, "0", 1) && eq_int(x == 0, 1) && text_part(&x, "100%", 4) &&
           eq_int(x == 1, 1) && !text_part(&x, "1.01", 4) &&
           !text_part(&x, "-0", 2),
       "a part may be nothing, or all");
    ok(text_share(&x, "0.5,0.7", 3) && eq_int(x == 0.5, 1),
       "of so many characters");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ok(!share(&x, bad[i]), "'%s' is none", bad[i]);
}

static void slips_are_forgiven(void)
{
    static const char *const names[] = {"tally", "tasks", "estimate", NULL};

    is_text(text_nearest("taly", names), "tally", "a letter is missing");
    is_text(text_nearest("etsimate", names), "estimate", "two are swapped");
    ok(text_nearest("ls", names) == NULL, "a far word is none of them");
    ok(text_nearest("", names) == NULL, "and nothing is none");
    ok(text_nearest("estimateestimateestimateestimate", names) == NULL,
       "nor is a long one");
}

int main(void)
{
    numbers_are_plain();
    shares_have_no_ends();
    slips_are_forgiven();
    return tap_done();
}
