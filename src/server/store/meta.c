/*
 * meta.c - the one row of each database that all its transactions agree
 * on: whose turn it is; in the record also the last commit, and what rests.
 *
 * Who opens a store takes the next turn. Every transaction of the record first
 * looks whether turn and commit are still what this process left, and it looks
 * within the transaction, so nobody can come between that and its commit. Two
 * processes that got past both locks do not count beside each other: the one
 * that opened first fails before it has changed anything.
 *
 * Cells have the turn too, and every transaction of theirs looks at it: chunks
 * of an earlier process would stand where the later one puts its own. The turn
 * is taken in the record first. What an earlier process writes to cells between
 * the two is of no round, and is erased before a chunk is written
 * (store_sweep).
 *
 * The row also says how many batches rest, how many rows of ids there are, how
 * many runs, and how many of what came from a hop or goes to one (mixes.c), and
 * the sums of their checksums. So a copy whose pages are of
 * two moments is found: a batch or an id that was acknowledged is in it, or it
 * does not open.
 */
#include "server/store/internal.h"

#include <string.h>

#define META_COLUMNS 15
#define META_COLUMNS_3 13 /* of version 3, */
#define META_COLUMNS_2 9  /* of version 2, */
#define META_COLUMNS_1 6  /* and of version 1 */
#define META_NAME 3       /* of cells, */
#define META_NAME_1 2     /* and of their version 1 */

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
                                                SQL_N(m->checks),
                                                SQL_N(m->id_rows),
                                                SQL_N(m->id_checks),
                                                SQL_N(m->runs),
                                                SQL_N(m->run_checks),
                                                SQL_N(m->hops),
                                                SQL_N(m->hop_checks)};

    return sql_put(q, SQL_PUT_META, row, META_COLUMNS);
}

int store_put_name(struct store_sqlite *s, struct sql *q)
{
    const struct sql_value row[META_NAME] = {
        SQL_N(1), SQL_B(s->name, STORE_NAME), SQL_N(s->turn)};

    return sql_put(q, SQL_PUT_NAME, row, META_NAME);
}

/* The numbers of a query with one row. */
static int meta_ask(struct sql *q, enum sql_id id,
                    const struct sql_value *values, size_t nvalues,
                    uint64_t *to, int n)
{
    int rc;
    sqlite3_stmt *st = sql_start(q, id, values, nvalues, &rc);

    if (st == NULL)
        return rc;
    rc = sqlite3_step(st);
    for (int i = 0; rc == SQLITE_ROW && i < n; i++)
        to[i] = (uint64_t)sqlite3_column_int64(st, i);
    sqlite3_reset(st);
    return rc == SQLITE_ROW    ? SQLITE_OK
           : rc == SQLITE_DONE ? SQLITE_CORRUPT
                               : rc;
}

static int meta_numbers(struct sql *q, enum sql_id id, uint64_t *to, int n)
{
    return meta_ask(q, id, NULL, 0, to, n);
}

int store_still_ours(struct store_sqlite *s, struct sql *q)
{
    uint64_t is[2] = {0};
    int rc = meta_numbers(q, SQL_WHOSE, is, 2);

    if (rc != SQLITE_OK)
        return rc;
    return is[0] == s->meta.turn && is[1] == s->meta.state.seq ? SQLITE_OK
                                                               : STORE_ROBBED;
}

int store_cells_ours(struct store_sqlite *s)
{
    uint64_t turn = 0;
    int rc = meta_numbers(&s->cells, SQL_WHOSE_CELLS, &turn, 1);

    return rc != SQLITE_OK || turn == s->turn ? rc : STORE_ROBBED;
}

/* ---- Rows that it counts ------------------------------------------------- */

int store_put_ids(struct store_sqlite *s, struct sql *q,
                  const struct sql_value row[2])
{
    uint32_t sum;
    const int rc = sql_put_sum(q, SQL_PUT_IDS, row, 2, &sum);

    s->next.id_rows++;
    s->next.id_checks += sum;
    return rc;
}

