/*
 * cluster_keeper.c - the thread that knows what the databases say: documents,
 * days, counts, nodes (cluster_state.c); and folds. Another thread asks which
 * server is primary.
 *
 * Once a second. What cannot be read now stays as it was: uploads to other
 * shards go on with it.
 */
#define _GNU_SOURCE
#include "server/cluster/internal.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "host/base/steady.h"
#include "host/base/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEEPER_TRIES 4u   /* to be the first who moves days */
#define KEEPER_LOOK 1000u /* milliseconds between looks */
#define KEEPER_SHARE 10u  /* folding takes one part in so many of a node */
#define KEEPER_FOLDS 16u  /* bounded amounts at a time */

/* ---- Documents ----------------------------------------------------------- */

static hsy_status keeper_roster(struct cluster *c, const struct pg_rows *doc,
                                const struct pg_rows *rows, hsy_error *err)
{
    const size_t n = pg_count(rows);
    const uint8_t **entries = malloc((n + 1) * sizeof(const uint8_t *));
    size_t *lens = malloc((n + 1) * sizeof *lens), len = 0;
    const uint8_t *bytes =
        pg_count(doc) != 0 ? pg_get_bytes(doc, 0, 0, &len) : NULL;
    hsy_status st = entries == NULL || lens == NULL ? host_nomem(err) : HSY_OK;

    for (size_t i = 0; st == HSY_OK && i < n; i++) {
        entries[i] = pg_get_bytes(rows, i, 1, &lens[i]);
        if ((size_t)pg_get(rows, i, 0) != i)
            st = host_fail(err, HSY_E_DAMAGED, HOST_FIELD_ENTRIES,
                           "tasks are missing in the database");
    }
    if (st == HSY_OK) {
        pthread_mutex_lock(&c->rules);
        st = mirror_roster(c->base.view, bytes, len, entries, lens, n, err);
        pthread_mutex_unlock(&c->rules);
    }
    free(entries);
    free(lens);
    return st;
}

hsy_status cluster_sure(struct pg_link *l, hsy_error *err)
{
    hsy_status st = pg_begin(l, err);

    if (st == HSY_OK)
        st = pg_do(l, "update days set day = day where one = 1", err);
    return pg_finish(l, st, err);
}

hsy_status cluster_read_document(struct cluster *c, struct pg_link *l,
                                 hsy_error *err)
{
    struct pg_rows *doc = NULL, *entries = NULL;
    hsy_status st;

    st = pg_ask(l, &doc, err, "select coalesce(max(version), 0) from documents",
                "");
    if (st == HSY_OK &&
        (uint64_t)pg_get(doc, 0, 0) == mirror_version(c->base.view)) {
        pg_rows_free(doc);
        return HSY_OK;
    }
    pg_rows_free(doc);
    doc = NULL;
    if (st == HSY_OK)
        st = pg_begin_reading(l, err);
    if (st == HSY_OK)
        st = pg_ask(l, &doc, err,
                    "select bytes from documents order by version desc limit 1",
                    "");
    if (st == HSY_OK)
        st = pg_ask(l, &entries, err,
                    "select number, bytes from entries order by number", "");
    pg_rollback(l);
    /* Entries that a failover could take back must not be counted by. */
    if (st == HSY_OK)
        st = cluster_sure(l, err);
    if (st == HSY_OK)
        st = keeper_roster(c, doc, entries, err);
    pg_rows_free(doc);
    pg_rows_free(entries);
    return st;
}

/* ---- Counts -------------------------------------------------------------- */

struct cluster_count *cluster_count(struct cluster_counts *c, uint32_t entry,
                                    uint32_t epoch)
{
    for (size_t i = c->n; i-- != 0;)
        if (c->all[i].n.entry == entry && c->all[i].n.epoch == epoch)
            return &c->all[i];
    return cluster_count_put(c, &(struct cluster_count){.n = {.entry = entry,
                                                              .epoch = epoch}})
               ? &c->all[c->n - 1]
               : NULL;
}

bool cluster_count_put(struct cluster_counts *c,
                       const struct cluster_count *more)
{
    if (!grow_room(&c->all, &c->room, c->n + 1, sizeof *c->all))
        return false;
    c->all[c->n++] = *more;
    return true;
}

