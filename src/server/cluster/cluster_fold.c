/*
 * cluster_fold.c - batches become tallies, by whichever node has the time.
 *
 * One transaction: lock the row of folds, delete some batches, add them to
 * chunks and counts, commit. It keeps nothing that matters in memory: killed
 * anywhere it is rolled back, and in doubt the next finds the batches or does
 * not. Two nodes never fold at once, and a batch that is committed late is
 * found by whoever folds next: nothing goes by numbers that were seen
 * (D4).
 */
#include "server/cluster/internal.h"

#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"
#include "server/cluster/delta.h"

#include <stdlib.h>
#include <string.h>

#define FOLD_SOME 4000         /* batches of a transaction */
#define FOLD_WEIGHT (16 << 20) /* and their bytes, about */
#define FOLD_PATIENCE 60000u   /* milliseconds for a large one */

struct fold_work {
    struct cluster *c;
    struct pg_link *l;
    struct fold_space *space;
    struct roster *roster;
    int64_t round;
    hsy_error *err;

    /* Of one entry: what its batches add. */
    const struct roster_entry *is;
    int64_t *whole, *day; /* owned; words of the largest entry */
    size_t room;
};

/* What counts get: a row an entry and epoch. */
static bool fold_count(struct cluster_counts *c,
                       const struct cluster_count *more)
{
    struct cluster_count *n = cluster_count(c, more->n.entry, more->n.epoch);

    if (n == NULL)
        return false;
    n->n.reports += more->n.reports;
    n->n.nulls += more->n.nulls;
    n->ids += more->ids;
    n->enrolled += more->enrolled;
    return true;
}

/* ---- Chunks -------------------------------------------------------------- */

size_t cluster_chunk_words(const struct roster_entry *is, size_t place)
{
    const size_t first = place * STORE_CHUNK;
    const size_t left = is->words > first ? is->words - first : 0;

    return left < STORE_CHUNK ? left : STORE_CHUNK;
}

static bool fold_any(const int64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (words[i] != 0)
            return true;
    return false;
}

hsy_status cluster_add_chunk(int64_t *words, size_t n, const uint8_t *bytes,
                             size_t len, hsy_error *err)
{
    if (n == 0 || len != n * 8)
        return host_fail(err, HSY_E_DAMAGED, HOST_FIELD_CHUNK,
                         "it is not as long as it must be");
    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(
                words[i], (int64_t)bytes_get64(bytes + 8 * i), &words[i]))
            return host_fail(err, HSY_E_OVERFLOW, HSY_FIELD_TALLY,
                             "a count would pass 2^63 - 1");
    return HSY_OK;
}

static hsy_status fold_read_chunks(struct fold_work *w, uint32_t epoch,
                                   const int32_t *places, size_t n,
                                   int64_t *words)
{
    struct pg_rows *r = NULL;
    hsy_status st =
        pg_ask(w->l, &r, w->err,
               "select place, words from cells where entry = $1 and epoch = "
               "$2 and place = any($3)",
               "iiI", (int32_t)w->is->number, (int32_t)epoch, places, n);

    for (size_t i = 0; st == HSY_OK && i < pg_count(r); i++) {
        const size_t place = (size_t)pg_get(r, i, 0);
        size_t len;
        const uint8_t *bytes = pg_get_bytes(r, i, 1, &len);

        const size_t n_words = cluster_chunk_words(w->is, place);

        st = cluster_add_chunk(n_words == 0 ? words
                                            : words + place * STORE_CHUNK,
                               n_words, bytes, len, w->err);
    }
    pg_rows_free(r);
    return st;
}

/* Put some chunks in the place of those that are there. */
static hsy_status fold_write_chunks(struct fold_work *w, uint32_t epoch,
                                    const int32_t *places, size_t n,
                                    const int64_t *words)
{
    static const char upsert[] =
        "insert into cells(entry, epoch, place, round, words) values($1, $2, "
        "$3, $4, $5) on conflict (entry, epoch, place) do update set round = "
        "excluded.round, words = excluded.words";
    uint8_t *bytes = malloc(STORE_CHUNK * 8);
    hsy_status st = bytes == NULL ? host_nomem(w->err) : HSY_OK;

    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        const int64_t *from = words + (size_t)places[i] * STORE_CHUNK;
        const size_t len = cluster_chunk_words(w->is, (size_t)places[i]);

        for (size_t k = 0; k < len; k++)
            bytes_put64(bytes + 8 * k, (uint64_t)from[k]);
        st = pg_ask(w->l, NULL, w->err, upsert, "iiilb", (int32_t)w->is->number,
                    (int32_t)epoch, places[i], w->round, bytes, len * 8);
    }
    free(bytes);
    return st;
}

