/*
 * tokens_book.c - tokens.db: who may read, who may upload.
 *
 * Hashes only. What earlier versions kept in files is taken over when the book
 * is made, in one transaction; the files are renamed afterwards.
 */
#define _GNU_SOURCE /* O_DIRECTORY, renameat */

#include "server/auth/internal.h"

#include "host/base/host_fail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Writing ------------------------------------------------------------- */

hsy_status tokens_put_person(struct book *b, const struct tokens_person *p,
                             hsy_error *err)
{
    return book_do(b,
                   book_ask(b, err,
                            "INSERT INTO people(name, role, hash) VALUES(?1, "
                            "?2, ?3)",
                            "tib", p->name, (int64_t)p->role,
                            (const void *)p->hash, sizeof p->hash),
                   err);
}

hsy_status tokens_put_task(struct book *b, const char *task, uint32_t quota,
                           hsy_error *err)
{
    return book_do(b,
                   book_ask(b, err,
                            "INSERT INTO tasks(task, quota) VALUES(?1, ?2) ON "
                            "CONFLICT(task) DO UPDATE SET quota=?2",
                            "ti", task, (int64_t)quota),
                   err);
}

hsy_status tokens_put_enrolled(struct book *b, const char *task,
                               const uint8_t hash[TOKENS_SHORT],
                               uint32_t expires, hsy_error *err)
{
    return book_do(b,
                   book_ask(b, err,
                            "INSERT OR IGNORE INTO enrolled(task, hash, "
                            "expires) VALUES(?1, ?2, ?3)",
                            "tbi", task, (const void *)hash,
                            (size_t)TOKENS_SHORT, (int64_t)expires),
                   err);
}

/* ---- Files of earlier versions ------------------------------------------- */

static hsy_status book_take_people(struct book *b, int dir, hsy_error *err)
{
    struct tokens_people people;
    hsy_status st = tokens_people_read(dir, &people, err);

    for (size_t i = 0; st == HSY_OK && i < people.n; i++)
        st = tokens_put_person(b, &people.all[i], err);
    free(people.all);
    return st;
}

static hsy_status book_take_list(struct book *b, int dir, const char *task,
                                 hsy_error *err)
{
    struct tokens_list list;
    hsy_status st = tokens_list_read(dir, task, &list, err);

    if (st == HSY_OK)
        st = tokens_put_task(b, task, list.quota, err);
    for (uint64_t i = 0; st == HSY_OK && i < list.n; i++)
        st = tokens_put_enrolled(b, task, list.hashes + i * TOKENS_SHORT, 0,
                                 err);
    free(list.hashes);
    return st;
}

