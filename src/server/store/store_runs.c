/*
 * store_runs.c - which runs there are, and why no id falls between the table
 * and a run, whatever is killed.
 *
 * An id that was acknowledged is in a row of the table ids. It is read back
 * from there until a row of the table runs covers it: until the place of its
 * row is at most `through` of a run of its half.
 *
 *   1. The thread that appends seals an epoch: rows up to the last place it has
 *      given away are never joined, moved or written again (floor), and later
 *      rows get later places, also when those are erased. Nothing is written.
 *   2. A run is made of all rows of the half beyond the last `through` up to a
 *      place that is sealed. They do not change meanwhile. The file is written
 *      and synced with its name. A kill before 3 leaves a file without a row,
 *      which is removed when the store is opened.
 *   3. One transaction puts the row into the table runs, and is durable when it
 *      returns. Before it the rows are read back, after it the run is, and the
 *      rows are not: each id is in one of the two.
 *   4. Only now it is posted, and who appends lets go of what it has in memory.
 *   5. The rows that are covered are erased, a few at a time. A kill leaves
 *      some, which are not read back.
 *
 * Runs are merged in the same way: the new file is durable before the one
 * transaction that puts its row in the place of the old ones; these are removed
 * after it. A row without its file, or with another one, is damage: then the
 * store does not open. Whose epoch is closed needs no file.
 */
#define _GNU_SOURCE /* O_DIRECTORY */

#include "server/store/store_runs.h"

#include "host/base/files.h"
#include "host/base/grow.h"
#include "host/base/host_fail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUNS_AT ((uint64_t)1 << 20) /* ids that are worth a run */

/* ---- The directory ------------------------------------------------------- */

bool store_runs_new(struct store_sqlite *s)
{
    struct runs_store *r = calloc(1, sizeof *r);

    if (r == NULL)
        return false;
    r->dir = -1;
    r->next = 1;
    r->ids_at = RUNS_AT;
    pthread_mutex_init(&r->posting, NULL);
    s->runs = r;
    return true;
}

void store_runs_clear(struct store_runs *runs)
{
    for (size_t i = 0; i < runs->n; i++)
        run_drop(runs->all[i]);
    free(runs->all);
    *runs = (struct store_runs){0};
}

void store_runs_half_clear(struct runs_half *p)
{
    for (size_t i = 0; i < p->n; i++)
        run_drop(p->all[i]);
    free(p->all);
    *p = (struct runs_half){.half = p->half};
}

void store_runs_free(struct store_sqlite *s)
{
    struct runs_store *r = s->runs;

    if (r == NULL)
        return;
    store_runs_abandon(s);
    for (size_t i = 0; i < r->ngone; i++)
        run_drop(r->gone[i]);
    free(r->gone);
    for (size_t i = 0; i < r->nparts; i++)
        store_runs_half_clear(&r->parts[i]);
    for (size_t i = 0; i < r->nnews; i++)
        store_runs_clear(&r->news[i].is);
    free(r->parts);
    free(r->news);
    free(r->halves);
    free(r->sealed);
    free(r->over);
    free(r->path);
    if (r->dir != -1)
        close(r->dir);
    pthread_mutex_destroy(&r->posting);
    free(r);
    s->runs = NULL;
}

bool store_runs_enter(struct store_sqlite *s, bool make)
{
    struct runs_store *r = s->runs;

    if (r->dir != -1)
        return true;
    if (r->path == NULL)
        r->path = file_path(s->path, RUNS_DIRECTORY);
    if (r->path == NULL)
        return false;
    if (make)
        (void)mkdir(r->path, 0700); /* it may be there */
    r->dir = open(r->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return r->dir != -1;
}

void store_runs_unlink(struct store_sqlite *s, const struct run_is *is)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    char file[RUN_FILE], *path;

    run_file(file, is);
    path = file_path(s->runs->path, file);
    if (path != NULL) /* else it is removed when the store is opened */
        vfs->xDelete(vfs, path, 0);
    free(path);
}

void store_runs_leave(struct runs_store *r, struct run *run)
{
    if (grow_to(&r->gone, r->ngone + 1, sizeof(struct run *)))
        r->gone[r->ngone++] = run;
    else
        run_drop(run);
}

void store_runs_let_go(struct runs_store *r)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->ngone; i++) {
        if (run_alone(r->gone[i]))
            run_drop(r->gone[i]);
        else
            r->gone[kept++] = r->gone[i];
    }
    r->ngone = kept;
}

/* ---- Halves -------------------------------------------------------------- */

