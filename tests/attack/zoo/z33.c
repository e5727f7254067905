/* z33.c - a budget that is new every day, and has no other end. */
#include "zoo_device.h"

struct z33 {
    struct zoo_caps caps;
    uint64_t today;
    uint32_t day;
};

static void z33_open(void *memory, const struct zoo_caps *caps)
{
    struct z33 *l = memory;

    memset(l, 0, sizeof *l);
    l->caps = *caps;
}

static bool z33_charge(void *memory, uint32_t day, unsigned source,
                       uint64_t nano)
{
    struct z33 *l = memory;

    (void)source;
    if (day > l->day) {
        l->day = day;
        l->today = 0;
    }
    if (l->today + nano > l->caps.day)
        return false;
    l->today += nano;
    return true;
}

const struct zoo_ledger zoo_z33 = {"Z33",
                                   "renewed every day, without a lifetime cap",
                                   sizeof(struct z33),
                                   z33_open,
                                   z33_charge,
                                   NULL,
                                   NULL};
