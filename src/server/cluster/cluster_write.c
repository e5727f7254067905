/*
 * cluster_write.c - the data of an archive becomes that of a cluster which has
 * just been made.
 *
 * An archive does not say of which task an id is, so ids cannot be sent to the
 * shards of tasks that are whole in one. Therefore everything goes to shard 0,
 * in one transaction, and shard 0 alone has the epochs up to then; later ones
 * are spread over all (widths). The key by which ids are named is the archive's
 * in all shards: whoever knows another is cut off before the commit.
 */
#define _GNU_SOURCE /* explicit_bzero */
#include "server/cluster/cluster_write.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"
#include "server/store/rehearsal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITE_IDS 8192u /* of a statement */

static hsy_status write_bad(hsy_error *err, const char *msg)
{
    return host_fail(err, HSY_E_FORMAT, HOST_FIELD_ARCHIVE, msg);
}

/* ---- State, document, entries -------------------------------------------- */

static hsy_status write_inherit(struct store *store,
                                const struct store_state *state, hsy_error *err)
{
    struct write_store *s = (struct write_store *)store;

    if (state->closed >= ENGINE_MERGED || state->day >= ENGINE_MERGED)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_EPOCH, "beyond all days");
    s->state = *state;
    s->last = state->day > state->closed ? state->day : state->closed;
    return HSY_OK;
}

static hsy_status write_entry(struct write_store *s,
                              const struct roster_entry *e,
                              const uint8_t *bytes, size_t len, hsy_error *err)
{
    const bool whole = e->task.model == HSY_MODEL_SHUFFLED;

    return pg_ask(s->l, NULL, err,
                  "insert into entries(number, bytes, home, whole_from) "
                  "values($1, $2, 0, $3::int4)",
                  whole ? "ibi" : "ibn", (int32_t)e->number, bytes, len, 0);
}

static hsy_status write_document(struct store *store, const uint8_t *bytes,
                                 size_t len, uint32_t first,
                                 const uint8_t *const *entries,
                                 const size_t *lens, size_t n, hsy_error *err)
{
    struct write_store *s = (struct write_store *)store;
    hsy_document doc;
    hsy_status st = hsy_document_open(&doc, bytes, len, err);

    (void)first;
    if (st == HSY_OK)
        st = roster_load(&s->roster, entries, lens, n, &doc, err);
    if (st != HSY_OK)
        return st;
    s->retired = calloc(n + 1, sizeof *s->retired);
    s->shares = calloc(n + 1, sizeof *s->shares);
    if (s->retired == NULL || s->shares == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        mirror_share_name(s->shares[i], (uint32_t)i);
        st = write_entry(s, roster_at(s->roster, i), entries[i], lens[i], err);
    }
    return st == HSY_OK
               ? pg_ask(s->l, NULL, err, "insert into documents values($1, $2)",
                        "lb", (int64_t)doc.version, bytes, len)
               : st;
}

static const struct roster_entry *write_entry_of(const struct write_store *s,
                                                 uint32_t entry)
{
    return s->roster != NULL && entry < roster_count(s->roster)
               ? roster_at(s->roster, entry)
               : NULL;
}

/* ---- Counts -------------------------------------------------------------- */

static struct write_count *write_count_of(struct write_store *s, uint32_t entry,
                                          uint32_t epoch)
{
    for (size_t i = s->n; i-- != 0;)
        if (s->counts[i].n.entry == entry && s->counts[i].n.epoch == epoch)
            return &s->counts[i];
    return NULL;
}

static hsy_status write_retired(struct write_store *s, uint32_t entry,
                                hsy_error *err)
{
    s->retired[entry] = true;
    return pg_ask(s->l, NULL, err,
                  "update entries set retired = true where number = $1", "i",
                  (int32_t)entry);
}

static hsy_status write_count(struct write_store *s,
                              const struct store_count *count, hsy_error *err)
{
    if (write_entry_of(s, count->entry) == NULL || count->epoch > INT32_MAX ||
        count->reports > INT64_MAX || count->nulls > INT64_MAX)
        return write_bad(err, "a count of no entry");
    if (count->epoch == ENGINE_RETIRED)
        return write_retired(s, count->entry, err);
    if (!grow_room(&s->counts, &s->room, s->n + 1, sizeof *s->counts))
        return host_nomem(err);
    /* Where nothing says whose its ids are: as recover.c has it. */
    s->counts[s->n++] =
        (struct write_count){.n = *count,
                             .ids = (int64_t)(count->reports + count->nulls),
                             .uploads = count->reports + count->nulls};
    return HSY_OK;
}

