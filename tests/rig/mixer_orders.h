/* mixer_orders.h - the order in which a whole shuffler sends 8 envelopes, from
 * their commit to the bytes of the batch: a way for shuffle_orders.h. */
#ifndef MIXER_ORDERS_H
#define MIXER_ORDERS_H

#include "rig/mixer_life.h"
#include "rig/shuffle_orders.h"

struct mixer_orders {
    struct life_hop hop;
    hsy_rng *rng;   /* of the batch that is being sent */
    uint32_t epoch; /* of the next */
};

/* A first hop of a fresh life. It is closed even if it did not open. */
hsy_status mixer_orders_open(struct mixer_orders *o,
                             const struct life_shuffler *by);
void mixer_orders_close(struct mixer_orders *o);

order_way mixer_orders_send; /* ctx: struct mixer_orders */

#endif
