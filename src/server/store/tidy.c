/*
 * tidy.c - housekeeping in the record, a little at a time: erasing what
 * is over, joining small rows of ids.
 *
 * What is erased is overwritten in the database (secure_delete), but the log
 * still holds the pages as they were written: store_log.c sees to that.
 */
#include "server/store/store_runs.h"

#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

#define TIDY_SMALL (128u << 10)  /* bytes of a row of ids that may be joined */
#define TIDY_JOINED (256u << 10) /* bytes of a joined row at most */
#define TIDY_RUN 32u             /* rows that are worth it */

/* ---- What is over -------------------------------------------------------- */

int store_ids_some(struct sql *q, uint64_t from, uint64_t through, size_t rows,
                   size_t most, uint64_t *last)
{
    const struct sql_value v[] = {SQL_N(from), SQL_N(rows)};
    size_t bytes = 0;
    int rc;
    sqlite3_stmt *st = sql_start(q, SQL_SMALL_IDS, v, 2, &rc);

    *last = 0;
    if (st == NULL)
        return rc;
    while (bytes < most && (rc = sqlite3_step(st)) == SQLITE_ROW &&
           (uint64_t)sqlite3_column_int64(st, 0) <= through) {
        *last = (uint64_t)sqlite3_column_int64(st, 0);
        bytes += (size_t)sqlite3_column_int64(st, 1);
    }
    sqlite3_reset(st);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int tidy_epochs(struct store_sqlite *s, struct sql *q, const void *what)
{
    const uint64_t closed = *(const uint64_t *)what;
    const struct sql_value quotas[] = {SQL_N(closed), SQL_N(STORE_ERASE_ROWS)};
    uint64_t last;
    int rc = store_ids_some(q, 0, ((closed + 1) << 32) - 1, STORE_ERASE_ROWS,
                            STORE_ERASE_BYTES, &last);

    if (rc == SQLITE_OK && last != 0) {
        const struct sql_value ids[] = {SQL_N(0), SQL_N(last)};

        rc = store_erase_ids(s, q, ids);
    }
    return rc == SQLITE_OK ? sql_run(q, SQL_ERASE_QUOTAS, quotas, 2) : rc;
}

hsy_status store_erase_epochs(struct store_sqlite *s, bool *more,
                              hsy_error *err)
{
    const uint64_t closed = s->state.closed;
    const struct sql_value end = SQL_N((closed + 1) << 32),
                           last = SQL_N(closed);
    int rc = sql_numbers(&s->append, SQL_ANY_OLD_IDS, &end, 1, NULL, 0);
    hsy_status st;

    if (rc == SQLITE_DONE)
        rc = sql_numbers(&s->append, SQL_ANY_QUOTAS, &last, 1, NULL, 0);
    *more = rc == SQLITE_OK;
    if (rc != SQLITE_OK)
        return rc == SQLITE_DONE ? HSY_OK : store_fail(s, &s->append, rc, err);
    st = store_write(s, &s->append, tidy_epochs, &closed, err);
    atomic_store(&s->erased, true);
    return st;
}

struct tidy_batches {
    const struct store_round *rounds;
    size_t n, *at; /* the first that may have some left */
};

bool store_erased_enough(const struct store_erased *e)
{
    return e->n == STORE_ERASE_ROWS || e->bytes >= STORE_ERASE_BYTES;
}

int store_erased_list(struct sql *q, enum sql_id id,
                      const struct sql_value *values, size_t n,
                      struct store_erased *e, struct store_kept *less)
{
    int rc;
    sqlite3_stmt *st = sql_start(q, id, values, n, &rc);

    if (st == NULL)
        return rc;
    while (!store_erased_enough(e) && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        e->numbers[e->n++] = (uint64_t)sqlite3_column_int64(st, 0);
        e->bytes += (size_t)sqlite3_column_int64(st, 1);
        less->rows--;
        less->checks -= (uint64_t)sqlite3_column_int64(st, 2);
    }
    sqlite3_reset(st);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int store_erased_go(struct store_sqlite *s, struct sql *q,
                    const struct store_erased *e)
{
    int rc = SQLITE_OK;

    for (size_t i = 0; rc == SQLITE_OK && i < e->n; i++)
        rc = sql_run(q, SQL_ERASE_BATCH, &SQL_N(e->numbers[i]), 1);
    if (e->n != 0)
        atomic_store(&s->erased, true);
    return rc;
}

/* Some batches, of so many bytes that nobody waits long for it. */
static int tidy_batches(struct store_sqlite *s, struct sql *q, const void *what)
{
    const struct tidy_batches *b = what;
    struct store_erased e = {.n = 0};
    size_t at = *b->at;
    int rc = SQLITE_OK;

    while (rc == SQLITE_OK && at < b->n && !store_erased_enough(&e)) {
        const struct store_round *r = &b->rounds[at];
        const struct sql_value v[] = {SQL_N(r->entry), SQL_N(r->through),
                                      SQL_N(STORE_ERASE_ROWS)};

        rc = store_erased_list(q, SQL_OLD_BATCHES, v, 3, &e,
                               &s->next.kept[STORE_BATCHES]);
        at += !store_erased_enough(&e);
    }
    *b->at = at;
    return rc == SQLITE_OK ? store_erased_go(s, q, &e) : rc;
}

hsy_status store_erase_batches(struct store_sqlite *s, struct sql *q,
                               const struct store_round *rounds, size_t n,
                               hsy_error *err)
{
    size_t at = 0;
    const struct tidy_batches b = {rounds, n, &at};
    hsy_status st = HSY_OK;

    while (st == HSY_OK && at < n) {
        st = store_write(s, q, tidy_batches, &b, err);
        if (st == HSY_OK) /* as much as is erased goes through the log */
            st = store_bound_log(s, q, err);
    }
    return st;
}

/* ---- Ids ----------------------------------------------------------------- */

/* A run of small rows of one epoch: those after `before` up to `last`. */
struct tidy_run {
    uint64_t before, last;
    size_t rows, bytes;
};

/* The next run in a bounded number of rows from s->tidied on, which moves past
 * what is not worth joining. */
static int tidy_find(struct store_sqlite *s, struct tidy_run *run, bool *end)
{
    const struct sql_value v[] = {SQL_N(s->tidied), SQL_N(STORE_ERASE_ROWS)};
    uint64_t seen = 0;
    int rc;
    sqlite3_stmt *st = sql_start(&s->append, SQL_SMALL_IDS, v, 2, &rc);

    *run = (struct tidy_run){.before = s->tidied};
    if (st == NULL)
        return rc;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        const uint64_t place = (uint64_t)sqlite3_column_int64(st, 0);
        const size_t len = (size_t)sqlite3_column_int64(st, 1);
        const bool goes_on = run->rows != 0 &&
                             place / STORE_NULLS == run->last / STORE_NULLS &&
                             run->bytes + len <= TIDY_JOINED;

        seen++;
        if (run->rows >= TIDY_RUN && !goes_on)
            break;
        if (!goes_on)
            *run = (struct tidy_run){.before = place - 1};
        if (len >= TIDY_SMALL || place <= store_runs_floor(s, place)) {
            *run = (struct tidy_run){.before = place};
            continue;
        }
        run->last = place;
        run->rows++;
        run->bytes += len;
    }
    sqlite3_reset(st);
    *end = rc == SQLITE_DONE && seen < STORE_ERASE_ROWS;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

struct tidy_join {
    const struct tidy_run *run;
    uint8_t *bytes;
    size_t used;
    uint64_t first;
};

static hsy_status tidy_gather(void *ctx, const struct sql_value *row)
{
    struct tidy_join *j = ctx;

    if (j->first == 0)
        j->first = row[0].number;
    if (row[1].len > j->run->bytes - j->used)
        return HSY_E_DAMAGED;
    memcpy(j->bytes + j->used, row[1].bytes, row[1].len);
    j->used += row[1].len;
    return HSY_OK;
}

static int tidy_replace(struct store_sqlite *s, struct sql *q, const void *what)
{
    const struct tidy_join *j = what;
    const struct sql_value old[] = {SQL_N(j->run->before), SQL_N(j->run->last)};
    const struct sql_value row[] = {SQL_N(j->first), SQL_B(j->bytes, j->used)};
    const int rc = store_erase_ids(s, q, old);

    return rc == SQLITE_OK
               ? store_put_kept(s, q, STORE_IDS, SQL_PUT_IDS, row, 2)
               : rc;
}

static hsy_status tidy_join(struct store_sqlite *s, const struct tidy_run *run,
                            hsy_error *err)
{
    const struct sql_value v[] = {SQL_N(run->before), SQL_N(run->rows)};
    struct tidy_join j = {.run = run, .bytes = malloc(run->bytes)};
    hsy_status st;

    if (j.bytes == NULL)
        return host_nomem(err);
    st = store_rows(s, &s->append, SQL_GET_IDS, v, 2, tidy_gather, &j, err);
    if (st == HSY_OK) {
        /* That of the commits is gone. */
        qsort(j.bytes, j.used / sizeof(struct store_id),
              sizeof(struct store_id), run_order);
        st = store_write(s, &s->append, tidy_replace, &j, err);
    }
    free(j.bytes);
    return st;
}

static hsy_status tidy_ids(struct store_sqlite *s, bool *more, hsy_error *err)
{
    struct tidy_run run;
    bool end;
    int rc = tidy_find(s, &run, &end);
    hsy_status st = HSY_OK;

    if (rc != SQLITE_OK)
        return store_fail(s, &s->append, rc, err);
    if (run.rows >= TIDY_RUN)
        st = tidy_join(s, &run, err);
    *more = *more || !end;
    /* A run that goes on behind what was looked at is found next time. */
    s->tidied = run.rows >= TIDY_RUN ? run.last : end ? 0 : run.before;
    return st;
}

/* ---- All of it ----------------------------------------------------------- */

hsy_status store_housekeeping(struct store *is, bool *more, hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    hsy_status st = store_alive(s, err);

    *more = false;
    if (st == HSY_OK)
        st = store_erase_epochs(s, more, err);
    if (st == HSY_OK && !*more)
        st = tidy_ids(s, more, err);
    return st;
}
