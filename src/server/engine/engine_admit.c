/*
 * engine_admit.c - which uploads are new; what is new becomes one commit.
 *
 * A group is decided upload by upload, in the order of the requests. What an
 * upload takes (its id, its share of a quota, room) is taken at once, so that
 * the same id a second time in one group finds itself. Should the store have no
 * room, everything taken is given back.
 */
#include "server/engine/internal.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <stdlib.h>
#include <string.h>

#define ADMIT_SOME 16u       /* uploads whose ids are looked for at a time */
#define ADMIT_ENTRY_SHARE 2u /* an entry may fill a half of what may wait */

/* ---- What a group consists of -------------------------------------------- */

/* The slot of an entry in an epoch; NULL: out of memory. */
static struct admit_slot *admit_slot_of(struct engine *e, uint32_t entry,
                                        uint32_t epoch)
{
    struct admit *a = &e->admit;
    struct engine_entry *x = e->entries[entry];
    struct store_count *count;

    for (uint32_t i = x->slot; i != 0; i = a->slots[i - 1].next)
        if (a->slots[i - 1].epoch == epoch)
            return &a->slots[i - 1];
    if (!grow_room(&a->slots, &a->slots_room, a->nslots + 1, sizeof *a->slots))
        return NULL;
    pthread_mutex_lock(&e->lock);
    count = engine_count(x, epoch);
    pthread_mutex_unlock(&e->lock);
    if (count == NULL)
        return NULL;
    a->slots[a->nslots] =
        (struct admit_slot){.entry = entry, .epoch = epoch, .next = x->slot};
    x->slot = (uint32_t)++a->nslots;
    return &a->slots[a->nslots - 1];
}

static struct admit_epoch *admit_epoch_of(struct admit *a, uint32_t epoch,
                                          bool null)
{
    for (size_t i = 0; i < a->nepochs; i++)
        if (a->epochs[i].epoch == epoch && a->epochs[i].null == null)
            return &a->epochs[i];
    if (!grow_room(&a->epochs, &a->epochs_room, a->nepochs + 1,
                   sizeof *a->epochs))
        return NULL;
    a->epochs[a->nepochs].epoch = epoch; /* the last user's memory stays */
    a->epochs[a->nepochs].null = null;
    a->epochs[a->nepochs].n = 0;
    return &a->epochs[a->nepochs++];
}

/* ---- Room ---------------------------------------------------------------- */

/* The tally of a day holds all of the day's reports, or there is none: it is
 * not begun for the rest of one. With the lock. */
static void admit_day(struct engine *e, struct engine_entry *x, uint32_t epoch)
{
    const struct store_count *count = engine_count(x, epoch);

    if (!engine_daily(e, x) || engine_tally_of(x, epoch) != NULL)
        return;
    if (count == NULL || count->reports != 0 ||
        engine_tally_make(e, x, epoch, e->options.tally_bytes) != HSY_OK)
        x->undated = true;
}

/* Memory for the tallies that reports of this slot go to. */
static bool admit_tallies(struct engine *e, struct admit_slot *slot)
{
    struct engine_entry *x = e->entries[slot->entry];
    const size_t limit = e->options.tally_bytes;
    hsy_status st;

    if (slot->memory != ADMIT_UNKNOWN)
        return slot->memory == ADMIT_FITS;
    pthread_mutex_lock(&e->lock);
    st = engine_tally_make(e, x, 0, limit);
    if (st == HSY_OK)
        admit_day(e, x, slot->epoch);
    x->refuses = st != HSY_OK;
    slot->waiting = x->waiting_bytes;
    pthread_mutex_unlock(&e->lock);
    slot->memory = st == HSY_OK ? ADMIT_FITS : ADMIT_REFUSES;
    return st == HSY_OK;
}

/* Room in the slot's batch for n more bytes. */
static bool admit_batch_room(struct admit_slot *slot, size_t n,
                             enum store_batch_type type)
{
    struct engine_batch *b = slot->batch, *more;
    const size_t len = b == NULL ? 0 : b->len;
    size_t room = slot->room == 0 ? 256 : slot->room;

    if (b != NULL && n <= slot->room - len)
        return true;
    while (room - len < n)
        room *= 2;
    more = realloc(b, sizeof *more + room);
    if (more == NULL)
        return false;
    if (b == NULL)
        *more = (struct engine_batch){
            .entry = slot->entry, .epoch = slot->epoch, .type = type};
    slot->batch = more;
    slot->room = room;
    return true;
}

