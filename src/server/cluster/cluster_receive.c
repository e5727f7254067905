/*
 * cluster_receive.c - a batch that a shuffler delivered becomes one transaction
 * of its task's shard.
 *
 * Exactly once, as receive.c says of one machine: the row in `received`, the
 * ids of its envelopes and its reports are in one transaction. The row is
 * inserted first, so that of two nodes that take the same batch one waits for
 * the other, and then finds it. All envelopes of a task come in batches, and
 * all batches of a task into one shard: an envelope that comes again finds its
 * id there.
 */
#include "server/cluster/internal.h"

#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"
#include "server/cluster/delta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECEIVE_SOME 8192u       /* ids of a statement */
#define RECEIVE_PATIENCE 120000u /* milliseconds */

struct receive {
    struct cluster *c;
    struct cluster_shard *s;
    struct pg_link *l;
    struct engine_delivery *d;
    uint32_t ids_epoch;
    int64_t *ids, *rests; /* owned: of each item, in the order of `sorted` */
    bool *blank;          /* owned: in that order */
    uint32_t *sorted;     /* owned: items by id */
    bool *fresh;          /* owned: by item */
    hsy_error *err;
};

/* ---- Whether it is here -------------------------------------------------- */

static hsy_status receive_row(struct pg_link *l, const uint8_t *id,
                              struct store_received *out, hsy_error *err)
{
    struct pg_rows *rows = NULL;
    const uint8_t *digest;
    size_t len;
    hsy_status st =
        pg_ask(l, &rows, err,
               "select digest, entry, epoch, n, nulls, unopened, again from "
               "received where id = $1",
               "b", id, (size_t)STORE_BATCH_ID);

    if (st == HSY_OK && pg_count(rows) == 0)
        st = host_fail(err, HSY_E_EMPTY, HOST_FIELD_BATCH, "it never came");
    if (st == HSY_OK) {
        *out = (struct store_received){.entry = (uint32_t)pg_get(rows, 0, 1),
                                       .epoch = (uint32_t)pg_get(rows, 0, 2),
                                       .n = (uint64_t)pg_get(rows, 0, 3),
                                       .nulls = (uint64_t)pg_get(rows, 0, 4),
                                       .unopened = (uint64_t)pg_get(rows, 0, 5),
                                       .again = (uint64_t)pg_get(rows, 0, 6)};
        digest = pg_get_bytes(rows, 0, 0, &len);
        memcpy(out->id, id, sizeof out->id);
        if (len == sizeof out->digest)
            memcpy(out->digest, digest, len);
    }
    pg_rows_free(rows);
    return st;
}

/* Every shard is asked: which one it went to depends on how many there were. A
 * receipt is given for it, so what is found must be replicated: a read alone
 * does not wait for that (trap 2). */
hsy_status cluster_received(struct counting *counting,
                            const uint8_t id[STORE_BATCH_ID],
                            struct store_received *out, hsy_error *err)
{
    struct cluster *c = cluster_of(counting);
    hsy_status st = HSY_E_EMPTY;

    pthread_mutex_lock(&c->desk);
    for (size_t i = 0; i < c->nshards && st == HSY_E_EMPTY; i++) {
        struct cluster_shard *s = &c->shards[i];

        st = cluster_connect(s, s->desk, &s->desk_session, err);
        if (st == HSY_OK)
            st = pg_begin(s->desk, err);
        if (st != HSY_OK)
            break;
        st = receive_row(s->desk, id, out, err);
        if (st == HSY_OK)
            st = pg_ask(s->desk, NULL, err,
                        "update received set folded = folded where id = $1",
                        "b", id, (size_t)STORE_BATCH_ID);
        st = pg_finish(s->desk, st, err);
    }
    pthread_mutex_unlock(&c->desk);
    return st;
}

