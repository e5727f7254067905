/*
 * coins_without_parameters.c - coins keyed without the scheme's parameters.
 *
 * Two schemes share a coin: where their answers differ, the coin fell between
 * two edges, and that happens for one truth only.
 */
#include "zoo_device.h"

static void coins_without_parameters_keyed(struct transcript *t,
                                           struct zoo_client *c, size_t release,
                                           hsy_context *context)
{
    static const uint8_t none[HSY_DIGEST];

    (void)t;
    (void)c;
    (void)release;
    context->digest = none;
}

const struct zoo_device zoo_coins_without_parameters = {
    .name = "coins_without_parameters",
    .slip = "coins keyed without the scheme",
    .keyed = coins_without_parameters_keyed,
    .verdict = ZOO_RATIO};
