/*
 * receive.c - a batch that a shuffler delivered becomes one commit.
 *
 * Exactly once. The commit has the batch's row in `received`, the ids of its
 * envelopes, its counts, and its reports or envelopes: all of it or nothing.
 * The row's id is unique, so a second commit of the batch cannot be; whoever
 * sends the batch again finds the row, and is told that it is here. The
 * receipt is given after the commit, so what has one is here for good. A kill
 * before the commit leaves nothing, and the sender, who has no receipt, sends
 * the same bytes again.
 *
 * An envelope's id is a digest of its bytes. One that comes again in another
 * batch is left out, and counted. Ids are kept for as long as such an envelope
 * could be opened: it is of the period of the day on which the batch came at
 * most (seal.h), so until the period after that one has ended. They stand under
 * an epoch of that time, a later one for each day, so that no epoch has the ids
 * of two days' batches. The batch's own epoch does not matter: the hop before
 * writes it, and could have the ids forgotten at the next midnight.
 */
#include "server/engine/internal.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <stdlib.h>
#include <string.h>

#define RECEIVE_ROW ((size_t)1 << 20) /* bytes of a row of the store, about */

struct receive {
    struct engine *e;
    struct engine_entry *x;
    struct engine_delivery *d;
    hsy_error *err;
    uint32_t ids_epoch;
    uint8_t *again;           /* owned: by item, whether it came before */
    struct store_id *ids[2];  /* owned: of those that are new; of nulls */
    size_t nids[2], known[2]; /* known: noted in memory already */
    struct store_batch *rows; /* owned */
    size_t nrows, rows_room;
    struct engine_queue folded; /* of reports: what the rows lead into */
};

static bool receive_null(const struct receive *r, size_t i)
{
    return r->d->null != NULL && r->d->null[i];
}

/* ---- What is new --------------------------------------------------------- */

/* Whether the batch is here; HSY_E_MISMATCH if another of its id is. */
static hsy_status receive_known(struct receive *r)
{
    struct store *s = r->e->store;
    struct store_received row;
    hsy_status st;

    if (s->ops->received == NULL)
        return host_fail(r->err, HSY_E_UNKNOWN, HOST_FIELD_STORE,
                         "it keeps no batches of shufflers");
    st = s->ops->received(s, r->d->id, &row, r->err);
    if (st == HSY_E_EMPTY)
        return HSY_OK;
    if (st != HSY_OK)
        return st;
    if (memcmp(row.digest, r->d->digest, sizeof row.digest) != 0)
        return host_fail(r->err, HSY_E_MISMATCH, HOST_FIELD_BATCH,
                         "another batch of this id is here");
    r->d->known = true;
    r->d->taken = row.n;
    r->d->nulls = row.nulls;
    r->d->unopened = row.unopened;
    r->d->again = row.again;
    return HSY_OK;
}

static hsy_status receive_look(struct receive *r)
{
    struct engine_delivery *d = r->d;

    for (size_t i = 0; i < d->n; i++) {
        const bool null = receive_null(r, i);
        struct store_id *id = &r->ids[null][r->nids[null]];
        enum ids_answer answer;
        uint8_t content[32];
        hsy_status st;

        memcpy(content, d->names[i], 16);
        memcpy(content + 16, d->names[i], 16);
        ids_name(r->e->ids, id, d->names[i], content);
        st = ids_find(r->e->ids, id, &answer);
        if (st != HSY_OK) {
            r->e->dead = true; /* as after any failure of the disk (R20) */
            return host_fail(r->err, st, HOST_FIELD_RUNS,
                             "a file of ids cannot be read");
        }
        r->again[i] = answer != IDS_NEW;
        r->nids[null] += answer == IDS_NEW;
    }
    d->taken = r->nids[false];
    d->nulls = r->nids[true];
    d->again = d->n - d->taken - d->nulls;
    return HSY_OK;
}

/* ---- Room ---------------------------------------------------------------- */

/* Memory of the tallies, and of counts; with the lock. */
static hsy_status receive_tallies(struct receive *r)
{
    struct engine *e = r->e;
    struct engine_entry *x = r->x;
    const struct engine_delivery *d = r->d;
    const size_t need = d->taken * (4 + d->item);
    const struct store_count *count = engine_count(x, d->epoch);
    hsy_status st;

    if (count == NULL || !engine_taken_room(x))
        return HSY_E_NOMEM;
    if (d->type == STORE_SEALED || d->taken == 0)
        return HSY_OK;
    if (e->status.waiting_bytes != 0 &&
        e->status.waiting_bytes + need > e->options.fold_bytes)
        return HSY_E_FULL;
    st = engine_tally_make(e, x, 0, e->options.tally_bytes);
    if (st != HSY_OK || !engine_daily(e, x) || !engine_keeps(e, d->epoch) ||
        engine_tally_of(x, d->epoch) != NULL)
        return st;
    /* That of a day holds all of its reports, or there is none. */
    if (count->reports != 0 ||
        engine_tally_make(e, x, d->epoch, e->options.tally_bytes) != HSY_OK)
        x->undated = true;
    return HSY_OK;
}