/* The row, ours until the commit; or it is known. */
static hsy_status receive_claim(struct receive *r)
{
    struct engine_delivery *d = r->d;
    struct store_received row;
    struct pg_rows *rows = NULL;
    hsy_status st =
        pg_ask(r->l, &rows, r->err,
               "insert into received(id, digest, entry, epoch, n, nulls, "
               "unopened, again, heads, folded) values($1, $2, $3, $4, 0, 0, "
               "$5, 0, $6, false) on conflict do nothing",
               "bbiilb", d->id, sizeof d->id, d->digest, sizeof d->digest,
               (int32_t)d->entry, (int32_t)d->epoch, (int64_t)d->unopened,
               d->heads, d->heads_len);

    d->known = st == HSY_OK && pg_changed(rows) == 0;
    pg_rows_free(rows);
    if (st != HSY_OK || !d->known)
        return st;
    st = receive_row(r->l, d->id, &row, r->err);
    if (st != HSY_OK)
        return st;
    if (memcmp(row.digest, d->digest, sizeof row.digest) != 0)
        return host_fail(r->err, HSY_E_MISMATCH, HOST_FIELD_BATCH,
                         "another batch of this id is here");
    d->taken = row.n;
    d->nulls = row.nulls;
    d->unopened = row.unopened;
    d->again = row.again;
    return pg_ask(r->l, NULL, r->err,
                  "update received set folded = folded where id = $1", "b",
                  d->id, sizeof d->id); /* so that the commit waits */
}

/* ---- Ids ----------------------------------------------------------------- */

struct receive_id {
    int64_t id, rest;
    uint32_t item;
};

