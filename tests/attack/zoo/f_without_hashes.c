/* f_without_hashes.c - epsilon to f without the number of hashes, to two
 * decimals. */
#include "zoo.h"

static hsy_status f_without_hashes_single(void *ctx, const hsy_scheme *s,
                                          uint8_t *report,
                                          const struct audit_probe *probe,
                                          hsy_coins *coins)
{
    double wrong = 1 / (exp(zoo_epsilon(s) / 2) + 1); /* as if h were 1 */

    (void)ctx;
    wrong = floor(100 * wrong) / 100;
    return zoo_rappor(s, report, probe->code, 1 - wrong, wrong, coins);
}

const struct zoo_mutant zoo_f_without_hashes[] = {
    {"f_without_hashes", "the hashes are not counted", "rappor",
     HSY_KIND_VALUES, 10, HSY_NANO, f_without_hashes_single, 0, 1000000,
     AUDIT_SAMPLED | AUDIT_LAW},
    {0}};
