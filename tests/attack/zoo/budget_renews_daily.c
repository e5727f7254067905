/* budget_renews_daily.c - a budget that is new every day, and has no other end.
 */
#include "zoo_device.h"

static bool budget_renews_daily_charge(void *memory, uint32_t day,
                                       unsigned source, uint64_t nano)
{
    struct zoo_sums *l = memory;

    if (day > l->day) {
        memset(l->source, 0, sizeof l->source);
        l->all = 0;
    }
    if (!zoo_sums_fit(l, day, source, nano))
        return false;
    zoo_sums_add(l, source, nano);
    return true;
}

const struct zoo_ledger zoo_budget_renews_daily = {
    "budget_renews_daily",
    "renewed every day, without a lifetime cap",
    ZOO_ENDS,
    sizeof(struct zoo_sums),
    zoo_sums_open,
    budget_renews_daily_charge,
    NULL,
    NULL};