static int keeper_compare(const void *a, const void *b)
{
    const struct cluster_count *x = a, *y = b;

    if (x->n.entry != y->n.entry)
        return x->n.entry < y->n.entry ? -1 : 1;
    return (x->n.epoch > y->n.epoch) - (x->n.epoch < y->n.epoch);
}

void cluster_counts_join(struct cluster_counts *c)
{
    size_t kept = 0;

    if (c->n > 1)
        qsort(c->all, c->n, sizeof *c->all, keeper_compare);
    for (size_t i = 0; i < c->n; i++) {
        struct cluster_count *last = kept != 0 ? &c->all[kept - 1] : NULL;

        if (last != NULL && keeper_compare(last, &c->all[i]) == 0) {
            last->n.reports += c->all[i].n.reports;
            last->n.nulls += c->all[i].n.nulls;
            last->ids += c->all[i].ids;
            last->enrolled += c->all[i].enrolled;
        } else {
            c->all[kept++] = c->all[i];
        }
    }
    c->n = kept;
}

/* A row of entry, epoch, reports, nulls, ids, enrolled. */
static struct cluster_count keeper_row(const struct pg_rows *r, size_t i)
{
    return (struct cluster_count){{.entry = (uint32_t)pg_get(r, i, 0),
                                   .epoch = (uint32_t)pg_get(r, i, 1),
                                   .reports = (uint64_t)pg_get(r, i, 2),
                                   .nulls = (uint64_t)pg_get(r, i, 3)},
                                  pg_get(r, i, 4),
                                  pg_get(r, i, 5)};
}

static hsy_status keeper_note(struct cluster_shard *s, const struct pg_rows *r,
                              hsy_error *err)
{
    for (size_t i = 0; i < pg_count(r); i++) {
        const struct cluster_count row = keeper_row(r, i);
        struct cluster_count *n =
            cluster_count(&s->counts, row.n.entry, row.n.epoch);

        if (n == NULL)
            return host_nomem(err);
        *n = row;
    }
    return HSY_OK;
}

/* What is folded and has changed, and what is not folded: of one moment. */
static hsy_status keeper_read_counts(struct cluster_shard *s,
                                     struct pg_rows **waiting, hsy_error *err)
{
    struct pg_link *l = s->keeper;
    struct pg_rows *r = NULL;
    int64_t round = s->round;
    hsy_status st;

    st = pg_begin_reading(l, err);
    if (st == HSY_OK)
        st = pg_ask(l, &r, err, "select round from folds where one = 1", "");
    if (st == HSY_OK && pg_count(r) == 1)
        round = pg_get(r, 0, 0);
    pg_rows_free(r);
    r = NULL;
    if (st == HSY_OK && round != s->round) {
        st = pg_ask(l, &r, err,
                    "select entry, epoch, reports, nulls, ids, enrolled from "
                    "counts where round > $1",
                    "l", s->round);
        if (st == HSY_OK)
            st = keeper_note(s, r, err);
        pg_rows_free(r);
    }
    if (st == HSY_OK)
        st = pg_ask(l, waiting, err,
                    "select entry, epoch, sum(reports)::int8, "
                    "sum(nulls)::int8, sum(ids)::int8, sum(enrolled)::int8, "
                    "sum(octet_length(bytes))::int8 from batches where type in "
                    "(1, 4) group by entry, epoch",
                    "");
    pg_rollback(l);
    if (st == HSY_OK)
        s->round = round;
    return st;
}

/* ---- Into the view ------------------------------------------------------- */

static hsy_status keeper_show_counts(struct cluster *c,
                                     const struct cluster_count *rows, size_t n,
                                     size_t entries, hsy_error *err)
{
    struct store_count *list = malloc((n + 1) * sizeof *list);
    hsy_status st = list == NULL ? host_nomem(err) : HSY_OK;

    for (size_t i = 0, k; i < n && st == HSY_OK; i = k) {
        for (k = i; k < n && rows[k].n.entry == rows[i].n.entry; k++)
            list[k - i] = rows[k].n;
        if (rows[i].n.entry < entries)
            st = mirror_counts(c->base.view, rows[i].n.entry, list, k - i, err);
    }
    free(list);
    return st;
}