/* Whether there is room for an upload's reports, which then is kept. */
static bool admit_room(struct engine *e, struct admit_slot *slot,
                       const hsy_upload *head)
{
    const size_t need = 4 + (size_t)head->length;
    const struct engine_entry *x = e->entries[slot->entry];

    return x->reports + slot->reports + head->count <= ENGINE_REPORTS_MAX &&
           e->admit.waiting + need <= e->options.fold_bytes &&
           admit_tallies(e, slot) &&
           slot->waiting + need <= e->options.fold_bytes / ADMIT_ENTRY_SHARE &&
           admit_batch_room(slot, need, STORE_REPORTS);
}

/* The same for a sealed one, which is kept with its id and never folded. */
static bool admit_room_sealed(struct engine *e, struct admit_slot *slot,
                              const hsy_upload *head)
{
    const struct engine_entry *x = e->entries[slot->entry];

    return x->reports + slot->reports + 1 <= ENGINE_REPORTS_MAX &&
           admit_batch_room(slot, sizeof head->id + head->length, STORE_SEALED);
}

static bool admit_room_of(struct engine *e, struct admit_slot *slot,
                          const hsy_upload *head)
{
    switch (head->kind) {
    case HSY_UPLOAD_REPORTS:
        return admit_room(e, slot, head);
    case HSY_UPLOAD_SEALED:
        return admit_room_sealed(e, slot, head);
    default:
        return true; /* null: nothing is kept of it but its id */
    }
}

/* ---- One upload ---------------------------------------------------------- */

/* Whether the token, if one is needed, has enough of its quota left. It is used
 * by reports: an upload may have millions of them, and a liar would send those
 * as one. */
static enum intake_verdict admit_quota(struct engine *e,
                                       const struct submission *s,
                                       const struct intake_upload *u)
{
    struct admit *a = &e->admit;
    const uint32_t epoch = u->head.epoch;
    uint32_t *used;

    if (!u->enrolled || s->quota == 0)
        return INTAKE_COUNTED;
    used = quotas_of(&e->quotas, s->token, epoch);
    if (used == NULL || !grow_room(&a->quotas, &a->quotas_room, a->nquotas + 1,
                                   sizeof *a->quotas))
        return INTAKE_FULL;
    return (uint64_t)*used + u->head.count <= s->quota ? INTAKE_COUNTED
                                                       : INTAKE_QUOTA;
}

/* So much of the quota, which admit_quota has seen to be there. */
static void admit_quota_use(struct engine *e, const struct submission *s,
                            const hsy_upload *head)
{
    struct admit *a = &e->admit;
    const uint32_t epoch = head->epoch;
    uint32_t *used = quotas_of(&e->quotas, s->token, epoch);
    struct admit_quota *last =
        a->nquotas == 0 ? NULL : &a->quotas[a->nquotas - 1];

    *used += head->count;
    if (last == NULL || last->row.epoch != epoch ||
        memcmp(last->row.token, s->token, 16) != 0) {
        last = &a->quotas[a->nquotas++];
        *last = (struct admit_quota){.row.epoch = epoch};
        memcpy(last->row.token, s->token, 16);
    }
    last->row.used = *used;
    last->added += head->count;
}

/* Nothing can fail any more: the upload is in. */
static void admit_count(struct engine *e, struct admit_slot *slot,
                        const struct intake_upload *u)
{
    struct engine_batch *b = slot->batch;

    if (u->head.kind == HSY_UPLOAD_NULL) {
        slot->nulls += u->head.count;
        return;
    }
    slot->reports += u->head.count;
    if (u->head.kind == HSY_UPLOAD_SEALED) {
        memcpy(b->bytes + b->len, u->head.id, sizeof u->head.id);
        memcpy(b->bytes + b->len + sizeof u->head.id, u->payload,
               u->head.length);
        b->len += sizeof u->head.id + u->head.length;
        return;
    }
    bytes_put32(b->bytes + b->len, u->head.count);
    memcpy(b->bytes + b->len + 4, u->payload, u->head.length);
    b->len += 4 + (size_t)u->head.length;
    e->admit.waiting += 4 + (size_t)u->head.length;
    slot->waiting += 4 + (size_t)u->head.length;
}

