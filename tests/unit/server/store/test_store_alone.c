/* Tests of src/server/store/meta.c: one process counts, whatever became of
 * its locks; what a copy of two moments lacks is found; data of version 1 gets
 * what it lacks, or is refused. */
#define _GNU_SOURCE

#include "rig/store_rig.h"
#include "tap.h"

#include <sys/file.h>
#include <sys/syscall.h>

static char alone_root[64], alone_at[96], alone_copied[96];
static struct rig alone_rig, alone_other;
static bool alone_lying; /* no lock keeps anybody out */

int flock(int fd, int how)
{
    return alone_lying ? 0 : (int)syscall(SYS_flock, fd, how);
}

static hsy_status alone_open(struct rig *r, struct rig_told *told,
                             hsy_error *err)
{
    *err = (hsy_error){0};
    return rig_open(r, alone_at, told, err);
}

/* A file of the data as it is now, elsewhere. */
static void alone_copy(const char *file)
{
    char bytes[4096];
    size_t n;
    FILE *in = fopen(rig_path(alone_at, file), "rb");
    FILE *out = fopen(rig_path(alone_copied, file), "wb");

    while (in != NULL && (n = fread(bytes, 1, sizeof bytes, in)) != 0)
        fwrite(bytes, 1, n, out);
    if (in != NULL)
        fclose(in);
    fclose(out);
}

/* ---- Two processes ------------------------------------------------------- */

static void a_lock_that_was_removed(void)
{
    struct rig_told told = {0}, none = {0};
    hsy_error err;

    alone_open(&alone_rig, &told, &err);
    rig_document(&alone_rig, &err);
    rig_append(&alone_rig, &err);
    unlink(rig_path(alone_at, "lock"));
    ok(alone_open(&alone_other, &none, &err) == HSY_E_BUSY,
       "without `lock` the data is still busy");
    ok(rig_append(&alone_rig, &err) == HSY_OK, "and who has it goes on");
    rig_close(&alone_rig);
    ok(alone_open(&alone_rig, &told, &err) == HSY_OK &&
           alone_rig.wrong == NULL && alone_rig.state.seq == 2,
       "afterwards it opens");
    rig_close(&alone_rig);
    rig_remove(alone_at);
}

/* Commits, rounds, days and documents: none goes through. */
static unsigned alone_writes(struct rig *r, hsy_error *err)
{
    unsigned done = 0;

    rig_fold(r, 0);
    done += rig_write(r, 0, err) == HSY_OK;
    done += rig_close_epochs(r, RIG_DAY, err) == HSY_OK;
    done += rig_figure(r, err) == HSY_OK;
    done += rig_drop(r, err) == HSY_OK;
    done += rig_append(r, err) == HSY_OK;
    return done;
}

static void two_processes_past_all_locks(void)
{
    struct rig_told told = {0}, first = {0}, second;
    struct rig *a = &alone_rig, *b = &alone_other;
    hsy_error err;
    unsigned done = 0;

    alone_open(a, &told, &err);
    rig_document(a, &err);
    for (unsigned i = 0; i < 5; i++)
        rig_append(a, &err);
    first = told;
    second = told;
    alone_lying = true;
    ok(alone_open(b, &second, &err) == HSY_OK && b->wrong == NULL,
       "a second process gets past both locks");
    rig_recover(b);
    a->told = &first;
    ok(rig_append(a, &err) == HSY_E_IO && err.msg != NULL &&
           strstr(err.msg, "another process") != NULL,
       "the first one's next commit fails: %s",
       err.msg == NULL ? "nothing" : err.msg);
    for (unsigned i = 0; i < 5; i++) {
        done += rig_append(b, &err) == HSY_OK;
        done += 10 * alone_writes(a, &err);
    }
    rig_fold(b, 1);
    ok(done == 5 && rig_write(b, 1, &err) == HSY_OK,
       "nothing of the first goes through, all of the second (%u)", done);
    rig_close(a);
    rig_close(b);
    alone_lying = false;
    second.tried_closed = second.closed;
    ok(alone_open(a, &second, &err) == HSY_OK && a->wrong == NULL &&
           a->state.seq == 10,
       "every acknowledged report is there once%s%s",
       a->wrong == NULL ? "" : ": ", a->wrong == NULL ? "" : a->wrong);
    rig_close(a);
    rig_remove(alone_at);
}

