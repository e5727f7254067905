/* engine_forget.c - what an operator lets an engine forget. */
#include "engine_parts.h"

#include "hostfail.h"

#include <stdlib.h>

/* ---- Ids of null uploads ------------------------------------------------- */

/* What is left of an entry's ids without its nulls. */
static void forget_row(const struct engine *e, struct store_quota *row,
                       const struct store_count *count)
{
    const uint64_t used =
        portions_used(&e->portions, count->epoch, count->entry);
    const uint64_t left = used > count->nulls ? used - count->nulls : 0;

    *row = (struct store_quota){.epoch = count->epoch,
                                .used = (uint32_t)(left + 1)};
    portions_name(row->token, count->entry);
}

/* The rows of all entries that have something in the epoch. */
static size_t forget_rows(const struct engine *e, uint32_t epoch,
                          struct store_quota *rows)
{
    size_t n = 0;

    for (size_t i = 0; i < e->nentries; i++) {
        const struct engine_entry *x = e->entries[i];

        for (size_t k = 0; k < x->ncounts; k++)
            if (x->counts[k].epoch == epoch)
                forget_row(e, &rows[n++], &x->counts[k]);
    }
    return n;
}

hsy_status engine_forget_nulls(struct engine *e, uint32_t epoch, uint64_t *n,
                               hsy_error *err)
{
    struct store_quota *rows = malloc((e->nentries + 1) * sizeof *rows);
    struct store_commit c = {.seq = e->status.seq + 1, .quotas = rows};
    hsy_status st;

    if (rows == NULL)
        return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    c.nquotas = epoch > e->closed ? forget_rows(e, epoch, rows) : 0;
    st = e->store->is->forget_nulls(e->store, epoch, n, err);
    if (st == HSY_OK && *n != 0)
        st = e->store->is->append(e->store, &c, err);
    e->dead = true;
    free(rows);
    return st;
}
