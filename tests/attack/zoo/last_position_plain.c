/* last_position_plain.c - the loop stops one short: the last position tells the
 * truth. */
#include "zoo.h"

static hsy_status last_position_plain_single(void *ctx, const hsy_scheme *s,
                                             uint8_t *report,
                                             const struct audit_probe *probe,
                                             hsy_coins *coins)
{
    double p = 1 - 1 / (exp(zoo_epsilon(s) / 2) + 1);
    uint32_t last = zoo_domain(s) - 1;
    uint64_t word = probe->code == last ? (uint64_t)1 << last : 0;

    (void)ctx;
    for (uint32_t v = 0; v < last; v++) {
        double u;
        hsy_status st = zoo_uniform(&u, coins);

        if (st != HSY_OK)
            return st;
        word |= (uint64_t)(u < (v == probe->code ? p : 1 - p)) << v;
    }
    return zoo_report(s, report, word);
}

const struct zoo_mutant zoo_last_position_plain[] = {
    {"last_position_plain", "the last position is not randomized", "sue",
     HSY_KIND_VALUES, 10, HSY_NANO, last_position_plain_single, 0, 100000,
     AUDIT_SAMPLED | AUDIT_LAW},
    {0}};