/* Ids of open epochs, for the shares of tasks. */
static hsy_status keeper_show_uses(struct cluster *c,
                                   const struct cluster_count *rows, size_t n,
                                   size_t entries, uint64_t *ids,
                                   hsy_error *err)
{
    const struct intake_days days = engine_days(c->base.view);
    uint64_t *used = malloc((entries + 1) * sizeof *used);
    hsy_status st = used == NULL ? host_nomem(err) : HSY_OK;

    *ids = 0;
    for (uint32_t e = days.first; st == HSY_OK && e <= days.last; e++) {
        uint64_t all = 0;

        memset(used, 0, (entries + 1) * sizeof *used);
        for (size_t i = 0; i < n; i++)
            if (rows[i].n.epoch == e && rows[i].n.entry < entries) {
                used[rows[i].n.entry] = (uint64_t)rows[i].ids;
                all += (uint64_t)(rows[i].ids + rows[i].enrolled);
            }
        *ids += all;
        if (all != 0)
            st = mirror_used(c->base.view, e, all, used, err);
    }
    free(used);
    return st;
}

static hsy_status keeper_show(struct cluster *c, struct cluster_counts *rows,
                              uint64_t waiting, hsy_error *err)
{
    struct roster *roster = engine_roster(c->base.view);
    const size_t entries = roster_count(roster);
    uint64_t ids = 0;
    hsy_status st;

    roster_drop(roster);
    cluster_counts_join(rows);
    pthread_mutex_lock(&c->rules);
    st = keeper_show_counts(c, rows->all, rows->n, entries, err);
    if (st == HSY_OK)
        st = keeper_show_uses(c, rows->all, rows->n, entries, &ids, err);
    pthread_mutex_unlock(&c->rules);
    mirror_sizes(c->base.view, ids, 74 * ids, waiting);
    return st;
}

/* What each shard has; the last that was read stands for one that does not
 * answer, unless all must. */
static hsy_status keeper_counts(struct cluster *c, bool all, hsy_error *err)
{
    struct cluster_counts rows = {NULL, 0, 0};
    uint64_t bytes = 0;
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < c->nshards && st == HSY_OK; i++) {
        struct cluster_shard *s = &c->shards[i];
        struct pg_rows *waiting = NULL;
        bool good = true;
        const hsy_status read = pg_connected(s->keeper)
                                    ? keeper_read_counts(s, &waiting, err)
                                    : HSY_E_BUSY;

        if (read != HSY_OK && all)
            st = host_fail(err, read, HOST_FIELD_STORE,
                           "what it has counted cannot be read");
        for (size_t k = 0; good && k < s->counts.n; k++)
            good = cluster_count_put(&rows, &s->counts.all[k]);
        for (size_t k = 0; good && read == HSY_OK && k < pg_count(waiting);
             k++) {
            const struct cluster_count row = keeper_row(waiting, k);

            good = cluster_count_put(&rows, &row);
            bytes += (uint64_t)pg_get(waiting, k, 6);
        }
        if (!good)
            st = host_nomem(err);
        pg_rows_free(waiting);
    }
    if (st == HSY_OK)
        st = keeper_show(c, &rows, bytes, err);
    free(rows.all);
    return st;
}

/* ---- Days ---------------------------------------------------------------- */

/* The time of a rehearsal is the caller's, from the first look on. */
static uint64_t keeper_rehearsed(const struct cluster *c, uint64_t now)
{
    if (c->o.now != NULL)
        return c->o.now(c->o.ctx);
    return c->workers.now != NULL ? c->workers.now(c->workers.ctx) : now;
}

static hsy_status keeper_day(struct cluster *c, struct pg_link *l,
                             hsy_error *err)
{
    uint64_t now = 0;
    hsy_status st = cluster_read_days(c, l, &now, err);

    if (st != HSY_OK)
        return st;
    if (c->o.rehearsal)
        now = keeper_rehearsed(c, now);
    else
        cluster_compare_clocks(c, now);
    pthread_mutex_lock(&c->rules);
    st = engine_tell(c->base.view,
                     (struct engine_time){now, steady_us() / STEADY_SECOND},
                     err);
    pthread_mutex_unlock(&c->rules);
    return st;
}