/* A batch that waits is not in the counts of a cluster. */
static hsy_status write_uncount(struct write_store *s,
                                const struct store_count *less, hsy_error *err)
{
    struct write_count *count = write_count_of(s, less->entry, less->epoch);

    if (count == NULL || count->n.reports < less->reports)
        return write_bad(err, "a batch that was not counted");
    count->n.reports -= less->reports;
    return HSY_OK;
}

/* ---- Quotas -------------------------------------------------------------- */

hsy_status write_flush_quotas(struct write_store *s, hsy_error *err)
{
    hsy_status st;

    if (s->nquotas == 0)
        return HSY_OK;
    st = pg_ask(s->l, NULL, err,
                "insert into quotas select * from unnest($1::int4[], "
                "$2::bytea[], $3::int8[]) on conflict do nothing",
                "IBL", s->quota_epochs, s->nquotas, s->quota_tokens,
                sizeof s->quota_tokens[0], s->nquotas, s->quota_used,
                s->nquotas);
    s->nquotas = 0;
    return st;
}

static hsy_status write_quota(struct write_store *s,
                              const struct store_quota *q, hsy_error *err)
{
    const size_t entries = s->roster != NULL ? roster_count(s->roster) : 0;

    if (q->epoch <= s->state.closed)
        return HSY_OK;
    if (q->epoch >= ENGINE_MERGED)
        return write_bad(err, "a quota beyond all days");
    for (size_t i = 0; i < entries; i++)
        if (memcmp(s->shares[i], q->token, sizeof q->token) == 0) {
            struct write_count *count =
                write_count_of(s, (uint32_t)i, q->epoch);

            if (count != NULL && q->used != 0)
                count->ids = (int64_t)q->used - 1;
            return HSY_OK;
        }
    s->quota_epochs[s->nquotas] = (int32_t)q->epoch;
    memcpy(s->quota_tokens[s->nquotas], q->token, sizeof q->token);
    s->quota_used[s->nquotas++] = q->used;
    return s->nquotas == WRITE_QUOTAS ? write_flush_quotas(s, err) : HSY_OK;
}

/* ---- Ids ----------------------------------------------------------------- */

/* The table of an epoch, and how many ids came for it. */
static struct write_day *write_day(struct write_store *s, uint32_t epoch,
                                   hsy_status *st, hsy_error *err)
{
    for (size_t i = 0; i < s->ndays; i++)
        if (s->days[i].epoch == epoch)
            return &s->days[i];
    *st = grow_to(&s->days, s->ndays + 1, sizeof *s->days)
              ? cluster_make_ids(s->l, epoch, err)
              : host_nomem(err);
    if (*st != HSY_OK)
        return NULL;
    s->days[s->ndays] = (struct write_day){.epoch = epoch};
    if (epoch > s->last)
        s->last = epoch;
    return &s->days[s->ndays++];
}

static hsy_status write_some_ids(struct write_store *s,
                                 const struct store_ids *ids, size_t at,
                                 size_t n, hsy_error *err)
{
    char sql[CLUSTER_SQL];

    for (size_t i = 0; i < n; i++) {
        struct store_id name; /* that of an archive stands anywhere */

        memcpy(&name, (const uint8_t *)ids->ids + (at + i) * sizeof name,
               sizeof name);
        cluster_id_columns(&name, &s->id_columns[i],
                           &s->id_columns[WRITE_IDS + i]);
        s->id_blank[i] = ids->null;
    }
    snprintf(sql, sizeof sql,
             "insert into ids_%u select * from unnest($1::int8[], $2::int8[], "
             "$3::boolean[]) on conflict do nothing",
             (unsigned)ids->epoch);
    return pg_ask(s->l, NULL, err, sql, "LLM", s->id_columns, n,
                  s->id_columns + WRITE_IDS, n, s->id_blank, n);
}

static hsy_status write_ids(struct write_store *s, const struct store_ids *ids,
                            hsy_error *err)
{
    struct write_day *day;
    hsy_status st = HSY_OK;

    if (ids->epoch <= s->state.closed)
        return HSY_OK;
    if (ids->epoch >= ENGINE_MERGED)
        return write_bad(err, "ids beyond all days");
    day = write_day(s, ids->epoch, &st, err);
    if (day == NULL)
        return st;
    day->ids += (int64_t)ids->n;
    for (size_t at = 0; at < ids->n && st == HSY_OK; at += WRITE_IDS)
        st = write_some_ids(
            s, ids, at, ids->n - at < WRITE_IDS ? ids->n - at : WRITE_IDS, err);
    return st;
}