/*
 * Chunks are put where the next round finds them: those of a process that was
 * overtaken would be put in force by the other.
 */
static void chunks_of_one_who_was_overtaken(void)
{
    struct rig_told told = {0}, first, second;
    struct rig *a = &alone_rig, *b = &alone_other;
    hsy_error err;
    hsy_status late;
    unsigned done = 0;

    alone_open(a, &told, &err);
    rig_document(a, &err);
    for (unsigned i = 0; i < 5; i++)
        rig_append(a, &err);
    first = second = told;
    a->told = &first;
    alone_lying = true;
    alone_open(b, &second, &err);
    rig_recover(b);
    for (unsigned i = 0; i < 5; i++)
        done += rig_append(b, &err) == HSY_OK;
    rig_fold(b, 0);
    done += rig_chunks(b, 0, 0, b->whole[0], b->dirty[0], &err) == HSY_OK;
    rig_fold(a, 0);
    err = (hsy_error){0};
    late = rig_chunks(a, 0, 0, a->whole[0], a->dirty[0], &err);
    ok(late == HSY_E_IO && err.msg != NULL &&
           strstr(err.msg, "another process") != NULL,
       "chunks of a process that was overtaken are not written");
    memset(b->dirty[0], 0, sizeof b->dirty[0]);
    done += rig_write(b, 0, &err) == HSY_OK;
    ok(done == 7, "those of the other are, and their round (%u)", done);
    rig_close(a);
    rig_close(b);
    alone_lying = false;
    ok(alone_open(a, &second, &err) == HSY_OK && a->wrong == NULL,
       "which holds every acknowledged report once%s%s",
       a->wrong == NULL ? "" : ": ", a->wrong == NULL ? "" : a->wrong);
    rig_close(a);
    rig_remove(alone_at);
}

/* Cells of a later opening than their record: of two copies. */
static void cells_of_a_later_opening(void)
{
    struct rig_told told = {0};
    struct rig *r = &alone_rig;
    hsy_error err;

    for (unsigned i = 0; i < 3; i++) {
        alone_open(r, &told, &err);
        rig_close(r);
        if (i == 0) {
            mkdir(alone_copied, 0700);
            alone_copy("record.db");
        }
    }
    alone_copy("cells.db");
    err = (hsy_error){0};
    ok(rig_open(&alone_other, alone_copied, &told, &err) == HSY_E_DAMAGED &&
           strcmp(host_field_name(err.field), "cells.db") == 0,
       "cells of a later opening than the record do not open with it");
    rig_close(&alone_other);
    rig_remove(alone_copied);
    rig_remove(alone_at);
}

/* One that takes no turn, as an older program: its commit is seen. */
static void a_commit_by_a_stranger(void)
{
    struct rig_told told = {0};
    struct rig *r = &alone_rig;
    hsy_error err;

    alone_open(r, &told, &err);
    rig_document(r, &err);
    rig_append(r, &err);
    rig_sql(alone_at, "record.db", "UPDATE meta SET seq = seq + 1");
    ok(rig_append(r, &err) == HSY_E_IO, "a commit is not made over another");
    rig_fold(r, 0);
    ok(rig_write(r, 0, &err) == HSY_E_IO, "nor is a round");
    rig_close(r);
    rig_remove(alone_at);
}

/* ---- What is missing ----------------------------------------------------- */

