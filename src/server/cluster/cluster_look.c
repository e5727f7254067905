/*
 * cluster_look.c - tallies, as the databases have them.
 *
 * A node keeps in memory what it has read, and fetches what has changed since:
 * chunks with a later round. Rounds of a shard are raised under its row of
 * folds, one at a time, so nothing with an earlier round comes later. What is
 * read of a shard is of one moment, and so the counts beside it are those of
 * its tallies.
 */
#include "server/cluster/internal.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_FOLDS 16u /* bounded amounts, before somebody looks */

/* A chunk of a tally. */
struct look_place {
    int32_t epoch, place;
};

struct look {
    struct cluster *c;
    const struct roster_entry *is;
    struct cluster_seen *seen;
    int64_t *rounds;           /* owned: by shard, as they are now */
    struct look_place *places; /* owned: chunks that have changed */
    size_t n, room;
    struct store_count *counts; /* owned: of all shards */
    size_t ncounts;
    hsy_error *err;
};

/* ---- What has changed ---------------------------------------------------- */

static int look_compare(const void *a, const void *b)
{
    const struct look_place *x = a, *y = b;

    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static hsy_status look_changed(struct look *k, struct cluster_shard *s)
{
    struct pg_link *l = s->desk;
    struct pg_rows *r = NULL;
    hsy_status st =
        pg_ask(l, &r, k->err, "select round from folds where one = 1", "");

    if (st == HSY_OK && pg_count(r) == 1)
        k->rounds[s->number] = pg_get(r, 0, 0);
    pg_rows_free(r);
    r = NULL;
    if (st == HSY_OK)
        st = pg_ask(l, &r, k->err,
                    "select epoch, place from cells where entry = $1 and round "
                    "> $2",
                    "il", (int32_t)k->is->number, k->seen->rounds[s->number]);
    if (st == HSY_OK &&
        !grow_room(&k->places, &k->room, k->n + pg_count(r), sizeof *k->places))
        st = host_nomem(k->err);
    for (size_t i = 0; st == HSY_OK && i < pg_count(r); i++)
        k->places[k->n++] = (struct look_place){(int32_t)pg_get(r, i, 0),
                                                (int32_t)pg_get(r, i, 1)};
    pg_rows_free(r);
    return st;
}

static void look_unique(struct look *k)
{
    size_t kept = 0;

    if (k->n > 1)
        qsort(k->places, k->n, sizeof *k->places, look_compare);
    for (size_t i = 0; i < k->n; i++)
        if (kept == 0 || look_compare(&k->places[kept - 1], &k->places[i]) != 0)
            k->places[kept++] = k->places[i];
    k->n = kept;
}

/* A tally that the view does not have is read whole: it is new, or there was no
 * room for it when its other chunks changed. */
static hsy_status look_whole(struct look *k)
{
    const size_t chunks = (k->is->words + STORE_CHUNK - 1) / STORE_CHUNK;
    const size_t changed = k->n;

    for (size_t i = 0; i < changed; i++) {
        const int32_t epoch = k->places[i].epoch;

        if ((i != 0 && k->places[i - 1].epoch == epoch) ||
            mirror_has(k->c->base.view, k->is->number, (uint32_t)epoch))
            continue;
        if (!grow_room(&k->places, &k->room, k->n + chunks, sizeof *k->places))
            return host_nomem(k->err);
        for (size_t place = 0; place < chunks; place++)
            k->places[k->n++] = (struct look_place){epoch, (int32_t)place};
    }
    look_unique(k);
    return HSY_OK;
}

/* ---- Fetching it --------------------------------------------------------- */

/* The words of a chunk in the view; NULL: the tally does not fit. */
static int64_t *look_words(struct look *k, int32_t epoch, int32_t place,
                           size_t *n)
{
    int64_t *words;

    *n = cluster_chunk_words(k->is, (size_t)place);
    if (*n == 0)
        return NULL;
    words = mirror_words(k->c->base.view, k->is->number, (uint32_t)epoch);
    return words == NULL ? NULL : words + (size_t)place * STORE_CHUNK;
}

static hsy_status look_add(struct look *k, const struct pg_rows *r)
{
    for (size_t i = 0; i < pg_count(r); i++) {
        size_t n = 0, len;
        int64_t *to = look_words(k, (int32_t)pg_get(r, i, 0),
                                 (int32_t)pg_get(r, i, 1), &n);
        const uint8_t *from = pg_get_bytes(r, i, 2, &len);
        hsy_status st;

        if (to == NULL && pg_get(r, i, 0) != 0)
            continue; /* a day that does not fit is left out */
        if (to == NULL)
            return host_fail(k->err, HSY_E_FULL, HSY_FIELD_TALLY,
                             "it does not fit into two thirds of memory");
        st = cluster_add_chunk(to, n, from, len, k->err);
        if (st != HSY_OK)
            return st;
    }
    return HSY_OK;
}

/* Chunks that have changed anywhere are read from every shard, and added. */
static hsy_status look_fetch(struct look *k)
{
    hsy_status st = HSY_OK;
    int32_t epochs[64], places[64];

    for (size_t at = 0; at < k->n && st == HSY_OK; at += 64) {
        const size_t n = k->n - at < 64 ? k->n - at : 64;

        for (size_t i = 0; i < n; i++) {
            size_t words = 0;
            int64_t *to;

            epochs[i] = k->places[at + i].epoch;
            places[i] = k->places[at + i].place;
            to = look_words(k, epochs[i], places[i], &words);
            if (to != NULL)
                memset(to, 0, words * sizeof *to);
        }
        for (size_t i = 0; i < k->c->nshards && st == HSY_OK; i++) {
            struct pg_link *l = k->c->shards[i].desk;
            struct pg_rows *r = NULL;

            st = pg_ask(l, &r, k->err,
                        "select c.epoch, c.place, c.words from cells c join "
                        "unnest($2::int4[], $3::int4[]) as x(epoch, place) on "
                        "c.epoch = x.epoch and c.place = x.place where c.entry "
                        "= $1",
                        "iII", (int32_t)k->is->number, epochs, n, places, n);
            if (st == HSY_OK)
                st = look_add(k, r);
            pg_rows_free(r);
        }
    }
    return st;
}

/* ---- Counts, days, batches ----------------------------------------------- */

static hsy_status look_count(struct look *k, const struct pg_rows *r)
{
    struct store_count *all;

    if (!grow_to(&k->counts, k->ncounts + pg_count(r) + 1, sizeof *all))
        return host_nomem(k->err);
    all = k->counts;
    for (size_t i = 0; i < pg_count(r); i++) {
        const uint32_t epoch = (uint32_t)pg_get(r, i, 0);
        size_t at = k->ncounts;

        while (at > 0 && all[at - 1].epoch > epoch)
            at--;
        if (at == 0 || all[at - 1].epoch != epoch) {
            memmove(&all[at + 1], &all[at], (k->ncounts - at) * sizeof *all);
            all[at++] =
                (struct store_count){.entry = k->is->number, .epoch = epoch};
            k->ncounts++;
        }
        all[at - 1].reports += (uint64_t)pg_get(r, i, 1);
        all[at - 1].nulls += (uint64_t)pg_get(r, i, 2);
    }
    return HSY_OK;
}

static hsy_status look_counts(struct look *k)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < k->c->nshards && st == HSY_OK; i++) {
        struct pg_link *l = k->c->shards[i].desk;
        struct pg_rows *r = NULL;

        st = pg_ask(l, &r, k->err,
                    "select epoch, reports, nulls from counts where entry = $1 "
                    "order by epoch",
                    "i", (int32_t)k->is->number);
        if (st == HSY_OK)
            st = look_count(k, r);
        pg_rows_free(r);
    }
    return st == HSY_OK ? mirror_folded(k->c->base.view, k->is->number,
                                        k->counts, k->ncounts, k->err)
                        : st;
}

