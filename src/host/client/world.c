/*
 * world.c - the real world behind a device: a directory that only its owner can
 * read, the system's clock and randomness, one process at a time.
 *
 * The lock is flock(2) on a file of its own. It belongs to the open file, which
 * a forked child shares: so it is never released by hand, only by closing, and
 * a child that closes its copy takes nothing from the parent. (A child that
 * lives on without closing keeps the directory locked; exec closes it.)
 */
#define _GNU_SOURCE /* O_DIRECTORY, O_NOFOLLOW, flock */

#include "host/client/world.h"

#include "host/base/host_fail.h"
#include "host/seal/seal.h"
#include "host/tasks/task_cost.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WORLD_WAIT_DEFAULT 10u /* seconds */
/* Between two looks at the lock: doubled up to the latter, in nanoseconds. */
#define WORLD_LOOK_FIRST 500000
#define WORLD_LOOK_LAST 20000000

static const hsy_host_options world_defaults = {
    .size = sizeof(hsy_host_options),
    .wait_seconds = WORLD_WAIT_DEFAULT,
    .create = true};

/* ---- What went wrong ----------------------------------------------------- */

const char *hsy_world_why(int number)
{
    static const struct {
        int number;
        const char *msg;
    } table[] = {
        {EACCES, "permission denied"},
        {EPERM, "not a plain file that belongs to this user alone; see "
                "who owns it, and take every right from others (chmod go=)"},
        {ENOENT, "there is no such file or directory"},
        {ENOTDIR, "not a directory"},
        {EISDIR, "a directory stands in its place"},
        {ELOOP, "a symbolic link stands in its place; none is followed"},
        {ENOSPC, "the disk is full; nothing was changed"},
        {EDQUOT, "the disk quota is used up; nothing was changed"},
        {EROFS, "the file system is read-only"},
        {EIO, "the disk failed; close the device and look at the disk"},
        {EMFILE, "too many open files"},
        {ENFILE, "too many open files"},
        {ENOMEM, "out of memory"},
        {ENAMETOOLONG, "the name is too long"},
        {EEXIST, "there is one already"},
        {ERANGE, "it stands before 1970; set it"},
        {ENODATA, "the clock that the program gave does not tell the time"},
        {ECHILD, "opened by another process: a forked child must open the "
                 "device itself, once its parent has closed it"},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].number == number)
            return table[i].msg;
    }
    return "the system refused";
}

hsy_status hsy_world_failed(hsy_host *h, uint32_t where)
{
    h->error = (struct world_error){where, errno};
    return HSY_E_IO;
}

void hsy_world_explain(const hsy_host *h, hsy_error *err)
{
    if (err == NULL || h->error.where == HSY_FIELD_NONE ||
        err->status != HSY_E_IO)
        return;
    err->field = h->error.where;
    err->msg = hsy_world_why(h->error.number);
}

bool hsy_world_mine(hsy_host *h)
{
    if (h->owner == getpid())
        return true;
    errno = ECHILD;
    hsy_world_failed(h, HSY_FIELD_DEVICE);
    return false;
}

/* ---- Clock --------------------------------------------------------------- */

static hsy_status world_now(void *ctx, uint64_t *seconds)
{
    hsy_host *h = ctx;
    struct timespec t;

    if (h->clock != NULL) {
        if (h->clock(h->clock_ctx, seconds) == HSY_OK)
            return HSY_OK;
        errno = ENODATA;
        return hsy_world_failed(h, HSY_FIELD_CLOCK);
    }
    if (clock_gettime(CLOCK_REALTIME, &t) == -1)
        return hsy_world_failed(h, HSY_FIELD_CLOCK);
    if (t.tv_sec < 0) {
        errno = ERANGE;
        return hsy_world_failed(h, HSY_FIELD_CLOCK);
    }
    *seconds = (uint64_t)t.tv_sec;
    return HSY_OK;
}

static bool world_verify(void *ctx, const uint8_t key[HSY_SIGN_KEY],
                         const uint8_t sig[HSY_SIGNATURE], const uint8_t *bytes,
                         size_t len)
{
    (void)ctx;
    return hsy_sign_verify(key, sig, bytes, len);
}

/* ---- Sealing ------------------------------------------------------------- */

hsy_status hsy_world_seal(void *ctx, uint8_t *out, size_t len,
                          const hsy_envelope *e)
{
    const struct seal_place at = {.task = e->task,
                                  .release = e->release,
                                  .digest = e->digest,
                                  .terms = e->terms,
                                  .epoch = e->epoch,
                                  .id = e->id};

    (void)ctx;
    if (len != seal_onion_size(e->layers, e->report_len))
        return HSY_E_RANGE;
    return seal_onion(
        out, (const uint8_t(*)[SEAL_KEY])e->keys, e->layers, &at, e->seed,
        e->kind, e->kind == HSY_UPLOAD_NULL ? NULL : e->report, e->report_len);
}