/* An id of the epoch, if its share of them is not used up. */
static bool admit_id(struct engine *e, struct admit_slot *slot,
                     const struct intake_upload *u, const struct store_id *id)
{
    const bool room =
        portions_take(&e->portions, slot->epoch, slot->entry, u->enrolled);

    if (!room) {
        pthread_mutex_lock(&e->lock);
        e->status.ids_refused++;
        e->status.ids_over =
            slot->epoch == e->day && portions_over(&e->portions, e->day);
        pthread_mutex_unlock(&e->lock);
        return false;
    }
    if (ids_add(e->ids, slot->epoch, id) != HSY_OK) {
        portions_give(&e->portions, slot->epoch, slot->entry, u->enrolled);
        return false;
    }
    slot->ids += !u->enrolled;
    slot->enrolled += u->enrolled;
    return true;
}

static enum intake_verdict admit_new(struct engine *e,
                                     const struct submission *s,
                                     const struct intake_upload *u,
                                     const struct store_id *id)
{
    const uint32_t epoch = u->head.epoch;
    enum intake_verdict verdict = admit_quota(e, s, u);
    struct admit_epoch *ids;
    struct admit_slot *slot;

    if (verdict != INTAKE_COUNTED)
        return verdict;
    ids = admit_epoch_of(&e->admit, epoch, u->head.kind == HSY_UPLOAD_NULL);
    slot = admit_slot_of(e, u->entry->number, epoch);
    if (ids == NULL || slot == NULL ||
        !grow_room(&ids->ids, &ids->room, ids->n + 1, sizeof *ids->ids) ||
        !admit_room_of(e, slot, &u->head) || !admit_id(e, slot, u, id))
        return INTAKE_FULL;
    ids->ids[ids->n++] = *id;
    if (u->enrolled && s->quota != 0)
        admit_quota_use(e, s, &u->head);
    admit_count(e, slot, u);
    engine_clock_heard(e, epoch, 1);
    return INTAKE_COUNTED;
}

/* Whether an id is known; an upload whose id cannot be looked for is not new,
 * and none of its group is counted. */
static enum ids_answer admit_find(struct engine *e, const struct store_id *id)
{
    enum ids_answer answer = IDS_NEW;
    const hsy_status st = ids_find(e->ids, id, &answer);

    if (st == HSY_OK)
        return answer;
    e->admit.unread = st;
    return IDS_OTHER;
}

static enum intake_verdict admit_decide(struct engine *e,
                                        const struct submission *s,
                                        const struct intake_upload *u,
                                        const struct store_id *id)
{
    const bool behind = e->clock.state == ENGINE_CLOCK_BEHIND;

    if (u->head.epoch <= e->closed)
        return behind ? INTAKE_CLOCK : INTAKE_CLOSED;
    switch (admit_find(e, id)) {
    case IDS_SAME:
        return INTAKE_AGAIN;
    case IDS_OTHER:
        return INTAKE_CONFLICT;
    case IDS_NEW:
        break;
    }
    if (e->entries[u->entry->number]->retired)
        return INTAKE_CLOSED;
    return behind ? INTAKE_CLOCK : admit_new(e, s, u, id);
}

/* ---- The commit ---------------------------------------------------------- */

static bool admit_out_room(struct admit *a)
{
    return grow_room(&a->out_ids, &a->out_ids_room, a->nepochs,
                     sizeof *a->out_ids) &&
           grow_room(&a->out_batches, &a->out_batches_room, a->nslots,
                     sizeof *a->out_batches) &&
           grow_room(&a->out_counts, &a->out_counts_room, a->nslots,
                     sizeof *a->out_counts) &&
           grow_room(&a->out_quotas, &a->out_quotas_room,
                     a->nquotas + a->nslots, sizeof *a->out_quotas);
}

/* Whose ids an epoch holds is kept beside what tokens have used; one more, so
 * that none can be told from nothing. */
static void admit_out_ids(struct engine *e, struct store_commit *c,
                          const struct admit_slot *slot)
{
    const uint64_t used = portions_used(&e->portions, slot->epoch, slot->entry);
    struct store_quota *row = &e->admit.out_quotas[c->nquotas++];

    *row = (struct store_quota){.epoch = slot->epoch,
                                .used = used < UINT32_MAX ? (uint32_t)used + 1
                                                          : UINT32_MAX};
    portions_name(row->token, slot->entry);
}

