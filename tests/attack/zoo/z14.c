/*
 * z14.c - a "longitudinal" client that draws its permanent answer anew each
 * time it is asked.
 *
 * It pays once, and says as much as if it had no permanent answer.
 */
#include "zoo_device.h"

static void z14_keyed(struct transcript *t, struct zoo_client *c,
                      size_t release, hsy_context *context)
{
    (void)t;
    (void)release;
    context->slot += c->calls;
}

const struct zoo_device zoo_z14 = {.name = "Z14",
                                   .slip = "permanent answers drawn anew",
                                   .memoised = true,
                                   .keyed = z14_keyed,
                                   .verdict = ZOO_RATIO};
