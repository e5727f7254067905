/* inbox_look.c - digest, equal envelopes, opening. */
#include "server/shuffle/inbox_look.h"

#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

void inbox_opened_clear(struct inbox_opened *o)
{
    free(o->names);
    free(o->items);
    free(o->null);
    *o = (struct inbox_opened){.n = 0};
}

static int look_order(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}

/* Whether two names are equal; the names themselves stay in their order. */
static hsy_status look_equal(const struct inbox_opened *o, bool *equal,
                             hsy_error *err)
{
    uint8_t(*sorted)[16] = malloc((o->n + 1) * sizeof *sorted);

    if (sorted == NULL)
        return host_nomem(err);
    memcpy(sorted, o->names, o->n * sizeof *sorted);
    qsort(sorted, o->n, sizeof *sorted, look_order);
    *equal = false;
    for (size_t i = 1; i < o->n && !*equal; i++)
        *equal = look_order(sorted[i - 1], sorted[i]) == 0;
    free(sorted);
    return HSY_OK;
}

hsy_status inbox_look(struct inbox_opened *o, const uint8_t *all,
                      const struct batch_head *head, size_t heads_len,
                      hsy_error *err)
{
    uint8_t digest[STORE_DIGEST];
    bool equal;
    hsy_status st;

    /* What follows the first head. */
    hsy_blake2b(digest, sizeof digest, all + BATCH_HEAD,
                heads_len - BATCH_HEAD + head->n * head->length, NULL, 0);
    if (memcmp(digest, head->digest, sizeof digest) != 0)
        return host_fail(err, HSY_E_REFUSED, HOST_FIELD_CHECKSUM,
                         "what came is not what its head was signed for");
    o->names = malloc((head->n + 1) * sizeof *o->names);
    if (o->names == NULL)
        return host_nomem(err);
    o->n = head->n;
    for (size_t i = 0; i < o->n; i++)
        hsy_blake2b(o->names[i], sizeof o->names[i],
                    all + heads_len + i * head->length, head->length, NULL, 0);
    st = look_equal(o, &equal, err);
    if (st == HSY_OK && equal)
        return host_fail(err, HSY_E_REFUSED, HOST_FIELD_BATCH,
                         "two of its envelopes are equal");
    return st;
}

hsy_status inbox_open_all(struct inbox_opened *o, const uint8_t *envelopes,
                          const struct inbox_options *options,
                          const struct inbox_task *task,
                          const struct batch_head *head, hsy_error *err)
{
    size_t n = 0;

    o->items = malloc((o->n + 1) * task->item);
    o->null = calloc(o->n + 1, sizeof *o->null);
    if (o->items == NULL || o->null == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < o->n; i++) {
        const hsy_status st =
            options->open(options->ctx, task, o->items + n * task->item,
                          &o->null[n], envelopes + i * head->length);

        if (st == HSY_E_REFUSED || st == HSY_E_UNKNOWN)
            continue;
        if (st != HSY_OK)
            return host_fail(err, st, HOST_FIELD_BATCH,
                             "an envelope could not be looked at");
        memmove(o->names[n], o->names[i], sizeof o->names[n]);
        n++;
    }
    o->n = n;
    return HSY_OK;
}