static void admit_out_slot(struct engine *e, struct store_commit *c,
                           const struct admit_slot *slot)
{
    struct admit *a = &e->admit;
    struct store_count count;

    if (slot->reports == 0 && slot->nulls == 0)
        return;
    admit_out_ids(e, c, slot);
    count = *engine_count(e->entries[slot->entry], slot->epoch);
    count.reports += slot->reports;
    count.nulls += slot->nulls;
    a->out_counts[c->ncounts++] = count;
    if (slot->batch != NULL && slot->batch->len != 0)
        a->out_batches[c->nbatches++] =
            (struct store_batch){.seq = c->seq,
                                 .entry = slot->entry,
                                 .epoch = slot->epoch,
                                 .type = slot->batch->type,
                                 .reports = slot->reports,
                                 .bytes = slot->batch->bytes,
                                 .len = slot->batch->len};
}

static struct store_commit admit_out(struct engine *e)
{
    struct admit *a = &e->admit;
    struct store_commit c = {.seq = e->status.seq + 1,
                             .ids = a->out_ids,
                             .batches = a->out_batches,
                             .counts = a->out_counts,
                             .quotas = a->out_quotas};

    for (size_t i = 0; i < a->nepochs; i++)
        if (a->epochs[i].n != 0)
            a->out_ids[c.nids++] =
                (struct store_ids){.epoch = a->epochs[i].epoch,
                                   .null = a->epochs[i].null,
                                   .ids = a->epochs[i].ids,
                                   .n = a->epochs[i].n};
    for (size_t i = 0; i < a->nquotas; i++)
        a->out_quotas[c.nquotas++] = a->quotas[i].row;
    for (size_t i = 0; i < a->nslots; i++)
        admit_out_slot(e, &c, &a->slots[i]);
    return c;
}

/* ---- After it ------------------------------------------------------------ */

static void admit_undo_ids(struct engine *e, const struct admit_slot *slot)
{
    for (uint64_t i = 0; i < slot->ids; i++)
        portions_give(&e->portions, slot->epoch, slot->entry, false);
    for (uint64_t i = 0; i < slot->enrolled; i++)
        portions_give(&e->portions, slot->epoch, slot->entry, true);
}

/* Everything that was taken is given back. */
static void admit_undo(struct engine *e)
{
    struct admit *a = &e->admit;

    for (size_t i = 0; i < a->nepochs; i++)
        for (size_t k = 0; k < a->epochs[i].n; k++)
            ids_remove(e->ids, a->epochs[i].epoch, &a->epochs[i].ids[k]);
    for (size_t i = 0; i < a->nslots; i++)
        admit_undo_ids(e, &a->slots[i]);
    for (size_t i = 0; i < a->nquotas; i++)
        *quotas_of(&e->quotas, a->quotas[i].row.token,
                   a->quotas[i].row.epoch) -= a->quotas[i].added;
}

/* With the lock: a slot's batch goes to the folding half. */
static void admit_hand_over(struct engine *e, struct admit_slot *slot)
{
    struct engine_entry *x = e->entries[slot->entry];
    struct store_count *count = engine_count(x, slot->epoch);

    count->reports += slot->reports;
    count->nulls += slot->nulls;
    x->reports += slot->reports;
    e->status.reports += slot->reports;
    e->status.nulls += slot->nulls;
    if (slot->batch == NULL || slot->batch->len == 0 ||
        slot->batch->type == STORE_SEALED)
        return; /* the store has what is sealed, and nobody else needs it */
    slot->batch->seq = e->status.seq;
    slot->batch->reports = slot->reports;
    x->waiting_bytes += slot->batch->len;
    e->status.waiting_bytes += slot->batch->len;
    engine_queue_push(&e->queue, slot->batch);
    slot->batch = NULL;
}

static void admit_done(struct engine *e, uint64_t seq)
{
    struct admit *a = &e->admit;

    pthread_mutex_lock(&e->lock);
    e->status.seq = seq;
    for (size_t i = 0; i < a->nslots; i++)
        admit_hand_over(e, &a->slots[i]);
    engine_count_ids(e);
    if (e->queue.first == NULL && e->status.waiting_bytes == 0)
        e->status.folded = seq;
    pthread_mutex_unlock(&e->lock);
}

