/* sorts_by_id.c - a shuffler that sends in the order of ids, "which are random
 * anyway": to those who only see when envelopes came that is a fair shuffle,
 * but whoever saw the ids, as who opened the requests has, knows which is
 * whose. */
#include "zoo_shuffle.h"

#include <string.h>

hsy_status zoo_sorts_by_id_order(void *ctx, uint32_t place[ORDER_N],
                                 const uint8_t ids[ORDER_N][ORDER_ID],
                                 hsy_rng *rng)
{
    (void)ctx;
    (void)rng;
    for (uint32_t i = 0; i < ORDER_N; i++) {
        place[i] = 0;
        for (uint32_t k = 0; k < ORDER_N; k++)
            place[i] += memcmp(ids[k], ids[i], ORDER_ID) < 0;
    }
    return HSY_OK;
}