int store_erase_ids(struct store_sqlite *s, struct sql *q,
                    const struct sql_value span[2])
{
    uint64_t is[2] = {0};
    const int rc = meta_ask(q, SQL_CHECK_IDS, span, 2, is, 2);

    s->next.id_rows -= is[0];
    s->next.id_checks -= is[1];
    return rc == SQLITE_OK ? sql_run(q, SQL_ERASE_IDS, span, 2) : rc;
}

int store_put_run(struct store_sqlite *s, struct sql *q,
                  const struct sql_value row[6])
{
    uint32_t sum;
    const int rc = sql_put_sum(q, SQL_PUT_RUN, row, 6, &sum);

    s->next.runs++;
    s->next.run_checks += sum;
    return rc;
}

int store_erase_run(struct store_sqlite *s, struct sql *q, uint64_t number)
{
    const struct sql_value v = SQL_N(number);
    uint64_t is[2] = {0};
    const int rc = meta_ask(q, SQL_CHECK_RUN, &v, 1, is, 2);

    s->next.runs -= is[0];
    s->next.run_checks -= is[1];
    return rc == SQLITE_OK ? sql_run(q, SQL_ERASE_RUN, &v, 1) : rc;
}

/* All of them, as they are in the tables. */
static int meta_count(struct sql *q, struct store_meta *m)
{
    uint64_t rest[2] = {0}, ids[2] = {0}, runs[2] = {0}, hops[2] = {0};
    int rc = meta_numbers(q, SQL_SUM_BATCHES, rest, 2);

    if (rc == SQLITE_OK)
        rc = meta_numbers(q, SQL_SUM_ALL_IDS, ids, 2);
    if (rc == SQLITE_OK)
        rc = meta_numbers(q, SQL_SUM_RUNS, runs, 2);
    if (rc == SQLITE_OK)
        rc = meta_numbers(q, SQL_SUM_HOPS, hops, 2);
    m->rests = rest[0];
    m->checks = rest[1];
    m->id_rows = ids[0];
    m->id_checks = ids[1];
    m->runs = runs[0];
    m->run_checks = runs[1];
    m->hops = hops[0];
    m->hop_checks = hops[1];
    return rc;
}

/* The table of which a row speaks, that of a version, and whose rows are not as
 * another says; NULL: all are. */
