/*
 * store_runs_over.c - runs of closed epochs and rows that are in runs are
 * erased, a little at a time. store_runs.c has the argument.
 */
#include "server/store/store_runs.h"

#include "host/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define OVER_ROWS 1024u                /* rows erased in a transaction, */
#define OVER_BYTES ((size_t)256 << 10) /* of so many bytes */
#define OVER_MANY 4u                   /* times what is worth a run */
#define OVER_RUNS 64u                  /* runs removed at a time */

/* ---- What is over -------------------------------------------------------- */

static int over_erase_runs(struct store_sqlite *s, struct sql *q,
                           const void *what)
{
    const size_t n = *(const size_t *)what;
    int rc = SQLITE_OK;

    for (size_t i = 0; rc == SQLITE_OK && i < n; i++)
        rc = store_erase_run(s, q, s->runs->over[i].number);
    return rc;
}

/* The runs of a half that is closed; false: out of memory, later. */
static bool over_leave(struct runs_store *r, const struct runs_half *p)
{
    if (!grow_to(&r->over, r->nover + p->n + 1, sizeof *r->over))
        return false;
    for (size_t k = 0; k < p->n; k++) {
        r->over[r->nover++] = *run_is(p->all[k]);
        store_runs_leave(r, p->all[k]);
    }
    free(p->all);
    return true;
}

static void over_find(struct runs_store *r, uint64_t closed)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->nparts; i++)
        if (runs_epoch(r->parts[i].half) > closed ||
            !over_leave(r, &r->parts[i]))
            r->parts[kept++] = r->parts[i];
    r->nparts = kept;
}

static hsy_status over_erase(struct store_sqlite *s, hsy_error *err)
{
    struct runs_store *r = s->runs;
    const uint64_t closed = atomic_load(&r->closed);
    size_t n;
    hsy_status st;

    store_runs_abandon_closed(s, closed);
    over_find(r, closed);
    n = r->nover < OVER_RUNS ? r->nover : OVER_RUNS;
    if (n == 0)
        return HSY_OK;
    sql_sync(&s->flip, false); /* closed is closed, whatever is left */
    st = store_write(s, &s->flip, over_erase_runs, &n, err);
    if (st == HSY_E_FULL || st == HSY_E_NOMEM) {
        r->stuck = true;
        return HSY_OK; /* later */
    }
    if (st != HSY_OK)
        return st;
    for (size_t i = 0; i < n; i++)
        store_runs_unlink(s, &r->over[i]);
    r->nover -= n;
    memmove(r->over, r->over + n, r->nover * sizeof *r->over);
    return HSY_OK;
}

/* ---- Rows that are in runs ----------------------------------------------- */

static int over_erase_rows(struct store_sqlite *s, struct sql *q,
                           const void *what)
{
    struct runs_half *p = store_runs_part(s->runs, *(const uint64_t *)what);
    struct sql_value span[] = {SQL_N(runs_begin(p->half)), SQL_N(0)};
    const int rc = store_ids_some(q, span[0].number, p->through, OVER_ROWS,
                                  OVER_BYTES, &span[1].number);

    if (rc != SQLITE_OK)
        return rc;
    p->waste = span[1].number != 0;
    return p->waste ? store_erase_ids(s, q, span) : SQLITE_OK;
}

/* Some rows of one half. */
static hsy_status over_waste(struct store_sqlite *s, bool *more, hsy_error *err)
{
    struct runs_store *r = s->runs;
    hsy_status st;
    size_t i = 0;

    while (i < r->nparts && !r->parts[i].waste)
        i++;
    if (i == r->nparts)
        return HSY_OK;
    sql_sync(&s->flip, false);
    st = store_write(s, &s->flip, over_erase_rows, &r->parts[i].half, err);
    if (st == HSY_E_FULL || st == HSY_E_NOMEM)
        return HSY_OK; /* later */
    *more = true;
    if (r->parts[i].waste)
        atomic_store(&s->erased, true);
    return st;
}

/* Memory of ids that who appends does not know of. */
static uint64_t over_making(const struct runs_store *r)
{
    uint64_t bytes = store_runs_job_bytes(r);

    for (size_t i = 0; i < r->ngone; i++)
        if (run_alone(r->gone[i]))
            bytes += run_memory(r->gone[i]);
    return bytes;
}

hsy_status store_runs_step(struct store_sqlite *s, bool quiet, bool *more,
                           hsy_error *err)
{
    struct runs_store *r = s->runs;
    bool work = false;
    hsy_status st;

    r->stuck &= !quiet;
    store_runs_let_go(r);
    store_runs_take_seals(s);
    st = over_erase(s, err);
    if (st == HSY_OK)
        st = over_waste(s, more, err);
    if (st == HSY_OK && !r->stuck)
        st = store_runs_work(s, &work, err);
    *more |= !r->stuck && (work || r->nover != 0);
    atomic_store(&r->making, over_making(r));
    return st;
}

/* ---- Many rows ----------------------------------------------------------- */

/* Seal the halves that have far more rows than a collector leaves behind: an
 * archive was read, or an older program was here. */
static int over_many(struct store_sqlite *s, bool *any)
{
    const uint64_t closed = atomic_load(&s->runs->closed);
    int rc;
    sqlite3_stmt *st = sql_start(&s->append, SQL_HALVES_OF_IDS,
                                 &SQL_N(((closed + 1) << 32) - 1), 1, &rc);

    if (st == NULL)
        return rc;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        const uint64_t half = (uint64_t)sqlite3_column_int64(st, 0);
        const uint64_t last = (uint64_t)sqlite3_column_int64(st, 1);
        const uint64_t n =
            (uint64_t)sqlite3_column_int64(st, 2) / sizeof(struct store_id);
        struct runs_half *p;

        if (n < OVER_MANY * s->runs->ids_at)
            continue;
        p = store_runs_part(s->runs, half);
        if (p == NULL) {
            rc = SQLITE_NOMEM;
            break;
        }
        p->sealed = last;
        *any = true;
    }
    sqlite3_reset(st);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

hsy_status store_runs_convert(struct store_sqlite *s, hsy_error *err)
{
    bool any = false, more = true;
    const int rc = over_many(s, &any);
    hsy_status st = HSY_OK;

    if (rc != SQLITE_OK)
        return store_fail(s, &s->append, rc, err);
    pthread_mutex_lock(&s->cutting);
    while (st == HSY_OK && any && more) {
        more = false;
        st = store_runs_step(s, false, &more, err);
        if (st == HSY_OK)
            st = store_bound_log(s, &s->flip, err);
    }
    for (size_t i = 0; i < s->runs->nparts; i++) /* there was no room */
        s->runs->parts[i].sealed = s->runs->parts[i].through;
    pthread_mutex_unlock(&s->cutting);
    return st;
}
