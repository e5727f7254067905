/*
 * cluster_visit.c - a cluster looked after: who runs, what is folded, what is
 * missing, what may be forgotten.
 */
#include "server/cluster/cluster_admin.h"
#include "server/cluster/internal.h"

#include "host/base/host_fail.h"

#include <stdio.h>

#define VISIT_TEXT 256 /* bytes of what is wrong */

hsy_status cluster_visit(struct cluster *c, hsy_error *err)
{
    struct cluster_shard *s = &c->shards[0];
    struct pg_link *l = s->keeper;
    uint64_t now;
    hsy_status st = cluster_connect(s, l, &s->keeper_session, err);

    if (st == HSY_OK)
        st = cluster_read_document(c, l, err);
    if (st == HSY_OK)
        st = cluster_routes_read(c, l, err);
    return st == HSY_OK ? cluster_read_days(c, l, &now, err) : st;
}

void cluster_leave(struct cluster *c)
{
    struct pg_link *l = c->shards[0].keeper;
    hsy_error err;

    if (!pg_connected(l))
        return;
    (void)pg_ask(l, NULL, &err, "delete from nodes where name = $1", "t",
                 c->node);
}

/* The keeper's link to a shard, with the patience of a visitor. */
static hsy_status visit_link(struct cluster *c, size_t shard,
                             struct pg_link **l, hsy_error *err)
{
    struct cluster_shard *s = &c->shards[shard];

    *l = s->keeper;
    pg_patience(s->keeper, CLUSTER_VISIT_PATIENCE);
    return cluster_connect(s, s->keeper, &s->keeper_session, err);
}

/* A link that works may have a reason from when it was made. */
static bool visit_failed(const struct pg_link *l)
{
    return pg_reason(l)[0] != '\0' &&
           (pg_state(l)[0] != '\0' || !pg_connected(l));
}

const char *cluster_why(struct counting *counting)
{
    const struct cluster *c = cluster_of(counting);

    for (size_t i = 0; i < c->nshards; i++) {
        if (visit_failed(c->shards[i].keeper))
            return pg_reason(c->shards[i].keeper);
        if (visit_failed(c->shards[i].desk))
            return pg_reason(c->shards[i].desk);
    }
    return "";
}

/* ---- Nodes --------------------------------------------------------------- */

hsy_status cluster_running(struct pg_link *l, char name[CLUSTER_NODE],
                           hsy_error *err)
{
    struct pg_rows *r = NULL;
    hsy_status st =
        pg_ask(l, &r, err,
               "select name from nodes where seen > clock_timestamp() - $1 * "
               "interval '1 second' order by seen desc limit 1",
               "i", (int32_t)CLUSTER_ALIVE);

    if (st == HSY_OK && pg_count(r) != 0) {
        snprintf(name, CLUSTER_NODE, "%s",
                 (const char *)pg_get_bytes(r, 0, 0, NULL));
        st = host_fail(err, HSY_E_BUSY, HOST_FIELD_STORE, "a node is running");
    }
    pg_rows_free(r);
    return st;
}

hsy_status cluster_quiet(struct counting *counting, char name[CLUSTER_NODE],
                         hsy_error *err)
{
    struct pg_link *l;
    hsy_status st = visit_link(cluster_of(counting), 0, &l, err);

    name[0] = '\0';
    return st == HSY_OK ? cluster_running(l, name, err) : st;
}

/* ---- Folding ------------------------------------------------------------- */

hsy_status cluster_fold_all(struct counting *counting, hsy_error *err)
{
    struct cluster *c = cluster_of(counting);
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < c->nshards && st == HSY_OK; i++) {
        struct pg_link *l;
        size_t n = 1;
        bool more;

        st = visit_link(c, i, &l, err);
        while (st == HSY_OK && n != 0)
            st = cluster_fold(&c->shards[i], l, &c->fold_keeper, true, &n,
                              &more, err);
    }
    return st;
}

/* ---- What is missing ----------------------------------------------------- */

