/*
 * test_zoo_shuffle.c - each wrong shuffler of the zoo is caught by a check that
 * the real one passes: orders by those of tests/stat/test_shuffle_order.c,
 * batches by those of tests/unit/server/shuffle/test_mixer.c.
 */
#include "rig/mixer_orders.h"
#include "tap.h"
#include "zoo/zoo_shuffle.h"

#include <stdlib.h>

/* ---- Orders -------------------------------------------------------------- */

/* Lanes of the seed beyond those of the statistical test. */
enum { LANE_REAL = 10, LANE_SENT, LANE_SORTS, LANE_STAYS };

static bool order_passes(struct order_found *f, order_way *way, void *ctx,
                         uint32_t batches, uint64_t lane)
{
    return order_look(f, way, ctx, batches, lane) == HSY_OK &&
           order_fair(&f->arrival) && order_fair(&f->id);
}

static void orders_by_id(void)
{
    struct mixer_orders o;
    struct order_found real, sorts;
    const bool open = mixer_orders_open(&o, &life_real) == HSY_OK;
    const bool passes = order_passes(&sorts, zoo_sorts_by_id_order, NULL,
                                     ORDER_BATCHES_FEW, LANE_SORTS);

    ok(open && order_passes(&real, mixer_orders_send, &o, ORDER_BATCHES_FEW,
                            LANE_SENT),
       "control: a real shuffler passes over %u batches", ORDER_BATCHES_FEW);
    mixer_orders_close(&o);
    ok(!passes && !order_fair(&sorts.id),
       "sorts_by_id is caught: ids say which is whose (%g)", sorts.id.table);
    ok(order_fair(&sorts.arrival),
       "by the order of arrival alone sorts_by_id would pass (%g)",
       sorts.arrival.table);
}

static void orders_nearly_right(void)
{
    struct order_found real, stays;
    const bool passes = order_passes(&stays, zoo_stays_too_often_order, NULL,
                                     ORDER_BATCHES, LANE_STAYS);

    ok(order_passes(&real, order_permute, NULL, ORDER_BATCHES, LANE_REAL),
       "control: the real order passes over %u batches", ORDER_BATCHES);
    ok(!passes && !order_fair(&stays.arrival),
       "stays_too_often is caught: one stays with probability 1/8 + .01 (%g)",
       stays.arrival.table);
}

/* ---- Batches ------------------------------------------------------------- */

#define ZOO_STEP 7u /* operations from one kill to the next */

static bool zoo_says(const char *wrong, const char *what)
{
    if (wrong != NULL)
        printf("# %s\n", wrong);
    return wrong != NULL && strcmp(wrong, what) == 0;
}

static void batches_flushed(void)
{
    struct life_shuffler wrong = life_real;
    const char *real = life_quiet(&life_real);

    wrong.decide = zoo_flushes_small_batches_decide;
    ok(real == NULL, "control: a real shuffler lives and sends %u batches: %s",
       life_batches(), real == NULL ? "none too small" : real);
    ok(zoo_says(life_quiet(&wrong), LIFE_SMALL),
       "flushes_small_batches is caught: it sends fewer than min_batch");
}

static void batches_erased_early(void)
{
    struct life_shuffler wrong = life_real;

    wrong.step = zoo_later_hop_erases_step;
    ok(zoo_says(life_quiet(&wrong), LIFE_HASTY),
       "later_hop_erases is caught: it erases what opened before max_wait");
}

static void old_batches_opened(void)
{
    struct life_shuffler wrong = life_real;
    const char *real = life_replayed(&life_real);

    wrong.step = zoo_believes_the_head_step;
    ok(real == NULL, "control: a real shuffler gets an old batch again: %s",
       real == NULL ? "none of it is mixed" : real);
    ok(zoo_says(life_replayed(&wrong), LIFE_OLD),
       "believes_the_head is caught: it mixes envelopes of two periods ago");
}

static void batches_mixed_again(void)
{
    const uint64_t step = getenv("HSY_TEST_LONG") != NULL ? 1 : ZOO_STEP;
    struct life_shuffler wrong = life_real;
    struct life_kills k;
    const char *said = life_killed(&life_real, step, &k);

    wrong.open = zoo_mixes_again_open;
    ok(said == NULL && k.kills > 20,
       "control: a real shuffler is killed %llu times, up to operation %llu: "
       "%s",
       (unsigned long long)k.kills, (unsigned long long)k.at,
       said == NULL ? "one order a batch" : said);
    said = life_killed(&wrong, step, &k);
    ok(zoo_says(said, LIFE_ORDERS),
       "mixes_again is caught after %llu kills: it sends a second order",
       (unsigned long long)k.kills);
    ok(life_quiet(&wrong) == NULL, "where nobody kills it mixes_again passes");
}

int main(void)
{
    if (!life_begin())
        return 1;
    orders_by_id();
    orders_nearly_right();
    batches_flushed();
    batches_erased_early();
    old_batches_opened();
    batches_mixed_again();
    life_end();
    return tap_done();
}