/* ---- Shuffled tasks ------------------------------------------------------ */

static bool world_central(void *ctx, const hsy_release *r)
{
    hsy_release_info info;

    (void)ctx;
    hsy_release_describe(r, &info);
    return task_model_proved(&info);
}

/* ---- The lock ------------------------------------------------------------ */

static bool world_sleep(int64_t *look, const struct timespec *until)
{
    struct timespec now, nap = {.tv_nsec = (long)*look};

    if (clock_gettime(CLOCK_MONOTONIC, &now) == -1 ||
        now.tv_sec > until->tv_sec ||
        (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec))
        return false;
    nanosleep(&nap, NULL); /* a signal only makes the next look come sooner */
    *look = *look < WORLD_LOOK_LAST / 2 ? *look * 2 : WORLD_LOOK_LAST;
    return true;
}

/* Whether fd still is the file of this name: whoever deleted the lock file gave
 * the next process another one to lock. */
static bool world_still_there(const hsy_host *h, int fd)
{
    struct stat mine, named;

    return fstat(fd, &mine) == 0 &&
           fstatat(h->dir, "lock", &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

/* HSY_E_BUSY while another has it, HSY_E_IO with errno. */
static hsy_status world_try_lock(hsy_host *h)
{
    int fd = hsy_world_open(h->dir, "lock", O_RDWR | O_CREAT), error = 0;

    if (fd == -1)
        return HSY_E_IO;
    if (flock(fd, LOCK_EX | LOCK_NB) == -1) {
        error = errno;
    } else if (world_still_there(h, fd)) {
        h->lock = fd;
        return HSY_OK;
    }
    close(fd);
    errno = error;
    return error == 0 || error == EWOULDBLOCK || error == EINTR ? HSY_E_BUSY
                                                                : HSY_E_IO;
}

static hsy_status world_lock(hsy_host *h, uint32_t wait, hsy_error *err)
{
    struct timespec until;
    int64_t look = WORLD_LOOK_FIRST;
    hsy_status st;

    if (clock_gettime(CLOCK_MONOTONIC, &until) == -1)
        return host_fail(err, HSY_E_IO, HSY_FIELD_CLOCK, hsy_world_why(errno));
    until.tv_sec += (time_t)wait;
    do
        st = world_try_lock(h);
    while (st == HSY_E_BUSY && world_sleep(&look, &until));
    if (st == HSY_E_BUSY)
        return host_fail(err, st, HSY_FIELD_LOCK,
                         "another process has this device open; try again "
                         "when it is done");
    if (st != HSY_OK)
        return host_fail(err, st, HSY_FIELD_LOCK, hsy_world_why(errno));
    return HSY_OK;
}

/* ---- The directory ------------------------------------------------------- */

/* Make it, and its name durable: one that a power cut takes away would be a
 * device that forgot what it has spent. A directory that was there already may
 * stand where this user cannot look; then whoever made it has seen to that. */
static hsy_status world_make(const char *directory, hsy_error *err)
{
    size_t len = strlen(directory);
    char *parent = malloc(len + sizeof "/..");
    int fd = -1, failed = 0;
    bool made;

    if (parent == NULL)
        return host_nomem(err);
    memcpy(parent, directory, len);
    memcpy(parent + len, "/..", sizeof "/..");
    made = mkdir(directory, 0700) == 0;
    if (!made && errno != EEXIST)
        failed = errno;
    if (failed == 0) {
        fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if ((fd == -1 && (made || errno != EACCES)) ||
            (fd != -1 && fsync(fd) == -1))
            failed = errno;
    }
    if (fd != -1)
        close(fd);
    free(parent);
    if (failed != 0)
        return host_fail(err, HSY_E_IO, HSY_FIELD_DIRECTORY,
                         hsy_world_why(failed));
    return HSY_OK;
}

static hsy_status world_enter(hsy_host *h, const char *directory,
                              hsy_error *err)
{
    struct stat s;

    h->dir = open(directory,
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (h->dir == -1 && errno == ENOENT)
        return host_fail(err, HSY_E_EMPTY, HSY_FIELD_DIRECTORY,
                         "there is no such directory, and so no device");
    if (h->dir == -1 || fstat(h->dir, &s) == -1)
        return host_fail(err, HSY_E_IO, HSY_FIELD_DIRECTORY,
                         hsy_world_why(errno));
    if (s.st_uid != geteuid())
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_DIRECTORY,
                         "it belongs to another user");
    if ((s.st_mode & 077) != 0)
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_DIRECTORY,
                         "accessible to other users; run chmod 700 on it");
    return HSY_OK;
}

/* ---- The anchor ---------------------------------------------------------- */

/* Its directory is opened once; what stands in the device's own would be
 * restored together with it. */
static hsy_status world_anchor(hsy_host *h, const char *path, hsy_error *err)
{
    const char *slash = strrchr(path, '/');
    char *parent = strdup(path);
    struct stat own, other;

    h->anchor = strdup(slash != NULL ? slash + 1 : path);
    if (parent == NULL || h->anchor == NULL) {
        free(parent);
        return host_nomem(err);
    }
    if (slash != NULL)
        parent[slash - path + 1] = '\0';
    h->anchor_dir =
        open(slash != NULL ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(parent);
    if (h->anchor_dir == -1 || fstat(h->dir, &own) == -1 ||
        fstat(h->anchor_dir, &other) == -1)
        return host_fail(err, HSY_E_IO, HSY_FIELD_ANCHOR, hsy_world_why(errno));
    if (h->anchor[0] == '\0')
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_ANCHOR,
                         "it must name a file");
    if (own.st_dev == other.st_dev && own.st_ino == other.st_ino)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_ANCHOR,
                         "it must stand elsewhere: whoever restores the "
                         "directory would restore it too");
    return HSY_OK;
}

