/*
 * store_runs_make.c - runs are made of rows, and of runs, by the thread that
 * writes tallies, a little at a time. store_runs.c has the argument.
 *
 * Runs of a half are merged when one is at most three times as large as all
 * smaller ones together. So there are about log4 of them, and an id is written
 * again about four times for each fourfold growth.
 */
#include "server/store/store_runs.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "server/store/runs_parts.h"

#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MAKE_STEP 65536u              /* ids read or written at a time */
#define MAKE_MOST ((size_t)1 << 21)   /* ids of a run that is made of rows */
#define MAKE_SYNC ((uint64_t)1 << 19) /* ids before a sync */
#define MAKE_FROM 32u                 /* runs merged at a time */
#define MAKE_RATIO 3u                 /* see above */

/* A run that is being merged. */
struct runs_cursor {
    struct run *run; /* held */
    uint64_t page;   /* the next */
    struct store_id ids[RUN_IDS];
    size_t n, at;
};

struct runs_job {
    uint64_t half, through;
    struct run_is is;
    struct run_writer *w; /* NULL: rows are still read */
    uint64_t written, synced;
    bool tried; /* its row may be durable, whatever was said */

    struct store_id *ids; /* of rows */
    size_t n, room;
    uint64_t at; /* the last place that was read */

    struct runs_cursor *from; /* of runs */
    size_t nfrom;
    struct store_id last; /* of them that was written */
};

static void runs_make_free(struct runs_job *j)
{
    for (size_t i = 0; i < j->nfrom; i++)
        run_drop(j->from[i].run);
    run_write_close(j->w);
    free(j->from);
    free(j->ids);
    free(j);
}

uint64_t store_runs_job_bytes(const struct runs_store *r)
{
    const struct runs_job *j = r->job;

    if (j == NULL)
        return 0;
    return sizeof *j + j->n * sizeof *j->ids + j->nfrom * sizeof *j->from +
           (j->w == NULL ? 0 : run_write_memory(j->w));
}

/* A job comes to nothing; its file goes. */
void store_runs_abandon(struct store_sqlite *s)
{
    struct runs_job *j = s->runs->job;

    s->runs->job = NULL;
    if (j == NULL)
        return;
    /* A transaction that failed at its end may be found when the log is read
     * again after a kill: then its file must be there. It is removed when the
     * store is opened, if no row names it. */
    if (j->w != NULL && !j->tried)
        store_runs_unlink(s, &j->is);
    runs_make_free(j);
}

void store_runs_abandon_closed(struct store_sqlite *s, uint64_t closed)
{
    if (s->runs->job != NULL && runs_epoch(s->runs->job->half) <= closed)
        store_runs_abandon(s);
}

/* No room, no memory, another program: later. All else is for good. */
static hsy_status runs_make_later(struct store_sqlite *s, hsy_status st)
{
    const bool later =
        st == HSY_E_FULL || st == HSY_E_NOMEM || st == HSY_E_BUSY;

    if (st == HSY_OK)
        return st;
    if (later) {
        store_runs_abandon(s);
        s->runs->stuck = true;
        return HSY_OK;
    }
    /* Nobody knows whether its row is durable: the file stays. */
    if (s->runs->job != NULL)
        runs_make_free(s->runs->job);
    s->runs->job = NULL;
    return st;
}

static hsy_status runs_make_why(struct store_sqlite *s, int rc, hsy_error *err)
{
    switch (rc & 0xff) {
    case SQLITE_OK:
        return HSY_OK;
    case SQLITE_FULL:
        return HSY_E_FULL;
    case SQLITE_NOMEM:
        return HSY_E_NOMEM;
    default:
        return store_fail(s, &s->flip, rc, err);
    }
}

/* A run could not be read. */
static hsy_status runs_make_unread(struct store_sqlite *s, hsy_status st,
                                   hsy_error *err)
{
    if (st == HSY_E_DAMAGED)
        return store_damaged(s, "runs", err);
    if (st == HSY_E_IO)
        atomic_store(&s->dead, HSY_E_IO);
    return host_fail(err, st, HOST_FIELD_RUNS, "a file of ids cannot be read");
}

/* ---- The file ------------------------------------------------------------ */

/* Whether a file of so many ids leaves the disk some room. */
static bool runs_make_fits(const struct store_sqlite *s, uint64_t count)
{
    struct statvfs fs;

    return fstatvfs(s->dir, &fs) == -1 ||
           (uint64_t)fs.f_bavail * fs.f_frsize >
               run_length_of(count) + 2 * (uint64_t)s->reserve_bytes;
}

