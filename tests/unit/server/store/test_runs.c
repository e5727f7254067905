/*
 * test_runs.c - runs of ids on the disk: every id is found, another hardly
 * costs a page, and what has changed in a file is noticed or mended.
 */
#define _GNU_SOURCE

#include "server/store/runs.h"

#include "rig/sanitized.h"
#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char runs_root[64];
static int runs_dir;

/* Id n of a test: a hash, as ids are. */
static struct store_id runs_id(uint64_t n)
{
    struct store_id id;

    uint8_t hash[sizeof id];

    hsy_blake2b(hash, sizeof hash, &n, sizeof n, NULL, 0);
    memcpy(&id, hash, sizeof id);
    return id;
}

/* A run of the ids 0 to n - 1; its number is the next. */
static struct run_is runs_write(uint64_t n, bool sync_within)
{
    static uint64_t number;
    struct run_is is = {.number = ++number, .epoch = 20600, .count = n};
    struct store_id *ids = malloc(n * sizeof *ids);
    struct run_writer *w = NULL;
    int rc;

    memset(is.name, 7, sizeof is.name);
    for (uint64_t i = 0; i < n; i++)
        ids[i] = runs_id(i);
    rc = run_sort(ids, (size_t)n) ? run_write_begin(&w, runs_root, &is)
                                  : SQLITE_NOMEM;
    for (uint64_t i = 0; rc == SQLITE_OK && i < n; i += 100) {
        rc = run_write_add(w, ids + i, n - i < 100 ? (size_t)(n - i) : 100);
        if (rc == SQLITE_OK && sync_within)
            rc = run_write_sync(w);
    }
    if (rc == SQLITE_OK)
        rc = run_write_end(w, &is);
    run_write_close(w);
    free(ids);
    if (rc != SQLITE_OK)
        ok(false, "a run is written: %d", rc);
    return is;
}

static hsy_status runs_look_for(const struct run *r, uint64_t n, bool *there)
{
    const struct store_id id = runs_id(n);
    struct store_id found;
    const hsy_status st = run_find(r, &id, there, &found);

    if (st == HSY_OK && *there && memcmp(&found, &id, sizeof id) != 0)
        return HSY_E_MISMATCH;
    return st;
}

static hsy_status runs_each(void *ctx, const struct store_id *ids, size_t n)
{
    (void)ids;
    *(uint64_t *)ctx += n;
    return HSY_OK;
}

/* ---- Finding ------------------------------------------------------------- */

static void every_id_is_found(void)
{
    static const uint64_t sizes[] = {1,   2,    31,   32,   254,   255,
                                     256, 1000, 4095, 8160, 16320, 100000};
    unsigned bad = 0;

    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        const uint64_t n = sizes[k];
        const struct run_is is = runs_write(n, k % 2 == 0);
        struct run *r = NULL;
        uint64_t read = 0;
        hsy_error err;
        bool there;

        if (run_open(&r, runs_dir, &is, &err) != HSY_OK) {
            ok(false, "a run of %llu opens: %s", (unsigned long long)n,
               err.msg);
            continue;
        }
        for (uint64_t i = 0; i<n; i += n> 9000 ? 7 : 1)
            bad += runs_look_for(r, i, &there) != HSY_OK || !there;
        for (uint64_t i = n; i<2 * n + 100; i += n> 9000 ? 7 : 1)
            bad += runs_look_for(r, i, &there) != HSY_OK || there;
        bad += run_look(r, runs_each, &read) != HSY_OK || read != n;
        run_drop(r);
    }
    ok(bad == 0, "runs of 1 to 100,000 ids: all are found, and no other");
}

static void others_cost_little(void)
{
    const uint64_t n = TEST_SANITIZED ? 50000 : 400000;
    const struct run_is is = runs_write(n, false);
    struct run *r;
    uint64_t hits = 0;

    if (run_open(&r, runs_dir, &is, NULL) != HSY_OK) {
        ok(false, "it opens");
        return;
    }
    for (uint64_t i = n; i < 2 * n; i++) {
        const struct store_id id = runs_id(i);
        uint64_t at = 0;

        hits += run_filter_next(run_filter(r), &id, &at);
    }
    /* 49 ids a bucket: 75 in 100,000; 1 in 1,000 is over five deviations. */
    ok(hits * 1000 < n && hits * 10000 > n,
       "of %llu other ids %llu would read a page", (unsigned long long)n,
       (unsigned long long)hits);
    ok((double)run_memory(r) < 2.2 * (double)n,
       "an id takes %.2f bytes of memory", (double)run_memory(r) / (double)n);
    run_drop(r);
}

/* ---- What has changed ---------------------------------------------------- */