/* ---- Opening and closing ------------------------------------------------- */

static void world_fill(hsy_host *h, const hsy_host_options *options)
{
    h->owner = getpid();
    h->dir = h->lock = h->log = h->anchor_dir = -1;
    hsy_entropy_init(&h->entropy);
    h->world = (hsy_world){.size = sizeof h->world,
                           .ctx = h,
                           .load = hsy_world_load,
                           .store = hsy_world_store,
                           .now = world_now,
                           .entropy = hsy_entropy_coins(&h->entropy).secret,
                           .verify = world_verify,
                           .seal = hsy_world_seal,
                           .central = world_central};
    if (options->anchor != NULL) {
        h->world.anchor_read = hsy_world_anchor_read;
        h->world.anchor_raise = hsy_world_anchor_raise;
    }
    if (!options->no_log)
        h->world.log = hsy_world_log;
    h->clock = options->clock;
    h->clock_ctx = options->clock_ctx;
}

static hsy_status world_open(hsy_host *h, const char *directory,
                             const hsy_host_options *options, hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (options->create)
        st = world_make(directory, err);
    if (st == HSY_OK)
        st = world_enter(h, directory, err);
    if (st == HSY_OK)
        st = world_lock(h, options->wait_seconds, err);
    if (st == HSY_OK && options->anchor != NULL)
        st = world_anchor(h, options->anchor, err);
    if (st == HSY_OK)
        hsy_world_tidy(h);
    return st;
}

/* As the caller's header has them: those of before the clock are shorter. */
static bool world_options(hsy_host_options *o, const hsy_host_options *given)
{
    const size_t first = offsetof(hsy_host_options, clock);

    *o = world_defaults;
    if (given == NULL)
        return true;
    if (given->size != first && given->size != sizeof *given)
        return false;
    *o = (hsy_host_options){.size = sizeof *o};
    memcpy(o, given, given->size);
    return true;
}

hsy_status hsy_host_open(hsy_host **host, const char *directory,
                         const hsy_host_options *options, hsy_error *err)
{
    hsy_host_options o;
    hsy_host *h;
    hsy_status st;

    if (!world_options(&o, options))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_OPTIONS,
                         "set size to sizeof(hsy_host_options)");
    h = calloc(1, sizeof *h);
    if (h == NULL)
        return host_nomem(err);
    world_fill(h, &o);
    st = world_open(h, directory, &o, err);
    if (st != HSY_OK) {
        hsy_host_close(h);
        return st;
    }
    *host = h;
    return HSY_OK;
}

static void world_close(int fd)
{
    if (fd != -1)
        close(fd);
}

/* The lock last: until then the directory is this process's. */
void hsy_host_close(hsy_host *host)
{
    if (host == NULL)
        return;
    world_close(host->log);
    world_close(host->anchor_dir);
    world_close(host->dir);
    world_close(host->lock);
    hsy_entropy_clear(&host->entropy);
    free(host->anchor);
    free(host);
}

const hsy_world *hsy_host_world(hsy_host *host)
{
    return &host->world;
}

bool hsy_host_logged(const hsy_host *host)
{
    return !host->log_lost;
}
