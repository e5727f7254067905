/*
 * cluster_group.c - which uploads of a group are new, and what is written of
 * them. No I/O here: cluster_commit.c asks the database.
 *
 * Items are in the order of epoch and id, which is the order in which rows are
 * locked, so that two nodes never wait for each other (D3). It says
 * nothing of who came when (commit_order.c).
 */
#include "server/cluster/internal.h"

#include "host/base/grow.h"
#include "lib/bits/bytes.h"
#include "server/cluster/delta.h"

#include <stdlib.h>
#include <string.h>

static void group_drop_slots(struct group *g)
{
    for (size_t i = 0; i < g->nslots; i++)
        free(g->slots[i].bytes);
    g->nslots = 0;
}

void group_begin(struct group *g)
{
    group_drop_slots(g);
    g->n = g->nquotas = 0;
}

void group_free(struct group *g)
{
    group_drop_slots(g);
    free(g->items);
    free(g->quotas);
    free(g->slots);
    free(g->longs);
    free(g->marks);
    free(g->order);
    fold_space_clear(&g->space);
}

void cluster_id_columns(const struct store_id *name, int64_t *id, int64_t *rest)
{
    const uint8_t *bytes = (const uint8_t *)name;
    uint64_t columns[2] = {0, 0};

    for (size_t i = 0; i < sizeof *name; i++)
        columns[i / 8] = columns[i / 8] << 8 | bytes[i];
    *id = (int64_t)columns[0];
    *rest = (int64_t)columns[1];
}

void cluster_id_bytes(struct store_id *name, int64_t id, int64_t rest)
{
    const uint64_t columns[2] = {(uint64_t)id, (uint64_t)rest};
    uint8_t *bytes = (uint8_t *)name;

    for (size_t i = 0; i < sizeof *name; i++)
        bytes[i] = (uint8_t)(columns[i / 8] >> (56 - 8 * (i % 8)));
}

bool group_add(struct group *g, const struct cluster_ticket *t, uint32_t shard)
{
    for (size_t i = 0; i < t->npieces; i++) {
        struct cluster_piece *piece = &t->pieces[i];
        struct group_item *item;

        if (piece->shard != shard)
            continue;
        if (!grow_room(&g->items, &g->items_room, g->n + 1, sizeof *g->items))
            return false;
        item = &g->items[g->n];
        *item = (struct group_item){.piece = piece,
                                    .submission = t->submission,
                                    .epoch = piece->upload->head.epoch,
                                    .order = (uint32_t)g->n,
                                    .verdict = INTAKE_DOUBT};
        cluster_id_columns(&piece->name, &item->id, &item->rest);
        g->n++;
    }
    return true;
}

