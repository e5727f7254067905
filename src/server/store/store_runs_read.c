/* store_runs_read.c - runs are read back, forgotten, copied. */
#define _GNU_SOURCE /* O_DIRECTORY */

#include "server/store/admin.h"
#include "server/store/store_runs.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUNS_PIECE ((size_t)1 << 18) /* bytes copied at a time */
#define RUNS_IDS (64u * RUN_IDS)     /* ids handed out at a time */

/* ---- Reading back -------------------------------------------------------- */

/* Ids on their way, as many as a row has at most: who gets them may make a
 * commit of each piece. */
struct runs_ids {
    const struct store_reader *to;
    struct store_ids ids;
    struct store_id *room; /* RUNS_IDS of them */
};

static hsy_status runs_flush(struct runs_ids *t)
{
    const hsy_status st = t->ids.n == 0 || t->to->ids == NULL
                              ? HSY_OK
                              : t->to->ids(t->to->ctx, &t->ids);

    t->ids.n = 0;
    return st;
}

static hsy_status runs_page(void *ctx, const struct store_id *ids, size_t n)
{
    struct runs_ids *t = ctx;
    const hsy_status st = t->ids.n + n > RUNS_IDS ? runs_flush(t) : HSY_OK;

    memcpy(t->room + t->ids.n, ids, n * sizeof *ids);
    t->ids.n += n;
    return st;
}

static hsy_status runs_read_run(const struct run *r, struct runs_ids *t)
{
    hsy_status st;

    t->ids = (struct store_ids){
        .epoch = run_is(r)->epoch, .null = run_is(r)->null, .ids = t->room};
    st = run_look(r, runs_page, t);
    return st == HSY_OK ? runs_flush(t) : st;
}

/* The ids of runs, each of which is held against its checksums. */
static hsy_status runs_read_ids(struct store_sqlite *s,
                                const struct store_reader *to, hsy_error *err)
{
    const struct runs_store *r = s->runs;
    struct runs_ids t = {.to = to, .room = malloc(RUNS_IDS * sizeof *t.room)};
    uint64_t number = 0;
    hsy_status st = HSY_OK;

    if (t.room == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < r->nparts; i++)
        for (size_t k = 0; st == HSY_OK && k < r->parts[i].n; k++) {
            st = runs_read_run(r->parts[i].all[k], &t);
            number = run_is(r->parts[i].all[k])->number;
        }
    free(t.room);
    if (st != HSY_E_DAMAGED)
        return st;
    store_damaged(s, "runs", err);
    if (err != NULL) {
        err->unit = HSY_UNIT_RUN;
        err->at = number;
    }
    return st;
}

static hsy_status runs_read_half(const struct runs_store *r, size_t i,
                                 const struct store_reader *to)
{
    const uint32_t epoch = runs_epoch(r->parts[i].half);
    struct store_runs runs;
    hsy_status st;

    for (size_t k = 0; k < i; k++)
        if (runs_epoch(r->parts[k].half) == epoch)
            return HSY_OK; /* with that one */
    if (!store_runs_of(r, epoch, &runs))
        return HSY_E_NOMEM;
    st = to->runs(to->ctx, &runs);
    store_runs_clear(&runs);
    return st;
}

hsy_status store_runs_read(struct store_sqlite *s,
                           const struct store_reader *to, hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (to->runs == NULL)
        return to->ids == NULL && !to->check ? HSY_OK
                                             : runs_read_ids(s, to, err);
    for (size_t i = 0; st == HSY_OK && i < s->runs->nparts; i++)
        st = runs_read_half(s->runs, i, to);
    return st;
}

uint64_t store_runs_bytes(const struct store_sqlite *s)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < s->runs->nparts; i++)
        for (size_t k = 0; k < s->runs->parts[i].n; k++)
            bytes += run_length(s->runs->parts[i].all[k]);
    return bytes;
}

/* ---- Forgetting ---------------------------------------------------------- */

uint64_t store_runs_ids(const struct store_sqlite *s, uint64_t half)
{
    const struct runs_store *r = s->runs;
    uint64_t all = 0;

    for (size_t i = 0; i < r->nparts; i++)
        for (size_t k = 0; r->parts[i].half == half && k < r->parts[i].n; k++)
            all += run_is(r->parts[i].all[k])->count;
    return all;
}

int store_runs_erase(struct store_sqlite *s, struct sql *q, uint64_t half)
{
    const struct runs_store *r = s->runs;
    int rc = SQLITE_OK;

    for (size_t i = 0; i < r->nparts; i++)
        for (size_t k = 0;
             rc == SQLITE_OK && r->parts[i].half == half && k < r->parts[i].n;
             k++)
            rc = store_erase_run(s, q, run_is(r->parts[i].all[k])->number);
    return rc;
}