/* Forget the group. */
static void admit_reset(struct engine *e)
{
    struct admit *a = &e->admit;

    for (size_t i = 0; i < a->nslots; i++) {
        e->entries[a->slots[i].entry]->slot = 0;
        free(a->slots[i].batch);
    }
    for (size_t i = 0; i < a->nepochs; i++)
        a->epochs[i].n = 0;
    a->nslots = a->nepochs = a->nquotas = 0;
}

static hsy_status admit_commit(struct engine *e, hsy_error *err)
{
    struct store_commit c;
    hsy_status st = HSY_E_FULL;

    if (e->admit.nepochs == 0)
        return HSY_OK; /* nothing is new */
    if (admit_out_room(&e->admit) && engine_order(e)) {
        c = admit_out(e);
        if (c.nids == 0)
            return HSY_OK;
        st = e->store->ops->append(e->store, &c, err);
    }
    if (st == HSY_OK)
        admit_done(e, c.seq);
    else if (st == HSY_E_FULL)
        admit_undo(e);
    else
        e->dead = true;
    return st;
}

/* ---- A group ------------------------------------------------------------- */

/* Uploads of a group, in order. */
struct admit_some {
    const struct submission *from[ADMIT_SOME];
    struct intake_upload *uploads[ADMIT_SOME];
    struct store_id names[ADMIT_SOME];
    size_t n;
};

/* What looking for their ids reads is fetched for all of them at a time. */
static void admit_block(struct engine *e, struct admit_some *b)
{
    ids_soon(e->ids, b->names, b->n);
    for (size_t i = 0; i < b->n; i++)
        b->uploads[i]->verdict =
            admit_decide(e, b->from[i], b->uploads[i], &b->names[i]);
    b->n = 0;
}

static void admit_submission(struct engine *e, struct submission *s,
                             struct admit_some *b)
{
    for (size_t i = 0; i < s->in.n; i++) {
        struct intake_upload *u = &s->in.uploads[i];

        if (u->verdict == INTAKE_CLOCK) /* of neither reading */
            engine_clock_heard(e, u->head.epoch, 1);
        if (u->verdict != INTAKE_COUNTED)
            continue;
        b->from[b->n] = s;
        b->uploads[b->n] = u;
        ids_name(e->ids, &b->names[b->n++], u->head.id, u->digest);
        if (b->n == ADMIT_SOME)
            admit_block(e, b);
    }
}

static void admit_verdicts(struct engine *e, const struct submission *list)
{
    pthread_mutex_lock(&e->lock);
    for (; list != NULL; list = list->next)
        for (size_t i = 0; i < list->in.n; i++)
            e->status.verdicts[list->in.uploads[i].verdict]++;
    pthread_mutex_unlock(&e->lock);
}

static void admit_begin(struct engine *e)
{
    bool enrols;

    pthread_mutex_lock(&e->lock);
    e->admit.waiting = e->status.waiting_bytes;
    enrols = e->enrols;
    pthread_mutex_unlock(&e->lock);
    portions_enrols(&e->portions, enrols);
}

/* As after any failure of the disk (R20). */
static hsy_status admit_unread(struct engine *e, hsy_error *err)
{
    e->dead = true;
    return host_fail(err, e->admit.unread, HOST_FIELD_RUNS,
                     "a file of ids cannot be read");
}

hsy_status engine_admit(struct engine *e, struct submission *list,
                        hsy_error *err)
{
    struct admit_some some = {.n = 0};
    hsy_status st;

    if (e->dead)
        return host_fail(err, HSY_E_IO, HOST_FIELD_STORE,
                         "the store has failed");
    engine_runs_status(e);
    admit_begin(e);
    for (struct submission *s = list; s != NULL; s = s->next)
        admit_submission(e, s, &some);
    admit_block(e, &some);
    st =
        e->admit.unread == HSY_OK ? admit_commit(e, err) : admit_unread(e, err);
    admit_reset(e);
    if (st == HSY_OK) {
        st = engine_runs_seal(e, false, err);
        e->dead |= st != HSY_OK;
    }
    if (st != HSY_OK && st != HSY_E_FULL)
        return st;
    if (st == HSY_OK)
        admit_verdicts(e, list);
    for (struct submission *s = list; s != NULL; s = s->next)
        s->outcome = st;
    return st;
}
