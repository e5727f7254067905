/*
 * sqlite.c - the store of one machine: opening, closing, failing.
 *
 * A directory that only its owner can read, with `lock` (who has it),
 * `record.db` and `cells.db` (internal.h). A commit is durable because
 * SQLite syncs its log before COMMIT returns (WAL, synchronous=FULL), and all
 * or nothing because it is one transaction of one database. cells.c has
 * the argument for what concerns both.
 *
 * After a sync has failed nobody knows what is on the disk, and a second one
 * may say that all is well. So the first failure of input or output is the
 * last: every later call says HSY_E_IO (R20).
 */
#define _GNU_SOURCE /* openat, explicit_bzero */

#include "server/store/store_runs.h"

#include "host/base/files.h"
#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "server/store/admin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- Failing ------------------------------------------------------------- */

static const char sqlite_robbed[] =
    "another process has written to this data: nothing is written any more";

hsy_status store_alive(struct store_sqlite *s, hsy_error *err)
{
    const hsy_status dead = (hsy_status)atomic_load(&s->dead);

    if (dead == HSY_OK)
        return HSY_OK;
    if (dead == HSY_E_BUSY)
        return host_fail(err, HSY_E_IO, HOST_FIELD_RECORD_DB, sqlite_robbed);
    return host_fail(err, dead, HSY_FIELD_NONE,
                     dead == HSY_E_IO
                         ? "the disk has failed: nothing is written any more"
                         : "the data is damaged: nothing is written any more");
}

hsy_status store_damaged(struct store_sqlite *s, const char *table,
                         hsy_error *err)
{
    atomic_store(&s->dead, HSY_E_DAMAGED);
    return host_fail(err, HSY_E_DAMAGED, host_field_find(table),
                     "a part of the data is missing or changed");
}

/* Whether no room was left: said outright, or by what extends the index of a
 * log. */
static bool sqlite_full(const struct sql *q, int rc)
{
    const int error = q->db == NULL ? 0 : sqlite3_system_errno(q->db);

    return (rc & 0xff) == SQLITE_FULL ||
           ((rc & 0xff) == SQLITE_IOERR && rc != SQLITE_IOERR_FSYNC &&
            rc != SQLITE_IOERR_DIR_FSYNC &&
            (error == ENOSPC || error == EDQUOT));
}

hsy_status store_fail(struct store_sqlite *s, struct sql *q, int rc,
                      hsy_error *err)
{
    const bool full = sqlite_full(q, rc);

    if (q->db != NULL && !sqlite3_get_autocommit(q->db))
        sqlite3_exec(q->db, "ROLLBACK", NULL, NULL, NULL);
    if (full) {
        atomic_store(&s->full, true);
        return host_fail(err, HSY_E_FULL, host_field_find(q->file),
                         "the disk is full");
    }
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        return host_fail(err, HSY_E_NOMEM, host_field_find(q->file),
                         "out of memory");
    case SQLITE_CONSTRAINT:
        return host_fail(err, HSY_E_REFUSED, host_field_find(q->file),
                         "it is there already");
    case SQLITE_TOOBIG:
        return host_fail(err, HSY_E_RANGE, host_field_find(q->file),
                         "more than a row holds");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return host_fail(err, HSY_E_BUSY, host_field_find(q->file),
                         "another program has the database open");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: /* no such table or column */
    case SQLITE_SCHEMA:
    case SQLITE_MISMATCH:
        return store_damaged(s, q->file, err);
    case STORE_ROBBED:
        atomic_store(&s->dead, HSY_E_BUSY);
        return store_alive(s, err);
    default:
        atomic_store(&s->dead, HSY_E_IO);
        return host_fail(err, HSY_E_IO, host_field_find(q->file),
                         "the disk has failed");
    }
}

/* A transaction of the record, by whom holds writing. */
static int sqlite_transact(struct store_sqlite *s, struct sql *q,
                           store_body *body, const void *what)
{
    int rc = store_still_ours(s, q);

    s->next = s->meta;
    if (rc == SQLITE_OK)
        rc = body(s, q, what);
    if (rc == SQLITE_OK && memcmp(&s->next, &s->meta, sizeof s->next) != 0)
        rc = store_put_meta(s, q);
    if (rc == SQLITE_OK)
        rc = sql_run(q, SQL_COMMIT, NULL, 0);
    if (rc == SQLITE_OK)
        s->meta = s->next;
    return rc;
}

static int sqlite_cells(struct store_sqlite *s, struct sql *q, store_body *body,
                        const void *what)
{
    int rc = store_cells_ours(s);

    if (rc == SQLITE_OK)
        rc = body(s, q, what);
    return rc == SQLITE_OK ? sql_run(q, SQL_COMMIT, NULL, 0) : rc;
}

