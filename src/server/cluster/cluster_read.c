/*
 * cluster_read.c - a cluster as a store that is only read: what store_reader
 * asks for, added up over the shards.
 *
 * Each shard is read by one transaction, as of one moment. What is not folded
 * is handed over as batches, or in the tallies if it is a sum already, and is
 * in the counts: so it is in a store of one machine too.
 */
#include "server/cluster/cluster_read.h"

#include "host/base/host_fail.h"
#include "server/store/rehearsal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Rows some at a time ------------------------------------------------- */

typedef hsy_status read_page(void *ctx, const struct pg_rows *rows);

static hsy_status read_pages(struct pg_link *l, const char *select,
                             read_page *each, void *ctx, hsy_error *err)
{
    char sql[CLUSTER_SQL];
    size_t n = 1;
    hsy_status st;

    snprintf(sql, sizeof sql, "declare pages no scroll cursor for %s", select);
    st = pg_do(l, sql, err);
    while (st == HSY_OK && n != 0) {
        struct pg_rows *rows = NULL;

        st = pg_ask(l, &rows, err, "fetch 1000 from pages", "");
        n = st == HSY_OK ? pg_count(rows) : 0;
        if (n != 0)
            st = each(ctx, rows);
        pg_rows_free(rows);
    }
    return st == HSY_OK ? pg_do(l, "close pages", err) : st;
}

struct read_rows {
    cluster_row *each;
    void *ctx;
};

static hsy_status read_rows(void *ctx, const struct pg_rows *rows)
{
    const struct read_rows *to = ctx;
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < pg_count(rows) && st == HSY_OK; i++)
        st = to->each(to->ctx, rows, i);
    return st;
}

hsy_status cluster_each(struct pg_link *l, const char *select,
                        cluster_row *each, void *ctx, hsy_error *err)
{
    struct read_rows to = {each, ctx};

    return read_pages(l, select, read_rows, &to, err);
}

/* The same of every shard. */
static hsy_status read_shards(struct read_store *s, const char *select,
                              cluster_row *each)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < s->c->nshards && st == HSY_OK; i++)
        st = cluster_each(read_link(s, i), select, each, s, s->err);
    return st;
}

/* And of shard 0. */
static hsy_status read_first(struct read_store *s, const char *select,
                             cluster_row *each)
{
    return cluster_each(read_link(s, 0), select, each, s, s->err);
}

/* ---- Document and entries ------------------------------------------------ */

static hsy_status read_document(void *ctx, const struct pg_rows *r, size_t i)
{
    struct read_store *s = ctx;
    size_t len;
    const uint8_t *bytes = pg_get_bytes(r, i, 0, &len);

    return s->to->document(s->to->ctx, bytes, len);
}

static hsy_status read_entry(void *ctx, const struct pg_rows *r, size_t i)
{
    struct read_store *s = ctx;
    size_t len;
    const uint8_t *bytes = pg_get_bytes(r, i, 1, &len);

    return s->to->entry(s->to->ctx, (uint32_t)pg_get(r, i, 0), bytes, len);
}

/* ---- Counts -------------------------------------------------------------- */

static hsy_status read_some_counts(void *ctx, const struct pg_rows *r, size_t i)
{
    struct read_store *s = ctx;
    const struct cluster_count row = {{.entry = (uint32_t)pg_get(r, i, 0),
                                       .epoch = (uint32_t)pg_get(r, i, 1),
                                       .reports = (uint64_t)pg_get(r, i, 2),
                                       .nulls = (uint64_t)pg_get(r, i, 3)},
                                      pg_get(r, i, 4),
                                      0};

    return cluster_count_put(&s->counts, &row) ? HSY_OK : host_nomem(s->err);
}

/* Tally files that wait to be folded are counted by their rounds. */
static hsy_status read_merged_counts(void *ctx, const struct pg_rows *r,
                                     size_t i)
{
    struct read_store *s = ctx;
    struct roster *roster = engine_roster(s->c->base.view);
    const size_t entry = (size_t)pg_get(r, i, 0);
    struct store_count *counts = NULL;
    uint64_t reports;
    size_t n = 0, len;
    const uint8_t *bytes = pg_get_bytes(r, i, 1, &len);
    hsy_status st =
        entry < roster_count(roster)
            ? mirror_merge_counts(roster_at(roster, entry), bytes, len, &counts,
                                  &n, &reports, s->err)
            : host_fail(s->err, HSY_E_DAMAGED, HOST_FIELD_BATCH,
                        "it belongs to no entry");

    for (size_t k = 0; k < n && st == HSY_OK; k++)
        if (!cluster_count_put(&s->counts,
                               &(struct cluster_count){.n = counts[k]}))
            st = host_nomem(s->err);
    free(counts);
    roster_drop(roster);
    return st;
}

