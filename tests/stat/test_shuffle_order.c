/*
 * test_shuffle_order.c - the order that a shuffler draws, at n = 8 over 10^6
 * batches: chi-square of all 40,320 orders, and of the table of who went where.
 *
 * The table. X is 1 where element i goes to place j. For a uniform order the
 * covariance of two cells is (I - J/n)(i, i') (I - J/n)(j, j') / (n - 1), so
 * (n - 1) times the sum of (count - N/n)^2 / N over all cells is close to
 * chi-squared with (n - 1)^2 degrees of freedom.
 *
 * Controls: an order by the elements' names, and one that leaves the first
 * element where it is with probability 1/8 + .01.
 */
#include "lib/special/special.h"
#include "rig/stat.h"
#include "server/shuffle/permute.h"

#define ORDER_N 8u
#define ORDER_ALL 40320u
#define ORDER_BATCHES 1000000u

struct order_seen {
    uint32_t times[ORDER_ALL];
    uint32_t table[ORDER_N][ORDER_N];
};

static struct order_seen order_seen;

static void order_count(struct order_seen *seen, const uint32_t *place)
{
    uint32_t rank = 0;

    for (uint32_t i = 0; i < ORDER_N; i++) {
        uint32_t below = 0;

        for (uint32_t k = i + 1; k < ORDER_N; k++)
            below += place[k] < place[i];
        rank = rank * (ORDER_N - i) + below;
        seen->table[i][place[i]]++;
    }
    seen->times[rank]++;
}

static double order_all(const struct order_seen *seen)
{
    const double want = (double)ORDER_BATCHES / ORDER_ALL;
    double chi = 0;

    for (size_t i = 0; i < ORDER_ALL; i++)
        chi += ((double)seen->times[i] - want) *
               ((double)seen->times[i] - want) / want;
    return hsy_chi2_upper(chi, ORDER_ALL - 1);
}

static double order_table(const struct order_seen *seen)
{
    const double want = (double)ORDER_BATCHES / ORDER_N;
    double sum = 0;

    for (size_t i = 0; i < ORDER_N; i++)
        for (size_t j = 0; j < ORDER_N; j++)
            sum += ((double)seen->table[i][j] - want) *
                   ((double)seen->table[i][j] - want);
    return hsy_chi2_upper((ORDER_N - 1) * sum / ORDER_BATCHES,
                          (ORDER_N - 1) * (ORDER_N - 1));
}

/* The first element goes home, as the lazy one makes it one time in 87.5: then
 * it is there with probability 1/8 + 7/8 * .01 * 8/7 = 1/8 + .01. */
static void order_lazy(uint32_t *place, hsy_rng *rng)
{
    uint8_t word[8];
    double u = 0;

    rng->fill(rng->ctx, word, sizeof word);
    for (size_t i = 0; i < sizeof word; i++)
        u = (u + word[i]) / 256;
    if (u >= .01 * 8 / 7)
        return;
    for (uint32_t i = 1; i < ORDER_N; i++)
        if (place[i] == 0)
            place[i] = place[0];
    place[0] = 0;
}

static void order_run(uint64_t lane, bool lazy)
{
    hsy_stream stream;
    hsy_rng rng = hsy_stream_rng(&stream);
    uint32_t place[ORDER_N];

    hsy_stream_seed(&stream, stat_seed(), lane);
    memset(&order_seen, 0, sizeof order_seen);
    for (uint32_t b = 0; b < ORDER_BATCHES; b++) {
        if (permute(place, ORDER_N, &rng) != HSY_OK)
            break;
        if (lazy)
            order_lazy(place, &rng);
        order_count(&order_seen, place);
    }
}

int main(void)
{
    double all, table;

    order_run(0, false);
    all = order_all(&order_seen);
    table = order_table(&order_seen);
    ok(all > STAT_ALPHA && all < 1 - STAT_ALPHA, "all orders: %g", all);
    ok(table > STAT_ALPHA && table < 1 - STAT_ALPHA, "who went where: %g",
       table);

    order_run(1, true);
    ok(order_table(&order_seen) < STAT_ALPHA,
       "control: one that stays with probability 1/8 + .01 is caught");

    memset(&order_seen, 0, sizeof order_seen);
    order_seen.times[0] = ORDER_BATCHES;
    for (size_t i = 0; i < ORDER_N; i++)
        order_seen.table[i][i] = ORDER_BATCHES;
    ok(order_all(&order_seen) < STAT_ALPHA &&
           order_table(&order_seen) < STAT_ALPHA,
       "control: an order by the elements' names is caught");
    return tap_done();
}
