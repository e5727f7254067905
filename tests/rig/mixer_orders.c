/* mixer_orders.c - see mixer_orders.h. */
#include "rig/mixer_orders.h"

#include "server/shuffle/internal.h"

#include <stdlib.h>

static hsy_status orders_fill(void *ctx, void *buf, size_t len)
{
    struct mixer_orders *o = ctx;

    return o->rng->fill(o->rng->ctx, buf, len);
}

hsy_status mixer_orders_open(struct mixer_orders *o,
                             const struct life_shuffler *by)
{
    hsy_error err;

    life_fresh();
    *o = (struct mixer_orders){.epoch = LIFE_DAY0};
    return life_open_with(&o->hop, by, 1, 0, (hsy_rng){orders_fill, o}, &err);
}

void mixer_orders_close(struct mixer_orders *o)
{
    life_close(&o->hop);
}

/* Where each number stands in what was sent, which the next hop then has. */
static hsy_status orders_read(struct mixer_orders *o, uint32_t place[ORDER_N])
{
    struct mixer_parcel p;
    struct batch_head head;
    hsy_error err;
    uint8_t *bytes =
        mixer_parcel(o->hop.m, NULL, &p) ? life_parcel(&o->hop, &p) : NULL;
    hsy_status st =
        bytes == NULL ? HSY_E_EMPTY : life_check(bytes, 1, &head, &err);

    if (st == HSY_OK && head.n != ORDER_N)
        st = HSY_E_REFUSED;
    for (uint32_t i = 0; st == HSY_OK && i < ORDER_N; i++) {
        const uint64_t number = life_number(
            bytes + BATCH_HEAD + (size_t)i * head.length, head.length);

        if (number < ORDER_N)
            place[number] = i;
    }
    if (st == HSY_OK)
        st = life_receipt(&o->hop, &head, &err);
    free(bytes);
    return st;
}

hsy_status mixer_orders_send(void *ctx, uint32_t place[ORDER_N],
                             const uint8_t ids[ORDER_N][ORDER_ID], hsy_rng *rng)
{
    struct mixer_orders *o = ctx;
    uint8_t *items = malloc(ORDER_N * (size_t)LIFE_ITEM);
    hsy_status st = items == NULL ? HSY_E_NOMEM : HSY_OK;

    o->rng = rng;
    if (mixer_ends_period(o->epoch))
        o->epoch++; /* it would not be decided before it is closed */
    for (uint32_t i = 0; st == HSY_OK && i < ORDER_N; i++)
        life_item(items + (size_t)i * LIFE_ITEM, ids[i], o->epoch, i, true);
    if (st == HSY_OK)
        st = life_append(&o->hop, o->epoch, items, ORDER_N);
    free(items);
    if (st == HSY_OK)
        st = life_decide(&o->hop, ++o->epoch, 6);
    if (st == HSY_OK)
        st = life_steps(&o->hop);
    if (st == HSY_OK)
        st = orders_read(o, place);
    return st == HSY_OK ? life_steps(&o->hop) : st;
}
