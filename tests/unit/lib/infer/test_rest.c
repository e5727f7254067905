/* test_rest.c - the level of what was selected, and what is not among it. */
#include "hearsay.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static const hsy_confidence plain = {
    .level = 0.95, .interval = HSY_SCORE, .comparisons = 1};

static bool rest_near(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

static void test_level(void)
{
    ok(rest_near(hsy_selected_level(0.95, 5, 100), 0.9975),
       "5 of 100 at 0.95: each has 0.9975");
    ok(rest_near(hsy_selected_level(0.9, 1, 1 << 24), 1 - 0.1 / (1 << 24)),
       "one of 2^24 keeps its digits");
    ok(hsy_selected_level(0.95, 100, 100) == 0.95 &&
           hsy_selected_level(0.95, 0, 100) == 0.95 &&
           hsy_selected_level(0.95, 7, 3) == 0.95 &&
           hsy_selected_level(0.95, 0, 0) == 0.95,
       "all, none, or more than there are: nothing is selected");
}

/* Shares of a scheme of grr whose points are made up. */
static hsy_evidence point_of(double value)
{
    return (hsy_evidence){.value = value,
                          .n = 10000,
                          .support = 1000,
                          .p = 0.5,
                          .q = 0.1,
                          .v0 = 1,
                          .v1 = 2};
}

static void test_refusals(const hsy_scheme *s)
{
    const hsy_selection from = {.of = 1, .passed = -INFINITY};
    static const double levels[] = {0, 1, 100, -0.5, NAN};
    const hsy_evidence points[2] = {point_of(0.2), point_of(0.1)};
    hsy_confidence how = plain;
    hsy_evidence none = point_of(0.1);
    hsy_estimate est;
    hsy_error err = {0};

    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        how.level = levels[i];
        ok(hsy_estimate_rest(s, &est, points, 1, &from, &how, &err) ==
                   HSY_E_RANGE &&
               err.field == HSY_FIELD_LEVEL,
           "a level of %g is refused", levels[i]);
    }
    ok(hsy_estimate_rest(s, &est, points, 2, &from, &plain, &err) ==
               HSY_E_RANGE &&
           err.field == HSY_FIELD_OF,
       "more selected than looked at is refused");
    none.n = 0;
    ok(hsy_estimate_rest(s, &est, &none, 1, &from, &plain, &err) == HSY_E_EMPTY,
       "a share without reports has no rest");
}

static void test_rest(const hsy_scheme *s)
{
    const hsy_evidence points[2] = {point_of(0.3), point_of(0.2)};
    hsy_selection from = {.of = 2, .passed = -INFINITY};
    hsy_estimate est, one, two;

    ok(hsy_estimate_rest(s, &est, points, 0, &from, &plain, NULL) == HSY_OK &&
           est.value == 1 && est.sd == 0 && est.low == 1 && est.high == 1,
       "of nothing the rest is everything, without an error");
    hsy_estimate_point(&one, &points[0], &plain, NULL);
    ok(hsy_estimate_rest(s, &est, points, 1, &from, &plain, NULL) == HSY_OK &&
           rest_near(est.value, 0.7) && rest_near(est.sd, one.sd) &&
           rest_near(est.low, 1 - one.high) && rest_near(est.high, 1 - one.low),
       "of one share it is the other side of its interval");
    hsy_estimate_point(&two, &points[1], &plain, NULL);
    ok(hsy_estimate_rest(s, &est, points, 2, &from, &plain, NULL) == HSY_OK &&
           rest_near(est.value, 0.5) &&
           rest_near(est.sd, sqrt(one.sd * one.sd + two.sd * two.sd)),
       "of two, which exclude each other, errors add in squares");
    from.design = 3;
    one = est;
    ok(hsy_estimate_rest(s, &est, points, 2, &from, &plain, NULL) == HSY_OK &&
           rest_near(est.sd, 3 * one.sd),
       "or as much more as was measured");
}

static void test_passed(const hsy_scheme *s)
{
    const hsy_evidence points[2] = {point_of(0.05), point_of(0.03)};
    hsy_selection from = {.of = 1000, .passed = -INFINITY};
    hsy_estimate free, far, close;

    hsy_estimate_rest(s, &free, points, 2, &from, &plain, NULL);
    from.passed = -0.5;
    hsy_estimate_rest(s, &far, points, 2, &from, &plain, NULL);
    from.passed = 0.029;
    hsy_estimate_rest(s, &close, points, 2, &from, &plain, NULL);
    ok(rest_near(far.high, free.high) && rest_near(far.low, free.low),
       "what was passed by far adds nothing");
    ok(close.low == free.low && close.value == free.value &&
           close.high > free.high + 0.029,
       "what was just passed may be nothing: the upper end goes up by it");
}

static void test_measure(const hsy_scheme *grr)
{
    const hsy_spec spec = trial_values("pgr", 40, 1);
    hsy_scheme *s = trial_scheme(&spec);
    hsy_selection from = {.of = 40, .passed = 0};
    const uint64_t codes[2] = {0, 1};
    int64_t *words = trial_memory(hsy_tally_words(s) * sizeof *words);
    void *scratch = trial_memory(hsy_selection_scratch(s, 2));
    hsy_error err = {0};
    hsy_tally t;

    hsy_tally_init(&t, s, words);
    ok(hsy_selection_scratch(grr, 2) == 0 && hsy_selection_scratch(s, 1) == 0 &&
           hsy_selection_scratch(s, 2) > 0,
       "a geometry is measured, a choice and a single share are not");
    ok(hsy_selection_measure(s, &from, &t, codes, 2, scratch, &err) ==
               HSY_E_EMPTY &&
           from.design == 0,
       "without reports there is nothing to measure");
    for (size_t c = 0; c < t.ncells; c++) {
        t.cells[c] = 25;
        t.strata[0] += 25;
    }
    ok(hsy_selection_measure(s, &from, &t, codes, 2, scratch, &err) == HSY_OK &&
           from.design >= 1 && isfinite(from.design),
       "with them there is: %g", from.design);
    free(words);
    free(scratch);
    free(s);
}

int main(void)
{
    const hsy_spec spec = trial_values("grr", 40, 1);
    hsy_scheme *s = trial_scheme(&spec);

    test_level();
    test_refusals(s);
    test_rest(s);
    test_passed(s);
    test_measure(s);
    free(s);
    return tap_done();
}
