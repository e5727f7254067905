/*
 * test_store_doubts.c - what could make a store with runs forget an id: names
 * that are nearly those of runs, a file that is there already, pages of another
 * run, a copy whose files are of two moments, a transaction that fails at its
 * very end, directories that cannot be synced.
 */
#define _GNU_SOURCE

#include "rig/runs_world.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Failing parts ------------------------------------------------------- */

static bool doubts_no_sync; /* of directories */

int fsync(int fd)
{
    struct stat is;

    if (doubts_no_sync && fstat(fd, &is) == 0 && S_ISDIR(is.st_mode)) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

/* SQLite's own file system, but the index of a log does not grow. */
static bool doubts_no_index;
static sqlite3_vfs doubts_vfs;
static sqlite3_io_methods doubts_methods;
static const sqlite3_io_methods *doubts_real;

static int doubts_map(sqlite3_file *f, int page, int size, int extend,
                      void volatile **out)
{
    int rc =
        doubts_real->xShmMap(f, page, size, doubts_no_index ? 0 : extend, out);

    return rc == SQLITE_OK && doubts_no_index && extend && *out == NULL
               ? SQLITE_NOMEM
               : rc;
}

static int doubts_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f,
                       int flags, int *out)
{
    sqlite3_vfs *real = vfs->pNext;
    int rc = real->xOpen(real, path, f, flags, out);

    if (rc == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB)) {
        doubts_real = f->pMethods;
        doubts_methods = *doubts_real;
        doubts_methods.xShmMap = doubts_map;
        f->pMethods = &doubts_methods;
    }
    return rc;
}

static void doubts_install(void)
{
    doubts_vfs = *sqlite3_vfs_find(NULL);
    doubts_vfs.zName = "doubts";
    doubts_vfs.xOpen = doubts_open;
    sqlite3_vfs_register(&doubts_vfs, 1);
}

/* ---- Files --------------------------------------------------------------- */

static bool doubts_write(const char *path, const void *bytes, size_t n)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const bool good = fd != -1 && write(fd, bytes, n) == (ssize_t)n;

    if (fd != -1)
        close(fd);
    return good;
}

/* A file of the store into the other directory. */
static bool doubts_copy(const char *file)
{
    char from[160], to[160];
    uint8_t *bytes;
    struct stat is;
    int fd;
    bool good;

    snprintf(from, sizeof from, "%s/%s", runs_at, file);
    snprintf(to, sizeof to, "%s/%s", runs_other, file);
    fd = open(from, O_RDONLY);
    if (fd == -1 || fstat(fd, &is) == -1)
        return errno == ENOENT;
    bytes = malloc((size_t)is.st_size + 1);
    good = bytes != NULL &&
           pread(fd, bytes, (size_t)is.st_size, 0) == (ssize_t)is.st_size &&
           doubts_write(to, bytes, (size_t)is.st_size);
    free(bytes);
    close(fd);
    return good;
}

static bool doubts_copy_runs(void)
{
    char path[160], file[64];
    const struct dirent *e;
    bool good = true;
    DIR *d;

    snprintf(path, sizeof path, "%s/runs", runs_other);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/runs", runs_at);
    d = opendir(path);
    while (d != NULL && (e = readdir(d)) != NULL) {
        snprintf(file, sizeof file, "runs/%.40s", e->d_name);
        if (e->d_name[0] != '.')
            good &= doubts_copy(file);
    }
    if (d != NULL)
        closedir(d);
    return good;
}

/* ---- Tests --------------------------------------------------------------- */

static void names_of_others(void)
{
    static const char *const ends[] = {"~", ".swp", " (copy)", "0"};
    struct world *w = &world;
    char path[256], stray[300];
    off_t bytes;
    bool good;

    world_new(w);
    good = world_send(w, RIG_DAY, 0, 3000, INTAKE_COUNTED) == 3000;
    world_rest(w);
    world_kill(w);
    good &= world_a_file(path, &bytes);
    for (size_t i = 0; i < 3; i++) {
        snprintf(stray, sizeof stray, "%s%s", path, ends[i]);
        good &= doubts_write(stray, "", 0);
    }
    snprintf(stray, sizeof stray, "%s/runs/0%u.0.1", runs_at, RIG_DAY);
    good &= doubts_write(stray, "", 0);
    snprintf(stray, sizeof stray, "%s/runs/%u.0.99999999999999999999", runs_at,
             RIG_DAY);
    good &= doubts_write(stray, "", 0);
    ok(good && eq_status(world_open(w, runs_at), HSY_OK) &&
           eq_status(world_again(w), HSY_OK) &&
           eq_u64(world_send(w, RIG_DAY, 0, 3000, INTAKE_AGAIN), 3000),
       "a name that is nearly that of a run costs no run");
    good = world_send(w, RIG_DAY, 3000, 6000, INTAKE_COUNTED) == 3000;
    world_rest(w);
    ok(good && eq_status(world_again(w), HSY_OK) &&
           eq_u64(world_send(w, RIG_DAY, 0, 6000, INTAKE_AGAIN), 6000),
       "nor one with a number beyond all");
    world_end(w);
}

