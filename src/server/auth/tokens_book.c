/* tokens_book.c - tokens.db: who may read, who may upload. Hashes only. */
#define _GNU_SOURCE /* O_DIRECTORY */

#include "server/auth/tokens_keep.h"

#include "host/base/host_fail.h"
#include "server/store/book.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOK_PATH 4096u

struct tokens_file {
    struct tokens_keep keep; /* first */
    char *data;              /* owned */
    struct book book;
    bool change;     /* in a transaction */
    bool opened;     /* for a running collector, once */
    ino_t inode;     /* of the one that it has open; */
    int64_t reopens; /* how often another stood in its place */
};

static struct tokens_file *book_of(struct tokens_keep *k)
{
    return (struct tokens_file *)k;
}

/* ---- Writing ------------------------------------------------------------- */

static hsy_status book_put_person(struct tokens_keep *k,
                                  const struct tokens_person *p, hsy_error *err)
{
    struct book *b = &book_of(k)->book;

    return book_do(b,
                   book_ask(b, err,
                            "INSERT INTO people(name, role, hash) VALUES(?1, "
                            "?2, ?3)",
                            "tib", p->name, (int64_t)p->role,
                            (const void *)p->hash, sizeof p->hash),
                   err);
}

static hsy_status book_put_task(struct tokens_keep *k, const char *task,
                                uint32_t quota, hsy_error *err)
{
    struct book *b = &book_of(k)->book;

    return book_do(b,
                   book_ask(b, err,
                            "INSERT INTO tasks(task, quota) VALUES(?1, ?2) ON "
                            "CONFLICT(task) DO UPDATE SET quota=?2",
                            "ti", task, (int64_t)quota),
                   err);
}

static hsy_status book_put_enrolled(struct tokens_keep *k, const char *task,
                                    const uint8_t *hashes, size_t n,
                                    uint32_t expires, hsy_error *err)
{
    struct book *b = &book_of(k)->book;
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < n && st == HSY_OK; i++)
        st = book_do(b,
                     book_ask(b, err,
                              "INSERT OR IGNORE INTO enrolled(task, hash, "
                              "expires) VALUES(?1, ?2, ?3)",
                              "tbi", task,
                              (const void *)(hashes + i * TOKENS_SHORT),
                              (size_t)TOKENS_SHORT, (int64_t)expires),
                     err);
    return st;
}

/* A statement, and how many rows it changed. */
static hsy_status book_change(struct book *b, sqlite3_stmt *ask, uint64_t *n,
                              hsy_error *err)
{
    hsy_status st = book_do(b, ask, err);

    *n = st == HSY_OK ? (uint64_t)sqlite3_changes(b->db) : 0;
    return st;
}

static hsy_status book_drop_person(struct tokens_keep *k, const char *name,
                                   uint64_t *n, hsy_error *err)
{
    struct book *b = &book_of(k)->book;

    return book_change(
        b, book_ask(b, err, "DELETE FROM people WHERE name=?1", "t", name), n,
        err);
}

static hsy_status book_drop_task(struct tokens_keep *k, const char *task,
                                 uint64_t *n, hsy_error *err)
{
    struct book *b = &book_of(k)->book;

    return book_change(
        b, book_ask(b, err, "DELETE FROM tasks WHERE task=?1", "t", task), n,
        err);
}

static hsy_status book_expire(struct tokens_keep *k, const char *task,
                              const uint8_t *hash, uint32_t day, uint64_t *n,
                              hsy_error *err)
{
    struct book *b = &book_of(k)->book;

    return book_change(
        b,
        hash == NULL
            ? book_ask(b, err, "UPDATE enrolled SET expires=?2 WHERE task=?1",
                       "ti", task, (int64_t)day)
            : book_ask(b, err,
                       "UPDATE enrolled SET expires=?2 WHERE task=?1 AND "
                       "hash=?3",
                       "tib", task, (int64_t)day, (const void *)hash,
                       (size_t)TOKENS_SHORT),
        n, err);
}

