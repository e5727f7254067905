/*
 * cluster_change.c - what operators change: documents, merged tallies, tasks
 * that are retired, figures that are kept. All of it is in shard 0 first; the
 * other nodes find it within a second.
 */
#include "server/cluster/internal.h"

#include "host/base/host_fail.h"

#define CHANGE_TRIES 3u

/* The desk's link to a shard; with the desk. */
static hsy_status change_link(struct cluster *c, size_t shard,
                              struct pg_link **l, hsy_error *err)
{
    struct cluster_shard *s = &c->shards[shard];

    *l = s->desk;
    return cluster_connect(s, s->desk, &s->desk_session, err);
}

/* ---- Documents ----------------------------------------------------------- */

/* A task that wants tokens, or that shufflers deliver, is in one shard. */
static hsy_status change_entry(struct cluster *c, struct pg_link *l,
                               uint32_t number, const uint8_t *bytes,
                               size_t len, hsy_error *err)
{
    hsy_document doc;
    hsy_task task;
    bool whole;
    hsy_status st = hsy_document_open(&doc, bytes, len, err);

    if (st != HSY_OK)
        return st;
    hsy_document_task(&doc, &task, 0);
    whole = task.model == HSY_MODEL_SHUFFLED ||
            (c->o.enrols != NULL && c->o.enrols(c->o.ctx, task.id));
    return pg_ask(l, NULL, err,
                  "insert into entries(number, bytes, home, whole_from) "
                  "values($1, $2, $3, $4::int4)",
                  whole ? "ibii" : "ibin", (int32_t)number, bytes, len,
                  (int32_t)cluster_new_home(c, task.id), 0);
}

/* By engine_set_document, with the desk and the rules: the document and the
 * entries it brings, if shard 0 is as this node knows it. */
static hsy_status change_document(struct cluster *c, struct pg_link *l,
                                  const hsy_document *doc, uint32_t first,
                                  const uint8_t *const *entries,
                                  const size_t *lens, size_t n, hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < n && st == HSY_OK; i++)
        st = change_entry(c, l, first + (uint32_t)i, entries[i], lens[i], err);
    if (st == HSY_OK)
        st = pg_ask(l, NULL, err, "insert into documents values($1, $2)", "lb",
                    (int64_t)doc->version, doc->bytes, doc->len);
    if (st == HSY_OK)
        st = pg_ask(l, NULL, err, "delete from documents where version < $1",
                    "l", (int64_t)doc->version);
    return st;
}

/* Whether nobody was faster; the row of days is locked. */
static hsy_status change_same(struct cluster *c, struct pg_link *l,
                              uint32_t first, hsy_error *err)
{
    struct pg_rows *r = NULL;
    hsy_status st =
        pg_do(l, "select 1 from days where one = 1 for update", err);

    if (st == HSY_OK)
        st = pg_ask(l, &r, err,
                    "select (select coalesce(max(version), 0) from documents), "
                    "(select count(*) from entries)",
                    "");
    if (st == HSY_OK &&
        ((uint64_t)pg_get(r, 0, 0) != mirror_version(c->base.view) ||
         (uint64_t)pg_get(r, 0, 1) != first))
        st = host_fail(err, HSY_E_BUSY, HSY_FIELD_VERSION,
                       "another node has put a document in force");
    pg_rows_free(r);
    return st;
}

hsy_status cluster_put_document(void *ctx, const uint8_t *bytes, size_t len,
                                uint32_t first, const uint8_t *const *entries,
                                const size_t *lens, size_t n, hsy_error *err)
{
    struct cluster *c = ctx;
    struct pg_link *l = c->shards[0].desk;
    hsy_document doc;
    hsy_status st = hsy_document_open(&doc, bytes, len, err);

    if (st == HSY_OK)
        st = pg_begin(l, err);
    if (st != HSY_OK)
        return st;
    st = change_same(c, l, first, err);
    if (st == HSY_OK)
        st = change_document(c, l, &doc, first, entries, lens, n, err);
    return pg_finish(l, st, err);
}

