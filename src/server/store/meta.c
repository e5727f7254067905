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

#define META_KEPT 7 /* the first column of what is kept */
#define META_COLUMNS (META_KEPT + 2 * STORE_KINDS)
#define META_NAME 3 /* columns of cells */

int store_put_meta(struct store_sqlite *s, struct sql *q)
{
    const struct store_meta *m = &s->next;
    struct sql_value row[META_COLUMNS] = {SQL_N(1),
                                          SQL_B(s->name, STORE_NAME),
                                          SQL_B(m->state.key, STORE_KEY),
                                          SQL_N(m->state.seq),
                                          SQL_N(m->state.closed),
                                          SQL_N(m->state.day),
                                          SQL_N(m->turn)};

    for (size_t i = 0; i < STORE_KINDS; i++) {
        row[META_KEPT + 2 * i] = SQL_N(m->kept[i].rows);
        row[META_KEPT + 2 * i + 1] = SQL_N(m->kept[i].checks);
    }
    return sql_put(q, SQL_PUT_META, row, META_COLUMNS);
}

int store_put_name(struct store_sqlite *s, struct sql *q)
{
    const struct sql_value row[META_NAME] = {
        SQL_N(1), SQL_B(s->name, STORE_NAME), SQL_N(s->turn)};

    return sql_put(q, SQL_PUT_NAME, row, META_NAME);
}

/* The numbers of a query that has a row. */
static int meta_numbers(struct sql *q, enum sql_id id, uint64_t *to, int n)
{
    const int rc = sql_numbers(q, id, NULL, 0, to, n);

    return rc == SQLITE_DONE ? SQLITE_CORRUPT : rc;
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

int store_put_kept(struct store_sqlite *s, struct sql *q, enum store_kind kind,
                   enum sql_id put, const struct sql_value *row, size_t n)
{
    uint32_t sum;
    const int rc = sql_put_sum(q, put, row, n, &sum);

    s->next.kept[kind].rows++;
    s->next.kept[kind].checks += sum;
    return rc;
}

int store_erase_kept(struct store_sqlite *s, struct sql *q,
                     enum store_kind kind, enum sql_id count, enum sql_id erase,
                     const struct sql_value *values, size_t n)
{
    uint64_t is[2] = {0};
    const int rc = sql_numbers(q, count, values, n, is, 2);

    s->next.kept[kind].rows -= is[0];
    s->next.kept[kind].checks -= is[1];
    return rc == SQLITE_OK ? sql_run(q, erase, values, n) : rc;
}

int store_erase_ids(struct store_sqlite *s, struct sql *q,
                    const struct sql_value span[2])
{
    return store_erase_kept(s, q, STORE_IDS, SQL_CHECK_IDS, SQL_ERASE_IDS, span,
                            2);
}

int store_erase_run(struct store_sqlite *s, struct sql *q, uint64_t number)
{
    return store_erase_kept(s, q, STORE_RUNS, SQL_CHECK_RUN, SQL_ERASE_RUN,
                            &SQL_N(number), 1);
}

/* How all of a kind are counted, and since which version the row says it. */
static const struct {
    enum sql_id sum;
    int64_t since;
    const char *table;
} meta_kinds[STORE_KINDS] = {
    [STORE_BATCHES] = {SQL_SUM_BATCHES, 2, "batches"},
    [STORE_IDS] = {SQL_SUM_ALL_IDS, 3, "ids"},
    [STORE_RUNS] = {SQL_SUM_RUNS, 3, "runs"},
    [STORE_HOPS] = {SQL_SUM_HOPS, 4, "mixes"},
};

/* All of them, as they are in the tables. */
static int meta_count(struct sql *q, struct store_meta *m)
{
    int rc = SQLITE_OK;

    for (size_t i = 0; rc == SQLITE_OK && i < STORE_KINDS; i++) {
        uint64_t is[2] = {0};

        rc = meta_numbers(q, meta_kinds[i].sum, is, 2);
        m->kept[i] = (struct store_kept){is[0], is[1]};
    }
    return rc;
}

/* The table of which a row speaks, that of a version, and whose rows are not as
 * another says; NULL: all are. */
static const char *meta_differs(const struct store_meta *a,
                                const struct store_meta *b, int64_t version)
{
    for (size_t i = 0; i < STORE_KINDS; i++)
        if (version >= meta_kinds[i].since &&
            (a->kept[i].rows != b->kept[i].rows ||
             a->kept[i].checks != b->kept[i].checks))
            return meta_kinds[i].table;
    return NULL;
}

/* ---- Opening ------------------------------------------------------------- */

/* Earlier versions have fewer columns: then the rest is 0. */
static hsy_status meta_take(void *ctx, const struct sql_value *row)
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
    s->meta.turn = row[6].number;
    for (size_t i = 0; i < STORE_KINDS; i++)
        s->meta.kept[i] = (struct store_kept){
            row[META_KEPT + 2 * i].number, row[META_KEPT + 2 * i + 1].number};
    return HSY_OK;
}

/* How the row of an earlier version is read, and what the record lacks. */
static const struct {
    enum sql_id get;
    const char *tables;
} meta_versions[] = {
    [1] = {SQL_GET_META_1, store_tables_upgrade_1},
    [2] = {SQL_GET_META_2, store_tables_upgrade_2},
    [3] = {SQL_GET_META_3, store_tables_upgrade_3},
};

/* All in one transaction: a kill leaves the record as it was, or as it is to
 * be. The row is read before, as a program of that version would. */
static hsy_status meta_upgrade(struct store_sqlite *s, int64_t version,
                               hsy_error *err)
{
    const char *wrong = NULL;
    hsy_status st = store_get_meta(s, &s->append, meta_versions[version].get,
                                   meta_take, err);
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
    hsy_status st = store_get_meta(s, &s->append, SQL_GET_META, meta_take, err);
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

static hsy_status meta_take_name(void *ctx, const struct sql_value *row)
{
    struct store_sqlite *s = ctx;

    if (row[1].len != STORE_NAME)
        return HSY_E_DAMAGED;
    memcpy(s->name, row[1].bytes, STORE_NAME);
    s->turn = row[2].number;
    return HSY_OK;
}

hsy_status store_read_name(struct store_sqlite *s, bool old, hsy_error *err)
{
    return store_get_meta(s, &s->cells, old ? SQL_GET_NAME_1 : SQL_GET_NAME,
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
