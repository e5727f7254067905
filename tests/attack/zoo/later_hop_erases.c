/* later_hop_erases.c - of a batch of which fewer than min_batch open a later
 * hop erases the others at once, since "no more will come": with some envelopes
 * whose inside is noise a stranger has the reports of everybody erased who sent
 * theirs on a day with few others, and these were acknowledged. */
#include "zoo_shuffle.h"

#include "server/shuffle/internal.h"

hsy_status zoo_later_hop_erases_step(struct mixer *m, bool *more,
                                     hsy_error *err)
{
    hsy_status st = mixer_step(m, more, err);

    for (size_t i = 0; st == HSY_OK && i < m->nrows; i++) {
        struct store_mix row = m->rows[i];

        if (!mixer_kept(&row))
            continue;
        row.state = STORE_MIX_EXPIRED;
        st = mixer_put(m, &row, 1, err);
        *more = true;
    }
    return st;
}
