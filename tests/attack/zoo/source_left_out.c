/* source_left_out.c - the sum of all sources leaves one of them out. */
#include "zoo_device.h"

static bool source_left_out_charge(void *memory, uint32_t day, unsigned source,
                                   uint64_t nano)
{
    struct zoo_sums *l = memory;

    if (!zoo_sums_fit(l, day, source, nano))
        return false;
    zoo_sums_add(l, source, nano);
    l->all = 0;
    for (unsigned i = 1; i < ZOO_SOURCES; i++)
        l->all += l->source[i];
    return true;
}

const struct zoo_ledger zoo_source_left_out = {"source_left_out",
                                               "a sum without its first term",
                                               ZOO_SOURCES_SUM | ZOO_ENDS,
                                               sizeof(struct zoo_sums),
                                               zoo_sums_open,
                                               source_left_out_charge,
                                               NULL,
                                               NULL};
