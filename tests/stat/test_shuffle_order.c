/*
 * test_shuffle_order.c - the order that a shuffler draws, at n = 8 over 10^6
 * batches, and that in which a whole shuffler sends, over fewer: chi-square of
 * all orders and of the table of who went where, seen from arrival and seen
 * from ids. tests/attack/test_zoo_shuffle.c has shufflers that are caught.
 */
#include "rig/mixer_orders.h"
#include "rig/stat.h"

#define ORDER_SENT 2000u /* batches of a whole shuffler */

static void order_tell(const struct order_found *f, hsy_status st,
                       const char *who)
{
    is_status(st, HSY_OK, "%s: each batch is 8 in some order", who);
    ok(order_fair(&f->arrival),
       "%s: from arrival all orders %g, who went where %g", who, f->arrival.all,
       f->arrival.table);
    ok(order_fair(&f->id), "%s: from ids all orders %g, who went where %g", who,
       f->id.all, f->id.table);
}

static void a_whole_shuffler(void)
{
    struct mixer_orders o;
    struct order_found f;
    hsy_status st = mixer_orders_open(&o, &life_real);

    if (ok(st == HSY_OK, "a shuffler opens")) {
        st = order_look(&f, mixer_orders_send, &o,
                        stat_long() ? 10 * ORDER_SENT : ORDER_SENT, 1);
        order_tell(&f, st, "a whole shuffler");
    }
    mixer_orders_close(&o);
}

int main(void)
{
    struct order_found f;
    hsy_status st = order_look(&f, order_permute, NULL, ORDER_BATCHES, 0);

    order_tell(&f, st, "permute");
    if (!life_begin())
        return 1;
    a_whole_shuffler();
    life_end();
    return tap_done();
}
