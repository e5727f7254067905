/*
 * world_files.c - the files of a device: read whole, replaced whole.
 *
 * A file is written as a draft beside its place, synced, renamed over it, and
 * the directory is synced; only then is it HSY_OK. Writing in place would be
 * cheaper by a rename and a sync, and the device's two copies would bear a torn
 * file; but a full disk or a kill would then cost one of the two copies, and
 * the next fault both. This way the old file stays whole until the new one is
 * there entire, and a device that is asked once a day does not feel the cost.
 *
 * The key is linked into its place instead, which fails if one is there.
 *
 * After a sync has failed nobody knows what is on the disk, and a second sync
 * may say that all is well. So a host stores nothing after the first failure.
 */
#define _GNU_SOURCE /* O_NOFOLLOW, linkat, renameat */

#include "host/client/world.h"

#include "host/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_NAME 280u /* an anchor's name and ".new" */
#define FILES_TIMES "times"
#define FILES_NUMBER 32u /* an anchor's text: 20 digits and a line's end */

static const struct {
    const char *name, *draft;
} files_names[] = {[HSY_FILE_KEY] = {"key", "key.new"},
                   [HSY_FILE_A] = {"state.a", "state.a.new"},
                   [HSY_FILE_B] = {"state.b", "state.b.new"}};

#define FILES_COUNT (sizeof files_names / sizeof files_names[0])

void hsy_world_tidy(hsy_host *h)
{
    for (size_t i = 0; i < FILES_COUNT; i++)
        unlinkat(h->dir, files_names[i].draft, 0);
    unlinkat(h->dir, FILES_TIMES ".new", 0);
}

