/*
 * z15.c - coins keyed without the scheme's parameters.
 *
 * Two schemes share a coin: where their answers differ, the coin fell between
 * two edges, and that happens for one truth only.
 */
#include "zoo_device.h"

static void z15_keyed(struct transcript *t, struct zoo_client *c,
                      size_t release, hsy_context *context)
{
    static const uint8_t none[HSY_DIGEST];

    (void)t;
    (void)c;
    (void)release;
    context->digest = none;
}

const struct zoo_device zoo_z15 = {.name = "Z15",
                                   .slip = "coins keyed without the scheme",
                                   .keyed = z15_keyed,
                                   .verdict = ZOO_RATIO};
