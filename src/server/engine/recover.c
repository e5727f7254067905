/*
 * recover.c - after the store was opened: everything is read back, and
 * batches that no tally has yet are folded.
 */
#include "server/engine/internal.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

/* The reader's functions have no hsy_error: what went wrong waits here. */
struct read {
    struct engine *e;
    hsy_error *err;
    uint8_t **entries;
    size_t *lens;
    size_t n;
};

static hsy_status recover_damaged(struct read *r, uint32_t field,
                                  const char *msg)
{
    return host_fail(r->err, HSY_E_DAMAGED, field, msg);
}

static uint8_t *recover_copy(const uint8_t *bytes, size_t len)
{
    uint8_t *copy = malloc(len + 1);

    if (copy != NULL)
        memcpy(copy, bytes, len);
    return copy;
}

/* ---- The roster ---------------------------------------------------------- */

static hsy_status recover_document(void *ctx, const uint8_t *bytes, size_t len)
{
    struct read *r = ctx;

    engine_document_drop(r->e->document);
    r->e->document = engine_document_make(bytes, len);
    r->e->document_len = len;
    return r->e->document == NULL ? host_nomem(r->err) : HSY_OK;
}

static hsy_status recover_entry(void *ctx, uint32_t number,
                                const uint8_t *bytes, size_t len)
{
    struct read *r = ctx;

    if (number != r->n)
        return recover_damaged(r, HOST_FIELD_ENTRY, "an entry is missing");
    if (!grow_to(&r->entries, r->n + 1, sizeof(uint8_t *)) ||
        !grow_to(&r->lens, r->n + 1, sizeof *r->lens))
        return host_nomem(r->err);
    r->lens[r->n] = len;
    r->entries[r->n] = recover_copy(bytes, len);
    return r->entries[r->n++] == NULL ? host_nomem(r->err) : HSY_OK;
}

static hsy_status recover_roster(struct read *r)
{
    struct engine *e = r->e;
    struct roster *roster;
    hsy_document doc, *in_force = NULL;
    hsy_status st = HSY_OK;

    if (e->document != NULL) {
        st = hsy_document_open(&doc, e->document, e->document_len, r->err);
        in_force = &doc;
    }
    if (st == HSY_OK)
        st = roster_load(&roster, (const uint8_t *const *)r->entries, r->lens,
                         r->n, in_force, r->err);
    if (st != HSY_OK)
        return st;
    roster_drop(e->roster);
    e->roster = roster;
    e->version = in_force == NULL ? 0 : doc.version;
    return engine_entries_make(e, roster, r->err);
}

/* ---- Counts, quotas, ids ------------------------------------------------- */

static hsy_status recover_count(void *ctx, const struct store_count *count)
{
    struct read *r = ctx;
    struct store_count *own;

    if (count->entry >= r->e->nentries)
        return recover_damaged(r, HSY_FIELD_COUNT,
                               "of an entry that is not there");
    if (count->epoch == ENGINE_RETIRED) {
        r->e->entries[count->entry]->retired = true;
        return HSY_OK;
    }
    own = engine_count(r->e->entries[count->entry], count->epoch);
    if (own == NULL)
        return host_nomem(r->err);
    *own = *count;
    r->e->entries[count->entry]->reports += count->reports;
    return HSY_OK;
}

static hsy_status recover_quota(void *ctx, const struct store_quota *quota)
{
    struct read *r = ctx;
    uint32_t *used;

    if (quota->epoch <= r->e->closed)
        return HSY_OK;
    used = quotas_of(&r->e->quotas, quota->token, quota->epoch);
    if (used == NULL)
        return host_nomem(r->err);
    *used = quota->used;
    return HSY_OK;
}

static hsy_status recover_ids(void *ctx, const struct store_ids *ids)
{
    struct read *r = ctx;

    if (ids->epoch <= r->e->closed)
        return HSY_OK;
    for (size_t i = 0; i < ids->n; i++)
        if (ids_add(r->e->ids, ids->epoch, &ids->ids[i]) != HSY_OK)
            return host_nomem(r->err);
    return HSY_OK;
}

static hsy_status recover_runs(void *ctx, struct store_runs *runs)
{
    struct read *r = ctx;

    if (runs->epoch <= r->e->closed)
        return HSY_OK;
    return ids_adopt(r->e->ids, runs) == HSY_OK ? HSY_OK : host_nomem(r->err);
}

/* ---- Tallies and batches ------------------------------------------------- */

static struct engine_entry *recover_entry_of(struct read *r, uint32_t entry)
{
    return entry < r->e->nentries ? r->e->entries[entry] : NULL;
}

static hsy_status recover_tally(void *ctx, const struct store_tally *tally)
{
    struct read *r = ctx;
    struct engine_entry *x = recover_entry_of(r, tally->entry);

    if (x == NULL || tally->words != x->is->words)
        return recover_damaged(r, HSY_FIELD_TALLY, "it belongs to no entry");
    if (engine_tally_make(r->e, x, tally->epoch, SIZE_MAX) != HSY_OK)
        return host_nomem(r->err);
    return HSY_OK;
}

static hsy_status recover_chunk(void *ctx, const struct store_tally *tally,
                                const struct store_chunk *chunk)
{
    struct read *r = ctx;
    struct engine_entry *x = recover_entry_of(r, tally->entry);
    struct engine_tally *t =
        x == NULL ? NULL : engine_tally_of(x, tally->epoch);

    if (t == NULL || chunk->place >= engine_chunks(x) ||
        chunk->n != engine_chunk_words(x, chunk->place))
        return recover_damaged(r, HOST_FIELD_CHUNK, "it belongs to no tally");
    memcpy(t->words + (size_t)chunk->place * STORE_CHUNK, chunk->words,
           chunk->n * sizeof *chunk->words);
    engine_mark(t->marks[chunk->place], chunk->words, chunk->n);
    return HSY_OK;
}

