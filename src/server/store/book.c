/* book.c - a small SQLite file beside the store. */
#define _GNU_SOURCE /* fchownat */
#include "server/store/book.h"

#include "host/base/host_fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOK_PATH 4096u
#define BOOK_PIECE 65536u
#define BOOK_WAIT 10000 /* milliseconds for another process's lock */

static hsy_status book_failed(const struct book *b, hsy_error *err)
{
    const int code = b->db != NULL ? sqlite3_errcode(b->db) : SQLITE_NOMEM;

    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return host_nomem(err);
    case SQLITE_FULL:
        return host_fail(err, HSY_E_FULL, host_field_find(b->what),
                         "there is no room for it");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return host_fail(err, HSY_E_BUSY, host_field_find(b->what),
                         "another process holds it; try again");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return host_fail(err, HSY_E_FORMAT, host_field_find(b->what),
                         "it is damaged: restore it from a backup");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
        return host_fail(err, HSY_E_IO, host_field_find(b->what),
                         "it cannot be opened");
    default:
        return host_fail(err, HSY_E_IO, host_field_find(b->what),
                         "it cannot be read or written");
    }
}

/* ---- Statements ---------------------------------------------------------- */

hsy_status book_run(struct book *b, const char *sql, hsy_error *err)
{
    return sqlite3_exec(b->db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? HSY_OK
               : book_failed(b, err);
}

static int book_bind(sqlite3_stmt *ask, const char *form, va_list args)
{
    int good = SQLITE_OK;

    for (int i = 1; *form != '\0' && good == SQLITE_OK; form++, i++) {
        if (*form == 'i') {
            good = sqlite3_bind_int64(ask, i, va_arg(args, int64_t));
        } else if (*form == 't') {
            good = sqlite3_bind_text(ask, i, va_arg(args, const char *), -1,
                                     SQLITE_TRANSIENT);
        } else {
            const void *bytes = va_arg(args, const void *);

            good = sqlite3_bind_blob64(ask, i, bytes, va_arg(args, size_t),
                                       SQLITE_STATIC);
        }
    }
    return good;
}

sqlite3_stmt *book_ask(struct book *b, hsy_error *err, const char *sql,
                       const char *form, ...)
{
    sqlite3_stmt *ask = NULL;
    va_list args;
    int good = sqlite3_prepare_v2(b->db, sql, -1, &ask, NULL);

    va_start(args, form);
    if (good == SQLITE_OK)
        good = book_bind(ask, form, args);
    va_end(args);
    if (good == SQLITE_OK)
        return ask;
    book_failed(b, err);
    sqlite3_finalize(ask);
    return NULL;
}

bool book_row(struct book *b, sqlite3_stmt *ask, hsy_status *st, hsy_error *err)
{
    const int got = sqlite3_step(ask);

    if (got == SQLITE_ROW)
        return true;
    if (got != SQLITE_DONE)
        *st = book_failed(b, err);
    return false;
}

hsy_status book_do(struct book *b, sqlite3_stmt *ask, hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (ask == NULL)
        return err != NULL ? err->status : HSY_E_IO;
    while (book_row(b, ask, &st, err))
        ;
    sqlite3_finalize(ask);
    return st;
}

hsy_status book_begin(struct book *b, hsy_error *err)
{
    return book_run(b, "BEGIN IMMEDIATE", err);
}

hsy_status book_end(struct book *b, hsy_status st, hsy_error *err)
{
    if (st == HSY_OK)
        st = book_run(b, "COMMIT", err);
    if (st != HSY_OK)
        book_run(b, "ROLLBACK", NULL);
    return st;
}

/* ---- Opening ------------------------------------------------------------- */

static bool book_path(char path[BOOK_PATH], const char *data, const char *name)
{
    return snprintf(path, BOOK_PATH, "%s/%s", data, name) < (int)BOOK_PATH;
}

/* An empty file of the directory's owner that nobody else reads: SQLite would
 * make one as the umask has it. */
static bool book_make(const char *path, const char *data)
{
    struct stat owner;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool good = fd != -1;

    if (good && geteuid() == 0)
        good = stat(data, &owner) == 0 &&
               fchown(fd, owner.st_uid, owner.st_gid) == 0;
    if (fd != -1)
        close(fd);
    return good;
}

/* Whether a file may be believed: regular, of whom the directory is, closed to
 * everybody else. */
static bool book_ours(const char *path, const char *data)
{
    struct stat s, d;

    return lstat(path, &s) == 0 && stat(data, &d) == 0 && S_ISREG(s.st_mode) &&
           s.st_uid == d.st_uid && (s.st_mode & 077) == 0;
}

static hsy_status book_number(struct book *b, const char *sql, int64_t *out,
                              hsy_error *err)
{
    sqlite3_stmt *ask = book_ask(b, err, sql, "");
    hsy_status st = HSY_OK;

    if (ask == NULL)
        return err != NULL ? err->status : HSY_E_IO;
    if (book_row(b, ask, &st, err))
        *out = sqlite3_column_int64(ask, 0);
    sqlite3_finalize(ask);
    return st;
}

/* Make the tables of a new one; look at those of an old one. */
static hsy_status book_enter(struct book *b, const struct book_kind *kind,
                             hsy_error *err)
{
    int64_t application = 0, version = 0;
    char sql[80];
    hsy_status st = book_begin(b, err);

    if (st != HSY_OK)
        return st;
    st = book_number(b, "PRAGMA application_id", &application, err);
    if (st == HSY_OK)
        st = book_number(b, "PRAGMA user_version", &version, err);
    if (st == HSY_OK && application == 0 && version == 0) {
        snprintf(sql, sizeof sql,
                 "PRAGMA application_id=%ld; PRAGMA user_version=%ld",
                 (long)kind->application, (long)kind->version);
        st = book_run(b, kind->tables, err);
        return book_end(b, st == HSY_OK ? book_run(b, sql, err) : st, err);
    }
    if (st == HSY_OK && application != kind->application)
        st = host_fail(err, HSY_E_FORMAT, host_field_find(b->what),
                       "it is another file");
    if (st == HSY_OK && version > kind->version)
        st = host_fail(err, HSY_E_VERSION, host_field_find(b->what),
                       "of a newer hearsay");
    return book_end(b, st, err);
}

hsy_status book_open(struct book *b, const char *data,
                     const struct book_kind *kind, bool create, hsy_error *err)
{
    char path[BOOK_PATH];
    hsy_status st = HSY_OK;

    *b = (struct book){.what = kind->name};
    if (!book_path(path, data, kind->name))
        return host_fail(err, HSY_E_RANGE, host_field_find(kind->name),
                         "its name is too long");
    if (access(path, F_OK) == -1 && errno == ENOENT && !create)
        return host_fail(err, HSY_E_EMPTY, host_field_find(kind->name),
                         "there is none");
    if (create && access(path, F_OK) == -1 && !book_make(path, data))
        return host_fail(err, errno == ENOSPC ? HSY_E_FULL : HSY_E_IO,
                         host_field_find(kind->name), "it cannot be made");
    if (!book_ours(path, data))
        return host_fail(err, HSY_E_REFUSED, host_field_find(kind->name),
                         "it is not the data directory's owner's, or others "
                         "can read it (chmod 600)");
    if (sqlite3_open_v2(path, &b->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                            SQLITE_OPEN_NOFOLLOW,
                        NULL) != SQLITE_OK)
        st = book_failed(b, err);
    if (st == HSY_OK) {
        sqlite3_busy_timeout(b->db, BOOK_WAIT);
        st = book_run(b,
                      "PRAGMA journal_mode=DELETE; PRAGMA synchronous=EXTRA; "
                      "PRAGMA foreign_keys=OFF; PRAGMA cache_size=-1024; "
                      "PRAGMA secure_delete=ON",
                      err);
    }
    if (st == HSY_OK)
        st = book_enter(b, kind, err);
    if (st != HSY_OK)
        book_close(b);
    return st;
}

void book_close(struct book *b)
{
    sqlite3_close(b->db);
    b->db = NULL;
}

/* ---- Copies -------------------------------------------------------------- */

/* Nobody writes while a transaction reads; closing the file gives its lock up,
 * and nothing is read after that. */
hsy_status book_bytes(struct book *b, const char *data,
                      hsy_status (*each)(void *ctx, uint64_t at,
                                         const uint8_t *bytes, size_t len),
                      void *ctx, hsy_error *err)
{
    uint8_t piece[BOOK_PIECE];
    char path[BOOK_PATH];
    uint64_t at = 0;
    ssize_t n = 0;
    int fd = -1;
    hsy_status st =
        book_run(b, "BEGIN; SELECT count(*) FROM sqlite_schema", err);

    if (st == HSY_OK && book_path(path, data, b->what))
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    while (st == HSY_OK && fd != -1 &&
           (n = pread(fd, piece, sizeof piece, (off_t)at)) > 0) {
        st = each(ctx, at, piece, (size_t)n);
        at += (uint64_t)n;
    }
    if (st == HSY_OK && (fd == -1 || n == -1))
        st = host_fail(err, HSY_E_IO, host_field_find(b->what),
                       "it cannot be read");
    if (fd != -1)
        close(fd);
    return st;
}

/* The pragma is a statement of its own: as a table, pragma_integrity_check(1),
 * some versions of SQLite take its argument for the name of a table. */
static hsy_status book_integrity(struct book *b, bool *sound, hsy_error *err)
{
    sqlite3_stmt *ask = book_ask(b, err, "PRAGMA integrity_check(1)", "");
    hsy_status st = HSY_OK;

    *sound = false;
    if (ask == NULL)
        return err != NULL ? err->status : HSY_E_IO;
    if (book_row(b, ask, &st, err)) {
        const char *text = (const char *)sqlite3_column_text(ask, 0);

        *sound = text != NULL && strcmp(text, "ok") == 0;
    }
    sqlite3_finalize(ask);
    return st;
}

/* Tables and indexes have a root page; views, triggers and virtual tables,
 * whose code would run during the check, have none. */
hsy_status book_look(struct book *b, hsy_error *err)
{
    int64_t others = 1;
    bool sound = false;
    hsy_status st = book_number(b,
                                "SELECT count(*) FROM sqlite_schema WHERE "
                                "type NOT IN ('table', 'index') OR "
                                "rootpage = 0",
                                &others, err);

    if (st == HSY_OK && others == 0)
        st = book_integrity(b, &sound, err);
    return st != HSY_OK || sound
               ? st
               : host_fail(err, HSY_E_FORMAT, host_field_find(b->what),
                           "it is damaged");
}

hsy_status book_copy(struct book *b, const char *directory,
                     const struct book_kind *kind, hsy_error *err)
{
    struct book to;
    sqlite3_backup *copy;
    int got = SQLITE_NOMEM;
    hsy_status st = book_open(&to, directory, kind, true, err);

    if (st != HSY_OK)
        return st;
    copy = sqlite3_backup_init(to.db, "main", b->db, "main");
    if (copy != NULL) {
        got = sqlite3_backup_step(copy, -1);
        sqlite3_backup_finish(copy);
    }
    if (got != SQLITE_DONE)
        st = host_fail(err, got == SQLITE_FULL ? HSY_E_FULL : HSY_E_IO,
                       host_field_find(kind->name), "it cannot be copied");
    book_close(&to);
    return st;
}