static hsy_status book_drop_enrolled(struct tokens_keep *k, const char *task,
                                     const uint8_t *hash, uint64_t *n,
                                     hsy_error *err)
{
    struct book *b = &book_of(k)->book;

    return book_change(
        b,
        hash == NULL
            ? book_ask(b, err, "DELETE FROM enrolled WHERE task=?1", "t", task)
            : book_ask(b, err, "DELETE FROM enrolled WHERE task=?1 AND hash=?2",
                       "tb", task, (const void *)hash, (size_t)TOKENS_SHORT),
        n, err);
}

/* ---- Opening ------------------------------------------------------------- */

/* The data directory's descriptor, with create making it; -1 with errno. */
static int book_directory(const char *data, bool create)
{
    if (create && mkdir(data, S_IRWXU) == -1 && errno != EEXIST)
        return -1;
    return open(data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Tokens once stood in files, which nothing reads any more. */
static hsy_status book_no_files(int dir, hsy_error *err)
{
    struct stat s; /* the sandbox has fstatat, and not faccessat */

    if (fstatat(dir, "tokens", &s, AT_SYMLINK_NOFOLLOW) != 0 &&
        fstatat(dir, "enrolled", &s, AT_SYMLINK_NOFOLLOW) != 0)
        return HSY_OK;
    return host_fail(err, HSY_E_REFUSED, HSY_FIELD_NONE,
                     "'tokens' and 'enrolled' in the data directory are no "
                     "longer read: remove them, and issue new tokens for those "
                     "that are not in tokens.db");
}

/* The book, made if there is none; create: the directory too. HSY_E_EMPTY:
 * there is no directory. */
static hsy_status book_enter(struct tokens_file *f, bool create, hsy_error *err)
{
    struct book *b = &f->book;
    int dir = book_directory(f->data, create);
    hsy_status st;

    *b = (struct book){.db = NULL};
    if (dir == -1)
        return host_fail(err, errno == ENOENT ? HSY_E_EMPTY : HSY_E_IO,
                         HSY_FIELD_NONE, "the data directory cannot be opened");
    st = book_no_files(dir, err);
    if (st == HSY_OK)
        st = book_open(b, f->data, &tokens_kind, true, err);
    close(dir);
    return st;
}

/* ---- Reading ------------------------------------------------------------- */

static hsy_status book_people(struct tokens_keep *k, struct tokens_people *out,
                              hsy_error *err)
{
    struct book *b = &book_of(k)->book;
    sqlite3_stmt *ask = book_ask(
        b, err, "SELECT name, role, hash FROM people ORDER BY rowid", "");
    hsy_status st = ask == NULL ? HSY_E_IO : HSY_OK;

    *out = (struct tokens_people){calloc(TOKENS_MAX, sizeof *out->all), 0};
    if (out->all == NULL)
        st = host_nomem(err);
    while (st == HSY_OK && out->n < TOKENS_MAX && book_row(b, ask, &st, err)) {
        struct tokens_person *p = &out->all[out->n++];
        const int64_t role = sqlite3_column_int64(ask, 1);
        const char *name = (const char *)sqlite3_column_text(ask, 0);

        snprintf(p->name, sizeof p->name, "%s", name != NULL ? name : "");
        p->role = (enum listen_role)role;
        if (role < LISTEN_SCRAPER || role > LISTEN_OPERATOR ||
            !tokens_name_fits(p->name) ||
            sqlite3_column_bytes(ask, 2) != (int)TOKENS_HASH)
            st = host_fail(err, HSY_E_FORMAT, host_field_find(tokens_kind.name),
                           "a token in it is none");
        else
            memcpy(p->hash, sqlite3_column_blob(ask, 2), TOKENS_HASH);
    }
    sqlite3_finalize(ask);
    return st;
}

static hsy_status book_list(struct tokens_keep *k, struct tokens_list *list,
                            hsy_error *err)
{
    struct book *b = &book_of(k)->book;
    sqlite3_stmt *ask = book_ask(
        b, err,
        "SELECT hash, expires FROM enrolled WHERE task=?1 ORDER BY hash", "t",
        list->task);
    hsy_status st = ask == NULL ? HSY_E_IO : HSY_OK;
    uint64_t room = 0;

    while (st == HSY_OK && book_row(b, ask, &st, err)) {
        if (sqlite3_column_bytes(ask, 0) != (int)TOKENS_SHORT) {
            st = host_fail(err, HSY_E_FORMAT, host_field_find(tokens_kind.name),
                           "a token in it is none");
        } else if (!tokens_list_room(list, &room)) {
            st = host_nomem(err);
        } else {
            memcpy(list->hashes + list->n * TOKENS_SHORT,
                   sqlite3_column_blob(ask, 0), TOKENS_SHORT);
            list->expires[list->n++] = (uint32_t)sqlite3_column_int64(ask, 1);
        }
    }
    sqlite3_finalize(ask);
    return st;
}

static hsy_status book_lists(struct tokens_keep *k, struct tokens_set *out,
                             hsy_error *err)
{
    struct book *b = &book_of(k)->book;
    sqlite3_stmt *ask =
        book_ask(b, err, "SELECT task, quota FROM tasks ORDER BY task", "");
    hsy_status st = ask == NULL ? HSY_E_IO : HSY_OK;

    while (st == HSY_OK && book_row(b, ask, &st, err)) {
        const char *task = (const char *)sqlite3_column_text(ask, 0);
        struct tokens_list *list =
            task == NULL
                ? NULL
                : tokens_set_list(out, task,
                                  (uint32_t)sqlite3_column_int64(ask, 1));

        st = list == NULL ? host_nomem(err) : book_list(k, list, err);
    }
    sqlite3_finalize(ask);
    return st;
}

static hsy_status book_tasks(struct tokens_keep *k,
                             hsy_status (*each)(void *ctx, const char *task,
                                                uint64_t n, uint32_t quota),
                             void *ctx, hsy_error *err)
{
    struct book *b = &book_of(k)->book;
    sqlite3_stmt *ask =
        book_ask(b, err,
                 "SELECT task, quota, (SELECT count(*) FROM enrolled WHERE "
                 "enrolled.task=tasks.task) FROM tasks ORDER BY task",
                 "");
    hsy_status st = ask == NULL ? HSY_E_IO : HSY_OK;

    while (st == HSY_OK && book_row(b, ask, &st, err)) {
        const char *task = (const char *)sqlite3_column_text(ask, 0);

        st = each(ctx, task != NULL ? task : "",
                  (uint64_t)sqlite3_column_int64(ask, 2),
                  (uint32_t)sqlite3_column_int64(ask, 1));
    }
    sqlite3_finalize(ask);
    return st;
}

/* The number of the first row. */
static hsy_status book_number(struct book *b, sqlite3_stmt *ask, int64_t *out,
                              hsy_error *err)
{
    hsy_status st = ask == NULL ? HSY_E_IO : HSY_OK;

    if (st == HSY_OK && book_row(b, ask, &st, err))
        *out = sqlite3_column_int64(ask, 0);
    sqlite3_finalize(ask);
    return st;
}

static hsy_status book_count(struct tokens_keep *k, const char *task,
                             uint64_t *n, hsy_error *err)
{
    struct book *b = &book_of(k)->book;
    int64_t there = 0;
    hsy_status st = book_number(
        b,
        book_ask(b, err, "SELECT count(*) FROM enrolled WHERE task=?1", "t",
                 task),
        &there, err);

    *n = (uint64_t)there;
    return st;
}

/* ---- For commands -------------------------------------------------------- */

static hsy_status book_start(struct tokens_keep *k, bool change, bool create,
                             hsy_error *err)
{
    struct tokens_file *f = book_of(k);
    hsy_status st = book_enter(f, create, err);

    if (st == HSY_OK && change)
        st = book_begin(&f->book, err);
    if (st != HSY_OK)
        book_close(&f->book);
    f->change = change;
    return st;
}

static hsy_status book_finish(struct tokens_keep *k, hsy_status st,
                              hsy_error *err)
{
    struct tokens_file *f = book_of(k);

    if (f->change)
        st = book_end(&f->book, st, err);
    book_close(&f->book);
    return st;
}

/* Beside a collector that runs: one look, and nothing is written. */
static bool book_asks(sqlite3 *db, const char *task)
{
    sqlite3_stmt *ask = NULL;
    bool known = true;

    if (sqlite3_prepare_v2(db, "SELECT bytes FROM documents", -1, &ask, NULL) ==
            SQLITE_OK &&
        sqlite3_step(ask) == SQLITE_ROW) {
        const void *bytes = sqlite3_column_blob(ask, 0);

        known =
            tokens_asked_in(bytes, (size_t)sqlite3_column_bytes(ask, 0), task);
    }
    sqlite3_finalize(ask);
    return known;
}

static bool book_asked(struct tokens_keep *k, const char *task)
{
    const char *data = book_of(k)->data;
    const size_t room = strlen(data) + sizeof "/record.db";
    char *path = malloc(room);
    sqlite3 *db = NULL;
    bool known = true;

    if (path == NULL)
        return true;
    snprintf(path, room, "%s/record.db", data);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK)
        known = book_asks(db, task);
    sqlite3_close(db);
    free(path);
    return known;
}

/* ---- For a running collector --------------------------------------------- */

/* Open the book, again if another stands in its place. */
static hsy_status book_reopen(struct tokens_file *f, hsy_error *err)
{
    char path[BOOK_PATH];
    struct stat s;
    hsy_status st;

    snprintf(path, sizeof path, "%s/%s", f->data, tokens_kind.name);
    if (f->book.db != NULL && stat(path, &s) == 0 && s.st_ino == f->inode)
        return HSY_OK;
    if (f->opened && access(path, F_OK) == -1)
        return host_fail(err, HSY_E_IO, host_field_find(tokens_kind.name),
                         "it is not there");
    book_close(&f->book);
    f->reopens++;
    st = book_enter(f, false, err);
    if (st != HSY_OK)
        return st;
    f->opened = true;
    if (stat(path, &s) == 0)
        f->inode = s.st_ino;
    return HSY_OK;
}

/* data_version is a number that another process's commit changes. */
static hsy_status book_version(struct tokens_keep *k, int64_t *version,
                               hsy_error *err)
{
    struct tokens_file *f = book_of(k);
    int64_t is = 0;
    hsy_status st = book_reopen(f, err);

    if (st == HSY_OK)
        st = book_number(&f->book,
                         book_ask(&f->book, err, "PRAGMA data_version", ""),
                         &is, err);
    *version = f->reopens * ((int64_t)1 << 32) + is;
    return st;
}

static hsy_status book_load(struct tokens_keep *k, struct tokens_set *out,
                            int64_t *version, hsy_error *err)
{
    hsy_status st = book_version(k, version, err);

    if (st == HSY_OK)
        st = book_people(k, &out->people, err);
    return st == HSY_OK ? book_lists(k, out, err) : st;
}

static hsy_status book_backup(struct tokens_keep *k, const char *directory,
                              hsy_error *err)
{
    return book_copy(&book_of(k)->book, directory, &tokens_kind, err);
}

/* ---- Open and close ------------------------------------------------------ */

static void book_end_keep(struct tokens_keep *k)
{
    book_close(&book_of(k)->book);
    free(book_of(k)->data);
    free(k);
}

static const struct tokens_keep_functions book_functions = {
    .version = book_version,
    .load = book_load,
    .backup = book_backup,
    .begin = book_start,
    .end = book_finish,
    .people = book_people,
    .list = book_list,
    .tasks = book_tasks,
    .count = book_count,
    .put_person = book_put_person,
    .drop_person = book_drop_person,
    .put_task = book_put_task,
    .drop_task = book_drop_task,
    .put_enrolled = book_put_enrolled,
    .expire = book_expire,
    .drop_enrolled = book_drop_enrolled,
    .asked = book_asked,
    .close = book_end_keep,
};

struct tokens_keep *tokens_book(const char *data)
{
    struct tokens_file *f = calloc(1, sizeof *f);

    if (f == NULL || (f->data = strdup(data)) == NULL) {
        free(f);
        return NULL;
    }
    f->keep.ops = &book_functions;
    return &f->keep;
}
