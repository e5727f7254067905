/*
 * ledger.c - what has been spent, and the caps.
 *
 * Nano-epsilon in unsigned 64-bit integers; sums are checked, nothing is ever
 * subtracted. Four caps nest: source and device, each a day and for life. The
 * lifetime cap is the promise and never renews. A day's spending begins anew
 * with the next day, but days only go forward, so moving the clock mints no
 * more than the lifetime cap leaves.
 */
#include "lib/core/fail.h"
#include "lib/device/internal.h"

#include <string.h>

const hsy_source *hsy_ledger_source(const hsy_device *dev, const char *name)
{
    for (size_t i = 0; i < dev->policy.nsources; i++)
        if (hsy_device_same(dev->policy.sources[i].name, name))
            return &dev->policy.sources[i];
    return NULL;
}

/* spent + nano, if that passes neither cap nor 2^64 - 1. */
static bool ledger_add(uint64_t *sum, uint64_t spent, uint64_t nano,
                       uint64_t cap)
{
    if (spent > cap || nano > cap - spent)
        return false;
    *sum = spent + nano;
    return true;
}

/* What was spent on this day: nothing, unless it is the one written down. */
static uint64_t ledger_day(uint32_t spent_on, uint64_t spent, uint32_t day)
{
    return spent_on == day ? spent : 0;
}

bool hsy_ledger_charge(hsy_device *dev, uint32_t source, uint64_t nano,
                       uint32_t day)
{
    struct device_source *s = &dev->sources[source];
    struct device_head *h = &dev->head;
    const hsy_source *caps = hsy_ledger_source(dev, s->name);
    uint64_t source_day, source_life, day_all, life_all;

    if (caps == NULL ||
        !ledger_add(&source_day, ledger_day(s->spent_on, s->spent_day, day),
                    nano, caps->cap_day) ||
        !ledger_add(&source_life, s->spent_lifetime, nano,
                    caps->cap_lifetime) ||
        !ledger_add(&day_all, ledger_day(h->spent_on, h->spent_day, day), nano,
                    dev->policy.cap_day) ||
        !ledger_add(&life_all, h->spent_lifetime, nano,
                    dev->policy.cap_lifetime))
        return false;
    s->spent_on = h->spent_on = day;
    s->spent_day = source_day;
    s->spent_lifetime = source_life;
    h->spent_day = day_all;
    h->spent_lifetime = life_all;
    return true;
}

uint32_t hsy_ledger_find(const hsy_device *dev, const char *name)
{
    uint32_t i = 0;

    while (i < dev->nsources && !hsy_device_same(dev->sources[i].name, name))
        i++;
    return i;
}

hsy_status hsy_device_budget(hsy_device *dev, hsy_budget *out,
                             const char *source, hsy_error *err)
{
    const struct device_head *h = &dev->head;
    const hsy_source *caps = NULL;
    hsy_budget b = {0};
    hsy_status st = hsy_device_ready(dev, err);

    if (st == HSY_OK)
        st = hsy_device_today(dev, &b.day, NULL, err);
    if (st != HSY_OK)
        return st;
    if (source == NULL) {
        b.spent_day = ledger_day(h->spent_on, h->spent_day, b.day);
        b.spent_lifetime = h->spent_lifetime;
        b.cap_day = dev->policy.cap_day;
        b.cap_lifetime = dev->policy.cap_lifetime;
    } else {
        uint32_t i = hsy_ledger_find(dev, source);

        caps = hsy_ledger_source(dev, source);
        if (caps == NULL)
            return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_SOURCE,
                            "not in this device's policy");
        if (i < dev->nsources) {
            const struct device_source *s = &dev->sources[i];

            b.spent_day = ledger_day(s->spent_on, s->spent_day, b.day);
            b.spent_lifetime = s->spent_lifetime;
        }
        b.cap_day = caps->cap_day;
        b.cap_lifetime = caps->cap_lifetime;
    }
    *out = b;
    return HSY_OK;
}
