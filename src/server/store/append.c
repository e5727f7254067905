/*
 * append.c - what the thread that appends writes: commits, documents,
 * closed epochs, figures. Each is one transaction of the record.
 */
#include "server/store/store_runs.h"

#include "host/base/host_fail.h"

/* ---- A commit ------------------------------------------------------------ */

/* Ids of an epoch stand in the places epoch * 2^32 onward, those of null
 * uploads in the second half of them. */
static int append_ids(struct store_sqlite *s, struct sql *q,
                      const struct store_ids *ids)
{
    uint64_t place = 0;
    int rc =
        store_runs_place(s, q, 2 * (uint64_t)ids->epoch + ids->null, &place);
    const struct sql_value row[] = {SQL_N(place),
                                    SQL_B(ids->ids, ids->n * sizeof *ids->ids)};

    return rc == SQLITE_OK
               ? store_put_kept(s, q, STORE_IDS, SQL_PUT_IDS, row, 2)
               : rc;
}

static int append_batch(struct store_sqlite *s, struct sql *q, uint64_t seq,
                        const struct store_batch *b)
{
    const struct sql_value row[] = {SQL_N(seq),        SQL_N(b->entry),
                                    SQL_N(b->epoch),   SQL_N(b->type),
                                    SQL_N(b->reports), SQL_B(b->bytes, b->len)};

    return store_put_kept(s, q, STORE_BATCHES, SQL_PUT_BATCH, row, 6);
}

static int append_count(struct sql *q, const struct store_count *c)
{
    const struct sql_value row[] = {SQL_N(c->entry), SQL_N(c->epoch),
                                    SQL_N(c->reports), SQL_N(c->nulls)};

    return sql_put(q, SQL_PUT_COUNT, row, 4);
}

static int append_quota(struct sql *q, const struct store_quota *u)
{
    const struct sql_value row[] = {
        SQL_N(u->epoch), SQL_B(u->token, sizeof u->token), SQL_N(u->used)};

    return sql_put(q, SQL_PUT_QUOTA, row, 3);
}

static int append_rows(struct store_sqlite *s, struct sql *q,
                       const struct store_commit *c)
{
    int rc = SQLITE_OK;

    for (size_t i = 0; rc == SQLITE_OK && i < c->nids; i++)
        if (c->ids[i].n != 0)
            rc = append_ids(s, q, &c->ids[i]);
    for (size_t i = 0; rc == SQLITE_OK && i < c->nbatches; i++)
        rc = append_batch(s, q, c->seq, &c->batches[i]);
    for (size_t i = 0; rc == SQLITE_OK && i < c->ncounts; i++)
        rc = append_count(q, &c->counts[i]);
    for (size_t i = 0; rc == SQLITE_OK && i < c->nquotas; i++)
        rc = append_quota(q, &c->quotas[i]);
    if (rc == SQLITE_OK && c->merged != NULL)
        rc = sql_put(q, SQL_PUT_MERGED, &SQL_B(c->merged, STORE_MERGED), 1);
    if (rc == SQLITE_OK && c->received != NULL)
        rc = store_put_received(s, q, c->received);
    for (size_t i = 0; rc == SQLITE_OK && i < c->nmixes; i++)
        rc = store_put_mix(s, q, &c->mixes[i]);
    return rc;
}

static int append_commit(struct store_sqlite *s, struct sql *q,
                         const void *what)
{
    const struct store_commit *c = what;

    s->next.state.seq = c->seq;
    return append_rows(s, q, c);
}

hsy_status store_append(struct store *is, const struct store_commit *c,
                        hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    hsy_status st;

    if (c->seq != s->state.seq + 1)
        return host_fail(err, HSY_E_RANGE, HOST_FIELD_SEQ,
                         "not the next commit");
    for (size_t i = 0; i < c->nids; i++)
        if (c->ids[i].epoch > STORE_EPOCHS)
            return host_fail(err, HSY_E_RANGE, HSY_FIELD_EPOCH,
                             "beyond all days");
    st = store_write(s, &s->append, append_commit, c, err);
    if (st != HSY_OK)
        return st;
    s->state.seq = c->seq;
    store_last_write(s, c->seq);
    return st;
}

/* ---- A document ---------------------------------------------------------- */

struct append_document {
    const uint8_t *bytes;
    size_t len;
    uint32_t first;
    const uint8_t *const *entries;
    const size_t *lens;
    size_t n;
};