struct runs_half *store_runs_part(struct runs_store *r, uint64_t half)
{
    for (size_t i = r->nparts; i-- > 0;)
        if (r->parts[i].half == half)
            return &r->parts[i];
    if (!grow_to(&r->parts, r->nparts + 1, sizeof *r->parts))
        return NULL;
    r->parts[r->nparts] =
        (struct runs_half){.half = half, .through = runs_begin(half)};
    return &r->parts[r->nparts++];
}

static struct store_half *runs_known(const struct runs_store *r, uint64_t half)
{
    for (size_t i = r->nhalves; i-- > 0;)
        if (r->halves[i].half == half)
            return &r->halves[i];
    return NULL;
}

/* The last place of a half in the table. */
static int runs_last(struct sql *q, uint64_t half, uint64_t *last)
{
    const uint64_t begin = runs_begin(half);
    uint64_t place = 0; /* and 0 if there is none */
    const int rc =
        sql_numbers(q, SQL_LAST_IDS, &SQL_N(begin + STORE_NULLS), 1, &place, 1);

    *last = place > begin ? place : begin;
    return rc;
}

/* A half as the table has it; nothing of it is in a run, or floor says so. */
static int runs_learn(struct runs_store *r, struct sql *q, uint64_t half,
                      uint64_t floor, struct store_half **out)
{
    struct store_half *h = runs_known(r, half);
    uint64_t last;
    int rc;

    *out = h;
    if (h != NULL)
        return SQLITE_OK;
    rc = runs_last(q, half, &last);
    if (rc != SQLITE_OK)
        return rc;
    if (!grow_to(&r->halves, r->nhalves + 1, sizeof *r->halves))
        return SQLITE_NOMEM;
    r->halves[r->nhalves] = (struct store_half){
        .half = half, .last = last > floor ? last : floor, .floor = floor};
    *out = &r->halves[r->nhalves++];
    return SQLITE_OK;
}

int store_runs_place(struct store_sqlite *s, struct sql *q, uint64_t half,
                     uint64_t *place)
{
    struct store_half *h;
    const int rc = runs_learn(s->runs, q, half, 0, &h);

    if (rc == SQLITE_OK)
        *place = ++h->last;
    return rc;
}

uint64_t store_runs_floor(const struct store_sqlite *s, uint64_t place)
{
    const struct store_half *h = runs_known(s->runs, runs_half_of(place));

    return h == NULL ? 0 : h->floor;
}

uint64_t store_runs_through(const struct store_sqlite *s, uint64_t half,
                            uint64_t begin)
{
    const struct runs_store *r = s->runs;

    for (size_t i = r->nparts; i-- > 0;)
        if (r->parts[i].half == half && r->parts[i].through > begin)
            return r->parts[i].through;
    return begin;
}

/* ---- Between the threads ------------------------------------------------- */

hsy_status store_seal(struct store *is, uint32_t epoch, hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    struct runs_store *r = s->runs;
    struct runs_seal seal = {.epoch = epoch, .number = r->seals + 1};
    struct store_half *h[2];
    int rc = SQLITE_OK;
    bool room;

    for (uint64_t i = 0; rc == SQLITE_OK && i < 2; i++)
        rc = runs_learn(r, &s->append, 2 * (uint64_t)epoch + i, 0, &h[i]);
    if (rc != SQLITE_OK)
        return store_fail(s, &s->append, rc, err);
    pthread_mutex_lock(&r->posting);
    room = grow_to(&r->sealed, r->nsealed + 1, sizeof *r->sealed);
    if (room) {
        /* The first may have moved when the second was learned. */
        for (uint64_t i = 0; i < 2; i++) {
            h[i] = runs_known(r, 2 * (uint64_t)epoch + i);
            seal.at[i] = h[i]->floor = h[i]->last;
            h[i]->seal = seal.number;
        }
        r->seals = seal.number;
        r->sealed[r->nsealed++] = seal;
    }
    pthread_mutex_unlock(&r->posting);
    return room ? HSY_OK : host_nomem(err);
}

/* By the one that makes runs; false: out of memory, and they stay. */
bool store_runs_take_seals(struct store_sqlite *s)
{
    struct runs_store *r = s->runs;
    bool good = true;

    pthread_mutex_lock(&r->posting);
    while (good && r->nsealed != 0) {
        const struct runs_seal *seal = &r->sealed[r->nsealed - 1];

        for (uint64_t i = 0; good && i < 2; i++) {
            struct runs_half *p =
                store_runs_part(r, 2 * (uint64_t)seal->epoch + i);

            good = p != NULL;
            if (good && seal->number > p->seal) {
                p->sealed = seal->at[i];
                p->seal = seal->number;
            }
        }
        r->nsealed -= good;
    }
    pthread_mutex_unlock(&r->posting);
    return good;
}

