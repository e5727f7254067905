/*
 * store_log.c - the logs of both databases are kept short, by the thread that
 * writes tallies and by no other.
 *
 * A log is moved into its database while commits go on, and the database is
 * synced, until little is left; only that little is moved, and synced, while
 * nobody may write. Then it is written over from its beginning. Its file is not
 * cut: giving blocks back and taking them again costs every later sync. What
 * was erased stays in the part that is not yet written over, so once nobody
 * waits (store_settle) the logs are truncated. If somebody always waits, that
 * part of the record's is written over with zeros after a while
 * (blank.c); that of cells is cut, for nobody waits for it.
 */
#define _GNU_SOURCE /* fstatat, fallocate */

#include "server/store/store_runs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LOG_PAGE STORE_PAGE
#define LOG_LONG 64u    /* bounds that a log may have behind a reader */
#define LOG_PASSES 6    /* before nobody may write */
#define LOG_LITTLE 256u /* pages that may be left for then */
#define LOG_PATIENCE 20 /* ms, for another connection that reads */
#define LOG_CHUNKS 64u  /* superseded chunks erased at a time */
#define LOG_SPARE 16u   /* times what a log takes ahead must be free */

/* A checkpoint of a connection; *moved is how many pages of its log are in the
 * database. Another connection that still reads puts it off. */
static int log_checkpoint(struct store_sqlite *s, struct sql *q, int mode,
                          size_t *moved)
{
    const bool passive = mode == SQLITE_CHECKPOINT_PASSIVE;
    int pages = 0, done = 0, rc;

    sqlite3_busy_timeout(q->db, passive ? 0 : LOG_PATIENCE);
    rc = sqlite3_wal_checkpoint_v2(q->db, NULL, mode, &pages, &done);
    sqlite3_busy_timeout(q->db, STORE_PATIENCE);
    *moved = done > 0 ? (size_t)done : 0;
    if (rc == SQLITE_OK && !passive)
        atomic_store(q->log, 0);
    if ((rc & 0xff) != SQLITE_BUSY && (rc & 0xff) != SQLITE_LOCKED)
        return rc;
    atomic_store(&s->erased, true);
    return SQLITE_OK;
}

/* SQLite syncs the database only if nothing is left in the log, and so under
 * the lock of whom it keeps from writing: all that was moved before. */
static int log_sync(struct sql *q)
{
    sqlite3_file *file = NULL;
    int rc = sqlite3_file_control(q->db, "main", SQLITE_FCNTL_FILE_POINTER,
                                  (void *)&file);

    return rc == SQLITE_OK ? file->pMethods->xSync(file, SQLITE_SYNC_NORMAL)
                           : rc;
}

/* Most of it, while others write: until what came meanwhile is little, or a
 * reader holds up the rest. */
static int log_move(struct store_sqlite *s, struct sql *q)
{
    size_t moved = 0, before = 1, pages = SIZE_MAX;
    int rc = SQLITE_OK;

    for (int i = 0; i < LOG_PASSES && rc == SQLITE_OK && moved != before &&
                    pages > moved + LOG_LITTLE;
         i++) {
        before = moved;
        rc = log_checkpoint(s, q, SQLITE_CHECKPOINT_PASSIVE, &moved);
        if (rc == SQLITE_OK)
            rc = log_sync(q);
        pages = atomic_load(q->log);
    }
    return rc;
}

/* The little that is left, by whom holds writing. */
static int log_end(struct store_sqlite *s, struct sql *q, bool truncate)
{
    size_t moved;

    return log_checkpoint(
        s, q, truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_RESTART,
        &moved);
}

hsy_status store_empty_log(struct store_sqlite *s, struct sql *q, bool truncate,
                           hsy_error *err)
{
    const bool record = q != &s->cells;
    int rc = log_move(s, q);

    if (rc != SQLITE_OK)
        return store_fail(s, q, rc, err);
    if (record)
        store_line_lock(&s->writing);
    rc = log_end(s, q, truncate);
    if (record)
        store_line_unlock(&s->writing);
    return rc == SQLITE_OK ? HSY_OK : store_fail(s, q, rc, err);
}

/* A log that a reader holds is tried again when it has grown as much again. */
hsy_status store_bound_log(struct store_sqlite *s, struct sql *q,
                           hsy_error *err)
{
    const size_t most = q == &s->cells ? s->cells_most : s->record_most;
    size_t *at = q == &s->cells ? &s->cells_at : &s->record_at;
    hsy_status st = HSY_OK;

    if (atomic_load(q->log) > (*at > most ? *at : most)) {
        st = store_empty_log(s, q, false, err);
        *at = atomic_load(q->log) > most ? atomic_load(q->log) + most : 0;
    }
    /* It only grows; what was committed before stands, and must not be said to
     * have failed. */
    return st == HSY_E_FULL || st == HSY_E_NOMEM ? HSY_OK : st;
}

/* ---- Behind a reader ----------------------------------------------------- */

