/*
 * cluster_days.c - what day it is for all nodes, and the tables of ids.
 *
 * No node's clock closes anything. Shard 0 says what time it is; each node
 * holds that against its own steady clock, by the rules of engine_tell, and the
 * first that believes a day writes it. Then the tables of closed epochs are
 * dropped: an insert is before the drop, and counted, or finds no table, and is
 * refused. So the drop is the fence, whatever a node that lags believes.
 */
#include "server/cluster/internal.h"

#include "host/base/host_fail.h"

#include <stdio.h>
#include <string.h>

#define DAYS_AHEAD 2u /* tables are made so many days before they are used */

hsy_status cluster_read_days(struct cluster *c, struct pg_link *l,
                             uint64_t *now, hsy_error *err)
{
    struct pg_rows *r = NULL;
    hsy_status st =
        pg_ask(l, &r, err,
               "select day, closed, purged, moved, extract(epoch from "
               "clock_timestamp())::int8 from days where one = 1",
               "");

    if (st == HSY_OK && pg_count(r) != 1)
        st = host_fail(err, HSY_E_DAMAGED, HOST_FIELD_EPOCHS,
                       "the database does not know its days");
    if (st == HSY_OK) {
        pthread_mutex_lock(&c->rules);
        mirror_days(c->base.view, (uint32_t)pg_get(r, 0, 0),
                    (uint32_t)pg_get(r, 0, 1), (uint32_t)pg_get(r, 0, 2));
        c->moved = pg_get(r, 0, 3); /* of these days, whoever reads them */
        pthread_mutex_unlock(&c->rules);
        *now = (uint64_t)pg_get(r, 0, 4);
    }
    pg_rows_free(r);
    return st;
}

/* By engine_tell, with the rules: if nobody else has moved the days. */
hsy_status cluster_close_epochs(void *ctx, uint32_t through, uint32_t day,
                                hsy_error *err)
{
    struct cluster *c = ctx;
    struct pg_link *l = c->shards[0].keeper;
    struct pg_rows *r = NULL;
    hsy_status st = pg_begin(l, err);

    if (st == HSY_OK)
        st = pg_ask(l, &r, err,
                    "update days set day = $1, closed = $2, moved = moved + 1 "
                    "where one = 1 and moved = $3",
                    "iil", (int32_t)day, (int32_t)through, c->moved);
    if (st == HSY_OK && pg_changed(r) != 1)
        st = host_fail(err, HSY_E_BUSY, HOST_FIELD_EPOCHS,
                       "another node has closed days");
    pg_rows_free(r);
    st = pg_finish(l, st, err);
    c->moved += st == HSY_OK;
    return st;
}

/* ---- Tables -------------------------------------------------------------- */

hsy_status cluster_make_ids(struct pg_link *l, uint32_t epoch, hsy_error *err)
{
    char sql[CLUSTER_SQL];

    /* Ids are inserted and dropped with their table: nothing to vacuum. */
    snprintf(sql, sizeof sql,
             "create table if not exists ids_%u(id int8 primary key, rest int8 "
             "not null, blank boolean) with (autovacuum_enabled = off)",
             (unsigned)epoch);
    return pg_do(l, sql, err);
}

hsy_status cluster_ids_epochs(struct pg_link *l, struct pg_rows **rows,
                              hsy_error *err)
{
    return pg_ask(l, rows, err,
                  "select substr(table_name, 5)::int8 from "
                  "information_schema.tables where table_schema = 'hearsay' "
                  "and table_name ~ '^ids_[0-9]{1,9}$' order by 1",
                  "");
}

static hsy_status days_drop(struct pg_link *l, uint32_t through, hsy_error *err)
{
    struct pg_rows *r = NULL;
    hsy_status st = cluster_ids_epochs(l, &r, err);

    for (size_t i = 0; st == HSY_OK && i < pg_count(r); i++) {
        const unsigned epoch = (unsigned)pg_get(r, i, 0);
        char sql[CLUSTER_SQL];

        if (epoch > through)
            continue;
        snprintf(sql, sizeof sql, "drop table if exists ids_%u", epoch);
        st = pg_do(l, sql, err);
    }
    pg_rows_free(r);
    if (st == HSY_OK)
        st = pg_ask(l, NULL, err, "delete from quotas where epoch <= $1", "i",
                    (int32_t)through);
    return st;
}

/* The days of a shard, locked; a drop that would wait behind somebody who reads
 * the table (pg_dump) holds up all inserts meanwhile: it is tried again later.
 */
