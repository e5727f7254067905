/* out_of_range_is_zero.c - a probability out of range gives zeros instead of an
 * error. */
#include "zoo.h"

static hsy_status out_of_range_is_zero_single(void *ctx, const hsy_scheme *s,
                                              uint8_t *report,
                                              const struct audit_probe *probe,
                                              hsy_coins *coins)
{
    double p = 1.5, rate = p > 1 ? 0 : p;

    (void)ctx;
    return zoo_rappor(s, report, probe->code, rate, rate, coins);
}

const struct zoo_mutant zoo_out_of_range_is_zero[] = {
    {"out_of_range_is_zero", "a probability above 1 sends zeros", "rappor",
     HSY_KIND_VALUES, 10, HSY_NANO, out_of_range_is_zero_single, 0, 100000,
     AUDIT_LAW},
    {0}};