static hsy_status recover_batch(void *ctx, const struct store_batch *batch)
{
    struct read *r = ctx;
    struct engine *e = r->e;
    struct engine_entry *x = recover_entry_of(r, batch->entry);
    hsy_status st;

    if (x == NULL ||
        (batch->type != STORE_REPORTS && batch->type != STORE_TALLY))
        return recover_damaged(r, HOST_FIELD_BATCH, "it belongs to no entry");
    st = engine_tally_make(e, x, 0, SIZE_MAX);
    if (st != HSY_OK)
        return host_nomem(r->err);
    if (batch->epoch != 0 && engine_daily(e, x) &&
        engine_keeps(e, batch->epoch) &&
        engine_tally_of(x, batch->epoch) == NULL &&
        engine_tally_make(e, x, batch->epoch, e->options.tally_bytes) == HSY_OK)
        engine_tally_of(x, batch->epoch)->begun = true;
    return engine_fold_batch(e, x, batch, r->err);
}

static hsy_status recover_received(void *ctx,
                                   const struct store_received *received)
{
    struct read *r = ctx;
    struct engine_entry *x = recover_entry_of(r, received->entry);

    if (x == NULL)
        return recover_damaged(r, HOST_FIELD_RECEIVED,
                               "a batch belongs to no entry");
    if (!engine_taken_room(x))
        return host_nomem(r->err);
    engine_taken_add(x, received, 0);
    return HSY_OK;
}

/* A tally that was begun holds all reports of its day, or it goes: the others
 * were folded when there was no memory for it. */
static void recover_parts(struct engine *e, struct engine_entry *x)
{
    for (struct engine_tally **at = &x->tallies; *at != NULL;) {
        struct engine_tally *t = *at;
        const struct store_count *count =
            t->begun ? engine_count(x, t->epoch) : NULL;

        if (!t->begun || (count != NULL && count->reports == t->folded)) {
            at = &t->next;
            continue;
        }
        engine_tally_drop(e, x, at);
        x->undated = true;
    }
}

/* ---- Shares -------------------------------------------------------------- */

/* Ids of an entry in an epoch, without a token: as they were kept, or if there
 * is nothing, as many as it has reports. */
static bool recover_used(struct engine *e, uint32_t epoch, size_t entry,
                         uint64_t *used)
{
    const struct engine_entry *x = e->entries[entry];
    const uint32_t *kept;
    uint8_t name[16];

    *used = 0;
    portions_name(name, (uint32_t)entry);
    for (size_t k = 0; k < x->ncounts; k++)
        if (x->counts[k].epoch == epoch)
            *used = x->counts[k].reports + x->counts[k].nulls;
    if (*used == 0)
        return true;
    kept = quotas_of(&e->quotas, name, epoch);
    if (kept == NULL)
        return false;
    if (*kept != 0)
        *used = *kept - 1; /* engine_admit.c adds it */
    return true;
}

/* Whose ids the open epochs hold: they do not say that themselves. */
static hsy_status recover_portions(struct read *r)
{
    struct engine *e = r->e;
    uint64_t *used = malloc((e->nentries + 1) * sizeof *used);
    uint32_t last = e->closed;
    bool good = used != NULL &&
                portions_divide(&e->portions, e->options.ids_epoch, e->roster);

    for (size_t i = 0; i < e->nentries; i++)
        for (size_t k = 0; k < e->entries[i]->ncounts; k++)
            if (engine_is_day(&e->entries[i]->counts[k]) &&
                e->entries[i]->counts[k].epoch > last)
                last = e->entries[i]->counts[k].epoch;
    for (uint32_t day = e->closed + 1; good && day <= last; day++) {
        if (ids_of(e->ids, day) == 0)
            continue;
        for (size_t i = 0; good && i < e->nentries; i++)
            good = recover_used(e, day, i, &used[i]);
        good =
            good && portions_had(&e->portions, day, ids_of(e->ids, day), used);
    }
    free(used);
    return good ? HSY_OK : host_nomem(r->err);
}

/* ---- All of it ----------------------------------------------------------- */

hsy_status engine_read(struct engine *e, hsy_error *err)
{
    struct read r = {.e = e, .err = err};
    const struct store_reader first = {
        .ctx = &r, .document = recover_document, .entry = recover_entry};
    const struct store_reader second = {.ctx = &r,
                                        .count = recover_count,
                                        .quota = recover_quota,
                                        .ids = recover_ids,
                                        .runs = recover_runs,
                                        .tally = recover_tally,
                                        .chunk = recover_chunk,
                                        .batch = recover_batch,
                                        .received = recover_received};
    hsy_status st = e->store->ops->read(e->store, &first, err);

    if (st == HSY_OK)
        st = recover_roster(&r);
    if (st == HSY_OK)
        st = e->store->ops->read(e->store, &second, err);
    for (size_t i = 0; st == HSY_OK && i < e->nentries; i++)
        recover_parts(e, e->entries[i]);
    e->status.tally_need = engine_tally_need(e, e->roster);
    if (st == HSY_OK)
        st = recover_portions(&r);
    for (size_t i = 0; i < r.n; i++)
        free(r.entries[i]);
    free(r.entries);
    free(r.lens);
    engine_count_ids(e);
    return st;
}