static hsy_status read_counts(struct read_store *s)
{
    hsy_status st;

    s->counts.n = 0;
    st = read_shards(s, "select entry, epoch, reports, nulls, ids from counts",
                     read_some_counts);
    if (st == HSY_OK)
        st = read_shards(s,
                         "select entry, epoch, sum(reports)::int8, "
                         "sum(nulls)::int8, sum(ids)::int8 from batches where "
                         "type in (1, 4) group by entry, epoch",
                         read_some_counts);
    if (st == HSY_OK)
        st = read_shards(s, "select entry, bytes from batches where type = 2",
                         read_merged_counts);
    cluster_counts_join(&s->counts);
    return st;
}

static hsy_status read_hand_counts(struct read_store *s)
{
    struct roster *roster = engine_roster(s->c->base.view);
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < s->counts.n && st == HSY_OK; i++)
        st = s->to->count(s->to->ctx, &s->counts.all[i].n);
    for (size_t i = 0; i < roster_count(roster) && st == HSY_OK; i++)
        if (engine_is_retired(s->c->base.view, (uint32_t)i))
            st = s->to->count(s->to->ctx,
                              &(struct store_count){.entry = (uint32_t)i,
                                                    .epoch = ENGINE_RETIRED});
    roster_drop(roster);
    return st;
}

/* ---- Quotas -------------------------------------------------------------- */

static uint32_t read_used(int64_t used)
{
    return used < UINT32_MAX ? (uint32_t)used : UINT32_MAX;
}

static hsy_status read_some_quotas(void *ctx, const struct pg_rows *r, size_t i)
{
    struct read_store *s = ctx;
    struct store_quota q = {.epoch = (uint32_t)pg_get(r, i, 0),
                            .used = read_used(pg_get(r, i, 2))};
    size_t len;
    const uint8_t *token = pg_get_bytes(r, i, 1, &len);

    if (len != sizeof q.token)
        return host_fail(s->err, HSY_E_DAMAGED, HOST_FIELD_STORE,
                         "a quota of no token");
    memcpy(q.token, token, len);
    return q.epoch > s->closed ? s->to->quota(s->to->ctx, &q) : HSY_OK;
}

/* Shares of ids stand among the quotas of a store. */
static hsy_status read_quotas(struct read_store *s)
{
    hsy_status st =
        read_shards(s, "select epoch, token, used from quotas where used > 0",
                    read_some_quotas);

    for (size_t i = 0; i < s->counts.n && st == HSY_OK; i++) {
        const struct cluster_count *count = &s->counts.all[i];
        struct store_quota q = {.epoch = count->n.epoch,
                                .used = read_used(count->ids + 1)};

        if (!engine_is_day(&count->n) || count->n.epoch <= s->closed)
            continue;
        mirror_share_name(q.token, count->n.entry);
        st = s->to->quota(s->to->ctx, &q);
    }
    return st;
}

/* ---- Ids ----------------------------------------------------------------- */

/* Those of null uploads apart from the others. */
static hsy_status read_some_ids(void *ctx, const struct pg_rows *r)
{
    struct read_store *s = ctx;
    struct store_id *ids = malloc((pg_count(r) + 1) * sizeof *ids);
    hsy_status st = ids == NULL ? host_nomem(s->err) : HSY_OK;

    for (int null = 0; null < 2 && st == HSY_OK; null++) {
        size_t n = 0;

        for (size_t i = 0; i < pg_count(r); i++)
            if ((pg_get(r, i, 2) != 0) == (null != 0))
                cluster_id_bytes(&ids[n++], pg_get(r, i, 0), pg_get(r, i, 1));
        if (n != 0)
            st = s->to->ids(s->to->ctx, &(struct store_ids){.epoch = s->epoch,
                                                            .ids = ids,
                                                            .n = n,
                                                            .null = null != 0});
    }
    free(ids);
    return st;
}

static hsy_status read_number_of_ids(void *ctx, const struct pg_rows *r)
{
    struct read_store *s = ctx;

    return s->to->ids(
        s->to->ctx,
        &(struct store_ids){.epoch = s->epoch, .n = (size_t)pg_get(r, 0, 0)});
}