void store_runs_forget(struct store_sqlite *s, uint64_t half)
{
    struct runs_store *r = s->runs;

    for (size_t i = 0; i < r->nparts; i++) {
        if (r->parts[i].half != half)
            continue;
        for (size_t k = 0; k < r->parts[i].n; k++)
            store_runs_unlink(s, run_is(r->parts[i].all[k]));
        store_runs_half_clear(&r->parts[i]);
    }
}

/* Of a directory that is removed. */
void store_remove_runs(const char *directory)
{
    const size_t room =
        strlen(directory) + sizeof "/" RUNS_DIRECTORY "/" + NAME_MAX;
    char *path = malloc(room);
    const struct dirent *e;
    DIR *d = NULL;

    if (path == NULL)
        return;
    snprintf(path, room, "%s/" RUNS_DIRECTORY, directory);
    d = opendir(path);
    while (d != NULL && (e = readdir(d)) != NULL) {
        snprintf(path, room, "%s/" RUNS_DIRECTORY "/%s", directory, e->d_name);
        unlink(path);
    }
    if (d != NULL)
        closedir(d);
    snprintf(path, room, "%s/" RUNS_DIRECTORY, directory);
    rmdir(path);
    free(path);
}

/* ---- Copies -------------------------------------------------------------- */

hsy_status store_runs_hold(struct store_sqlite *s, struct store_runs *out)
{
    const struct runs_store *r = s->runs;
    size_t n = 0;

    *out = (struct store_runs){0};
    for (size_t i = 0; i < r->nparts; i++)
        n += r->parts[i].n;
    out->all = malloc((n + 1) * sizeof(struct run *));
    if (out->all == NULL)
        return HSY_E_NOMEM;
    for (size_t i = 0; i < r->nparts; i++)
        for (size_t k = 0; k < r->parts[i].n; k++)
            out->all[out->n++] = run_hold(r->parts[i].all[k]);
    return HSY_OK;
}

static hsy_status runs_copy_bytes(const struct run *r, int fd, uint8_t *piece)
{
    const uint64_t end = run_length(r);

    for (uint64_t at = 0; at < end;) {
        const size_t len =
            end - at < RUNS_PIECE ? (size_t)(end - at) : RUNS_PIECE;
        const hsy_status st = run_bytes(r, at, piece, len);

        if (st != HSY_OK)
            return st;
        for (size_t done = 0; done < len;) {
            const ssize_t n = write(fd, piece + done, len - done);

            if (n == -1 && errno != EINTR)
                return errno == ENOSPC || errno == EDQUOT ? HSY_E_FULL
                                                          : HSY_E_IO;
            done += n > 0 ? (size_t)n : 0;
        }
        at += len;
    }
    return fsync(fd) == 0 ? HSY_OK : HSY_E_IO;
}

static hsy_status runs_copy(const struct run *r, const char *directory,
                            uint8_t *piece)
{
    char file[RUN_FILE], *path;
    hsy_status st;
    int fd;

    run_file(file, run_is(r));
    path = file_path(directory, file);
    if (path == NULL)
        return HSY_E_NOMEM;
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    free(path);
    if (fd == -1)
        return errno == ENOSPC ? HSY_E_FULL : HSY_E_IO;
    st = runs_copy_bytes(r, fd, piece);
    close(fd);
    return st;
}

/* They are copied and not linked: what damages the one would damage both. */
static hsy_status runs_copy_all(const struct store_runs *runs,
                                const char *directory)
{
    uint8_t *piece = malloc(RUNS_PIECE);
    hsy_status st = piece == NULL ? HSY_E_NOMEM : HSY_OK;

    if (st == HSY_OK && mkdir(directory, 0700) == -1)
        st = errno == ENOSPC ? HSY_E_FULL : HSY_E_IO;
    for (size_t i = 0; st == HSY_OK && i < runs->n; i++)
        st = runs_copy(runs->all[i], directory, piece);
    free(piece);
    if (st != HSY_OK)
        return st;
    return store_sync(directory) ? HSY_OK : HSY_E_IO;
}

hsy_status store_runs_copy(const struct store_runs *runs, const char *directory,
                           hsy_error *err)
{
    char *path;
    hsy_status st;

    if (runs->n == 0)
        return HSY_OK;
    path = file_path(directory, RUNS_DIRECTORY);
    st = path != NULL ? runs_copy_all(runs, path) : HSY_E_NOMEM;
    free(path);
    return st == HSY_OK
               ? HSY_OK
               : host_fail(err, st, HOST_FIELD_BACKUP,
                           st == HSY_E_FULL    ? "the disk is full"
                           : st == HSY_E_NOMEM ? "out of memory"
                                               : "the copy cannot be written");
}
