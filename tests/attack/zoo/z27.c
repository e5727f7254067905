/*
 * z27.c - looks whether the budget suffices, and debits later, without a lock.
 *
 * Who asks twice in between is told twice that it does.
 */
#include "zoo_device.h"

struct z27 {
    struct zoo_sums sums;
    uint64_t wanted[2];
    unsigned source[2], begun;
};

static bool z27_begin(void *memory, uint32_t day, unsigned source,
                      uint64_t nano)
{
    struct z27 *l = memory;

    if (l->begun == 2 || !zoo_sums_fit(&l->sums, day, source, nano))
        return false;
    l->source[l->begun] = source;
    l->wanted[l->begun++] = nano;
    return true;
}

static bool z27_end(void *memory)
{
    struct z27 *l = memory;

    if (l->begun == 0)
        return false;
    l->begun--;
    zoo_sums_add(&l->sums, l->source[l->begun], l->wanted[l->begun]);
    return true;
}

static bool z27_charge(void *memory, uint32_t day, unsigned source,
                       uint64_t nano)
{
    return z27_begin(memory, day, source, nano) && z27_end(memory);
}

const struct zoo_ledger zoo_z27 = {
    "Z27",         "checked first, debited later",
    ZOO_WRITER,    sizeof(struct z27),
    zoo_sums_open, z27_charge,
    z27_begin,     z27_end};