static int group_compare(const void *a, const void *b)
{
    const struct group_item *x = a, *y = b;

    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

bool group_sort(struct group *g)
{
    if (!grow_room(&g->order, &g->order_room, g->n + 1, sizeof *g->order))
        return false;
    if (g->n > g->columns_room) {
        const size_t n = 2 * g->n;

        if (!grow_to(&g->longs, 2 * n, sizeof *g->longs) ||
            !grow_to(&g->marks, n, sizeof *g->marks))
            return false;
        g->columns_room = n;
    }
    if (g->n > 1)
        qsort(g->items, g->n, sizeof *g->items, group_compare);
    for (size_t i = 0; i < g->n; i++) {
        g->order[g->items[i].order] = (uint32_t)i;
        g->items[i].follows = i != 0 &&
                              g->items[i].epoch == g->items[i - 1].epoch &&
                              g->items[i].id == g->items[i - 1].id;
    }
    return true;
}

size_t group_epoch(const struct group *g, size_t i)
{
    size_t n = 0;

    while (i + n < g->n && g->items[i + n].epoch == g->items[i].epoch)
        n++;
    return n;
}

/* The first item of an epoch with an id; NULL: none. */
static struct group_item *group_find(struct group *g, size_t first, size_t n,
                                     int64_t id)
{
    size_t low = first, high = first + n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (g->items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < first + n && g->items[low].id == id ? &g->items[low] : NULL;
}

void group_new(struct group *g, size_t first, size_t n, int64_t id)
{
    struct group_item *item = group_find(g, first, n, id);

    if (item != NULL)
        item->fresh = true;
}

void group_there(struct group *g, size_t first, size_t n, int64_t id,
                 int64_t rest)
{
    struct group_item *item = group_find(g, first, n, id);

    if (item != NULL && !item->fresh) {
        item->there = true;
        item->was = rest;
    }
}

/* ---- Quotas -------------------------------------------------------------- */

static bool group_wants_quota(const struct group_item *item)
{
    return !item->follows && item->may == INTAKE_COUNTED &&
           item->piece->upload->enrolled && item->submission->quota != 0;
}

static int group_compare_quotas(const void *a, const void *b)
{
    const struct group_quota *x = a, *y = b;

    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    return memcmp(x->token, y->token, sizeof x->token);
}

bool group_quotas(struct group *g)
{
    size_t kept = 0;

    g->nquotas = 0;
    for (size_t i = 0; i < g->n; i++) {
        struct group_quota *q;

        if (!group_wants_quota(&g->items[i]))
            continue;
        if (!grow_room(&g->quotas, &g->quotas_room, g->nquotas + 1,
                       sizeof *g->quotas))
            return false;
        q = &g->quotas[g->nquotas++];
        *q = (struct group_quota){.epoch = g->items[i].epoch};
        memcpy(q->token, g->items[i].submission->token, sizeof q->token);
    }
    if (g->nquotas > 1)
        qsort(g->quotas, g->nquotas, sizeof *g->quotas, group_compare_quotas);
    for (size_t i = 0; i < g->nquotas; i++)
        if (kept == 0 ||
            group_compare_quotas(&g->quotas[kept - 1], &g->quotas[i]) != 0)
            g->quotas[kept++] = g->quotas[i];
    g->nquotas = kept;
    return true;
}

static struct group_quota *group_quota_of(struct group *g,
                                          const struct group_item *item)
{
    struct group_quota key = {.epoch = item->epoch};

    memcpy(key.token, item->submission->token, sizeof key.token);
    return bsearch(&key, g->quotas, g->nquotas, sizeof *g->quotas,
                   group_compare_quotas);
}

/* In the order in which they came, as one machine does. */
void group_spend(struct group *g)
{
    for (size_t i = 0; i < g->n; i++) {
        struct group_item *item = &g->items[g->order[i]];
        struct group_quota *q;
        int64_t count;

        if (!item->fresh || !group_wants_quota(item))
            continue;
        q = group_quota_of(g, item);
        count = item->piece->upload->head.count;
        if (q == NULL ||
            q->used + q->added + count > (int64_t)item->submission->quota)
            item->may = INTAKE_QUOTA;
        else
            q->added += count;
    }
}

/* ---- Slots --------------------------------------------------------------- */

static bool group_counts(const struct group_item *item)
{
    return item->fresh && item->may == INTAKE_COUNTED;
}

static struct group_slot *group_slot_of(struct group *g,
                                        const struct group_item *item)
{
    const struct roster_entry *is = item->piece->upload->entry;

    for (size_t i = g->nslots; i-- != 0;)
        if (g->slots[i].entry == is->number && g->slots[i].epoch == item->epoch)
            return &g->slots[i];
    if (!grow_room(&g->slots, &g->slots_room, g->nslots + 1, sizeof *g->slots))
        return NULL;
    g->slots[g->nslots] = (struct group_slot){.is = is,
                                              .entry = is->number,
                                              .epoch = item->epoch,
                                              .type = STORE_REPORTS};
    return &g->slots[g->nslots++];
}

/* An upload with reports, on its way into its slot. */
struct group_bytes {
    const struct intake_upload *upload;
    size_t slot;
};

static int group_compare_bytes(const void *a, const void *b)
{
    const struct group_bytes *x = a, *y = b;
    const struct intake_upload *u = x->upload, *v = y->upload;
    const size_t len =
        u->head.length < v->head.length ? u->head.length : v->head.length;
    int order;

    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    if (u->head.count != v->head.count)
        return u->head.count < v->head.count ? -1 : 1;
    order = memcmp(u->payload, v->payload, len);
    return order != 0 ? order
                      : (u->head.length > v->head.length) -
                            (u->head.length < v->head.length);
}

static void group_slot_count(struct group_slot *slot,
                             const struct intake_upload *u)
{
    slot->ids += !u->enrolled;
    slot->enrolled += u->enrolled;
    if (u->head.kind == HSY_UPLOAD_NULL) {
        slot->nulls += u->head.count;
    } else {
        slot->reports += u->head.count;
        slot->len += 4 + (size_t)u->head.length;
    }
}

static bool group_fill(struct group *g, struct group_bytes *all, size_t n)
{
    for (size_t i = 0; i < g->nslots; i++) {
        g->slots[i].bytes = malloc(g->slots[i].len + 1);
        if (g->slots[i].bytes == NULL)
            return false;
        g->slots[i].len = 0;
    }
    if (n > 1)
        qsort(all, n, sizeof *all, group_compare_bytes);
    for (size_t i = 0; i < n; i++) {
        struct group_slot *slot = &g->slots[all[i].slot];
        const struct intake_upload *u = all[i].upload;

        bytes_put32(slot->bytes + slot->len, u->head.count);
        memcpy(slot->bytes + slot->len + 4, u->payload, u->head.length);
        slot->len += 4 + (size_t)u->head.length;
    }
    for (size_t i = 0; i < g->nslots; i++)
        if (delta_sum(&g->space, g->slots[i].is, g->slots[i].bytes,
                      &g->slots[i].len))
            g->slots[i].type = CLUSTER_DELTA;
    return true;
}

bool group_slots(struct group *g)
{
    struct group_bytes *all = malloc((g->n + 1) * sizeof *all);
    bool good = all != NULL;
    size_t n = 0;

    group_drop_slots(g);
    for (size_t i = 0; good && i < g->n; i++) {
        const struct intake_upload *u = g->items[i].piece->upload;
        struct group_slot *slot;

        if (!group_counts(&g->items[i]))
            continue;
        slot = group_slot_of(g, &g->items[i]);
        good = slot != NULL;
        if (!good)
            break;
        group_slot_count(slot, u);
        if (u->head.kind != HSY_UPLOAD_NULL)
            all[n++] = (struct group_bytes){u, (size_t)(slot - g->slots)};
    }
    good = good && group_fill(g, all, n);
    free(all);
    return good;
}

/* ---- Verdicts ------------------------------------------------------------ */

/* The first of those with one id. */
static enum intake_verdict group_leader(const struct group_item *item)
{
    if (item->there)
        return item->was == item->rest ? INTAKE_AGAIN : INTAKE_CONFLICT;
    if (item->fresh || item->may != INTAKE_COUNTED)
        return item->may;
    return INTAKE_DOUBT; /* neither new nor there: somebody forgot it */
}

/* The others, which came after it with the same id. */
static enum intake_verdict group_follower(const struct group_item *item,
                                          const struct group_item *leader)
{
    const int64_t is = leader->there ? leader->was : leader->rest;

    if (leader->verdict != INTAKE_COUNTED && leader->verdict != INTAKE_AGAIN &&
        leader->verdict != INTAKE_CONFLICT)
        return item->rest == leader->rest ? leader->verdict : INTAKE_DOUBT;
    return item->rest == is ? INTAKE_AGAIN : INTAKE_CONFLICT;
}

void group_judge(struct group *g)
{
    const struct group_item *leader = NULL;

    for (size_t i = 0; i < g->n; i++) {
        struct group_item *item = &g->items[i];

        if (!item->follows)
            leader = item;
        item->verdict =
            item == leader ? group_leader(item) : group_follower(item, leader);
    }
}
