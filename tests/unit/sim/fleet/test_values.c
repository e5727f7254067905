/* test_values.c - what the people of a fleet think, value by value. */
#include "sim/fleet/fleet.h"

#include "tap.h"

#include <math.h>

static void shares(void)
{
    uint64_t counts[] = {3, 1};
    struct fleet_task t = {.info.kind = HSY_KIND_YES_NO,
                           .day = 7,
                           .answered = 4,
                           .counts = counts,
                           .ncounts = 2};
    struct fleet_value v;

    is_u64(fleet_values(&t), 2, "yes and no are two values");
    fleet_value(&v, &t, 1);
    ok(strcmp(v.name, "yes") == 0 && v.name_len == 3 && v.truth == 0.25 &&
           v.person_rounds == 1,
       "with their shares");
    t.answered = 0;
    fleet_value(&v, &t, 0);
    ok(isnan(v.truth), "of nobody there is none");
    t.info.kind = HSY_KIND_VALUES;
    fleet_value(&v, &t, 1);
    ok(strcmp(v.name, "1") == 0, "a value without a label is its number");
    t.day = 0;
    is_u64(fleet_values(&t), 0, "a task that is left out has no values");
}

static void means(void)
{
    struct fleet_task t = {.info = {.kind = HSY_KIND_NUMBER, .scale = 1},
                           .day = 7,
                           .answered = 4,
                           .sum = 50};
    struct fleet_value v;

    is_u64(fleet_values(&t), 1, "a mean is one");
    fleet_value(&v, &t, 0);
    ok(strcmp(v.name, "mean") == 0 && v.truth == 1.25 && v.person_rounds == 4,
       "in the range's units");
}

int main(void)
{
    shares();
    means();
    return tap_done();
}
