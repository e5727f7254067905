/* z09.c - q = 1 scaled to 256 and narrowed to 8 bits is 0: silent data loss. */
#include "zoo.h"

static hsy_status z09_single(void *ctx, const hsy_scheme *s, uint8_t *report,
                             const struct audit_probe *probe, hsy_coins *coins)
{
    uint8_t scaled = (uint8_t)(256 * 1.0);
    hsy_scheme_info info;

    (void)ctx;
    hsy_scheme_describe(s, &info);
    return zoo_rappor(s, report, probe->code, scaled / 256.0, info.q, coins);
}

const struct zoo_mutant zoo_z09[] = {
    {"Z09", "a certain bit narrowed to 8 bits never shows", "rappor",
     HSY_KIND_VALUES, 10, HSY_NANO, z09_single, 0, 200000, AUDIT_LAW},
    {0}};
