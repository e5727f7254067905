/*
 * zoo_shuffle.h - shufflers that are wrong on purpose: by the order they draw,
 * or in one function of a mixer. The others are those of mixer.h, and must pass
 * the same checks.
 */
#ifndef ZOO_SHUFFLE_H
#define ZOO_SHUFFLE_H

#include "rig/shuffle_orders.h"
#include "server/shuffle/mixer.h"

/* Instead of permute. */
extern order_way zoo_sorts_by_id_order, zoo_stays_too_often_order;

/* Instead of mixer_decide. */
hsy_status zoo_flushes_small_batches_decide(struct mixer *m,
                                            const struct mixer_time *now,
                                            hsy_error *err);

/* Instead of mixer_step. */
hsy_status zoo_later_hop_erases_step(struct mixer *m, bool *more,
                                     hsy_error *err);
hsy_status zoo_believes_the_head_step(struct mixer *m, bool *more,
                                      hsy_error *err);

/* Instead of mixer_open. */
hsy_status zoo_mixes_again_open(struct mixer **out,
                                const struct mixer_options *options,
                                hsy_error *err);

#endif