static hsy_status runs_make_begin(struct store_sqlite *s, struct runs_job *j,
                                  uint64_t count, hsy_error *err)
{
    int rc;

    j->is = (struct run_is){.number = s->runs->next++,
                            .epoch = runs_epoch(j->half),
                            .null = (j->half & 1) != 0,
                            .count = count};
    memcpy(j->is.name, s->name, RUN_NAME);
    if (!store_runs_enter(s, true) || !runs_make_fits(s, count))
        return HSY_E_FULL;
    rc = run_write_begin(&j->w, s->runs->path, &j->is);
    return runs_make_why(s, rc, err);
}

static hsy_status runs_make_add(struct store_sqlite *s, struct runs_job *j,
                                const struct store_id *ids, size_t n,
                                hsy_error *err)
{
    int rc = run_write_add(j->w, ids, n);

    j->written += n;
    if (rc == SQLITE_OK && j->written - j->synced >= MAKE_SYNC) {
        rc = run_write_sync(j->w);
        j->synced = j->written;
    }
    return runs_make_why(s, rc, err);
}

/* The row of a run, in the place of those it was merged of. */
static int runs_make_flip(struct store_sqlite *s, struct sql *q,
                          const void *what)
{
    const struct runs_job *j = what;
    const struct sql_value row[] = {SQL_N(j->is.number), SQL_N(j->is.epoch),
                                    SQL_N(j->is.null),   SQL_N(j->is.count),
                                    SQL_N(j->through),   SQL_N(j->is.check)};
    int rc = store_put_kept(s, q, STORE_RUNS, SQL_PUT_RUN, row, 6);

    for (size_t i = 0; rc == SQLITE_OK && i < j->nfrom; i++)
        rc = store_erase_run(s, q, run_is(j->from[i].run)->number);
    return rc;
}

static bool runs_make_merged(const struct runs_job *j, const struct run *run)
{
    for (size_t i = 0; i < j->nfrom; i++)
        if (j->from[i].run == run)
            return true;
    return false;
}

/* The flip is durable: the run is in force. p->all has room for it. */
static void runs_make_stands(struct store_sqlite *s, struct runs_half *p,
                             struct runs_job *j, struct run *run)
{
    const uint32_t epoch = runs_epoch(p->half);
    size_t kept = 0;

    for (size_t i = 0; i < p->n; i++) {
        if (runs_make_merged(j, p->all[i]))
            store_runs_leave(s->runs, p->all[i]);
        else
            p->all[kept++] = p->all[i];
    }
    p->all[kept++] = run;
    p->n = kept;
    if (j->nfrom == 0) {
        p->through = j->through;
        p->waste = true;
    }
    for (size_t i = 0; i < j->nfrom; i++)
        store_runs_unlink(s, run_is(j->from[i].run));
    s->runs->job = NULL;
    /* Half of what was sealed is no news: it is in memory all the same. */
    if (j->nfrom != 0 || store_runs_done(s->runs, epoch) != 0)
        store_runs_post(s, epoch);
    runs_make_free(j);
}

/* The names: SQLite does not look whether that went well. */
static int runs_make_named(struct store_sqlite *s)
{
    struct runs_store *r = s->runs;

    if (fsync(r->dir) == -1 || (!r->rooted && fsync(s->dir) == -1))
        return SQLITE_IOERR;
    r->rooted = true;
    return SQLITE_OK;
}

static hsy_status runs_make_finish(struct store_sqlite *s, struct runs_job *j,
                                   hsy_error *err)
{
    struct runs_half *p = store_runs_part(s->runs, j->half);
    struct run_filter filter;
    struct run *run = NULL;
    hsy_status st;

    if (p == NULL || !grow_to(&p->all, p->n + 1, sizeof(struct run *)))
        return HSY_E_NOMEM;
    st = runs_make_why(s, run_write_end(j->w, &j->is), err);
    if (st != HSY_OK)
        return st;
    run_write_take(j->w, &filter);
    st = run_adopt(&run, s->runs->dir, &j->is, &filter, err);
    if (st == HSY_OK)
        st = runs_make_why(s, runs_make_named(s), err);
    if (st == HSY_OK)
        st = runs_make_why(s, sql_sync(&s->flip, true), err);
    if (st == HSY_OK) {
        j->tried = true;
        st = store_write(s, &s->flip, runs_make_flip, j, err);
    }
    sql_sync(&s->flip, false);
    if (st == HSY_OK)
        runs_make_stands(s, p, j, run);
    else
        run_drop(run);
    return st;
}