static void a_missing_batch(void)
{
    struct rig_told told = {0};
    struct rig *r = &alone_rig;
    hsy_error err;

    alone_open(r, &told, &err);
    rig_document(r, &err);
    for (unsigned i = 0; i < 6; i++)
        rig_append(r, &err);
    rig_fold(r, 0);
    rig_write(r, 0, &err);
    rig_close(r);
    ok(alone_open(r, &told, &err) == HSY_OK && r->wrong == NULL,
       "batches come and go, and their sum holds");
    rig_close(r);
    rig_sql(alone_at, "record.db", "DELETE FROM batches WHERE seq = 3");
    ok(alone_open(r, &told, &err) == HSY_E_DAMAGED &&
           strcmp(host_field_name(err.field), "batches") == 0,
       "one batch less is damage");
    rig_close(r);
    rig_remove(alone_at);
}

/* Databases first, then a checkpoint, then logs: all is sound, and old. */
static void a_copy_of_two_moments(void)
{
    static const char *const order[3][6] = {
        {"last", "record.db", "cells.db", NULL, "record.db-wal",
         "cells.db-wal"},
        {"record.db", "cells.db", NULL, "record.db-wal", "cells.db-wal",
         "last"},
        {"record.db", "cells.db", "last", NULL, "record.db-wal",
         "cells.db-wal"}};
    struct rig_told told = {0};
    struct rig *r = &alone_rig;
    hsy_error err;

    for (size_t k = 0; k < 3; k++) {
        told = (struct rig_told){0};
        alone_open(r, &told, &err);
        rig_document(r, &err);
        rig_append(r, &err);
        if (k != 2) { /* else not even its tables are in a database */
            rig_fold(r, 1);
            rig_write(r, 1, &err);
            rig_tidy(r, &err);
        }
        for (unsigned i = 0; i < 5; i++)
            rig_append(r, &err);
        mkdir(alone_copied, 0700);
        for (size_t i = 0; i < 6; i++) {
            if (order[k][i] != NULL) {
                alone_copy(order[k][i]);
                continue;
            }
            rig_fold(r, 0);
            rig_write(r, 0, &err);
            rig_tidy(r, &err);
        }
        rig_close(r);
        err = (hsy_error){0};
        ok(rig_open(&alone_other, alone_copied, &told, &err) == HSY_E_DAMAGED &&
               err.field == HOST_FIELD_LAST,
           "a copy that lacks what was acknowledged does not open (%zu)", k);
        rig_close(&alone_other);
        unlink(rig_path(alone_copied, "last"));
        memset(&told, 0, sizeof told);
        ok(rig_open(&alone_other, alone_copied, &told, &err) == HSY_OK &&
               alone_other.state.seq == (k != 2),
           "which without `last` nobody would have known");
        rig_close(&alone_other);
        rig_remove(alone_copied);
        rig_remove(alone_at);
    }
}

/* ---- Versions ------------------------------------------------------------ */

/* The row of meta as it was in version 1, and its sum. */
static void alone_downgrade_one(const char *file, const char *row_1,
                                const char *change)
{
    struct sql_value row[16];
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    char text[160];
    int n;

    sqlite3_open(rig_path(alone_at, file), &db);
    sqlite3_prepare_v2(db, row_1, -1, &st, NULL);
    sqlite3_step(st);
    n = sqlite3_column_count(st);
    for (int i = 0; i < n; i++)
        row[i] = sqlite3_column_type(st, i) == SQLITE_BLOB
                     ? SQL_B(sqlite3_column_blob(st, i),
                             (size_t)sqlite3_column_bytes(st, i))
                     : SQL_N((uint64_t)sqlite3_column_int64(st, i));
    snprintf(text, sizeof text, "UPDATE meta SET sum = %lu",
             (unsigned long)sql_sum(row, (size_t)n));
    sqlite3_finalize(st);
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(db, change, NULL, NULL, NULL) != SQLITE_OK)
        ok(false, "%s: %s", file, sqlite3_errmsg(db));
    sqlite3_close(db);
}

#define ALONE_SINCE_3                                                          \
    "DROP TABLE received; DROP TABLE mixes;"                                   \
    "ALTER TABLE meta DROP COLUMN hops;"                                       \
    "ALTER TABLE meta DROP COLUMN hop_checks;"