hsy_status store_write(struct store_sqlite *s, struct sql *q, store_body *body,
                       const void *what, hsy_error *err)
{
    const bool record = q != &s->cells;
    hsy_status st;
    int rc;

    if (record)
        store_line_lock(&s->writing);
    st = store_alive(s, err);
    if (st == HSY_OK) {
        rc = sql_run(q, SQL_BEGIN, NULL, 0);
        if (rc == SQLITE_OK)
            rc = record ? sqlite_transact(s, q, body, what)
                        : sqlite_cells(s, q, body, what);
        if (rc != SQLITE_OK)
            st = store_fail(s, q, rc, err);
    }
    if (record)
        store_line_unlock(&s->writing);
    return st;
}

/* ---- Databases ----------------------------------------------------------- */

static hsy_status sqlite_connect(struct store_sqlite *s, struct sql *q,
                                 const char *file, atomic_size_t *log,
                                 hsy_error *err)
{
    char *path = file_path(s->path, file);
    int rc;

    q->file = file;
    if (path == NULL)
        return host_nomem(err);
    rc = sql_open(q, path, file, log);
    free(path);
    return rc == SQLITE_OK ? HSY_OK : store_fail(s, q, rc, err);
}

/*
 * The first connection to a database, whose file is there or is made. It is
 * looked at before: later, closing a descriptor of ours would give up the locks
 * that SQLite has on the same file, and a stranger who closes the database
 * would take itself for the last and remove the log.
 */
static hsy_status sqlite_first(struct store_sqlite *s, struct sql *q,
                               const char *file, atomic_size_t *log,
                               bool create, hsy_error *err)
{
    int fd =
        openat(s->dir, file,
               O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);

    if (fd == -1)
        return errno == ENOENT ? store_damaged(s, file, err)
                               : host_fail(err, HSY_E_IO, host_field_find(file),
                                           "it cannot be opened");
    close(fd);
    return sqlite_connect(s, q, file, log, err);
}

/* *version is 0 where there are no tables yet. */
static hsy_status sqlite_version(struct store_sqlite *s, struct sql *q,
                                 int64_t *version, hsy_error *err)
{
    const uint32_t known = q == &s->cells ? STORE_CELLS_VERSION : STORE_VERSION;
    int64_t tables = 0, page = 0;
    int rc = sql_pragma(q, "PRAGMA user_version", version);

    if (rc == SQLITE_OK)
        rc = sql_pragma(q, "PRAGMA page_size", &page);
    if (rc == SQLITE_OK && page != STORE_PAGE)
        return host_fail(err, HSY_E_REFUSED, host_field_find(q->file),
                         "its pages were made of another size: VACUUM it with "
                         "page_size 4096");
    if (rc == SQLITE_OK)
        rc = sql_pragma(q, "SELECT count(*) FROM sqlite_schema", &tables);
    if (rc != SQLITE_OK)
        return store_fail(s, q, rc, err);
    if (*version > known) {
        return host_fail_kind(err, HSY_E_VERSION, host_field_find(q->file),
                              "a newer program made it: use that one",
                              HSY_LIMIT_VERSION, known);
    }
    if ((*version == 0) != (tables == 0))
        return store_damaged(s, q->file, err);
    return HSY_OK;
}

/* Tables and the first row, in one transaction. */
static hsy_status sqlite_make(struct store_sqlite *s, struct sql *q,
                              const char *tables, hsy_error *err)
{
    int rc = sqlite3_exec(q->db, tables, NULL, NULL, NULL);

    if (rc == SQLITE_OK)
        rc = q == &s->cells ? store_put_name(s, q) : store_put_meta(s, q);
    if (rc == SQLITE_OK)
        rc = sql_run(q, SQL_COMMIT, NULL, 0);
    return rc == SQLITE_OK ? HSY_OK : store_fail(s, q, rc, err);
}

static bool sqlite_random(void *buf, size_t len)
{
    return getrandom(buf, len, 0) == (ssize_t)len;
}

hsy_status store_get_meta(struct store_sqlite *s, struct sql *q, enum sql_id id,
                          sql_each *take, hsy_error *err)
{
    int64_t rows = 0;
    int rc = sql_pragma(q, "SELECT count(*) FROM meta", &rows);

    if (rc == SQLITE_OK && rows != 1)
        return store_damaged(s, q->file, err);
    return rc == SQLITE_OK ? store_rows(s, q, id, NULL, 0, take, s, err)
                           : store_fail(s, q, rc, err);
}