/* Its filter, a piece at a time; then the row. */
static hsy_status runs_make_end(struct store_sqlite *s, struct runs_job *j,
                                hsy_error *err)
{
    bool more = false;
    int rc = run_write_rest(j->w, &more);

    if (rc == SQLITE_OK && more)
        rc = run_write_sync(j->w);
    if (rc != SQLITE_OK || more)
        return runs_make_why(s, rc, err);
    return runs_make_finish(s, j, err);
}

/* ---- Of rows ------------------------------------------------------------- */

/* What sql_each says to end a reading: neither is an error here. */
#define MAKE_ENOUGH HSY_E_FULL
#define MAKE_BEYOND HSY_E_EMPTY

struct make_reading {
    struct runs_job *job;
    uint64_t sealed;
    size_t begun; /* ids that were there */
};

static hsy_status runs_make_row(void *ctx, const struct sql_value *row)
{
    const struct make_reading *t = ctx;
    struct runs_job *j = t->job;
    const size_t n = row[1].len / sizeof *j->ids;

    if (row[0].number > t->sealed)
        return MAKE_BEYOND;
    if (n == 0 || row[1].len % sizeof *j->ids != 0)
        return HSY_E_DAMAGED;
    if (j->n + n > j->room) {
        const size_t room = 2 * (j->n + n) + 1024;

        if (!grow_to(&j->ids, room, sizeof *j->ids))
            return HSY_E_NOMEM;
        j->room = room;
    }
    memcpy(j->ids + j->n, row[1].bytes, row[1].len);
    j->n += n;
    j->at = row[0].number;
    return j->n - t->begun >= MAKE_STEP ? MAKE_ENOUGH : HSY_OK;
}

/* Some more rows; when there are enough they are put into order. */
static hsy_status runs_make_gather(struct store_sqlite *s, struct runs_job *j,
                                   hsy_error *err)
{
    struct runs_half *p = store_runs_part(s->runs, j->half);
    struct make_reading t = {j, p->sealed, j->n};
    const struct sql_value v[] = {SQL_N(j->at), SQL_N(MAKE_STEP)};
    int rc;
    hsy_status st =
        sql_rows(&s->flip, SQL_GET_IDS, v, 2, runs_make_row, &t, &rc);

    if (st == HSY_E_DAMAGED)
        return store_damaged(s, "ids", err);
    if (rc != SQLITE_OK)
        return runs_make_why(s, rc, err);
    if (st == HSY_E_NOMEM)
        return st;
    if (st == MAKE_ENOUGH && j->n < MAKE_MOST)
        return HSY_OK;
    j->through = st == MAKE_ENOUGH ? j->at : p->sealed;
    if (j->n == 0) { /* nothing is there: as good as a run */
        p->through = p->sealed;
        store_runs_abandon(s);
        if (store_runs_done(s->runs, runs_epoch(p->half)) != 0)
            store_runs_post(s, runs_epoch(p->half));
        return HSY_OK;
    }
    if (!run_sort(j->ids, j->n))
        return HSY_E_NOMEM;
    return runs_make_begin(s, j, j->n, err);
}

static hsy_status runs_make_write(struct store_sqlite *s, struct runs_job *j,
                                  hsy_error *err)
{
    const size_t left = j->n - (size_t)j->written;

    if (left == 0)
        return runs_make_end(s, j, err);
    return runs_make_add(s, j, j->ids + j->written,
                         left < MAKE_STEP ? left : MAKE_STEP, err);
}

/* ---- Of runs ------------------------------------------------------------- */

static hsy_status runs_make_refill(struct runs_cursor *c)
{
    c->at = c->n = 0;
    return c->page == run_pages(c->run)
               ? HSY_OK
               : run_page(c->run, c->page++, c->ids, &c->n);
}

/* The one with the least id; NULL: there is none left. */
static struct runs_cursor *runs_make_least(struct runs_job *j)
{
    struct runs_cursor *least = NULL;

    for (size_t i = 0; i < j->nfrom; i++) {
        struct runs_cursor *c = &j->from[i];

        if (c->at < c->n &&
            (least == NULL || memcmp(&c->ids[c->at], &least->ids[least->at],
                                     sizeof *c->ids) < 0))
            least = c;
    }
    return least;
}