/* Add what was folded to a tally of the entry; then it is zeros again. */
static hsy_status fold_store(struct fold_work *w, uint32_t epoch,
                             int64_t *words)
{
    const size_t chunks = (w->is->words + STORE_CHUNK - 1) / STORE_CHUNK;
    int32_t places[64];
    hsy_status st = HSY_OK;
    size_t n = 0;

    for (size_t i = 0; i < chunks && st == HSY_OK; i++) {
        if (fold_any(words + i * STORE_CHUNK, cluster_chunk_words(w->is, i)))
            places[n++] = (int32_t)i;
        if (n == 64 || (i + 1 == chunks && n != 0)) {
            st = fold_read_chunks(w, epoch, places, n, words);
            if (st == HSY_OK)
                st = fold_write_chunks(w, epoch, places, n, words);
            n = 0;
        }
    }
    memset(words, 0, w->is->words * sizeof *words);
    return st;
}

/* ---- Batches ------------------------------------------------------------- */

enum fold_column {
    FOLD_ENTRY,
    FOLD_EPOCH,
    FOLD_TYPE,
    FOLD_REPORTS,
    FOLD_NULLS,
    FOLD_IDS,
    FOLD_ENROLLED,
    FOLD_RECEIVED,
    FOLD_BYTES
};

static hsy_status fold_take(struct fold_work *w, struct pg_rows **rows)
{
    return pg_ask(
        w->l, rows, w->err,
        "with few as (select number, octet_length(bytes) as len from batches "
        "order by number limit $1), light as (select number, sum(len) over "
        "(order by number) - len as before from few) delete from batches "
        "where number in (select number from light where before < $2) "
        "returning entry, epoch, type, reports, nulls, ids, enrolled, "
        "received, bytes",
        "il", FOLD_SOME, (int64_t)FOLD_WEIGHT);
}

/* A merged tally is counted by its rounds. */
static hsy_status fold_count_tally(struct fold_work *w,
                                   struct cluster_counts *to,
                                   const uint8_t *bytes, size_t len)
{
    struct store_count *counts = NULL;
    size_t n = 0;
    uint64_t reports;
    hsy_status st =
        mirror_merge_counts(w->is, bytes, len, &counts, &n, &reports, w->err);

    for (size_t i = 0; i < n && st == HSY_OK; i++)
        if (!fold_count(to, &(struct cluster_count){.n = counts[i]}))
            st = host_nomem(w->err);
    free(counts);
    return st;
}

static hsy_status fold_delta(struct fold_work *w, const struct store_batch *b,
                             bool daily)
{
    uint64_t before;
    hsy_tally whole;
    hsy_status st;

    hsy_tally_view(&whole, w->is->scheme, w->whole);
    before = hsy_tally_reports(&whole);
    st = delta_add(w->whole, w->is->words, b->bytes, b->len, w->err);
    if (st == HSY_OK && hsy_tally_reports(&whole) - before != b->reports)
        st = host_fail(w->err, HSY_E_DAMAGED, HOST_FIELD_BATCH,
                       "it is not the sum of so many reports");
    if (st == HSY_OK && daily)
        st = delta_add(w->day, w->is->words, b->bytes, b->len, w->err);
    return st;
}

