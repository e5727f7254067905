/* mixes_again.c - that a batch is mixed is forgotten in a crash: envelopes
 * whose batch had no receipt yet are mixed once more, with fresh coins. If the
 * first one had left, two orders of the same envelopes can be compared, and two
 * batches under one id disagree. */
#include "zoo_shuffle.h"

#include <stdlib.h>

struct mixes_again {
    struct store_mix *rows; /* owned */
    size_t n;
};

static hsy_status mixes_again_row(void *ctx, const struct store_mix *row)
{
    struct mixes_again *all = ctx;
    struct store_mix *more;

    if (row->state != STORE_MIX_MIXED)
        return HSY_OK;
    more = realloc(all->rows, (all->n + 1) * sizeof *more);
    if (more == NULL)
        return HSY_E_NOMEM;
    all->rows = more;
    all->rows[all->n] = *row;
    all->rows[all->n++].state = STORE_MIX_CLOSED;
    return HSY_OK;
}

hsy_status zoo_mixes_again_open(struct mixer **out,
                                const struct mixer_options *options,
                                hsy_error *err)
{
    struct store *s = options->store;
    struct mixes_again all = {.rows = NULL};
    const struct store_reader to = {.ctx = &all, .mix = mixes_again_row};
    hsy_status st = s->ops->read(s, &to, err);

    if (st == HSY_OK && all.n != 0)
        st = s->ops->mix(s, all.rows, all.n, err);
    free(all.rows);
    return st == HSY_OK ? mixer_open(out, options, err) : st;
}
