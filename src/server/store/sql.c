/*
 * sql.c - SQLite behind a few functions: every statement that there is,
 * and rows that carry a checksum.
 *
 * All statements stand in one table and are prepared when the store is opened;
 * outside bytes are only ever bound to them. Every column is a number or bytes,
 * and the first one asked for is the row's CRC-32C over the others (R21).
 */
#include "server/store/internal.h"

#include <string.h>

/* Of a struct store_set: entry, epoch, from, through, not_epoch, not_through.
 */
#define SQL_IN_SET                                                             \
    " WHERE entry = ?1 AND epoch <= ?2 AND seq >= ?3 AND seq <= ?4"            \
    " AND type = 3 AND NOT (epoch <= ?5 AND seq <= ?6)"

static const char *const sql_texts[SQL_COUNT] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",

    [SQL_PUT_META] = "REPLACE INTO meta(sum, one, name, key, seq, closed, day,"
                     " turn, rests, checks, id_rows, id_checks, runs,"
                     " run_checks, hops, hop_checks)"
                     " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [SQL_GET_META] = "SELECT sum, one, name, key, seq, closed, day,"
                     " turn, rests, checks, id_rows, id_checks, runs,"
                     " run_checks, hops, hop_checks FROM meta",
    [SQL_GET_META_3] = "SELECT sum, one, name, key, seq, closed, day,"
                       " turn, rests, checks, id_rows, id_checks, runs,"
                       " run_checks FROM meta",
    [SQL_GET_META_2] = "SELECT sum, one, name, key, seq, closed, day,"
                       " turn, rests, checks FROM meta",
    [SQL_GET_META_1] = "SELECT sum, one, name, key, seq, closed, day FROM meta",
    [SQL_WHOSE] = "SELECT turn, seq FROM meta",
    [SQL_SUM_BATCHES] = "SELECT count(*), coalesce(sum(sum), 0) FROM batches",
    [SQL_SUM_ALL_IDS] = "SELECT count(*), coalesce(sum(sum), 0) FROM ids",
    [SQL_SUM_RUNS] = "SELECT count(*), coalesce(sum(sum), 0) FROM runs",
    [SQL_SUM_HOPS] = "SELECT count(*), coalesce(sum(sum), 0) FROM"
                     " (SELECT sum FROM received UNION ALL"
                     " SELECT sum FROM mixes)",
    [SQL_PUT_DOCUMENT] =
        "REPLACE INTO documents(sum, one, bytes) VALUES(?,?,?)",
    [SQL_GET_DOCUMENT] = "SELECT sum, one, bytes FROM documents",
    [SQL_PUT_ENTRY] = "INSERT INTO entries(sum, number, bytes) VALUES(?,?,?)",
    [SQL_GET_ENTRIES] = "SELECT sum, number, bytes FROM entries"
                        " ORDER BY number",
    [SQL_PUT_COUNT] = "REPLACE INTO counts(sum, entry, epoch, reports, nulls)"
                      " VALUES(?,?,?,?,?)",
    [SQL_GET_COUNTS] = "SELECT sum, entry, epoch, reports, nulls FROM counts"
                       " ORDER BY entry, epoch",
    [SQL_PUT_QUOTA] = "REPLACE INTO quotas(sum, epoch, token, used)"
                      " VALUES(?,?,?,?)",
    [SQL_GET_QUOTAS] = "SELECT sum, epoch, token, used FROM quotas"
                       " WHERE epoch > ? ORDER BY epoch, token",
    [SQL_ERASE_QUOTAS] =
        "DELETE FROM quotas WHERE (epoch, token) IN"
        " (SELECT epoch, token FROM quotas WHERE epoch <= ? LIMIT ?)",
    [SQL_PUT_IDS] = "INSERT INTO ids(sum, place, bytes) VALUES(?,?,?)",
    [SQL_GET_IDS] = "SELECT sum, place, bytes FROM ids WHERE place > ?"
                    " ORDER BY place LIMIT ?",
    [SQL_LAST_IDS] = "SELECT max(place) FROM ids WHERE place < ?",
    [SQL_SMALL_IDS] = "SELECT place, length(bytes) FROM ids WHERE place > ?"
                      " ORDER BY place LIMIT ?",
    [SQL_ERASE_IDS] = "DELETE FROM ids WHERE place > ? AND place <= ?",
    [SQL_CHECK_IDS] = "SELECT count(*), coalesce(sum(sum), 0) FROM ids"
                      " WHERE place > ? AND place <= ?",
    [SQL_SUM_IDS] = "SELECT coalesce(sum(length(bytes)), 0) FROM ids"
                    " WHERE place > ? AND place <= ?",
    [SQL_HALVES_OF_IDS] =
        "SELECT place / 2147483648, max(place), sum(length(bytes)) FROM ids"
        " WHERE place > ? GROUP BY 1",
    [SQL_ANY_OLD_IDS] = "SELECT 1 FROM ids WHERE place < ? LIMIT 1",
    [SQL_ANY_QUOTAS] = "SELECT 1 FROM quotas WHERE epoch <= ? LIMIT 1",
    [SQL_PUT_RUN] =
        "INSERT INTO runs(sum, number, epoch, nulls, count, through, checks)"
        " VALUES(?,?,?,?,?,?,?)",
    [SQL_GET_RUNS] = "SELECT sum, number, epoch, nulls, count, through, checks"
                     " FROM runs ORDER BY number",
    [SQL_ERASE_RUN] = "DELETE FROM runs WHERE number = ?",
    [SQL_CHECK_RUN] = "SELECT count(*), coalesce(sum(sum), 0) FROM runs"
                      " WHERE number = ?",
    [SQL_PUT_MERGED] = "INSERT INTO merged(sum, name) VALUES(?,?)",
    [SQL_GET_MERGED] = "SELECT sum, name FROM merged ORDER BY name",
    [SQL_PUT_BATCH] =
        "INSERT INTO batches(sum, seq, entry, epoch, type, reports, bytes)"
        " VALUES(?,?,?,?,?,?,?)",
    [SQL_GET_BATCHES] =
        "SELECT sum, seq, entry, epoch, type, reports, bytes FROM batches b"
        " WHERE type <> 3 AND seq > coalesce((SELECT through FROM rounds r"
        " WHERE r.entry = b.entry), 0) ORDER BY number",
    [SQL_OLD_BATCHES] = "SELECT number, length(bytes), sum FROM batches"
                        " WHERE entry = ? AND seq <= ? AND type <> 3"
                        " ORDER BY seq LIMIT ?",
    [SQL_ERASE_BATCH] = "DELETE FROM batches WHERE number = ?",
    [SQL_GET_ALL_SEALED] =
        "SELECT sum, seq, entry, epoch, type, reports, bytes FROM batches"
        " WHERE type = 3 ORDER BY number",
    [SQL_NEXT_SEALED] = "SELECT number FROM batches NOT INDEXED" SQL_IN_SET
                        " AND number > ?7 ORDER BY number LIMIT 1",
    [SQL_GET_SEALED] =
        "SELECT sum, seq, entry, epoch, type, reports, bytes FROM batches"
        " WHERE number = ?",
    [SQL_COUNT_SEALED] =
        "SELECT coalesce(sum(reports), 0) FROM batches" SQL_IN_SET,
    [SQL_LIST_SEALED] =
        "SELECT number, length(bytes), sum FROM batches" SQL_IN_SET " LIMIT ?7",
    [SQL_PUT_RECEIVED] =
        "INSERT INTO received(sum, id, digest, entry, epoch, n, nulls,"
        " unopened, again, heads) VALUES(?,?,?,?,?,?,?,?,?,?)",
    [SQL_GET_RECEIVED] =
        "SELECT sum, id, digest, entry, epoch, n, nulls, unopened, again,"
        " heads FROM received WHERE id = ?",
    [SQL_GET_ALL_RECEIVED] =
        "SELECT sum, id, digest, entry, epoch, n, nulls, unopened, again,"
        " heads FROM received ORDER BY id",
    [SQL_PUT_MIX] = "INSERT INTO mixes(sum, id, entry, epoch, part, through, n,"
                    " state, digest, receipt) VALUES(?,?,?,?,?,?,?,?,?,?)",
    [SQL_GET_MIXES] = "SELECT sum, id, entry, epoch, part, through, n, state,"
                      " digest, receipt FROM mixes ORDER BY entry, epoch, part",
    [SQL_SUM_MIX] = "SELECT count(*), coalesce(sum(sum), 0) FROM mixes"
                    " WHERE id = ?",
    [SQL_ERASE_MIX] = "DELETE FROM mixes WHERE id = ?",
    [SQL_PUT_ROUND] = "REPLACE INTO rounds(sum, entry, round, through)"
                      " VALUES(?,?,?,?)",
    [SQL_GET_ROUND] = "SELECT sum, entry, round, through FROM rounds"
                      " WHERE entry = ?",
    [SQL_GET_ROUNDS] = "SELECT sum, entry, round, through FROM rounds"
                       " ORDER BY entry",
    [SQL_PUT_TALLY] =
        "REPLACE INTO tallies(sum, entry, epoch, words, since, chunks, checks)"
        " VALUES(?,?,?,?,?,?,?)",
    [SQL_GET_TALLY] = "SELECT sum, entry, epoch, words, since, chunks, checks"
                      " FROM tallies WHERE entry = ? AND epoch = ?",
    [SQL_GET_TALLIES] = "SELECT sum, entry, epoch, words, since, chunks, checks"
                        " FROM tallies ORDER BY entry, epoch",
    [SQL_ERASE_TALLY] = "DELETE FROM tallies WHERE entry = ? AND epoch = ?",
    [SQL_PUT_FIGURE] = "REPLACE INTO figures(sum, entry, day, bytes)"
                       " VALUES(?,?,?,?)",
    [SQL_GET_FIGURES] = "SELECT sum, entry, day, bytes FROM figures"
                        " ORDER BY entry, day",

    [SQL_PUT_NAME] = "REPLACE INTO meta(sum, one, name, turn) VALUES(?,?,?,?)",
    [SQL_GET_NAME] = "SELECT sum, one, name, turn FROM meta",
    [SQL_GET_NAME_1] = "SELECT sum, one, name FROM meta",
    [SQL_WHOSE_CELLS] = "SELECT turn FROM meta",
    [SQL_PUT_CHUNK] =
        "INSERT INTO chunks(sum, entry, epoch, place, round, words)"
        " VALUES(?,?,?,?,?,?)",
    /* In force: the latest round of a place, up to the one in force. */
    [SQL_GET_CHUNKS] =
        "SELECT sum, entry, epoch, place, round, words FROM chunks c"
        " WHERE entry = ?1 AND epoch = ?2 AND round ="
        " (SELECT max(round) FROM chunks x WHERE x.entry = ?1 AND x.epoch = ?2"
        " AND x.place = c.place AND x.round >= ?3 AND x.round <= ?4)"
        " ORDER BY place",
    [SQL_SUM_CHUNKS] =
        "SELECT count(*), coalesce(sum(sum), 0) FROM chunks c"
        " WHERE entry = ?1 AND epoch = ?2 AND round ="
        " (SELECT max(round) FROM chunks x WHERE x.entry = ?1 AND x.epoch = ?2"
        " AND x.place = c.place AND x.round >= ?3 AND x.round <= ?4)",
    [SQL_LIST_CHUNKS] = "SELECT DISTINCT entry, epoch FROM chunks",
    [SQL_ERASE_CHUNK] = "DELETE FROM chunks WHERE entry = ? AND epoch = ?"
                        " AND place = ? AND round = ?",
    [SQL_ERASE_ORPHANS] =
        "DELETE FROM chunks WHERE number IN (SELECT number FROM chunks"
        " WHERE entry = ? AND epoch = ? AND round > ? LIMIT ?)",
    [SQL_OLD_CHUNKS] =
        "SELECT place, number FROM chunks c WHERE entry = ?1 AND epoch = ?2"
        " AND place >= ?3 AND round <= ?5 AND (round < ?4 OR EXISTS"
        " (SELECT 1 FROM chunks x WHERE x.entry = ?1 AND x.epoch = ?2"
        " AND x.place = c.place AND x.round > c.round AND x.round <= ?5))"
        " ORDER BY place LIMIT ?6",
    [SQL_ERASE_OLD_CHUNK] = "DELETE FROM chunks WHERE number = ?",
};

