/*
 * permanent_redrawn.c - a "longitudinal" client that draws its permanent answer
 * anew each time it is asked.
 *
 * It pays once, and says as much as if it had no permanent answer.
 */
#include "zoo_device.h"

static void permanent_redrawn_keyed(struct transcript *t, struct zoo_client *c,
                                    size_t release, hsy_context *context)
{
    (void)t;
    (void)release;
    context->slot += c->calls;
}

const struct zoo_device zoo_permanent_redrawn = {
    .name = "permanent_redrawn",
    .slip = "permanent answers drawn anew",
    .memoised = true,
    .keyed = permanent_redrawn_keyed,
    .verdict = ZOO_RATIO};