hsy_status cluster_document(struct counting *counting, const uint8_t *bytes,
                            size_t len, hsy_error *err)
{
    struct cluster *c = cluster_of(counting);
    struct pg_link *l;
    hsy_status st = HSY_E_BUSY;

    pthread_mutex_lock(&c->desk);
    for (unsigned i = 0; i < CHANGE_TRIES && st == HSY_E_BUSY; i++) {
        st = change_link(c, 0, &l, err);
        if (st == HSY_OK)
            st = cluster_read_document(c, l, err);
        if (st != HSY_OK)
            continue;
        pthread_mutex_lock(&c->rules);
        st = engine_set_document(counting->view, bytes, len, err);
        pthread_mutex_unlock(&c->rules);
        if (st == HSY_OK)
            st = cluster_sure(l, err); /* it may have been in force before */
        if (st == HSY_OK) /* else the keeper does, or says why not */
            (void)cluster_routes_read(c, l, NULL);
    }
    pthread_mutex_unlock(&c->desk);
    return st;
}

/* ---- Retiring ------------------------------------------------------------ */

/* By engine_retire, with the desk and the rules. */
hsy_status cluster_put_retired(void *ctx, uint32_t entry, hsy_error *err)
{
    struct cluster *c = ctx;
    struct pg_link *l = c->shards[0].desk;
    hsy_status st = pg_begin(l, err);

    if (st != HSY_OK)
        return st;
    st = pg_ask(l, NULL, err,
                "update entries set retired = true where number = $1", "i",
                (int32_t)entry);
    return pg_finish(l, st, err);
}

hsy_status cluster_forget_retired(struct cluster *c, struct pg_link *l,
                                  hsy_error *err)
{
    struct roster *roster = engine_roster(c->base.view);
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < roster_count(roster) && st == HSY_OK; i++)
        if (engine_is_retired(c->base.view, (uint32_t)i))
            st = pg_ask(l, NULL, err, "delete from cells where entry = $1", "i",
                        (int32_t)i);
    roster_drop(roster);
    return st;
}

/* Tallies of what is retired, and of days before one (0: none), in all shards.
 */
static hsy_status change_forget(struct cluster *c, uint32_t before,
                                hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < c->nshards && st == HSY_OK; i++) {
        struct pg_link *l;

        st = change_link(c, i, &l, err);
        if (st == HSY_OK)
            st = pg_begin(l, err);
        if (st != HSY_OK)
            break;
        st = cluster_forget_retired(c, l, err);
        if (st == HSY_OK)
            st = pg_ask(l, NULL, err,
                        "delete from cells where epoch <> 0 and epoch < $1",
                        "i", (int32_t)before);
        st = pg_finish(l, st, err);
    }
    return st;
}

/* The rest of a retirement or purge, which began with the view's. */
static hsy_status change_retire(struct cluster *c, const char *task,
                                uint32_t which, uint64_t *n, hsy_error *err)
{
    struct pg_link *l;
    uint64_t now;
    hsy_status st = change_link(c, 0, &l, err);

    if (st == HSY_OK)
        st = cluster_read_document(c, l, err);
    if (st == HSY_OK)
        st = cluster_read_days(c, l, &now, err);
    if (st != HSY_OK)
        return st;
    pthread_mutex_lock(&c->rules);
    st = task != NULL ? engine_retire_task(c->base.view, task, which, n, err)
                      : engine_purge(c->base.view, which, n, err);
    pthread_mutex_unlock(&c->rules);
    if (st == HSY_OK && task == NULL)
        st = pg_ask(l, NULL, err,
                    "update days set purged = greatest(purged, $1) where one = "
                    "1",
                    "i", (int32_t)which);
    if (st == HSY_OK)
        st = cluster_sure(l, err); /* what was retired before, too */
    return st == HSY_OK ? change_forget(c, task == NULL ? which : 0, err) : st;
}

hsy_status cluster_retire(struct counting *counting, const char *task,
                          uint32_t which, uint64_t *n, hsy_error *err)
{
    struct cluster *c = cluster_of(counting);
    hsy_status st;

    pthread_mutex_lock(&c->desk);
    st = change_retire(c, task, which, n, err);
    pthread_mutex_unlock(&c->desk);
    return st;
}

/* ---- Merged tallies ------------------------------------------------------ */