static void a_file_that_is_there(void)
{
    static const char whose[] = "another's";
    struct world *w = &world;
    char path[160], got[16] = "";
    unsigned long next;
    hsy_status st;
    bool good;
    int fd;

    world_new(w);
    next = (unsigned long)((struct store_sqlite *)w->store)->runs->next;
    snprintf(path, sizeof path, "%s/runs", runs_at);
    mkdir(path, 0700);
    for (unsigned null = 0; null < 2; null++) {
        snprintf(path, sizeof path, "%s/runs/%u.%u.%lu", runs_at, RIG_DAY,
                 1 - null, next);
        good = doubts_write(path, whose, sizeof whose);
    }
    good &= world_send(w, RIG_DAY, 0, 1000, INTAKE_COUNTED) == 1000;
    st = world_settle(w, UINT32_MAX);
    fd = open(path, O_RDONLY);
    good &= read(fd, got, sizeof got) == (ssize_t)sizeof whose;
    close(fd);
    ok(good && st != HSY_OK && eq_text(got, whose),
       "a file that is there is not written to: the store stops");
    world_kill(w);
    ok(eq_status(world_open(w, runs_at), HSY_OK) &&
           eq_u64(world_send(w, RIG_DAY, 0, 1000, INTAKE_AGAIN), 1000),
       "and knows all ids when it is opened again");
    world_end(w);
}

/* The first page of ids of one run put into another. */
static void pages_of_others(void)
{
    struct world *w = &world;
    uint8_t page[2][RUN_PAGE];
    char path[256];
    off_t bytes;
    uint64_t counted;
    bool good;
    int fd;

    world_new(w);
    good = world_send(w, RIG_DAY, 0, 3000, INTAKE_COUNTED) == 3000;
    world_rest(w);
    good &= world_a_file(path, &bytes);
    fd = open(path, O_RDONLY);
    good &= pread(fd, page[0], RUN_PAGE, RUN_PAGE) == RUN_PAGE;
    close(fd);
    world_end(w);

    world_new(w);
    good &= world_send(w, RIG_DAY, 0, 3000, INTAKE_COUNTED) == 3000;
    world_rest(w);
    good &= world_a_file(path, &bytes);
    fd = open(path, O_RDWR);
    good &= pread(fd, page[1], RUN_PAGE, RUN_PAGE) == RUN_PAGE;
    good &= pwrite(fd, page[0], RUN_PAGE, RUN_PAGE) == RUN_PAGE;
    close(fd);
    counted = world_send(w, RIG_DAY, 0, 3000, INTAKE_COUNTED);
    ok(good && memcmp(page[0], page[1], RUN_PAGE) != 0 && eq_u64(counted, 0),
       "a page of another run is none of this one: nothing is counted again");
    world_end(w);
}

/* Files of two moments: the record from before a run, its log and the runs from
 * after it, when the log had been moved and the rows were being erased. */