/* ---- Batches ------------------------------------------------------------- */

/* One that cannot be folded would stop all folding: it is tried here. */
static hsy_status write_try(struct write_store *s,
                            const struct roster_entry *is,
                            const struct store_batch *b, hsy_error *err)
{
    int64_t *words = calloc(is->words, sizeof *words);
    hsy_tally tally;
    hsy_status st;

    if (words == NULL)
        return host_nomem(err);
    hsy_tally_init(&tally, is->scheme, words);
    st = fold_batch(&s->space, is, &tally, NULL, b, err);
    free(words);
    return st == HSY_OK || st == HSY_E_NOMEM
               ? st
               : write_bad(err, "a batch that is no batch of its task");
}

static hsy_status write_batch_counts(struct write_store *s,
                                     const struct roster_entry *is,
                                     const struct store_batch *b,
                                     hsy_error *err)
{
    const struct store_count one = {
        .entry = b->entry, .epoch = b->epoch, .reports = b->reports};
    struct store_count *counts = NULL;
    uint64_t reports;
    size_t n = 0;
    hsy_status st;

    if (b->type == STORE_REPORTS)
        return write_uncount(s, &one, err);
    st = mirror_merge_counts(is, b->bytes, b->len, &counts, &n, &reports, err);
    for (size_t i = 0; i < n && st == HSY_OK; i++)
        st = write_uncount(s, &counts[i], err);
    free(counts);
    return st;
}

static hsy_status write_batch(struct write_store *s,
                              const struct store_batch *b, hsy_error *err)
{
    const struct roster_entry *is = write_entry_of(s, b->entry);
    hsy_status st;

    if (is == NULL || (b->type != STORE_REPORTS && b->type != STORE_TALLY))
        return write_bad(err, "a batch of no entry");
    if (s->retired[b->entry])
        return HSY_OK; /* it is counted, and has no tally to go into */
    st = write_try(s, is, b, err);
    if (st == HSY_OK)
        st = write_batch_counts(s, is, b, err);
    return st == HSY_OK
               ? pg_ask(s->l, NULL, err,
                        "insert into batches(entry, epoch, type, reports, "
                        "nulls, ids, enrolled, bytes) values($1, $2, $3, $4, "
                        "0, 0, 0, $5)",
                        "iiilb", (int32_t)b->entry, (int32_t)b->epoch,
                        (int32_t)b->type, (int64_t)b->reports, b->bytes, b->len)
               : st;
}

/* ---- Names --------------------------------------------------------------- */

hsy_status write_once(struct write_store *s, hsy_error *err, const char *sql,
                      const char *form, ...)
{
    struct pg_rows *r = NULL;
    va_list values;
    hsy_status st;

    va_start(values, form);
    st = pg_ask_list(s->l, &r, err, sql, form, values);
    va_end(values);
    if (st == HSY_OK && pg_changed(r) != 1)
        st = write_bad(err, "something is there twice");
    pg_rows_free(r);
    return st;
}

static hsy_status write_received(struct write_store *s,
                                 const struct store_received *row,
                                 hsy_error *err)
{
    s->received += row->n + row->nulls;
    return write_once(s, err,
                      "insert into received values($1, $2, $3, $4, $5, $6, $7, "
                      "$8, $9, true) on conflict do nothing",
                      "bbiillllb", row->id, sizeof row->id, row->digest,
                      sizeof row->digest, (int32_t)row->entry,
                      (int32_t)row->epoch, (int64_t)row->n, (int64_t)row->nulls,
                      (int64_t)row->unopened, (int64_t)row->again, row->heads,
                      row->heads_len);
}

static hsy_status write_merged(struct write_store *s, const uint8_t *name,
                               hsy_error *err)
{
    if (memcmp(name, rehearsal_name, STORE_MERGED) == 0) {
        s->rehearsed = true; /* which the tables say of themselves */
        return HSY_OK;
    }
    return write_once(s, err,
                      "insert into merged values($1) on conflict do nothing",
                      "b", name, (size_t)STORE_MERGED);
}

