/*
 * backup.c - a copy of everything while the store is in use.
 *
 * Both databases are read at one moment: a reader is begun in each while nobody
 * writes to either, so that the record and the cells it speaks of belong
 * together. Copying goes on from there without holding anybody up, but a log is
 * not written over while it is read: if one becomes too long the copy is given
 * up. It is made under another name, looked through, gets what belongs beside
 * it, is synced, and renamed: it is whole and sound, or not there.
 */
#define _GNU_SOURCE /* lstat */

#include "server/store/admin.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"
#include "server/store/store_runs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BACKUP_PAGES 256 /* copied at a time */

static const char *const backup_files[2] = {"record.db", "cells.db"};

/* A reader that stands still from now on. */
static int backup_begin(struct store_sqlite *s, const char *file, sqlite3 **db)
{
    char *path = file_path(s->path, file);
    int rc = path == NULL
                 ? SQLITE_NOMEM
                 : sqlite3_open_v2(path, db,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                                   NULL);

    free(path);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(*db,
                          "PRAGMA wal_autocheckpoint=0;"
                          "BEGIN; SELECT count(*) FROM meta;",
                          NULL, NULL, NULL);
    return rc;
}

/* SQLITE_INTERRUPT: it was given up. */
static int backup_copy(struct store_sqlite *s, sqlite3 *from,
                       const char *directory, const char *file)
{
    char *path = file_path(directory, file);
    sqlite3 *to = NULL;
    sqlite3_backup *b = NULL;
    int rc = path == NULL
                 ? SQLITE_NOMEM
                 : sqlite3_open_v2(path, &to,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                                       SQLITE_OPEN_NOMUTEX,
                                   NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_exec(to, "PRAGMA synchronous=FULL", NULL, NULL, NULL);
    if (rc == SQLITE_OK) {
        b = sqlite3_backup_init(to, "main", from, "main");
        rc = b == NULL ? sqlite3_errcode(to) : SQLITE_OK;
    }
    while (rc == SQLITE_OK)
        rc = store_log_crowds(s) ? SQLITE_INTERRUPT
                                 : sqlite3_backup_step(b, BACKUP_PAGES);
    if (b != NULL && sqlite3_backup_finish(b) != SQLITE_OK && rc == SQLITE_DONE)
        rc = SQLITE_IOERR;
    if (sqlite3_close(to) != SQLITE_OK && rc == SQLITE_DONE)
        rc = SQLITE_IOERR;
    free(path);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static hsy_status backup_why(int rc, hsy_error *err)
{
    if ((rc & 0xff) == SQLITE_FULL)
        return host_fail(err, HSY_E_FULL, HOST_FIELD_BACKUP,
                         "the disk is full");
    if ((rc & 0xff) == SQLITE_NOMEM)
        return host_fail(err, HSY_E_NOMEM, HOST_FIELD_BACKUP, "out of memory");
    if (rc == SQLITE_INTERRUPT)
        return host_fail(err, HSY_E_BUSY, HOST_FIELD_BACKUP,
                         "given up: what came in meanwhile took too much room; "
                         "try again when there is less");
    return host_fail(err, HSY_E_IO, HOST_FIELD_BACKUP,
                     "the copy cannot be written");
}

/* Both readers, and the runs that the record names, at one moment. */
static int backup_begin_both(struct store_sqlite *s, sqlite3 *db[2],
                             struct store_runs *runs)
{
    int rc;

    pthread_mutex_lock(&s->cutting);
    store_line_lock(&s->writing);
    atomic_store(&s->crowded, false);
    rc = backup_begin(s, backup_files[0], &db[0]);
    if (rc == SQLITE_OK)
        rc = backup_begin(s, backup_files[1], &db[1]);
    if (rc == SQLITE_OK && store_runs_hold(s, runs) != HSY_OK)
        rc = SQLITE_NOMEM;
    store_line_unlock(&s->writing);
    pthread_mutex_unlock(&s->cutting);
    return rc;
}

/* Both databases; a reader goes as soon as its copy is made. */
static hsy_status backup_both(struct store_sqlite *s, const char *draft,
                              hsy_error *err)
{
    sqlite3 *db[2] = {NULL, NULL};
    struct store_runs runs = {0};
    int rc = backup_begin_both(s, db, &runs);
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < 2; i++) {
        if (rc == SQLITE_OK)
            rc = backup_copy(s, db[i], draft, backup_files[i]);
        sqlite3_close(db[i]);
    }
    if (rc == SQLITE_OK)
        st = store_runs_copy(&runs, draft, err);
    store_runs_clear(&runs);
    return rc == SQLITE_OK ? st : backup_why(rc, err);
}

static hsy_status backup_make(struct store_sqlite *s, const char *draft,
                              const char *directory,
                              const struct store_beside *beside, hsy_error *err)
{
    hsy_status st = backup_both(s, draft, err);

    if (st == HSY_OK)
        st = store_admin_look(draft, err);
    if (st == HSY_OK && beside != NULL)
        st = beside->put(beside->ctx, draft, err);
    if (st != HSY_OK)
        return st;
    if (!store_sync(draft) || rename(draft, directory) == -1 ||
        !store_sync_parent(directory))
        return backup_why(SQLITE_IOERR, err);
    return HSY_OK;
}

static hsy_status backup_to(struct store_sqlite *s, const char *directory,
                            const struct store_beside *beside, hsy_error *err)
{
    const size_t room = strlen(directory) + sizeof ".draft";
    char *draft;
    struct stat there;
    hsy_status st;

    if (lstat(directory, &there) == 0)
        return host_fail(err, HSY_E_REFUSED, HOST_FIELD_BACKUP,
                         "something of that name is there: choose another");
    draft = malloc(room);
    if (draft == NULL)
        return host_fail(err, HSY_E_NOMEM, HOST_FIELD_BACKUP, "out of memory");
    snprintf(draft, room, "%s.draft", directory);
    store_remove(draft);
    if (mkdir(draft, 0700) == -1) {
        st = backup_why(errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR, err);
    } else {
        st = backup_make(s, draft, directory, beside, err);
        if (st != HSY_OK)
            store_remove(draft);
    }
    free(draft);
    return st;
}

/* One at a time: two of one name would write into one another. */
hsy_status store_backup(struct store *is, const char *directory,
                        const struct store_beside *beside, hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    hsy_status st = store_alive(s, err);

    if (st != HSY_OK)
        return st;
    pthread_mutex_lock(&s->copying);
    st = backup_to(s, directory, beside, err);
    pthread_mutex_unlock(&s->copying);
    return st;
}
