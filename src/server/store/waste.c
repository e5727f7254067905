/*
 * waste.c - erasing chunks that are not in force: those that no round was
 * made of, and those that a later round has superseded. Why none that counts is
 * among them stands in cells.c.
 */
#include "server/store/internal.h"

#include "host/base/grow.h"

#include <stdlib.h>

#define WASTE_PIECE 256u /* rows erased in a transaction */

/* ---- Orphans ------------------------------------------------------------- */

struct waste_orphans {
    uint32_t entry, epoch;
    uint64_t round;
};

static int waste_erase_orphans(struct store_sqlite *s, struct sql *q,
                               const void *what)
{
    const struct waste_orphans *o = what;
    const struct sql_value v[] = {SQL_N(o->entry), SQL_N(o->epoch),
                                  SQL_N(o->round), SQL_N(WASTE_PIECE)};

    (void)s;
    return sql_run(q, SQL_ERASE_ORPHANS, v, 4);
}

/* Rows of one tally beyond the round in force. */
static hsy_status waste_sweep_tally(struct store_sqlite *s, uint32_t entry,
                                    uint32_t epoch, hsy_error *err)
{
    struct waste_orphans o = {entry, epoch, 0};
    uint64_t through;
    hsy_status st =
        store_get_round(s, &s->flip, entry, &o.round, &through, err);

    if (st == HSY_OK)
        store_add_waste(s, entry, epoch);
    do {
        if (st == HSY_OK)
            st = store_write(s, &s->cells, waste_erase_orphans, &o, err);
    } while (st == HSY_OK && sqlite3_changes(s->cells.db) != 0);
    return st;
}

/* The tallies that have rows at all are noted first: what is being erased is
 * not read. */
hsy_status store_sweep(struct store_sqlite *s, hsy_error *err)
{
    struct store_garbage *found = NULL;
    size_t n = 0;
    hsy_status st = HSY_OK;
    int rc;
    sqlite3_stmt *q;

    if (s->swept)
        return HSY_OK;
    q = sql_start(&s->cells, SQL_LIST_CHUNKS, NULL, 0, &rc);
    while (q != NULL && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        if (!grow_to(&found, n + 1, sizeof *found)) {
            rc = SQLITE_NOMEM;
            break;
        }
        found[n++] =
            (struct store_garbage){(uint32_t)sqlite3_column_int64(q, 0),
                                   (uint32_t)sqlite3_column_int64(q, 1), 0};
    }
    sqlite3_reset(q);
    if (rc != SQLITE_DONE)
        st = store_fail(s, &s->cells, rc, err);
    for (size_t i = 0; st == HSY_OK && i < n; i++)
        st = waste_sweep_tally(s, found[i].entry, found[i].epoch, err);
    free(found);
    s->swept = st == HSY_OK;
    return st;
}

/* ---- Waste --------------------------------------------------------------- */

/* Without memory for it the rows stay until the store is opened again. */
void store_add_waste(struct store_sqlite *s, uint32_t entry, uint32_t epoch)
{
    if (grow_to(&s->waste, s->nwaste + 1, sizeof *s->waste))
        s->waste[s->nwaste++] = (struct store_garbage){entry, epoch, 0};
}

struct waste_of_tally {
    struct store_garbage *tally; /* place moves on */
    uint64_t since, round;
    size_t *rows; /* to erase at most; those left */
};

/* Some superseded rows of one tally. */
static int waste_erase(struct store_sqlite *s, struct sql *q, const void *what)
{
    const struct waste_of_tally *w = what;
    const size_t most = *w->rows < WASTE_PIECE ? *w->rows : WASTE_PIECE;
    const struct sql_value v[] = {
        SQL_N(w->tally->entry), SQL_N(w->tally->epoch), SQL_N(w->tally->place),
        SQL_N(w->since),        SQL_N(w->round),        SQL_N(most)};
    uint64_t numbers[WASTE_PIECE];
    size_t n = 0;
    int rc;
    sqlite3_stmt *st = sql_start(q, SQL_OLD_CHUNKS, v, 6, &rc);

    (void)s;
    while (st != NULL && n < most && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        w->tally->place = (uint32_t)sqlite3_column_int64(st, 0);
        numbers[n++] = (uint64_t)sqlite3_column_int64(st, 1);
    }
    sqlite3_reset(st);
    if (st != NULL && (rc == SQLITE_DONE || rc == SQLITE_ROW))
        rc = SQLITE_OK;
    for (size_t i = 0; rc == SQLITE_OK && i < n; i++)
        rc = sql_run(q, SQL_ERASE_OLD_CHUNK, &SQL_N(numbers[i]), 1);
    *w->rows -= n;
    return rc;
}

hsy_status store_erase_waste(struct store_sqlite *s, size_t rows, bool *more,
                             hsy_error *err)
{
    hsy_status st = HSY_OK;

    while (st == HSY_OK && s->nwaste != 0 && rows != 0) {
        struct store_garbage *t = &s->waste[s->nwaste - 1];
        struct store_tally_row row;
        struct waste_of_tally w = {.tally = t, .rows = &rows};
        uint64_t through;
        const size_t before = rows;

        st = store_get_round(s, &s->flip, t->entry, &w.round, &through, err);
        if (st == HSY_OK)
            st = store_get_tally(s, t->entry, t->epoch, &row, err);
        w.since = row.since != 0 ? row.since : w.round + 1;
        if (st == HSY_OK)
            st = store_write(s, &s->cells, waste_erase, &w, err);
        if (st == HSY_OK && rows != 0 && before - rows < WASTE_PIECE)
            s->nwaste--;
        atomic_store(&s->erased, true);
    }
    *more = s->nwaste != 0;
    return st;
}
