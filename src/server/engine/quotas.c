/* quotas.c - a table that doubles; a row without an epoch is empty. */
#include "server/engine/quotas.h"

#include <stdlib.h>
#include <string.h>

#define QUOTAS_START 64u

void quotas_clear(struct quotas *q)
{
    free(q->rows);
    *q = (struct quotas){0};
}

/* Where the row is, or where it would be. */
static struct store_quota *quotas_seek(const struct quotas *q,
                                       const uint8_t token[16], uint32_t epoch)
{
    uint64_t hash;
    size_t at;

    memcpy(&hash, token, sizeof hash);
    at = (size_t)(hash + epoch) & (q->room - 1);
    while (q->rows[at].epoch != 0 &&
           (q->rows[at].epoch != epoch ||
            memcmp(q->rows[at].token, token, 16) != 0))
        at = (at + 1) & (q->room - 1);
    return &q->rows[at];
}

/* The rows beyond an epoch, in a table of this room. */
static bool quotas_move(struct quotas *q, size_t room, uint32_t beyond)
{
    struct quotas to = {.room = room, .rows = calloc(room, sizeof *to.rows)};

    if (to.rows == NULL)
        return false;
    for (size_t i = 0; i < q->room; i++) {
        const struct store_quota *row = &q->rows[i];

        if (row->epoch > beyond) {
            *quotas_seek(&to, row->token, row->epoch) = *row;
            to.n++;
        }
    }
    free(q->rows);
    *q = to;
    return true;
}

uint32_t *quotas_of(struct quotas *q, const uint8_t token[16], uint32_t epoch)
{
    struct store_quota *row =
        q->room == 0 ? NULL : quotas_seek(q, token, epoch);

    if (row != NULL && row->epoch != 0)
        return &row->used; /* one that is there needs no memory */
    if (2 * q->n >= q->room &&
        !quotas_move(q, q->room == 0 ? QUOTAS_START : 2 * q->room, 0))
        return NULL;
    row = quotas_seek(q, token, epoch);
    memcpy(row->token, token, 16);
    row->epoch = epoch;
    q->n++;
    return &row->used;
}

void quotas_drop(struct quotas *q, uint32_t through)
{
    /* Without memory they stay, which harms nobody: closed epochs are refused
     * before anybody looks here. */
    if (q->room != 0)
        (void)quotas_move(q, q->room, through);
}