/* Batches of shufflers of an entry into the view; with the desk. */
static hsy_status cluster_read_batches(struct cluster *c, uint32_t entry,
                                       hsy_error *err)
{
    struct mirror_taken *all = NULL;
    hsy_status st = HSY_OK;
    size_t n = 0;

    for (size_t i = 0; i < c->nshards && st == HSY_OK; i++) {
        struct pg_link *l = c->shards[i].desk;
        struct pg_rows *r = NULL;

        st = pg_ask(l, &r, err,
                    "select epoch, n, nulls, unopened, folded from received "
                    "where entry = $1",
                    "i", (int32_t)entry);
        if (st != HSY_OK)
            break;
        if (!grow_to(&all, n + pg_count(r) + 1, sizeof *all))
            st = host_nomem(err);
        for (size_t k = 0; st == HSY_OK && k < pg_count(r); k++)
            all[n++] =
                (struct mirror_taken){{.entry = entry,
                                       .epoch = (uint32_t)pg_get(r, k, 0),
                                       .n = (uint64_t)pg_get(r, k, 1),
                                       .nulls = (uint64_t)pg_get(r, k, 2),
                                       .unopened = (uint64_t)pg_get(r, k, 3)},
                                      pg_get(r, k, 4) != 0};
        pg_rows_free(r);
    }
    if (st == HSY_OK)
        st = mirror_batches(c->base.view, entry, all, n, err);
    free(all);
    return st;
}

/* ---- One look ------------------------------------------------------------ */

static hsy_status look_begin(struct cluster *c, hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < c->nshards && st == HSY_OK; i++)
        st = pg_begin_reading(c->shards[i].desk, err);
    return st;
}

/* Another server may have less, if the one before lost something: nothing that
 * was read stands. */