/* All runs of an epoch, held; false: out of memory. */
bool store_runs_of(const struct runs_store *r, uint32_t epoch,
                   struct store_runs *out)
{
    size_t n = 0;

    *out = (struct store_runs){.epoch = epoch};
    for (size_t i = 0; i < r->nparts; i++)
        n += runs_epoch(r->parts[i].half) == epoch ? r->parts[i].n : 0;
    out->all = malloc((n + 1) * sizeof(struct run *));
    if (out->all == NULL)
        return false;
    for (size_t i = 0; i < r->nparts; i++)
        if (runs_epoch(r->parts[i].half) == epoch)
            for (size_t k = 0; k < r->parts[i].n; k++)
                out->all[out->n++] = run_hold(r->parts[i].all[k]);
    return true;
}

/* The number of the last seal, all of which is in runs. */
uint64_t store_runs_done(struct runs_store *r, uint32_t epoch)
{
    uint64_t seal = 0;

    for (uint64_t i = 0; i < 2; i++) {
        const struct runs_half *p = store_runs_part(r, 2 * (uint64_t)epoch + i);

        if (p == NULL || p->sealed > p->through)
            return 0;
        seal = p->seal;
    }
    return seal;
}

/* What was posted before and not taken is replaced. Without memory for it who
 * appends keeps what it has, until it is posted again. */
void store_runs_post(struct store_sqlite *s, uint32_t epoch)
{
    struct runs_store *r = s->runs;
    struct runs_news news = {.seal = store_runs_done(r, epoch)}, *more;
    size_t i = 0;

    if (!store_runs_of(r, epoch, &news.is))
        return;
    pthread_mutex_lock(&r->posting);
    while (i < r->nnews && r->news[i].is.epoch != epoch)
        i++;
    more = i < r->nnews ? r->news
                        : realloc(r->news, (r->nnews + 1) * sizeof *more);
    if (more != NULL) {
        r->news = more;
        if (i < r->nnews)
            store_runs_clear(&more[i].is);
        r->nnews += i == r->nnews;
        more[i] = news;
        atomic_store(&r->any, true);
    }
    pthread_mutex_unlock(&r->posting);
    if (more == NULL)
        store_runs_clear(&news.is);
}

bool store_new_runs(struct store *is, struct store_runs *out)
{
    struct runs_store *r = ((struct store_sqlite *)is)->runs;
    const struct store_half *h;
    struct runs_news news;
    bool any;

    if (!atomic_load(&r->any))
        return false;
    pthread_mutex_lock(&r->posting);
    any = r->nnews != 0;
    if (any)
        news = r->news[--r->nnews];
    atomic_store(&r->any, r->nnews != 0);
    pthread_mutex_unlock(&r->posting);
    if (!any)
        return false;
    h = runs_known(r, 2 * (uint64_t)news.is.epoch);
    *out = news.is;
    out->sealed = h != NULL && h->seal != 0 && h->seal == news.seal;
    return true;
}

uint64_t store_making(const struct store *is)
{
    return atomic_load(&((const struct store_sqlite *)is)->runs->making);
}

/* ---- Opening ------------------------------------------------------------- */

struct runs_reading {
    struct store_sqlite *s;
    hsy_error *err;
    hsy_status st; /* with its reason in err */
};

static bool runs_over(struct runs_store *r, const struct run_is *is)
{
    if (!grow_to(&r->over, r->nover + 1, sizeof *r->over))
        return false;
    r->over[r->nover++] = *is;
    return true;
}

static hsy_status runs_nomem(struct runs_reading *t)
{
    return t->st = host_nomem(t->err);
}

static hsy_status runs_add(struct runs_reading *t, const struct run_is *is,
                           uint64_t through)
{
    struct runs_half *p =
        store_runs_part(t->s->runs, 2 * (uint64_t)is->epoch + is->null);

    if (p == NULL || !grow_to(&p->all, p->n + 1, sizeof(struct run *)))
        return runs_nomem(t);
    p->through = through > p->through ? through : p->through;
    p->sealed = p->through;
    p->waste = true;
    if (t->s->runs->dir == -1)
        return t->st = host_fail(t->err, HSY_E_DAMAGED, HOST_FIELD_RUNS,
                                 "the directory is missing");
    t->st = run_open(&p->all[p->n], t->s->runs->dir, is, t->err);
    p->n += t->st == HSY_OK;
    return t->st;
}