static hsy_status read_table(struct read_store *s, struct pg_link *l,
                             uint32_t epoch)
{
    char sql[CLUSTER_SQL];

    s->epoch = epoch;
    snprintf(sql, sizeof sql,
             s->count_ids ? "select count(*) from ids_%u"
                          : "select id, rest, coalesce(blank, false) from "
                            "ids_%u order by id",
             (unsigned)epoch);
    return read_pages(l, sql, s->count_ids ? read_number_of_ids : read_some_ids,
                      s, s->err);
}

static hsy_status read_ids(struct read_store *s)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < s->c->nshards && st == HSY_OK; i++) {
        struct pg_link *l = read_link(s, i);
        struct pg_rows *r = NULL;

        st = cluster_ids_epochs(l, &r, s->err);
        for (size_t k = 0; st == HSY_OK && k < pg_count(r); k++)
            if (pg_get(r, k, 0) > s->closed)
                st = read_table(s, l, (uint32_t)pg_get(r, k, 0));
        pg_rows_free(r);
    }
    return st;
}

/* ---- Batches, figures, names --------------------------------------------- */

static hsy_status read_batches(void *ctx, const struct pg_rows *r, size_t i)
{
    struct read_store *s = ctx;
    struct store_batch b = {.entry = (uint32_t)pg_get(r, i, 0),
                            .epoch = (uint32_t)pg_get(r, i, 1),
                            .type = (uint32_t)pg_get(r, i, 2),
                            .reports = (uint64_t)pg_get(r, i, 3)};

    b.bytes = pg_get_bytes(r, i, 4, &b.len);
    return b.len != 0 && !engine_is_retired(s->c->base.view, b.entry)
               ? s->to->batch(s->to->ctx, &b)
               : HSY_OK;
}

static hsy_status read_received(void *ctx, const struct pg_rows *r, size_t i)
{
    struct read_store *s = ctx;
    struct store_received row = {.entry = (uint32_t)pg_get(r, i, 2),
                                 .epoch = (uint32_t)pg_get(r, i, 3),
                                 .n = (uint64_t)pg_get(r, i, 4),
                                 .nulls = (uint64_t)pg_get(r, i, 5),
                                 .unopened = (uint64_t)pg_get(r, i, 6),
                                 .again = (uint64_t)pg_get(r, i, 7)};
    size_t id_len, digest_len;
    const uint8_t *id = pg_get_bytes(r, i, 0, &id_len);
    const uint8_t *digest = pg_get_bytes(r, i, 1, &digest_len);

    row.heads = pg_get_bytes(r, i, 8, &row.heads_len);
    if (id_len != sizeof row.id || digest_len != sizeof row.digest)
        return host_fail(s->err, HSY_E_DAMAGED, HOST_FIELD_RECEIVED,
                         "a batch without a name");
    memcpy(row.id, id, sizeof row.id);
    memcpy(row.digest, digest, sizeof row.digest);
    return s->to->received(s->to->ctx, &row);
}

static hsy_status read_figures(void *ctx, const struct pg_rows *r, size_t i)
{
    struct read_store *s = ctx;
    struct store_figure f = {.entry = (uint32_t)pg_get(r, i, 0),
                             .day = (uint32_t)pg_get(r, i, 1)};

    f.json = (const char *)pg_get_bytes(r, i, 2, &f.len);
    return s->to->figure(s->to->ctx, &f);
}

static hsy_status read_merged(void *ctx, const struct pg_rows *r, size_t i)
{
    struct read_store *s = ctx;
    size_t len;
    const uint8_t *name = pg_get_bytes(r, i, 0, &len);

    return len == STORE_MERGED
               ? s->to->merged(s->to->ctx, name)
               : host_fail(s->err, HSY_E_DAMAGED, HSY_FIELD_TALLY,
                           "a merged tally without a name");
}

/* ---- All of it ----------------------------------------------------------- */

static hsy_status read_rest(struct read_store *s)
{
    hsy_status st = HSY_OK;

    if (s->to->tally != NULL || s->to->chunk != NULL)
        st = read_tallies(s);
    if (st == HSY_OK && s->to->batch != NULL)
        st = read_shards(s,
                         "select entry, epoch, type, reports, bytes from "
                         "batches where type in (1, 2) order by number",
                         read_batches);
    if (st == HSY_OK && s->to->received != NULL)
        st = read_shards(s,
                         "select id, digest, entry, epoch, n, nulls, unopened, "
                         "again, heads from received order by id",
                         read_received);
    if (st == HSY_OK && s->to->figure != NULL)
        st = read_first(
            s, "select entry, day, json from figures order by entry, day",
            read_figures);
    if (st == HSY_OK && s->to->merged != NULL)
        st =
            read_first(s, "select name from merged order by name", read_merged);
    if (st == HSY_OK && s->to->merged != NULL && s->c->meta.rehearsal)
        st = s->to->merged(s->to->ctx, rehearsal_name);
    return st;
}

