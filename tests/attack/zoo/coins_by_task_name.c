/*
 * coins_by_task_name.c - coins keyed by the task's name, which the server
 * chooses.
 *
 * A renamed task draws a second permanent answer, for which nobody pays.
 */
#include "zoo_device.h"

static void coins_by_task_name_keyed(struct transcript *t, struct zoo_client *c,
                                     size_t release, hsy_context *context)
{
    (void)c;
    context->source = t->id[release];
    context->source_len = strlen(t->id[release]);
}

const struct zoo_device zoo_coins_by_task_name = {
    .name = "coins_by_task_name",
    .slip = "coins keyed by the task's name",
    .memoised = true,
    .keyed = coins_by_task_name_keyed,
    .verdict = ZOO_RATIO};
