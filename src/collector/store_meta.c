/*
 * store_meta.c - the one row that all transactions of the record agree on:
 * whose turn it is, the last commit, what rests.
 *
 * Who opens a store takes the next turn. Every transaction of the record first
 * looks whether turn and commit are still what this process left, and it looks
 * within the transaction, so nobody can come between that and its commit. Two
 * processes that got past both locks do not count beside each other: the one
 * that opened first fails before it has changed anything.
 *
 * The row also says how many batches rest, and the sum of their checksums. So a
 * copy whose pages are of two moments is found: a batch that was acknowledged
 * is in it, or it does not open.
 */
#include "store_sqlite.h"

#include <string.h>

#define META_COLUMNS 9
#define META_COLUMNS_1 6 /* of version 1 */

int store_put_meta(struct store_sqlite *s, struct sql *q)
{
    const struct store_meta *m = &s->next;
    const struct sql_value row[META_COLUMNS] = {SQL_N(1),
                                                SQL_B(s->name, STORE_NAME),
                                                SQL_B(m->state.key, STORE_KEY),
                                                SQL_N(m->state.seq),
                                                SQL_N(m->state.closed),
                                                SQL_N(m->state.day),
                                                SQL_N(m->turn),
                                                SQL_N(m->rests),
                                                SQL_N(m->checks)};

    return sql_put(q, SQL_PUT_META, row, META_COLUMNS);
}

/* The two numbers of a query with one row. */
static int meta_pair(struct sql *q, enum sql_id id, uint64_t pair[2])
{
    int rc;
    sqlite3_stmt *st = sql_start(q, id, NULL, 0, &rc);

    if (st == NULL)
        return rc;
    rc = sqlite3_step(st);
    for (int i = 0; rc == SQLITE_ROW && i < 2; i++)
        pair[i] = (uint64_t)sqlite3_column_int64(st, i);
    sqlite3_reset(st);
    return rc == SQLITE_ROW    ? SQLITE_OK
           : rc == SQLITE_DONE ? SQLITE_CORRUPT
                               : rc;
}

int store_still_ours(struct store_sqlite *s, struct sql *q)
{
    uint64_t is[2] = {0};
    int rc = meta_pair(q, SQL_WHOSE, is);

    if (rc != SQLITE_OK)
        return rc;
    return is[0] == s->meta.turn && is[1] == s->meta.state.seq ? SQLITE_OK
                                                               : STORE_ROBBED;
}

/* ---- Opening ------------------------------------------------------------- */

static hsy_status meta_take_1(void *ctx, const struct sql_value *row)
{
    struct store_sqlite *s = ctx;
    struct store_state *state = &s->meta.state;

    if (row[1].len != STORE_NAME || row[2].len != STORE_KEY ||
        memcmp(row[1].bytes, s->name, STORE_NAME) != 0)
        return HSY_E_DAMAGED;
    memset(&s->meta, 0, sizeof s->meta); /* it is compared by its bytes */
    memcpy(state->key, row[2].bytes, STORE_KEY);
    state->seq = row[3].number;
    state->closed = (uint32_t)row[4].number;
    state->day = (uint32_t)row[5].number;
    return HSY_OK;
}

static hsy_status meta_take(void *ctx, const struct sql_value *row)
{
    struct store_sqlite *s = ctx;
    const hsy_status st = meta_take_1(ctx, row);

    s->meta.turn = row[6].number;
    s->meta.rests = row[7].number;
    s->meta.checks = row[8].number;
    return st;
}

/* All in one transaction: a kill leaves the record as it was, or as it is to
 * be. The row is read before, as a program of version 1 would. */
static hsy_status meta_upgrade(struct store_sqlite *s, hsy_error *err)
{
    hsy_status st = store_get_meta(s, &s->append, SQL_GET_META_1,
                                   META_COLUMNS_1, meta_take_1, err);
    uint64_t rest[2] = {0};
    int rc;

    if (st != HSY_OK)
        return st;
    rc = sqlite3_exec(s->append.db, store_tables_upgrade, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = meta_pair(&s->append, SQL_SUM_BATCHES, rest);
    s->next = s->meta;
    s->next.rests = rest[0];
    s->next.checks = rest[1];
    if (rc == SQLITE_OK)
        rc = store_put_meta(s, &s->append);
    if (rc == SQLITE_OK)
        rc = sql_run(&s->append, SQL_COMMIT, NULL, 0);
    return rc == SQLITE_OK ? HSY_OK : store_fail(s, &s->append, rc, err);
}

static int meta_next_turn(struct store_sqlite *s, struct sql *q,
                          const void *what)
{
    (void)q;
    (void)what;
    s->next.turn++;
    return SQLITE_OK;
}

hsy_status store_read_meta(struct store_sqlite *s, hsy_error *err)
{
    uint64_t rest[2] = {0};
    hsy_status st = store_get_meta(s, &s->append, SQL_GET_META, META_COLUMNS,
                                   meta_take, err);
    int rc;

    if (st != HSY_OK)
        return st;
    rc = meta_pair(&s->append, SQL_SUM_BATCHES, rest);
    if (rc != SQLITE_OK)
        return store_fail(s, &s->append, rc, err);
    if (rest[0] != s->meta.rests || rest[1] != s->meta.checks)
        return store_damaged(s, "batches", err);
    s->state = s->meta.state;
    return HSY_OK;
}

hsy_status store_take_turn(struct store_sqlite *s, bool old, hsy_error *err)
{
    hsy_status st = old ? meta_upgrade(s, err) : HSY_OK;

    if (st == HSY_OK)
        st = store_read_meta(s, err);
    return st == HSY_OK ? store_write(s, &s->append, meta_next_turn, NULL, err)
                        : st;
}
