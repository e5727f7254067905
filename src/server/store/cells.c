/*
 * cells.c - the images of tallies: chunks, rounds, and why a kill between
 * any two writes leaves what store.h promises.
 *
 * A chunk of a tally is a row of cells.db with a number of its entry's round.
 * The record says which round R of an entry is in force, through which commit,
 * and in which round each of its tallies began (`since`). In force is, for
 * every place, the row with the latest round from since to R; a place without
 * one is zeros.
 *
 *   1. store_chunks writes rows of round R + 1. None of them is in force: the
 *      record says R. A kill here leaves orphans, which are erased before the
 *      next row is written (store_sweep), so a later round R + 1 has only its
 *      own rows.
 *   2. store_rounds makes them durable: a commit of cells.db with a sync behind
 *      them all. A kill here is as one in 1.
 *   3. It flips: one transaction of the record says R + 1, the new `through`,
 *      and the tallies with a check sum over the rows in force. Before it is
 *      durable the old images and all batches beyond the old `through` are
 *      read back, after it the new ones and those beyond the new: a batch is in
 *      one or the other, never in both. By 2 all rows in force are there. This
 *      commit is synced before anything else is done.
 *   4. It erases the batches up to `through`. A kill here leaves some, which
 *      are not read back any more and are erased when the store is opened; so
 *      it waits for no sync.
 *   5. Rows that are superseded are erased, later and a few at a time. None of
 *      them is in force, since one of the same place with a later round up to R
 *      is: that one is durable by 2, and R by 3. A kill here leaves some; all
 *      tallies are looked through again in the next process.
 *
 * A tally is dropped by taking its row out of the record; its chunks are waste
 * from then on. If it came back it would begin in a later round (`since`), and
 * the old rows would still not count.
 */
#include "server/store/internal.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <stdlib.h>

/* ---- Rows ---------------------------------------------------------------- */

struct store_tally_row store_tally_row(const struct sql_value *row)
{
    return (struct store_tally_row){
        .is = {(uint32_t)row[0].number, (uint32_t)row[1].number, row[2].number},
        .since = row[3].number,
        .chunks = row[4].number,
        .check = row[5].number};
}

static hsy_status cells_take_round(void *ctx, const struct sql_value *row)
{
    struct sql_value *to = ctx;

    to[0] = row[1];
    to[1] = row[2];
    return HSY_OK;
}

hsy_status store_get_round(struct store_sqlite *s, struct sql *q,
                           uint32_t entry, uint64_t *round, uint64_t *through,
                           hsy_error *err)
{
    struct sql_value got[2] = {{0}};
    const hsy_status st = store_rows(s, q, SQL_GET_ROUND, &SQL_N(entry), 1,
                                     cells_take_round, got, err);

    *round = got[0].number;
    *through = got[1].number;
    return st;
}

static hsy_status cells_take_tally(void *ctx, const struct sql_value *row)
{
    *(struct store_tally_row *)ctx = store_tally_row(row);
    return HSY_OK;
}

hsy_status store_get_tally(struct store_sqlite *s, uint32_t entry,
                           uint32_t epoch, struct store_tally_row *row,
                           hsy_error *err)
{
    const struct sql_value v[] = {SQL_N(entry), SQL_N(epoch)};

    *row = (struct store_tally_row){.since = 0};
    return store_rows(s, &s->flip, SQL_GET_TALLY, v, 2, cells_take_tally, row,
                      err);
}

/* ---- Chunks -------------------------------------------------------------- */

struct cells_chunks {
    const struct store_tally *tally;
    const struct store_chunk *chunks;
    size_t n;
    uint64_t round;
};

static int cells_put_chunk(struct sql *q, const struct cells_chunks *c,
                           const struct store_chunk *chunk)
{
    uint8_t wire[8 * STORE_CHUNK];
    const struct sql_value row[] = {SQL_N(c->tally->entry),
                                    SQL_N(c->tally->epoch), SQL_N(chunk->place),
                                    SQL_N(c->round), SQL_B(wire, 8 * chunk->n)};
    int rc = sql_run(q, SQL_ERASE_CHUNK, row, 4); /* if it comes again */

    for (size_t i = 0; i < chunk->n; i++)
        bytes_put64(wire + 8 * i, (uint64_t)chunk->words[i]);
    return rc == SQLITE_OK ? sql_put(q, SQL_PUT_CHUNK, row, 5) : rc;
}

static int cells_put_chunks(struct store_sqlite *s, struct sql *q,
                            const void *what)
{
    const struct cells_chunks *c = what;
    int rc = SQLITE_OK;

    (void)s;
    for (size_t i = 0; rc == SQLITE_OK && i < c->n; i++)
        rc = cells_put_chunk(q, c, &c->chunks[i]);
    return rc;
}

