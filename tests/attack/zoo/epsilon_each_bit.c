/* epsilon_each_bit.c - epsilon for each bit, although two truths differ in two
 * bits. */
#include "zoo.h"

static hsy_status epsilon_each_bit_single(void *ctx, const hsy_scheme *s,
                                          uint8_t *report,
                                          const struct audit_probe *probe,
                                          hsy_coins *coins)
{
    double q = 1 / (exp(zoo_epsilon(s)) + 1);

    (void)ctx;
    return zoo_unary(s, report, probe->code, 1 - q, q, coins);
}

const struct zoo_mutant zoo_epsilon_each_bit[] = {
    {"epsilon_each_bit", "epsilon is spent on each of two bits", "sue",
     HSY_KIND_VALUES, 10, HSY_NANO, epsilon_each_bit_single, 0, 200000,
     AUDIT_SAMPLED | AUDIT_LAW},
    {0}};
