/*
 * shuffle_orders.h - is the order in which a shuffler sends 8 envelopes one of
 * all orders, each as likely as any other, whatever came first and whatever the
 * ids are?
 *
 * Ids are fresh in each batch, so that an order by them looks fair to who knows
 * the order of arrival only. Therefore each batch is looked at twice: from
 * where the envelopes were when they came, and from where they would be in the
 * order of their ids. Of both there is a chi-square of all 40,320 orders, and
 * one of the table of who went where.
 *
 * The table. X is 1 where element i goes to place j. For a uniform order the
 * covariance of two cells is (I - J/n)(i, i') (I - J/n)(j, j') / (n - 1), so
 * (n - 1) times the sum of (count - N/n)^2 / N over all cells is close to
 * chi-squared with (n - 1)^2 = 49 degrees of freedom, and above 153.7 with
 * probability 10^-12.
 *
 * How many batches. If one element stays with probability 1/8 + x and nothing
 * else is wrong, cells are off by x, -x/7 (in its row and in its column) and
 * x/49, and the squares add up to x^2 (1 + 1/7)^2. So the sum is close to
 * noncentral chi-squared with noncentrality 7 (64/49) x^2 N: for x = .01 that
 * is N / 1094. Such a sum is below 153.7 with probability 6e-13 at N = 350,000
 * and 4e-81 at N = 10^6. All orders
 * together would need more than ten times as many: their noncentrality is the
 * same, but the standard deviation of 40,319 degrees of freedom is 284.
 */
#ifndef SHUFFLE_ORDERS_H
#define SHUFFLE_ORDERS_H

#include "hearsay.h"

#define ORDER_N 8u
#define ORDER_ALL 40320u
#define ORDER_ID 16u            /* bytes */
#define ORDER_BATCHES 1000000u  /* for x = .01 */
#define ORDER_BATCHES_FEW 1000u /* for what is wrong in every batch */

/* Send a batch: place[i] is where the i-th that came is sent, ids[i] its id. */
typedef hsy_status order_way(void *ctx, uint32_t place[ORDER_N],
                             const uint8_t ids[ORDER_N][ORDER_ID],
                             hsy_rng *rng);

/* permute.c, which is not told ids. */
order_way order_permute;

/* Tails of chi-square; .5 of all orders where fewer than five of each are
 * expected. */
struct order_view {
    double all, table;
};
struct order_found {
    struct order_view arrival, id;
};

/* Send so many batches by coins of a lane of the seed. HSY_E_REFUSED: a batch
 * was not 8 in some order; others as the way's. */
hsy_status order_look(struct order_found *out, order_way *way, void *ctx,
                      uint32_t batches, uint64_t lane);

/* Whether a tail could be that of a uniform order, at STAT_ALPHA both ways. */
bool order_fair(const struct order_view *v);

#endif