static hsy_status runs_make_merge(struct store_sqlite *s, struct runs_job *j,
                                  hsy_error *err)
{
    struct runs_cursor *c = NULL;
    hsy_status st = HSY_OK;

    for (size_t i = 0; st == HSY_OK && i < MAKE_STEP; i++) {
        c = runs_make_least(j);
        if (c == NULL)
            return runs_make_end(s, j, err);
        if (memcmp(&j->last, &c->ids[c->at], sizeof j->last) > 0)
            return runs_make_unread(s, HSY_E_DAMAGED, err);
        j->last = c->ids[c->at];
        st = runs_make_add(s, j, &c->ids[c->at++], 1, err);
        if (st == HSY_OK && c->at == c->n) {
            st = runs_make_refill(c);
            if (st != HSY_OK)
                return runs_make_unread(s, st, err);
        }
    }
    return st;
}

static int runs_make_order(const void *a, const void *b)
{
    struct run *x, *y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return run_is(x)->count < run_is(y)->count   ? -1
           : run_is(x)->count > run_is(y)->count ? 1
                                                 : 0;
}

/* How many of a half's smallest runs are to be merged; 0: none. They are put
 * into the order of their size. */
static size_t runs_make_few(struct runs_half *p, uint64_t *count)
{
    uint64_t smaller = 0;
    size_t few = 0;

    if (p->n < 2)
        return 0;
    qsort(p->all, p->n, sizeof(struct run *), runs_make_order);
    for (size_t i = 0; i < p->n && i < MAKE_FROM; i++) {
        const uint64_t n = run_is(p->all[i])->count;

        if (i != 0 && n <= MAKE_RATIO * smaller && smaller + n < UINT32_MAX) {
            few = i + 1;
            *count = smaller + n;
        }
        smaller += n;
    }
    return few;
}

static hsy_status runs_make_choose_runs(struct store_sqlite *s,
                                        struct runs_half *p, size_t few,
                                        uint64_t count, hsy_error *err)
{
    struct runs_job *j = calloc(1, sizeof *j);
    hsy_status st = HSY_OK;

    if (j == NULL)
        return HSY_E_NOMEM;
    s->runs->job = j;
    j->half = p->half;
    j->through = p->through;
    j->from = calloc(few, sizeof *j->from);
    if (j->from == NULL)
        return HSY_E_NOMEM;
    for (; j->nfrom < few; j->nfrom++)
        j->from[j->nfrom].run = run_hold(p->all[j->nfrom]);
    for (size_t i = 0; st == HSY_OK && i < few; i++)
        st = runs_make_refill(&j->from[i]);
    return st == HSY_OK ? runs_make_begin(s, j, count, err)
                        : runs_make_unread(s, st, err);
}

/* ---- What is to be done -------------------------------------------------- */

static hsy_status runs_make_choose_rows(struct store_sqlite *s,
                                        const struct runs_half *p)
{
    struct runs_job *j = calloc(1, sizeof *j);

    if (j == NULL)
        return HSY_E_NOMEM;
    j->half = p->half;
    j->at = p->through;
    s->runs->job = j;
    return HSY_OK;
}

/* What was sealed comes first. */
static hsy_status runs_make_choose(struct store_sqlite *s, hsy_error *err)
{
    struct runs_store *r = s->runs;

    for (size_t i = 0; i < r->nparts; i++)
        if (r->parts[i].sealed > r->parts[i].through)
            return runs_make_choose_rows(s, &r->parts[i]);
    for (size_t i = 0; i < r->nparts; i++) {
        uint64_t count = 0;
        const size_t few = runs_make_few(&r->parts[i], &count);

        if (few != 0)
            return runs_make_choose_runs(s, &r->parts[i], few, count, err);
    }
    return HSY_OK;
}

hsy_status store_runs_work(struct store_sqlite *s, bool *more, hsy_error *err)
{
    struct runs_job *j;
    hsy_status st = s->runs->job == NULL ? runs_make_choose(s, err) : HSY_OK;

    j = s->runs->job;
    *more |= st == HSY_OK && j != NULL;
    if (st == HSY_OK && j != NULL)
        st = j->nfrom != 0  ? runs_make_merge(s, j, err)
             : j->w == NULL ? runs_make_gather(s, j, err)
                            : runs_make_write(s, j, err);
    return runs_make_later(s, st);
}
