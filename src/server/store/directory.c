/*
 * directory.c - the directory of a store: made, entered, locked, removed.
 */
#define _GNU_SOURCE /* O_DIRECTORY, flock */

#include "server/store/admin.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"
#include "server/store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool store_sync(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool good = fd != -1 && fsync(fd) == 0;

    if (fd != -1)
        close(fd);
    return good;
}

/* By the directory's own "..", which the sandbox allows: realpath reads links.
 */
bool store_sync_parent(const char *path)
{
    char *parent = file_path(path, "..");
    const bool good = parent != NULL && store_sync(parent);

    free(parent);
    return good;
}

/* Whole names, as the sandbox knows unlink and not unlinkat. */
bool store_remove(const char *directory)
{
    static const char *const names[] = {"record.db",
                                        "record.db-wal",
                                        "record.db-shm",
                                        "record.db-journal",
                                        "cells.db",
                                        "cells.db-wal",
                                        "cells.db-shm",
                                        "cells.db-journal",
                                        "lock",
                                        "reserve",
                                        "last",
                                        "shown.db",
                                        "shown.db-journal",
                                        "tokens.db",
                                        "tokens.db-journal"};
    const size_t room = strlen(directory) + sizeof "/record.db-journal";
    char *path = malloc(room);
    struct stat is;
    const bool own = path != NULL && lstat(directory, &is) == 0 &&
                     S_ISDIR(is.st_mode); /* no link to another */

    for (size_t i = 0; own && i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, room, "%s/%s", directory, names[i]);
        unlink(path);
    }
    free(path);
    if (own)
        store_remove_runs(directory);
    return rmdir(directory) == 0 || errno == ENOENT;
}

/* Make what is not there; a directory that was made is there for good. */
static hsy_status directory_make(const char *directory, hsy_error *err)
{
    if (mkdir(directory, 0700) == -1)
        return errno == EEXIST
                   ? HSY_OK
                   : host_fail(err, errno == ENOSPC ? HSY_E_FULL : HSY_E_IO,
                               HSY_FIELD_DIRECTORY, "it cannot be made");
    return store_sync_parent(directory)
               ? HSY_OK
               : host_fail(err, HSY_E_IO, HSY_FIELD_DIRECTORY,
                           "its parent cannot be synced");
}

static const char directory_foreign[] =
    "it belongs to another user: run this as that one";

hsy_status store_enter(struct store_sqlite *s, const char *directory,
                       bool create, hsy_error *err)
{
    struct stat is;
    hsy_status st = create ? directory_make(directory, err) : HSY_OK;

    if (st != HSY_OK)
        return st;
    s->dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->dir == -1 && errno == ENOENT)
        return host_fail(err, HSY_E_EMPTY, HSY_FIELD_DIRECTORY,
                         "there is none");
    if (s->dir == -1 || fstat(s->dir, &is) == -1)
        return host_fail(err, HSY_E_IO, HSY_FIELD_DIRECTORY,
                         errno == EACCES    ? directory_foreign
                         : errno == ENOTDIR ? "not a directory"
                                            : "it cannot be opened");
    if (is.st_uid != geteuid())
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_DIRECTORY,
                         directory_foreign);
    if ((is.st_mode & 077) != 0)
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_DIRECTORY,
                         "accessible to other users; use a private directory "
                         "(chmod 700)");
    if (!create && faccessat(s->dir, "record.db", F_OK, 0) == -1 &&
        faccessat(s->dir, "cells.db", F_OK, 0) == -1)
        return host_fail(err, HSY_E_EMPTY, HSY_FIELD_DIRECTORY,
                         "not a collector's data directory");
    s->path = realpath(directory, NULL);
    return s->path != NULL ? HSY_OK : host_nomem(err);
}

/* Somebody has it: say who, as far as `lock` knows. */
static hsy_status directory_busy(const struct store_sqlite *s, hsy_error *err)
{
    char text[24] = "";
    hsy_status st =
        host_fail(err, HSY_E_BUSY, HSY_FIELD_LOCK,
                  "another process serves this data: stop it first");

    if (err != NULL && pread(s->lock, text, sizeof text - 1, 0) > 0) {
        err->kind = HSY_LIMIT_PROCESS;
        err->limit = strtoul(text, NULL, 10);
    }
    return st;
}

/* A file of the directory, held by nobody but us. */
static hsy_status directory_hold(struct store_sqlite *s, int *fd,
                                 const char *file, int how, hsy_error *err)
{
    *fd = openat(s->dir, file, O_RDWR | O_CLOEXEC | O_NOFOLLOW | how, 0600);
    if (*fd == -1)
        return host_fail(err, errno == ENOSPC ? HSY_E_FULL : HSY_E_IO,
                         host_field_find(file), "it cannot be opened");
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
        return HSY_OK;
    return errno == EWOULDBLOCK
               ? directory_busy(s, err)
               : host_fail(err, HSY_E_IO, host_field_find(file),
                           "it cannot be locked");
}

hsy_status store_lock(struct store_sqlite *s, hsy_error *err)
{
    return directory_hold(s, &s->lock, "lock", O_CREAT, err);
}

/* A `lock` that was removed and made again can be taken twice, the record's own
 * file cannot. What is not there is found by who opens it. */
hsy_status store_hold(struct store_sqlite *s, bool create, hsy_error *err)
{
    if (!create && faccessat(s->dir, "record.db", F_OK, 0) == -1)
        return HSY_OK;
    return directory_hold(s, &s->held, "record.db", create ? O_CREAT : 0, err);
}

void store_lock_number(const struct store_sqlite *s)
{
    char text[24];
    const int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());

    if (ftruncate(s->lock, 0) == 0 && pwrite(s->lock, text, (size_t)n, 0) != n)
        return; /* nobody counts on it: it is told to people */
}