static hsy_status read_all(struct store *store, const struct store_reader *to,
                           hsy_error *err)
{
    struct read_store *s = (struct read_store *)store;
    hsy_status st = HSY_OK;

    s->to = to;
    s->err = err;
    if (to->document != NULL)
        st = read_first(
            s, "select bytes from documents order by version desc limit 1",
            read_document);
    if (st == HSY_OK && to->entry != NULL)
        st = read_first(s, "select number, bytes from entries order by number",
                        read_entry);
    if (st == HSY_OK && (to->count != NULL || to->quota != NULL))
        st = read_counts(s);
    if (st == HSY_OK && to->count != NULL)
        st = read_hand_counts(s);
    if (st == HSY_OK && to->quota != NULL)
        st = read_quotas(s);
    /* Who would take runs holds ids in memory: there is no room for a
     * cluster's, and no need to. */
    if (st == HSY_OK && to->ids != NULL && to->runs == NULL)
        st = read_ids(s);
    if (st == HSY_OK)
        st = read_rest(s);
    /* Who reads has no words for what it does not take. */
    return st == HSY_E_DAMAGED && err->status != st
               ? host_fail(err, st, HOST_FIELD_STORE,
                           "a row belongs to no entry")
               : st;
}

static void read_close(struct store *store)
{
    struct read_store *s = (struct read_store *)store;

    for (size_t i = 0; i < s->c->nshards; i++) {
        pg_rollback(read_link(s, i));
        pg_patience(read_link(s, i), 6000);
    }
    free(s->counts.all);
    free(s);
}

static const struct store_functions read_functions = {
    .name = "cluster", .read = read_all, .close = read_close};

/* ---- Opening ------------------------------------------------------------- */

static hsy_status read_begin(struct cluster_shard *s, hsy_error *err)
{
    hsy_status st = cluster_connect(s, s->desk, &s->desk_session, err);

    pg_patience(s->desk, CLUSTER_VISIT_PATIENCE);
    if (st == HSY_OK)
        st = pg_begin_reading(s->desk, err);
    if (st == HSY_OK)
        st = pg_do(s->desk, "set local idle_in_transaction_session_timeout = 0",
                   err);
    if (st == HSY_OK) /* the moment is that of the first question */
        st = pg_do(s->desk, "select 1 from folds", err);
    return st;
}

static hsy_status read_state(struct read_store *s, struct store_state *state,
                             hsy_error *err)
{
    struct pg_rows *r = NULL;
    hsy_status st = pg_ask(read_link(s, 0), &r, err,
                           "select closed, day from days where one = 1", "");

    if (st == HSY_OK && pg_count(r) != 1)
        st = host_fail(err, HSY_E_DAMAGED, HOST_FIELD_EPOCHS,
                       "the database does not know its days");
    if (st == HSY_OK) {
        *state = (struct store_state){.closed = (uint32_t)pg_get(r, 0, 0),
                                      .day = (uint32_t)pg_get(r, 0, 1)};
        memcpy(state->key, s->c->meta.key, sizeof state->key);
        s->closed = state->closed;
    }
    pg_rows_free(r);
    return st;
}

hsy_status cluster_store(struct store **out, struct store_state *state,
                         struct counting *counting, bool count_ids,
                         hsy_error *err)
{
    struct cluster *c = cluster_of(counting);
    struct read_store *s = calloc(1, sizeof *s);
    hsy_status st = s == NULL ? host_nomem(err) : HSY_OK;

    *out = NULL;
    if (st != HSY_OK)
        return st;
    *s = (struct read_store){{&read_functions}, .c = c, .count_ids = count_ids};
    for (size_t i = 0; i < c->nshards && st == HSY_OK; i++)
        st = read_begin(&c->shards[i], err);
    /* The view knows all that the transactions see, and perhaps more. */
    if (st == HSY_OK)
        st = cluster_visit(c, err);
    if (st == HSY_OK)
        st = read_state(s, state, err);
    if (st == HSY_OK)
        *out = &s->base;
    else
        read_close(&s->base);
    return st;
}

hsy_status cluster_store_books(struct store *store, const char *directory,
                               hsy_error *err)
{
    struct read_store *s = (struct read_store *)store;

    return cluster_books_out(s->c, read_link(s, 0), directory, err);
}
