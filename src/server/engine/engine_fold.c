/*
 * engine_fold.c - batches are added to the tallies in memory.
 *
 * A batch is folded after its commit, in the order of commits, once into the
 * tally of its entry and once into that of its day. Every report was checked
 * before it was admitted; should one fail all the same the engine stops and
 * nothing of it is written.
 */
#include "server/engine/internal.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <stdlib.h>
#include <string.h>

#define FOLD_STEP ((size_t)1 << 20) /* bytes of batches folded at a time */
#define FOLD_BYTES                                                             \
    ((size_t)1 << 20) /* of reports that are unpacked at once                  \
                       */
#define FOLD_REPORTS 16384u

/* ---- Reports ------------------------------------------------------------- */

/* Reports on their way from a batch to the tallies. */
struct fold_run {
    const struct roster_entry *is;
    hsy_tally *whole, *day; /* day may be NULL */
    uint8_t *reports;
    void *scratch;
    size_t have, room; /* reports; room is a multiple of 8 */
};

/* As many as FOLD_BYTES hold. A multiple of 8 packed reports are whole bytes,
 * so an upload can be cut there. */
static size_t fold_reports_room(const struct roster_entry *is)
{
    const size_t n = FOLD_BYTES / is->report_bytes;

    if (n > FOLD_REPORTS)
        return FOLD_REPORTS;
    return n < 8 ? 8 : n / 8 * 8;
}

static bool fold_memory(uint8_t **memory, size_t *room, size_t n)
{
    if (n <= *room)
        return true;
    if (!grow_to(memory, n, 1))
        return false;
    *room = n;
    return true;
}

static hsy_status fold_into(const struct fold_run *run, hsy_tally *t,
                            hsy_error *err)
{
    return hsy_tally_bulk(t, run->is->scheme, run->reports, run->have,
                          run->scratch, err);
}

static hsy_status fold_flush(struct fold_run *run, hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (run->have != 0)
        st = fold_into(run, run->whole, err);
    if (st == HSY_OK && run->have != 0 && run->day != NULL)
        st = fold_into(run, run->day, err);
    run->have = 0;
    return st;
}

/* The packed reports of one upload. */
static hsy_status fold_upload(struct fold_run *run, const uint8_t *packed,
                              size_t count, hsy_error *err)
{
    const hsy_scheme *s = run->is->scheme;
    hsy_status st = HSY_OK;

    while (count != 0 && st == HSY_OK) {
        const size_t left = run->room - run->have;
        const size_t take = count <= left ? count : left / 8 * 8;

        st = hsy_unpack(s, run->reports + run->have * run->is->report_bytes,
                        packed, take);
        if (st != HSY_OK)
            return host_fail(err, st, HOST_FIELD_BATCH,
                             "its reports are malformed");
        packed += hsy_packed_size(s, take);
        count -= take;
        run->have += take;
        if (count != 0 || run->have == run->room)
            st = fold_flush(run, err);
    }
    return st;
}

size_t engine_upload_len(const struct roster_entry *is, const uint8_t *bytes,
                         size_t left, size_t *count)
{
    size_t len;

    if (left < 4)
        return 0;
    *count = bytes_get32(bytes);
    len = hsy_packed_size(is->scheme, *count);
    return len > left - 4 ? 0 : 4 + len;
}

static hsy_status fold_uploads(struct fold_run *run,
                               const struct store_batch *b, hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (size_t at = 0; at < b->len && st == HSY_OK;) {
        size_t count;
        const size_t len =
            engine_upload_len(run->is, b->bytes + at, b->len - at, &count);

        if (len == 0)
            return host_fail(err, HSY_E_DAMAGED, HOST_FIELD_BATCH,
                             "it ends early");
        st = fold_upload(run, b->bytes + at + 4, count, err);
        at += len;
    }
    return st == HSY_OK ? fold_flush(run, err) : st;
}

hsy_status fold_batch(struct fold_space *s, const struct roster_entry *is,
                      hsy_tally *whole, hsy_tally *day,
                      const struct store_batch *b, hsy_error *err)
{
    const size_t room = fold_reports_room(is);
    struct fold_run run = {.is = is, .whole = whole, .day = day, .room = room};

    if (b->type != STORE_REPORTS)
        return engine_merge_file(whole, b->bytes, b->len, err);
    if (!fold_memory(&s->reports, &s->reports_room, room * is->report_bytes) ||
        !fold_memory(&s->scratch, &s->scratch_room,
                     hsy_tally_scratch(is->scheme, room)))
        return host_nomem(err);
    run.reports = s->reports;
    run.scratch = s->scratch;
    return fold_uploads(&run, b, err);
}

void fold_space_clear(struct fold_space *s)
{
    free(s->reports);
    free(s->scratch);
    *s = (struct fold_space){0};
}