static void look_anew(struct cluster *c)
{
    for (size_t i = 0; i < c->nseen; i++) {
        if (c->seen[i].rounds == NULL)
            continue;
        memset(c->seen[i].rounds, 0, c->nshards * sizeof *c->seen[i].rounds);
        mirror_forget(c->base.view, (uint32_t)i);
    }
}

static hsy_status look_fold(struct cluster *c, hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < c->nshards && st == HSY_OK; i++) {
        struct cluster_shard *s = &c->shards[i];
        bool more = true;

        st = cluster_connect(s, s->desk, &s->desk_session, err);
        if (st == HSY_OK && s->seen_session != s->desk_session) {
            s->seen_session = s->desk_session;
            s->sure = 0;
            look_anew(c);
        }
        for (unsigned k = 0; k < LOOK_FOLDS && more && st == HSY_OK; k++) {
            size_t batches;

            st = cluster_fold(s, s->desk, &c->fold_desk, true, &batches, &more,
                              err);
        }
        if (st == HSY_E_REFUSED)
            st = host_fail(err, HSY_E_BUSY, HOST_FIELD_STORE,
                           "somebody else folds: try again");
    }
    return st;
}

static hsy_status look_seen(struct cluster *c, uint32_t entry, hsy_error *err)
{
    if (entry >= c->nseen) {
        if (!grow_to(&c->seen, entry + 1, sizeof *c->seen))
            return host_nomem(err);
        while (c->nseen <= entry)
            c->seen[c->nseen++] = (struct cluster_seen){NULL};
    }
    if (c->seen[entry].rounds == NULL) {
        c->seen[entry].rounds =
            calloc(c->nshards, sizeof *c->seen[entry].rounds);
        if (c->seen[entry].rounds == NULL)
            return host_nomem(err);
    }
    return HSY_OK;
}

static hsy_status look_read(struct look *k)
{
    struct cluster *c = k->c;
    hsy_status st = look_begin(c, k->err);

    for (size_t i = 0; i < c->nshards && st == HSY_OK; i++)
        st = look_changed(k, &c->shards[i]);
    look_unique(k);
    if (st == HSY_OK)
        st = look_whole(k);
    if (st == HSY_OK)
        st = look_fetch(k);
    if (st == HSY_OK)
        st = look_counts(k);
    if (st == HSY_OK && k->is->task.model == HSY_MODEL_SHUFFLED)
        st = cluster_read_batches(c, k->is->number, k->err);
    for (size_t i = 0; i < c->nshards; i++)
        pg_rollback(c->shards[i].desk);
    if (st == HSY_OK)
        memcpy(k->seen->rounds, k->rounds, c->nshards * sizeof *k->rounds);
    else /* some chunks may be half read: all anew the next time */
        look_anew(c);
    return st;
}

/* What was read may be on no standby yet: somebody's wait was cancelled, or the
 * server has crashed and come back (trap 2). Figures that were shown must not
 * be lost by a failover, so a row is committed behind them: that waits. */
static hsy_status look_sure(struct look *k, struct cluster_shard *s)
{
    hsy_status st;

    if (k->rounds[s->number] <= s->sure)
        return HSY_OK;
    st = pg_begin(s->desk, k->err);
    if (st == HSY_OK)
        st = pg_ask(s->desk, NULL, k->err,
                    "insert into nodes values($1, clock_timestamp(), $2) on "
                    "conflict (name) do update set seen = excluded.seen",
                    "tt", k->c->node, HSY_VERSION);
    st = pg_finish(s->desk, st, k->err);
    if (st == HSY_OK)
        s->sure = k->rounds[s->number];
    return st;
}

hsy_status cluster_look(struct counting *counting, uint32_t entry,
                        workers_job *job, void *ctx, hsy_error *err)
{
    struct cluster *c = cluster_of(counting);
    struct look k = {.c = c, .err = err};
    struct roster *roster;
    hsy_status st;

    pthread_mutex_lock(&c->desk);
    roster = engine_roster(counting->view);
    st = entry < roster_count(roster)
             ? look_seen(c, entry, err)
             : host_fail(err, HSY_E_RANGE, HOST_FIELD_ENTRY,
                         "there is no such task");
    if (st == HSY_OK)
        st = look_fold(c, err);
    if (st == HSY_OK) {
        k.is = roster_at(roster, entry);
        k.seen = &c->seen[entry];
        k.rounds = calloc(c->nshards, sizeof *k.rounds);
        st = k.rounds == NULL ? host_nomem(err) : look_read(&k);
    }
    for (size_t i = 0; st == HSY_OK && i < c->nshards; i++)
        st = look_sure(&k, &c->shards[i]);
    if (st == HSY_OK) {
        mirror_keep(counting->view, entry);
        st = job(counting->view, ctx, err);
    }
    free(k.rounds);
    free(k.places);
    free(k.counts);
    roster_drop(roster);
    pthread_mutex_unlock(&c->desk);
    return st;
}