int hsy_world_open(int dir, const char *name, int flags)
{
    int fd = openat(dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                    S_IRUSR | S_IWUSR);
    struct stat s;
    int error;

    if (fd == -1)
        return -1;
    error =
        fstat(fd, &s) == -1 ? errno
        : S_ISREG(s.st_mode) && s.st_uid == geteuid() && (s.st_mode & 077) == 0
            ? 0
            : EPERM;
    if (error == 0 && (flags & O_CREAT) != 0 && (s.st_mode & 0600) != 0600 &&
        fchmod(fd, S_IRUSR | S_IWUSR) == -1) /* what the umask has taken */
        error = errno;
    if (error == 0)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

/* ---- Reading ------------------------------------------------------------- */

/* Up to room bytes; -1 with errno. Of a longer file, room + 1. */
static ssize_t files_fill(int fd, uint8_t *buf, size_t room)
{
    const ssize_t n = file_fill(fd, buf, room);
    uint8_t byte;
    ssize_t more = 0;

    if (n != -1 && (size_t)n == room)
        more = file_fill(fd, &byte, 1);
    return n == -1 || more == -1 ? -1 : n + more;
}

static hsy_status files_load(hsy_host *h, int dir, const char *name,
                             uint32_t where, uint8_t *buf, size_t room,
                             size_t *len)
{
    int fd = hsy_world_open(dir, name, O_RDONLY);
    ssize_t n;

    if (fd == -1)
        return errno == ENOENT ? HSY_E_EMPTY : hsy_world_failed(h, where);
    n = files_fill(fd, buf, room);
    if (n == -1)
        hsy_world_failed(h, where);
    close(fd);
    if (n == -1)
        return HSY_E_IO;
    if ((size_t)n > room)
        return HSY_E_RANGE;
    *len = (size_t)n;
    return HSY_OK;
}

hsy_status hsy_world_load(void *ctx, hsy_file file, uint8_t *buf, size_t room,
                          size_t *len)
{
    hsy_host *h = ctx;

    if (!hsy_world_mine(h))
        return HSY_E_REFUSED;
    return files_load(h, h->dir, files_names[file].name,
                      hsy_field_find(files_names[file].name), buf, room, len);
}

/* ---- Writing ------------------------------------------------------------- */

/* One file to be put in its place. */
struct files_job {
    int dir;
    const char *name, *draft;
    bool once; /* never over an old one */
    const uint8_t *buf;
    size_t len;
};

static bool files_sync(hsy_host *h, int fd)
{
    while (fsync(fd) == -1) {
        if (errno == EINTR)
            continue;
        h->broken = true;
        return false;
    }
    return true;
}

bool hsy_world_write(int fd, const uint8_t *buf, size_t len)
{
    while (len != 0) {
        ssize_t n = write(fd, buf, len);

        if (n == -1 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        buf += n;
        len -= (size_t)n;
    }
    return true;
}

/* The draft, whole and synced; false with errno. */
static bool files_draft(hsy_host *h, const struct files_job *job)
{
    int fd, error = 0;

    if (unlinkat(job->dir, job->draft, 0) == -1 && errno != ENOENT)
        return false;
    fd = openat(job->dir, job->draft,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                S_IRUSR | S_IWUSR);
    if (fd == -1)
        return false;
    if (fchmod(fd, S_IRUSR | S_IWUSR) == -1 || /* whatever the umask takes */
        !hsy_world_write(fd, job->buf, job->len) || !files_sync(h, fd))
        error = errno;
    if (close(fd) == -1 && error == 0)
        error = errno;
    errno = error;
    return error == 0;
}

static bool files_place(const struct files_job *job)
{
    if (!job->once)
        return renameat(job->dir, job->draft, job->dir, job->name) == 0;
    return linkat(job->dir, job->draft, job->dir, job->name, 0) == 0 &&
           unlinkat(job->dir, job->draft, 0) == 0;
}

static hsy_status files_put(hsy_host *h, const struct files_job *job,
                            uint32_t where)
{
    hsy_status st;

    if (h->broken) {
        errno = EIO;
        return hsy_world_failed(h, where);
    }
    if (files_draft(h, job) && files_place(job))
        return files_sync(h, job->dir) ? HSY_OK : hsy_world_failed(h, where);
    st = hsy_world_failed(h, where);
    unlinkat(job->dir, job->draft, 0);
    return st;
}

hsy_status hsy_world_store(void *ctx, hsy_file file, const uint8_t *buf,
                           size_t len)
{
    hsy_host *h = ctx;
    const struct files_job job = {.dir = h->dir,
                                  .name = files_names[file].name,
                                  .draft = files_names[file].draft,
                                  .once = file == HSY_FILE_KEY,
                                  .buf = buf,
                                  .len = len};

    if (!hsy_world_mine(h))
        return HSY_E_REFUSED;
    return files_put(h, &job, hsy_field_find(job.name));
}

hsy_status hsy_world_times_load(hsy_host *h, uint8_t *buf, size_t room,
                                size_t *len)
{
    return files_load(h, h->dir, FILES_TIMES, HSY_FIELD_DEVICE, buf, room, len);
}

hsy_status hsy_world_times_store(hsy_host *h, const uint8_t *buf, size_t len)
{
    const struct files_job job = {.dir = h->dir,
                                  .name = FILES_TIMES,
                                  .draft = FILES_TIMES ".new",
                                  .buf = buf,
                                  .len = len};

    return files_put(h, &job, HSY_FIELD_DEVICE);
}

/* ---- The anchor: a decimal and the end of its line ----------------------- */

/* HSY_E_DAMAGED for anything but what anchor_raise writes, or a person: digits,
 * and at most one end of line. */
static hsy_status files_number(uint64_t *number, const uint8_t *text,
                               size_t len)
{
    uint64_t x = 0;

    if (len > 1 && text[len - 1] == '\n')
        len--;
    if (len == 0)
        return HSY_E_DAMAGED;
    for (size_t i = 0; i < len; i++) {
        uint64_t digit = (uint64_t)text[i] - '0';

        if (digit > 9 || x > (UINT64_MAX - digit) / 10)
            return HSY_E_DAMAGED;
        x = x * 10 + digit;
    }
    *number = x;
    return HSY_OK;
}

/* Whether there is a device at all. */
static bool files_made(const hsy_host *h)
{
    struct stat s;

    return fstatat(h->dir, files_names[HSY_FILE_KEY].name, &s,
                   AT_SYMLINK_NOFOLLOW) == 0 ||
           errno != ENOENT;
}

/* HSY_E_EMPTY if there is none. */
static hsy_status files_anchor(hsy_host *h, uint64_t *number)
{
    uint8_t text[FILES_NUMBER];
    size_t len = 0;
    hsy_status st = files_load(h, h->anchor_dir, h->anchor, HSY_FIELD_ANCHOR,
                               text, sizeof text, &len);

    if (st == HSY_E_RANGE)
        return HSY_E_DAMAGED;
    return st == HSY_OK ? files_number(number, text, len) : st;
}

/* Before a device is made there is no anchor either: 0. Afterwards one that is
 * gone would let a restored state pass. */
hsy_status hsy_world_anchor_read(void *ctx, uint64_t *number)
{
    hsy_host *h = ctx;
    hsy_status st;

    if (!hsy_world_mine(h))
        return HSY_E_REFUSED;
    st = files_anchor(h, number);
    if (st != HSY_E_EMPTY)
        return st;
    if (files_made(h))
        return HSY_E_DAMAGED;
    *number = 0;
    return HSY_OK;
}

hsy_status hsy_world_anchor_raise(void *ctx, uint64_t number)
{
    hsy_host *h = ctx;
    char text[FILES_NUMBER], draft[FILES_NAME];
    struct files_job job = {.dir = h->anchor_dir,
                            .name = h->anchor,
                            .draft = draft,
                            .buf = (const uint8_t *)text};
    uint64_t old = 0;
    hsy_status st;

    if (!hsy_world_mine(h))
        return HSY_E_REFUSED;
    st = files_anchor(h, &old);
    if (st != HSY_OK && st != HSY_E_EMPTY)
        return st;
    if (number < old)
        return HSY_E_DAMAGED;
    if (st == HSY_OK && number == old)
        return HSY_OK;
    job.len = (size_t)snprintf(text, sizeof text, "%" PRIu64 "\n", number);
    if ((size_t)snprintf(draft, sizeof draft, "%s.new", h->anchor) >=
        sizeof draft) {
        errno = ENAMETOOLONG;
        return hsy_world_failed(h, HSY_FIELD_ANCHOR);
    }
    return files_put(h, &job, HSY_FIELD_ANCHOR);
}
