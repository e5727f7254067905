/* flushes_small_batches.c - what has waited for others is sent with whoever
 * came in the meantime, "so that nothing is lost": who can keep others away
 * gets a batch of one, which is the n - 1 attack on mixes that flush. */
#include "zoo_shuffle.h"

#include "server/shuffle/internal.h"

static bool flushes_waits(const struct mixer *m, uint32_t entry)
{
    for (size_t i = 0; i < m->nrows; i++)
        if (m->rows[i].entry == entry && m->rows[i].state == STORE_MIX_WAITING)
            return true;
    return false;
}

hsy_status zoo_flushes_small_batches_decide(struct mixer *m,
                                            const struct mixer_time *now,
                                            hsy_error *err)
{
    for (size_t i = 0; i < m->ntasks; i++)
        if (flushes_waits(m, m->tasks[i].entry))
            m->tasks[i].min_batch = 1;
    return mixer_decide(m, now, err);
}