static hsy_status fold_row(struct fold_work *w, struct cluster_counts *counts,
                           const struct pg_rows *r, size_t i, bool daily)
{
    const struct cluster_count count = {
        .n = {.entry = (uint32_t)pg_get(r, i, FOLD_ENTRY),
              .epoch = (uint32_t)pg_get(r, i, FOLD_EPOCH),
              .reports = (uint64_t)pg_get(r, i, FOLD_REPORTS),
              .nulls = (uint64_t)pg_get(r, i, FOLD_NULLS)},
        .ids = pg_get(r, i, FOLD_IDS),
        .enrolled = pg_get(r, i, FOLD_ENROLLED)};
    struct store_batch b = {.type = (uint32_t)pg_get(r, i, FOLD_TYPE),
                            .entry = count.n.entry,
                            .epoch = count.n.epoch,
                            .reports = count.n.reports};
    hsy_tally whole, day;
    hsy_status st;

    b.bytes = pg_get_bytes(r, i, FOLD_BYTES, &b.len);
    if (b.type == STORE_TALLY)
        st = fold_count_tally(w, counts, b.bytes, b.len);
    else
        st = fold_count(counts, &count) ? HSY_OK : host_nomem(w->err);
    if (st != HSY_OK || b.len == 0 ||
        engine_is_retired(w->c->base.view, b.entry))
        return st;
    if (b.type == CLUSTER_DELTA)
        return fold_delta(w, &b, daily);
    hsy_tally_view(&whole, w->is->scheme, w->whole);
    hsy_tally_view(&day, w->is->scheme, w->day);
    return fold_batch(w->space, w->is, &whole,
                      daily && b.type == STORE_REPORTS ? &day : NULL, &b,
                      w->err);
}

static int64_t fold_key(const struct pg_rows *r, size_t i)
{
    return pg_get(r, i, FOLD_ENTRY) << 32 | pg_get(r, i, FOLD_EPOCH);
}

struct fold_place {
    int64_t key;
    size_t row;
};

static int fold_compare(const void *a, const void *b)
{
    const struct fold_place *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

static hsy_status fold_words(struct fold_work *w)
{
    if (w->is->words <= w->room)
        return HSY_OK;
    free(w->whole);
    free(w->day);
    w->room = w->is->words;
    w->whole = calloc(w->room, sizeof *w->whole);
    w->day = calloc(w->room, sizeof *w->day);
    return w->whole == NULL || w->day == NULL ? host_nomem(w->err) : HSY_OK;
}

/* The rows of one entry, epoch by epoch. */
static hsy_status fold_entry(struct fold_work *w, struct cluster_counts *counts,
                             const struct pg_rows *r,
                             const struct fold_place *places, size_t n)
{
    const size_t number = (size_t)(places[0].key >> 32);
    hsy_status st;
    bool daily;

    if (number >= roster_count(w->roster))
        return host_fail(w->err, HSY_E_BUSY, HOST_FIELD_ENTRY,
                         "of a task that this node does not know yet");
    w->is = roster_at(w->roster, number);
    daily = mirror_daily(w->c->base.view, w->is);
    st = fold_words(w);
    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        const uint32_t epoch = (uint32_t)places[i].key;

        st = fold_row(w, counts, r, places[i].row, daily);
        if (st == HSY_OK && daily && epoch != 0 &&
            (i + 1 == n || places[i + 1].key != places[i].key))
            st = fold_store(w, epoch, w->day);
    }
    return st == HSY_OK ? fold_store(w, 0, w->whole) : st;
}

static hsy_status fold_rows(struct fold_work *w, struct cluster_counts *counts,
                            const struct pg_rows *r)
{
    const size_t n = pg_count(r);
    struct fold_place *places = malloc((n + 1) * sizeof *places);
    hsy_status st = places == NULL ? host_nomem(w->err) : HSY_OK;
    size_t used = 0;

    for (size_t i = 0; places != NULL && i < n; i++)
        if (pg_get(r, i, FOLD_TYPE) != 0) /* else it is an empty one */
            places[used++] = (struct fold_place){fold_key(r, i), i};
    if (used > 1)
        qsort(places, used, sizeof *places, fold_compare);
    for (size_t i = 0, k; i < used && st == HSY_OK; i = k) {
        for (k = i; k < used && places[k].key >> 32 == places[i].key >> 32;)
            k++;
        st = fold_entry(w, counts, r, places + i, k - i);
    }
    free(places);
    return st;
}

/* ---- Counts -------------------------------------------------------------- */