static void a_torn_copy(void)
{
    struct world *w = &world;
    struct store_sqlite *s;
    hsy_status st = HSY_OK;
    bool good, more;

    world_new(w);
    world_kill(w);
    w->r.options.runs_at = 20000;
    good = world_open(w, runs_at) == HSY_OK;
    s = (struct store_sqlite *)w->store;
    good &= world_send(w, RIG_DAY, 0, 20000, INTAKE_COUNTED) == 20000;
    good &= store_empty_log(s, &s->flip, true, &w->err) == HSY_OK &&
            store_empty_log(s, &s->cells, true, &w->err) == HSY_OK;
    store_remove(runs_other);
    mkdir(runs_other, 0700);
    good &= doubts_copy("cells.db") && doubts_copy("cells.db-wal") &&
            doubts_copy("last") && doubts_copy("record.db");
    s->record_most = 0; /* as if it were long by other commits */
    for (unsigned i = 0; st == HSY_OK && i < 2000; i++) {
        st = w->store->ops->settle(w->store, STORE_BUSY, &more, &w->err);
        if (world_sql(runs_at, "SELECT count(*) FROM ids") < 190)
            break;
    }
    good &= st == HSY_OK && doubts_copy("record.db-wal") && doubts_copy_runs();
    world_kill(w);
    ok(good && eq_status(world_open(w, runs_other), HSY_E_DAMAGED),
       "a copy of two moments does not open");
    world_kill(w);
    ok(eq_status(world_open(w, runs_at), HSY_OK) &&
           eq_u64(world_send(w, RIG_DAY, 0, 20000, INTAKE_AGAIN), 20000),
       "the store itself does");
    world_end(w);
    store_remove(runs_other);
}

static off_t doubts_frames(void)
{
    char path[160];
    struct stat is;

    snprintf(path, sizeof path, "%s/record.db-wal", runs_at);
    return stat(path, &is) == 0 ? (is.st_size - 32) / (4096 + 24) : 0;
}

/* Up to where the next part of its index begins. */
static bool doubts_fill_log(void)
{
    char path[160];
    sqlite3 *db = NULL;
    int rc;

    snprintf(path, sizeof path, "%s/record.db", runs_at);
    rc = sqlite3_open(path, &db);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db,
                          "PRAGMA wal_autocheckpoint=0;"
                          "CREATE TABLE x(v); INSERT INTO x VALUES(0)",
                          NULL, NULL, NULL);
    while (rc == SQLITE_OK && doubts_frames() < 4062)
        rc = sqlite3_exec(db, "UPDATE x SET v = v + 1", NULL, NULL, NULL);
    sqlite3_close(db);
    return rc == SQLITE_OK;
}

/* A transaction whose frames are in the log, but not in its index: SQLite says
 * that it failed, and finds it after a kill. */
static void a_flip_that_came_back(void)
{
    struct world *w = &world;
    struct store_sqlite *s;
    hsy_status st = HSY_OK;
    bool good, more;

    world_new(w);
    s = (struct store_sqlite *)w->store;
    s->record_most = 100000;
    good = world_send(w, RIG_DAY, 0, 550, INTAKE_COUNTED) == 550;
    good &= doubts_fill_log();
    doubts_no_index = true;
    for (unsigned i = 0; st == HSY_OK && i < 20 && !s->runs->stuck; i++)
        st = w->store->ops->settle(w->store, STORE_BUSY, &more, &w->err);
    good &= s->runs->stuck || st != HSY_OK;
    store_remove(runs_other);
    mkdir(runs_other, 0700);
    good &= doubts_copy("cells.db") && doubts_copy("cells.db-wal") &&
            doubts_copy("last") && doubts_copy("record.db") &&
            doubts_copy("record.db-wal") && doubts_copy_runs();
    doubts_no_index = false;
    world_kill(w);
    ok(good && eq_status(world_open(w, runs_other), HSY_OK) &&
           eq_u64(world_send(w, RIG_DAY, 0, 550, INTAKE_AGAIN), 550),
       "a run whose transaction seemed to fail is there if that came back");
    world_end(w);
    store_remove(runs_other);
}

static void names_that_are_not_durable(void)
{
    struct world *w = &world;
    bool good;

    world_new(w);
    good = world_send(w, RIG_DAY, 0, 1000, INTAKE_COUNTED) == 1000;
    doubts_no_sync = true;
    good &= world_settle(w, UINT32_MAX) == HSY_E_IO;
    doubts_no_sync = false;
    ok(good && eq_int(world_sql(runs_at, "SELECT count(*) FROM runs"), 0),
       "a run whose name may be lost is not put in force");
    ok(eq_status(world_again(w), HSY_OK) &&
           eq_u64(world_send(w, RIG_DAY, 0, 1000, INTAKE_AGAIN), 1000),
       "and its ids are known");
    world_end(w);
}

int main(void)
{
    if (!world_places())
        return 1;
    doubts_install();
    names_of_others();
    a_file_that_is_there();
    pages_of_others();
    a_torn_copy();
    a_flip_that_came_back();
    names_that_are_not_durable();
    store_remove(runs_at);
    rmdir(runs_root);
    return tap_done();
}