static hsy_status days_lock(struct pg_link *l, uint32_t *dropped,
                            int64_t *heeded, hsy_error *err)
{
    struct pg_rows *r = NULL;
    hsy_status st = pg_begin(l, err);

    if (st == HSY_OK)
        st = pg_do(l, "set local lock_timeout = '2s'", err);
    if (st == HSY_OK)
        st = pg_ask(l, &r, err,
                    "select dropped, heeded from days where one = 1 for update",
                    "");
    if (st == HSY_OK && pg_count(r) == 1) {
        *dropped = (uint32_t)pg_get(r, 0, 0);
        *heeded = pg_get(r, 0, 1);
    }
    pg_rows_free(r);
    return st;
}

/* Do in this shard what a move of the days says. Where an operator has accepted
 * an earlier day `closed` is less than what was dropped: tables that had
 * nothing counted in them may be made again. */
static hsy_status days_heed(struct pg_link *l, uint32_t closed,
                            uint32_t *dropped, int64_t moved, hsy_error *err)
{
    hsy_status st = closed > *dropped ? days_drop(l, closed, err) : HSY_OK;

    if (st == HSY_OK)
        st = pg_ask(l, NULL, err,
                    "update days set dropped = $1, heeded = $2 where one = 1",
                    "il", (int32_t)closed, moved);
    if (st == HSY_OK)
        *dropped = closed;
    return st;
}

/* Who reads a table for long holds up its drop, but not the tables of the days
 * that begin meanwhile. */
static hsy_status days_heed_or_later(struct pg_link *l, uint32_t closed,
                                     uint32_t *dropped, int64_t moved,
                                     hsy_error *err)
{
    hsy_status st = pg_do(l, "savepoint heed", err);

    if (st == HSY_OK)
        st = days_heed(l, closed, dropped, moved, err);
    if (st != HSY_E_REFUSED || strcmp(pg_state(l), "55P03") != 0)
        return st;
    return pg_do(l, "rollback to savepoint heed", err);
}

static hsy_status days_open(struct pg_link *l, uint32_t first, uint32_t last,
                            uint32_t dropped, hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (uint32_t e = first; st == HSY_OK && e != 0 && e <= last; e++)
        if (e > dropped)
            st = cluster_make_ids(l, e, err);
    return st;
}

/* *moved: the move that is known here; then the one that was heeded. */
static hsy_status days_tables(struct pg_link *l, uint32_t closed,
                              uint32_t *dropped, int64_t *moved,
                              struct intake_days want, hsy_error *err)
{
    int64_t heeded = 0;
    hsy_status st = days_lock(l, dropped, &heeded, err);

    if (st == HSY_OK && heeded < *moved)
        st = days_heed_or_later(l, closed, dropped, *moved, err);
    if (st == HSY_OK && heeded <= *moved)
        st = days_open(l, want.first, want.last, *dropped, err);
    if (st == HSY_OK && heeded <= *moved)
        st = days_open(l, want.other_first, want.other_last, *dropped, err);
    if (heeded > *moved)
        *moved = heeded; /* another node knows more: nothing is made */
    return pg_finish(l, st, err);
}

hsy_status cluster_tables(struct cluster_shard *s, struct pg_link *l,
                          hsy_error *err)
{
    struct intake_days days;
    uint32_t closed, dropped = s->dropped;
    int64_t known, moved;
    hsy_status st;

    pthread_mutex_lock(&s->c->rules); /* days, and the move that made them */
    days = engine_days(s->c->base.view);
    known = moved = s->c->moved;
    pthread_mutex_unlock(&s->c->rules);
    closed = days.first - 1;
    if (days.last < days.first)
        return HSY_OK; /* nothing was told yet */
    days.last += DAYS_AHEAD - 1;
    if (s->dropped == closed && s->made_last == days.last &&
        s->made_first <= days.first && days.other_first == 0)
        return HSY_OK;
    if (s->made_last != 0 && s->dropped == closed && days.other_first != 0 &&
        s->made_last >= days.other_last && s->made_first <= days.other_first &&
        s->made_last >= days.last)
        return HSY_OK;
    st = days_tables(l, closed, &dropped, &moved, days, err);
    if (st != HSY_OK)
        return st;
    __atomic_store_n(&s->dropped, dropped, __ATOMIC_RELEASE);
    if (moved != known)
        return HSY_OK; /* its days are read first */
    s->made_first = days.first;
    s->made_last = days.last;
    if (days.other_first != 0) {
        if (days.other_first < s->made_first)
            s->made_first = days.other_first;
        if (days.other_last > s->made_last)
            s->made_last = days.other_last;
    }
    return HSY_OK;
}
