/* q_narrowed_to_0.c - q = 1 scaled to 256 and narrowed to 8 bits is 0: silent
 * data loss. */
#include "zoo.h"

static hsy_status q_narrowed_to_0_single(void *ctx, const hsy_scheme *s,
                                         uint8_t *report,
                                         const struct audit_probe *probe,
                                         hsy_coins *coins)
{
    uint8_t scaled = (uint8_t)(256 * 1.0);
    hsy_scheme_info info;

    (void)ctx;
    hsy_scheme_describe(s, &info);
    return zoo_rappor(s, report, probe->code, scaled / 256.0, info.q, coins);
}

const struct zoo_mutant zoo_q_narrowed_to_0[] = {
    {"q_narrowed_to_0", "a certain bit narrowed to 8 bits never shows",
     "rappor", HSY_KIND_VALUES, 10, HSY_NANO, q_narrowed_to_0_single, 0, 200000,
     AUDIT_LAW},
    {0}};