/* Where another node was first the days are what it made them: read again. */
static hsy_status keeper_days(struct cluster *c, struct pg_link *l,
                              hsy_error *err)
{
    hsy_status st = keeper_day(c, l, err);

    for (unsigned i = 1;
         i < KEEPER_TRIES && st == HSY_E_BUSY && pg_connected(l); i++)
        st = keeper_day(c, l, err);
    return st;
}

/* Tallies of days that are not kept any more. */
static hsy_status keeper_forget(struct cluster_shard *s, hsy_error *err)
{
    struct engine_status is;
    uint32_t first;
    hsy_status st;

    engine_status(s->c->base.view, &is);
    first =
        is.day > s->c->o.keep_days ? is.day - (uint32_t)s->c->o.keep_days : 0;
    while (first != 0 && first < is.day &&
           mirror_keeps(s->c->base.view, first - 1))
        first--;
    st = pg_ask(s->keeper, NULL, err,
                "delete from cells where epoch <> 0 and epoch < $1", "i",
                (int32_t)first);
    /* Whoever folded in the moment in which a task was retired, and did not
     * know yet, has made a tally of it again. */
    return st == HSY_OK ? cluster_forget_retired(s->c, s->keeper, err) : st;
}

/* ---- A round ------------------------------------------------------------- */

static void keeper_fold(struct cluster_shard *s)
{
    const uint64_t begin = steady_ms();
    hsy_error err = {0};
    bool more = true;
    uint64_t took;

    if (begin < s->fold_at)
        return;
    for (unsigned i = 0; i < KEEPER_FOLDS && more; i++) {
        size_t batches;
        const hsy_status st = cluster_fold(s, s->keeper, &s->c->fold_keeper,
                                           false, &batches, &more, &err);

        if (st != HSY_OK) {
            if (st != HSY_E_BUSY)
                cluster_say(s->c, "fold-failed",
                            st == HSY_E_REFUSED ? pg_reason(s->keeper)
                                                : err.msg);
            break;
        }
    }
    took = steady_ms() - begin;
    s->fold_at = begin + took * KEEPER_SHARE;
}

/* A connection that was lost says little: one that cannot be made says why. */
static hsy_status keeper_reach(struct cluster_shard *s, hsy_error *err)
{
    const bool had = pg_connected(s->keeper);
    hsy_status st = cluster_connect(s, s->keeper, &s->keeper_session, err);

    if (st == HSY_OK)
        st = cluster_shard_ask(s, err);
    if (st != HSY_E_BUSY || !had)
        return st;
    st = cluster_connect(s, s->keeper, &s->keeper_session, err);
    return st == HSY_OK ? cluster_shard_ask(s, err) : st;
}

/* A shard that does not answer is left alone until the next round. */
static void keeper_shard(struct cluster_shard *s, bool forget)
{
    hsy_error err = {0};
    const hsy_status st = keeper_reach(s, &err);

    cluster_shard_tried(s, st, &err);
    if (st != HSY_OK)
        return;
    if (s->counts_session != s->keeper_session) {
        s->counts_session = s->keeper_session;
        s->round = 0; /* another server: all of it anew */
        s->counts.n = 0;
        s->made_last = 0;
    }
    if (cluster_tables(s, s->keeper, &err) != HSY_OK &&
        err.status != HSY_E_BUSY && strcmp(pg_state(s->keeper), "55P03") != 0)
        cluster_say(s->c, "tables-not-made", pg_reason(s->keeper));
    if (pg_connected(s->keeper))
        keeper_fold(s);
    if (forget && pg_connected(s->keeper) &&
        keeper_forget(s, &err) == HSY_E_REFUSED)
        cluster_say(s->c, "days-not-dropped", pg_reason(s->keeper));
}

static hsy_status keeper_control(struct cluster *c, hsy_error *err)
{
    struct cluster_shard *s = &c->shards[0];
    struct pg_link *l = s->keeper;
    bool narrow = false;
    hsy_status st = cluster_connect(s, l, &s->keeper_session, err);

    if (st == HSY_OK)
        st = cluster_read_document(c, l, err);
    if (st == HSY_OK) /* before days and after them: cluster_route.c */
        st = cluster_routes_known(c, l, &narrow, err);
    if (st == HSY_OK)
        st = keeper_days(c, l, err);
    if (st == HSY_OK)
        st = cluster_routes_known(c, l, &narrow, err);
    if (st == HSY_OK)
        st = cluster_enrol(c, l, err);
    if (st == HSY_OK)
        st = cluster_read_nodes(c, l, err);
    return st == HSY_OK && narrow ? HSY_E_REFUSED : st;
}

