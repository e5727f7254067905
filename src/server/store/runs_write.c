/* runs_write.c - a run is written, from its first byte to its last. */
#define _GNU_SOURCE /* O_NOFOLLOW */

#include "server/store/runs_parts.h"

#include "host/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#define WRITER_PAGES 16u /* written at a time: SQLite writes no 128 KiB */
#define WRITER_REST ((size_t)1 << 20) /* borders or marks at a time */
#define WRITER_ROOM (WRITER_PAGES * RUN_PAGE)

struct run_writer {
    struct run_is is;
    struct run_filter filter;
    sqlite3_file *file; /* of SQLite's file system; behind this struct */
    bool open;
    uint64_t at; /* bytes in the file */
    uint32_t crc;
    uint64_t pages; /* whole ones, */
    size_t n;       /* and ids of the next */
    size_t used;    /* bytes of `room` */
    size_t rest;    /* borders and marks that are written, */
    uint32_t filter_crc;
    char *path; /* owned */
    uint8_t room[WRITER_ROOM];
};

/* ---- Order --------------------------------------------------------------- */

static size_t writer_digit(const struct store_id *id)
{
    return (size_t)id->id[0] << 8 | id->id[1];
}

static void writer_insert(struct store_id *ids, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct store_id id = ids[i];
        size_t k = i;

        for (; k > 0 && memcmp(&ids[k - 1], &id, sizeof id) > 0; k--)
            ids[k] = ids[k - 1];
        ids[k] = id;
    }
}

int run_order(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct store_id));
}

/* By their first two bytes into 65,536 places, which are even since ids are
 * keyed hashes; each of them is small then. */
bool run_sort(struct store_id *ids, size_t n)
{
    const size_t places = (size_t)1 << 16;
    size_t *ends = calloc(places, sizeof *ends);
    struct store_id *from = malloc((n + 1) * sizeof *from);
    size_t at = 0;

    if (ends == NULL || from == NULL) {
        free(ends);
        free(from);
        return false;
    }
    memcpy(from, ids, n * sizeof *ids);
    for (size_t i = 0; i < n; i++)
        ends[writer_digit(&from[i])]++;
    for (size_t p = 0; p < places; p++) {
        const size_t has = ends[p];

        ends[p] = at;
        at += has;
    }
    for (size_t i = 0; i < n; i++)
        ids[ends[writer_digit(&from[i])]++] = from[i];
    for (size_t p = 0; p < places; p++) {
        const size_t first = p == 0 ? 0 : ends[p - 1], has = ends[p] - first;

        if (has > 64) /* no keyed hashes: a test's, or damaged ones */
            qsort(ids + first, has, sizeof *ids, run_order);
        else
            writer_insert(ids + first, has);
    }
    free(ends);
    free(from);
    return true;
}

/* ---- Bytes --------------------------------------------------------------- */

/* A quota is no failed disk. */
static int writer_why(struct run_writer *w, int rc)
{
    int error = 0;

    w->file->pMethods->xFileControl(w->file, SQLITE_FCNTL_LAST_ERRNO, &error);
    return rc == SQLITE_IOERR_WRITE && error == EDQUOT ? SQLITE_FULL : rc;
}

/* What is there of the next page moves to the front. */
static int writer_flush(struct run_writer *w)
{
    int rc;

    if (w->used == 0)
        return SQLITE_OK;
    rc = w->file->pMethods->xWrite(w->file, w->room, (int)w->used,
                                   (sqlite3_int64)w->at);
    if (rc != SQLITE_OK)
        return writer_why(w, rc);
    w->crc = hsy_crc32c(w->crc, w->room, w->used);
    w->at += w->used;
    if (w->n != 0)
        memmove(w->room, w->room + w->used, w->n * sizeof(struct store_id));
    w->used = 0;
    return SQLITE_OK;
}

static int writer_bytes(struct run_writer *w, const void *bytes, size_t len)
{
    const uint8_t *from = bytes;
    int rc = SQLITE_OK;

    while (rc == SQLITE_OK && len != 0) {
        const size_t left = WRITER_ROOM - w->used;
        const size_t n = len < left ? len : left;

        memcpy(w->room + w->used, from, n);
        w->used += n;
        from += n;
        len -= n;
        if (w->used == WRITER_ROOM)
            rc = writer_flush(w);
    }
    return rc;
}

/* The page that is being filled stands at w->used. */
static int writer_page(struct run_writer *w)
{
    uint8_t *page = w->room + w->used;
    const size_t bytes = w->n * sizeof(struct store_id);

    memset(page + bytes, 0, RUN_PAGE - 16 - bytes);
    run_put_foot(page, &w->is, w->pages, w->n);
    w->used += RUN_PAGE;
    w->pages++;
    w->n = 0;
    return w->used == WRITER_ROOM ? writer_flush(w) : SQLITE_OK;
}

int run_write_add(struct run_writer *w, const struct store_id *ids, size_t n)
{
    int rc = SQLITE_OK;

    for (size_t i = 0; rc == SQLITE_OK && i < n; i++) {
        memcpy(w->room + w->used + w->n++ * sizeof *ids, &ids[i], sizeof *ids);
        run_filter_add(&w->filter, &ids[i]);
        if (w->n == RUN_IDS)
            rc = writer_page(w);
    }
    return rc;
}