static hsy_status fold_put_counts(struct fold_work *w,
                                  const struct cluster_counts *counts)
{
    static const char upsert[] =
        "insert into counts(entry, epoch, round, reports, nulls, ids, "
        "enrolled) values($1, $2, $3, $4, $5, $6, $7) on conflict (entry, "
        "epoch) do update set round = excluded.round, reports = "
        "counts.reports + excluded.reports, nulls = counts.nulls + "
        "excluded.nulls, ids = counts.ids + excluded.ids, enrolled = "
        "counts.enrolled + excluded.enrolled";
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < counts->n && st == HSY_OK; i++) {
        const struct cluster_count *c = &counts->all[i];

        st = pg_ask(w->l, NULL, w->err, upsert, "iilllll", (int32_t)c->n.entry,
                    (int32_t)c->n.epoch, w->round, (int64_t)c->n.reports,
                    (int64_t)c->n.nulls, c->ids, c->enrolled);
    }
    return st;
}

/* Batches of shufflers that are in the tallies now. */
static hsy_status fold_put_received(struct fold_work *w,
                                    const struct pg_rows *r)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < pg_count(r) && st == HSY_OK; i++) {
        size_t len;
        const uint8_t *id;

        if (pg_is_null(r, i, FOLD_RECEIVED))
            continue;
        id = pg_get_bytes(r, i, FOLD_RECEIVED, &len);
        st = pg_ask(w->l, NULL, w->err,
                    "update received set folded = true where id = $1", "b", id,
                    len);
    }
    return st;
}

/* ---- The transaction ----------------------------------------------------- */

/* The round that this fold is; *mine: false if somebody else folds. */
static hsy_status fold_lock(struct fold_work *w, bool wait, bool *mine)
{
    struct pg_rows *r = NULL;
    hsy_status st = pg_begin(w->l, w->err);

    if (st == HSY_OK)
        st = pg_ask(w->l, &r, w->err,
                    wait ? "select round from folds where one = 1 for update"
                         : "select round from folds where one = 1 for update "
                           "skip locked",
                    "");
    *mine = st == HSY_OK && pg_count(r) == 1;
    if (*mine)
        w->round = pg_get(r, 0, 0) + 1;
    pg_rows_free(r);
    return st;
}

static hsy_status fold_end(struct fold_work *w)
{
    hsy_status st;

    st = pg_ask(w->l, NULL, w->err, "update folds set round = $1 where one = 1",
                "l", w->round);
    return st == HSY_OK ? pg_commit(w->l, w->err) : st;
}

static hsy_status fold_all(struct fold_work *w, size_t *batches, bool *more)
{
    struct cluster_counts counts = {NULL, 0, 0};
    struct pg_rows *r = NULL;
    hsy_status st = fold_take(w, &r);

    if (st == HSY_OK)
        st = fold_rows(w, &counts, r);
    if (st == HSY_OK)
        st = fold_put_counts(w, &counts);
    if (st == HSY_OK)
        st = fold_put_received(w, r);
    if (st == HSY_OK) {
        *batches = pg_count(r);
        *more = *batches == FOLD_SOME;
    }
    if (st == HSY_OK && *batches != 0)
        st = fold_end(w);
    else if (st == HSY_OK)
        pg_rollback(w->l);
    pg_rows_free(r);
    free(counts.all);
    return st;
}

hsy_status cluster_fold(struct cluster_shard *s, struct pg_link *l,
                        struct fold_space *space, bool wait, size_t *batches,
                        bool *more, hsy_error *err)
{
    struct fold_work w = {.c = s->c, .l = l, .space = space, .err = err};
    bool mine = false;
    hsy_status st;

    *batches = 0;
    *more = false;
    pg_patience(l, FOLD_PATIENCE);
    w.roster = engine_roster(s->c->base.view);
    st = fold_lock(&w, wait, &mine);
    if (st == HSY_OK && mine)
        st = fold_all(&w, batches, more);
    else if (st == HSY_OK)
        pg_rollback(l);
    if (st != HSY_OK)
        pg_rollback(l);
    pg_patience(l, 6000);
    roster_drop(w.roster);
    free(w.whole);
    free(w.day);
    pthread_mutex_lock(&s->lock);
    s->status.folded += st == HSY_OK ? *batches : 0;
    pthread_mutex_unlock(&s->lock);
    return st;
}
