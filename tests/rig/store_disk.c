/* store_disk.c - see store_disk.h. */

#define _GNU_SOURCE

#include "rig/store_disk.h"

#define DISK_SECTOR 512

struct disk disk;

static sqlite3_vfs *disk_real, disk_vfs;

struct disk_file {
    sqlite3_file is;
    int name;
    bool fresh; /* a log or journal that was made: the first sync is of the
                 * directory too, as SQLite's own VFS does it */
    sqlite3_file *real; /* behind this struct */
};

static int disk_name(const char *path)
{
    const char *file = strrchr(path, '/'), *runs = strstr(path, "/runs/");

    file = runs != NULL ? runs + 1 : file == NULL ? path : file + 1;
    for (int i = 0; i < disk.names; i++)
        if (strcmp(disk.name[i], file) == 0)
            return i;
    if (disk.names == DISK_FILES || strlen(file) >= DISK_NAME)
        abort();
    strcpy(disk.name[disk.names], file);
    return disk.names++;
}

static void disk_note(enum disk_what what, int file, sqlite3_int64 at,
                      const void *bytes, int len)
{
    struct disk_op *op;

    if (!disk.journal)
        return;
    if (disk.nop == disk.room) {
        disk.room = disk.room == 0 ? 1024 : 2 * disk.room;
        disk.op = realloc(disk.op, disk.room * sizeof *disk.op);
    }
    op = &disk.op[disk.nop++];
    *op = (struct disk_op){.what = what, .file = file, .at = at, .len = len};
    if (len != 0) {
        op->bytes = malloc((size_t)len);
        memcpy(op->bytes, bytes, (size_t)len);
    }
}

/* Whether the operation may go on; it may be the last of this process. */
static void disk_count(enum disk_what what, int file)
{
    if (++disk.ops == disk.kill_at)
        _exit(9);
    if (disk.hook != NULL)
        disk.hook(what, disk.name[file]);
}

static int disk_write(sqlite3_file *is, const void *buf, int len,
                      sqlite3_int64 at)
{
    struct disk_file *f = (struct disk_file *)is;

    if (disk.ops + 1 == disk.kill_at) /* killed in the middle */
        f->real->pMethods->xWrite(f->real, buf, len / 2, at);
    disk_count(DISK_WRITE, f->name);
    disk.writes++;
    if (disk.full_at != 0 && disk.writes >= disk.full_at &&
        (disk.full_for == 0 || disk.writes < disk.full_at + disk.full_for))
        return SQLITE_FULL;
    if (disk.fits != NULL && !disk.fits(disk.name[f->name], at + len))
        return SQLITE_FULL;
    disk_note(DISK_WRITE, f->name, at, buf, len);
    return f->real->pMethods->xWrite(f->real, buf, len, at);
}

static int disk_truncate(sqlite3_file *is, sqlite3_int64 len)
{
    struct disk_file *f = (struct disk_file *)is;

    disk_count(DISK_TRUNCATE, f->name);
    disk_note(DISK_TRUNCATE, f->name, len, NULL, 0);
    return f->real->pMethods->xTruncate(f->real, len);
}

static int disk_sync(sqlite3_file *is, int flags)
{
    struct disk_file *f = (struct disk_file *)is;

    (void)flags;
    disk_count(DISK_SYNC, f->name);
    if (++disk.syncs == disk.eio_at)
        return SQLITE_IOERR_FSYNC;
    disk_note(DISK_SYNC, f->name, 0, NULL, 0);
    if (f->fresh)
        disk_note(DISK_DIRECTORY, f->name, 0, NULL, 0);
    f->fresh = false;
    return SQLITE_OK;
}

static int disk_close(sqlite3_file *is)
{
    struct disk_file *f = (struct disk_file *)is;

    return f->real->pMethods->xClose(f->real);
}

/* The rest is passed on. */
#define DISK_PASS(name, parameters, arguments)                                 \
    static int disk_##name parameters                                          \
    {                                                                          \
        struct disk_file *f = (struct disk_file *)is;                          \
                                                                               \
        return f->real->pMethods->name arguments;                              \
    }

DISK_PASS(xRead, (sqlite3_file * is, void *buf, int n, sqlite3_int64 at),
          (f->real, buf, n, at))

DISK_PASS(xFileSize, (sqlite3_file * is, sqlite3_int64 *n), (f->real, n))

DISK_PASS(xLock, (sqlite3_file * is, int level), (f->real, level))

DISK_PASS(xUnlock, (sqlite3_file * is, int level), (f->real, level))

DISK_PASS(xCheckReservedLock, (sqlite3_file * is, int *out), (f->real, out))

DISK_PASS(xFileControl, (sqlite3_file * is, int op, void *arg),
          (f->real, op, arg))

DISK_PASS(xShmMap,
          (sqlite3_file * is, int page, int size, int extend,
           void volatile **out),
          (f->real, page, size, extend, out))

DISK_PASS(xShmLock, (sqlite3_file * is, int at, int n, int flags),
          (f->real, at, n, flags))

DISK_PASS(xShmUnmap, (sqlite3_file * is, int delete), (f->real, delete))

