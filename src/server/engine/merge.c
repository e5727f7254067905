/*
 * merge.c - a tally that was counted elsewhere is added to an entry's.
 *
 * The file is looked through before it is accepted, and kept as a batch like
 * any other: durable first, folded later. Its reports belong to no day, but to
 * rounds (engine_rounds.c).
 */
#include "server/engine/internal.h"
#include "server/engine/mirror.h"

#include "host/base/host_fail.h"
#include "host/format/format.h"

#include <stdlib.h>
#include <string.h>

/* What a tally file holds besides cells. */
struct merge_file {
    uint64_t reports;
    struct rounds rounds;
};

/* One file, of a tally: each record to `t`, unless that is NULL. */
static hsy_status merge_records(struct container_reader *r, hsy_tally *t,
                                struct merge_file *file, hsy_error *err)
{
    struct container_item item;
    hsy_status st = container_next(r, &item, err);

    while (st == HSY_OK && item.type == CONTAINER_RECORD) {
        if (item.record.type == HSY_RECORD_END)
            file->reports = item.record.count;
        else if (t == NULL)
            st = container_add_rounds(&file->rounds, &item.record, item.payload,
                                      err);
        else
            st = container_add_record(t, &item.record, item.payload, err);
        if (st == HSY_OK)
            st = container_next(r, &item, err);
    }
    if (st == HSY_E_END)
        return HSY_OK;
    return st != HSY_OK ? st
                        : host_fail(err, HSY_E_FORMAT, HSY_FIELD_TALLY,
                                    "another file follows: send them one by "
                                    "one");
}

/* Look through a file for an entry (NULL: it was looked through before), or add
 * it to a tally. */
static hsy_status merge_read(hsy_tally *t, struct merge_file *file,
                             const struct roster_entry *is,
                             const uint8_t *bytes, size_t len, hsy_error *err)
{
    struct container_reader *r = container_open_bytes(bytes, len);
    struct container_item item;
    hsy_status st;

    if (r == NULL)
        return host_nomem(err);
    st = container_next(r, &item, err);
    if (st == HSY_OK && is != NULL && item.prefix.content != HSY_CONTENT_TALLY)
        st = host_fail(err, HSY_E_FORMAT, HSY_FIELD_TALLY,
                       "these are reports, not a tally: 'hearsay tally' makes "
                       "one of them");
    if (st == HSY_OK && is != NULL &&
        memcmp(item.prefix.digest, is->digest, HSY_DIGEST) != 0)
        st = host_fail(err, HSY_E_MISMATCH, HSY_FIELD_DIGEST,
                       "the tally belongs to another scheme");
    if (st == HSY_OK)
        st = merge_records(r, t, file, err);
    container_close(r);
    return st;
}

hsy_status engine_merge_rounds(struct rounds *rounds, const uint8_t *bytes,
                               size_t len, hsy_error *err)
{
    struct merge_file file = {0};
    hsy_status st = merge_read(NULL, &file, NULL, bytes, len, err);

    *rounds = file.rounds;
    return st;
}

hsy_status engine_merge_file(hsy_tally *t, const uint8_t *bytes, size_t len,
                             hsy_error *err)
{
    struct merge_file file = {0};

    return merge_read(t, &file, NULL, bytes, len, err);
}

/* Room for all that the tally needs from the commit on. */
static hsy_status merge_room(struct engine *e, struct engine_entry *x,
                             size_t len, uint64_t reports,
                             const struct store_count *counts, size_t n,
                             hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (reports > ENGINE_REPORTS_MAX ||
        x->reports > ENGINE_REPORTS_MAX - reports)
        return host_fail(err, HSY_E_OVERFLOW, HSY_FIELD_COUNT,
                         "too many reports");
    pthread_mutex_lock(&e->lock);
    if (e->status.waiting_bytes != 0 &&
        e->status.waiting_bytes + len > e->options.fold_bytes)
        st = HSY_E_FULL;
    else
        st = engine_tally_make(e, x, 0, e->options.tally_bytes);
    for (size_t i = 0; i < n && st == HSY_OK; i++)
        if (engine_count(x, counts[i].epoch) == NULL)
            st = HSY_E_NOMEM;
    pthread_mutex_unlock(&e->lock);
    return st == HSY_OK
               ? HSY_OK
               : host_fail(err, st, HSY_FIELD_TALLY, "there is no room");
}

