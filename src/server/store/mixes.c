/*
 * mixes.c - sealed envelopes, and the batches of them that come from a hop
 * or go to one.
 *
 * Envelopes rest in rows of `batches` with a type of their own. No tally takes
 * them, so no round erases them; and reading back passes them over, for a day
 * of them may not fit into memory. They are handed over row by row to the
 * thread that mixes, and erased by it alone, as a set (struct store_set).
 */
#include "server/store/internal.h"

#include "host/base/host_fail.h"

#include <string.h>

/* ---- Rows ---------------------------------------------------------------- */

int store_put_received(struct store_sqlite *s, struct sql *q,
                       const struct store_received *r)
{
    const struct sql_value row[] = {SQL_B(r->id, STORE_BATCH_ID),
                                    SQL_B(r->digest, STORE_DIGEST),
                                    SQL_N(r->entry),
                                    SQL_N(r->epoch),
                                    SQL_N(r->n),
                                    SQL_N(r->nulls),
                                    SQL_N(r->unopened),
                                    SQL_N(r->again),
                                    SQL_B(r->heads, r->heads_len)};

    return store_put_kept(s, q, STORE_HOPS, SQL_PUT_RECEIVED, row,
                          sizeof row / sizeof *row);
}

hsy_status store_received_row(struct store_received *out,
                              const struct sql_value *row)
{
    if (row[0].len != STORE_BATCH_ID || row[1].len != STORE_DIGEST ||
        row[8].bytes == NULL || row[8].len > STORE_HEADS)
        return HSY_E_DAMAGED;
    *out = (struct store_received){.entry = (uint32_t)row[2].number,
                                   .epoch = (uint32_t)row[3].number,
                                   .n = row[4].number,
                                   .nulls = row[5].number,
                                   .unopened = row[6].number,
                                   .again = row[7].number,
                                   .heads = row[8].bytes,
                                   .heads_len = row[8].len};
    memcpy(out->id, row[0].bytes, STORE_BATCH_ID);
    memcpy(out->digest, row[1].bytes, STORE_DIGEST);
    return HSY_OK;
}

int store_put_mix(struct store_sqlite *s, struct sql *q,
                  const struct store_mix *m)
{
    const struct sql_value row[] = {SQL_B(m->id, STORE_BATCH_ID),
                                    SQL_N(m->entry),
                                    SQL_N(m->epoch),
                                    SQL_N(m->part),
                                    SQL_N(m->through),
                                    SQL_N(m->n),
                                    SQL_N((uint64_t)m->state),
                                    SQL_B(m->digest, STORE_DIGEST),
                                    SQL_B(m->receipt, STORE_RECEIPT)};
    const int rc = store_erase_kept(s, q, STORE_HOPS, SQL_SUM_MIX,
                                    SQL_ERASE_MIX, &row[0], 1);

    return rc != SQLITE_OK || m->state == STORE_MIX_NONE
               ? rc
               : store_put_kept(s, q, STORE_HOPS, SQL_PUT_MIX, row,
                                sizeof row / sizeof *row);
}

hsy_status store_mix_row(struct store_mix *out, const struct sql_value *row)
{
    if (row[0].len != STORE_BATCH_ID || row[7].len != STORE_DIGEST ||
        row[8].len != STORE_RECEIPT || row[6].number == STORE_MIX_NONE ||
        row[6].number > STORE_MIX_GONE)
        return HSY_E_DAMAGED;
    *out = (struct store_mix){.entry = (uint32_t)row[1].number,
                              .epoch = (uint32_t)row[2].number,
                              .part = (uint32_t)row[3].number,
                              .through = row[4].number,
                              .n = row[5].number,
                              .state = (enum store_mix_state)row[6].number};
    memcpy(out->id, row[0].bytes, STORE_BATCH_ID);
    memcpy(out->digest, row[7].bytes, STORE_DIGEST);
    memcpy(out->receipt, row[8].bytes, STORE_RECEIPT);
    return HSY_OK;
}

/* ---- What came ----------------------------------------------------------- */

struct mixes_found {
    struct store_received *to;
    uint8_t *heads; /* NULL: they are not asked for */
    bool any;
};

static hsy_status mixes_take_received(void *ctx, const struct sql_value *row)
{
    struct mixes_found *f = ctx;
    const hsy_status st = store_received_row(f->to, row);

    f->any = true;
    if (st == HSY_OK && f->heads != NULL)
        memcpy(f->heads, f->to->heads, f->to->heads_len);
    else
        f->to->heads_len = 0;
    f->to->heads = NULL; /* they last for the row only */
    return st;
}

static hsy_status mixes_find(struct store_sqlite *s, struct sql *q,
                             const uint8_t id[STORE_BATCH_ID],
                             struct store_received *out, uint8_t *heads,
                             hsy_error *err)
{
    const struct sql_value v = SQL_B(id, STORE_BATCH_ID);
    struct mixes_found found = {out, heads, false};
    hsy_status st = store_alive(s, err);

    if (st == HSY_OK)
        st = store_rows(s, q, SQL_GET_RECEIVED, &v, 1, mixes_take_received,
                        &found, err);
    if (st == HSY_OK && !found.any)
        return host_fail(err, HSY_E_EMPTY, HOST_FIELD_BATCH, "it never came");
    return st;
}