struct visit_look {
    struct pg_link *l;
    const char *shard;
    void (*wrong)(void *ctx, const char *text);
    void *ctx;
    hsy_error *err;
};

/* Say something if a question has any answer: its first column is %d. */
static hsy_status visit_ask(const struct visit_look *v, const char *sql,
                            const char *format, uint32_t closed, uint32_t day)
{
    struct pg_rows *r = NULL;
    hsy_status st =
        pg_ask(v->l, &r, v->err, sql, "ii", (int32_t)closed, (int32_t)day);

    for (size_t i = 0; st == HSY_OK && i < pg_count(r); i++) {
        char what[VISIT_TEXT / 2], text[VISIT_TEXT];

        snprintf(what, sizeof what, format, (long long)pg_get(r, i, 0));
        snprintf(text, sizeof text, "%.120s: %s", v->shard, what);
        v->wrong(v->ctx, text);
    }
    pg_rows_free(r);
    return st;
}

/* Questions with the last closed day ($1) and the present one ($2). */
static const struct {
    const char *sql, *format;
} visit_questions[] = {
    {"select e from generate_series($1::int4 + 1, $2::int4) e where "
     "to_regclass('hearsay.ids_' || e) is null limit 10",
     "the table ids_%lld of an open day is missing: a node makes it when it "
     "starts"},
    {"select dropped from days where one = 1 and dropped > $1",
     "ids up to day %lld are gone, and that is not closed"},
    {"select entry from counts where reports < 0 or nulls < 0 or ids < 0 or "
     "enrolled < 0 limit 10",
     "the counts of entry %lld are below 0"},
    {"select entry from batches where reports < 0 or nulls < 0 or type not in "
     "(0, 1, 2, 4) limit 10",
     "a batch of entry %lld is none"},
};

static hsy_status visit_shard(const struct visit_look *v, uint32_t closed,
                              uint32_t day)
{
    const size_t n = sizeof visit_questions / sizeof *visit_questions;
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < n && st == HSY_OK; i++)
        st = visit_ask(v, visit_questions[i].sql, visit_questions[i].format,
                       closed, day);
    return st;
}

hsy_status cluster_look_through(struct counting *counting,
                                void (*wrong)(void *ctx, const char *text),
                                void *ctx, hsy_error *err)
{
    struct cluster *c = cluster_of(counting);
    struct engine_status is;
    const uint32_t closed = engine_days(counting->view).first - 1;
    hsy_status st = HSY_OK;

    engine_status(counting->view, &is);
    for (size_t i = 0; i < c->nshards && st == HSY_OK; i++) {
        struct visit_look v = {.shard = pg_place_name(c->shards[i].place),
                               .wrong = wrong,
                               .ctx = ctx,
                               .err = err};

        st = visit_link(c, i, &v.l, err);
        if (st == HSY_OK && is.day != 0)
            st = visit_shard(&v, closed, is.day);
    }
    return st;
}

/* ---- Room ---------------------------------------------------------------- */

hsy_status cluster_bytes(struct counting *counting, uint64_t *bytes,
                         hsy_error *err)
{
    struct cluster *c = cluster_of(counting);
    hsy_status st = HSY_OK;

    *bytes = 0;
    for (size_t i = 0; i < c->nshards && st == HSY_OK; i++) {
        struct pg_rows *r = NULL;
        struct pg_link *l;

        st = visit_link(c, i, &l, err);
        if (st == HSY_OK)
            st = pg_ask(l, &r, err,
                        "select coalesce(sum(pg_total_relation_size(c.oid)), "
                        "0)::int8 from pg_class c join pg_namespace n on n.oid "
                        "= c.relnamespace where n.nspname = 'hearsay' and "
                        "c.relkind = 'r'",
                        "");
        if (st == HSY_OK)
            *bytes += (uint64_t)pg_get(r, 0, 0);
        pg_rows_free(r);
    }
    return st;
}

