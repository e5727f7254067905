/*
 * commit_order.c - what a commit keeps stands in an order that says nothing.
 *
 * The order in which uploads came tells which of them came together, and those
 * that came together may be one device's (T09). So the ids of a commit are kept
 * in the order of their names, which are keyed hashes, and the uploads of a
 * batch in the order of their bytes. Neither order means anything to who counts
 * them.
 */
#include "server/engine/internal.h"

#include "host/base/grow.h"
#include "server/store/runs.h"

#include <stdlib.h>
#include <string.h>

static int order_uploads(const void *a, const void *b)
{
    const struct admit_upload *x = a, *y = b;
    const size_t len = x->len < y->len ? x->len : y->len;
    const int order = memcmp(x->bytes, y->bytes, len);

    return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

/* Where the uploads of a batch are; *n: how many. */
static bool order_find(struct admit *a, const struct engine_entry *x,
                       const struct engine_batch *b, size_t *n)
{
    size_t count;

    *n = 0;
    for (size_t at = 0; at < b->len; at += a->uploads[(*n)++].len) {
        if (!grow_room(&a->uploads, &a->uploads_room, *n + 1,
                       sizeof *a->uploads))
            return false;
        a->uploads[*n] = (struct admit_upload){
            .bytes = b->bytes + at,
            .len = b->type == STORE_SEALED
                       ? ENGINE_UPLOAD_ID + x->is->sealed_bytes
                       : engine_upload_len(x->is, b->bytes + at, b->len - at,
                                           &count)};
    }
    return true;
}

/* In the place of a batch, one with the same uploads in order. */
static bool order_batch(struct engine *e, struct admit_slot *slot)
{
    struct admit *a = &e->admit;
    struct engine_batch *b = slot->batch, *sorted;
    size_t n;

    if (b == NULL || b->len == 0)
        return true;
    if (!order_find(a, e->entries[slot->entry], b, &n))
        return false;
    if (n == 1)
        return true;
    sorted = malloc(sizeof *b + b->len);
    if (sorted == NULL)
        return false;
    *sorted = *b;
    sorted->len = 0;
    qsort(a->uploads, n, sizeof *a->uploads, order_uploads);
    for (size_t i = 0; i < n; i++) {
        memcpy(sorted->bytes + sorted->len, a->uploads[i].bytes,
               a->uploads[i].len);
        sorted->len += a->uploads[i].len;
    }
    slot->batch = sorted;
    slot->room = sorted->len;
    free(b);
    return true;
}

bool engine_order(struct engine *e)
{
    struct admit *a = &e->admit;
    bool good = true;

    for (size_t i = 0; i < a->nepochs; i++)
        if (a->epochs[i].n > 1)
            qsort(a->epochs[i].ids, a->epochs[i].n, sizeof *a->epochs[i].ids,
                  run_order);
    for (size_t i = 0; good && i < a->nslots; i++)
        good = order_batch(e, &a->slots[i]);
    return good;
}