/* ---- Checksums ----------------------------------------------------------- */

static uint32_t sql_sum_number(uint32_t crc, uint64_t x)
{
    uint8_t wire[8];

    for (size_t i = 0; i < sizeof wire; i++)
        wire[i] = (uint8_t)(x >> 8 * i);
    return hsy_crc32c(crc, wire, sizeof wire);
}

/* Over all columns: a number as eight bytes, lowest first; bytes after their
 * length. */
uint32_t sql_sum(const struct sql_value *values, size_t n)
{
    uint32_t crc = 0;

    for (size_t i = 0; i < n; i++) {
        if (values[i].bytes == NULL) {
            crc = sql_sum_number(crc, values[i].number);
            continue;
        }
        crc = sql_sum_number(crc, values[i].len);
        crc = hsy_crc32c(crc, values[i].bytes, values[i].len);
    }
    return crc;
}

/* ---- Running ------------------------------------------------------------- */

static int sql_bind(sqlite3_stmt *st, int at, const struct sql_value *v)
{
    if (v->bytes == NULL)
        return sqlite3_bind_int64(st, at, (sqlite3_int64)v->number);
    return sqlite3_bind_blob64(st, at, v->bytes, v->len, SQLITE_STATIC);
}

static sqlite3_stmt *sql_ready(struct sql *q, enum sql_id id, int *rc)
{
    *rc = SQLITE_OK;
    if (q->ready[id] == NULL)
        *rc =
            sqlite3_prepare_v3(q->db, sql_texts[id], -1,
                               SQLITE_PREPARE_PERSISTENT, &q->ready[id], NULL);
    return *rc == SQLITE_OK ? q->ready[id] : NULL;
}