/* ---- The file ------------------------------------------------------------ */

static char *writer_path(const char *directory, const struct run_is *is)
{
    char file[RUN_FILE];

    run_file(file, is);
    return file_path(directory, file);
}

/* Nobody else may read it: SQLite would let others. A file that is there is
 * never written to: it may be in force for somebody. */
static int writer_create(const char *path)
{
    const int fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd != -1) {
        close(fd);
        return SQLITE_OK;
    }
    return errno == ENOSPC || errno == EDQUOT   ? SQLITE_FULL
           : errno == EMFILE || errno == ENFILE ? SQLITE_NOMEM
                                                : SQLITE_CANTOPEN;
}

/* As a log, which is synced with its name. */
static int writer_open(struct run_writer *w, sqlite3_vfs *vfs)
{
    int rc = writer_create(w->path);

    if (rc != SQLITE_OK)
        return rc;
    rc = vfs->xOpen(
        vfs, w->path, w->file,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_WAL, NULL);
    w->open = w->file->pMethods != NULL;
    if (rc != SQLITE_OK)
        vfs->xDelete(vfs, w->path, 0);
    return rc;
}

int run_write_begin(struct run_writer **out, const char *directory,
                    const struct run_is *is)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    struct run_writer *w = calloc(1, sizeof *w + (size_t)vfs->szOsFile + 16);
    int rc = SQLITE_NOMEM;

    if (w == NULL)
        return rc;
    w->is = *is;
    w->file = (sqlite3_file *)(void *)(w + 1);
    w->path = writer_path(directory, is);
    if (w->path != NULL && run_filter_make(&w->filter, is->count))
        rc = writer_open(w, vfs);
    if (rc != SQLITE_OK) {
        run_write_close(w);
        return rc;
    }
    run_put_head(w->room, is); /* the rest of the page is zeros */
    w->used = RUN_PAGE;
    *out = w;
    return SQLITE_OK;
}

int run_write_sync(struct run_writer *w)
{
    const int rc = writer_flush(w);

    return rc == SQLITE_OK
               ? w->file->pMethods->xSync(w->file, SQLITE_SYNC_NORMAL)
               : rc;
}

static int writer_borders(struct run_writer *w)
{
    const size_t buckets = ((size_t)1 << w->filter.bits) + 1;
    int rc = SQLITE_OK;

    for (size_t i = 0; rc == SQLITE_OK && i < WRITER_REST && w->rest < buckets;
         i++) {
        uint8_t wire[4];

        bytes_put32(wire, w->filter.first[w->rest++]);
        w->filter_crc = hsy_crc32c(w->filter_crc, wire, 4);
        rc = writer_bytes(w, wire, 4);
    }
    return rc;
}

static int writer_marks(struct run_writer *w)
{
    const size_t buckets = ((size_t)1 << w->filter.bits) + 1;
    const size_t at = w->rest - buckets, left = (size_t)w->is.count - at;
    const size_t n = left < WRITER_REST ? left : WRITER_REST;
    const size_t bytes = n * sizeof *w->filter.marks;

    w->rest += n;
    w->filter_crc = hsy_crc32c(w->filter_crc, w->filter.marks + at, bytes);
    return writer_bytes(w, w->filter.marks + at, bytes);
}

int run_write_rest(struct run_writer *w, bool *more)
{
    const size_t buckets = ((size_t)1 << w->filter.bits) + 1;
    int rc = SQLITE_OK;

    if (w->filter.count != w->is.count)
        return SQLITE_CORRUPT;
    if (w->n != 0)
        rc = writer_page(w);
    if (w->rest == 0)
        run_filter_end(&w->filter);
    if (rc == SQLITE_OK)
        rc = w->rest < buckets ? writer_borders(w) : writer_marks(w);
    *more = w->rest < buckets + w->is.count;
    return rc;
}

int run_write_end(struct run_writer *w, struct run_is *is)
{
    uint8_t end[RUN_END];
    bool more = true;
    int rc = SQLITE_OK;

    while (rc == SQLITE_OK && more)
        rc = run_write_rest(w, &more);
    if (rc == SQLITE_OK)
        rc = writer_flush(w);
    if (rc != SQLITE_OK)
        return rc;
    w->is.check = w->crc;
    run_put_end(end, w->filter_crc, w->crc);
    rc = writer_bytes(w, end, sizeof end);
    if (rc == SQLITE_OK)
        rc = run_write_sync(w);
    if (rc == SQLITE_OK)
        *is = w->is;
    return rc;
}

void run_write_take(struct run_writer *w, struct run_filter *filter)
{
    *filter = w->filter;
    w->filter = (struct run_filter){0};
}

/* Of the filter what was written to: the rest is not there yet. */
uint64_t run_write_memory(const struct run_writer *w)
{
    return sizeof *w + w->filter.count * sizeof *w->filter.marks +
           (w->filter.begun + 1) * sizeof *w->filter.first;
}

void run_write_close(struct run_writer *w)
{
    if (w == NULL)
        return;
    if (w->open)
        w->file->pMethods->xClose(w->file);
    run_filter_clear(&w->filter);
    free(w->path);
    free(w);
}