static hsy_status receive_room(struct receive *r)
{
    hsy_status st;

    if (r->x->reports > ENGINE_REPORTS_MAX - r->d->taken)
        return host_fail(r->err, HSY_E_OVERFLOW, HSY_FIELD_COUNT,
                         "too many reports");
    pthread_mutex_lock(&r->e->lock);
    st = receive_tallies(r);
    pthread_mutex_unlock(&r->e->lock);
    return st == HSY_OK
               ? HSY_OK
               : host_fail(r->err, st, HSY_FIELD_TALLY, "there is no room");
}

/* Note the ids; what was noted is taken back if not all can be. */
static void receive_forget(struct receive *r)
{
    for (size_t k = 0; k < 2; k++)
        while (r->known[k] != 0)
            ids_remove(r->e->ids, r->ids_epoch, &r->ids[k][--r->known[k]]);
}

static hsy_status receive_note(struct receive *r)
{
    hsy_status st = HSY_OK;

    for (size_t k = 0; k < 2; k++)
        while (st == HSY_OK && r->known[k] < r->nids[k]) {
            st = ids_add(r->e->ids, r->ids_epoch, &r->ids[k][r->known[k]]);
            r->known[k] += st == HSY_OK;
        }
    return st == HSY_OK ? HSY_OK
                        : host_fail(r->err, st, HOST_FIELD_IDS,
                                    "no room for the ids of its envelopes");
}

/* ---- Rows ---------------------------------------------------------------- */

static struct store_batch *receive_row(struct receive *r)
{
    if (!grow_room(&r->rows, &r->rows_room, r->nrows + 1, sizeof *r->rows))
        return NULL;
    r->rows[r->nrows] = (struct store_batch){
        .entry = r->d->entry, .epoch = r->d->epoch, .type = r->d->type};
    return &r->rows[r->nrows++];
}

/* Envelopes stand where they are: each run of new ones is a row, or some. */
static hsy_status receive_sealed(struct receive *r)
{
    const struct engine_delivery *d = r->d;
    struct store_batch *row = NULL;

    for (size_t i = 0; i < d->n; i++) {
        if (r->again[i] || (row != NULL && row->len >= RECEIVE_ROW))
            row = NULL;
        if (r->again[i])
            continue;
        if (row == NULL) {
            row = receive_row(r);
            if (row == NULL)
                return host_nomem(r->err);
            row->bytes = d->items + i * d->item;
        }
        row->len += d->item;
        row->reports++;
    }
    return HSY_OK;
}

static struct engine_batch *receive_batch(struct receive *r)
{
    const struct engine_delivery *d = r->d;
    struct engine_batch *b = malloc(sizeof *b + RECEIVE_ROW + 4 + d->item);

    if (b == NULL)
        return NULL;
    *b = (struct engine_batch){
        .entry = d->entry, .epoch = d->epoch, .type = STORE_REPORTS};
    engine_queue_push(&r->folded, b);
    return b;
}

/* Reports become uploads of one each, as a device's. */
static hsy_status receive_reports(struct receive *r)
{
    const struct engine_delivery *d = r->d;
    struct engine_batch *b = NULL;

    for (size_t i = 0; i < d->n; i++) {
        if (r->again[i] || receive_null(r, i))
            continue;
        if (b == NULL || b->len >= RECEIVE_ROW)
            b = receive_batch(r);
        if (b == NULL)
            return host_nomem(r->err);
        bytes_put32(b->bytes + b->len, 1);
        memcpy(b->bytes + b->len + 4, d->items + i * d->item, d->item);
        b->len += 4 + d->item;
        b->reports++;
    }
    for (b = r->folded.first; b != NULL; b = b->next) {
        struct store_batch *row = receive_row(r);

        if (row == NULL)
            return host_nomem(r->err);
        row->reports = b->reports;
        row->bytes = b->bytes;
        row->len = b->len;
    }
    return HSY_OK;
}

/* ---- The commit ---------------------------------------------------------- */

/* With the lock. */
static void receive_hand_over(struct receive *r,
                              const struct store_count *count)
{
    struct engine *e = r->e;
    struct engine_batch *b;

    *engine_count(r->x, count->epoch) = *count;
    r->x->reports += r->d->taken;
    e->status.reports += r->d->taken;
    e->status.nulls += r->d->nulls;
    while ((b = engine_queue_pop(&r->folded)) != NULL) {
        b->seq = e->status.seq;
        r->x->waiting_bytes += b->len;
        e->status.waiting_bytes += b->len;
        engine_queue_push(&e->queue, b);
    }
    engine_count_ids(e);
    if (e->queue.first == NULL && e->status.waiting_bytes == 0)
        e->status.folded = e->status.seq;
}

static hsy_status receive_append(struct receive *r, struct store_commit *c,
                                 const struct store_count *count)
{
    struct engine *e = r->e;
    const hsy_status st = e->store->ops->append(e->store, c, r->err);

    if (st != HSY_OK) {
        e->dead = e->dead || st != HSY_E_FULL;
        return st;
    }
    pthread_mutex_lock(&e->lock);
    e->status.seq = c->seq;
    engine_taken_add(r->x, c->received, c->seq);
    receive_hand_over(r, count);
    pthread_mutex_unlock(&e->lock);
    return HSY_OK;
}

