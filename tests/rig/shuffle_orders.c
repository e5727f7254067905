/* shuffle_orders.c - see shuffle_orders.h. */
#include "rig/shuffle_orders.h"

#include "lib/special/special.h"
#include "rig/stat.h"
#include "server/shuffle/permute.h"

struct order_seen {
    uint32_t times[ORDER_ALL];
    uint32_t table[ORDER_N][ORDER_N];
};

hsy_status order_permute(void *ctx, uint32_t place[ORDER_N],
                         const uint8_t ids[ORDER_N][ORDER_ID], hsy_rng *rng)
{
    (void)ctx;
    (void)ids;
    return permute(place, ORDER_N, rng);
}

/* ---- Counting ------------------------------------------------------------ */

static bool order_is(const uint32_t *place)
{
    uint32_t seen = 0;

    for (uint32_t i = 0; i < ORDER_N; i++)
        if (place[i] < ORDER_N)
            seen |= 1u << place[i];
    return seen == (1u << ORDER_N) - 1;
}

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

/* The same places, of the least id first. */
static void order_by_id(uint32_t *out, const uint32_t *place,
                        const uint8_t ids[ORDER_N][ORDER_ID])
{
    for (uint32_t i = 0; i < ORDER_N; i++) {
        uint32_t below = 0;

        for (uint32_t k = 0; k < ORDER_N; k++)
            below += memcmp(ids[k], ids[i], ORDER_ID) < 0;
        out[below] = place[i];
    }
}

/* ---- Chi-square ---------------------------------------------------------- */

static double order_all(const struct order_seen *seen, uint32_t batches)
{
    const double want = (double)batches / ORDER_ALL;
    double chi = 0;

    if (want < 5)
        return .5;
    for (size_t i = 0; i < ORDER_ALL; i++)
        chi += ((double)seen->times[i] - want) *
               ((double)seen->times[i] - want) / want;
    return hsy_chi2_upper(chi, ORDER_ALL - 1);
}

static double order_table(const struct order_seen *seen, uint32_t batches)
{
    const double want = (double)batches / ORDER_N;
    double sum = 0;

    for (size_t i = 0; i < ORDER_N; i++)
        for (size_t j = 0; j < ORDER_N; j++)
            sum += ((double)seen->table[i][j] - want) *
                   ((double)seen->table[i][j] - want);
    return hsy_chi2_upper((ORDER_N - 1) * sum / batches,
                          (ORDER_N - 1) * (ORDER_N - 1));
}

static bool order_could_be(double p)
{
    return p > STAT_ALPHA && p < 1 - STAT_ALPHA;
}

bool order_fair(const struct order_view *v)
{
    return order_could_be(v->all) && order_could_be(v->table);
}

/* ---- Looking ------------------------------------------------------------- */

static hsy_status order_batches(struct order_seen seen[2], order_way *way,
                                void *ctx, uint32_t batches, uint64_t lane)
{
    hsy_stream coins, names;
    hsy_rng rng = hsy_stream_rng(&coins), fresh = hsy_stream_rng(&names);
    hsy_status st = HSY_OK;

    hsy_stream_seed(&coins, stat_seed(), 2 * lane);
    hsy_stream_seed(&names, stat_seed(), 2 * lane + 1);
    for (uint32_t b = 0; st == HSY_OK && b < batches; b++) {
        uint32_t place[ORDER_N] = {0}, of_id[ORDER_N] = {0};
        uint8_t ids[ORDER_N][ORDER_ID];

        st = fresh.fill(fresh.ctx, ids, sizeof ids);
        if (st == HSY_OK)
            st = way(ctx, place, (const uint8_t(*)[ORDER_ID])ids, &rng);
        if (st == HSY_OK && !order_is(place))
            st = HSY_E_REFUSED;
        if (st != HSY_OK)
            break;
        order_by_id(of_id, place, (const uint8_t(*)[ORDER_ID])ids);
        order_count(&seen[0], place);
        order_count(&seen[1], of_id);
    }
    return st;
}

hsy_status order_look(struct order_found *out, order_way *way, void *ctx,
                      uint32_t batches, uint64_t lane)
{
    static struct order_seen seen[2];
    hsy_status st;

    memset(seen, 0, sizeof seen);
    st = order_batches(seen, way, ctx, batches, lane);
    out->arrival = (struct order_view){order_all(&seen[0], batches),
                                       order_table(&seen[0], batches)};
    out->id = (struct order_view){order_all(&seen[1], batches),
                                  order_table(&seen[1], batches)};
    return st;
}