/* Its name, and its bytes as a batch: both or nothing. */
static hsy_status change_merge(struct pg_link *l, uint32_t entry,
                               const uint8_t name[STORE_MERGED],
                               const uint8_t *bytes, size_t len,
                               uint64_t reports, hsy_error *err)
{
    struct pg_rows *r = NULL;
    hsy_status st = pg_ask(
        l, &r, err, "insert into merged values($1) on conflict do nothing", "b",
        name, (size_t)STORE_MERGED);

    if (st == HSY_OK && pg_changed(r) != 1)
        st = host_fail(err, HSY_E_REFUSED, HSY_FIELD_TALLY,
                       "it was merged before");
    pg_rows_free(r);
    if (st == HSY_OK)
        st = pg_ask(l, NULL, err,
                    "insert into batches(entry, epoch, type, reports, nulls, "
                    "ids, enrolled, bytes) values($1, 0, 2, $2, 0, 0, 0, $3)",
                    "ilb", (int32_t)entry, (int64_t)reports, bytes, len);
    return st;
}

/* It is folded at once, so that who merges a tally and asks sees it. */
static hsy_status change_folded(struct cluster *c, struct pg_link *l,
                                hsy_error *err)
{
    bool more = true;
    size_t n;
    hsy_status st = HSY_OK;

    for (unsigned i = 0; i < 16 && more && st == HSY_OK; i++)
        st =
            cluster_fold(&c->shards[0], l, &c->fold_desk, true, &n, &more, err);
    return st == HSY_E_BUSY || st == HSY_E_REFUSED ? HSY_OK : st;
}

hsy_status cluster_merge(struct counting *counting, uint32_t entry,
                         const uint8_t *bytes, size_t len, hsy_error *err)
{
    struct cluster *c = cluster_of(counting);
    uint8_t name[STORE_MERGED];
    struct pg_link *l;
    uint64_t reports = 0;
    hsy_status st;

    pthread_mutex_lock(&c->desk);
    pthread_mutex_lock(&c->rules);
    st = mirror_merge(counting->view, entry, bytes, len, &reports, err);
    pthread_mutex_unlock(&c->rules);
    hsy_blake2b(name, sizeof name, bytes, len, (const uint8_t *)&entry,
                sizeof entry);
    if (st == HSY_OK)
        st = change_link(c, 0, &l, err);
    if (st == HSY_OK)
        st = pg_begin(l, err);
    if (st == HSY_OK) {
        st = change_merge(l, entry, name, bytes, len, reports, err);
        st = pg_finish(l, st, err);
        if (st == HSY_OK)
            st = change_folded(c, l, err);
        else if (st == HSY_E_REFUSED) /* it is there: for good? */
            st = cluster_sure(l, err) == HSY_OK ? st : HSY_E_BUSY;
    }
    pthread_mutex_unlock(&c->desk);
    return st;
}

/* ---- Figures ------------------------------------------------------------- */

hsy_status cluster_keep(struct counting *counting,
                        const struct store_figure *figure, hsy_error *err)
{
    struct cluster *c = cluster_of(counting);
    struct pg_link *l;
    hsy_status st;

    pthread_mutex_lock(&c->desk);
    st = change_link(c, 0, &l, err);
    if (st == HSY_OK)
        st = pg_ask(l, NULL, err,
                    "insert into figures values($1, $2, $3) on conflict "
                    "(entry, day) do update set json = excluded.json",
                    "iib", (int32_t)figure->entry, (int32_t)figure->day,
                    figure->json, figure->len);
    pthread_mutex_unlock(&c->desk);
    return st;
}

hsy_status cluster_figures(struct counting *counting,
                           const struct store_reader *to, hsy_error *err)
{
    struct cluster *c = cluster_of(counting);
    struct pg_rows *r = NULL;
    struct pg_link *l;
    hsy_status st;

    if (to->figure == NULL)
        return HSY_OK;
    pthread_mutex_lock(&c->desk);
    st = change_link(c, 0, &l, err);
    if (st == HSY_OK)
        st = pg_ask(l, &r, err,
                    "select entry, day, json from figures order by entry, day",
                    "");
    pthread_mutex_unlock(&c->desk);
    for (size_t i = 0; st == HSY_OK && i < pg_count(r); i++) {
        struct store_figure f = {.entry = (uint32_t)pg_get(r, i, 0),
                                 .day = (uint32_t)pg_get(r, i, 1)};

        f.json = (const char *)pg_get_bytes(r, i, 2, &f.len);
        st = to->figure(to->ctx, &f);
    }
    pg_rows_free(r);
    return st;
}