#define ALONE_SINCE_2                                                          \
    ALONE_SINCE_3                                                              \
    "DROP TABLE runs;"                                                         \
    "ALTER TABLE meta DROP COLUMN id_rows;"                                    \
    "ALTER TABLE meta DROP COLUMN id_checks;"                                  \
    "ALTER TABLE meta DROP COLUMN runs;"                                       \
    "ALTER TABLE meta DROP COLUMN run_checks;"

/* What a program of version 1, 2 or 3 would have left. */
static void alone_downgrade(int version)
{
    if (version == 3) {
        alone_downgrade_one("record.db",
                            "SELECT one, name, key, seq, closed, day,"
                            " turn, rests, checks, id_rows, id_checks, runs,"
                            " run_checks FROM meta",
                            ALONE_SINCE_3 "PRAGMA user_version = 3");
        return;
    }
    if (version == 2) {
        alone_downgrade_one("record.db",
                            "SELECT one, name, key, seq, closed, day,"
                            " turn, rests, checks FROM meta",
                            ALONE_SINCE_2 "PRAGMA user_version = 2");
        return;
    }
    alone_downgrade_one("record.db",
                        "SELECT one, name, key, seq, closed, day FROM meta",
                        ALONE_SINCE_2 "ALTER TABLE meta DROP COLUMN turn;"
                                      "ALTER TABLE meta DROP COLUMN rests;"
                                      "ALTER TABLE meta DROP COLUMN checks;"
                                      "PRAGMA user_version = 1");
    alone_downgrade_one("cells.db", "SELECT one, name FROM meta",
                        "ALTER TABLE meta DROP COLUMN turn;"
                        "PRAGMA user_version = 1");
}

static void an_older_version(int version)
{
    struct rig_told told = {0};
    struct rig *r = &alone_rig;
    hsy_error err;
    hsy_status st = alone_open(r, &told, &err);

    for (unsigned k = 0; st == HSY_OK && k < RIG_STEPS; k++)
        st = rig_step(r, k, &err);
    rig_close(r);
    alone_downgrade(version);
    ok(alone_open(r, &told, &err) == HSY_OK && r->wrong == NULL,
       "data of version %d opens with all that was in it%s%s", version,
       r->wrong == NULL ? "" : ": ", r->wrong == NULL ? "" : r->wrong);
    rig_recover(r);
    st = rig_append(r, &err);
    rig_close(r);
    ok(st == HSY_OK && alone_open(r, &told, &err) == HSY_OK && r->wrong == NULL,
       "and goes on as what it is now");
    rig_close(r);
    ok(rig_sql(alone_at, "record.db", "PRAGMA user_version") == 4 &&
           rig_sql(alone_at, "cells.db", "PRAGMA user_version") == 2,
       "a program of version %d would now refuse it by its number", version);
    alone_downgrade(version);
    rig_sql(alone_at, "record.db", "UPDATE meta SET day = day + 1");
    ok(alone_open(r, &told, &err) == HSY_E_DAMAGED,
       "data of version %d that is damaged is not changed", version);
    rig_close(r);
    ok(rig_sql(alone_at, "record.db", "PRAGMA user_version") == version &&
           rig_sql(alone_at, "cells.db", "PRAGMA user_version") ==
               (version < 2 ? version : 2),
       "and stays what it was");
    rig_remove(alone_at);
}

int main(void)
{
    if (!rig_root(alone_root))
        return 1;
    snprintf(alone_at, sizeof alone_at, "%s/data", alone_root);
    snprintf(alone_copied, sizeof alone_copied, "%s/copy", alone_root);

    a_lock_that_was_removed();
    two_processes_past_all_locks();
    chunks_of_one_who_was_overtaken();
    cells_of_a_later_opening();
    a_commit_by_a_stranger();
    a_missing_batch();
    a_copy_of_two_moments();
    an_older_version(1);
    an_older_version(2);
    an_older_version(3);

    rmdir(alone_root);
    return tap_done();
}