/* Those that there are. */
static size_t receive_ids(const struct receive *r, struct store_ids ids[2])
{
    size_t n = 0;

    for (size_t k = 0; k < 2; k++)
        if (r->nids[k] != 0)
            ids[n++] = (struct store_ids){.epoch = r->ids_epoch,
                                          .ids = r->ids[k],
                                          .n = r->nids[k],
                                          .null = k == 1};
    return n;
}

static hsy_status receive_commit(struct receive *r)
{
    struct engine_delivery *d = r->d;
    struct store_received row = {.entry = d->entry,
                                 .epoch = d->epoch,
                                 .n = d->taken,
                                 .nulls = d->nulls,
                                 .unopened = d->unopened,
                                 .again = d->again,
                                 .heads = d->heads,
                                 .heads_len = d->heads_len};
    struct store_count count = *engine_count(r->x, d->epoch);
    struct store_ids ids[2];
    struct store_commit c = {.seq = r->e->status.seq + 1,
                             .ids = ids,
                             .nids = receive_ids(r, ids),
                             .batches = r->rows,
                             .nbatches = r->nrows,
                             .counts = &count,
                             .ncounts = 1,
                             .received = &row,
                             .mixes = d->mix,
                             .nmixes = d->mix != NULL};

    memcpy(row.id, d->id, sizeof row.id);
    memcpy(row.digest, d->digest, sizeof row.digest);
    count.reports += d->taken;
    count.nulls += d->nulls;
    if (d->mix != NULL)
        d->mix->through = c.seq;
    return receive_append(r, &c, &count);
}

/* ---- All of it ----------------------------------------------------------- */

static hsy_status receive_memory(struct receive *r)
{
    const size_t n = r->d->n + 1; /* none is none */

    engine_queue_init(&r->folded);
    r->again = calloc(n, 1);
    r->ids[0] = malloc(n * sizeof *r->ids[0]);
    r->ids[1] = malloc(n * sizeof *r->ids[1]);
    return r->again == NULL || r->ids[0] == NULL || r->ids[1] == NULL
               ? host_nomem(r->err)
               : HSY_OK;
}

static void receive_clear(struct receive *r)
{
    struct engine_batch *b;

    while ((b = engine_queue_pop(&r->folded)) != NULL)
        free(b);
    free(r->again);
    free(r->ids[0]);
    free(r->ids[1]);
    free(r->rows);
}

static hsy_status receive_new(struct receive *r)
{
    hsy_status st = receive_memory(r);

    if (st == HSY_OK)
        st = receive_look(r);
    if (st == HSY_OK)
        st = receive_room(r);
    if (st == HSY_OK)
        st =
            r->d->type == STORE_SEALED ? receive_sealed(r) : receive_reports(r);
    if (st == HSY_OK)
        st = receive_note(r);
    if (st == HSY_OK)
        st = receive_commit(r);
    if (st != HSY_OK)
        receive_forget(r);
    receive_clear(r);
    return st;
}

/* A day that has come, of the task: other numbers mean other things where
 * counts are kept. */
static hsy_status receive_epoch(const struct receive *r)
{
    if (r->x->retired)
        return host_fail(r->err, HSY_E_REFUSED, HSY_FIELD_TASK,
                         "it is retired");
    if (r->d->epoch < r->x->is->first)
        return host_fail(r->err, HSY_E_REFUSED, HSY_FIELD_EPOCH,
                         "before the task");
    if (r->d->type == STORE_SEALED && r->e->day > STORE_RECEIVED_DAYS &&
        r->d->epoch < r->e->day - STORE_RECEIVED_DAYS)
        return host_fail(r->err, HSY_E_REFUSED, HSY_FIELD_EPOCH,
                         "more than 400 days old");
    /* The day of a batch's epoch is over, which speaks for a clock that has
     * jumped: where no uploads come, nothing else does. */
    engine_clock_heard(r->e, r->d->epoch + 1, 1);
    if (r->d->epoch > r->e->day)
        return host_fail(r->err, HSY_E_BUSY, HSY_FIELD_EPOCH,
                         "of a day that has not come by this clock");
    return HSY_OK;
}

hsy_status engine_receive(struct engine *e, struct engine_delivery *d,
                          hsy_error *err)
{
    struct receive r = {.e = e, .d = d, .err = err};
    hsy_status st = engine_entry_there(e, d->entry, err);

    if (st != HSY_OK)
        return st;
    r.x = e->entries[d->entry];
    r.ids_epoch = (e->day > e->closed ? e->day : e->closed + 1) +
                  ENGINE_REPLAY_DAYS(d->type);
    d->known = false;
    st = receive_known(&r);
    if (st != HSY_OK || d->known)
        return st;
    st = receive_epoch(&r);
    if (st != HSY_OK)
        return st;
    engine_runs_status(e);
    st = receive_new(&r);
    if (st == HSY_OK) {
        st = engine_runs_seal(e, false, err);
        e->dead |= st != HSY_OK;
    }
    return st;
}