/* Note a tally for its entry's round. */
static bool cells_add_pending(struct store_sqlite *s,
                              const struct store_tally *t)
{
    for (size_t i = 0; i < s->npending; i++)
        if (s->pending[i].entry == t->entry && s->pending[i].epoch == t->epoch)
            return s->pending[i].words == t->words;
    if (!grow_to(&s->pending, s->npending + 1, sizeof *s->pending))
        return false;
    s->pending[s->npending++] = *t;
    return true;
}

static bool cells_fits(const struct store_tally *t, const struct store_chunk *c)
{
    const uint64_t first = (uint64_t)c->place * STORE_CHUNK;

    return first < t->words &&
           c->n == (t->words - first < STORE_CHUNK ? t->words - first
                                                   : STORE_CHUNK);
}

static hsy_status cells_write(struct store_sqlite *s,
                              const struct store_tally *tally,
                              const struct store_chunk *chunks, size_t n,
                              hsy_error *err)
{
    struct cells_chunks c = {tally, chunks, n, 0};
    uint64_t through;
    bool more;
    hsy_status st = store_sweep(s, err);

    if (st == HSY_OK)
        st =
            store_get_round(s, &s->flip, tally->entry, &c.round, &through, err);
    c.round++;
    if (st == HSY_OK && !cells_add_pending(s, tally))
        return host_nomem(err);
    /* Room that is given back is taken at once. */
    if (st == HSY_OK)
        st = store_erase_waste(s, n, &more, err);
    if (st == HSY_OK)
        st = store_write(s, &s->cells, cells_put_chunks, &c, err);
    if (st == HSY_OK)
        st = store_bound_log(s, &s->cells, err);
    return st;
}

hsy_status store_chunks(struct store *is, const struct store_tally *tally,
                        const struct store_chunk *chunks, size_t n,
                        hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    hsy_status st = store_alive(s, err);

    for (size_t i = 0; i < n; i++)
        if (!cells_fits(tally, &chunks[i]))
            return host_fail(err, HSY_E_RANGE, HOST_FIELD_PLACE,
                             "a chunk does not fit its tally");
    if (st != HSY_OK)
        return st;
    pthread_mutex_lock(&s->cutting);
    st = cells_write(s, tally, chunks, n, err);
    pthread_mutex_unlock(&s->cutting);
    return st;
}

/* ---- Rounds -------------------------------------------------------------- */

/* What a flip writes; all of it is owned. */
struct cells_flip {
    uint64_t *rounds; /* the next of each entry */
    const struct store_round *of;
    size_t n;
    struct store_tally_row *rows;
    size_t nrows;
};

static int cells_flip(struct store_sqlite *s, struct sql *q, const void *what)
{
    const struct cells_flip *f = what;
    int rc = SQLITE_OK;

    (void)s;
    for (size_t i = 0; rc == SQLITE_OK && i < f->n; i++) {
        const struct sql_value round[] = {SQL_N(f->of[i].entry),
                                          SQL_N(f->rounds[i]),
                                          SQL_N(f->of[i].through)};

        rc = sql_put(q, SQL_PUT_ROUND, round, 3);
    }
    for (size_t i = 0; rc == SQLITE_OK && i < f->nrows; i++) {
        const struct store_tally_row *t = &f->rows[i];
        const struct sql_value row[] = {SQL_N(t->is.entry), SQL_N(t->is.epoch),
                                        SQL_N(t->is.words), SQL_N(t->since),
                                        SQL_N(t->chunks),   SQL_N(t->check)};

        rc = sql_put(q, SQL_PUT_TALLY, row, 6);
    }
    return rc;
}

/* The row of a tally as it will be in force with the next round. */
static hsy_status cells_next(struct store_sqlite *s, uint64_t round,
                             const struct store_tally *t,
                             struct store_tally_row *row, hsy_error *err)
{
    hsy_status st = store_get_tally(s, t->entry, t->epoch, row, err);
    struct sql_value v[4] = {SQL_N(t->entry), SQL_N(t->epoch), SQL_N(0),
                             SQL_N(round)};
    uint64_t sum[2];
    int rc;

    if (st != HSY_OK)
        return st;
    if (row->since != 0 && row->is.words != t->words)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_WORDS,
                         "the tally had others");
    row->is = *t;
    row->since = row->since == 0 ? round : row->since;
    v[2] = SQL_N(row->since);
    rc = sql_numbers(&s->cells, SQL_SUM_CHUNKS, v, 4, sum, 2);
    if (rc != SQLITE_OK)
        return store_fail(s, &s->cells, rc, err);
    row->chunks = sum[0];
    row->check = sum[1];
    return HSY_OK;
}

/* Make all rows of cells durable: the sync of one commit is behind them all. */
static int cells_seal(struct store_sqlite *s, struct sql *q, const void *what)
{
    (void)what;
    return store_put_name(s, q);
}

static hsy_status cells_sync(struct store_sqlite *s, hsy_error *err)
{
    int rc = sql_sync(&s->cells, true);
    hsy_status st;

    if (rc != SQLITE_OK)
        return store_fail(s, &s->cells, rc, err);
    st = store_write(s, &s->cells, cells_seal, NULL, err);
    sql_sync(&s->cells, false);
    return st;
}

