/*
 * reserve.c - room on the disk for when it is full.
 *
 * A log needs room in its database before it can give back its own: a disk that
 * fills while a log is short would stay full for ever, though nearly all of the
 * log may be erased already. So a file holds some room. When a write finds the
 * disk full it is given up, the logs are moved and truncated (store_log.c), and
 * it is taken again; nobody writes to the record meanwhile. A log is not much
 * longer, unless a reader (a backup) holds it: that one goes then.
 */
#define _GNU_SOURCE /* openat */

#include "server/store/internal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define RESERVE_SHARE 16u /* of the file system */
#define RESERVE_PIECE 65536
#define RESERVE_PAGE STORE_PAGE

void store_reserve_plan(struct store_sqlite *s)
{
    struct statvfs fs;
    uint64_t bytes;

    if (fstatvfs(s->dir, &fs) == -1)
        return; /* as on a large one */
    bytes = (uint64_t)fs.f_blocks * fs.f_frsize / RESERVE_SHARE;
    bytes -= bytes % RESERVE_PIECE;
    if (bytes < RESERVE_PIECE)
        bytes = RESERVE_PIECE;
    if (bytes < s->reserve_bytes)
        s->reserve_bytes = (size_t)bytes;
    if (s->record_most > s->reserve_bytes / RESERVE_PAGE)
        s->record_most = s->reserve_bytes / RESERVE_PAGE;
    if (s->cells_most > s->reserve_bytes / RESERVE_PAGE)
        s->cells_most = s->reserve_bytes / RESERVE_PAGE;
}

void store_reserve_release(struct store_sqlite *s)
{
    if (s->reserve == -1) /* that of the process before */
        s->reserve = openat(s->dir, "reserve", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (s->reserve != -1 && ftruncate(s->reserve, 0) == -1)
        return; /* then there is as little room as before */
}

/* A file system that packs what it is given would hold no room for zeros:
 * xorshift64* is enough against that, and costs next to nothing. */
static bool reserve_fill(int fd, size_t from, size_t to)
{
    uint64_t words[RESERVE_PIECE / sizeof(uint64_t)], x;

    sqlite3_randomness(sizeof x, &x);
    x |= 1;
    for (; from < to; from += RESERVE_PIECE) {
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            x ^= x >> 12;
            x ^= x << 25;
            x ^= x >> 27;
            words[i] = x * UINT64_C(2685821657736338717);
        }
        if (pwrite(fd, words, sizeof words, (off_t)from) !=
            (ssize_t)sizeof words)
            return false;
    }
    return true;
}

void store_reserve_take(struct store_sqlite *s)
{
    struct stat file;

    if (s->reserve == -1)
        s->reserve = openat(s->dir, "reserve",
                            O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (s->reserve != -1 && fstat(s->reserve, &file) == 0 &&
        file.st_size != (off_t)s->reserve_bytes &&
        (!reserve_fill(s->reserve,
                       (size_t)file.st_size / RESERVE_PIECE * RESERVE_PIECE,
                       s->reserve_bytes) ||
         ftruncate(s->reserve, (off_t)s->reserve_bytes) == -1))
        store_reserve_release(s);
}

hsy_status store_reserve(struct store *is, hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    hsy_status st = store_alive(s, err);

    if (st != HSY_OK)
        return st;
    pthread_mutex_lock(&s->cutting);
    store_reserve_take(s);
    store_log_ahead(s);
    pthread_mutex_unlock(&s->cutting);
    return HSY_OK;
}
