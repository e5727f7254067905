/* calendar.h - how long a slot and a round of a task are, in days. */
#ifndef HOST_TASKS_CALENDAR_H
#define HOST_TASKS_CALENDAR_H

#include "hearsay.h"

/* A task that never renews is one slot. */
static inline uint32_t calendar_slot(const hsy_task *t)
{
    return t->slot_days != 0 ? t->slot_days : t->end - t->start;
}

/* One that is not told of rounds has one a slot. */
static inline uint32_t calendar_round(const hsy_task *t)
{
    return t->round_days != 0 ? t->round_days : calendar_slot(t);
}

#endif