/* A transaction of the record that is durable when it returns: chunks are
 * erased because of it. */
static hsy_status cells_record(struct store_sqlite *s, store_body *body,
                               const void *what, hsy_error *err)
{
    int rc = sql_sync(&s->flip, true);

    return rc == SQLITE_OK ? store_write(s, &s->flip, body, what, err)
                           : store_fail(s, &s->flip, rc, err);
}

/* The place of an entry among rounds; n: it is not. */
static size_t cells_find(const struct store_round *rounds, size_t n,
                         uint32_t entry)
{
    size_t i = 0;

    while (i < n && rounds[i].entry != entry)
        i++;
    return i;
}

/* Pending tallies of the entries leave the list; their old rows become waste.
 */
static void cells_done(struct store_sqlite *s, const struct store_round *rounds,
                       size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->npending; i++) {
        const struct store_tally *t = &s->pending[i];

        if (cells_find(rounds, n, t->entry) != n)
            store_add_waste(s, t->entry, t->epoch);
        else
            s->pending[kept++] = *t;
    }
    s->npending = kept;
}

/* The next round of each entry, and the rows of tallies then. */
static hsy_status cells_next_rounds(struct store_sqlite *s,
                                    struct cells_flip *f, hsy_error *err)
{
    hsy_status st = store_sweep(s, err);

    for (size_t i = 0; st == HSY_OK && i < f->n; i++) {
        uint64_t old;

        st = store_get_round(s, &s->flip, f->of[i].entry, &f->rounds[i], &old,
                             err);
        f->rounds[i]++;
        if (st == HSY_OK && f->of[i].through < old)
            st = host_fail(err, HSY_E_RANGE, HOST_FIELD_THROUGH,
                           "before the last round");
    }
    for (size_t i = 0; st == HSY_OK && i < s->npending; i++) {
        const size_t k = cells_find(f->of, f->n, s->pending[i].entry);

        if (k != f->n)
            st = cells_next(s, f->rounds[k], &s->pending[i],
                            &f->rows[f->nrows++], err);
    }
    return st;
}

static hsy_status cells_rounds(struct store_sqlite *s,
                               const struct store_round *rounds, size_t n,
                               hsy_error *err)
{
    struct cells_flip f = {.rounds = calloc(n + 1, sizeof *f.rounds),
                           .of = rounds,
                           .n = n,
                           .rows = calloc(s->npending + 1, sizeof *f.rows)};
    hsy_status st = f.rounds == NULL || f.rows == NULL
                        ? host_nomem(err)
                        : cells_next_rounds(s, &f, err);

    if (st == HSY_OK)
        st = cells_sync(s, err);
    if (st == HSY_OK)
        st = cells_record(s, cells_flip, &f, err);
    free(f.rounds);
    free(f.rows);
    return st;
}

hsy_status store_rounds(struct store *is, const struct store_round *rounds,
                        size_t n, hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    hsy_status st = store_alive(s, err);
    bool flipped;

    if (st != HSY_OK)
        return st;
    pthread_mutex_lock(&s->cutting);
    st = cells_rounds(s, rounds, n, err);
    flipped = st == HSY_OK;
    if (st == HSY_OK)
        cells_done(s, rounds, n);
    sql_sync(&s->flip, false); /* what is not erased now is when it is opened */
    if (st == HSY_OK)
        st = store_erase_batches(s, &s->flip, rounds, n, err);
    if (st == HSY_E_FULL && flipped)
        st = HSY_OK; /* by the next round */
    if (st == HSY_OK)
        st = store_bound_log(s, &s->flip, err);
    pthread_mutex_unlock(&s->cutting);
    return st;
}

/* ---- Days that are no longer kept ---------------------------------------- */

struct cells_drop {
    const struct store_tally *tallies;
    size_t n;
};

static int cells_erase_tallies(struct store_sqlite *s, struct sql *q,
                               const void *what)
{
    const struct cells_drop *d = what;
    int rc = SQLITE_OK;

    (void)s;
    for (size_t i = 0; rc == SQLITE_OK && i < d->n; i++) {
        const struct sql_value v[] = {SQL_N(d->tallies[i].entry),
                                      SQL_N(d->tallies[i].epoch)};

        rc = sql_run(q, SQL_ERASE_TALLY, v, 2);
    }
    return rc;
}

hsy_status store_drop(struct store *is, const struct store_tally *tallies,
                      size_t n, hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    const struct cells_drop d = {tallies, n};
    hsy_status st = store_alive(s, err);

    if (st != HSY_OK)
        return st;
    pthread_mutex_lock(&s->cutting);
    st = cells_record(s, cells_erase_tallies, &d, err);
    for (size_t i = 0; st == HSY_OK && i < n; i++)
        store_add_waste(s, tallies[i].entry, tallies[i].epoch);
    pthread_mutex_unlock(&s->cutting);
    return st;
}