/*
 * Cells are made first, then the record, each in one transaction. So a process
 * that was killed while it made a store leaves no tables in the record and no
 * chunks in cells: then there is no store yet, and it is made now. *old: they
 * are of version 1.
 */
static hsy_status sqlite_open_cells(struct store_sqlite *s, bool making,
                                    bool *old, hsy_error *err)
{
    int64_t version = 0, chunks = 0;
    hsy_status st = sqlite_version(s, &s->cells, &version, err);
    int rc;

    *old = version == 1;
    if (st != HSY_OK)
        return st;
    if (version == 0 && !making)
        return store_damaged(s, s->cells.file, err);
    if (version == 0) {
        if (!sqlite_random(s->name, STORE_NAME))
            return host_fail(err, HSY_E_ENTROPY, HSY_FIELD_NONE,
                             "no randomness");
        return sqlite_make(s, &s->cells, store_tables_cells, err);
    }
    rc = sql_pragma(&s->cells, "SELECT count(*) FROM chunks", &chunks);
    if (rc != SQLITE_OK)
        return store_fail(s, &s->cells, rc, err);
    if (making && chunks != 0)
        return store_damaged(s, s->append.file, err);
    return store_read_name(s, *old, err);
}

/* In the record first: cells are never of a later turn. */
static hsy_status sqlite_turns(struct store_sqlite *s, int64_t version,
                               bool old_cells, hsy_error *err)
{
    hsy_status st = store_take_turn(s, version, err);

    return st == HSY_OK ? store_take_cells(s, old_cells, err) : st;
}

/* On a full disk with the room that the process before has held. */
static hsy_status sqlite_turn(struct store_sqlite *s, int64_t version,
                              bool old_cells, hsy_error *err)
{
    hsy_status st = sqlite_turns(s, version, old_cells, err);

    if (st != HSY_E_FULL)
        return st;
    store_reserve_release(s);
    st = sqlite_version(s, &s->append, &version, err);
    return st == HSY_OK ? sqlite_turns(s, version, old_cells, err) : st;
}

static hsy_status sqlite_open_both(struct store_sqlite *s, bool create,
                                   hsy_error *err)
{
    int64_t version = 0;
    bool old_cells = false;
    hsy_status st =
        sqlite_first(s, &s->append, "record.db", &s->record_log, create, err);

    if (st == HSY_OK)
        st = sqlite_version(s, &s->append, &version, err);
    if (st == HSY_OK && version == 0 && !create)
        return host_fail(err, HSY_E_EMPTY, HSY_FIELD_DIRECTORY,
                         "not a collector's data directory");
    if (st == HSY_OK)
        st = sqlite_first(s, &s->cells, "cells.db", &s->cells_log, version == 0,
                          err);
    if (st == HSY_OK)
        st = sqlite_open_cells(s, version == 0, &old_cells, err);
    if (st == HSY_OK && version == 0) {
        if (!sqlite_random(s->next.state.key, STORE_KEY))
            return host_fail(err, HSY_E_ENTROPY, HSY_FIELD_NONE,
                             "no randomness");
        st = sqlite_make(s, &s->append, store_tables_record, err);
        version = STORE_VERSION;
    }
    if (st == HSY_OK)
        st = sqlite_turn(s, version, old_cells, err);
    if (st == HSY_OK)
        st = sqlite_connect(s, &s->flip, "record.db", &s->record_log, err);
    if (st == HSY_OK)
        st = sqlite_connect(s, &s->mix, "record.db", &s->record_log, err);
    if (st == HSY_OK)
        sql_sync(&s->cells, false);
    return st;
}

/* ---- Open and close ------------------------------------------------------ */

static void sqlite_close(struct store *is)
{
    struct store_sqlite *s = (struct store_sqlite *)is;

    store_runs_free(s);
    sql_close(&s->mix);
    sql_close(&s->flip);
    sql_close(&s->append);
    sql_close(&s->cells);
    store_line_clear(&s->writing);
    pthread_mutex_destroy(&s->cutting);
    pthread_mutex_destroy(&s->copying);
    if (s->held != -1) /* after SQLite has given up its locks on it */
        close(s->held);
    if (s->reserve != -1)
        close(s->reserve);
    if (s->last != -1)
        close(s->last);
    if (s->lock != -1)
        close(s->lock);
    if (s->dir != -1)
        close(s->dir);
    free(s->path);
    free(s->pending);
    free(s->waste);
    explicit_bzero(s, sizeof *s);
    free(s);
}