static hsy_status book_take_lists(struct book *b, int dir, hsy_error *err)
{
    int fd = openat(dir, "enrolled", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *all = fd != -1 ? fdopendir(fd) : NULL;
    hsy_status st = HSY_OK;
    const struct dirent *e;

    if (all == NULL) {
        if (fd != -1)
            close(fd);
        return fd == -1 && errno == ENOENT
                   ? HSY_OK
                   : host_fail(err, HSY_E_IO, HOST_FIELD_ENROLLED,
                               "the enrolment tokens cannot be read");
    }
    while (st == HSY_OK && (e = readdir(all)) != NULL)
        if (tokens_name_fits(e->d_name))
            st = book_take_list(b, dir, e->d_name, err);
    closedir(all);
    return st;
}

static hsy_status book_imported(struct book *b, bool *done, hsy_error *err)
{
    sqlite3_stmt *ask = book_ask(b, err, "SELECT version FROM imported", "");
    hsy_status st = ask == NULL ? HSY_E_IO : HSY_OK;

    *done = st == HSY_OK && book_row(b, ask, &st, err);
    sqlite3_finalize(ask);
    return st;
}

static hsy_status book_import(struct book *b, int dir, hsy_error *err)
{
    bool done = false;
    hsy_status st = book_begin(b, err);

    if (st != HSY_OK)
        return st;
    st = book_imported(b, &done, err);
    if (st == HSY_OK && !done)
        st = book_take_people(b, dir, err);
    if (st == HSY_OK && !done)
        st = book_take_lists(b, dir, err);
    if (st == HSY_OK && !done)
        st = book_run(b, "INSERT INTO imported VALUES(1)", err);
    st = book_end(b, st, err);
    if (st == HSY_OK && !done) { /* nobody reads them any more */
        (void)!renameat(dir, "tokens", dir, "tokens.imported");
        (void)!renameat(dir, "enrolled", dir, "enrolled.imported");
    }
    return st;
}

hsy_status tokens_book_open(struct book *b, const char *data, bool create,
                            hsy_error *err)
{
    int dir = tokens_directory(data, create);
    hsy_status st;

    *b = (struct book){.db = NULL};
    if (dir == -1)
        return host_fail(err, errno == ENOENT ? HSY_E_EMPTY : HSY_E_IO,
                         HSY_FIELD_NONE, "the data directory cannot be opened");
    st = book_open(b, data, &tokens_kind, true, err);
    if (st == HSY_OK)
        st = book_import(b, dir, err);
    if (st != HSY_OK)
        book_close(b);
    close(dir);
    return st;
}

/* ---- Reading ------------------------------------------------------------- */

hsy_status tokens_people_load(struct book *b, struct tokens_people *out,
                              hsy_error *err)
{
    sqlite3_stmt *ask = book_ask(
        b, err, "SELECT name, role, hash FROM people ORDER BY rowid", "");
    hsy_status st = ask == NULL ? HSY_E_IO : HSY_OK;

    *out = (struct tokens_people){calloc(TOKENS_MAX, sizeof *out->all), 0};
    if (out->all == NULL)
        st = host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, "out of memory");
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

/* One more; room doubles. */
static bool book_room(struct tokens_list *list, uint64_t *room)
{
    uint8_t *hashes;
    uint32_t *expires;

    if (list->n < *room)
        return true;
    *room = 2 * *room + 64;
    hashes = realloc(list->hashes, *room * TOKENS_SHORT);
    if (hashes != NULL)
        list->hashes = hashes;
    expires = realloc(list->expires, *room * sizeof *expires);
    if (expires != NULL)
        list->expires = expires;
    return hashes != NULL && expires != NULL;
}

hsy_status tokens_list_load(struct book *b, struct tokens_list *list,
                            hsy_error *err)
{
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
        } else if (!book_room(list, &room)) {
            st = host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, "out of memory");
        } else {
            memcpy(list->hashes + list->n * TOKENS_SHORT,
                   sqlite3_column_blob(ask, 0), TOKENS_SHORT);
            list->expires[list->n++] = (uint32_t)sqlite3_column_int64(ask, 1);
        }
    }
    sqlite3_finalize(ask);
    return st;
}

hsy_status tokens_lists_load(struct book *b, struct tokens_list **out,
                             size_t *n, hsy_error *err)
{
    sqlite3_stmt *ask =
        book_ask(b, err, "SELECT task, quota FROM tasks ORDER BY task", "");
    hsy_status st = ask == NULL ? HSY_E_IO : HSY_OK;

    while (st == HSY_OK && book_row(b, ask, &st, err)) {
        struct tokens_list *more = realloc(*out, (*n + 1) * sizeof *more);
        const char *task = (const char *)sqlite3_column_text(ask, 0);

        if (more == NULL || task == NULL) {
            st = host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, "out of memory");
            break;
        }
        *out = more;
        more += (*n)++;
        *more = (struct tokens_list){
            .quota = (uint32_t)sqlite3_column_int64(ask, 1)};
        snprintf(more->task, sizeof more->task, "%s", task);
        st = tokens_list_load(b, more, err);
    }
    sqlite3_finalize(ask);
    return st;
}
