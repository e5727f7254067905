/* z26.c - the sum of all sources leaves one of them out. */
#include "zoo_device.h"

struct z26 {
    struct zoo_caps caps;
    uint64_t source[ZOO_SOURCES], today;
    uint32_t day;
};

static void z26_open(void *memory, const struct zoo_caps *caps)
{
    struct z26 *l = memory;

    memset(l, 0, sizeof *l);
    l->caps = *caps;
}

static uint64_t z26_all(const struct z26 *l)
{
    uint64_t sum = 0;

    for (unsigned i = 1; i < ZOO_SOURCES; i++)
        sum += l->source[i];
    return sum;
}

static bool z26_charge(void *memory, uint32_t day, unsigned source,
                       uint64_t nano)
{
    struct z26 *l = memory;

    if (day > l->day) {
        l->day = day;
        l->today = 0;
    }
    if (l->source[source] + nano > l->caps.source[source] ||
        l->today + nano > l->caps.day || z26_all(l) + nano > l->caps.lifetime)
        return false;
    l->source[source] += nano;
    l->today += nano;
    return true;
}

const struct zoo_ledger zoo_z26 = {"Z26",
                                   "a sum without its first term",
                                   sizeof(struct z26),
                                   z26_open,
                                   z26_charge,
                                   NULL,
                                   NULL};
