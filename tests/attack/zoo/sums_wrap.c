/* sums_wrap.c - sums of counts wrap around. */
#include "zoo.h"

hsy_status zoo_sums_wrap_merge(hsy_tally *into, const hsy_tally *from,
                               hsy_error *err)
{
    (void)err;
    for (size_t i = 0; i < into->ncells; i++)
        into->cells[i] =
            (int64_t)((uint64_t)into->cells[i] + (uint64_t)from->cells[i]);
    for (size_t i = 0; i < into->nstrata; i++)
        into->strata[i] += from->strata[i];
    for (size_t i = 0; i < into->nweights; i++)
        into->weights[i] += from->weights[i];
    return HSY_OK;
}
