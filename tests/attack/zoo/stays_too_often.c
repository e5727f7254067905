/* stays_too_often.c - one element of 8 stays where it was with probability 1/8
 * + .01: one time in 87.5 it is sent home after the shuffle, where with
 * probability 7/8 it was not, and 7/8 of 1/87.5 is .01. */
#include "zoo_shuffle.h"

#include "lib/bits/bytes.h"
#include "server/shuffle/permute.h"

#define STAYS_ONE 3u /* which one */

hsy_status zoo_stays_too_often_order(void *ctx, uint32_t place[ORDER_N],
                                     const uint8_t ids[ORDER_N][ORDER_ID],
                                     hsy_rng *rng)
{
    hsy_status st = permute(place, ORDER_N, rng);
    uint8_t word[8];

    (void)ctx;
    (void)ids;
    if (st == HSY_OK)
        st = rng->fill(rng->ctx, word, sizeof word);
    if (st != HSY_OK || bytes_get64(word) % 175 >= 2)
        return st;
    for (uint32_t i = 0; i < ORDER_N; i++)
        if (place[i] == STAYS_ONE)
            place[i] = place[STAYS_ONE];
    place[STAYS_ONE] = STAYS_ONE;
    return HSY_OK;
}
