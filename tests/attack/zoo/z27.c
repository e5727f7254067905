/*
 * z27.c - looks whether the budget suffices, and debits later, without a lock.
 *
 * Who asks twice in between is told twice that it does.
 */
#include "zoo_device.h"

struct z27 {
    uint64_t spent, cap, wanted[2];
    unsigned begun;
};

static void z27_open(void *memory, const struct zoo_caps *caps)
{
    struct z27 *l = memory;

    memset(l, 0, sizeof *l);
    l->cap = caps->lifetime;
}

static bool z27_begin(void *memory, uint32_t day, unsigned source,
                      uint64_t nano)
{
    struct z27 *l = memory;

    (void)day;
    (void)source;
    if (l->begun == 2 || l->spent + nano > l->cap)
        return false;
    l->wanted[l->begun++] = nano;
    return true;
}

static bool z27_end(void *memory)
{
    struct z27 *l = memory;

    if (l->begun == 0)
        return false;
    l->spent += l->wanted[--l->begun];
    return true;
}

static bool z27_charge(void *memory, uint32_t day, unsigned source,
                       uint64_t nano)
{
    return z27_begin(memory, day, source, nano) && z27_end(memory);
}

const struct zoo_ledger zoo_z27 = {"Z27",
                                   "checked first, debited later",
                                   sizeof(struct z27),
                                   z27_open,
                                   z27_charge,
                                   z27_begin,
                                   z27_end};
