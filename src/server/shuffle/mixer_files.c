/*
 * mixer_files.c - the files of mixed batches, in `mixed` beside the store.
 *
 * A file has its batch's id for a name once it is whole and durable, and a row
 * after that. So what has another name, or no row, is of a process that was
 * killed while it mixed: it is removed.
 */
#define _GNU_SOURCE /* pread, pwrite */

#include "server/shuffle/internal.h"

#include "host/base/files.h"
#include "host/base/hex.h"
#include "host/base/host_fail.h"
#include "server/store/admin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

hsy_status batch_file_fail(hsy_error *err, uint32_t field, const char *msg)
{
    return errno == ENOSPC || errno == EDQUOT
               ? host_fail(err, HSY_E_FULL, field, "the disk is full")
               : host_fail(err, HSY_E_IO, field, msg);
}

static hsy_status files_fail(hsy_error *err, const char *msg)
{
    return batch_file_fail(err, HOST_FIELD_MIXES, msg);
}

void mixer_moment(const struct mixer *m)
{
    if (m->options.moment != NULL)
        m->options.moment(m->options.ctx);
}

/* ---- Names --------------------------------------------------------------- */

char *batch_path_of(const char *directory, const uint8_t id[STORE_BATCH_ID])
{
    char name[2 * STORE_BATCH_ID + 1];

    hex_put(name, id, STORE_BATCH_ID);
    return file_path(directory, name);
}

/* ---- Bytes --------------------------------------------------------------- */

bool batch_write(int fd, const void *bytes, size_t len, uint64_t at)
{
    const uint8_t *from = bytes;

    while (len != 0) {
        const ssize_t n = pwrite(fd, from, len, (off_t)at);

        if (n == -1 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        from += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return true;
}

hsy_status mixer_write(const struct mixer *m, int fd, const void *bytes,
                       size_t len, uint64_t at, hsy_error *err)
{
    mixer_moment(m);
    return batch_write(fd, bytes, len, at)
               ? HSY_OK
               : files_fail(err, "a mixed batch cannot be written");
}

hsy_status mixer_read(int fd, void *bytes, size_t len, uint64_t at,
                      hsy_error *err)
{
    uint8_t *to = bytes;

    while (len != 0) {
        const ssize_t n = pread(fd, to, len, (off_t)at);

        if (n == -1 && errno == EINTR)
            continue;
        if (n <= 0)
            return host_fail(err, HSY_E_IO, HOST_FIELD_MIXES,
                             "a mixed batch cannot be read");
        to += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return HSY_OK;
}

int mixer_file_open(const struct mixer *m, const uint8_t id[STORE_BATCH_ID])
{
    char *path = batch_path_of(m->directory, id);
    const int fd =
        path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    free(path);
    return fd;
}

hsy_status mixer_parcel_read(const struct mixer *m,
                             const struct mixer_parcel *parcel, uint8_t *out,
                             uint64_t at, size_t len, hsy_error *err)
{
    const int fd = mixer_file_open(m, parcel->id);
    hsy_status st;

    if (fd == -1)
        return host_fail(err, HSY_E_IO, HOST_FIELD_MIXES,
                         "a mixed batch cannot be read");
    st = mixer_read(fd, out, len, at, err);
    close(fd);
    return st;
}

hsy_status mixer_file_remove(const struct mixer *m, const struct store_mix *row,
                             hsy_error *err)
{
    char *path = batch_path_of(m->directory, row->id);
    bool gone;

    if (path == NULL)
        return host_nomem(err);
    mixer_moment(m);
    gone = unlink(path) == 0 || errno == ENOENT;
    free(path);
    return gone ? HSY_OK : files_fail(err, "a file cannot be removed");
}

/* ---- Opening ------------------------------------------------------------- */

/* The file of a batch that is mixed, or waits at a later hop: it is there, and
 * says so itself. */
static hsy_status files_whole(const struct mixer *m,
                              const struct store_mix *row, hsy_error *err)
{
    const int fd = mixer_file_open(m, row->id);
    uint8_t wire[BATCH_HEAD];
    struct batch_head head;
    struct stat is;
    const bool whole =
        fd != -1 && fstat(fd, &is) == 0 &&
        mixer_read(fd, wire, sizeof wire, 0, NULL) == HSY_OK &&
        batch_head_read(&head, wire, NULL) == HSY_OK && head.n == row->n &&
        memcmp(head.id, row->id, sizeof head.id) == 0 &&
        memcmp(head.digest, row->digest, sizeof head.digest) == 0 &&
        (uint64_t)is.st_size ==
            (uint64_t)head.place * BATCH_HEAD + head.n * head.length;

    if (fd != -1)
        close(fd);
    return whole ? HSY_OK
                 : host_fail(err, HSY_E_DAMAGED, HOST_FIELD_MIXES,
                             "the file of a mixed batch is missing or changed");
}

static bool files_wanted(const struct mixer *m, const char *name)
{
    uint8_t id[STORE_BATCH_ID];

    if (!hex_get(id, sizeof id, name, strlen(name)))
        return false;
    for (size_t i = 0; i < m->nrows; i++)
        if (memcmp(m->rows[i].id, id, sizeof id) == 0 &&
            (m->rows[i].state == STORE_MIX_MIXED ||
             m->rows[i].state == STORE_MIX_ACKED || mixer_kept(&m->rows[i])))
            return true;
    return false;
}

static hsy_status files_sweep(const struct mixer *m, hsy_error *err)
{
    DIR *dir = opendir(m->directory);
    const struct dirent *e;
    bool good = dir != NULL;

    while (good && (e = readdir(dir)) != NULL) {
        char *path;

        if (e->d_name[0] == '.' || files_wanted(m, e->d_name))
            continue;
        path = file_path(m->directory, e->d_name);
        mixer_moment(m);
        good = path != NULL && unlink(path) == 0;
        free(path);
    }
    if (dir != NULL)
        closedir(dir);
    return good ? HSY_OK : files_fail(err, "mixed files cannot be looked at");
}

hsy_status mixer_files_open(struct mixer *m, hsy_error *err)
{
    hsy_status st = HSY_OK;

    mixer_moment(m);
    if (mkdir(m->directory, 0700) == -1 && errno != EEXIST)
        return files_fail(err, "the directory of mixed files cannot be made");
    if (!store_sync_parent(m->directory))
        return files_fail(err, "the directory of mixed files is not durable");
    for (size_t i = 0; st == HSY_OK && i < m->nrows; i++)
        if (m->rows[i].state == STORE_MIX_MIXED || mixer_kept(&m->rows[i]))
            st = files_whole(m, &m->rows[i], err);
    return st == HSY_OK ? files_sweep(m, err) : st;
}