static void runs_flip(const struct run_is *is, off_t at)
{
    char file[RUN_FILE];
    uint8_t byte = 0;
    int fd;

    run_file(file, is);
    fd = openat(runs_dir, file, O_RDWR);
    if (fd == -1 || pread(fd, &byte, 1, at) != 1)
        ok(false, "byte %lld is there", (long long)at);
    byte ^= 0x40;
    if (pwrite(fd, &byte, 1, at) != 1)
        ok(false, "and is changed");
    close(fd);
}

static hsy_status runs_try(const struct run_is *is)
{
    struct run *r = NULL;
    hsy_error err = {0};
    const hsy_status st = run_open(&r, runs_dir, is, &err);

    run_drop(r);
    return st == err.status && (st == HSY_OK || err.field != HSY_FIELD_NONE)
               ? st
               : HSY_E_MISMATCH;
}

static void another_file_is_no_run(void)
{
    const struct run_is is = runs_write(1000, false);
    struct run_is other = is;
    char file[RUN_FILE];
    unsigned wrong = 0;
    int fd;

    other.count = 999;
    wrong += runs_try(&other) != HSY_E_DAMAGED;
    other = is;
    other.name[3] ^= 1;
    wrong += runs_try(&other) != HSY_E_DAMAGED;
    other = is;
    other.check ^= 1;
    wrong += runs_try(&other) != HSY_E_DAMAGED;
    other = is;
    other.null = true;
    wrong += runs_try(&other) != HSY_E_DAMAGED; /* there is no such file */
    for (off_t at = 0; at < 64; at++) {
        runs_flip(&is, at);
        wrong += runs_try(&is) != HSY_E_DAMAGED;
        runs_flip(&is, at);
    }
    wrong += runs_try(&is) != HSY_OK;
    run_file(file, &is);
    fd = openat(runs_dir, file, O_RDWR);
    wrong += fd == -1 || ftruncate(fd, 1000 * 16) == -1;
    close(fd);
    wrong += runs_try(&is) != HSY_E_DAMAGED;
    ok(wrong == 0, "a file of another store, count, kind or moment, with "
                   "another head or length is refused");
}

static void a_page_that_changed_is_noticed(void)
{
    const uint64_t n = 5000;
    const struct run_is is = runs_write(n, false);
    struct run *r;
    uint64_t damaged = 0, found = 0;
    bool there;

    runs_flip(&is, 3 * 4096 + 1000); /* of the third page of ids */
    if (run_open(&r, runs_dir, &is, NULL) != HSY_OK) {
        ok(false, "it opens: pages are looked at when they are used");
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        const hsy_status st = runs_look_for(r, i, &there);

        damaged += st == HSY_E_DAMAGED;
        found += st == HSY_OK && there;
    }
    ok(damaged >= RUN_IDS && damaged < RUN_IDS + 20 && damaged + found == n,
       "whose page has changed is not new: %llu lookups say so",
       (unsigned long long)damaged);
    ok(run_look(r, NULL, NULL) == HSY_E_DAMAGED, "looking through finds it");
    run_drop(r);
}

static void a_filter_that_changed_is_made_again(void)
{
    const uint64_t n = 5000;
    const struct run_is is = runs_write(n, false);
    struct run *r;
    unsigned bad = 0;
    bool there;

    runs_flip(&is, (off_t)(1 + (n + RUN_IDS - 1) / RUN_IDS) * RUN_PAGE + 700);
    if (run_open(&r, runs_dir, &is, NULL) != HSY_OK) {
        ok(false, "it opens");
        return;
    }
    for (uint64_t i = 0; i < 2 * n; i++)
        bad += runs_look_for(r, i, &there) != HSY_OK || there != (i < n);
    ok(bad == 0, "a filter that has changed is made again from the ids");
    ok(run_look(r, NULL, NULL) == HSY_E_DAMAGED, "but the file is not sound");
    run_drop(r);
}

static void runs_end(void)
{
    DIR *d = opendir(runs_root);
    const struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL)
        unlinkat(runs_dir, e->d_name, 0);
    if (d != NULL)
        closedir(d);
    close(runs_dir);
    rmdir(runs_root);
}

int main(void)
{
    strcpy(runs_root, "/tmp/hearsay-runs-XXXXXX");
    if (mkdtemp(runs_root) == NULL ||
        (runs_dir = open(runs_root, O_RDONLY | O_DIRECTORY)) == -1)
        return 1;
    sqlite3_initialize();

    every_id_is_found();
    others_cost_little();
    another_file_is_no_run();
    a_page_that_changed_is_noticed();
    a_filter_that_changed_is_made_again();
    runs_end();
    return tap_done();
}