/* The batch is the engine's from here on, whatever is returned. counts become
 * what is counted in all. */
static hsy_status merge_commit(struct engine *e, struct engine_entry *x,
                               struct engine_batch *b, uint64_t reports,
                               struct store_count *counts, size_t n,
                               const uint8_t name[16], hsy_error *err)
{
    const struct store_batch batch = {.entry = b->entry,
                                      .type = b->type,
                                      .reports = reports,
                                      .bytes = b->bytes,
                                      .len = b->len};
    struct store_commit c = {.seq = e->status.seq + 1,
                             .batches = &batch,
                             .nbatches = 1,
                             .counts = counts,
                             .ncounts = n,
                             .merged = name};
    hsy_status st;

    for (size_t i = 0; i < n; i++)
        counts[i].reports += engine_count(x, counts[i].epoch)->reports;
    st = e->store->ops->append(e->store, &c, err);
    if (st != HSY_OK) {
        e->dead |= st == HSY_E_IO;
        free(b);
        return st;
    }
    b->seq = c.seq;
    pthread_mutex_lock(&e->lock);
    e->status.seq = c.seq;
    for (size_t i = 0; i < n; i++)
        *engine_count(x, counts[i].epoch) = counts[i];
    x->reports += reports;
    x->waiting_bytes += b->len;
    e->status.waiting_bytes += b->len;
    engine_queue_push(&e->queue, b);
    pthread_mutex_unlock(&e->lock);
    return HSY_OK;
}

static hsy_status merge_take(struct engine *e, struct engine_entry *x,
                             const uint8_t *bytes, size_t len,
                             const struct merge_file *file, hsy_error *err)
{
    const uint32_t entry = x->is->number;
    struct store_count *counts = NULL;
    struct engine_batch *b = NULL;
    uint8_t name[16];
    size_t n = 0;
    hsy_status st = engine_rounds_counts(&counts, &n, x->is, &file->rounds,
                                         file->reports, err);

    if (st == HSY_OK)
        st = merge_room(e, x, len, file->reports, counts, n, err);
    if (st == HSY_OK && (b = malloc(sizeof *b + len)) == NULL)
        st = host_nomem(err);
    if (st == HSY_OK) {
        *b = (struct engine_batch){.entry = entry,
                                   .type = STORE_TALLY,
                                   .reports = file->reports,
                                   .len = len};
        memcpy(b->bytes, bytes, len);
        hsy_blake2b(name, sizeof name, bytes, len, (const uint8_t *)&entry,
                    sizeof entry);
        st = merge_commit(e, x, b, file->reports, counts, n, name, err);
    }
    free(counts);
    return st;
}

hsy_status mirror_merge_counts(const struct roster_entry *is,
                               const uint8_t *bytes, size_t len,
                               struct store_count **counts, size_t *n,
                               uint64_t *reports, hsy_error *err)
{
    struct merge_file file = {0};
    hsy_status st = merge_read(NULL, &file, is, bytes, len, err);

    if (st == HSY_OK && file.reports > ENGINE_REPORTS_MAX)
        st =
            host_fail(err, HSY_E_OVERFLOW, HSY_FIELD_COUNT, "too many reports");
    if (st == HSY_OK)
        st = engine_rounds_counts(counts, n, is, &file.rounds, file.reports,
                                  err);
    if (st == HSY_OK)
        *reports = file.reports;
    rounds_clear(&file.rounds);
    return st;
}

hsy_status engine_merge(struct engine *e, uint32_t entry, const uint8_t *bytes,
                        size_t len, hsy_error *err)
{
    struct merge_file file = {0};
    hsy_status st = engine_entry_there(e, entry, err);

    if (st != HSY_OK)
        return st;
    if (e->entries[entry]->retired)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_TASK, "it is retired");
    st = merge_read(NULL, &file, e->entries[entry]->is, bytes, len, err);
    if (st == HSY_OK)
        st = merge_take(e, e->entries[entry], bytes, len, &file, err);
    rounds_clear(&file.rounds);
    return st;
}