static hsy_status write_append(struct store *store,
                               const struct store_commit *c, hsy_error *err)
{
    struct write_store *s = (struct write_store *)store;
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < c->ncounts && st == HSY_OK; i++)
        st = write_count(s, &c->counts[i], err);
    for (size_t i = 0; i < c->nquotas && st == HSY_OK; i++)
        st = write_quota(s, &c->quotas[i], err);
    for (size_t i = 0; i < c->nids && st == HSY_OK; i++)
        st = write_ids(s, &c->ids[i], err);
    for (size_t i = 0; i < c->nbatches && st == HSY_OK; i++)
        st = write_batch(s, &c->batches[i], err);
    if (st == HSY_OK && c->received != NULL)
        st = write_received(s, c->received, err);
    if (st == HSY_OK && c->merged != NULL)
        st = write_merged(s, c->merged, err);
    return st == HSY_E_REFUSED /* which a caller takes for "twice" */
               ? host_fail(err, HSY_E_IO, HOST_FIELD_STORE,
                           "the database refuses a statement")
               : st;
}

/* ---- Tallies and figures ------------------------------------------------- */

static hsy_status write_chunk(struct write_store *s,
                              const struct store_tally *t,
                              const struct store_chunk *c, hsy_error *err)
{
    uint8_t bytes[8 * STORE_CHUNK];

    for (size_t i = 0; i < c->n; i++)
        bytes_put64(bytes + 8 * i, (uint64_t)c->words[i]);
    return write_once(s, err,
                      "insert into cells values($1, $2, $3, 1, $4) on conflict "
                      "do nothing",
                      "iiib", (int32_t)t->entry, (int32_t)t->epoch,
                      (int32_t)c->place, bytes, 8 * c->n);
}

static hsy_status write_chunks(struct store *store, const struct store_tally *t,
                               const struct store_chunk *chunks, size_t n,
                               hsy_error *err)
{
    struct write_store *s = (struct write_store *)store;
    const struct roster_entry *is = write_entry_of(s, t->entry);
    hsy_status st = HSY_OK;

    if (is == NULL || t->words != is->words || t->epoch >= ENGINE_MERGED)
        return write_bad(err, "a tally of no entry");
    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        const uint64_t first = (uint64_t)chunks[i].place * STORE_CHUNK;
        const uint64_t left = first < t->words ? t->words - first : 0;

        if (left == 0 ||
            chunks[i].n != (left < STORE_CHUNK ? left : STORE_CHUNK))
            return host_fail(err, HSY_E_RANGE, HOST_FIELD_CHUNK,
                             "it does not fit its tally");
        st = write_chunk(s, t, &chunks[i], err);
    }
    return st;
}

static hsy_status write_rounds(struct store *store,
                               const struct store_round *rounds, size_t n,
                               hsy_error *err)
{
    (void)store;
    (void)rounds;
    (void)n;
    (void)err;
    return HSY_OK; /* it is one transaction */
}

static hsy_status write_settle(struct store *store, enum store_pace pace,
                               bool *more, hsy_error *err)
{
    (void)store;
    (void)pace;
    (void)err;
    *more = false;
    return HSY_OK;
}

static hsy_status write_figure(struct store *store,
                               const struct store_figure *figure,
                               hsy_error *err)
{
    struct write_store *s = (struct write_store *)store;

    return write_once(
        s, err, "insert into figures values($1, $2, $3) on conflict do nothing",
        "iib", (int32_t)figure->entry, (int32_t)figure->day, figure->json,
        figure->len);
}

/* ---- The store ----------------------------------------------------------- */

static const struct store_functions write_functions = {
    .name = "cluster",
    .append = write_append,
    .document = write_document,
    .figure = write_figure,
    .chunks = write_chunks,
    .rounds = write_rounds,
    .settle = write_settle,
    .inherit = write_inherit};

bool write_open(struct write_store *s, struct pg_link *l)
{
    *s = (struct write_store){
        .base = {&write_functions},
        .l = l,
        .id_columns = malloc(2 * WRITE_IDS * sizeof *s->id_columns),
        .id_blank = malloc(WRITE_IDS * sizeof *s->id_blank)};
    return s->id_columns != NULL && s->id_blank != NULL;
}

void write_close(struct write_store *s)
{
    roster_drop(s->roster);
    fold_space_clear(&s->space);
    free(s->retired);
    free(s->shares);
    free(s->counts);
    free(s->days);
    free(s->id_columns);
    free(s->id_blank);
    explicit_bzero(&s->state, sizeof s->state);
}