sqlite3_stmt *sql_start(struct sql *q, enum sql_id id,
                        const struct sql_value *values, size_t n, int *rc)
{
    sqlite3_stmt *st = sql_ready(q, id, rc);

    for (size_t i = 0; st != NULL && i < n; i++) {
        *rc = sql_bind(st, (int)i + 1, &values[i]);
        if (*rc != SQLITE_OK)
            return NULL;
    }
    return st;
}

/* Step to the end and make ready for the next time. */
static int sql_finish(sqlite3_stmt *st)
{
    int rc;

    do
        rc = sqlite3_step(st);
    while (rc == SQLITE_ROW);
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int sql_run(struct sql *q, enum sql_id id, const struct sql_value *values,
            size_t n)
{
    int rc;
    sqlite3_stmt *st = sql_start(q, id, values, n, &rc);

    return st == NULL ? rc : sql_finish(st);
}

int sql_put(struct sql *q, enum sql_id id, const struct sql_value *values,
            size_t n)
{
    uint32_t sum;

    return sql_put_sum(q, id, values, n, &sum);
}

int sql_put_sum(struct sql *q, enum sql_id id, const struct sql_value *values,
                size_t n, uint32_t *sum)
{
    int rc;
    sqlite3_stmt *st = sql_ready(q, id, &rc);

    *sum = sql_sum(values, n);
    if (st == NULL)
        return rc;
    rc = sqlite3_bind_int64(st, 1, *sum);
    for (size_t i = 0; rc == SQLITE_OK && i < n; i++)
        rc = sql_bind(st, (int)i + 2, &values[i]);
    return rc == SQLITE_OK ? sql_finish(st) : rc;
}

/* The columns of the row there is, behind its checksum; false if that does not
 * hold. Bytes last until the next step. */
static bool sql_row(sqlite3_stmt *st, struct sql_value *values, size_t n)
{
    static const uint8_t none;

    if (sqlite3_column_count(st) != (int)n + 1)
        return false;
    for (int i = 0; i < (int)n; i++) {
        const void *bytes;

        switch (sqlite3_column_type(st, i + 1)) {
        case SQLITE_INTEGER:
            values[i] = SQL_N((uint64_t)sqlite3_column_int64(st, i + 1));
            break;
        case SQLITE_BLOB:
            bytes = sqlite3_column_blob(st, i + 1);
            values[i] = SQL_B(bytes == NULL ? &none : bytes,
                              (size_t)sqlite3_column_bytes(st, i + 1));
            break;
        default:
            return false;
        }
    }
    return sqlite3_column_type(st, 0) == SQLITE_INTEGER &&
           sqlite3_column_int64(st, 0) == sql_sum(values, n);
}

hsy_status sql_rows(struct sql *q, enum sql_id id,
                    const struct sql_value *values, size_t n, size_t columns,
                    sql_each *each, void *ctx, int *rc)
{
    struct sql_value row[SQL_COLUMNS];
    sqlite3_stmt *st = sql_start(q, id, values, n, rc);
    hsy_status status = HSY_OK;

    if (st == NULL)
        return HSY_E_IO;
    while (status == HSY_OK && (*rc = sqlite3_step(st)) == SQLITE_ROW)
        status = sql_row(st, row, columns) ? each(ctx, row) : HSY_E_DAMAGED;
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    if (status == HSY_OK && *rc != SQLITE_DONE)
        return HSY_E_IO;
    *rc = SQLITE_OK;
    return status;
}

/* ---- Opening ------------------------------------------------------------- */

/* Durable when a commit returns; what is erased is overwritten; the log is
 * emptied by us; nothing goes to other places of the disk. */
static const char sql_settings[] =
    "PRAGMA trusted_schema=OFF;"
    "PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY;"
    "PRAGMA secure_delete=ON; PRAGMA cache_size=-8192;"
    "PRAGMA page_size=4096;" /* of a new one: STORE_PAGE */
    "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;"
    "PRAGMA synchronous=FULL;";

static int sql_committed(void *log, sqlite3 *db, const char *name, int pages)
{
    (void)db;
    (void)name;
    atomic_store((atomic_size_t *)log, (size_t)pages);
    return SQLITE_OK;
}

int sql_open(struct sql *q, const char *path, const char *file,
             atomic_size_t *log)
{
    int64_t sync;
    int rc;

    q->file = file;
    q->log = log;
    rc = sqlite3_open_v2(path, &q->db,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_extended_result_codes(q->db, 1);
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_timeout(q->db, STORE_PATIENCE);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(q->db, sql_settings, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sql_pragma(q, "PRAGMA synchronous", &sync);
    if (rc == SQLITE_OK)
        sqlite3_wal_hook(q->db, sql_committed, log);
    return rc == SQLITE_OK && sync != 2 ? SQLITE_CANTOPEN : rc;
}

int sql_sync(struct sql *q, bool full)
{
    return sqlite3_exec(
        q->db, full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL",
        NULL, NULL, NULL);
}

void sql_close(struct sql *q)
{
    for (size_t i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(q->ready[i]);
    sqlite3_close(q->db);
    memset(q, 0, sizeof *q);
}

int sql_pragma(struct sql *q, const char *text, int64_t *value)
{
    sqlite3_stmt *st;
    int rc = sqlite3_prepare_v2(q->db, text, -1, &st, NULL);

    if (rc != SQLITE_OK)
        return rc;
    rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        *value = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}