static hsy_status runs_take(void *ctx, const struct sql_value *row)
{
    struct runs_reading *t = ctx;
    struct runs_store *r = t->s->runs;
    struct run_is is = {.number = row[0].number,
                        .epoch = (uint32_t)row[1].number,
                        .null = row[2].number != 0,
                        .count = row[3].number,
                        .check = (uint32_t)row[5].number};

    memcpy(is.name, t->s->name, RUN_NAME);
    if (is.number >= r->next)
        r->next = is.number + 1;
    if (is.epoch <= t->s->state.closed)
        return runs_over(r, &is) ? HSY_OK : runs_nomem(t);
    return runs_add(t, &is, row[4].number);
}

/* Whether a row names this file. */
static bool runs_named(const struct runs_store *r, const char *file)
{
    char name[RUN_FILE];

    for (size_t i = 0; i < r->nover; i++) {
        run_file(name, &r->over[i]);
        if (strcmp(name, file) == 0)
            return true;
    }
    for (size_t i = 0; i < r->nparts; i++)
        for (size_t k = 0; k < r->parts[i].n; k++) {
            run_file(name, run_is(r->parts[i].all[k]));
            if (strcmp(name, file) == 0)
                return true;
        }
    return false;
}

/* What a file is called, if that is how a run is called. */
static bool runs_parse(struct run_is *is, const char *file)
{
    char name[RUN_FILE];
    unsigned null;

    *is = (struct run_is){0};
    if (sscanf(file, "%" SCNu32 ".%1u.%" SCNu64, &is->epoch, &null,
               &is->number) != 3 ||
        is->number >= INT64_MAX)
        return false;
    is->null = null != 0;
    run_file(name, is);
    return strcmp(name, file) == 0;
}

/* Remove what no row names, and never use its number again. */
static void runs_orphans(struct store_sqlite *s)
{
    struct runs_store *r = s->runs;
    const int fd = dup(r->dir);
    DIR *d = fd == -1 ? NULL : fdopendir(fd);
    const struct dirent *e;

    if (d == NULL && fd != -1)
        close(fd);
    while (d != NULL && (e = readdir(d)) != NULL) {
        struct run_is is;

        if (!runs_parse(&is, e->d_name))
            continue; /* somebody else's */
        if (is.number >= r->next)
            r->next = is.number + 1;
        if (!runs_named(r, e->d_name))
            store_runs_unlink(s, &is);
    }
    if (d != NULL)
        closedir(d);
}

static hsy_status runs_learn_all(struct store_sqlite *s, hsy_error *err)
{
    const struct runs_store *r = s->runs;
    struct store_half *h;
    int rc = SQLITE_OK;

    for (size_t i = 0; rc == SQLITE_OK && i < r->nparts; i++)
        rc = runs_learn(s->runs, &s->append, r->parts[i].half,
                        r->parts[i].through, &h);
    return rc == SQLITE_OK ? HSY_OK : store_fail(s, &s->append, rc, err);
}

hsy_status store_runs_open(struct store_sqlite *s, bool look, hsy_error *err)
{
    struct runs_reading t = {.s = s, .err = err};
    hsy_status st;
    int rc;

    if (!store_runs_enter(s, false) && errno != ENOENT)
        return host_fail(err, HSY_E_IO, HOST_FIELD_RUNS, "it cannot be opened");
    atomic_store(&s->runs->closed, s->state.closed);
    st = sql_rows(&s->append, SQL_GET_RUNS, NULL, 0, runs_take, &t, &rc);
    if (t.st != HSY_OK) {
        if (t.st != HSY_E_NOMEM)
            atomic_store(&s->dead, t.st);
        return t.st;
    }
    if (st == HSY_E_DAMAGED)
        return store_damaged(s, "runs", err);
    if (rc != SQLITE_OK)
        return store_fail(s, &s->append, rc, err);
    if (look)
        return HSY_OK;
    if (s->runs->dir != -1)
        runs_orphans(s);
    st = store_runs_convert(s, err);
    return st == HSY_OK ? runs_learn_all(s, err) : st;
}

void store_runs_closed(struct store_sqlite *s, uint32_t closed)
{
    struct runs_store *r = s->runs;
    size_t kept = 0;

    for (size_t i = 0; i < r->nhalves; i++)
        if (runs_epoch(r->halves[i].half) > closed)
            r->halves[kept++] = r->halves[i];
    r->nhalves = kept;
    atomic_store(&r->closed, closed);
}
