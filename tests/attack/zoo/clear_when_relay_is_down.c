/* clear_when_relay_is_down.c - a client that sends without the relay what the
 * relay did not take, "so that nothing is lost". Pings that Mozilla had marked
 * for Oblivious HTTP left in clear where there was nobody to send them so [bug
 * 1920732]. */
#include "zoo_sealed.h"

static hsy_status clear_gather(void *ctx, struct send_list *list,
                               hsy_error *err)
{
    const struct send_hooks *hooks = ctx;
    const hsy_status st = hooks->gather(hooks->ctx, list, err);

    list->way.relay[0] = '\0';
    for (size_t i = 0; st == HSY_OK && i < list->n; i++)
        list->items[i].relayed = false;
    return st;
}

static hsy_status clear_settle(void *ctx, const struct send_list *list,
                               hsy_error *err)
{
    const struct send_hooks *hooks = ctx;

    return hooks->settle(hooks->ctx, list, err);
}

hsy_status zoo_clear_when_relay_is_down_send(const struct send_hooks *hooks,
                                             const char *url,
                                             const hsy_send_options *options,
                                             hsy_send_result *result,
                                             hsy_error *err)
{
    struct send_hooks same = *hooks;
    const struct send_hooks clear = {clear_gather, clear_settle, &same, NULL};
    hsy_send_options without = *options;
    const hsy_status st = hsy_send_all(hooks, url, options, result, err);

    without.relay = NULL;
    return st == HSY_E_IO ? hsy_send_all(&clear, url, &without, result, err)
                          : st;
}
