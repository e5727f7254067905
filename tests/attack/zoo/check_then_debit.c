/*
 * check_then_debit.c - looks whether the budget suffices, and debits later,
 * without a lock.
 *
 * Who asks twice in between is told twice that it does.
 */
#include "zoo_device.h"

struct check_then_debit {
    struct zoo_sums sums;
    uint64_t wanted[2];
    unsigned source[2], begun;
};

static bool check_then_debit_begin(void *memory, uint32_t day, unsigned source,
                                   uint64_t nano)
{
    struct check_then_debit *l = memory;

    if (l->begun == 2 || !zoo_sums_fit(&l->sums, day, source, nano))
        return false;
    l->source[l->begun] = source;
    l->wanted[l->begun++] = nano;
    return true;
}

static bool check_then_debit_end(void *memory)
{
    struct check_then_debit *l = memory;

    if (l->begun == 0)
        return false;
    l->begun--;
    zoo_sums_add(&l->sums, l->source[l->begun], l->wanted[l->begun]);
    return true;
}

static bool check_then_debit_charge(void *memory, uint32_t day, unsigned source,
                                    uint64_t nano)
{
    return check_then_debit_begin(memory, day, source, nano) &&
           check_then_debit_end(memory);
}

const struct zoo_ledger zoo_check_then_debit = {"check_then_debit",
                                                "checked first, debited later",
                                                ZOO_WRITER,
                                                sizeof(struct check_then_debit),
                                                zoo_sums_open,
                                                check_then_debit_charge,
                                                check_then_debit_begin,
                                                check_then_debit_end};