static const char *meta_differs(const struct store_meta *a,
                                const struct store_meta *b, int64_t version)
{
    if (version >= 2 && (a->rests != b->rests || a->checks != b->checks))
        return "batches";
    if (version >= 3 &&
        (a->id_rows != b->id_rows || a->id_checks != b->id_checks))
        return "ids";
    if (version >= 3 && (a->runs != b->runs || a->run_checks != b->run_checks))
        return "runs";
    if (version >= 4 && (a->hops != b->hops || a->hop_checks != b->hop_checks))
        return "mixes";
    return NULL;
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

static hsy_status meta_take_2(void *ctx, const struct sql_value *row)
{
    struct store_sqlite *s = ctx;
    const hsy_status st = meta_take_1(ctx, row);

    s->meta.turn = row[6].number;
    s->meta.rests = row[7].number;
    s->meta.checks = row[8].number;
    return st;
}

static hsy_status meta_take_3(void *ctx, const struct sql_value *row)
{
    struct store_sqlite *s = ctx;
    const hsy_status st = meta_take_2(ctx, row);

    s->meta.id_rows = row[9].number;
    s->meta.id_checks = row[10].number;
    s->meta.runs = row[11].number;
    s->meta.run_checks = row[12].number;
    return st;
}

static hsy_status meta_take(void *ctx, const struct sql_value *row)
{
    struct store_sqlite *s = ctx;
    const hsy_status st = meta_take_3(ctx, row);

    s->meta.hops = row[13].number;
    s->meta.hop_checks = row[14].number;
    return st;
}

/* How the row of an earlier version is read, and what the record lacks. */
static const struct {
    enum sql_id get;
    size_t columns;
    sql_each *take;
    const char *tables;
} meta_versions[] = {
    [1] = {SQL_GET_META_1, META_COLUMNS_1, meta_take_1, store_tables_upgrade_1},
    [2] = {SQL_GET_META_2, META_COLUMNS_2, meta_take_2, store_tables_upgrade_2},
    [3] = {SQL_GET_META_3, META_COLUMNS_3, meta_take_3, store_tables_upgrade_3},
};

/* All in one transaction: a kill leaves the record as it was, or as it is to
 * be. The row is read before, as a program of that version would. */
static hsy_status meta_upgrade(struct store_sqlite *s, int64_t version,
                               hsy_error *err)
{
    const char *wrong = NULL;
    hsy_status st = store_get_meta(s, &s->append, meta_versions[version].get,
                                   meta_versions[version].columns,
                                   meta_versions[version].take, err);
    int rc;

    if (st != HSY_OK)
        return st;
    rc = sqlite3_exec(s->append.db, meta_versions[version].tables, NULL, NULL,
                      NULL);
    s->next = s->meta;
    if (rc == SQLITE_OK)
        rc = meta_count(&s->append, &s->next);
    if (rc == SQLITE_OK)
        wrong = meta_differs(&s->next, &s->meta, version);
    if (wrong != NULL)
        return store_damaged(s, wrong, err);
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
    struct store_meta is = {.turn = 0};
    const char *wrong;
    hsy_status st = store_get_meta(s, &s->append, SQL_GET_META, META_COLUMNS,
                                   meta_take, err);
    int rc;

    if (st != HSY_OK)
        return st;
    rc = meta_count(&s->append, &is);
    if (rc != SQLITE_OK)
        return store_fail(s, &s->append, rc, err);
    wrong = meta_differs(&is, &s->meta, STORE_VERSION);
    if (wrong != NULL)
        return store_damaged(s, wrong, err);
    s->state = s->meta.state;
    return HSY_OK;
}

hsy_status store_take_turn(struct store_sqlite *s, int64_t version,
                           hsy_error *err)
{
    hsy_status st =
        version < STORE_VERSION ? meta_upgrade(s, version, err) : HSY_OK;

    if (st == HSY_OK)
        st = store_read_meta(s, err);
    return st == HSY_OK ? store_write(s, &s->append, meta_next_turn, NULL, err)
                        : st;
}

/* ---- Cells --------------------------------------------------------------- */

static hsy_status meta_take_name_1(void *ctx, const struct sql_value *row)
{
    struct store_sqlite *s = ctx;

    if (row[1].len != STORE_NAME)
        return HSY_E_DAMAGED;
    memcpy(s->name, row[1].bytes, STORE_NAME);
    s->turn = 0;
    return HSY_OK;
}

static hsy_status meta_take_name(void *ctx, const struct sql_value *row)
{
    const hsy_status st = meta_take_name_1(ctx, row);

    ((struct store_sqlite *)ctx)->turn = row[2].number;
    return st;
}

hsy_status store_read_name(struct store_sqlite *s, bool old, hsy_error *err)
{
    return old ? store_get_meta(s, &s->cells, SQL_GET_NAME_1, META_NAME_1,
                                meta_take_name_1, err)
               : store_get_meta(s, &s->cells, SQL_GET_NAME, META_NAME,
                                meta_take_name, err);
}

/* Cells that are ahead: of a process that opened after us, or of another copy
 * than the record. */
static int meta_cells_ahead(struct store_sqlite *s)
{
    int rc = store_still_ours(s, &s->append);

    return rc == SQLITE_OK ? SQLITE_CORRUPT : rc;
}

hsy_status store_take_cells(struct store_sqlite *s, bool old, hsy_error *err)
{
    struct sql *q = &s->cells;
    uint64_t turn = 0;
    int rc = sqlite3_exec(q->db,
                          old ? store_tables_cells_upgrade : "BEGIN IMMEDIATE",
                          NULL, NULL, NULL);

    if (rc == SQLITE_OK)
        rc = meta_numbers(q, SQL_WHOSE_CELLS, &turn, 1);
    if (rc == SQLITE_OK && turn >= s->meta.turn)
        rc = meta_cells_ahead(s);
    s->turn = s->meta.turn;
    if (rc == SQLITE_OK)
        rc = store_put_name(s, q);
    if (rc == SQLITE_OK)
        rc = sql_run(q, SQL_COMMIT, NULL, 0);
    return rc == SQLITE_OK ? HSY_OK : store_fail(s, q, rc, err);
}
