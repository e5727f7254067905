/*
 * budget_in_doubles.c - a budget in doubles.
 *
 * Ten times 0.1 is not 1, so what is exactly affordable may be refused; and
 * next to a large sum a small debit is lost.
 */
#include "zoo_device.h"

struct budget_in_doubles {
    struct zoo_caps caps;
    double source[ZOO_SOURCES], all, today;
    uint32_t day;
};

static void budget_in_doubles_open(void *memory, const struct zoo_caps *caps)
{
    struct budget_in_doubles *l = memory;

    memset(l, 0, sizeof *l);
    l->caps = *caps;
}

static bool budget_in_doubles_charge(void *memory, uint32_t day,
                                     unsigned source, uint64_t nano)
{
    struct budget_in_doubles *l = memory;
    double epsilon = (double)nano / HSY_NANO;

    if (day > l->day) {
        l->day = day;
        l->today = 0;
    }
    if (l->source[source] + epsilon >
            (double)l->caps.source[source] / HSY_NANO ||
        l->today + epsilon > (double)l->caps.day / HSY_NANO ||
        l->all + epsilon > (double)l->caps.lifetime / HSY_NANO)
        return false;
    l->source[source] += epsilon;
    l->today += epsilon;
    l->all += epsilon;
    return true;
}

const struct zoo_ledger zoo_budget_in_doubles = {
    "budget_in_doubles",
    "a budget in doubles",
    ZOO_AFFORDS,
    sizeof(struct budget_in_doubles),
    budget_in_doubles_open,
    budget_in_doubles_charge,
    NULL,
    NULL};