static void disk_xShmBarrier(sqlite3_file *is)
{
    struct disk_file *f = (struct disk_file *)is;

    f->real->pMethods->xShmBarrier(f->real);
}

static int disk_sector(sqlite3_file *is)
{
    (void)is;
    return DISK_SECTOR;
}

static int disk_features(sqlite3_file *is)
{
    (void)is;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods disk_methods = {
    .iVersion = 2,
    .xClose = disk_close,
    .xRead = disk_xRead,
    .xWrite = disk_write,
    .xTruncate = disk_truncate,
    .xSync = disk_sync,
    .xFileSize = disk_xFileSize,
    .xLock = disk_xLock,
    .xUnlock = disk_xUnlock,
    .xCheckReservedLock = disk_xCheckReservedLock,
    .xFileControl = disk_xFileControl,
    .xSectorSize = disk_sector,
    .xDeviceCharacteristics = disk_features,
    .xShmMap = disk_xShmMap,
    .xShmLock = disk_xShmLock,
    .xShmBarrier = disk_xShmBarrier,
    .xShmUnmap = disk_xShmUnmap,
};

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *is,
                     int flags, int *out)
{
    struct disk_file *f = (struct disk_file *)is;
    int rc;

    (void)vfs;
    f->real = (sqlite3_file *)(f + 1);
    f->fresh = (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0 &&
               access(path, F_OK) == -1;
    rc = disk_real->xOpen(disk_real, path, f->real, flags, out);
    is->pMethods = rc == SQLITE_OK ? &disk_methods : NULL;
    if (rc == SQLITE_OK)
        f->name = disk_name(path);
    return rc;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync)
{
    (void)vfs;
    (void)sync;
    disk_count(DISK_DELETE, disk_name(path));
    disk_note(DISK_DELETE, disk_name(path), 0, NULL, 0);
    return disk_real->xDelete(disk_real, path, 0);
}

void disk_begin(void)
{
    disk_real = sqlite3_vfs_find(NULL);
    disk_vfs = *disk_real;
    disk_vfs.zName = "disk";
    disk_vfs.szOsFile = (int)sizeof(struct disk_file) + disk_real->szOsFile;
    disk_vfs.xOpen = disk_open;
    disk_vfs.xDelete = disk_delete;
    sqlite3_vfs_register(&disk_vfs, 1);
}

void disk_reset(void)
{
    for (size_t i = 0; i < disk.nop; i++)
        free(disk.op[i].bytes);
    free(disk.op);
    disk = (struct disk){0};
}

/* ---- What a power cut leaves --------------------------------------------- */

/* An image of a file being made. */
struct disk_image {
    uint8_t *bytes;
    size_t len, room;
    bool there;
};

static void disk_apply(struct disk_image *m, const struct disk_op *op,
                       bool (*survives)(void *ctx), void *ctx)
{
    const size_t end = (size_t)(op->at + op->len);

    m->there = op->what != DISK_DELETE;
    if (op->what == DISK_DELETE)
        m->len = 0;
    if (op->what == DISK_TRUNCATE)
        m->len = m->len < (size_t)op->at ? m->len : (size_t)op->at;
    if (op->what != DISK_WRITE)
        return;
    if (end > m->room) {
        m->bytes = realloc(m->bytes, 2 * end);
        m->room = 2 * end;
    }
    if (end > m->len) {
        memset(m->bytes + m->len, 0, end - m->len);
        m->len = end;
    }
    for (int i = 0; i < op->len; i += DISK_SECTOR) {
        const int n = op->len - i < DISK_SECTOR ? op->len - i : DISK_SECTOR;

        if (survives == NULL || survives(ctx))
            memcpy(m->bytes + op->at + i, op->bytes + i, (size_t)n);
    }
}

void disk_cut(int dir, size_t n, bool (*whole)(void *ctx),
              bool (*sector)(void *ctx), void *ctx)
{
    size_t synced[DISK_FILES] = {0}, names = 0;

    mkdirat(dir, "runs", 0700);
    for (size_t i = 0; i < n; i++) {
        if (disk.op[i].what == DISK_SYNC)
            synced[disk.op[i].file] = i;
        if (disk.op[i].what == DISK_DIRECTORY)
            names = i;
    }
    for (int f = 0; f < disk.names; f++) {
        struct disk_image m = {0};
        int fd;

        for (size_t i = 0; i < n; i++) {
            const enum disk_what what = disk.op[i].what;

            if (disk.op[i].file != f || what == DISK_SYNC ||
                what == DISK_DIRECTORY)
                continue;
            if (i < synced[f] || (what == DISK_DELETE && i < names))
                disk_apply(&m, &disk.op[i], NULL, NULL);
            else if (whole(ctx))
                disk_apply(&m, &disk.op[i], sector, ctx);
        }
        if (m.there) {
            fd = openat(dir, disk.name[f], O_WRONLY | O_CREAT | O_TRUNC, 0600);
            if (fd == -1 || write(fd, m.bytes, m.len) != (ssize_t)m.len)
                abort();
            close(fd);
        }
        free(m.bytes);
    }
}