hsy_status engine_fold_batch(struct engine *e, struct engine_entry *x,
                             const struct store_batch *b, hsy_error *err)
{
    struct engine_tally *whole, *day;
    hsy_status st;

    pthread_mutex_lock(&e->lock);
    whole = engine_tally_of(x, 0);
    day = b->epoch == 0 ? NULL : engine_tally_of(x, b->epoch);
    pthread_mutex_unlock(&e->lock);
    x->changed = true;
    whole->touched = true;
    whole->folded += b->type == STORE_REPORTS ? b->reports : 0;
    if (day != NULL) {
        day->touched = true;
        day->folded += b->reports;
    }
    st = fold_batch(&e->fold.space, x->is, &whole->view,
                    day != NULL ? &day->view : NULL, b, err);
    if (st == HSY_OK)
        x->through = b->seq;
    return st;
}

/* ---- The queue ----------------------------------------------------------- */

/* Everything that was handed over, behind what is there. */
static void fold_fetch(struct engine *e)
{
    struct fold *f = &e->fold;

    pthread_mutex_lock(&e->lock);
    if (e->queue.first != NULL) {
        *f->ready.end = e->queue.first;
        f->ready.end = e->queue.end;
        engine_queue_init(&e->queue);
    }
    pthread_mutex_unlock(&e->lock);
}

/* With the lock: all commits below the oldest batch that waits. */
static void fold_progress(struct engine *e)
{
    const struct engine_batch *waits[3] = {
        e->fold.ready.first, e->fold.frozen.first, e->queue.first};
    uint64_t folded = e->status.seq;

    for (size_t i = 0; i < 3; i++)
        if (waits[i] != NULL && waits[i]->seq <= folded)
            folded = waits[i]->seq - 1;
    e->status.folded = folded;
}

static hsy_status fold_one(struct engine *e, struct engine_entry *x,
                           struct engine_batch *b, hsy_error *err)
{
    const struct store_batch batch = {.seq = b->seq,
                                      .entry = b->entry,
                                      .epoch = b->epoch,
                                      .type = b->type,
                                      .reports = b->reports,
                                      .bytes = b->bytes,
                                      .len = b->len};
    hsy_status st = engine_fold_batch(e, x, &batch, err);

    if (st != HSY_OK)
        return st;
    pthread_mutex_lock(&e->lock);
    x->waiting_bytes -= b->len;
    e->status.waiting_bytes -= b->len;
    fold_progress(e);
    pthread_mutex_unlock(&e->lock);
    return HSY_OK;
}

/*
 * A commit is folded as a whole, since a round goes through whole commits: an
 * entry with reports of two days in one commit has two batches in it, and a
 * round that goes through the commit after the first would erase the second.
 */
hsy_status engine_fold(struct engine *e, bool *more, hsy_error *err)
{
    struct fold *f = &e->fold;
    struct engine_batch *b;
    hsy_status st = HSY_OK;
    uint64_t seq = 0;
    size_t done = 0;

    fold_fetch(e);
    while (st == HSY_OK && f->ready.first != NULL &&
           (done < FOLD_STEP || f->ready.first->seq == seq)) {
        struct engine_entry *x;

        b = engine_queue_pop(&f->ready);
        x = engine_entry_of(e, b->entry);
        seq = b->seq;
        if (x->frozen) {
            engine_queue_push(&f->frozen, b);
            continue;
        }
        done += b->len;
        st = fold_one(e, x, b, err);
        free(b);
    }
    *more = f->ready.first != NULL;
    return st;
}

/* Both queues are in the order of seq, and so is what they become. */
void engine_thaw(struct engine *e, struct engine_entry *x)
{
    struct fold *f = &e->fold;
    struct engine_queue merged;

    x->frozen = false;
    engine_queue_init(&merged);
    while (f->ready.first != NULL || f->frozen.first != NULL) {
        struct engine_queue *from = &f->ready;

        if (f->ready.first == NULL ||
            (f->frozen.first != NULL &&
             f->frozen.first->seq < f->ready.first->seq))
            from = &f->frozen;
        engine_queue_push(&merged, engine_queue_pop(from));
    }
    if (merged.first != NULL)
        f->ready = merged;
}

/* ---- Copies -------------------------------------------------------------- */

static hsy_status fold_sum(int64_t *words, const struct engine_tally *t,
                           size_t n, hsy_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(words[i], t->words[i], &words[i]))
            return host_fail(err, HSY_E_OVERFLOW, HSY_FIELD_TALLY,
                             "a count would pass 2^63 - 1");
    return HSY_OK;
}

/* Only this half takes tallies from the list, so they stay while we add. */
hsy_status engine_copy(struct engine *e, uint32_t entry, uint32_t first,
                       uint32_t last, int64_t *words, hsy_error *err)
{
    struct engine_entry *x = engine_entry_of(e, entry);
    struct engine_tally *t;
    hsy_status st = HSY_OK;
    bool any = false;

    if (last != 0 && first == 0)
        first = 1; /* days: the whole has epoch 0 */
    pthread_mutex_lock(&e->lock);
    t = x->tallies;
    pthread_mutex_unlock(&e->lock);
    for (; t != NULL && st == HSY_OK; t = t->next) {
        if (t->epoch < first || t->epoch > last)
            continue;
        if (!any)
            memset(words, 0, x->is->words * sizeof *words);
        any = true;
        st = fold_sum(words, t, x->is->words, err);
    }
    if (st == HSY_OK && !any)
        return host_fail(err, HSY_E_EMPTY, HSY_FIELD_EPOCH,
                         "no tally of these days is kept");
    return st;
}