/* VACUUM hinders nobody: nodes may run. It is no part of a transaction. */
hsy_status cluster_compact(struct counting *counting, hsy_error *err)
{
    static const char *const all[] = {
        "vacuum (analyze) batches",     "vacuum (analyze) cells",
        "vacuum (analyze) counts",      "vacuum (analyze) quotas",
        "vacuum (analyze) received",    "vacuum (analyze) figures",
        "vacuum (analyze) nodes",       "vacuum (analyze) shown",
        "vacuum (analyze) shown_cells", "vacuum (analyze) shown_looked",
        "vacuum (analyze) enrolled"};
    struct cluster *c = cluster_of(counting);
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < c->nshards && st == HSY_OK; i++) {
        struct pg_link *l;

        st = visit_link(c, i, &l, err);
        for (size_t k = 0; k < sizeof all / sizeof *all && st == HSY_OK; k++)
            st = pg_do(l, all[k], err);
    }
    return st;
}

/* ---- Ids of null uploads ------------------------------------------------- */

/* Which task an id is of is not kept: each gives back as many as it had nulls,
 * until all that were deleted are given back. */
static hsy_status visit_give_back(struct pg_link *l, uint32_t epoch, int64_t n,
                                  hsy_error *err)
{
    struct pg_rows *r = NULL;
    hsy_status st =
        pg_do(l, "update folds set round = round + 1 where one = 1", err);

    if (st == HSY_OK)
        st = pg_ask(l, &r, err,
                    "select entry, least(nulls, ids) from counts where epoch = "
                    "$1 and least(nulls, ids) > 0 order by entry",
                    "i", (int32_t)epoch);
    for (size_t i = 0; st == HSY_OK && i < pg_count(r) && n != 0; i++) {
        const int64_t can = pg_get(r, i, 1), give = can < n ? can : n;

        st = pg_ask(l, NULL, err,
                    "update counts set ids = ids - $3, round = (select round "
                    "from folds where one = 1) where entry = $1 and epoch = $2",
                    "iil", (int32_t)pg_get(r, i, 0), (int32_t)epoch, give);
        n -= give;
    }
    pg_rows_free(r);
    return st;
}

static hsy_status visit_delete_nulls(struct pg_link *l, uint32_t epoch,
                                     uint64_t *n, hsy_error *err)
{
    struct pg_rows *r = NULL;
    char sql[CLUSTER_SQL];
    hsy_status st;

    snprintf(sql, sizeof sql, "delete from ids_%u where blank",
             (unsigned)epoch);
    st = pg_ask(l, &r, err, sql, "");
    if (st == HSY_OK) {
        *n += pg_changed(r);
        if (pg_changed(r) != 0)
            st = visit_give_back(l, epoch, (int64_t)pg_changed(r), err);
    }
    pg_rows_free(r);
    return st;
}

static hsy_status visit_forget(struct pg_link *l, uint32_t epoch, uint64_t *n,
                               hsy_error *err)
{
    struct pg_rows *r = NULL;
    bool there = false;
    hsy_status st = pg_begin(l, err);

    if (st == HSY_OK) /* nobody folds, and no table is dropped, meanwhile */
        st = pg_do(l,
                   "select 1 from days, folds where days.one = 1 and "
                   "folds.one = 1 for update",
                   err);
    if (st == HSY_OK)
        st = pg_ask(l, &r, err,
                    "select to_regclass('hearsay.ids_' || $1::int4) is not "
                    "null",
                    "i", (int32_t)epoch);
    there = st == HSY_OK && pg_get(r, 0, 0) != 0;
    pg_rows_free(r);
    if (there)
        st = visit_delete_nulls(l, epoch, n, err);
    return pg_finish(l, st, err);
}

hsy_status cluster_forget_nulls(struct counting *counting, uint32_t epoch,
                                uint64_t *n, hsy_error *err)
{
    struct cluster *c = cluster_of(counting);
    hsy_status st = cluster_fold_all(counting, err);

    *n = 0;
    for (size_t i = 0; i < c->nshards && st == HSY_OK; i++) {
        struct pg_link *l;

        st = visit_link(c, i, &l, err);
        if (st == HSY_OK)
            st = visit_forget(l, epoch, n, err);
    }
    return st;
}
