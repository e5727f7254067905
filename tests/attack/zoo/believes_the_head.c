/* believes_the_head.c - a later hop opens the period of the epoch that the hop
 * before wrote on a batch, "as that is when they were sent": an envelope of any
 * age opens under the head of its own day, after it was forgotten, and a first
 * shuffler that works with the collector learns whose it is from two mixes. */
#include "zoo_shuffle.h"

#include "server/shuffle/internal.h"

hsy_status zoo_believes_the_head_step(struct mixer *m, bool *more,
                                      hsy_error *err)
{
    const uint32_t day = m->day;
    hsy_status st;

    for (size_t i = m->nrows; i-- > 0;)
        if (m->rows[i].state == STORE_MIX_CLOSED)
            m->day = m->rows[i].epoch;
    st = mixer_step(m, more, err);
    m->day = day;
    return st;
}