static const struct store_functions sqlite_functions = {
    .name = "sqlite",
    .read = store_read,
    .append = store_append,
    .document = store_document,
    .close_epochs = store_close_epochs,
    .figure = store_figure,
    .forget_nulls = store_forget_nulls,
    .inherit = store_admin_inherit,
    .tidy = store_housekeeping,
    .seal = store_seal,
    .runs = store_new_runs,
    .making = store_making,
    .chunks = store_chunks,
    .rounds = store_rounds,
    .drop = store_drop,
    .settle = store_settle,
    .received = store_get_received,
    .mix = store_mix,
    .heads = store_get_heads,
    .sealed_count = store_sealed_count,
    .sealed = store_sealed,
    .sealed_erase = store_sealed_erase,
    .forget_received = store_forget_received,
    .reserve = store_reserve,
    .backup = store_backup,
    .close = sqlite_close,
};

/* Rounds in force. */
struct sqlite_rounds {
    struct store_round *all; /* owned */
    size_t n;
    hsy_error *err;
};

static hsy_status sqlite_take_round(void *ctx, const struct sql_value *row)
{
    struct sqlite_rounds *r = ctx;

    if (!grow_to(&r->all, r->n + 1, sizeof *r->all))
        return host_nomem(r->err);
    r->all[r->n++] =
        (struct store_round){(uint32_t)row[0].number, row[2].number};
    return HSY_OK;
}

/* Erase what a killed process had folded but not erased. */
static hsy_status sqlite_recover(struct store_sqlite *s, hsy_error *err)
{
    struct sqlite_rounds r = {.err = err};
    hsy_status st = store_rows(s, &s->flip, SQL_GET_ROUNDS, NULL, 0,
                               sqlite_take_round, &r, err);

    if (st == HSY_OK)
        st = store_erase_batches(s, &s->append, r.all, r.n, err);
    free(r.all);
    return st == HSY_E_FULL ? HSY_OK : st;
}

static struct store_sqlite *sqlite_new(void)
{
    struct store_sqlite *s = calloc(1, sizeof *s);
    uint8_t seed;

    if (s == NULL || !store_runs_new(s)) {
        free(s);
        return NULL;
    }
    sqlite3_randomness(1, &seed); /* while /dev/urandom can still be opened */
    s->is.ops = &sqlite_functions;
    s->dir = s->lock = s->held = s->reserve = s->last = -1;
    s->reserve_bytes = STORE_RESERVE;
    s->record_most = STORE_LOG;
    s->cells_most = STORE_CELLS_LOG;
    store_line_init(&s->writing);
    pthread_mutex_init(&s->cutting, NULL);
    pthread_mutex_init(&s->copying, NULL);
    return s;
}

hsy_status store_sqlite_look(struct store **out, const char *directory,
                             hsy_error *err)
{
    struct store_sqlite *s = sqlite_new();
    int64_t version = 0;
    bool old = false;
    hsy_status st;

    if (s == NULL || (s->path = strdup(directory)) == NULL) {
        if (s != NULL)
            sqlite_close(&s->is);
        return host_nomem(err);
    }
    st = sqlite_connect(s, &s->append, "record.db", &s->record_log, err);
    if (st == HSY_OK)
        st = sqlite_connect(s, &s->cells, "cells.db", &s->cells_log, err);
    if (st == HSY_OK)
        st = sqlite_version(s, &s->append, &version, err);
    if (st == HSY_OK && version != STORE_VERSION)
        st = store_damaged(s, s->append.file, err);
    if (st == HSY_OK)
        st = sqlite_open_cells(s, false, &old, err);
    if (st == HSY_OK)
        st = store_read_meta(s, err);
    if (st == HSY_OK && (old || s->turn > s->meta.turn))
        st = store_damaged(s, s->cells.file, err);
    if (st == HSY_OK)
        st = store_runs_open(s, true, err);
    if (st != HSY_OK)
        sqlite_close(&s->is);
    else
        *out = &s->is;
    return st;
}

hsy_status store_sqlite_open(struct store **out, struct store_state *state,
                             const char *directory, bool create, hsy_error *err)
{
    struct store_sqlite *s = sqlite_new();
    hsy_status st;

    if (s == NULL)
        return host_nomem(err);
    st = store_enter(s, directory, create, err);
    if (st == HSY_OK)
        store_reserve_plan(s);
    if (st == HSY_OK)
        st = store_lock(s, err);
    if (st == HSY_OK)
        st = store_hold(s, create, err);
    if (st == HSY_OK)
        st = sqlite_open_both(s, create, err);
    if (st == HSY_OK)
        st = store_last_open(s, err);
    if (st == HSY_OK)
        st = sqlite_recover(s, err);
    if (st == HSY_OK)
        st = store_runs_open(s, false, err);
    if (st != HSY_OK) {
        sqlite_close(&s->is);
        return st;
    }
    store_lock_number(s);
    *state = s->state;
    *out = &s->is;
    return HSY_OK;
}