static void keeper_round(struct cluster *c, uint32_t *day)
{
    struct engine_status is;
    hsy_error err = {0};

    if (keeper_control(c, &err) != HSY_OK && err.status != HSY_E_BUSY)
        cluster_say(c, "control-failed", err.msg != NULL ? err.msg : "");
    engine_status(c->base.view, &is);
    for (size_t i = 0; i < c->nshards; i++)
        keeper_shard(&c->shards[i], *day != is.day);
    *day = is.day;
    (void)keeper_counts(c, false, &err);
    pthread_mutex_lock(&c->lock);
    c->kept++;
    c->times.checkpoint = steady_us();
    pthread_mutex_unlock(&c->lock);
}

hsy_status cluster_first_look(struct cluster *c, size_t *shard, hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < c->nshards && st == HSY_OK; i++) {
        struct cluster_shard *s = &c->shards[i];

        *shard = i;
        st = cluster_connect(s, s->keeper, &s->keeper_session, err);
    }
    *shard = st == HSY_OK ? 0 : *shard;
    if (st == HSY_OK && c->o.visits)
        return cluster_visit(c, err);
    if (st == HSY_OK)
        st = cluster_read_document(c, c->shards[0].keeper, err);
    if (st == HSY_OK) /* no day is accepted in which something was counted */
        st = keeper_counts(c, true, err);
    if (st == HSY_OK)
        st = keeper_control(c, err);
    for (size_t i = 0; i < c->nshards && st == HSY_OK; i++) {
        *shard = i;
        st = cluster_tables(&c->shards[i], c->shards[i].keeper, err);
        if (st == HSY_E_BUSY && pg_connected(c->shards[i].keeper))
            st = HSY_OK; /* days move at this moment: in the next round */
    }
    return st == HSY_OK ? keeper_counts(c, false, err) : st;
}

/* ---- The thread ---------------------------------------------------------- */

static bool keeper_wait(struct cluster *c, uint64_t milliseconds)
{
    const struct timespec until = steady_after(1000 * milliseconds);
    bool over;

    pthread_mutex_lock(&c->lock);
    while (!c->stopping &&
           pthread_cond_timedwait(&c->wake, &c->lock, &until) == 0)
        continue;
    over = c->stopping;
    pthread_mutex_unlock(&c->lock);
    return over;
}

static void *keeper_main(void *ctx)
{
    struct cluster *c = ctx;
    const uint64_t asked = c->workers.look_micros / 1000;
    const uint64_t every =
        asked != 0 && asked < KEEPER_LOOK ? asked : KEEPER_LOOK;
    uint32_t day = 0;

    while (!keeper_wait(c, every))
        keeper_round(c, &day);
    return NULL;
}

/* A thread of its own: a server that does not answer must not hold up the rest
 * of what the keeper does. */
static void *keeper_timelines(void *ctx)
{
    struct cluster *c = ctx;

    while (!keeper_wait(c, KEEPER_LOOK))
        for (size_t i = 0; i < c->nshards; i++)
            pg_look(c->shards[i].place);
    return NULL;
}

bool cluster_keeper_start(struct cluster *c)
{
    c->keeper_runs = thread_start(&c->keeper, keeper_main, c);
    c->timelines_run =
        c->keeper_runs && thread_start(&c->timelines, keeper_timelines, c);
    return c->timelines_run;
}

void cluster_keeper_stop(struct cluster *c)
{
    if (!c->keeper_runs)
        return;
    pthread_mutex_lock(&c->lock);
    c->stopping = true;
    pthread_cond_broadcast(&c->wake);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->keeper, NULL);
    c->keeper_runs = false;
    if (c->timelines_run)
        pthread_join(c->timelines, NULL);
    c->timelines_run = false;
    cluster_leave(c);
}