bool store_log_crowds(struct store_sqlite *s)
{
    const size_t record = atomic_load(&s->record_log);
    const size_t cells = atomic_load(&s->cells_log);
    const uint64_t bytes = (uint64_t)(record + cells) * LOG_PAGE;
    struct statfs fs;

    if (atomic_load(&s->crowded) || record > LOG_LONG * s->record_most ||
        cells > LOG_LONG * s->cells_most)
        return true;
    if (record <= s->record_most && cells <= s->cells_most)
        return false;
    /* Moving them may take as much again. */
    return s->dir != -1 && fstatfs(s->dir, &fs) == 0 &&
           (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize < bytes;
}

/* ---- Ahead of who writes ------------------------------------------------- */

/*
 * A commit that lengthens the file waits until the file system has found blocks
 * and noted them: tens of milliseconds now and then. So the record's log gets
 * its blocks while nobody waits. They read as zeros, which SQLite takes for the
 * log's end; nothing that is there is changed, whoever writes meanwhile. It is
 * a matter of speed alone, so no failure is one, and a disk that has little
 * room keeps it.
 */
void store_log_ahead(struct store_sqlite *s)
{
    const uint64_t bytes = (uint64_t)s->record_most * LOG_PAGE * 3 / 2;
    struct statfs fs;
    int log;

    if (s->reserve == -1 || s->reserve_bytes < STORE_RESERVE ||
        fstatfs(s->dir, &fs) == -1 ||
        (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize < LOG_SPARE * bytes)
        return;
    log = openat(s->dir, "record.db-wal", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (log == -1)
        return;
    (void)fallocate(log, 0, 0, (off_t)bytes);
    close(log);
}

/* ---- When nobody waits --------------------------------------------------- */

/* One that grew behind a reader gives its room back. */
static bool log_too_long(const struct store_sqlite *s)
{
    struct stat is;

    return fstatat(s->dir, "record.db-wal", &is, 0) == 0 &&
           (uint64_t)is.st_size > 2 * (uint64_t)s->record_most * LOG_PAGE;
}

/* Empties the logs. A record's log that was scrubbed but not cut still has a
 * frame: `erased` stays set, so that the next pause without uploads cuts it,
 * whatever came first, the last upload or this. */
static hsy_status log_truncate(struct store_sqlite *s, enum store_pace pace,
                               hsy_error *err)
{
    const bool cut = pace == STORE_QUIET || log_too_long(s);
    hsy_status st;

    if (!atomic_exchange(&s->erased, false))
        return HSY_OK;
    st = store_empty_log(s, &s->flip, cut, err);
    if (st == HSY_OK && !cut && !atomic_load(&s->erased))
        st = store_blank_log(s, err);
    if (st == HSY_OK)
        st = store_empty_log(s, &s->cells, true, err);
    if (st != HSY_OK || !cut)
        atomic_store(&s->erased, true);
    else
        store_log_ahead(s);
    return st;
}

/*
 * The disk was full: all that is held goes to the logs, so that they can be
 * moved and give back what they take. Nobody commits until it is held again: a
 * commit would lengthen the log by the room that moving it needs.
 */
static hsy_status log_make_room(struct store_sqlite *s, hsy_error *err)
{
    struct sql *const both[] = {&s->flip, &s->cells};
    hsy_status st = HSY_OK;

    if (!atomic_exchange(&s->full, false))
        return HSY_OK;
    atomic_store(&s->crowded, true);
    store_line_lock(&s->writing);
    store_reserve_release(s);
    for (size_t i = 0; st == HSY_OK && i < 2; i++) {
        int rc = log_move(s, both[i]);

        if (rc == SQLITE_OK)
            rc = log_end(s, both[i], true);
        if (rc != SQLITE_OK)
            st = store_fail(s, both[i], rc, err);
    }
    if (s->reserve != -1)
        store_reserve_take(s);
    store_line_unlock(&s->writing);
    return st == HSY_E_FULL || st == HSY_E_NOMEM ? HSY_OK : st;
}

static hsy_status log_settle(struct store_sqlite *s, enum store_pace pace,
                             bool *more, hsy_error *err)
{
    const bool quiet = pace != STORE_BUSY;
    hsy_status st = log_make_room(s, err);

    if (st == HSY_OK)
        st = store_bound_log(s, &s->flip, err);
    if (st == HSY_OK)
        st = store_bound_log(s, &s->cells, err);
    if (st == HSY_OK && quiet)
        st = store_sweep(s, err);
    if (st == HSY_OK && quiet)
        st = store_erase_waste(s, LOG_CHUNKS, more, err);
    if (st == HSY_OK)
        st = store_runs_step(s, quiet, more, err);
    if (st == HSY_OK && quiet && !*more)
        st = log_truncate(s, pace, err);
    return st;
}

hsy_status store_settle(struct store *is, enum store_pace pace, bool *more,
                        hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    hsy_status st = store_alive(s, err);

    *more = false;
    if (st != HSY_OK)
        return st;
    pthread_mutex_lock(&s->cutting);
    st = log_settle(s, pace, more, err);
    if (pace == STORE_BUSY)
        *more |= s->nwaste != 0 || atomic_load(&s->erased);
    pthread_mutex_unlock(&s->cutting);
    return st;
}