static int append_document(struct store_sqlite *s, struct sql *q,
                           const void *what)
{
    const struct append_document *d = what;
    const struct sql_value row[] = {SQL_N(1), SQL_B(d->bytes, d->len)};
    int rc = sql_put(q, SQL_PUT_DOCUMENT, row, 2);

    (void)s;
    for (size_t i = 0; rc == SQLITE_OK && i < d->n; i++) {
        const struct sql_value entry[] = {SQL_N(d->first + i),
                                          SQL_B(d->entries[i], d->lens[i])};

        rc = sql_put(q, SQL_PUT_ENTRY, entry, 2);
    }
    return rc;
}

hsy_status store_document(struct store *is, const uint8_t *bytes, size_t len,
                          uint32_t first, const uint8_t *const *entries,
                          const size_t *lens, size_t n, hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    const struct append_document d = {bytes, len, first, entries, lens, n};

    return store_write(s, &s->append, append_document, &d, err);
}

/* ---- Days ---------------------------------------------------------------- */

static int append_state(struct store_sqlite *s, struct sql *q, const void *what)
{
    (void)q;
    s->next.state = *(const struct store_state *)what;
    return SQLITE_OK;
}

/* Closed is closed once the number is durable: what is read back is beyond it.
 * The rows are erased after that, here a first part of them. */
hsy_status store_close_epochs(struct store *is, uint32_t through, uint32_t day,
                              hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    struct store_state next = s->state;
    bool more;
    hsy_status st;

    if (through > STORE_EPOCHS)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_EPOCH, "beyond all days");
    next.closed = through; /* the engine alone knows when one may go back */
    next.day = day;
    if (next.closed == s->state.closed && next.day == s->state.day)
        return store_alive(s, err);
    st = store_write(s, &s->append, append_state, &next, err);
    if (st != HSY_OK)
        return st;
    s->state = next;
    store_runs_closed(s, next.closed);
    st = store_erase_epochs(s, &more, err);
    return st == HSY_E_FULL ? HSY_OK : st; /* later, by store_housekeeping */
}

/* ---- Null uploads -------------------------------------------------------- */

static int append_forget(struct store_sqlite *s, struct sql *q,
                         const void *what)
{
    const struct sql_value *span = what;
    const int rc = store_erase_ids(s, q, span);

    return rc == SQLITE_OK
               ? store_runs_erase(s, q, span[0].number / STORE_NULLS)
               : rc;
}

/* Ids of rows that no run has, in a span; then those of runs are added. */
static int append_count_ids(struct store_sqlite *s,
                            const struct sql_value *span, uint64_t *n)
{
    const uint64_t half = span[0].number / STORE_NULLS;
    const struct sql_value rest[] = {
        SQL_N(store_runs_through(s, half, span[0].number)), span[1]};
    uint64_t bytes = 0;
    const int rc = sql_numbers(&s->append, SQL_SUM_IDS, rest, 2, &bytes, 1);

    *n = bytes / sizeof(struct store_id) + store_runs_ids(s, half);
    return rc;
}

hsy_status store_forget_nulls(struct store *is, uint32_t epoch, uint64_t *n,
                              hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    const uint64_t begin = (uint64_t)epoch << 32 | STORE_NULLS;
    const struct sql_value span[] = {SQL_N(begin),
                                     SQL_N(begin + STORE_NULLS - 1)};
    hsy_status st = store_alive(s, err);
    int rc;

    if (st != HSY_OK)
        return st;
    if (epoch > STORE_EPOCHS)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_EPOCH, "beyond all days");
    rc = append_count_ids(s, span, n);
    if (rc != SQLITE_OK)
        return store_fail(s, &s->append, rc, err);
    st = store_write(s, &s->append, append_forget, span, err);
    if (st == HSY_OK)
        store_runs_forget(s, begin / STORE_NULLS);
    atomic_store(&s->erased, true);
    return st;
}

static int append_figure(struct store_sqlite *s, struct sql *q,
                         const void *what)
{
    const struct store_figure *f = what;
    const struct sql_value row[] = {SQL_N(f->entry), SQL_N(f->day),
                                    SQL_B(f->json, f->len)};

    (void)s;
    return sql_put(q, SQL_PUT_FIGURE, row, 3);
}

hsy_status store_figure(struct store *is, const struct store_figure *f,
                        hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;

    return store_write(s, &s->append, append_figure, f, err);
}