hsy_status store_get_received(struct store *is,
                              const uint8_t id[STORE_BATCH_ID],
                              struct store_received *out, hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;

    return mixes_find(s, &s->append, id, out, NULL, err);
}

hsy_status store_get_heads(struct store *is, const uint8_t id[STORE_BATCH_ID],
                           uint8_t heads[STORE_HEADS], size_t *len,
                           hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    struct store_received row;
    const hsy_status st = mixes_find(s, &s->mix, id, &row, heads, err);

    if (st == HSY_OK)
        *len = row.heads_len;
    return st;
}

static int mixes_forget(struct store_sqlite *s, struct sql *q, const void *what)
{
    const struct sql_value before = SQL_N(*(const uint32_t *)what);

    return store_erase_kept(s, q, STORE_HOPS, SQL_SUM_OLD_RECEIVED,
                            SQL_ERASE_OLD_RECEIVED, &before, 1);
}

hsy_status store_forget_received(struct store *is, uint32_t before,
                                 hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;

    return store_write(s, &s->mix, mixes_forget, &before, err);
}

/* ---- What goes ----------------------------------------------------------- */

struct mixes_rows {
    const struct store_mix *rows;
    size_t n;
};

static int mixes_put(struct store_sqlite *s, struct sql *q, const void *what)
{
    const struct mixes_rows *m = what;
    int rc = SQLITE_OK;

    for (size_t i = 0; rc == SQLITE_OK && i < m->n; i++)
        rc = store_put_mix(s, q, &m->rows[i]);
    return rc;
}

hsy_status store_mix(struct store *is, const struct store_mix *rows, size_t n,
                     hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    const struct mixes_rows m = {rows, n};

    return store_write(s, &s->mix, mixes_put, &m, err);
}

/* ---- Sealed envelopes ---------------------------------------------------- */

#define MIXES_SET 7

static void mixes_set(struct sql_value v[MIXES_SET], const struct store_set *t)
{
    v[0] = SQL_N(t->entry);
    v[1] = SQL_N(t->epoch);
    v[2] = SQL_N(t->from);
    v[3] = SQL_N(t->through);
    v[4] = SQL_N(t->not_epoch);
    v[5] = SQL_N(t->not_through);
    v[6] = SQL_N(t->since);
}

hsy_status store_sealed_count(struct store *is, const struct store_set *set,
                              uint64_t *envelopes, hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    struct sql_value v[MIXES_SET];
    hsy_status st = store_alive(s, err);
    int rc;

    if (st != HSY_OK)
        return st;
    mixes_set(v, set);
    rc = sql_numbers(&s->mix, SQL_COUNT_SEALED, v, MIXES_SET, envelopes, 1);
    return rc == SQLITE_OK ? HSY_OK : store_fail(s, &s->mix, rc, err);
}

struct mixes_each {
    hsy_status (*each)(void *ctx, const struct store_batch *batch);
    void *ctx;
};

static hsy_status mixes_hand_over(void *ctx, const struct sql_value *row)
{
    const struct mixes_each *e = ctx;
    const struct store_batch b = store_batch_row(row);

    return e->each(e->ctx, &b);
}

hsy_status
store_sealed(struct store *is, const struct store_set *set, uint64_t *at,
             hsy_status (*each)(void *ctx, const struct store_batch *batch),
             void *ctx, bool *more, hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    struct mixes_each to = {each, ctx};
    struct sql_value v[MIXES_SET + 1];
    hsy_status st = store_alive(s, err);
    int rc;

    if (st != HSY_OK)
        return st;
    mixes_set(v, set);
    v[MIXES_SET] = SQL_N(*at);
    rc = sql_numbers(&s->mix, SQL_NEXT_SEALED, v, MIXES_SET + 1, at, 1);
    *more = rc == SQLITE_OK;
    if (rc != SQLITE_OK)
        return rc == SQLITE_DONE ? HSY_OK : store_fail(s, &s->mix, rc, err);
    return store_rows(s, &s->mix, SQL_GET_SEALED, &SQL_N(*at), 1,
                      mixes_hand_over, &to, err);
}

/* ---- Erasing ------------------------------------------------------------- */

struct mixes_erase {
    const struct store_set *set;
    bool *more;
};

/* Some rows, of so many bytes that nobody waits long for it. */
static int mixes_erase(struct store_sqlite *s, struct sql *q, const void *what)
{
    const struct mixes_erase *e = what;
    struct store_erased erased = {.n = 0};
    struct sql_value v[MIXES_SET + 1];
    int rc;

    mixes_set(v, e->set);
    v[MIXES_SET] = SQL_N(STORE_ERASE_ROWS);
    rc = store_erased_list(q, SQL_LIST_SEALED, v, MIXES_SET + 1, &erased,
                           &s->next.kept[STORE_BATCHES]);
    *e->more = store_erased_enough(&erased);
    return rc == SQLITE_OK ? store_erased_go(s, q, &erased) : rc;
}

hsy_status store_sealed_erase(struct store *is, const struct store_set *set,
                              bool *more, hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    const struct mixes_erase e = {set, more};
    hsy_status st = store_write(s, &s->mix, mixes_erase, &e, err);

    if (st != HSY_OK)
        return st;
    pthread_mutex_lock(&s->cutting); /* what is erased goes through the log */
    st = store_bound_log(s, &s->flip, err);
    pthread_mutex_unlock(&s->cutting);
    return st;
}