static int receive_compare(const void *a, const void *b)
{
    const struct receive_id *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static hsy_status receive_names(struct receive *r)
{
    const struct engine_delivery *d = r->d;
    const size_t n = d->n + 1;
    struct receive_id *all = malloc(n * sizeof *all);

    r->ids = malloc(n * sizeof *r->ids);
    r->rests = malloc(n * sizeof *r->rests);
    r->blank = malloc(n);
    r->sorted = malloc(n * sizeof *r->sorted);
    r->fresh = calloc(n, 1);
    if (all == NULL || r->ids == NULL || r->rests == NULL || r->blank == NULL ||
        r->sorted == NULL || r->fresh == NULL) {
        free(all);
        return host_nomem(r->err);
    }
    for (size_t i = 0; i < d->n; i++) {
        uint8_t content[32];
        struct store_id name;

        memcpy(content, d->names[i], 16);
        memcpy(content + 16, d->names[i], 16);
        mirror_name(r->c->base.view, &name, d->names[i], content);
        cluster_id_columns(&name, &all[i].id, &all[i].rest);
        all[i].item = (uint32_t)i;
    }
    if (d->n > 1)
        qsort(all, d->n, sizeof *all, receive_compare);
    for (size_t i = 0; i < d->n; i++) {
        r->ids[i] = all[i].id;
        r->rests[i] = all[i].rest;
        r->sorted[i] = all[i].item;
        r->blank[i] = d->null != NULL && d->null[all[i].item];
    }
    free(all);
    return HSY_OK;
}

/* Rows that came back: where their ids stand. */
static void receive_note(struct receive *r, const struct pg_rows *rows,
                         bool fresh)
{
    for (size_t i = 0; i < pg_count(rows); i++) {
        const int64_t id = pg_get(rows, i, 0);
        size_t low = 0, high = r->d->n;

        while (low < high) {
            const size_t middle = low + (high - low) / 2;

            if (r->ids[middle] < id)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < r->d->n && r->ids[low] == id)
            r->fresh[r->sorted[low]] = fresh;
    }
}

/* The table of the ids, which are kept for as long as in engine_receive: until
 * the last day of the next period. All days of a period share one, since each
 * batch is compared with every table. A node that lags by two periods would
 * make one that was dropped. */
static hsy_status receive_table(struct receive *r)
{
    struct pg_rows *rows = NULL;
    hsy_status st = pg_ask(r->l, &rows, r->err,
                           "select dropped from days where one = 1", "");

    if (st == HSY_OK &&
        (pg_count(rows) != 1 || pg_get(rows, 0, 0) >= r->ids_epoch))
        st = host_fail(r->err, HSY_E_BUSY, HOST_FIELD_IDS,
                       "this node does not know the day yet");
    pg_rows_free(rows);
    return st == HSY_OK ? cluster_make_ids(r->l, r->ids_epoch, r->err) : st;
}

static hsy_status receive_ids(struct receive *r)
{
    char sql[CLUSTER_SQL];
    hsy_status st = HSY_OK;

    snprintf(sql, sizeof sql,
             "insert into ids_%u select * from unnest($1::int8[], $2::int8[], "
             "$3::boolean[]) on conflict do nothing returning id",
             (unsigned)r->ids_epoch);
    for (size_t at = 0; at < r->d->n && st == HSY_OK; at += RECEIVE_SOME) {
        const size_t left = r->d->n - at;
        const size_t n = left < RECEIVE_SOME ? left : RECEIVE_SOME;
        struct pg_rows *rows = NULL;

        st = pg_ask(r->l, &rows, r->err, sql, "LLM", r->ids + at, n,
                    r->rests + at, n, r->blank + at, n);
        if (st == HSY_OK)
            receive_note(r, rows, true);
        pg_rows_free(rows);
    }
    if (st == HSY_E_REFUSED)
        return host_fail(r->err, HSY_E_BUSY, HOST_FIELD_IDS,
                         "the table of its epoch is not there now");
    return st;
}

/* An envelope counts once in all open epochs: those that another has are taken
 * back. Who takes batches of this shard holds the row of receiving, so nobody
 * inserts into another epoch meanwhile. */
static hsy_status receive_elsewhere(struct receive *r, uint32_t epoch)
{
    char sql[CLUSTER_SQL];
    hsy_status st = HSY_OK;

    snprintf(sql, sizeof sql,
             "delete from ids_%u n using ids_%u o where n.id = o.id and n.id = "
             "any($1) returning n.id",
             (unsigned)r->ids_epoch, (unsigned)epoch);
    for (size_t at = 0; at < r->d->n && st == HSY_OK; at += RECEIVE_SOME) {
        const size_t left = r->d->n - at;
        const size_t n = left < RECEIVE_SOME ? left : RECEIVE_SOME;
        struct pg_rows *rows = NULL;

        st = pg_ask(r->l, &rows, r->err, sql, "L", r->ids + at, n);
        if (st == HSY_OK)
            receive_note(r, rows, false);
        pg_rows_free(rows);
    }
    return st;
}

static hsy_status receive_everywhere(struct receive *r)
{
    struct pg_rows *rows = NULL;
    hsy_status st = cluster_ids_epochs(r->l, &rows, r->err);

    for (size_t i = 0; st == HSY_OK && i < pg_count(rows); i++)
        if (pg_get(rows, i, 0) != r->ids_epoch)
            st = receive_elsewhere(r, (uint32_t)pg_get(rows, i, 0));
    pg_rows_free(rows);
    return st == HSY_E_REFUSED ? host_fail(r->err, HSY_E_BUSY, HOST_FIELD_IDS,
                                           "a day is being closed: try again")
                               : st;
}

static void receive_count(struct receive *r)
{
    struct engine_delivery *d = r->d;

    d->taken = d->nulls = 0;
    for (size_t i = 0; i < d->n; i++) {
        const bool null = d->null != NULL && d->null[i];

        d->taken += r->fresh[i] && !null;
        d->nulls += r->fresh[i] && null;
    }
    d->again = d->n - d->taken - d->nulls;
}

/* ---- Reports ------------------------------------------------------------- */

/* One row, so that all of a batch is folded at once or nothing is. */
static hsy_status receive_reports(struct receive *r)
{
    const struct engine_delivery *d = r->d;
    uint8_t *bytes = malloc(d->taken * (4 + d->item) + 1);
    struct roster *roster;
    size_t len = 0;
    bool delta;
    hsy_status st;

    if (bytes == NULL)
        return host_nomem(r->err);
    for (size_t i = 0; i < d->n; i++) {
        if (!r->fresh[i] || (d->null != NULL && d->null[i]))
            continue;
        bytes_put32(bytes + len, 1);
        memcpy(bytes + len + 4, d->items + i * d->item, d->item);
        len += 4 + d->item;
    }
    roster = engine_roster(r->c->base.view);
    delta =
        delta_sum(&r->c->fold_desk, roster_at(roster, d->entry), bytes, &len);
    roster_drop(roster);
    st = pg_ask(r->l, NULL, r->err,
                "insert into batches(entry, epoch, type, reports, nulls, ids, "
                "enrolled, received, bytes) values($1, $2, $3, $4, $5, 0, "
                "0, $6, $7)",
                "iiillbb", (int32_t)d->entry, (int32_t)d->epoch,
                delta ? CLUSTER_DELTA : STORE_REPORTS, (int64_t)d->taken,
                (int64_t)d->nulls, d->id, sizeof d->id, bytes, len);
    free(bytes);
    return st == HSY_OK
               ? pg_ask(r->l, NULL, r->err,
                        "update received set n = $2, nulls = $3, again = $4 "
                        "where id = $1",
                        "blll", d->id, sizeof d->id, (int64_t)d->taken,
                        (int64_t)d->nulls, (int64_t)d->again)
               : st;
}

/* ---- All of it ----------------------------------------------------------- */

/* One that is here is known, whatever became of its task since. */
static hsy_status receive_allowed(struct receive *r)
{
    struct engine *view = r->c->base.view;
    struct roster *roster = engine_roster(view);
    const struct engine_delivery *d = r->d;
    struct engine_status is;
    hsy_status st = HSY_OK;

    engine_status(view, &is);
    if (d->entry >= roster_count(roster))
        st = host_fail(r->err, HSY_E_RANGE, HOST_FIELD_ENTRY,
                       "there is no such task");
    else if (engine_is_retired(view, d->entry))
        st = host_fail(r->err, HSY_E_REFUSED, HSY_FIELD_TASK, "it is retired");
    else if (d->epoch < roster_at(roster, d->entry)->first)
        st = host_fail(r->err, HSY_E_REFUSED, HSY_FIELD_EPOCH,
                       "before the task");
    else if (d->epoch > is.day)
        st = host_fail(r->err, HSY_E_BUSY, HSY_FIELD_EPOCH,
                       "of a day that has not come by this clock");
    roster_drop(roster);
    return st;
}

static hsy_status receive_all(struct receive *r)
{
    hsy_status st = pg_begin(r->l, r->err);

    if (st != HSY_OK)
        return st;
    st =
        pg_do(r->l, "select 1 from receiving where one = 1 for update", r->err);
    if (st == HSY_OK)
        st = receive_claim(r);
    if (st == HSY_OK && !r->d->known) {
        st = receive_allowed(r);
        if (st == HSY_OK)
            st = receive_names(r);
        if (st == HSY_OK)
            st = receive_table(r);
        if (st == HSY_OK)
            st = receive_ids(r);
        if (st == HSY_OK)
            st = receive_everywhere(r);
        if (st == HSY_OK) {
            receive_count(r);
            st = receive_reports(r);
        }
    }
    if (st == HSY_OK)
        return pg_commit(r->l, r->err);
    if (st == HSY_E_REFUSED && strcmp(pg_state(r->l), "55P03") == 0)
        st = host_fail(r->err, HSY_E_BUSY, HOST_FIELD_BATCH,
                       "another batch is being taken");
    pg_rollback(r->l);
    return st;
}

hsy_status cluster_receive(struct counting *counting, struct engine_delivery *d,
                           hsy_error *err)
{
    struct cluster *c = cluster_of(counting);
    const uint32_t open = engine_days(counting->view).first;
    struct receive r = {.c = c, .d = d, .err = err};
    struct engine_status is;
    uint32_t home;
    hsy_status st;

    d->known = false;
    if (d->type != STORE_REPORTS)
        return host_fail(err, HSY_E_UNKNOWN, HOST_FIELD_STORE,
                         "a shuffler counts on one machine");
    engine_status(counting->view, &is);
    r.ids_epoch = ((is.day > open ? is.day : open) / SEAL_PERIOD_DAYS + 2) *
                      SEAL_PERIOD_DAYS -
                  1;
    home = cluster_home(c, d->entry);
    if (home == CLUSTER_NOWHERE)
        return host_fail(err, HSY_E_BUSY, HOST_FIELD_ENTRY,
                         "this node does not know its shard yet");
    r.s = &c->shards[home];
    r.l = r.s->desk;
    pthread_mutex_lock(&c->desk);
    st = cluster_connect(r.s, r.l, &r.s->desk_session, err);
    pg_patience(r.l, RECEIVE_PATIENCE);
    if (st == HSY_OK)
        st = receive_all(&r);
    pg_patience(r.l, 6000);
    pthread_mutex_unlock(&c->desk);
    free(r.ids);
    free(r.rests);
    free(r.blank);
    free(r.sorted);
    free(r.fresh);
    return st;
}
