/*
 * sql.c - SQLite behind a few functions: every statement that there is,
 * and rows that carry a checksum.
 *
 * All statements stand in one table and are prepared when the store is opened;
 * outside bytes are only ever bound to them. Every column is a number or bytes,
 * and the first one asked for is the row's CRC-32C over the others (R21).
 */
#include "server/store/internal.h"

#include "lib/bits/bytes.h"

#include <string.h>

/* The table of a statement is said when a row of it is damaged; NULL: the whole
 * database is. */
static const struct {
    const char *table, *text;
} sql_statements[SQL_COUNT] = {
#define SQL(name, text) {NULL, text},
#define ROWS(name, table, text) {table, text},
#include "server/store/sql.def"
#undef SQL
#undef ROWS
};

/* ---- Checksums ----------------------------------------------------------- */

static uint32_t sql_sum_number(uint32_t crc, uint64_t x)
{
    uint8_t wire[8];

    bytes_put64(wire, x);
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
            sqlite3_prepare_v3(q->db, sql_statements[id].text, -1,
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

int sql_numbers(struct sql *q, enum sql_id id, const struct sql_value *values,
                size_t n, uint64_t *to, int columns)
{
    int rc;
    sqlite3_stmt *st = sql_start(q, id, values, n, &rc);

    if (st == NULL)
        return rc;
    rc = sqlite3_step(st);
    for (int i = 0; rc == SQLITE_ROW && i < columns; i++)
        to[i] = (uint64_t)sqlite3_column_int64(st, i);
    sqlite3_reset(st);
    return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* The columns of the row there is, behind its checksum; false if that does not
 * hold. Bytes last until the next step. */
static bool sql_row(sqlite3_stmt *st, struct sql_value *values)
{
    static const uint8_t none;
    const int n = sqlite3_column_count(st) - 1;

    for (int i = 0; i < n; i++) {
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
           sqlite3_column_int64(st, 0) == sql_sum(values, (size_t)n);
}

hsy_status sql_rows(struct sql *q, enum sql_id id,
                    const struct sql_value *values, size_t n, sql_each *each,
                    void *ctx, int *rc)
{
    struct sql_value row[SQL_COLUMNS] = {{0}};
    sqlite3_stmt *st = sql_start(q, id, values, n, rc);
    hsy_status status = HSY_OK;

    if (st == NULL)
        return HSY_E_IO;
    while (status == HSY_OK && (*rc = sqlite3_step(st)) == SQLITE_ROW)
        status = sql_row(st, row) ? each(ctx, row) : HSY_E_DAMAGED;
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    if (status == HSY_OK && *rc != SQLITE_DONE)
        return HSY_E_IO;
    *rc = SQLITE_OK;
    return status;
}

hsy_status store_rows(struct store_sqlite *s, struct sql *q, enum sql_id id,
                      const struct sql_value *values, size_t n, sql_each *each,
                      void *ctx, hsy_error *err)
{
    const char *table = sql_statements[id].table;
    int rc;
    hsy_status st = sql_rows(q, id, values, n, each, ctx, &rc);

    if (st == HSY_E_DAMAGED && atomic_load(&s->dead) == HSY_E_DAMAGED)
        return st; /* `each` has said what is */
    if (st == HSY_E_DAMAGED)
        return store_damaged(s, table != NULL ? table : q->file, err);
    return rc == SQLITE_OK ? st : store_fail(s, q, rc, err);
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
